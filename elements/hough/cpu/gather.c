/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Votes without a list of edges: every pixel of the map adds 0 or 1 to a cell
 * of each row, so that the time does not depend on the frame. After G. van den
 * Braak et al., Fast Hough Transform on GPUs, ACIVS 2011. */
#include "cpu/hough-cpu-private.h"

#include <stdlib.h>
#include <string.h>

#define TILE 32

/* Transposes TILE columns of the edge map. */
static void
transpose_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  const int width = self->layout->width, height = self->layout->height;
  const int first = task * TILE, end = cuv_min (first + TILE, width);

  for (int top = 0; top < height; top += TILE) {
    for (int x = first; x < end; x++) {
      uint8_t *column = self->columns + (ptrdiff_t) x * height;

      for (int y = top; y < cuv_min (top + TILE, height); y++)
        column[y] = self->map[(ptrdiff_t) y * width + x];
    }
  }
}

/* Walks along the axis with fewer pixels per cell. */
static void
gather_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  CuvHoughWorker *worker = &self->workers[index];
  const CuvHoughLayout *layout = self->layout;
  const CuvHoughRow *row = &layout->rows[task];
  const CuvGather work = abs (row->dx) >= abs (row->dy)
      ? (CuvGather){ self->map, layout->height, layout->width, row->dy, row->dx,
          row->offset, layout->radius }
      : (CuvGather){ self->columns, layout->width, layout->height, row->dx,
          row->dy, row->offset, layout->radius };
  uint32_t *votes = self->votes + (size_t) task * (size_t) layout->n_cells;

  memset (votes, 0, (size_t) layout->n_cells * sizeof *votes);
  self->dsp.gather (&work, worker->lanes, votes + layout->radius);
}

uint64_t
cuv_hough_cpu_gather (CuvHoughCpu *self)
{
  cuv_hough_cpu_run_tasks (
      self, (self->layout->width + TILE - 1) / TILE, transpose_task);
  cuv_hough_cpu_run_tasks (self, self->layout->n_rows, gather_task);
  return (uint64_t) self->layout->n_rows * self->list.n;
}
