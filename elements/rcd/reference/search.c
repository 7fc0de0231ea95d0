/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rcd.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

#include <stdlib.h>

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
    const CuvRcdBox *box = &fine.boxes[i];
    const CuvRcdBox origin = { 0, 0, box->width, box->height };
    int64_t sums[CUV_RCD_MAX_SUMS];
    double score;

    if (!fine.there[i])
      continue;
    cuv_rcd_box_sums (self->frame, shape->features, box, sums);
    score = cuv_rcd_score (
        sums, self->n, &origin, &target->model, shape->metric, shape->lambda);
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
