/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/codes.h"
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "cuvcpu.h"
#include "cuvthreads.h"

enum { TASK = 64 }; /* samples per task */

typedef struct {
  const CuvTrainFeatures *features;
  CuvTrainArea area;
  const uint8_t *pixels;
  int32_t n;
  uint8_t *codes;
  size_t pitch, window_size;
  /* scratch memory of the workers */
  uint32_t *sums;
  size_t sums_size;
  /* codes of a task, copied to `codes` in blocks: writing sample by sample
   * would touch as many pages as there are features */
  uint8_t *task_codes;
} Work;

/* Computes codes with SIMD. Returns the number of samples done, 0 if this CPU
 * has no such version. */
static int32_t
code_lanes (
    const Work *self, int worker, const uint8_t *pixels, int32_t n, uint8_t *to)
{
#if HAVE_SIMD
  if ((cuv_cpu_flags () & CUV_CPU_SIMD) && n >= CUV_TRAIN_LANES) {
    cuv_train_codes_avx2 (self->features, self->area, pixels,
        self->sums + (size_t) worker * self->sums_size, to, TASK);
    return CUV_TRAIN_LANES;
  }
#endif
  return 0;
}

static void
code_task (void *data, int worker, int task)
{
  const Work *self = data;
  const int32_t first = task * TASK;
  const int32_t n = self->n - first < TASK ? self->n - first : TASK;
  const size_t n_features = (size_t) self->features->n;
  const uint8_t *pixels = self->pixels + (size_t) first * self->window_size;
  uint8_t *codes = self->task_codes + (size_t) worker * n_features * TASK;

  for (int32_t i = 0; i < n;) {
    const uint8_t *sample = pixels + (size_t) i * self->window_size;
    const int32_t n_lanes = code_lanes (self, worker, sample, n - i, codes + i);

    if (n_lanes == 0)
      cuv_train_codes (self->features, sample, codes + i, TASK);
    i += n_lanes > 0 ? n_lanes : 1;
  }
  for (size_t f = 0; f < n_features; f++)
    memcpy (
        self->codes + f * self->pitch + first, codes + f * TASK, (size_t) n);
}

static CuvTrainArea
area_of (const CuvTrainFeatures *features)
{
  CuvTrainArea area = { features->window_width, 0, features->window_height, 0 };

  for (int32_t f = 0; f < features->n; f++) {
    const CuvGridNode *node = &features->nodes[f];
    const int right = node->x + 3 * node->width;
    const int bottom = node->y + 3 * node->height;

    area.left = node->x < area.left ? node->x : area.left;
    area.right = right > area.right ? right : area.right;
    area.top = node->y < area.top ? node->y : area.top;
    area.bottom = bottom > area.bottom ? bottom : area.bottom;
  }
  return area;
}

bool
cuv_train_code_samples (const CuvTrainFeatures *features, const uint8_t *pixels,
    int32_t n, uint8_t *codes, size_t pitch, int n_threads)
{
  const size_t width = (size_t) features->window_width;
  const size_t height = (size_t) features->window_height;
  const int n_workers = cuv_threads_n_workers ();
  Work work = { features, area_of (features), pixels, n, codes, pitch,
    width * height, NULL, CUV_TRAIN_LANES * (width + 1) * (height + 1), NULL };
  bool ok;

  work.sums = malloc ((size_t) n_workers * work.sums_size * sizeof *work.sums);
  work.task_codes =
      malloc ((size_t) n_workers * (size_t) features->n * TASK + 1);
  ok = work.sums != NULL && work.task_codes != NULL;
  if (ok)
    cuv_threads_run_workers (
        n_threads, n_workers, (n + TASK - 1) / TASK, code_task, &work);
  free (work.sums);
  free (work.task_codes);
  return ok;
}
