/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A whole scan on the CPU: grey, pyramid, integral pictures and windows.
 *
 * Levels are cut into strips that fit a cache. A strip makes the rows that it
 * needs, those shared with its neighbours too, so that strips are independent:
 * any thread may take any of them. */
#include "config.h"
#include "waldboost-scan.h"
#include "cuvcpu.h"
#include "cuvthreads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STRIP_ROWS 128 /* level pixels from a strip to the next */
#define GREY_ROWS 32   /* of the frame, made grey by one piece */
#define MAX_WORKERS 64
#define ALIGNMENT 64

typedef struct {
  int32_t level, first, n; /* rows of windows */
  int32_t first_hit, n_hits, worker;
  uint64_t lost, windows, stage_0;
} Strip;

/* Memory of one thread. Most systems give none until it is touched. */
typedef struct {
  uint8_t *grey;    /* a row of a level */
  uint16_t *column; /* for the resize */
  char *sums;
  CuvWaldboostHit *hits;
  int32_t n_hits;
} Worker;

struct _CuvWaldboostCpu {
  const CuvWaldboostModel *model;
  const CuvWaldboostPlan *plan;
  CuvWaldboostSteps steps;
  CuvWaldboostTables *tables;
  ptrdiff_t stride; /* of the sums */
  int n_strips, n_workers;
  Strip *strips;
  Worker workers[MAX_WORKERS];
  uint8_t *grey; /* the frame's, where it is not one plane of the frame */
  CuvWaldboostHit *hits;
  uint64_t survivors[CUV_WALDBOOST_MAX_SEGMENTS];
  /* during a run */
  const CuvFrame *frame;
  CuvComponent base;
  atomic_int next_strip;
};

/* ---- grey ---- */

static void
grey_rows (void *data, int piece)
{
  CuvWaldboostCpu *self = data;
  int width = self->plan->width, first = piece * GREY_ROWS;
  int end = first + GREY_ROWS;

  if (end > self->plan->height)
    end = self->plan->height;
  for (int y = first; y < end; y++) {
    uint8_t *out = self->grey + (size_t) y * width;

    for (int x = 0; x < width; x++)
      out[x] = cuv_frame_grey (self->frame, x, y);
  }
}

static void
find_grey (CuvWaldboostCpu *self, int n_threads)
{
  const CuvFrame *frame = self->frame;
  int n_pieces = (self->plan->height + GREY_ROWS - 1) / GREY_ROWS;

  if (frame->model != CUV_MODEL_RGB && frame->component[0].step == 1) {
    self->base = frame->component[0];
    return;
  }
  cuv_threads_run (n_threads, n_pieces, grey_rows, self);
  self->base =
      (CuvComponent){ .data = self->grey, .stride = self->plan->width };
}

/* ---- strips ---- */

static const uint8_t *
base_row (const CuvWaldboostCpu *self, int y)
{
  return self->base.data + (ptrdiff_t) y * self->base.stride;
}

/* The integral picture of n rows of a level, from row first. */
static void
make_sums (const CuvWaldboostCpu *self, Worker *worker,
    const CuvWaldboostLevel *level, int first, int n)
{
  const CuvWaldboostPlan *plan = self->plan;
  ptrdiff_t pitch = self->stride * (ptrdiff_t) self->steps.sum_size;
  char *sums = worker->sums;

  memset (sums, 0, pitch);
  for (int y = first; y < first + n; y++) {
    CuvTap tap = plan->taps[level->first_y_tap + y];
    const uint8_t *top = base_row (self, tap.index);
    const uint8_t *bottom =
        tap.weight > 0 ? base_row (self, tap.index + 1) : top;

    self->steps.resize_row (worker->grey, level->width, top, bottom,
        plan->width, tap.weight, plan->taps + level->first_x_tap,
        worker->column);
    self->steps.sum_row (sums + pitch, sums, worker->grey, level->width,
        level->step, self->stride);
    sums += pitch;
  }
}

static void
scan_strip (CuvWaldboostCpu *self, int worker_index, Strip *strip)
{
  Worker *worker = &self->workers[worker_index];
  ptrdiff_t pitch = self->stride * (ptrdiff_t) self->steps.sum_size;
  const CuvWaldboostLevel *level = &self->plan->levels[strip->level];
  CuvHitList list = { worker->hits + worker->n_hits, 0,
    CUV_WALDBOOST_MAX_HITS - worker->n_hits, 0, 0, 0 };
  CuvScanRow row = { self->model, self->tables, worker->sums, self->stride,
    strip->level, level->step, level->n_x, 0 };

  make_sums (self, worker, level, strip->first * level->step,
      (strip->n - 1) * level->step + self->model->window_height);
  for (int i = 0; i < strip->n; i++) {
    row.y = (strip->first + i) * level->step;
    row.sums = worker->sums + i * level->step * pitch;
    self->steps.scan_row (&row, &list);
  }
  strip->worker = worker_index;
  strip->first_hit = worker->n_hits;
  strip->n_hits = list.n_hits;
  strip->lost = list.lost;
  strip->windows = list.windows;
  strip->stage_0 = list.stage_0;
  worker->n_hits += list.n_hits;
}

/* Takes strips, in their order, until none is left. So what a full worker loses
 * comes after MAX_HITS others, and would not be in the result either. */
static void
work (void *data, int worker)
{
  CuvWaldboostCpu *self = data;
  int i;

  while ((i = atomic_fetch_add (&self->next_strip, 1)) < self->n_strips)
    scan_strip (self, worker, &self->strips[i]);
}

static void
collect (CuvWaldboostCpu *self, CuvWaldboostResult *result)
{
  uint64_t lost = 0;

  memset (self->survivors, 0, sizeof self->survivors);
  *result =
      (CuvWaldboostResult){ .hits = self->hits, .survivors = self->survivors };
  for (int i = 0; i < self->n_strips; i++) {
    const Strip *strip = &self->strips[i];
    const CuvWaldboostHit *hits =
        self->workers[strip->worker].hits + strip->first_hit;
    int32_t n = CUV_WALDBOOST_MAX_HITS - result->n_hits;

    if (strip->n_hits < n)
      n = strip->n_hits;
    memcpy (self->hits + result->n_hits, hits, n * sizeof *hits);
    result->n_hits += n;
    lost += strip->lost + (strip->n_hits - n);
    result->windows += strip->windows;
    self->survivors[0] += strip->stage_0;
  }
  result->overflow = lost > INT32_MAX ? INT32_MAX : (int32_t) lost;
}

void
cuv_waldboost_cpu_run (CuvWaldboostCpu *self, const CuvFrame *frame,
    int n_threads, CuvWaldboostResult *result)
{
  int n_workers = self->n_workers;

  if (n_threads > 0 && n_threads < n_workers)
    n_workers = n_threads;
  self->frame = frame;
  for (int i = 0; i < self->n_workers; i++)
    self->workers[i].n_hits = 0;
  atomic_store (&self->next_strip, 0);
  if (self->n_strips > 0) {
    find_grey (self, n_workers);
    cuv_threads_run (n_workers, n_workers, work, self);
  }
  collect (self, result);
}

/* ---- memory ---- */

static int
strip_rows (const CuvWaldboostLevel *level)
{
  return STRIP_ROWS / level->step;
}

static bool
make_strips (CuvWaldboostCpu *self)
{
  const CuvWaldboostPlan *plan = self->plan;
  Strip *strip;

  for (int i = 0; i < plan->n_levels; i++) {
    int rows = strip_rows (&plan->levels[i]);

    if (plan->levels[i].n_x > 0)
      self->n_strips += (plan->levels[i].n_y + rows - 1) / rows;
  }
  self->strips = strip = calloc (self->n_strips + 1, sizeof *strip);
  if (strip == NULL)
    return false;
  for (int i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];
    int rows = strip_rows (level);

    for (int j = 0; level->n_x > 0 && j < level->n_y; j += rows)
      *strip++ = (Strip){ .level = i,
        .first = j,
        .n = level->n_y - j < rows ? level->n_y - j : rows };
  }
  return true;
}

static void *
allocate (size_t size)
{
  return aligned_alloc (ALIGNMENT, (size / ALIGNMENT + 1) * ALIGNMENT);
}

static bool
make_worker (const CuvWaldboostCpu *self, Worker *worker)
{
  size_t width = self->plan->width;
  size_t rows = STRIP_ROWS + self->model->window_height + 1;

  worker->grey = allocate (width + ALIGNMENT);
  worker->column = allocate ((width + ALIGNMENT) * sizeof *worker->column);
  worker->sums = calloc (rows * self->stride, self->steps.sum_size);
  worker->hits = malloc (CUV_WALDBOOST_MAX_HITS * sizeof *worker->hits);
  return worker->grey != NULL && worker->column != NULL && worker->sums != NULL
      && worker->hits != NULL;
}

static bool
make_workers (CuvWaldboostCpu *self)
{
  long n = sysconf (_SC_NPROCESSORS_ONLN);

  self->n_workers = n < 4 ? 4 : n > MAX_WORKERS ? MAX_WORKERS : (int) n;
  for (int i = 0; i < self->n_workers; i++) {
    if (!make_worker (self, &self->workers[i]))
      return false;
  }
  self->grey = allocate ((size_t) self->plan->width * self->plan->height);
  self->hits = malloc (CUV_WALDBOOST_MAX_HITS * sizeof *self->hits);
  return self->grey != NULL && self->hits != NULL;
}

CuvWaldboostCpu *
cuv_waldboost_cpu_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  CuvWaldboostCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->model = model;
  self->plan = plan;
  self->steps = (CuvWaldboostSteps){ sizeof (uint32_t), cuv_resize_row,
    cuv_sum_row, cuv_scan_row };
  self->stride = (plan->width + CUV_SUMS_PADDING + 15) / 16 * 16;
#if HAVE_AVX2
  if (cuv_cpu_flags () & CUV_CPU_AVX2)
    self->tables = cuv_waldboost_avx2_init (&self->steps, model, self->stride);
#endif
  if (!make_strips (self) || !make_workers (self)) {
    cuv_waldboost_cpu_free (self);
    return NULL;
  }
  return self;
}

void
cuv_waldboost_cpu_free (CuvWaldboostCpu *self)
{
  if (self == NULL)
    return;
  for (int i = 0; i < self->n_workers; i++) {
    free (self->workers[i].grey);
    free (self->workers[i].column);
    free (self->workers[i].sums);
    free (self->workers[i].hits);
  }
#if HAVE_AVX2
  cuv_waldboost_avx2_free (self->tables);
#endif
  free (self->strips);
  free (self->grey);
  free (self->hits);
  free (self);
}
