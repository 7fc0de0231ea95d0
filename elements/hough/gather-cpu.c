/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Votes by every pixel, for what it is: the same time for any frame. */
#include "hough-cpu-private.h"

#include <stdlib.h>
#include <string.h>

#define TILE 32

static int
least (int a, int b)
{
  return a < b ? a : b;
}

/* Columns of the map become rows, TILE of them. */
static void
turn_piece (CuvHoughCpu *self, CuvHoughWorker *worker, int piece)
{
  const int width = self->space->width, height = self->space->height;
  const int first = piece * TILE, end = least (first + TILE, width);

  for (int top = 0; top < height; top += TILE) {
    for (int x = first; x < end; x++) {
      uint8_t *column = self->columns + (ptrdiff_t) x * height;

      for (int y = top; y < least (top + TILE, height); y++)
        column[y] = self->map[(ptrdiff_t) y * width + x];
    }
  }
}

/* Along the axis on which cells are nearer to pixels. */
static void
gather_piece (CuvHoughCpu *self, CuvHoughWorker *worker, int piece)
{
  const CuvHoughSpace *space = self->space;
  const CuvHoughRow *row = &space->rows[piece];
  const CuvGather work = abs (row->dx) >= abs (row->dy)
      ? (CuvGather){ self->map, space->height, space->width, row->dy, row->dx,
          row->offset, space->radius }
      : (CuvGather){ self->columns, space->width, space->height, row->dx,
          row->dy, row->offset, space->radius };
  uint32_t *votes = self->votes + (size_t) piece * (size_t) space->n_cells;

  memset (votes, 0, (size_t) space->n_cells * sizeof *votes);
  self->steps.gather (&work, worker->lanes, votes + space->radius);
}

uint64_t
cuv_hough_cpu_gather (CuvHoughCpu *self)
{
  cuv_hough_cpu_pieces (
      self, (self->space->width + TILE - 1) / TILE, turn_piece);
  cuv_hough_cpu_pieces (self, self->space->n_rows, gather_piece);
  return (uint64_t) self->space->n_rows * self->list.n;
}
