/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counting sort of edges by the orientation bin of their gradient. */
#include "cpu/hough-cpu-private.h"

#include <string.h>

static size_t
first_edge (const CuvHoughCpu *self, int task)
{
  return self->list.n * (size_t) task / CUV_N_SORT_TASKS;
}

/* Sobel gradients of n edges; edges are never at the frame's border. */
static void
find_gradients (const CuvHoughCpu *self, const uint32_t *pixels, int n,
    int16_t *gx, int16_t *gy)
{
  const ptrdiff_t stride = self->stride;

  for (int i = 0; i < n; i++) {
    const uint8_t *b = self->source + (ptrdiff_t) (pixels[i] >> 16) * stride
        + (pixels[i] & 0xffff);
    const uint8_t *a = b - stride, *c = b + stride;
    int falling = c[1] - a[-1], rising = a[1] - c[-1];

    gx[i] = (int16_t) (falling + rising + 2 * (b[1] - b[-1]));
    gy[i] = (int16_t) (falling - rising + 2 * (c[0] - a[0]));
  }
}

static void
bin_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  enum { N = 256 };
  int16_t gx[N], gy[N];
  const size_t end = first_edge (self, task + 1);
  size_t *n_of_bin = self->next_of_bin[task];

  memset (n_of_bin, 0, (size_t) self->layout->n_bins * sizeof *n_of_bin);
  for (size_t i = first_edge (self, task); i < end; i += N) {
    int n = end - i < N ? (int) (end - i) : N;

    find_gradients (self, self->pixels + i, n, gx, gy);
    self->dsp.bin (self->layout, gx, gy, n, self->bins + i);
    for (int j = 0; j < n; j++)
      n_of_bin[self->bins[i + (size_t) j]]++;
  }
}

/* Turns the counts of tasks into positions: exclusive scan over bins and
 * tasks. */
static void
place_bins (CuvHoughCpu *self)
{
  size_t at = 0;

  for (int g = 0; g < self->layout->n_bins; g++) {
    self->first_of_bin[g] = at;
    for (int task = 0; task < CUV_N_SORT_TASKS; task++) {
      size_t n = self->next_of_bin[task][g];

      self->next_of_bin[task][g] = at;
      at += n;
    }
  }
  self->first_of_bin[self->layout->n_bins] = at;
}

static void
sort_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  size_t *next = self->next_of_bin[task];

  for (size_t i = first_edge (self, task); i < first_edge (self, task + 1); i++)
    self->sorted[next[self->bins[i]]++] = self->pixels[i];
}

void
cuv_hough_cpu_sort_edges (CuvHoughCpu *self)
{
  if (self->params->source != CUV_EDGES_CANNY
      || self->layout->config.window >= 90)
    return;
  cuv_hough_cpu_run_tasks (self, CUV_N_SORT_TASKS, bin_task);
  place_bins (self);
  cuv_hough_cpu_run_tasks (self, CUV_N_SORT_TASKS, sort_task);
  self->list.bins = self->bins;
}
