/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvthreads.h"
#include "cpu/rcd-cpu-private.h"

#include <math.h>
#include <string.h>

/* ---- pieces of work ---- */

static void
work (void *data, int worker, int piece)
{
  CuvRcdCpu *self = data;

  self->func (self, &self->workers[worker], piece);
}

void
cuv_rcd_cpu_pieces (CuvRcdCpu *self, int n_pieces,
    void (*func) (CuvRcdCpu *self, CuvRcdWorker *worker, int piece))
{
  self->func = func;
  cuv_threads_run_workers (
      self->n_threads, self->n_workers, n_pieces, work, self);
}

/* ---- windows ---- */

enum { BATCH = 64 };

/* Windows first .. end - 1 of a row of a level. */
static void
score_batch (const CuvRcdCpu *self, const CuvRcdLevel *level,
    const CuvRcdRow *row, int first, int end, double *scores)
{
  CuvRcdPlace places[BATCH];

  for (int i = first; i < end; i++) {
    const int column = level->x + i * level->step;

    places[i - first] = (CuvRcdPlace){ self->cells.x[column],
      column * self->n_sums, (column + level->columns) * self->n_sums };
  }
  self->steps.score (row, places, end - first, scores + first);
}

static void
score_row (CuvRcdCpu *self, const CuvRcdLevel *level, int y)
{
  const CuvRcdShape *shape = &self->shape;
  const int top = level->y + y * level->step;
  const ptrdiff_t pitch =
      (ptrdiff_t) (self->cells.grid.n_columns + 1) * self->n_sums;
  const CuvRcdRow row = { &self->target->model, shape->metric, self->n_features,
    shape->lambda, self->cells.integrals + top * pitch,
    self->cells.integrals + (top + level->rows) * pitch, self->cells.y[top],
    level->columns * shape->cell, level->rows * shape->cell };
  double *scores = self->scores + level->first + (ptrdiff_t) y * level->n_x;

  for (int first = 0; first < level->n_x; first += BATCH)
    score_batch (self, level, &row, first,
        first + BATCH < level->n_x ? first + BATCH : level->n_x, scores);
}

/* A piece is a row of windows of one of the target's levels. */
static void
score_piece (CuvRcdCpu *self, CuvRcdWorker *worker, int piece)
{
  const CuvRcdLevel *level = self->target->levels;

  for (; piece >= level->n_y; level++)
    piece -= level->n_y;
  score_row (self, level, piece);
}

/* The best window elsewhere than n places. */
static void
find_next (const CuvRcdCpu *self, const CuvRcdTarget *target,
    const CuvRcdBox *places, int n, CuvRcdMatch *match)
{
  *match = (CuvRcdMatch){
    .window = -1, .score = (double) INFINITY, .second = (double) INFINITY
  };
  for (int l = 0; l < target->n_levels; l++) {
    const CuvRcdLevel *level = &target->levels[l];
    const double *scores = self->scores + level->first;

    for (int i = 0; i < cuv_rcd_level_windows (level); i++) {
      CuvRcdBox box;

      if (!(scores[i] < match->score))
        continue;
      box = cuv_rcd_level_box (&self->search->area, level, self->shape.cell, i);
      if (!cuv_rcd_is_beyond (&box, places, n))
        continue;
      match->score = scores[i];
      match->window = level->first + i;
      match->level = l;
    }
  }
}

/* What is known of the window of a match. */
static void
describe (const CuvRcdCpu *self, const CuvRcdTarget *target, CuvRcdMatch *match)
{
  const CuvRcdLevel *level = &target->levels[match->level];
  const int i = match->window - level->first;

  match->box =
      cuv_rcd_level_box (&self->search->area, level, self->shape.cell, i);
  cuv_rcd_cpu_sums (self, &self->cells, level->x + i % level->n_x * level->step,
      level->y + i / level->n_x * level->step, &match->box, level->columns,
      level->rows, match->sums);
}

/* Finds the best window, and refines it and others. */
static void
find_place (CuvRcdCpu *self, const CuvRcdTarget *target, CuvRcdMatch *best)
{
  const int n_places = cuv_rcd_n_places (self->search);
  CuvRcdBox places[CUV_RCD_MAX_PLACES];
  CuvRcdMatch match;
  double first;

  find_next (self, target, NULL, 0, best);
  if (best->window < 0)
    return;
  describe (self, target, best);
  first = best->score;
  places[0] = best->box;
  find_next (self, target, places, 1, &match);
  best->second = match.score;
  cuv_rcd_cpu_refine (self, best);
  for (int n = 1; n < n_places && match.window >= 0; n++) {
    describe (self, target, &match);
    places[n] = match.box;
    match.second = first;
    cuv_rcd_cpu_refine (self, &match);
    if (match.score < best->score)
      *best = match;
    if (n + 1 < n_places)
      find_next (self, target, places, n + 1, &match);
  }
}

static void
find_target (CuvRcdCpu *self, const CuvRcdTarget *target, CuvRcdMatch *match)
{
  int n_rows = 0;

  for (int l = 0; l < target->n_levels; l++)
    n_rows += target->levels[l].n_y;
  self->target = target;
  cuv_rcd_cpu_pieces (self, n_rows, score_piece);
  find_place (self, target, match);
}

/* ---- runs ---- */

/* A line between all cells of the search's area. */
static void
set_lines (CuvRcdCpu *self, const CuvRcdArea *area)
{
  CuvRcdLines *lines = &self->cells;

  lines->grid.n_columns = area->n_columns;
  lines->grid.n_rows = area->n_rows;
  for (int i = 0; i <= area->n_columns; i++)
    lines->x[i] = (area->column + i) * self->shape.cell;
  for (int i = 0; i <= area->n_rows; i++)
    lines->y[i] = (area->row + i) * self->shape.cell;
}

void
cuv_rcd_cpu_run (CuvRcdCpu *self, const CuvFrame *frame,
    const CuvRcdSearch *search, int n_threads, CuvRcdMatch *matches)
{
  self->frame = frame;
  self->search = search;
  self->n_threads = n_threads;
  set_lines (self, &search->area);
  cuv_rcd_cpu_integrals (self, &self->cells);
  for (int t = 0; t < search->n_targets; t++)
    find_target (self, &search->targets[t], &matches[t]);
}

void
cuv_rcd_cpu_measure (CuvRcdCpu *self, const CuvFrame *frame,
    const CuvRcdBox *box, int n_threads, int64_t *sums)
{
  CuvRcdLines *lines = &self->fine;
  int n_rows = 0;

  self->frame = frame;
  self->n_threads = n_threads;
  lines->x[0] = box->x;
  lines->x[1] = box->x + box->width;
  for (int y = 0; y < box->height; y += CUV_RCD_BLOCK_HEIGHT)
    lines->y[n_rows++] = box->y + y;
  lines->y[n_rows] = box->y + box->height;
  lines->grid.n_columns = 1;
  lines->grid.n_rows = n_rows;
  cuv_rcd_cpu_integrals (self, lines);
  cuv_rcd_cpu_sums (self, lines, 0, 0, box, 1, n_rows, sums);
}

const double *
cuv_rcd_cpu_scores (const CuvRcdCpu *self)
{
  return self->scores;
}
