/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/waldboost-cpu.h"
#include "reference/waldboost-reference.h"
#include "train/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the reservoir ---- */

bool
cuv_train_reservoir_init (CuvTrainReservoir *self, int window_width,
    int window_height, int32_t capacity, uint64_t seed)
{
  const size_t size = (size_t) window_width * (size_t) window_height;

  *self = (CuvTrainReservoir){ window_width, window_height, capacity, 0, seed,
    malloc (((size_t) capacity + 1) * sizeof *self->ranks),
    malloc ((size_t) capacity * size + 1), 0, 0 };
  return self->ranks != NULL && self->pixels != NULL;
}

void
cuv_train_reservoir_clear (CuvTrainReservoir *self)
{
  free (self->ranks);
  free (self->pixels);
  *self = (CuvTrainReservoir){ 0 };
}

static size_t
window_size (const CuvTrainReservoir *self)
{
  return (size_t) self->window_width * (size_t) self->window_height;
}

static uint8_t *
pixels_of (const CuvTrainReservoir *self, int32_t i)
{
  return self->pixels + (size_t) i * window_size (self);
}

static void
move (CuvTrainReservoir *self, int32_t from, int32_t to)
{
  self->ranks[to] = self->ranks[from];
  memcpy (pixels_of (self, to), pixels_of (self, from), window_size (self));
}

/* The heap's free place for a rank, after the largest was taken out. */
static int32_t
sift_down (CuvTrainReservoir *self, uint64_t rank)
{
  int32_t i = 0, child;

  while ((child = 2 * i + 1) < self->n) {
    if (child + 1 < self->n && self->ranks[child + 1] > self->ranks[child])
      child++;
    if (self->ranks[child] <= rank)
      break;
    move (self, child, i);
    i = child;
  }
  return i;
}

static int32_t
sift_up (CuvTrainReservoir *self, uint64_t rank)
{
  int32_t i = self->n++;

  while (i > 0 && self->ranks[(i - 1) / 2] < rank) {
    move (self, (i - 1) / 2, i);
    i = (i - 1) / 2;
  }
  return i;
}

static bool
is_wanted (const CuvTrainReservoir *self, uint64_t rank)
{
  return self->n < self->capacity || (self->n > 0 && rank < self->ranks[0]);
}

/* ---- a picture ---- */

typedef struct {
  CuvTrainReservoir *reservoir;
  const CuvWaldboostModel *model;
  const CuvTrainPicture *picture;
  CuvWaldboostPlan *plan;
  CuvTrainPyramid pyramid;
  uint64_t *first;   /* number of the first window of each level, and of all */
  uint64_t hash;     /* of the picture */
  uint8_t *excluded; /* of each window whether it is no negative; NULL: none */
  uint64_t n_excluded;
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

static uint64_t
number_of (const Draw *self, const CuvTrainWindow *window)
{
  return self->first[window->level]
      + (uint64_t) window->y * (uint64_t) self->plan->levels[window->level].n_x
      + (uint64_t) window->x;
}

/* ---- windows on objects ---- */

/* Positions, of n, of windows that may reach from first to end, in level
 * pixels. */
typedef struct {
  int32_t first, end;
} Range;

static Range
range (double first, double end, int window, int n)
{
  const double from = floor (first) - window, to = ceil (end) + 1;

  return (Range){ from > 0 ? (int32_t) from : 0, to < n ? (int32_t) to : n };
}

static void
exclude_in_level (Draw *self, int index, const CuvTrainBox *box)
{
  const CuvWaldboostPlan *plan = self->plan;
  const CuvWaldboostLevel *level = &plan->levels[index];
  const double across = (double) level->width / plan->width;
  const double down = (double) level->height / plan->height;
  const Range xs = range (box->x * across, (box->x + box->width) * across,
      self->reservoir->window_width + 1, level->n_x);
  const Range ys = range (box->y * down, (box->y + box->height) * down,
      self->reservoir->window_height + 1, level->n_y);
  CuvTrainWindow window = { .level = index };

  for (window.y = ys.first; window.y < ys.end; window.y++) {
    for (window.x = xs.first; window.x < xs.end; window.x++) {
      uint8_t *excluded = &self->excluded[number_of (self, &window)];

      if (*excluded
          || cuv_train_overlap (plan, &window, box) <= CUV_TRAIN_MAX_OVERLAP)
        continue;
      *excluded = 1;
      self->n_excluded++;
    }
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
  for (int i = 0; self->excluded != NULL && i < self->plan->n_levels; i++) {
    for (int32_t b = 0; b < picture->n_boxes; b++) {
      if (may_overlap (&self->plan->levels[i], &picture->boxes[b]))
        exclude_in_level (self, i, &picture->boxes[b]);
    }
  }
  return self->excluded != NULL;
}

static bool
is_negative (const Draw *self, const CuvTrainWindow *window)
{
  return self->excluded == NULL || !self->excluded[number_of (self, window)];
}

/* ---- drawing ---- */

static void
insert (Draw *self, const CuvTrainWindow *window, uint64_t rank)
{
  CuvTrainReservoir *reservoir = self->reservoir;
  const int32_t i = reservoir->n < reservoir->capacity
      ? sift_up (reservoir, rank)
      : sift_down (reservoir, rank);

  reservoir->ranks[i] = rank;
  cuv_train_cut (&self->pyramid, window, reservoir->window_width,
      reservoir->window_height, pixels_of (reservoir, i));
}

static uint64_t
rank_of (const Draw *self, const CuvTrainWindow *window)
{
  uint64_t state = self->hash + number_of (self, window);

  return cuv_train_random (&state);
}

/* ---- every window ---- */

static uint32_t *
sums_of (const Draw *self, int index)
{
  const CuvWaldboostLevel *level = &self->plan->levels[index];
  const ptrdiff_t stride = level->width + 1;
  uint32_t *sums =
      calloc ((size_t) stride * ((size_t) level->height + 1), sizeof *sums);

  for (int y = 0; sums != NULL && y < level->height; y++)
    cuv_sum_row (sums + (y + 1) * stride, sums + y * stride,
        self->pyramid.levels[index] + (ptrdiff_t) y * level->width,
        level->width, 1, stride);
  return sums;
}

static bool
is_alive (const Draw *self, const uint32_t *sums, const CuvTrainWindow *window)
{
  const ptrdiff_t stride = self->plan->levels[window->level].width + 1;
  const CuvIntegrals integrals = { .sums = sums + window->y * stride,
    .stride = stride };
  float score;

  return self->model == NULL
      || cuv_evaluate_window (self->model, &integrals, window->x, &score)
      == self->model->n_weak;
}

/* Looks only at windows that would be drawn, or are no negatives: those are
 * taken out of n_alive. */
static bool
draw_from_level (Draw *self, int index)
{
  const CuvWaldboostLevel *level = &self->plan->levels[index];
  CuvTrainWindow window = { .level = index };
  uint32_t *sums = sums_of (self, index);

  for (window.y = 0; sums != NULL && window.y < level->n_y; window.y++) {
    for (window.x = 0; window.x < level->n_x; window.x++) {
      const uint64_t rank = rank_of (self, &window);

      if (!is_negative (self, &window))
        self->reservoir->n_alive -= is_alive (self, sums, &window);
      else if (is_wanted (self->reservoir, rank)
          && is_alive (self, sums, &window))
        insert (self, &window, rank);
    }
  }
  free (sums);
  return sums != NULL;
}

static bool
draw_from_all (Draw *self, uint64_t n_alive)
{
  bool ok = true;

  self->reservoir->n_alive += n_alive;
  for (int i = 0; i < self->plan->n_levels && ok; i++)
    ok = draw_from_level (self, i);
  return ok;
}

/* ---- hits of the detector ---- */

static void
draw_from_hits (Draw *self, const CuvWaldboostResult *result)
{
  for (int32_t i = 0; i < result->n_hits; i++) {
    const CuvWaldboostHit *hit = &result->hits[i];
    const CuvTrainWindow window = { hit->level, hit->x, hit->y };
    const uint64_t rank = rank_of (self, &window);

    if (!is_negative (self, &window))
      continue;
    self->reservoir->n_alive++;
    if (is_wanted (self->reservoir, rank))
      insert (self, &window, rank);
  }
}

/* Too many hits for the detector's list do not matter. */
static bool
draw_from_detector (Draw *self)
{
  CuvWaldboostCpu *cpu = cuv_waldboost_cpu_new (self->model, self->plan);
  CuvWaldboostResult result;
  bool ok = cpu != NULL;

  if (!ok)
    return false;
  cuv_waldboost_cpu_run (cpu, &self->picture->frame, 0, &result);
  if (result.overflow == 0)
    draw_from_hits (self, &result);
  else
    ok = draw_from_all (self, result.survivors[self->plan->n_segments - 1]);
  cuv_waldboost_cpu_free (cpu);
  return ok;
}

bool
cuv_train_draw (CuvTrainReservoir *self, const CuvWaldboostModel *model,
    const CuvTrainPicture *picture, int32_t number)
{
  uint64_t state = self->seed + (uint64_t) number;
  Draw draw = { .reservoir = self,
    .model = model,
    .picture = picture,
    .plan = cuv_train_plan_new (model, self->window_width, self->window_height,
        picture->frame.width, picture->frame.height),
    .hash = cuv_train_random (&state) };
  bool ok = draw.plan != NULL && number_windows (&draw)
      && exclude_objects (&draw)
      && cuv_train_pyramid_init (&draw.pyramid, draw.plan, &picture->frame);

  if (ok) {
    self->n_windows += draw.first[draw.plan->n_levels] - draw.n_excluded;
    ok = model != NULL ? draw_from_detector (&draw)
                       : draw_from_all (&draw, draw.first[draw.plan->n_levels]);
  }
  if (draw.plan != NULL)
    cuv_train_pyramid_clear (&draw.pyramid);
  cuv_waldboost_plan_free (draw.plan);
  free (draw.first);
  free (draw.excluded);
  return ok;
}
