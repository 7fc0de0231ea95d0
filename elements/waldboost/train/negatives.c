/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/waldboost-cpu.h"
#include "reference/waldboost-reference.h"
#include "train/train.h"

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
  uint64_t hash; /* of the picture */
} Draw;

/* index: of the window among all of the picture. */
static uint64_t
rank_of (const Draw *self, uint64_t index)
{
  uint64_t state = self->hash + index;

  return cuv_train_random (&state);
}

static void
offer (Draw *self, const CuvTrainWindow *window, uint64_t index)
{
  CuvTrainReservoir *reservoir = self->reservoir;
  const uint64_t rank = rank_of (self, index);
  int32_t i;

  reservoir->n_alive++;
  if (!is_wanted (reservoir, rank))
    return;
  i = reservoir->n < reservoir->capacity ? sift_up (reservoir, rank)
                                         : sift_down (reservoir, rank);
  reservoir->ranks[i] = rank;
  cuv_train_cut (&self->pyramid, window, reservoir->window_width,
      reservoir->window_height, pixels_of (reservoir, i));
}

static bool
is_negative (const Draw *self, const CuvTrainWindow *window)
{
  for (int32_t i = 0; i < self->picture->n_boxes; i++) {
    if (cuv_train_overlap (self->plan, window, &self->picture->boxes[i])
        > CUV_TRAIN_MAX_OVERLAP)
      return false;
  }
  return true;
}

/* The number of windows before a level. */
static uint64_t
first_window (const CuvWaldboostPlan *plan, int level)
{
  uint64_t n = 0;

  for (int i = 0; i < level; i++)
    n += (uint64_t) plan->levels[i].n_x * (uint64_t) plan->levels[i].n_y;
  return n;
}

static uint64_t
index_of (const CuvWaldboostPlan *plan, const CuvTrainWindow *window)
{
  return first_window (plan, window->level)
      + (uint64_t) window->y * (uint64_t) plan->levels[window->level].n_x
      + (uint64_t) window->x;
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

static bool
draw_from_level (Draw *self, int index)
{
  const CuvWaldboostLevel *level = &self->plan->levels[index];
  uint32_t *sums = self->model == NULL ? NULL : sums_of (self, index);
  CuvTrainWindow window = { .level = index };

  if (self->model != NULL && sums == NULL)
    return false;
  for (window.y = 0; window.y < level->n_y; window.y++) {
    for (window.x = 0; window.x < level->n_x; window.x++) {
      if (!is_negative (self, &window))
        continue;
      self->reservoir->n_windows++;
      if (is_alive (self, sums, &window))
        offer (self, &window, index_of (self->plan, &window));
    }
  }
  free (sums);
  return true;
}

static bool
draw_from_all (Draw *self)
{
  bool ok = true;

  for (int i = 0; i < self->plan->n_levels && ok; i++)
    ok = draw_from_level (self, i);
  return ok;
}

/* ---- hits of the detector ---- */

static uint64_t
count_negatives (const Draw *self)
{
  const CuvWaldboostPlan *plan = self->plan;
  uint64_t n = 0;

  if (self->picture->n_boxes == 0)
    return first_window (plan, plan->n_levels);
  for (int i = 0; i < plan->n_levels; i++) {
    CuvTrainWindow window = { .level = i };

    for (window.y = 0; window.y < plan->levels[i].n_y; window.y++) {
      for (window.x = 0; window.x < plan->levels[i].n_x; window.x++)
        n += is_negative (self, &window);
    }
  }
  return n;
}

/* False, and nothing drawn, if there are too many hits or no memory. */
static bool
draw_from_hits (Draw *self)
{
  CuvWaldboostCpu *cpu = cuv_waldboost_cpu_new (self->model, self->plan);
  CuvWaldboostResult result = { .overflow = 1 };

  if (cpu != NULL)
    cuv_waldboost_cpu_run (cpu, &self->picture->frame, 0, &result);
  if (result.overflow == 0)
    self->reservoir->n_windows += count_negatives (self);
  for (int32_t i = 0; i < result.n_hits && result.overflow == 0; i++) {
    const CuvWaldboostHit *hit = &result.hits[i];
    const CuvTrainWindow window = { hit->level, hit->x, hit->y };

    if (is_negative (self, &window))
      offer (self, &window, index_of (self->plan, &window));
  }
  cuv_waldboost_cpu_free (cpu);
  return result.overflow == 0;
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
  bool ok = draw.plan != NULL
      && cuv_train_pyramid_init (&draw.pyramid, draw.plan, &picture->frame);

  if (ok && (model == NULL || !draw_from_hits (&draw)))
    ok = draw_from_all (&draw);
  if (draw.plan != NULL)
    cuv_train_pyramid_clear (&draw.pyramid);
  cuv_waldboost_plan_free (draw.plan);
  return ok;
}
