/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the windows of a picture that overlap an object and thus are not
 * negatives. */
#include "negatives.h"

#include <math.h>
#include <stdlib.h>

/* The range of those of the n windows along a side that may overlap the
 * interval from first to end, in level pixels. */
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

/* The intersections of a box with the windows of a row. */
typedef struct {
  double *across; /* width of the intersection with window x */
  double down;    /* height of the intersections */
  double areas;   /* sum of the areas of box and window */
} Profile;

static bool
is_excluded (const Profile *self, int32_t x)
{
  return cuv_train_share (self->across[x], self->down, self->areas)
      > CUV_TRAIN_MAX_OVERLAP;
}

static CuvWaldboostBox
box_of (const CuvTrainDraw *self, int level, int32_t x, int32_t y)
{
  const CuvTrainWindow window = cuv_train_window_at (self, level, x, y);
  const CuvWaldboostHit hit = { level, window.x, window.y, 0 };

  return cuv_waldboost_box (self->plan, &hit);
}

/* Fills the profile and returns the window with the widest intersection. */
static int32_t
fill_profile (const CuvTrainDraw *self, int level, const CuvTrainBox *box,
    Range xs, Profile *to)
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
exclude_in_row (CuvTrainDraw *self, int level, int32_t y, Range xs)
{
  uint8_t *at =
      &self->excluded[cuv_train_window_number (self, level, xs.first, y)];

  for (int32_t x = xs.first; x < xs.end; x++, at++) {
    self->n_excluded += !*at;
    *at = 1;
  }
}

/* Excludes windows of a level. Along a row the overlap first increases and then
 * decreases, so the windows to exclude are contiguous. Their range changes
 * little from row to row. */
static void
exclude_in_level (CuvTrainDraw *self, int index, const CuvTrainBox *box)
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

/* Returns whether areas are similar enough for the intersection over union to
 * exceed the limit. */
static bool
may_overlap (const CuvWaldboostLevel *level, const CuvTrainBox *box)
{
  const double window = (double) level->box_width * level->box_height;
  const double object = box->width * box->height;

  return fmin (window, object) > CUV_TRAIN_MAX_OVERLAP * fmax (window, object);
}

bool
cuv_train_exclude_objects (CuvTrainDraw *self)
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
