/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptors on several threads. A task is a row of blocks, in bands of BAND
 * pixel rows: codes are computed, then counted block by block in the cache. */
#include "cpu/ldp-cpu.h"
#include "cuvgrey.h"
#include "cuvthreads.h"
#include "cpu/ldp-dsp.h"
#include "ldp/ldp-resize.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAND = 16 };

/* The n source pixels, from `first` on, that contribute to one output pixel. */
typedef struct {
  int first, n;
  const uint32_t *weights;
} Taps;

typedef struct {
  uint8_t *signs[3];                  /* row y in [y % 3] */
  uint8_t *codes[CUV_LDP_DIRECTIONS]; /* BAND rows */
} Worker;

struct _CuvLdpCpu {
  CuvLdpLayout layout; /* layout of this scale alone */
  CuvLdpCpu *next;     /* describes the smaller scales; NULL: none */
  CuvLdpLayout whole;  /* layout of all scales; first scale only */
  CuvLdpCpu *turned;   /* describes this picture in another orientation */
  CuvLdpDsp dsp;
  size_t stride, count_size; /* bytes per row; bytes per count */
  uint8_t *memory;           /* the picture, padded */
  uint8_t *pixels;           /* its first pixel */
  void *counts;              /* counts of this scale */
  void *all_counts;          /* counts of all scales, owned; first scale only */
  int n_workers;
  Worker *workers;
  uint8_t *worker_memory;
  int from;          /* rectangle width that the taps are for, 0 = none */
  Taps *taps;        /* one per pixel of a row */
  uint32_t *weights; /* weights of all taps */
  uint64_t *sums;    /* a row of the picture per worker */
  uint8_t *grey;     /* a row of the rectangle per worker */
  CuvFrame frame;    /* the current run */
  CuvLdpRect rect;
  int drawn; /* direction whose codes are drawn */
};

/* ---- memory ---- */

enum { WORKER_ROWS = 3 + CUV_LDP_DIRECTIONS * BAND };

static void
init_worker (Worker *self, uint8_t *memory, size_t stride)
{
  memory += CUV_LDP_PADDING;
  for (int i = 0; i < 3; i++, memory += stride)
    self->signs[i] = memory;
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++, memory += BAND * stride)
    self->codes[d] = memory;
}

static bool
ldp_cpu_init (CuvLdpCpu *self)
{
  const long processors = sysconf (_SC_NPROCESSORS_ONLN);

  cuv_ldp_dsp_init (&self->dsp);
  self->stride = (size_t) self->layout.width + 2 * CUV_LDP_PADDING;
  self->memory = calloc (self->stride, (size_t) self->layout.height);
  self->pixels = self->memory + CUV_LDP_PADDING;
  self->n_workers = processors > 1 ? (int) processors : 1;
  self->workers = calloc ((size_t) self->n_workers, sizeof *self->workers);
  self->worker_memory =
      calloc ((size_t) self->n_workers, WORKER_ROWS * self->stride);
  self->taps = calloc ((size_t) self->layout.width, sizeof *self->taps);
  self->sums = calloc ((size_t) self->layout.width * (size_t) self->n_workers,
      sizeof *self->sums);
  if (self->memory == NULL || self->workers == NULL
      || self->worker_memory == NULL || self->taps == NULL
      || self->sums == NULL)
    return false;
  for (int i = 0; i < self->n_workers; i++)
    init_worker (&self->workers[i],
        self->worker_memory + (size_t) i * WORKER_ROWS * self->stride,
        self->stride);
  return true;
}

/* Makes the scales from `scale` on, with counts of count_size bytes at
 * `counts`. */
static CuvLdpCpu *
new_scales (
    const CuvLdpLayout *layout, int scale, size_t count_size, uint8_t *counts)
{
  CuvLdpCpu *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->layout = cuv_ldp_scale (layout, scale);
  self->count_size = count_size;
  self->counts = counts;
  counts += cuv_ldp_n_counts (&self->layout) * count_size;
  if (scale + 1 < layout->params.scales)
    self->next = new_scales (layout, scale + 1, count_size, counts);
  if (ldp_cpu_init (self)
      && (self->next != NULL || scale + 1 == layout->params.scales))
    return self;
  cuv_ldp_cpu_free (self);
  return NULL;
}

CuvLdpCpu *
cuv_ldp_cpu_new (const CuvLdpLayout *layout)
{
  const size_t count_size = (size_t) cuv_ldp_count_size (layout);
  void *counts = malloc (cuv_ldp_n_counts (layout) * count_size);
  CuvLdpCpu *self =
      counts != NULL ? new_scales (layout, 0, count_size, counts) : NULL;

  if (self == NULL) {
    free (counts);
    return NULL;
  }
  self->whole = *layout;
  self->all_counts = counts;
  return self;
}

/* Frees what was allocated for a width of the rectangle. */
static void
ldp_free_width (CuvLdpCpu *self)
{
  free (self->weights);
  free (self->grey);
}

void
cuv_ldp_cpu_free (CuvLdpCpu *self)
{
  if (self == NULL)
    return;
  free (self->workers);
  free (self->worker_memory);
  free (self->taps);
  ldp_free_width (self);
  free (self->sums);
  free (self->memory);
  free (self->all_counts);
  cuv_ldp_cpu_free (self->next);
  cuv_ldp_cpu_free (self->turned);
  free (self);
}

/* ---- the picture ---- */

enum { TASK_ROWS = 16 };

static bool
is_same_size (const CuvLdpCpu *self)
{
  return self->rect.width == self->layout.width
      && self->rect.height == self->layout.height;
}

/* Writes the taps of pixel x to weights. Returns their number. */
static int
find_taps (const CuvLdpCpu *self, int x, Taps *taps, uint32_t *weights)
{
  const int width = self->layout.width;
  int span[2];

  *taps = (Taps){ .weights = weights };
  cuv_ldp_find_source_span (self->from, width, x, span);
  for (int i = span[0]; i < span[1]; i++) {
    const int64_t weight = cuv_ldp_weight (self->from, width, x, i);

    if (weight <= 0)
      continue;
    if (taps->n == 0)
      taps->first = i;
    weights[taps->n++] = (uint32_t) weight;
  }
  return taps->n;
}

/* Computes the taps. Returns false if out of memory. */
static bool
prepare_resizing (CuvLdpCpu *self, int from)
{
  const int width = self->layout.width;
  uint32_t *next;

  if (from == self->from)
    return true;
  self->from = 0; /* invalid until all memory is allocated */
  ldp_free_width (self);
  /* enlarging: two taps each; reducing: a source pixel belongs to two pixels
   * only where it lies across their border */
  self->weights = calloc ((size_t) (from + 3 * width), sizeof *self->weights);
  self->grey = malloc ((size_t) from * (size_t) self->n_workers);
  if (self->weights == NULL || self->grey == NULL)
    return false;
  self->from = from;
  next = self->weights;
  for (int x = 0; x < width; x++)
    next += find_taps (self, x, &self->taps[x], next);
  return true;
}

/* Resizes a frame row horizontally and adds it, times `weight`, to the sums. */
static void
ldp_add_row (
    const CuvLdpCpu *self, const uint8_t *grey, uint64_t weight, uint64_t *sums)
{
  for (int x = 0; x < self->layout.width; x++) {
    const Taps *taps = &self->taps[x];
    uint32_t sum = 0; /* fits: weights sum to less than 2^24 */

    for (int i = 0; i < taps->n; i++)
      sum += taps->weights[i] * grey[taps->first + i];
    sums[x] += weight * sum;
  }
}

/* Each row of the rectangle is resized horizontally and added, weighted, to the
 * sums of its picture row. */
static void
resize_row (
    CuvLdpCpu *self, int worker, const CuvFrame *frame, int y, uint8_t *row)
{
  const int width = self->layout.width, height = self->layout.height;
  const uint64_t total = (uint64_t) (cuv_ldp_total_weight (frame->width, width)
      * cuv_ldp_total_weight (frame->height, height));
  uint64_t *sums = self->sums + (size_t) worker * (size_t) width;
  uint8_t *grey = self->grey + (size_t) worker * (size_t) self->from;
  int span[2];

  memset (sums, 0, (size_t) width * sizeof *sums);
  cuv_ldp_find_source_span (frame->height, height, y, span);
  for (int i = span[0]; i < span[1]; i++) {
    const int64_t weight = cuv_ldp_weight (frame->height, height, y, i);

    if (weight <= 0)
      continue;
    cuv_grey_row (frame, i, grey);
    ldp_add_row (self, grey, (uint64_t) weight, sums);
  }
  for (int x = 0; x < width; x++)
    row[x] = (uint8_t) ((sums[x] + total / 2) / total);
}

static void
resize_task (void *data, int worker, int task)
{
  CuvLdpCpu *self = data;
  const int width = self->layout.width, height = self->layout.height;
  const CuvFrame part = cuv_ldp_crop (&self->frame, &self->rect);
  const int end = (task + 1) * TASK_ROWS;

  for (int y = task * TASK_ROWS; y < end && y < height; y++) {
    uint8_t *row = self->pixels + (size_t) y * self->stride;

    if (is_same_size (self))
      cuv_grey_row (&part, y, row);
    else
      resize_row (self, worker, &part, y, row);
    memset (row - CUV_LDP_MAX_ORDER, row[0], CUV_LDP_MAX_ORDER);
    memset (row + width, row[width - 1], CUV_LDP_MAX_ORDER);
  }
}

/* ---- codes ---- */

static const uint8_t *
row_at (const CuvLdpCpu *self, int y)
{
  const int last = self->layout.height - 1;
  const int row = y < 0 ? 0 : y < last ? y : last;

  return self->pixels + (size_t) row * self->stride;
}

/* Computes the signs of row y and of one more pixel on either side. */
static void
find_signs (const CuvLdpCpu *self, Worker *worker, int y)
{
  const int k = self->layout.params.order - 1;
  const uint8_t *rows[CUV_LDP_MAX_ORDER];

  for (int i = 0; i <= k; i++)
    rows[i] = row_at (self, y - i) - 1;
  self->dsp.signs (
      rows, k, self->layout.width + 2, worker->signs[(y + 3) % 3] - 1);
}

/* Computes the codes of n rows from y on. Needs the signs of rows y - 1 and
 * y. */
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
    self->dsp.codes (rows, self->layout.width, codes);
  }
}

/* ---- counts ---- */

/* The part of a block that lies in a band. */
typedef struct {
  const uint8_t *codes;
  size_t stride;
  int width, height;
  const uint8_t *bins; /* bins of codes; NULL: bin = code */
} BlockPart;

/* The hottest loop: one function per count type, with the test of `bins`
 * outside the inner loop. */
#define COUNT(name, type)                                                      \
  static void name (const BlockPart *part, type *histogram)                    \
  {                                                                            \
    const uint8_t *codes = part->codes, *bins = part->bins;                    \
                                                                               \
    for (int y = 0; y < part->height; y++, codes += part->stride) {            \
      for (int x = 0; x < part->width && bins == NULL; x++)                    \
        histogram[codes[x]]++;                                                 \
      for (int x = 0; x < part->width && bins != NULL; x++)                    \
        histogram[bins[codes[x]]]++;                                           \
    }                                                                          \
  }
COUNT (count_16, uint16_t)
COUNT (count_32, uint32_t)
#undef COUNT

/* Counts rows `from` to `from` + n - 1 of a block. */
static void
count_block (
    CuvLdpCpu *self, const Worker *worker, int column, int row, int from, int n)
{
  const CuvLdpLayout *layout = &self->layout;
  const size_t block =
      (size_t) row * (size_t) layout->columns + (size_t) column;
  size_t at = block * (size_t) (layout->n_histograms * layout->n_bins);
  int x[2], y[2];

  cuv_ldp_block (layout, column, row, x, y);
  y[0] = y[0] > from ? y[0] : from;
  y[1] = y[1] < from + n ? y[1] : from + n;
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    const BlockPart part = { worker->codes[d]
          + (size_t) (y[0] - from) * self->stride + x[0],
      self->stride, x[1] - x[0], y[1] - y[0],
      layout->params.bins == CUV_LDP_BINS_256 ? NULL : layout->bin_of_code };

    if ((layout->params.directions >> d & 1) == 0)
      continue;
    if (self->count_size == 2)
      count_16 (&part, (uint16_t *) self->counts + at);
    else
      count_32 (&part, (uint32_t *) self->counts + at);
    at += layout->params.is_merged ? 0 : (size_t) layout->n_bins;
  }
}

static void
clear_counts (CuvLdpCpu *self, int row)
{
  const CuvLdpLayout *layout = &self->layout;
  const size_t n = (size_t) layout->columns
      * (size_t) (layout->n_histograms * layout->n_bins) * self->count_size;

  memset ((uint8_t *) self->counts + (size_t) row * n, 0, n);
}

static void
describe_task (void *data, int worker_index, int row)
{
  CuvLdpCpu *self = data;
  Worker *worker = &self->workers[worker_index];
  int x[2], y[2];

  clear_counts (self, row);
  cuv_ldp_block (&self->layout, 0, row, x, y);
  find_signs (self, worker, y[0] - 1);
  find_signs (self, worker, y[0]);
  for (int from = y[0]; from < y[1]; from += BAND) {
    const int n = y[1] - from < BAND ? y[1] - from : BAND;

    find_codes (self, worker, from, n);
    for (int column = 0; column < self->layout.columns; column++)
      count_block (self, worker, column, row, from, n);
  }
}

static CuvFrame
picture_of (const CuvLdpCpu *self)
{
  return (CuvFrame){ CUV_MODEL_GREY, self->layout.width, self->layout.height, 1,
    { { self->pixels, (int32_t) self->stride, 1, 0, 0 } } };
}

const void *
cuv_ldp_cpu_run (CuvLdpCpu *self, const CuvFrame *frame, const CuvLdpRect *rect,
    int n_threads)
{
  self->frame = *frame;
  self->rect = *rect;
  if (!is_same_size (self) && !prepare_resizing (self, rect->width))
    return NULL;
  cuv_threads_run_workers (n_threads, self->n_workers,
      (self->layout.height + TASK_ROWS - 1) / TASK_ROWS, resize_task, self);
  cuv_threads_run_workers (
      n_threads, self->n_workers, self->layout.rows, describe_task, self);
  if (self->next != NULL) {
    const CuvFrame picture = picture_of (self);
    const CuvLdpRect whole = { 0, 0, picture.width, picture.height };

    if (cuv_ldp_cpu_run (self->next, &picture, &whole, n_threads) == NULL)
      return NULL;
  }
  return self->counts;
}

const void *
cuv_ldp_cpu_run_turned (CuvLdpCpu *self, int orientation, int n_threads)
{
  const CuvFrame picture = picture_of (self);
  const CuvFrame turned = cuv_ldp_turn (&picture, orientation);
  const CuvLdpRect whole = { 0, 0, turned.width, turned.height };

  if (self->turned == NULL)
    self->turned = cuv_ldp_cpu_new (&self->whole);
  return self->turned != NULL
      ? cuv_ldp_cpu_run (self->turned, &turned, &whole, n_threads)
      : NULL;
}

/* ---- drawing ---- */

static void
draw_row (CuvLdpCpu *self, Worker *worker, int y)
{
  const CuvLdpLayout *layout = &self->layout;
  const CuvLdpRect *rect = &self->rect;
  const int margin = cuv_ldp_margin (layout);
  const int v = (int) ((int64_t) y * layout->height / rect->height);
  const bool inside = v >= margin && v < layout->height - margin;

  find_signs (self, worker, v - 1);
  find_signs (self, worker, v);
  find_codes (self, worker, v, 1);
  for (int x = 0; x < rect->width; x++) {
    const int u = (int) ((int64_t) x * layout->width / rect->width);
    const bool counted = inside && u >= margin && u < layout->width - margin;

    cuv_frame_set_grey (&self->frame, rect->x + x, rect->y + y,
        counted ? worker->codes[self->drawn][u] : 0);
  }
}

static void
draw_task (void *data, int worker, int task)
{
  CuvLdpCpu *self = data;
  const int end = (task + 1) * TASK_ROWS;

  for (int y = task * TASK_ROWS; y < end && y < self->rect.height; y++)
    draw_row (self, &self->workers[worker], y);
}

void
cuv_ldp_cpu_draw (CuvLdpCpu *self, int direction, int n_threads)
{
  self->drawn = direction;
  cuv_threads_run_workers (n_threads, self->n_workers,
      (self->rect.height + TASK_ROWS - 1) / TASK_ROWS, draw_task, self);
}
