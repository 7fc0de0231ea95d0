/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws random windows that a classifier does not reject: evaluates one window
 * at a time, or scans with the detector, whichever is faster. */
#include "reference/waldboost-reference.h"
#include "negatives.h"

#include <stdlib.h>
#include "cuvthreads.h"

/* ---- a picture ---- */

static bool
number_windows (CuvTrainDraw *self)
{
  const CuvWaldboostPlan *plan = self->plan;

  self->first = calloc ((size_t) plan->n_levels + 1, sizeof *self->first);
  for (int i = 0; self->first != NULL && i < plan->n_levels; i++)
    self->first[i + 1] = self->first[i]
        + (uint64_t) plan->levels[i].n_x * (uint64_t) plan->levels[i].n_y;
  return self->first != NULL;
}

static bool
is_negative (const CuvTrainDraw *self, uint64_t number)
{
  return self->excluded == NULL || !self->excluded[number];
}

/* ---- drawing ---- */

/* Draws a window. Returns false if memory runs out. */
static bool
insert (CuvTrainDraw *self, const CuvTrainWindow *window, uint64_t rank)
{
  CuvTrainReservoir *reservoir = self->reservoir;
  uint8_t pixels[CUV_TRAIN_MAX_WINDOW * CUV_TRAIN_MAX_WINDOW];

  if (!cuv_train_pyramid_make (&self->pyramid, window->level))
    return false;
  cuv_train_cut (&self->pyramid, window, reservoir->window_width,
      reservoir->window_height, pixels);
  cuv_train_reservoir_add (reservoir, rank, pixels);
  return true;
}

static uint64_t
rank_of (const CuvTrainDraw *self, uint64_t number)
{
  uint64_t state = self->hash + number;

  return cuv_train_random (&state);
}

/* ---- one window after the other ---- */

/* Returns the integral image of a level, or NULL if memory runs out. */
static uint32_t *
sums_of (CuvTrainDraw *self, int index)
{
  const CuvWaldboostLevel *level = &self->plan->levels[index];
  const ptrdiff_t stride = level->width + 1;
  uint32_t *sums = cuv_train_pyramid_make (&self->pyramid, index)
      ? calloc ((size_t) stride * ((size_t) level->height + 1), sizeof *sums)
      : NULL;

  for (int y = 0; sums != NULL && y < level->height; y++)
    cuv_sum_row (sums + (y + 1) * stride, sums + y * stride,
        self->pyramid.levels[index] + (ptrdiff_t) y * level->width,
        level->width, 1, stride);
  return sums;
}

/* Evaluates a window. *passed: number of weak classifiers that it passes.
 * Returns false if memory runs out. */
static bool
evaluate (CuvTrainDraw *self, const CuvTrainWindow *window, int *passed)
{
  const ptrdiff_t stride = self->plan->levels[window->level].width + 1;
  CuvIntegrals integrals = { .stride = stride };
  float score;

  if (self->sums == NULL)
    self->sums = sums_of (self, window->level);
  if (self->sums == NULL)
    return false;
  integrals.sums = self->sums + window->y * stride;
  *passed = cuv_evaluate_window (self->model, &integrals, window->x, &score);
  return true;
}

/* Draws a window if it is wanted and not rejected. Evaluates wanted windows
 * and, to subtract them from n_alive, windows that are not negatives. If
 * OpenCV's scan skips windows after a reject, evaluates all windows. */
static bool
draw_window (
    CuvTrainDraw *self, int index, int32_t x, int32_t y, bool *skips_next)
{
  const CuvWaldboostModel *model = self->model;
  const CuvTrainWindow window = cuv_train_window_at (self, index, x, y);
  const uint64_t number = cuv_train_window_number (self, index, x, y);
  const uint64_t rank = rank_of (self, number);
  const bool negative = is_negative (self, number);
  const bool wanted =
      negative && cuv_train_reservoir_wants (self->reservoir, rank);
  int passed = 0;
  bool alive = true;

  *skips_next = false;
  if (model != NULL && (wanted || !negative || self->plan->skip)) {
    if (!evaluate (self, &window, &passed))
      return false;
    alive = passed == model->n_weak;
    *skips_next = self->plan->skip && passed < model->stage_first[1];
  }
  if (alive && !negative)
    self->n_alive--;
  return !alive || !wanted || insert (self, &window, rank);
}

static bool
draw_from_row (CuvTrainDraw *self, int index, int32_t y)
{
  bool ok = true, skips_next;

  for (int32_t x = 0; ok && x < self->plan->levels[index].n_x;
       x += 1 + skips_next)
    ok = draw_window (self, index, x, y, &skips_next);
  return ok;
}

/* Draws from a row; evaluates only wanted windows. */
static bool
draw_from_few (CuvTrainDraw *self, int index, int32_t y)
{
  const uint64_t first = cuv_train_window_number (self, index, 0, y);
  bool ok = true;

  for (int32_t x = 0; ok && x < self->plan->levels[index].n_x; x++) {
    const uint64_t rank = rank_of (self, first + (uint64_t) x);
    const CuvTrainWindow window = cuv_train_window_at (self, index, x, y);
    int passed;

    if (!cuv_train_reservoir_wants (self->reservoir, rank)
        || !is_negative (self, first + (uint64_t) x))
      continue;
    ok = evaluate (self, &window, &passed)
        && (passed < self->model->n_weak || insert (self, &window, rank));
  }
  return ok;
}

static bool
draw_from_level (CuvTrainDraw *self, int index)
{
  bool ok = true;

  for (int32_t y = 0; ok && y < self->plan->levels[index].n_y; y++)
    ok = self->sparse ? draw_from_few (self, index, y)
                      : draw_from_row (self, index, y);
  free (self->sums);
  self->sums = NULL;
  return ok;
}

/* Draws from all levels. n_alive: number of windows that are not rejected,
 * including those that are not negatives. */
static bool
draw_from_all (CuvTrainDraw *self, uint64_t n_alive)
{
  bool ok = true;

  self->n_alive += n_alive;
  for (int i = 0; i < self->plan->n_levels && ok; i++)
    ok = draw_from_level (self, i);
  return ok;
}

/* ---- hits of the detector ---- */

static bool
draw_from_hits (CuvTrainDraw *self, const CuvWaldboostResult *result)
{
  bool ok = true;

  for (int32_t i = 0; ok && i < result->n_hits; i++) {
    const CuvWaldboostHit *hit = &result->hits[i];
    const CuvTrainWindow window = { hit->level, hit->x, hit->y };
    const int32_t step = self->plan->levels[hit->level].step;
    const uint64_t number = cuv_train_window_number (
        self, hit->level, hit->x / step, hit->y / step);
    const uint64_t rank = rank_of (self, number);

    if (!is_negative (self, number))
      continue;
    self->n_alive++;
    if (cuv_train_reservoir_wants (self->reservoir, rank))
      ok = insert (self, &window, rank);
  }
  return ok;
}

static bool
prepare_detector (CuvTrainDraw *self)
{
  CuvWaldboostCpu **cpu = self->cpu;

  if (*cpu != NULL)
    return cuv_waldboost_cpu_set_plan (*cpu, self->plan);
  *cpu = cuv_waldboost_cpu_new (self->model, self->plan);
  return *cpu != NULL;
}

/* Draws from the detector's hits, or from all windows if there are more hits
 * than the detector's list can hold. */
static bool
draw_from_detector (CuvTrainDraw *self)
{
  CuvWaldboostResult result;

  if (!prepare_detector (self))
    return false;
  cuv_waldboost_cpu_run (*self->cpu, &self->picture->frame, 1, &result);
  return result.overflow == 0
      ? draw_from_hits (self, &result)
      : draw_from_all (self, result.survivors[self->plan->n_segments - 1]);
}

static void
count_windows (CuvTrainDraw *self)
{
  CuvTrainReservoir *reservoir = self->reservoir;

  pthread_mutex_lock (&reservoir->lock);
  if (reservoir->floor == 0)
    reservoir->n_windows +=
        self->first[self->plan->n_levels] - self->n_excluded;
  reservoir->n_alive += self->n_alive;
  pthread_mutex_unlock (&reservoir->lock);
}

/* Draws from a picture. *cpu: a detector with the model, initially NULL; the
 * caller frees it. */
static bool
draw_picture (CuvTrainReservoir *self, const CuvWaldboostModel *model,
    const CuvTrainPicture *picture, int32_t number, bool sparse,
    CuvWaldboostCpu **cpu)
{
  uint64_t state = self->seed + (uint64_t) number;
  CuvTrainDraw draw = { .reservoir = self,
    .model = model,
    .picture = picture,
    .sparse = sparse,
    .plan = cuv_train_plan_new (model, self->cascade, self->window_width,
        self->window_height, picture->frame.width, picture->frame.height),
    .hash = cuv_train_random (&state),
    .cpu = cpu };
  bool ok = draw.plan != NULL && number_windows (&draw)
      && cuv_train_exclude_objects (&draw)
      && cuv_train_pyramid_init (&draw.pyramid, draw.plan, &picture->frame);

  if (ok)
    ok = sparse || model == NULL
        ? draw_from_all (&draw, draw.first[draw.plan->n_levels])
        : draw_from_detector (&draw);
  if (ok)
    count_windows (&draw);
  if (draw.plan != NULL)
    cuv_train_pyramid_clear (&draw.pyramid);
  cuv_waldboost_plan_free (draw.plan);
  free (draw.first);
  free (draw.excluded);
  free (draw.across);
  return ok;
}

bool
cuv_train_draw (CuvTrainReservoir *self, const CuvWaldboostModel *model,
    const CuvTrainPicture *picture, int32_t number)
{
  CuvWaldboostCpu *cpu = NULL;
  const bool ok = draw_picture (self, model, picture, number, false, &cpu);

  cuv_waldboost_cpu_free (cpu);
  return ok;
}

/* ---- all pictures ---- */

/* Evaluating this fraction of the windows one by one takes as long as the
 * detector takes for all of them. Measured in docs/benchmarks/training.md,
 * "From pictures to the model". */
#define SPARSE 0.125

typedef struct {
  CuvTrainReservoir *reservoir;
  const CuvWaldboostModel *model;
  const CuvTrainPictures *pictures;
  bool sparse;
  CuvWaldboostCpu *cpus[CUV_THREADS_MAX_WORKERS];
  _Atomic bool failed;
} Work;

static void
draw_task (void *data, int worker, int task)
{
  Work *self = data;
  CuvTrainPicture picture;

  if (!self->failed
      && self->pictures->load (self->pictures->data, task, &picture)
      && !draw_picture (self->reservoir, self->model, &picture, task,
          self->sparse, &self->cpus[worker]))
    self->failed = true;
}

static uint64_t
rank_at (double share)
{
  return share < 1 ? (uint64_t) (share * 0x1p64) : UINT64_MAX;
}

bool
cuv_train_draw_all (CuvTrainReservoir *self, const CuvWaldboostModel *model,
    const CuvTrainPictures *pictures, double share)
{
  Work work = { .reservoir = self, .model = model, .pictures = pictures };

  /* the windows that OpenCV's scan skips are known only after evaluating all */
  if (model == NULL || self->cascade)
    share = 1;
  for (bool enough = false; !enough && !work.failed; share *= 4) {
    self->limit = rank_at (share);
    work.sparse = share < SPARSE;
    cuv_threads_run_workers (
        0, cuv_threads_n_workers (), pictures->n, draw_task, &work);
    enough = self->n == self->capacity || share >= 1;
    self->floor = self->limit;
  }
  for (int i = 0; i < CUV_THREADS_MAX_WORKERS; i++)
    cuv_waldboost_cpu_free (work.cpus[i]);
  return !work.failed;
}
