/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a search: integral images, then the windows of each target, then
 * refinement. */
#include "cpu/rcd-cpu-private.h"
#include "cuvthreads.h"

#include <math.h>
#include <string.h>

/* ---- windows ---- */

enum { BATCH = 64 };

/* Scores windows first .. end - 1 of a row of a level. */
static void
score_batch (const CuvRcdCpu *self, const CuvRcdLevel *level,
    const CuvRcdWindowRow *row, int first, int end, double *scores)
{
  CuvRcdWindowEdges edges[BATCH];

  for (int i = first; i < end; i++) {
    const int column = level->x + i * level->step;

    edges[i - first] = (CuvRcdWindowEdges){ self->cells.x[column],
      column * self->n_sums, (column + level->columns) * self->n_sums };
  }
  self->dsp.score (row, edges, end - first, scores + first);
}

static void
score_row (const CuvRcdCpu *self, const CuvRcdLevel *level, int y)
{
  const CuvRcdConfig *config = &self->config;
  const int top = level->y + y * level->step;
  const ptrdiff_t pitch =
      (ptrdiff_t) (self->cells.grid.n_columns + 1) * self->n_sums;
  const CuvRcdWindowRow row = { &self->target->model, config->metric,
    self->n_features, config->lambda, self->cells.integrals + top * pitch,
    self->cells.integrals + (top + level->rows) * pitch, self->cells.y[top],
    level->columns * config->cell, level->rows * config->cell };
  double *scores = self->scores + level->first + (ptrdiff_t) y * level->n_x;

  for (int first = 0; first < level->n_x; first += BATCH)
    score_batch (self, level, &row, first,
        first + BATCH < level->n_x ? first + BATCH : level->n_x, scores);
}

/* A task is a row of windows of one of the target's levels. */
static void
score_task (void *data, int task)
{
  const CuvRcdCpu *self = data;
  const CuvRcdLevel *level = self->target->levels;

  for (; task >= level->n_y; level++)
    task -= level->n_y;
  score_row (self, level, task);
}

/* Sets the sums of a match that is not refined yet. */
static void
set_sums (const CuvRcdCpu *self, const CuvRcdTarget *target, CuvRcdMatch *match)
{
  const CuvRcdLevel *level = &target->levels[match->level];
  const int i = match->window - level->first;

  cuv_rcd_cpu_sums (self, &self->cells, level->x + i % level->n_x * level->step,
      level->y + i / level->n_x * level->step, &match->box, level->columns,
      level->rows, match->sums);
}

static void
find_match (CuvRcdCpu *self, const CuvRcdTarget *target, CuvRcdMatch *best)
{
  const int n_candidates = cuv_rcd_n_candidates (self->search);
  const int cell = self->config.cell;
  CuvRcdBox candidates[CUV_RCD_MAX_CANDIDATES];
  CuvRcdMatch match;
  double first_score;

  cuv_rcd_find_next (self->search, target, cell, self->scores, NULL, 0, best);
  if (best->window < 0)
    return;
  set_sums (self, target, best);
  first_score = best->score;
  candidates[0] = best->box;
  cuv_rcd_find_next (
      self->search, target, cell, self->scores, candidates, 1, &match);
  best->second = match.score;
  cuv_rcd_cpu_refine (self, best);
  for (int n = 1; n < n_candidates && match.window >= 0; n++) {
    set_sums (self, target, &match);
    candidates[n] = match.box;
    match.second = first_score;
    cuv_rcd_cpu_refine (self, &match);
    if (match.score < best->score)
      *best = match;
    if (n + 1 < n_candidates)
      cuv_rcd_find_next (
          self->search, target, cell, self->scores, candidates, n + 1, &match);
  }
}

static void
rcd_cpu_find_target (
    CuvRcdCpu *self, const CuvRcdTarget *target, CuvRcdMatch *match)
{
  int n_rows = 0;

  for (int l = 0; l < target->n_levels; l++)
    n_rows += target->levels[l].n_y;
  self->target = target;
  cuv_threads_run (self->n_threads, n_rows, score_task, self);
  find_match (self, target, match);
}

/* ---- runs ---- */

static void
set_lines (CuvRcdCpu *self, const CuvRcdArea *area)
{
  CuvRcdIntegralGrid *cells = &self->cells;

  cells->grid.n_columns = area->n_columns;
  cells->grid.n_rows = area->n_rows;
  for (int i = 0; i <= area->n_columns; i++)
    cells->x[i] = (area->column + i) * self->config.cell;
  for (int i = 0; i <= area->n_rows; i++)
    cells->y[i] = (area->row + i) * self->config.cell;
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
    rcd_cpu_find_target (self, &search->targets[t], &matches[t]);
}

void
cuv_rcd_cpu_measure (CuvRcdCpu *self, const CuvFrame *frame,
    const CuvRcdBox *box, int n_threads, int64_t *sums)
{
  CuvRcdIntegralGrid *fine = &self->fine;
  int n_rows = 0;

  self->frame = frame;
  self->n_threads = n_threads;
  fine->x[0] = box->x;
  fine->x[1] = box->x + box->width;
  for (int y = 0; y < box->height; y += CUV_RCD_BLOCK_HEIGHT)
    fine->y[n_rows++] = box->y + y;
  fine->y[n_rows] = box->y + box->height;
  fine->grid.n_columns = 1;
  fine->grid.n_rows = n_rows;
  cuv_rcd_cpu_integrals (self, fine);
  cuv_rcd_cpu_sums (self, fine, 0, 0, box, 1, n_rows, sums);
}

void
cuv_rcd_cpu_draw (const CuvRcdCpu *self, const CuvFrame *frame,
    const CuvRcdSearch *search, int target, const CuvRcdMatch *match,
    double half)
{
  const CuvRcdLevel *level = &search->targets[target].levels[match->level];

  if (match->window >= 0)
    cuv_rcd_draw_map (frame, &search->area, level, self->config.cell,
        self->scores + level->first, self->config.metric, half);
}

const double *
cuv_rcd_cpu_scores (const CuvRcdCpu *self)
{
  return self->scores;
}
