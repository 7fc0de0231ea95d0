/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edges on the CPU. Rows are made in pieces that know nothing of each other;
 * what weak pixels are connected to across pieces is followed when all are
 * there. Which pixels are edges does not depend on the order. */
#include "hough-cpu-private.h"

#include <string.h>

static int
min (int a, int b)
{
  return a < b ? a : b;
}

static int
max (int a, int b)
{
  return a > b ? a : b;
}

static int
n_edge_pieces (const CuvHoughCpu *self)
{
  return (self->space->height + CUV_EDGE_ROWS - 1) / CUV_EDGE_ROWS;
}

static int
end_of_piece (const CuvHoughCpu *self, int piece)
{
  return min ((piece + 1) * CUV_EDGE_ROWS, self->space->height);
}

/* ---- grey values ---- */

static bool
is_grey (const CuvFrame *frame)
{
  return frame->model != CUV_MODEL_RGB && frame->component[0].step == 1;
}

static void
grey_piece (CuvHoughCpu *self, CuvHoughWorker *worker, int piece)
{
  for (int y = piece * CUV_EDGE_ROWS; y < end_of_piece (self, piece); y++)
    self->steps.grey (self->frame, y, self->grey + y * self->stride);
}

static void
blur_row_across (CuvHoughCpu *self, CuvHoughWorker *worker, int y)
{
  const int width = self->space->width, height = self->space->height;
  uint8_t *row = worker->grey + 2;

  self->steps.grey (self->frame, min (max (y, 0), height - 1), row);
  row[-2] = row[-1] = row[0];
  row[width] = row[width + 1] = row[width - 1];
  self->steps.blur_across (row, width, worker->blurred[(y + 5) % 5]);
}

static void
blur_piece (CuvHoughCpu *self, CuvHoughWorker *worker, int piece)
{
  const int first = piece * CUV_EDGE_ROWS;

  for (int y = first - 2; y < end_of_piece (self, piece) + 2; y++) {
    const uint16_t *rows[5];

    blur_row_across (self, worker, y);
    if (y < first + 2)
      continue;
    for (int i = 0; i < 5; i++)
      rows[i] = worker->blurred[(y + 1 + i) % 5];
    self->steps.blur_down (
        rows, self->space->width, self->grey + (y - 2) * self->stride);
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
  self->stride = self->space->width;
  cuv_hough_cpu_pieces (
      self, n_edge_pieces (self), blur ? blur_piece : grey_piece);
}

/* ---- pixels that stand out ---- */

static uint8_t *
map_row (CuvHoughCpu *self, int y)
{
  return self->map + (size_t) y * (size_t) self->space->width;
}

static void
make_gradients (CuvHoughCpu *self, CuvHoughWorker *worker, int y)
{
  const int last = self->space->height - 1;
  const uint8_t *const rows[] = { self->source + max (y - 1, 0) * self->stride,
    self->source + y * self->stride,
    self->source + min (y + 1, last) * self->stride };

  self->steps.gradients (rows, self->space->width, self->params->canny.norm,
      worker->scratch, &worker->gradients[y % 3]);
}

static void
suppress_row (CuvHoughCpu *self, CuvHoughWorker *worker, int y)
{
  const int width = self->space->width;
  const CuvGradientRow *const rows[] = { &worker->gradients[(y + 2) % 3],
    &worker->gradients[y % 3], &worker->gradients[(y + 1) % 3] };
  uint8_t *row = map_row (self, y);

  if (y == 0 || y == self->space->height - 1) {
    memset (row, CUV_PIXEL_NONE, (size_t) width);
    return;
  }
  row[0] = row[width - 1] = CUV_PIXEL_NONE;
  self->steps.suppress (rows, width, &self->params->canny, row);
}

/* ---- hysteresis ---- */

/* Makes weak pixels beside one an edge and lists them; rows from first to below
 * end are looked at. Returns how many are listed. */
static size_t
spread (CuvHoughCpu *self, int x, int y, int first, int end, uint32_t *list,
    size_t n)
{
  for (int j = max (y - 1, first); j < min (y + 2, end); j++) {
    uint8_t *row = map_row (self, j) + x - 1;

    if (((row[0] | row[1] | row[2]) & CUV_PIXEL_WEAK) == 0)
      continue;
    for (int i = 0; i < 3; i++) {
      if (row[i] == CUV_PIXEL_WEAK) {
        row[i] = CUV_PIXEL_EDGE;
        list[n++] = (uint32_t) j << 16 | (uint32_t) (x - 1 + i);
      }
    }
  }
  return n;
}

/* From the edges of a row on. No pixel is listed twice. */
static void
connect_row (CuvHoughCpu *self, int y, int first, int end, uint32_t *list)
{
  const int last = self->space->width - 1;
  const uint8_t *const rows[] = { map_row (self, max (y - 1, first)),
    map_row (self, y), map_row (self, min (y + 1, end - 1)) };

  for (int x = 1; (x = self->steps.find_seed (rows, x, last)) < last; x++) {
    size_t n = spread (self, x, y, first, end, list, 0);

    while (n > 0) {
      uint32_t pixel = list[--n];

      n = spread (self, (int) (pixel & 0xffff), (int) (pixel >> 16), first, end,
          list, n);
    }
  }
}

static void
detect_piece (CuvHoughCpu *self, CuvHoughWorker *worker, int piece)
{
  const int first = piece * CUV_EDGE_ROWS, end = end_of_piece (self, piece);

  for (int y = max (first - 1, 0); y <= end; y++) {
    if (y < self->space->height)
      make_gradients (self, worker, y);
    if (y > first)
      suppress_row (self, worker, y - 1);
  }
  for (int y = first; y < end; y++)
    connect_row (self, y, first, end,
        self->pixels + (size_t) first * (size_t) self->space->width);
}

static void
connect_pieces (CuvHoughCpu *self)
{
  const int height = self->space->height;

  for (int y = CUV_EDGE_ROWS; y < height; y += CUV_EDGE_ROWS) {
    connect_row (self, y - 1, 0, height, self->pixels);
    connect_row (self, y, 0, height, self->pixels);
  }
}

/* ---- lists ---- */

/* The frame is the map. */
static void
input_piece (CuvHoughCpu *self, CuvHoughWorker *worker, int piece)
{
  for (int y = piece * CUV_EDGE_ROWS; y < end_of_piece (self, piece); y++) {
    uint8_t *row = map_row (self, y);

    self->steps.grey (self->frame, y, row);
    for (int x = 0; x < self->space->width; x++)
      row[x] = row[x] != 0 ? CUV_PIXEL_EDGE : CUV_PIXEL_NONE;
  }
}

static void
list_piece (CuvHoughCpu *self, CuvHoughWorker *worker, int piece)
{
  const int first = piece * CUV_EDGE_ROWS;
  uint32_t *pixels =
      self->pixels + (size_t) first * (size_t) self->space->width;
  size_t n = 0;

  for (int y = first; y < end_of_piece (self, piece); y++)
    n += self->steps.list (
        map_row (self, y), self->space->width, (uint32_t) y << 16, pixels + n);
  self->piece_edges[piece] = n;
}

static void
list_edges (CuvHoughCpu *self)
{
  const size_t room = (size_t) CUV_EDGE_ROWS * (size_t) self->space->width;
  size_t n = 0;

  cuv_hough_cpu_pieces (self, n_edge_pieces (self), list_piece);
  for (int i = 0; i < n_edge_pieces (self); i++) {
    memmove (self->pixels + n, self->pixels + (size_t) i * room,
        self->piece_edges[i] * sizeof *self->pixels);
    n += self->piece_edges[i];
  }
  self->list = (CuvEdgeList){ self->pixels, NULL, n };
}

void
cuv_hough_cpu_edges (CuvHoughCpu *self)
{
  const CuvHoughParams *params = self->params;

  if (params->source == CUV_EDGES_CANNY) {
    find_source (self, params->canny.blur);
    cuv_hough_cpu_pieces (self, n_edge_pieces (self), detect_piece);
    connect_pieces (self);
  } else {
    cuv_hough_cpu_pieces (self, n_edge_pieces (self), input_piece);
  }
  list_edges (self);
}
