/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ldp.h"
#include "ldp/ldp-resize.h"

#include <string.h>

/* ---- shapes ---- */

/* Whether a code changes at most twice between 0 and 1 around the circle. */
static bool
is_uniform (unsigned code)
{
  const unsigned turned = (code << 1 | code >> 7) & 255;

  return __builtin_popcount (code ^ turned) <= 2;
}

/* Uniform codes have a bin each, in their order, and all others the last. */
static void
set_uniform_bins (CuvLdpShape *self)
{
  int n = 0;

  for (unsigned code = 0; code < CUV_LDP_CODES; code++)
    self->bin_of_code[code] =
        (uint8_t) (is_uniform (code) ? n++ : CUV_LDP_UNIFORM_BINS - 1);
  self->n_bins = CUV_LDP_UNIFORM_BINS;
}

static void
set_level_bins (CuvLdpShape *self, int levels)
{
  for (int code = 0; code < CUV_LDP_CODES; code++)
    self->bin_of_code[code] = (uint8_t) (code * levels / CUV_LDP_CODES);
  self->n_bins = levels;
}

static const char *
check (const CuvLdpParams *params, int width, int height)
{
  if (params->order < CUV_LDP_MIN_ORDER || params->order > CUV_LDP_MAX_ORDER)
    return "the order is not 2 to 9";
  if (params->directions <= 0 || params->directions >> CUV_LDP_DIRECTIONS != 0)
    return "there is no direction, or one beyond the four";
  if (params->bins == CUV_LDP_BINS_LEVELS
      && (params->levels < 2 || params->levels > CUV_LDP_CODES))
    return "levels are not 2 to 256";
  if (width < 1 || height < 1 || width > CUV_LDP_MAX_SIZE
      || height > CUV_LDP_MAX_SIZE)
    return "the picture is empty, or has more than 16384 pixels a side";
  if (width * height > CUV_LDP_MAX_PIXELS)
    return "the picture has more than 33554432 pixels";
  if (params->block < 0 || (params->block == 0 && params->grid < 1))
    return "there are no blocks";
  if (params->block == 0 && (params->grid > width || params->grid > height))
    return "the grid has more blocks than the picture has pixels";
  return NULL;
}

const char *
cuv_ldp_shape_init (
    CuvLdpShape *self, const CuvLdpParams *params, int width, int height)
{
  const char *wrong = check (params, width, height);

  if (wrong != NULL)
    return wrong;
  *self = (CuvLdpShape){ .params = *params, .width = width, .height = height };
  self->columns =
      params->block > 0 ? (width - 1) / params->block + 1 : params->grid;
  self->rows =
      params->block > 0 ? (height - 1) / params->block + 1 : params->grid;
  self->n_histograms = params->is_merged
      ? 1
      : __builtin_popcount ((unsigned) params->directions);
  if (params->bins == CUV_LDP_BINS_UNIFORM)
    set_uniform_bins (self);
  else
    set_level_bins (self,
        params->bins == CUV_LDP_BINS_LEVELS ? params->levels : CUV_LDP_CODES);
  return NULL;
}

size_t
cuv_ldp_n_counts (const CuvLdpShape *self)
{
  return (size_t) self->columns * (size_t) self->rows
      * (size_t) self->n_histograms * (size_t) self->n_bins;
}

/* Of so many pixels those that block i of n counts. */
static void
cut (const CuvLdpShape *self, int pixels, int n, int i, int span[2])
{
  const int margin = cuv_ldp_margin (self);
  const int from = cuv_ldp_edge (self->params.block, pixels, n, i);
  const int to = cuv_ldp_edge (self->params.block, pixels, n, i + 1);

  span[0] = from > margin ? from : margin;
  span[1] = to < pixels - margin ? to : pixels - margin;
  if (span[1] < span[0])
    span[1] = span[0];
}

void
cuv_ldp_block (const CuvLdpShape *self, int column, int row, int x[2], int y[2])
{
  cut (self, self->width, self->columns, column, x);
  cut (self, self->height, self->rows, row, y);
}

uint32_t
cuv_ldp_total (const CuvLdpShape *self, int column, int row)
{
  const int n = __builtin_popcount ((unsigned) self->params.directions);
  int x[2], y[2];

  cuv_ldp_block (self, column, row, x, y);
  return (uint32_t) ((x[1] - x[0]) * (y[1] - y[0]))
      * (uint32_t) (self->params.is_merged ? n : 1);
}

/* ---- pictures ---- */

void
cuv_ldp_picture_row (const CuvFrame *frame, const CuvLdpRect *rect, int width,
    int height, int y, uint8_t *row)
{
  for (int x = 0; x < width; x++)
    row[x] = cuv_ldp_pixel (frame, rect, width, height, x, y);
}

void
cuv_ldp_picture (const CuvFrame *frame, const CuvLdpRect *rect, int width,
    int height, uint8_t *picture)
{
  for (int y = 0; y < height; y++)
    cuv_ldp_picture_row (
        frame, rect, width, height, y, picture + (size_t) y * (size_t) width);
}

/* ---- histograms ---- */

/* Of a block, in one direction. */
static void
count_block (const CuvLdpShape *self, const uint8_t *picture, int direction,
    int column, int row, uint32_t *histogram)
{
  int x[2], y[2];

  cuv_ldp_block (self, column, row, x, y);
  for (int v = y[0]; v < y[1]; v++) {
    for (int u = x[0]; u < x[1]; u++)
      histogram[self->bin_of_code[cuv_ldp_code (picture, self->width,
          self->height, self->params.order, direction, u, v)]]++;
  }
}

void
cuv_ldp_draw (const CuvFrame *frame, const CuvLdpRect *rect,
    const CuvLdpShape *shape, const uint8_t *picture, int direction)
{
  for (int y = 0; y < rect->height; y++) {
    for (int x = 0; x < rect->width; x++)
      cuv_frame_set_grey (frame, rect->x + x, rect->y + y,
          cuv_ldp_drawn (shape, picture, direction,
              (int) ((int64_t) x * shape->width / rect->width),
              (int) ((int64_t) y * shape->height / rect->height)));
  }
}

void
cuv_ldp_describe (
    const CuvLdpShape *self, const uint8_t *picture, uint32_t *counts)
{
  const size_t step = self->params.is_merged ? 0 : (size_t) self->n_bins;

  memset (counts, 0, cuv_ldp_n_counts (self) * sizeof *counts);
  for (int row = 0; row < self->rows; row++) {
    for (int column = 0; column < self->columns; column++) {
      uint32_t *histogram = counts;

      for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
        if ((self->params.directions >> d & 1) == 0)
          continue;
        count_block (self, picture, d, column, row, histogram);
        histogram += step;
      }
      counts += self->n_histograms * self->n_bins;
    }
  }
}

void
cuv_ldp_widen (const CuvLdpShape *shape, const void *counts, uint32_t *wide)
{
  const size_t n = cuv_ldp_n_counts (shape);
  const uint8_t *from = counts;
  uint16_t count;

  if (cuv_ldp_count_size (shape) == sizeof *wide) {
    memcpy (wide, counts, n * sizeof *wide);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    memcpy (&count, from + i * sizeof count, sizeof count);
    wide[i] = count;
  }
}

/* ---- likeness ---- */

/* Of two histograms of so many codes. */
static double
intersect (const uint32_t *a, uint32_t total_a, const uint32_t *b,
    uint32_t total_b, int n)
{
  uint64_t sum = 0; /* totals are 2^30 at most */

  for (int i = 0; i < n; i++) {
    const uint64_t share_a = (uint64_t) a[i] * total_b;
    const uint64_t share_b = (uint64_t) b[i] * total_a;

    sum += share_a < share_b ? share_a : share_b;
  }
  return (double) sum / ((double) total_a * (double) total_b);
}

double
cuv_ldp_similarity (const CuvLdpShape *a, const uint32_t *counts_a,
    const CuvLdpShape *b, const uint32_t *counts_b)
{
  double sum = 0.0;
  int n = 0;

  for (int block = 0; block < a->columns * a->rows; block++) {
    const int column = block % a->columns, row = block / a->columns;
    const uint32_t total_a = cuv_ldp_total (a, column, row);
    const uint32_t total_b = cuv_ldp_total (b, column, row);

    for (int h = 0; h < a->n_histograms; h++) {
      if (total_a > 0 && total_b > 0) {
        sum += intersect (counts_a, total_a, counts_b, total_b, a->n_bins);
        n++;
      }
      counts_a += a->n_bins;
      counts_b += b->n_bins;
    }
  }
  return n > 0 ? sum / n : 0.0;
}
