/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edges on the CPU: each task computes a band of rows. Weak pixels are
 * connected within a band first, then across bands; the result does not depend
 * on the order. */
#include "cpu/hough-cpu-private.h"

#include <string.h>

static int
n_bands (const CuvHoughCpu *self)
{
  return (self->layout->height + CUV_HOUGH_EDGE_ROWS - 1) / CUV_HOUGH_EDGE_ROWS;
}

static int
end_of_band (const CuvHoughCpu *self, int task)
{
  return cuv_min ((task + 1) * CUV_HOUGH_EDGE_ROWS, self->layout->height);
}

static bool
is_grey (const CuvFrame *frame)
{
  return frame->model != CUV_MODEL_RGB && frame->component[0].step == 1;
}

static void
grey_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;

  for (int y = task * CUV_HOUGH_EDGE_ROWS; y < end_of_band (self, task); y++)
    self->dsp.grey (self->frame, y, self->grey + y * self->stride);
}

static void
blur_row_across (CuvHoughCpu *self, CuvHoughWorker *worker, int y)
{
  const int width = self->layout->width, height = self->layout->height;
  uint8_t *row = worker->grey + 2;

  self->dsp.grey (self->frame, cuv_min (cuv_max (y, 0), height - 1), row);
  row[-2] = row[-1] = row[0];
  row[width] = row[width + 1] = row[width - 1];
  self->dsp.blur_across (row, width, worker->blurred[(y + 5) % 5]);
}

static void
blur_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  CuvHoughWorker *worker = &self->workers[index];
  const int first = task * CUV_HOUGH_EDGE_ROWS;

  for (int y = first - 2; y < end_of_band (self, task) + 2; y++) {
    const uint16_t *rows[5];

    blur_row_across (self, worker, y);
    if (y < first + 2)
      continue;
    for (int i = 0; i < 5; i++)
      rows[i] = worker->blurred[(y + 1 + i) % 5];
    self->dsp.blur_down (
        rows, self->layout->width, self->grey + (y - 2) * self->stride);
  }
}

static void
find_source (CuvHoughCpu *self, bool blur)
{
  const CuvFrame *frame = self->frame;

  self->source = frame->component[0].data;
  self->stride = frame->component[0].stride;
  if (is_grey (frame) && !blur)
    return;
  self->source = self->grey;
  self->stride = self->layout->width;
  cuv_hough_cpu_run_tasks (self, n_bands (self), blur ? blur_task : grey_task);
}

static uint8_t *
map_row (CuvHoughCpu *self, int y)
{
  return self->map + (size_t) y * (size_t) self->layout->width;
}

static void
make_gradients (CuvHoughCpu *self, CuvHoughWorker *worker, int y)
{
  const int last = self->layout->height - 1;
  const uint8_t *const rows[] = { self->source
        + cuv_max (y - 1, 0) * self->stride,
    self->source + y * self->stride,
    self->source + cuv_min (y + 1, last) * self->stride };

  self->dsp.gradients (rows, self->layout->width, self->params->canny.norm,
      worker->scratch, &worker->gradients[y % 3]);
}

static void
suppress_row (CuvHoughCpu *self, CuvHoughWorker *worker, int y)
{
  const int width = self->layout->width;
  const CuvGradientRow *const rows[] = { &worker->gradients[(y + 2) % 3],
    &worker->gradients[y % 3], &worker->gradients[(y + 1) % 3] };
  uint8_t *row = map_row (self, y);

  if (y == 0 || y == self->layout->height - 1) {
    memset (row, CUV_HOUGH_PIXEL_NONE, (size_t) width);
    return;
  }
  row[0] = row[width - 1] = CUV_HOUGH_PIXEL_NONE;
  self->dsp.suppress (rows, width, &self->params->canny, row);
}

/* Promotes weak neighbours of a pixel to edges, in rows first .. end - 1, and
 * appends them to the n listed. Returns the new length of the list. */
static size_t
spread (CuvHoughCpu *self, int x, int y, int first, int end, uint32_t *list,
    size_t n)
{
  for (int j = cuv_max (y - 1, first); j < cuv_min (y + 2, end); j++) {
    uint8_t *row = map_row (self, j) + x - 1;

    if (((row[0] | row[1] | row[2]) & CUV_HOUGH_PIXEL_WEAK) == 0)
      continue;
    for (int i = 0; i < 3; i++) {
      if (row[i] == CUV_HOUGH_PIXEL_WEAK) {
        row[i] = CUV_HOUGH_PIXEL_EDGE;
        list[n++] = (uint32_t) j << 16 | (uint32_t) (x - 1 + i);
      }
    }
  }
  return n;
}

/* Flood-fills from the edges of a row. No pixel is listed twice. */
static void
connect_row (CuvHoughCpu *self, int y, int first, int end, uint32_t *list)
{
  const int last = self->layout->width - 1;
  const uint8_t *const rows[] = { map_row (self, cuv_max (y - 1, first)),
    map_row (self, y), map_row (self, cuv_min (y + 1, end - 1)) };

  for (int x = 1; (x = self->dsp.find_seed (rows, x, last)) < last; x++) {
    size_t n = spread (self, x, y, first, end, list, 0);

    while (n > 0) {
      uint32_t pixel = list[--n];

      n = spread (self, (int) (pixel & 0xffff), (int) (pixel >> 16), first, end,
          list, n);
    }
  }
}

static void
detect_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  CuvHoughWorker *worker = &self->workers[index];
  const int first = task * CUV_HOUGH_EDGE_ROWS, end = end_of_band (self, task);

  for (int y = cuv_max (first - 1, 0); y <= end; y++) {
    if (y < self->layout->height)
      make_gradients (self, worker, y);
    if (y > first)
      suppress_row (self, worker, y - 1);
  }
  for (int y = first; y < end; y++)
    connect_row (self, y, first, end,
        self->pixels + (size_t) first * (size_t) self->layout->width);
}

static void
connect_bands (CuvHoughCpu *self)
{
  const int height = self->layout->height;

  for (int y = CUV_HOUGH_EDGE_ROWS; y < height; y += CUV_HOUGH_EDGE_ROWS) {
    connect_row (self, y - 1, 0, height, self->pixels);
    connect_row (self, y, 0, height, self->pixels);
  }
}

/* With edges=input the frame is the edge map. */
static void
input_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;

  for (int y = task * CUV_HOUGH_EDGE_ROWS; y < end_of_band (self, task); y++) {
    uint8_t *row = map_row (self, y);

    self->dsp.grey (self->frame, y, row);
    for (int x = 0; x < self->layout->width; x++)
      row[x] = row[x] != 0 ? CUV_HOUGH_PIXEL_EDGE : CUV_HOUGH_PIXEL_NONE;
  }
}

static void
list_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  const int first = task * CUV_HOUGH_EDGE_ROWS;
  uint32_t *pixels =
      self->pixels + (size_t) first * (size_t) self->layout->width;
  size_t n = 0;

  for (int y = first; y < end_of_band (self, task); y++)
    n += self->dsp.list (
        map_row (self, y), self->layout->width, (uint32_t) y << 16, pixels + n);
  self->band_edges[task] = n;
}

static void
list_edges (CuvHoughCpu *self)
{
  const size_t room =
      (size_t) CUV_HOUGH_EDGE_ROWS * (size_t) self->layout->width;
  size_t n = 0;

  cuv_hough_cpu_run_tasks (self, n_bands (self), list_task);
  for (int i = 0; i < n_bands (self); i++) {
    memmove (self->pixels + n, self->pixels + (size_t) i * room,
        self->band_edges[i] * sizeof *self->pixels);
    n += self->band_edges[i];
  }
  self->list = (CuvEdgeList){ self->pixels, NULL, n };
}

/* ---- counting sort by the orientation bin of the gradient ---- */

static size_t
first_edge (const CuvHoughCpu *self, int task)
{
  return self->list.n * (size_t) task / CUV_HOUGH_N_SORT_TASKS;
}

/* Computes Sobel gradients of n edges; edges are never at the frame's
 * border. */
static void
list_gradients (const CuvHoughCpu *self, const uint32_t *pixels, int n,
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

    list_gradients (self, self->pixels + i, n, gx, gy);
    self->dsp.bin (self->layout, gx, gy, n, self->bins + i);
    for (int j = 0; j < n; j++)
      n_of_bin[self->bins[i + (size_t) j]]++;
  }
}

/* Does the same as bin_task() for directions, which are not sorted. */
static void
direction_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  enum { N = 256 };
  int16_t gx[N], gy[N];
  const size_t end = first_edge (self, task + 1);

  for (size_t i = first_edge (self, task); i < end; i += N) {
    int n = end - i < N ? (int) (end - i) : N;

    list_gradients (self, self->pixels + i, n, gx, gy);
    self->dsp.bin (self->layout, gx, gy, n, self->bins + i);
    for (int j = 0; j < n; j++) {
      if (cuv_hough_is_turned (gx[j], gy[j]))
        self->bins[i + (size_t) j] =
            (uint16_t) (self->bins[i + (size_t) j] + self->layout->n_bins);
    }
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
    for (int task = 0; task < CUV_HOUGH_N_SORT_TASKS; task++) {
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
cuv_hough_cpu_find_edges (CuvHoughCpu *self)
{
  const CuvHoughParams *params = self->params;

  if (params->source == CUV_EDGES_CANNY) {
    find_source (self, params->canny.blur);
    cuv_hough_cpu_run_tasks (self, n_bands (self), detect_task);
    connect_bands (self);
  } else {
    cuv_hough_cpu_run_tasks (self, n_bands (self), input_task);
  }
  list_edges (self);
}

void
cuv_hough_cpu_find_directions (CuvHoughCpu *self)
{
  cuv_hough_cpu_run_tasks (self, CUV_HOUGH_N_SORT_TASKS, direction_task);
  self->list.bins = self->bins;
}

void
cuv_hough_cpu_sort_edges (CuvHoughCpu *self)
{
  if (self->params->source != CUV_EDGES_CANNY
      || self->layout->config.window >= 90)
    return;
  cuv_hough_cpu_run_tasks (self, CUV_HOUGH_N_SORT_TASKS, bin_task);
  place_bins (self);
  cuv_hough_cpu_run_tasks (self, CUV_HOUGH_N_SORT_TASKS, sort_task);
  self->list.bins = self->bins;
}
