/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of blocks are pieces of work. Of each some rows at a time become codes,
 * which are counted block by block while they are in the cache. */
#include "cpu/ldp-cpu.h"
#include "cuvgrey.h"
#include "cuvthreads.h"
#include "cpu/ldp-resize.h"
#include "cpu/ldp-dsp.h"
#include "ldp/ldp-picture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAND = 16 }; /* rows at a time */

/* A thread's. */
typedef struct {
  uint8_t *signs[3]; /* of rows y: y % 3 */
  uint8_t *codes[CUV_LDP_DIRECTIONS];
  uint8_t *memory;
} Worker;

struct _CuvLdpCpu {
  CuvLdpShape shape;
  CuvLdpSteps steps;
  size_t stride, count_size;
  uint8_t *memory; /* of the picture, */
  uint8_t *pixels; /* whose first pixel this is */
  void *counts;
  int n_workers;
  Worker *workers;
  CuvLdpResizer *resizer;
  CuvFrame frame; /* of a run */
  CuvLdpRect rect;
  bool can_resize; /* there is memory for it */
  int drawn;       /* the direction */
};

/* ---- memory ---- */

static bool
init_worker (const CuvLdpCpu *self, Worker *worker)
{
  const size_t codes = BAND * self->stride;

  worker->memory = calloc (3 * self->stride + CUV_LDP_DIRECTIONS * codes, 1);
  if (worker->memory == NULL)
    return false;
  for (int i = 0; i < 3; i++)
    worker->signs[i] =
        worker->memory + (size_t) i * self->stride + CUV_LDP_PADDING;
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++)
    worker->codes[d] = worker->memory + 3 * self->stride + (size_t) d * codes
        + CUV_LDP_PADDING;
  return true;
}

static bool
init (CuvLdpCpu *self)
{
  const long processors = sysconf (_SC_NPROCESSORS_ONLN);

  cuv_ldp_steps_init (&self->steps);
  self->stride = (size_t) self->shape.width + 2 * CUV_LDP_PADDING;
  self->memory = calloc (self->stride, (size_t) self->shape.height);
  self->pixels = self->memory + CUV_LDP_PADDING;
  self->count_size = (size_t) cuv_ldp_count_size (&self->shape);
  self->counts = malloc (cuv_ldp_n_counts (&self->shape) * self->count_size);
  self->n_workers = processors > 1 ? (int) processors : 1;
  self->workers = calloc ((size_t) self->n_workers, sizeof *self->workers);
  self->resizer = cuv_ldp_resizer_new (
      self->shape.width, self->shape.height, self->n_workers);
  if (self->memory == NULL || self->counts == NULL || self->workers == NULL
      || self->resizer == NULL)
    return false;
  for (int i = 0; i < self->n_workers; i++) {
    if (!init_worker (self, &self->workers[i]))
      return false;
  }
  return true;
}

CuvLdpCpu *
cuv_ldp_cpu_new (const CuvLdpShape *shape)
{
  CuvLdpCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->shape = *shape;
  if (init (self))
    return self;
  cuv_ldp_cpu_free (self);
  return NULL;
}

void
cuv_ldp_cpu_free (CuvLdpCpu *self)
{
  if (self == NULL)
    return;
  for (int i = 0; self->workers != NULL && i < self->n_workers; i++)
    free (self->workers[i].memory);
  free (self->workers);
  cuv_ldp_resizer_free (self->resizer);
  free (self->memory);
  free (self->counts);
  free (self);
}

/* ---- the picture ---- */

enum { PICTURE_ROWS = 16 }; /* of a piece */

static bool
is_same_size (const CuvLdpCpu *self)
{
  return self->rect.width == self->shape.width
      && self->rect.height == self->shape.height;
}

static void
make_rows (void *data, int worker, int piece)
{
  CuvLdpCpu *self = data;
  const int width = self->shape.width, height = self->shape.height;
  const CuvFrame part = cuv_ldp_cut (&self->frame, &self->rect);
  const int end = (piece + 1) * PICTURE_ROWS;

  for (int y = piece * PICTURE_ROWS; y < end && y < height; y++) {
    uint8_t *row = self->pixels + (size_t) y * self->stride;

    if (is_same_size (self))
      cuv_grey_row (&part, y, row);
    else if (self->can_resize)
      cuv_ldp_resizer_run (self->resizer, worker, &part, y, row);
    else
      cuv_ldp_picture_row (&self->frame, &self->rect, width, height, y, row);
    memset (row - CUV_LDP_MAX_ORDER, row[0], CUV_LDP_MAX_ORDER);
    memset (row + width, row[width - 1], CUV_LDP_MAX_ORDER);
  }
}

/* ---- codes ---- */

static const uint8_t *
row_at (const CuvLdpCpu *self, int y)
{
  const int last = self->shape.height - 1;

  return self->pixels
      + (size_t) (y < 0    ? 0
                : y > last ? last
                           : y)
      * self->stride;
}

/* The signs of row y, with a pixel more on either side. */
static void
find_signs (const CuvLdpCpu *self, Worker *worker, int y)
{
  const int k = self->shape.params.order - 1;
  const uint8_t *rows[CUV_LDP_MAX_ORDER];

  for (int i = 0; i <= k; i++)
    rows[i] = row_at (self, y - i) - 1;
  self->steps.signs (
      rows, k, self->shape.width + 2, worker->signs[(y + 3) % 3] - 1);
}

/* The codes of n rows from y on; the signs of rows y - 1 and y are there. */
static void
find_codes (const CuvLdpCpu *self, Worker *worker, int y, int n)
{
  for (int i = 0; i < n; i++, y++) {
    const uint8_t *const rows[3] = { worker->signs[(y + 2) % 3],
      worker->signs[y % 3], worker->signs[(y + 1) % 3] };
    uint8_t *codes[CUV_LDP_DIRECTIONS];

    find_signs (self, worker, y + 1);
    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++)
      codes[d] = worker->codes[d] + (size_t) i * self->stride;
    self->steps.codes (rows, self->shape.width, codes);
  }
}

/* ---- counts ---- */

/* Where a band's codes of a block are counted. */
typedef struct {
  const uint8_t *codes;
  size_t stride;
  int width, height;
  const uint8_t *bins; /* of codes; NULL: they are the same */
} Piece;

/* Most of the time goes here: so that the compiler knows all there is to know,
 * once for each kind of count. */
#define COUNT(name, type)                                                      \
  static void name (const Piece *piece, type *histogram)                       \
  {                                                                            \
    const uint8_t *codes = piece->codes, *bins = piece->bins;                  \
                                                                               \
    for (int y = 0; y < piece->height; y++, codes += piece->stride) {          \
      for (int x = 0; x < piece->width && bins == NULL; x++)                   \
        histogram[codes[x]]++;                                                 \
      for (int x = 0; x < piece->width && bins != NULL; x++)                   \
        histogram[bins[codes[x]]]++;                                           \
    }                                                                          \
  }
COUNT (count_16, uint16_t)
COUNT (count_32, uint32_t)
#undef COUNT

/* What is in rows `from` to before `from` + n, which a band has, of a block. */
static void
count_block (
    CuvLdpCpu *self, const Worker *worker, int column, int row, int from, int n)
{
  const CuvLdpShape *shape = &self->shape;
  const size_t block = (size_t) row * (size_t) shape->columns + (size_t) column;
  size_t at = block * (size_t) (shape->n_histograms * shape->n_bins);
  int x[2], y[2];

  cuv_ldp_block (shape, column, row, x, y);
  y[0] = y[0] > from ? y[0] : from;
  y[1] = y[1] < from + n ? y[1] : from + n;
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    const Piece piece = { worker->codes[d]
          + (size_t) (y[0] - from) * self->stride + x[0],
      self->stride, x[1] - x[0], y[1] - y[0],
      shape->params.bins == CUV_LDP_BINS_256 ? NULL : shape->bin_of_code };

    if ((shape->params.directions >> d & 1) == 0)
      continue;
    if (self->count_size == 2)
      count_16 (&piece, (uint16_t *) self->counts + at);
    else
      count_32 (&piece, (uint32_t *) self->counts + at);
    at += shape->params.is_merged ? 0 : (size_t) shape->n_bins;
  }
}

static void
clear_row (CuvLdpCpu *self, int row)
{
  const CuvLdpShape *shape = &self->shape;
  const size_t n = (size_t) shape->columns
      * (size_t) (shape->n_histograms * shape->n_bins) * self->count_size;

  memset ((uint8_t *) self->counts + (size_t) row * n, 0, n);
}

static void
describe_row (void *data, int index, int row)
{
  CuvLdpCpu *self = data;
  Worker *worker = &self->workers[index];
  int x[2], y[2];

  clear_row (self, row);
  cuv_ldp_block (&self->shape, 0, row, x, y);
  find_signs (self, worker, y[0] - 1);
  find_signs (self, worker, y[0]);
  for (int from = y[0]; from < y[1]; from += BAND) {
    const int n = y[1] - from < BAND ? y[1] - from : BAND;

    find_codes (self, worker, from, n);
    for (int column = 0; column < self->shape.columns; column++)
      count_block (self, worker, column, row, from, n);
  }
}

const void *
cuv_ldp_cpu_run (CuvLdpCpu *self, const CuvFrame *frame, const CuvLdpRect *rect,
    int n_threads)
{
  self->frame = *frame;
  self->rect = *rect;
  self->can_resize = !is_same_size (self)
      && cuv_ldp_resizer_prepare (self->resizer, rect->width);
  cuv_threads_run_workers (n_threads, self->n_workers,
      (self->shape.height + PICTURE_ROWS - 1) / PICTURE_ROWS, make_rows, self);
  cuv_threads_run_workers (
      n_threads, self->n_workers, self->shape.rows, describe_row, self);
  return self->counts;
}

/* ---- drawing ---- */

static void
draw_row (CuvLdpCpu *self, Worker *worker, int y)
{
  const CuvLdpShape *shape = &self->shape;
  const CuvLdpRect *rect = &self->rect;
  const int margin = cuv_ldp_margin (shape);
  const int v = (int) ((int64_t) y * shape->height / rect->height);
  const bool inside = v >= margin && v < shape->height - margin;

  find_signs (self, worker, v - 1);
  find_signs (self, worker, v);
  find_codes (self, worker, v, 1);
  for (int x = 0; x < rect->width; x++) {
    const int u = (int) ((int64_t) x * shape->width / rect->width);
    const bool counted = inside && u >= margin && u < shape->width - margin;

    cuv_frame_set_grey (&self->frame, rect->x + x, rect->y + y,
        counted ? worker->codes[self->drawn][u] : 0);
  }
}

static void
draw_rows (void *data, int index, int piece)
{
  CuvLdpCpu *self = data;
  const int end = (piece + 1) * PICTURE_ROWS;

  for (int y = piece * PICTURE_ROWS; y < end && y < self->rect.height; y++)
    draw_row (self, &self->workers[index], y);
}

void
cuv_ldp_cpu_draw (CuvLdpCpu *self, int direction, int n_threads)
{
  self->drawn = direction;
  cuv_threads_run_workers (n_threads, self->n_workers,
      (self->rect.height + PICTURE_ROWS - 1) / PICTURE_ROWS, draw_rows, self);
}
