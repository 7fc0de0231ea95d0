/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/waldboost-cpu.h"
#include "reference/waldboost-reference.h"
#include "train/train.h"

#include <math.h>
#include <stdlib.h>
#include "cuvthreads.h"

/* ---- a picture ---- */

typedef struct {
  CuvTrainReservoir *reservoir;
  const CuvWaldboostModel *model;
  const CuvTrainPicture *picture;
  bool sparse; /* looks at wanted windows only, without n_alive */
  CuvWaldboostPlan *plan;
  CuvTrainPyramid pyramid;
  uint32_t *sums;    /* of the level that is drawn from; NULL: not made */
  uint64_t *first;   /* number of the first window of each level, and of all */
  uint64_t hash;     /* of the picture */
  uint8_t *excluded; /* of each window whether it is no negative; NULL: none */
  double *across;    /* scratch memory: a number for each pixel of a row */
  CuvWaldboostCpu **cpu;
  uint64_t n_excluded, n_alive;
} Draw;

static bool
number_windows (Draw *self)
{
  const CuvWaldboostPlan *plan = self->plan;

  self->first = calloc ((size_t) plan->n_levels + 1, sizeof *self->first);
  for (int i = 0; self->first != NULL && i < plan->n_levels; i++)
    self->first[i + 1] = self->first[i]
        + (uint64_t) plan->levels[i].n_x * (uint64_t) plan->levels[i].n_y;
  return self->first != NULL;
}

/* Of window x of row y. */
static uint64_t
number_of (const Draw *self, int level, int32_t x, int32_t y)
{
  return self->first[level]
      + (uint64_t) y * (uint64_t) self->plan->levels[level].n_x + (uint64_t) x;
}

/* ---- windows on objects ---- */

/* Of n windows along a side, those that may reach from first to end, in level
 * pixels. */
typedef struct {
  int32_t first, end;
} Range;

static Range
range (double first, double end, int window, int n, int step)
{
  const double from = floor ((floor (first) - window) / step);
  const double to = ceil ((ceil (end) + 1) / step);

  return (Range){ from > 0 ? (int32_t) from : 0, to < n ? (int32_t) to : n };
}

/* A box and the windows of a level. */
typedef struct {
  double *across; /* of window x of a row: what it has in common with it */
  double down;    /* of the windows of a row */
  double areas;   /* of the box and a window */
} Profile;

static bool
is_excluded (const Profile *self, int32_t x)
{
  return cuv_train_share (self->across[x], self->down, self->areas)
      > CUV_TRAIN_MAX_OVERLAP;
}

static CuvTrainWindow
window_at (const Draw *self, int level, int32_t x, int32_t y)
{
  const int32_t step = self->plan->levels[level].step;

  return (CuvTrainWindow){ level, x * step, y * step };
}

static CuvWaldboostBox
box_of (const Draw *self, int level, int32_t x, int32_t y)
{
  const CuvTrainWindow window = window_at (self, level, x, y);
  const CuvWaldboostHit hit = { level, window.x, window.y, 0 };

  return cuv_waldboost_box (self->plan, &hit);
}

/* Returns the window that has the most in common with the box. */
static int32_t
fill_profile (
    const Draw *self, int level, const CuvTrainBox *box, Range xs, Profile *to)
{
  int32_t best = xs.first;

  for (int32_t x = xs.first; x < xs.end; x++) {
    const CuvWaldboostBox at = box_of (self, level, x, 0);

    to->across[x] = cuv_train_common (at.x, at.width, box->x, box->width);
    if (to->across[x] > to->across[best])
      best = x;
    to->areas = (double) at.width * at.height + box->width * box->height;
  }
  return best;
}

static void
exclude_in_row (Draw *self, int level, int32_t y, Range xs)
{
  uint8_t *at = &self->excluded[number_of (self, level, xs.first, y)];

  for (int32_t x = xs.first; x < xs.end; x++, at++) {
    self->n_excluded += !*at;
    *at = 1;
  }
}

/* Along a row the overlap rises and then falls: the windows to exclude are
 * neighbours. Their range changes little from row to row. */
static void
exclude_in_level (Draw *self, int index, const CuvTrainBox *box)
{
  const CuvWaldboostPlan *plan = self->plan;
  const CuvWaldboostLevel *level = &plan->levels[index];
  const double across = (double) level->width / plan->width;
  const double down = (double) level->height / plan->height;
  const Range xs = range (box->x * across, (box->x + box->width) * across,
      self->reservoir->window_width + 1, level->n_x, level->step);
  const Range ys = range (box->y * down, (box->y + box->height) * down,
      self->reservoir->window_height + 1, level->n_y, level->step);
  Profile profile = { .across = self->across };
  const int32_t best =
      xs.first < xs.end ? fill_profile (self, index, box, xs, &profile) : 0;
  Range row = { best, best + 1 };

  for (int32_t y = ys.first; y < ys.end && xs.first < xs.end; y++) {
    const CuvWaldboostBox at = box_of (self, index, 0, y);

    profile.down = cuv_train_common (at.y, at.height, box->y, box->height);
    if (!is_excluded (&profile, best))
      continue;
    while (!is_excluded (&profile, row.first))
      row.first++;
    while (row.first > xs.first && is_excluded (&profile, row.first - 1))
      row.first--;
    while (!is_excluded (&profile, row.end - 1))
      row.end--;
    while (row.end < xs.end && is_excluded (&profile, row.end))
      row.end++;
    exclude_in_row (self, index, y, row);
  }
}

/* The larger of two areas that overlap enough is not much larger. */
static bool
may_overlap (const CuvWaldboostLevel *level, const CuvTrainBox *box)
{
  const double window = (double) level->box_width * level->box_height;
  const double object = box->width * box->height;

  return fmin (window, object) > CUV_TRAIN_MAX_OVERLAP * fmax (window, object);
}

static bool
exclude_objects (Draw *self)
{
  const CuvTrainPicture *picture = self->picture;

  if (picture->n_boxes == 0)
    return true;
  self->excluded = calloc (self->first[self->plan->n_levels] + 1, 1);
  self->across =
      malloc (((size_t) self->plan->width + 1) * sizeof *self->across);
  if (self->excluded == NULL || self->across == NULL)
    return false;
  for (int i = 0; i < self->plan->n_levels; i++) {
    for (int32_t b = 0; b < picture->n_boxes; b++) {
      if (may_overlap (&self->plan->levels[i], &picture->boxes[b]))
        exclude_in_level (self, i, &picture->boxes[b]);
    }
  }
  return true;
}

static bool
is_negative (const Draw *self, uint64_t number)
{
  return self->excluded == NULL || !self->excluded[number];
}

/* ---- drawing ---- */

/* False if memory runs out. */
static bool
insert (Draw *self, const CuvTrainWindow *window, uint64_t rank)
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
rank_of (const Draw *self, uint64_t number)
{
  uint64_t state = self->hash + number;

  return cuv_train_random (&state);
}

/* ---- one window after the other ---- */

/* NULL if memory runs out. */
static uint32_t *
sums_of (Draw *self, int index)
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

/* passed: weak classifiers that the window passes. False if memory runs out. */
static bool
evaluate (Draw *self, const CuvTrainWindow *window, int *passed)
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

/* Looks only at windows that would be drawn and, to count those that live, at
 * windows that are no negatives: these are taken out of n_alive. And at all
 * where OpenCV's scan skips the next one after some. */
static bool
draw_window (Draw *self, int index, int32_t x, int32_t y, bool *skips_next)
{
  const CuvWaldboostModel *model = self->model;
  const CuvTrainWindow window = window_at (self, index, x, y);
  const uint64_t number = number_of (self, index, x, y);
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
draw_from_row (Draw *self, int index, int32_t y)
{
  bool ok = true, skips_next;

  for (int32_t x = 0; ok && x < self->plan->levels[index].n_x;
       x += 1 + skips_next)
    ok = draw_window (self, index, x, y, &skips_next);
  return ok;
}

/* Looks only at windows that would be drawn. */
static bool
draw_from_few (Draw *self, int index, int32_t y)
{
  const uint64_t first = number_of (self, index, 0, y);
  bool ok = true;

  for (int32_t x = 0; ok && x < self->plan->levels[index].n_x; x++) {
    const uint64_t rank = rank_of (self, first + (uint64_t) x);
    const CuvTrainWindow window = window_at (self, index, x, y);
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
draw_from_level (Draw *self, int index)
{
  bool ok = true;

  for (int32_t y = 0; ok && y < self->plan->levels[index].n_y; y++)
    ok = self->sparse ? draw_from_few (self, index, y)
                      : draw_from_row (self, index, y);
  free (self->sums);
  self->sums = NULL;
  return ok;
}

/* n_alive: of all windows, whether they are negatives or not. */
static bool
draw_from_all (Draw *self, uint64_t n_alive)
{
  bool ok = true;

  self->n_alive += n_alive;
  for (int i = 0; i < self->plan->n_levels && ok; i++)
    ok = draw_from_level (self, i);
  return ok;
}

/* ---- hits of the detector ---- */

static bool
draw_from_hits (Draw *self, const CuvWaldboostResult *result)
{
  bool ok = true;

  for (int32_t i = 0; ok && i < result->n_hits; i++) {
    const CuvWaldboostHit *hit = &result->hits[i];
    const CuvTrainWindow window = { hit->level, hit->x, hit->y };
    const int32_t step = self->plan->levels[hit->level].step;
    const uint64_t number =
        number_of (self, hit->level, hit->x / step, hit->y / step);
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
prepare_detector (Draw *self)
{
  CuvWaldboostCpu **cpu = self->cpu;

  if (*cpu != NULL)
    return cuv_waldboost_cpu_set_plan (*cpu, self->plan);
  *cpu = cuv_waldboost_cpu_new (self->model, self->plan);
  return *cpu != NULL;
}

/* Too many hits for the detector's list do not matter. */
static bool
draw_from_detector (Draw *self)
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
count (Draw *self)
{
  CuvTrainReservoir *reservoir = self->reservoir;

  pthread_mutex_lock (&reservoir->lock);
  if (reservoir->floor == 0)
    reservoir->n_windows +=
        self->first[self->plan->n_levels] - self->n_excluded;
  reservoir->n_alive += self->n_alive;
  pthread_mutex_unlock (&reservoir->lock);
}

/* cpu: a detector with the model, or NULL to begin with; the caller frees it.
 */
static bool
draw_picture (CuvTrainReservoir *self, const CuvWaldboostModel *model,
    const CuvTrainPicture *picture, int32_t number, bool sparse,
    CuvWaldboostCpu **cpu)
{
  uint64_t state = self->seed + (uint64_t) number;
  Draw draw = { .reservoir = self,
    .model = model,
    .picture = picture,
    .sparse = sparse,
    .plan = cuv_train_plan_new (model, self->cascade, self->window_width,
        self->window_height, picture->frame.width, picture->frame.height),
    .hash = cuv_train_random (&state),
    .cpu = cpu };
  bool ok = draw.plan != NULL && number_windows (&draw)
      && exclude_objects (&draw)
      && cuv_train_pyramid_init (&draw.pyramid, draw.plan, &picture->frame);

  if (ok)
    ok = sparse || model == NULL
        ? draw_from_all (&draw, draw.first[draw.plan->n_levels])
        : draw_from_detector (&draw);
  if (ok)
    count (&draw);
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

/* The detector looks at all windows in the time in which this share of them is
 * looked at one by one. */
#define SPARSE 0.125

typedef struct {
  CuvTrainReservoir *reservoir;
  const CuvWaldboostModel *model;
  const CuvTrainPictures *pictures;
  bool sparse;
  CuvWaldboostCpu *cpus[CUV_MAX_WORKERS];
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

  /* what OpenCV's scan skips follows from all windows */
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
  for (int i = 0; i < CUV_MAX_WORKERS; i++)
    cuv_waldboost_cpu_free (work.cpus[i]);
  return !work.failed;
}
