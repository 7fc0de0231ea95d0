/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Refinement. The windows of a round overlap, so pixels are summed once, over
 * an uneven grid with a line at each window's edge. */
#include "cpu/rcd-cpu-private.h"
#include "cuvthreads.h"

#include <math.h>
#include <string.h>

enum {
  STEPS = CUV_RCD_FINE_STEPS,
  N_WINDOW_ROWS = CUV_RCD_FINE_SIZES * STEPS,
};

/* ---- lines of the grid ---- */

/* Returns the index of the first line >= v; n if there is none. */
static int
find_line (const int32_t *lines, int n, int v)
{
  int first = 0;

  while (n > 0) {
    const int half = n / 2;

    if (lines[first + half] < v) {
      first += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return first;
}

/* Inserts a line unless it exists. Returns the number of lines. */
static int
add_line (int32_t *lines, int n, int v)
{
  const int at = find_line (lines, n, v);

  if (at < n && lines[at] == v)
    return n;
  memmove (lines + at + 1, lines + at, (size_t) (n - at) * sizeof *lines);
  lines[at] = v;
  return n + 1;
}

static int
add_edges (int32_t *lines, int n, int first, int length, int limit)
{
  if (length <= 0 || first < 0 || first + length > limit)
    return n;
  n = add_line (lines, n, first);
  return add_line (lines, n, first + length);
}

/* Splits rows that are higher than a block. */
static int
split_high_rows (int32_t *lines, int n)
{
  const int last = n > 0 ? lines[n - 1] : 0;

  for (int i = 0; i < n && lines[i] < last; i++) {
    if (lines[i + 1] - lines[i] > CUV_RCD_BLOCK_HEIGHT)
      n = add_line (lines, n, lines[i] + CUV_RCD_BLOCK_HEIGHT);
  }
  return n;
}

static void
set_lines (CuvRcdCpu *self)
{
  CuvRcdIntegralGrid *fine = &self->fine;
  int n_x = 0, n_y = 0;

  for (int row = 0; row < N_WINDOW_ROWS; row++) {
    const int size = row / STEPS, i = row % STEPS;
    const CuvRcdBox *first = &self->round.boxes[size * STEPS * STEPS];
    const CuvRcdBox *across = first + i, *down = first + (ptrdiff_t) i * STEPS;

    n_x =
        add_edges (fine->x, n_x, across->x, across->width, self->config.width);
    n_y = add_edges (fine->y, n_y, down->y, down->height, self->config.height);
  }
  n_y = split_high_rows (fine->y, n_y);
  fine->grid.n_columns = n_x > 0 ? n_x - 1 : 0;
  fine->grid.n_rows = n_y > 0 ? n_y - 1 : 0;
}

/* ---- windows ---- */

static int
column_of (const CuvRcdCpu *self, int x)
{
  return find_line (self->fine.x, self->fine.grid.n_columns + 1, x);
}

static int
fine_row (const CuvRcdCpu *self, int y)
{
  return find_line (self->fine.y, self->fine.grid.n_rows + 1, y);
}

/* A task is the valid windows of one size in one row. */
static void
score_task (void *data, int task)
{
  CuvRcdCpu *self = data;
  const CuvRcdBox *boxes = &self->round.boxes[task * STEPS];
  const bool *valid = &self->round.valid[task * STEPS];
  const ptrdiff_t pitch =
      (ptrdiff_t) (self->fine.grid.n_columns + 1) * self->n_sums;
  const CuvRcdWindowRow row = { &self->target->model, self->config.metric,
    self->n_features, self->config.lambda,
    self->fine.integrals + fine_row (self, boxes->y) * pitch,
    self->fine.integrals + fine_row (self, boxes->y + boxes->height) * pitch,
    boxes->y, boxes->width, boxes->height };
  CuvRcdWindowEdges edges[STEPS];
  double scores[STEPS];
  int n = 0;

  for (int i = 0; i < STEPS; i++) {
    if (valid[i])
      edges[n++] = (CuvRcdWindowEdges){ boxes[i].x,
        column_of (self, boxes[i].x) * self->n_sums,
        column_of (self, boxes[i].x + boxes->width) * self->n_sums };
  }
  if (n > 0)
    self->dsp.score (&row, edges, n, scores);
  for (int i = STEPS - 1; i >= 0; i--)
    self->round_scores[task * STEPS + i] =
        valid[i] ? scores[--n] : (double) INFINITY;
}

/* box: a window of the round. */
static void
get_sums (const CuvRcdCpu *self, const CuvRcdBox *box, int64_t *sums)
{
  const int left = column_of (self, box->x), top = fine_row (self, box->y);
  const int right = column_of (self, box->x + box->width);
  const int bottom = fine_row (self, box->y + box->height);

  cuv_rcd_cpu_sums (
      self, &self->fine, left, top, box, right - left, bottom - top, sums);
}

static void
find_best_window (const CuvRcdCpu *self, CuvRcdMatch *match)
{
  bool found = false;

  match->score = (double) INFINITY;
  for (int i = 0; i < CUV_RCD_FINE_WINDOWS; i++) {
    if (self->round_scores[i] < match->score) {
      match->score = self->round_scores[i];
      match->box = self->round.boxes[i];
      found = true;
    }
  }
  if (found)
    get_sums (self, &match->box, match->sums);
}

void
cuv_rcd_cpu_refine (CuvRcdCpu *self, CuvRcdMatch *match)
{
  int shift = CUV_RCD_FINE_FIRST_SHIFT;

  for (int spacing = self->search->refine; spacing > 0;
       spacing = cuv_rcd_next_spacing (spacing)) {
    cuv_rcd_fine_windows_init (&self->round, &match->box, spacing, shift,
        self->config.width, self->config.height);
    set_lines (self);
    cuv_rcd_cpu_integrals (self, &self->fine);
    cuv_threads_run (self->n_threads, N_WINDOW_ROWS, score_task, self);
    find_best_window (self, match);
    shift = CUV_RCD_FINE_NEXT_SHIFT;
  }
}
