/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Refinement: windows of a round overlap, so pixels are summed once, over an
 * uneven grid with a line at each window's edge. */
#include "cpu/rcd-cpu-private.h"

#include <math.h>
#include <string.h>

enum {
  STEPS = CUV_RCD_FINE_STEPS,
  N_ROWS = CUV_RCD_FINE_SIZES * STEPS, /* of windows */
};

/* ---- lines ---- */

/* The first line at v or beyond. */
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

/* Adds a line where there is none yet. */
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

/* Lines in between: no row is higher than a block. */
static int
add_between (int32_t *lines, int n)
{
  const int last = n > 0 ? lines[n - 1] : 0;

  for (int i = 0; i < n && lines[i] < last; i++) {
    if (lines[i + 1] - lines[i] > CUV_RCD_BLOCK_HEIGHT)
      n = add_line (lines, n, lines[i] + CUV_RCD_BLOCK_HEIGHT);
  }
  return n;
}

/* Lines at all edges of the round's windows. */
static void
set_lines (CuvRcdCpu *self)
{
  CuvRcdLines *lines = &self->fine;
  int n_x = 0, n_y = 0;

  for (int row = 0; row < N_ROWS; row++) {
    const int size = row / STEPS, i = row % STEPS;
    const CuvRcdBox *first = &self->round.boxes[size * STEPS * STEPS];
    const CuvRcdBox *across = first + i, *down = first + (ptrdiff_t) i * STEPS;

    n_x =
        add_edges (lines->x, n_x, across->x, across->width, self->shape.width);
    n_y = add_edges (lines->y, n_y, down->y, down->height, self->shape.height);
  }
  n_y = add_between (lines->y, n_y);
  lines->grid.n_columns = n_x > 0 ? n_x - 1 : 0;
  lines->grid.n_rows = n_y > 0 ? n_y - 1 : 0;
}

/* ---- windows ---- */

static int
column_of (const CuvRcdCpu *self, int x)
{
  return find_line (self->fine.x, self->fine.grid.n_columns + 1, x);
}

static int
row_of (const CuvRcdCpu *self, int y)
{
  return find_line (self->fine.y, self->fine.grid.n_rows + 1, y);
}

/* A piece is the windows of a size side by side, those that are there. */
static void
score_row (CuvRcdCpu *self, CuvRcdWorker *worker, int piece)
{
  const CuvRcdBox *boxes = &self->round.boxes[piece * STEPS];
  const bool *there = &self->round.there[piece * STEPS];
  const ptrdiff_t pitch =
      (ptrdiff_t) (self->fine.grid.n_columns + 1) * self->n_sums;
  const CuvRcdRow row = { &self->target->model, self->shape.metric,
    self->n_features, self->shape.lambda,
    self->fine.integrals + row_of (self, boxes->y) * pitch,
    self->fine.integrals + row_of (self, boxes->y + boxes->height) * pitch,
    boxes->y, boxes->width, boxes->height };
  CuvRcdPlace places[STEPS];
  double scores[STEPS];
  int n = 0;

  for (int i = 0; i < STEPS; i++) {
    if (there[i])
      places[n++] = (CuvRcdPlace){ boxes[i].x,
        column_of (self, boxes[i].x) * self->n_sums,
        column_of (self, boxes[i].x + boxes->width) * self->n_sums };
  }
  if (n > 0)
    self->steps.score (&row, places, n, scores);
  for (int i = STEPS - 1; i >= 0; i--)
    self->round_scores[piece * STEPS + i] =
        there[i] ? scores[--n] : (double) INFINITY;
}

/* The box's sums, which are of the round's grid. */
static void
take_sums (const CuvRcdCpu *self, const CuvRcdBox *box, int64_t *sums)
{
  const int left = column_of (self, box->x), top = row_of (self, box->y);
  const int right = column_of (self, box->x + box->width);
  const int bottom = row_of (self, box->y + box->height);

  cuv_rcd_cpu_sums (
      self, &self->fine, left, top, box, right - left, bottom - top, sums);
}

static void
find_best (const CuvRcdCpu *self, CuvRcdMatch *match)
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
    take_sums (self, &match->box, match->sums);
}

void
cuv_rcd_cpu_refine (CuvRcdCpu *self, CuvRcdMatch *match)
{
  int shift = CUV_RCD_FINE_FIRST;

  for (int spacing = self->search->refine; spacing > 0;
       spacing = cuv_rcd_next_spacing (spacing)) {
    cuv_rcd_fine_init (&self->round, &match->box, spacing, shift,
        self->shape.width, self->shape.height);
    set_lines (self);
    cuv_rcd_cpu_integrals (self, &self->fine);
    cuv_rcd_cpu_pieces (self, N_ROWS, score_row);
    find_best (self, match);
    shift = CUV_RCD_FINE_NEXT;
  }
}
