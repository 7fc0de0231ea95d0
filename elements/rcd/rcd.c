/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rcd.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

#include <stdlib.h>
#include <string.h>

const char *
cuv_rcd_shape_problem (const CuvRcdShape *shape)
{
  if (shape->width < 1 || shape->width > CUV_RCD_MAX_SIZE || shape->height < 1
      || shape->height > CUV_RCD_MAX_SIZE)
    return "frames are 1 to 16384 pixels wide and high";
  if (shape->cell < 1 || shape->cell > CUV_RCD_MAX_CELL)
    return "cells are 1 to 32 pixels wide and high";
  if (shape->max_targets < 1 || shape->max_targets > CUV_RCD_MAX_TARGETS)
    return "1 to 16 targets are tracked";
  if (shape->max_windows < 0 || !(shape->lambda >= 0.0))
    return "the number of windows and lambda are not negative";
  return NULL;
}

/* ---- sums ---- */

static void
add_pixel (int64_t *sums, const int32_t *z, int n)
{
  int k = n;

  for (int i = 0; i < n; i++) {
    sums[i] += z[i];
    for (int j = i; j < n; j++)
      sums[k++] += (int64_t) z[i] * z[j];
  }
}

static void
add_cell (const CuvFrame *frame, CuvRcdFeatures features, int left, int top,
    int right, int bottom, int64_t *sums)
{
  const int n = cuv_rcd_n_features (features);
  int32_t z[CUV_RCD_MAX_FEATURES];

  for (int y = top; y < bottom; y++) {
    for (int x = left; x < right; x++) {
      cuv_rcd_pixel (frame, features, x, y, z);
      add_pixel (sums, z, n);
    }
  }
}

void
cuv_rcd_cell_sums (const CuvFrame *frame, CuvRcdFeatures features,
    const CuvRcdGrid *grid, int64_t *cells)
{
  const int n_sums = CUV_RCD_SUMS (cuv_rcd_n_features (features));

  for (int row = 0; row < grid->n_rows; row++) {
    for (int column = 0; column < grid->n_columns; column++) {
      memset (cells, 0, (size_t) n_sums * sizeof *cells);
      add_cell (frame, features, grid->x[column], grid->y[row],
          grid->x[column + 1], grid->y[row + 1], cells);
      cells += n_sums;
    }
  }
}

void
cuv_rcd_integrate (const int64_t *cells, int n_sums, const CuvRcdGrid *grid,
    int64_t *integrals)
{
  const size_t pitch = (size_t) (grid->n_columns + 1) * (size_t) n_sums;

  memset (integrals, 0, pitch * sizeof *integrals);
  for (int row = 0; row < grid->n_rows; row++) {
    const int64_t *above = integrals;
    int64_t along[CUV_RCD_MAX_SUMS] = { 0 };

    integrals += pitch;
    memset (integrals, 0, (size_t) n_sums * sizeof *integrals);
    for (size_t at = (size_t) n_sums; at < pitch; at++)
      integrals[at] = above[at] + (along[at % (size_t) n_sums] += *cells++);
  }
}

void
cuv_rcd_window_sums (const int64_t *integrals, int n_sums,
    const CuvRcdGrid *grid, int left, int top, int right, int bottom,
    int64_t *sums)
{
  const ptrdiff_t pitch = (ptrdiff_t) (grid->n_columns + 1) * n_sums;
  const int64_t *upper = integrals + top * pitch;
  const int64_t *lower = integrals + bottom * pitch;

  for (int k = 0; k < n_sums; k++)
    sums[k] = lower[(ptrdiff_t) right * n_sums + k]
        - lower[(ptrdiff_t) left * n_sums + k]
        - upper[(ptrdiff_t) right * n_sums + k]
        + upper[(ptrdiff_t) left * n_sums + k];
}

void
cuv_rcd_box_sums (const CuvFrame *frame, CuvRcdFeatures features,
    const CuvRcdBox *box, int64_t *sums)
{
  const int n = cuv_rcd_n_features (features);

  memset (sums, 0, (size_t) CUV_RCD_SUMS (n) * sizeof *sums);
  add_cell (frame, features, box->x, box->y, box->x + box->width,
      box->y + box->height, sums);
  if (features == CUV_RCD_TUZEL9)
    cuv_rcd_move_origin (
        sums, n, (int64_t) box->width * box->height, box->x, box->y);
}

/* ---- models ---- */

/* The inverse of the Cholesky factor, column by column; all pivots of c are
 * positive. */
static void
invert_factor (const double *c, int n, double *inverse)
{
  double l[CUV_RCD_MAX_PACKED];

  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = c[cuv_rcd_at (n, j, i)];

      for (int k = 0; k < j; k++)
        sum -= l[CUV_RCD_TRIANGLE (i) + k] * l[CUV_RCD_TRIANGLE (j) + k];
      l[CUV_RCD_TRIANGLE (i) + j] =
          i == j ? sqrt (sum) : sum / l[CUV_RCD_TRIANGLE (j) + j];
    }
  }
  for (int j = 0; j < n; j++) {
    for (int i = j; i < n; i++) {
      double sum = i == j ? 1.0 : 0.0;

      for (int k = j; k < i; k++)
        sum -= l[CUV_RCD_TRIANGLE (i) + k] * inverse[CUV_RCD_TRIANGLE (k) + j];
      inverse[CUV_RCD_TRIANGLE (i) + j] = sum / l[CUV_RCD_TRIANGLE (i) + i];
    }
  }
}

bool
cuv_rcd_model_init (CuvRcdModel *self, const double *covariance, int n,
    double width, double height)
{
  double c[CUV_RCD_MAX_PACKED];
  const size_t size = (size_t) CUV_RCD_TRIANGLE (n) * sizeof *c;

  *self = (CuvRcdModel){ .width = width, .height = height };
  memcpy (self->c, covariance, size);
  memcpy (c, covariance, size);
  self->det = cuv_rcd_det (c, n);
  if (!(self->det > 0.0))
    return false;
  invert_factor (self->c, n, self->inverse);
  return true;
}

bool
cuv_rcd_model_from_sums (CuvRcdModel *self, const int64_t *sums, int n,
    const CuvRcdBox *box, double lambda)
{
  const int64_t pixels = (int64_t) box->width * box->height;
  double c[CUV_RCD_MAX_PACKED];

  if (pixels < n + 1)
    return false;
  cuv_rcd_covariance (sums, n, pixels, lambda, c);
  return cuv_rcd_model_init (self, c, n, box->width, box->height);
}

/* ---- windows ---- */

CuvRcdLevel
cuv_rcd_level (
    const CuvRcdArea *part, int columns, int rows, int step, int first)
{
  const bool fits = columns > 0 && rows > 0 && columns <= part->n_columns
      && rows <= part->n_rows;

  return (CuvRcdLevel){ .columns = columns,
    .rows = rows,
    .x = part->column,
    .y = part->row,
    .n_x = fits ? (part->n_columns - columns) / step + 1 : 0,
    .n_y = fits ? (part->n_rows - rows) / step + 1 : 0,
    .step = step,
    .first = first };
}

CuvRcdBox
cuv_rcd_level_box (
    const CuvRcdArea *area, const CuvRcdLevel *level, int cell, int i)
{
  return (CuvRcdBox){ (area->column + level->x + i % level->n_x * level->step)
        * cell,
    (area->row + level->y + i / level->n_x * level->step) * cell,
    level->columns * cell, level->rows * cell };
}

bool
cuv_rcd_is_elsewhere (const CuvRcdBox *box, const CuvRcdBox *other)
{
  int x = 2 * (box->x - other->x) + box->width;
  int y = 2 * (box->y - other->y) + box->height;

  return x < 0 || y < 0 || x >= 2 * other->width || y >= 2 * other->height;
}

bool
cuv_rcd_is_beyond (const CuvRcdBox *box, const CuvRcdBox *places, int n)
{
  for (int i = 0; i < n; i++) {
    if (!cuv_rcd_is_elsewhere (box, &places[i]))
      return false;
  }
  return true;
}

void
cuv_rcd_fine_init (CuvRcdFine *self, const CuvRcdBox *around, int spacing,
    int shift, int width, int height)
{
  static const int steps[CUV_RCD_FINE_SIZES] = { 0, -1, 1, -2, 2 };
  int i = 0;

  for (int size = 0; size < CUV_RCD_FINE_SIZES; size++) {
    int dw, dh;

    cuv_rcd_resize (around, steps[size], shift, &dw, &dh);
    for (int y = -(CUV_RCD_FINE_STEPS / 2); y <= CUV_RCD_FINE_STEPS / 2; y++) {
      for (int x = -(CUV_RCD_FINE_STEPS / 2); x <= CUV_RCD_FINE_STEPS / 2;
           x++, i++) {
        CuvRcdBox *box = &self->boxes[i];

        *box = (CuvRcdBox){ around->x + x * spacing - (dw >> 1),
          around->y + y * spacing - (dh >> 1), around->width + dw,
          around->height + dh };
        self->there[i] = box->width > 0 && box->height > 0 && box->x >= 0
            && box->y >= 0 && box->x + box->width <= width
            && box->y + box->height <= height;
      }
    }
  }
}

/* ---- search ---- */

typedef struct {
  const CuvRcdShape *shape;
  const CuvFrame *frame;
  const CuvRcdSearch *search;
  int n;              /* features */
  CuvRcdGrid grid;    /* of the area; memory: lines */
  int32_t *lines;     /* owned */
  int64_t *cells;     /* owned */
  int64_t *integrals; /* owned */
} Plain;

static void
plain_clear (Plain *self)
{
  free (self->lines);
  free (self->cells);
  free (self->integrals);
}

static bool
plain_init (Plain *self)
{
  const CuvRcdArea *area = &self->search->area;
  const size_t columns = (size_t) area->n_columns, rows = (size_t) area->n_rows;
  const size_t n_sums = (size_t) CUV_RCD_SUMS (self->n);

  self->lines = malloc ((columns + rows + 2) * sizeof *self->lines);
  self->cells = malloc (columns * rows * n_sums * sizeof *self->cells);
  self->integrals =
      malloc ((columns + 1) * (rows + 1) * n_sums * sizeof *self->integrals);
  if (self->lines == NULL || self->cells == NULL || self->integrals == NULL)
    return false;
  for (int i = 0; i <= area->n_columns; i++)
    self->lines[i] = (area->column + i) * self->shape->cell;
  for (int i = 0; i <= area->n_rows; i++)
    self->lines[columns + 1 + (size_t) i] = (area->row + i) * self->shape->cell;
  self->grid = (CuvRcdGrid){ area->n_columns, area->n_rows, self->lines,
    self->lines + columns + 1 };
  cuv_rcd_cell_sums (
      self->frame, self->shape->features, &self->grid, self->cells);
  cuv_rcd_integrate (self->cells, (int) n_sums, &self->grid, self->integrals);
  return true;
}

static double
score_window (const Plain *self, const CuvRcdTarget *target,
    const CuvRcdLevel *level, int i)
{
  const int left = level->x + i % level->n_x * level->step;
  const int top = level->y + i / level->n_x * level->step;
  const CuvRcdBox box =
      cuv_rcd_level_box (&self->search->area, level, self->shape->cell, i);
  int64_t sums[CUV_RCD_MAX_SUMS];

  cuv_rcd_window_sums (self->integrals, CUV_RCD_SUMS (self->n), &self->grid,
      left, top, left + level->columns, top + level->rows, sums);
  return cuv_rcd_score (sums, self->n, &box, &target->model,
      self->shape->metric, self->shape->lambda);
}

static void
find_best (const Plain *self, const CuvRcdTarget *target, double *scores,
    CuvRcdMatch *match)
{
  for (int l = 0; l < target->n_levels; l++) {
    const CuvRcdLevel *level = &target->levels[l];

    for (int i = 0; i < cuv_rcd_level_windows (level); i++) {
      double score = score_window (self, target, level, i);

      scores[level->first + i] = score;
      if (score < match->score) {
        match->score = score;
        match->window = level->first + i;
        match->level = l;
        match->box = cuv_rcd_level_box (
            &self->search->area, level, self->shape->cell, i);
      }
    }
  }
}

/* The best window elsewhere than n places. */
static void
find_next (const Plain *self, const CuvRcdTarget *target, const double *scores,
    const CuvRcdBox *places, int n, CuvRcdMatch *match)
{
  *match = (CuvRcdMatch){
    .window = -1, .score = (double) INFINITY, .second = (double) INFINITY
  };
  for (int l = 0; l < target->n_levels; l++) {
    const CuvRcdLevel *level = &target->levels[l];

    for (int i = 0; i < cuv_rcd_level_windows (level); i++) {
      CuvRcdBox box =
          cuv_rcd_level_box (&self->search->area, level, self->shape->cell, i);

      if (scores[level->first + i] < match->score
          && cuv_rcd_is_beyond (&box, places, n)) {
        match->score = scores[level->first + i];
        match->window = level->first + i;
        match->level = l;
        match->box = box;
      }
    }
  }
}

static void
refine_round (const Plain *self, const CuvRcdTarget *target, int spacing,
    int shift, CuvRcdMatch *match)
{
  const CuvRcdShape *shape = self->shape;
  CuvRcdFine fine;

  cuv_rcd_fine_init (
      &fine, &match->box, spacing, shift, shape->width, shape->height);
  match->score = (double) INFINITY;
  for (int i = 0; i < CUV_RCD_FINE_WINDOWS; i++) {
    int64_t sums[CUV_RCD_MAX_SUMS] = { 0 };
    const CuvRcdBox *box = &fine.boxes[i];
    double score;

    if (!fine.there[i])
      continue;
    add_cell (self->frame, shape->features, box->x, box->y, box->x + box->width,
        box->y + box->height, sums);
    score = cuv_rcd_score (
        sums, self->n, box, &target->model, shape->metric, shape->lambda);
    if (score < match->score) {
      match->score = score;
      match->box = *box;
    }
  }
}

static void
refine (const Plain *self, const CuvRcdTarget *target, CuvRcdMatch *match)
{
  int shift = CUV_RCD_FINE_FIRST;

  for (int spacing = self->search->refine; spacing > 0;
       spacing = cuv_rcd_next_spacing (spacing)) {
    refine_round (self, target, spacing, shift, match);
    shift = CUV_RCD_FINE_NEXT;
  }
}

static void
find_target (const Plain *self, const CuvRcdTarget *target, double *scores,
    CuvRcdMatch *best)
{
  const int n_places = cuv_rcd_n_places (self->search);
  CuvRcdBox places[CUV_RCD_MAX_PLACES];
  CuvRcdMatch match;
  double first;

  *best = (CuvRcdMatch){
    .window = -1, .score = (double) INFINITY, .second = (double) INFINITY
  };
  find_best (self, target, scores, best);
  if (best->window < 0)
    return;
  first = best->score;
  places[0] = best->box;
  find_next (self, target, scores, places, 1, &match);
  best->second = match.score;
  refine (self, target, best);
  for (int n = 1; n < n_places && match.window >= 0; n++) {
    places[n] = match.box;
    match.second = first;
    refine (self, target, &match);
    if (match.score < best->score)
      *best = match;
    if (n + 1 < n_places)
      find_next (self, target, scores, places, n + 1, &match);
  }
  cuv_rcd_box_sums (self->frame, self->shape->features, &best->box, best->sums);
}

bool
cuv_rcd_search (const CuvRcdShape *shape, const CuvFrame *frame,
    const CuvRcdSearch *search, double *scores, CuvRcdMatch *matches)
{
  Plain self = { .shape = shape,
    .frame = frame,
    .search = search,
    .n = cuv_rcd_n_features (shape->features) };
  double *own = malloc (((size_t) shape->max_windows + 1) * sizeof *own);
  bool ok = own != NULL && plain_init (&self);

  for (int t = 0; ok && t < search->n_targets; t++)
    find_target (
        &self, &search->targets[t], scores != NULL ? scores : own, &matches[t]);
  free (own);
  plain_clear (&self);
  return ok;
}
