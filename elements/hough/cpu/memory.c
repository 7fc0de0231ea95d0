/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Allocates the detector's memory, once. */
#include "cpu/hough-cpu-private.h"

#include <stdlib.h>

static void *
hough_take (CuvHoughCpu *self, size_t n, size_t size)
{
  void *memory = calloc (n, size);

  self->complete = self->complete && memory != NULL;
  self->memory[self->n_memory++] = memory;
  return memory;
}

static void
make_rows (CuvHoughCpu *self, CuvHoughWorker *worker)
{
  const size_t n = (size_t) self->layout->width + 2 * CUV_HOUGH_ROW_PADDING;

  worker->grey = hough_take (self, n, 1);
  worker->scratch = hough_take (self, 2 * n, sizeof *worker->scratch);
  for (int i = 0; i < 5; i++)
    worker->blurred[i] = hough_take (self, n, sizeof *worker->blurred[i]);
  for (int i = 0; i < 3; i++)
    worker->gradients[i] =
        (CuvGradientRow){ hough_take (self, n, sizeof (int16_t)),
          hough_take (self, n, sizeof (int16_t)),
          hough_take (self, n, sizeof (int16_t)),
          hough_take (self, n, sizeof (int32_t)) };
}

static void
make_votes (CuvHoughCpu *self, CuvHoughWorker *worker)
{
  const size_t n = (size_t) self->layout->n_cells;
  const size_t n_ring = CUV_HOUGH_MAX_NEIGHBORHOOD - 1 + CUV_HOUGH_ROWS_AT_ONCE;

  worker->pair_table = hough_take (
      self, self->n_pair_cells + 1 /* never 0 */, sizeof *worker->pair_table);
  worker->lanes =
      hough_take (self, CUV_HOUGH_N_LANES * (n + CUV_HOUGH_ROW_PADDING), 1);
  worker->ring = hough_take (self, n_ring * n, sizeof *worker->ring);
  worker->found = hough_take (self, n, sizeof *worker->found);
  worker->peaks.peaks =
      hough_take (self, CUV_HOUGH_MAX_LINES, sizeof *worker->peaks.peaks);
}

static void
make_edges (CuvHoughCpu *self)
{
  const CuvHoughLayout *layout = self->layout;
  const size_t n = (size_t) layout->width * (size_t) layout->height;

  self->grey = hough_take (self, n, 1);
  self->map = hough_take (self, n, 1);
  self->columns = hough_take (self, n, 1);
  self->pixels = hough_take (self, n, sizeof *self->pixels);
  self->band_edges =
      hough_take (self, (size_t) layout->height / CUV_HOUGH_EDGE_ROWS + 1,
          sizeof *self->band_edges);
  if (layout->config.window >= 90)
    return;
  self->sorted = hough_take (self, n, sizeof *self->sorted);
  self->bins = hough_take (self, n, sizeof *self->bins);
  self->first_of_bin = hough_take (
      self, (size_t) layout->n_bins + 1, sizeof *self->first_of_bin);
  for (int i = 0; i < CUV_HOUGH_N_SORT_TASKS; i++)
    self->next_of_bin[i] = hough_take (
        self, (size_t) layout->n_bins, sizeof *self->next_of_bin[i]);
}

static void
make_results (CuvHoughCpu *self)
{
  self->votes =
      hough_take (self, cuv_hough_n_cells (self->layout), sizeof *self->votes);
  self->peaks = hough_take (self, CUV_HOUGH_MAX_LINES, sizeof *self->peaks);
  self->segments =
      hough_take (self, CUV_HOUGH_MAX_SEGMENTS, sizeof *self->segments);
  self->task_segments =
      hough_take (self, CUV_HOUGH_N_SEGMENT_TASKS * CUV_HOUGH_MAX_SEGMENTS,
          sizeof *self->task_segments);
  self->line_segments =
      hough_take (self, CUV_HOUGH_MAX_LINES, sizeof *self->line_segments);
  if (self->layout->config.window >= 90 || self->layout->config.lines_only)
    return;
  self->regions = cuv_regions_new (self->layout->width, self->layout->height);
  self->complete = self->complete && self->regions != NULL;
}

CuvHoughCpu *
cuv_hough_cpu_new (const CuvHoughLayout *layout)
{
  CuvHoughCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->complete = true;
  self->layout = layout;
  self->n_workers = cuv_threads_n_workers ();
  self->n_pair_cells = cuv_hough_max_pair_cells (layout);
  make_edges (self);
  make_results (self);
  for (int i = 0; i < self->n_workers; i++) {
    make_rows (self, &self->workers[i]);
    make_votes (self, &self->workers[i]);
  }
  if (!self->complete) {
    cuv_hough_cpu_free (self);
    return NULL;
  }
  cuv_hough_dsp_init (&self->dsp);
  return self;
}

void
cuv_hough_cpu_free (CuvHoughCpu *self)
{
  if (self == NULL)
    return;
  for (int i = 0; i < self->n_memory; i++)
    free (self->memory[i]);
  cuv_regions_free (self->regions);
  free (self);
}
