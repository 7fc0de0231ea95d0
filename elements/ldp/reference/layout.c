/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layout of a descriptor: its histograms, and the pixels that each counts. */
#include "ldp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *
cuv_ldp_problem (const char *format, ...)
{
  static _Thread_local char text[300];
  va_list args;

  va_start (args, format);
  vsnprintf (text, sizeof text, format, args);
  va_end (args);
  return text;
}

/* Whether the bits change at most twice around the circle. */
static bool
is_uniform (unsigned code)
{
  const unsigned rotated = (code << 1 | code >> 7) & 255;

  return __builtin_popcount (code ^ rotated) <= 2;
}

/* Assigns a bin to each uniform code, in ascending order, and the last bin to
 * all others. */
static void
set_uniform_bins (CuvLdpLayout *self)
{
  int n = 0;

  for (unsigned code = 0; code < CUV_LDP_CODES; code++)
    self->bin_of_code[code] =
        (uint8_t) (is_uniform (code) ? n++ : CUV_LDP_UNIFORM_BINS - 1);
  self->n_bins = CUV_LDP_UNIFORM_BINS;
}

static void
set_level_bins (CuvLdpLayout *self, int levels)
{
  for (int code = 0; code < CUV_LDP_CODES; code++)
    self->bin_of_code[code] = (uint8_t) (code * levels / CUV_LDP_CODES);
  self->n_bins = levels;
}

/* Checks that the smallest scale has at least as many pixels as blocks. */
static const char *
check_scales (const CuvLdpParams *params, int width, int height)
{
  const int last = params->scales > 1 ? params->scales - 1 : 0;

  if (params->scales < 0 || params->scales > CUV_LDP_MAX_SCALES)
    return cuv_ldp_problem ("scales is %d, but must be 1 to %d", params->scales,
        CUV_LDP_MAX_SCALES);
  width = cuv_ldp_scaled_size (width, last);
  height = cuv_ldp_scaled_size (height, last);
  if (params->block == 0 && (params->grid > width || params->grid > height))
    return cuv_ldp_problem (
        "grid %d exceeds the width or height of the picture, %dx%d pixels%s: "
        "lower grid%s, or raise descriptor-width and descriptor-height",
        params->grid, width, height, last > 0 ? " at the smallest scale" : "",
        last > 0 ? " or scales" : "");
  return NULL;
}

/* Returns NULL, or the problem. */
static const char *
ldp_check_params (const CuvLdpParams *params, int width, int height)
{
  if (params->order < CUV_LDP_MIN_ORDER || params->order > CUV_LDP_MAX_ORDER)
    return cuv_ldp_problem ("order is %d, but must be %d to %d", params->order,
        CUV_LDP_MIN_ORDER, CUV_LDP_MAX_ORDER);
  if (params->directions == 0)
    return "directions is empty: set one or more, for example 0+90";
  if (params->directions >> CUV_LDP_DIRECTIONS != 0)
    return cuv_ldp_problem ("directions has the value 0x%x: set it to a "
                            "combination of 0, 45, 90 and 135 degrees",
        (unsigned) params->directions);
  if (params->bins == CUV_LDP_BINS_LEVELS
      && (params->levels < 2 || params->levels > CUV_LDP_CODES))
    return cuv_ldp_problem (
        "levels is %d, but must be 2 to %d", params->levels, CUV_LDP_CODES);
  if (width < 1 || height < 1 || width > CUV_LDP_MAX_SIZE
      || height > CUV_LDP_MAX_SIZE || width * height > CUV_LDP_MAX_PIXELS)
    return cuv_ldp_problem (
        "%dx%d pixels cannot be described: descriptor-width and "
        "descriptor-height must be 1 to %d each, and at most %d pixels in all",
        width, height, CUV_LDP_MAX_SIZE, CUV_LDP_MAX_PIXELS);
  if (params->block < 0 || (params->block == 0 && params->grid < 1))
    return cuv_ldp_problem ("block is %d and grid is %d: set block above 0, or "
                            "block to 0 and grid above 0",
        params->block, params->grid);
  return check_scales (params, width, height);
}

static void
set_blocks (CuvLdpLayout *self)
{
  const CuvLdpLayout first = cuv_ldp_scale (self, 0);

  self->columns = first.columns;
  self->rows = first.rows;
  for (int s = 0; s < self->params.scales; s++)
    self->n_blocks += cuv_ldp_scale (self, s).n_blocks;
}

const char *
cuv_ldp_layout_init (
    CuvLdpLayout *self, const CuvLdpParams *params, int width, int height)
{
  const char *problem = ldp_check_params (params, width, height);

  if (problem != NULL)
    return problem;
  *self = (CuvLdpLayout){ .params = *params, .width = width, .height = height };
  self->params.is_merged = params->is_merged != 0;
  if (params->block > 0)
    self->params.grid = 0;
  if (params->bins != CUV_LDP_BINS_LEVELS)
    self->params.levels = 0;
  if (params->scales < 1)
    self->params.scales = 1;
  set_blocks (self);
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
cuv_ldp_n_counts (const CuvLdpLayout *self)
{
  return (size_t) self->n_blocks * (size_t) self->n_histograms
      * (size_t) self->n_bins;
}

/* Finds the counted pixels of block i of n on an axis: span[0] to span[1] -
 * 1. */
static void
find_counted (const CuvLdpLayout *self, int pixels, int n, int i, int span[2])
{
  const int margin = cuv_ldp_margin (self);
  const int from = cuv_ldp_block_begin (self->params.block, pixels, n, i);
  const int to = cuv_ldp_block_begin (self->params.block, pixels, n, i + 1);

  span[0] = from > margin ? from : margin;
  span[1] = to < pixels - margin ? to : pixels - margin;
  if (span[1] < span[0])
    span[1] = span[0];
}

void
cuv_ldp_block (
    const CuvLdpLayout *self, int column, int row, int x[2], int y[2])
{
  find_counted (self, self->width, self->columns, column, x);
  find_counted (self, self->height, self->rows, row, y);
}

uint32_t
cuv_ldp_total (const CuvLdpLayout *self, int column, int row)
{
  const int n = __builtin_popcount ((unsigned) self->params.directions);
  int x[2], y[2];

  cuv_ldp_block (self, column, row, x, y);
  return (uint32_t) ((x[1] - x[0]) * (y[1] - y[0]))
      * (uint32_t) (self->params.is_merged ? n : 1);
}

void
cuv_ldp_convert_counts (
    const CuvLdpLayout *layout, const void *counts, uint32_t *to)
{
  const size_t n = cuv_ldp_n_counts (layout);
  const uint8_t *from = counts;
  uint16_t count;

  if (cuv_ldp_count_size (layout) == sizeof *to) {
    memcpy (to, counts, n * sizeof *to);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    memcpy (&count, from + i * sizeof count, sizeof count);
    to[i] = count;
  }
}
