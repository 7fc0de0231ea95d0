/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All memory that runs on frames of a size need. */
#include "hough-cpu-private.h"

#include <stdlib.h>
#include <unistd.h>

static void *
take (CuvHoughCpu *self, size_t n, size_t size)
{
  void *memory = calloc (n, size);

  self->complete = self->complete && memory != NULL;
  self->memory[self->n_memory++] = memory;
  return memory;
}

static void
make_rows (CuvHoughCpu *self, CuvHoughWorker *worker)
{
  const size_t n = (size_t) self->space->width + 2 * CUV_ROW_PADDING;

  worker->grey = take (self, n, 1);
  worker->scratch = take (self, 2 * n, sizeof *worker->scratch);
  for (int i = 0; i < 5; i++)
    worker->blurred[i] = take (self, n, sizeof *worker->blurred[i]);
  for (int i = 0; i < 3; i++)
    worker->gradients[i] = (CuvGradientRow){ take (self, n, sizeof (int16_t)),
      take (self, n, sizeof (int16_t)), take (self, n, sizeof (int16_t)),
      take (self, n, sizeof (int32_t)) };
}

static void
make_slices (CuvHoughCpu *self, CuvHoughWorker *worker)
{
  const size_t n = (size_t) self->space->n_cells;
  const size_t n_ring = CUV_HOUGH_MAX_NEIGHBORHOOD - 1 + CUV_N_STREAMS;

  for (int i = 0; i < CUV_N_STREAMS; i++)
    worker->slices[i] = take (self, n, sizeof *worker->slices[i]);
  worker->lanes = take (self, CUV_N_LANES * (n + CUV_ROW_PADDING), 1);
  worker->ring = take (self, n_ring * n, sizeof *worker->ring);
  worker->found = take (self, n, sizeof *worker->found);
  worker->peaks.peaks =
      take (self, CUV_HOUGH_MAX_LINES, sizeof *worker->peaks.peaks);
}

static void
make_edges (CuvHoughCpu *self)
{
  const CuvHoughSpace *space = self->space;
  const size_t n = (size_t) space->width * (size_t) space->height;

  self->grey = take (self, n, 1);
  self->map = take (self, n, 1);
  self->columns = take (self, n, 1);
  self->pixels = take (self, n, sizeof *self->pixels);
  self->piece_edges = take (self, (size_t) space->height / CUV_EDGE_ROWS + 1,
      sizeof *self->piece_edges);
  if (space->shape.window >= 90)
    return;
  self->sorted = take (self, n, sizeof *self->sorted);
  self->groups = take (self, n, sizeof *self->groups);
  self->first_of_group =
      take (self, (size_t) space->n_groups + 1, sizeof *self->first_of_group);
  for (int i = 0; i < CUV_N_SORT_PIECES; i++)
    self->next_of_group[i] =
        take (self, (size_t) space->n_groups, sizeof *self->next_of_group[i]);
}

static void
make_results (CuvHoughCpu *self)
{
  self->votes =
      take (self, cuv_hough_n_cells (self->space), sizeof *self->votes);
  self->peaks = take (self, CUV_HOUGH_MAX_LINES, sizeof *self->peaks);
  self->segments = take (self, CUV_HOUGH_MAX_SEGMENTS, sizeof *self->segments);
  self->piece_segments =
      take (self, CUV_N_SEGMENT_PIECES * CUV_HOUGH_MAX_SEGMENTS,
          sizeof *self->piece_segments);
}

static int
count_workers (void)
{
  long n = sysconf (_SC_NPROCESSORS_ONLN);

  return n < 4 ? 4 : n > CUV_MAX_WORKERS ? CUV_MAX_WORKERS : (int) n;
}

CuvHoughCpu *
cuv_hough_cpu_new (const CuvHoughSpace *space)
{
  CuvHoughCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->complete = true;
  self->space = space;
  self->n_workers = count_workers ();
  make_edges (self);
  make_results (self);
  for (int i = 0; i < self->n_workers; i++) {
    make_rows (self, &self->workers[i]);
    make_slices (self, &self->workers[i]);
  }
  if (!self->complete) {
    cuv_hough_cpu_free (self);
    return NULL;
  }
  cuv_hough_steps_init (&self->steps);
  return self;
}

void
cuv_hough_cpu_free (CuvHoughCpu *self)
{
  if (self == NULL)
    return;
  for (int i = 0; i < self->n_memory; i++)
    free (self->memory[i]);
  free (self);
}
