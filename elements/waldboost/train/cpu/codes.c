/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "train/cpu/codes.h"
#include "config.h"

#include <stdlib.h>
#include "cuvcpu.h"
#include "cuvthreads.h"

enum { TASK = 64 }; /* samples */

typedef struct {
  const CuvTrainFeatures *features;
  const uint8_t *pixels;
  int32_t n;
  uint8_t *codes;
  size_t pitch, window_size;
  uint32_t *sums; /* scratch memory of the workers */
  size_t sums_size;
} Work;

/* The number of samples done: 0 where there is no version for this CPU. */
static int32_t
code_lanes (const Work *self, int worker, int32_t i, int32_t end)
{
#if HAVE_SIMD
  if ((cuv_cpu_flags () & CUV_CPU_SIMD) && i + CUV_TRAIN_LANES <= end) {
    cuv_train_codes_avx2 (self->features,
        self->pixels + (size_t) i * self->window_size,
        self->sums + (size_t) worker * self->sums_size, self->codes + i,
        self->pitch);
    return CUV_TRAIN_LANES;
  }
#endif
  return 0;
}

static void
code_task (void *data, int worker, int task)
{
  const Work *self = data;
  const int32_t end = (task + 1) * TASK < self->n ? (task + 1) * TASK : self->n;

  for (int32_t i = task * TASK; i < end;) {
    const int32_t n = code_lanes (self, worker, i, end);

    if (n == 0)
      cuv_train_codes (self->features,
          self->pixels + (size_t) i * self->window_size, self->codes + i,
          self->pitch);
    i += n > 0 ? n : 1;
  }
}

bool
cuv_train_code_samples (const CuvTrainFeatures *features, const uint8_t *pixels,
    int32_t n, uint8_t *codes, size_t pitch, int n_threads)
{
  const size_t width = (size_t) features->window_width;
  const size_t height = (size_t) features->window_height;
  const int n_workers = cuv_threads_n_workers ();
  Work work = { features, pixels, n, codes, pitch, width * height, NULL,
    CUV_TRAIN_LANES * (width + 1) * (height + 1) };

  work.sums = malloc ((size_t) n_workers * work.sums_size * sizeof *work.sums);
  if (work.sums == NULL)
    return false;
  cuv_threads_run_workers (
      n_threads, n_workers, (n + TASK - 1) / TASK, code_task, &work);
  free (work.sums);
  return true;
}
