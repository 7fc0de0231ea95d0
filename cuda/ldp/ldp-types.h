/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Local derivative patterns: types shared by CPU and GPU. */
#ifndef CUV_LDP_TYPES_H
#define CUV_LDP_TYPES_H

#include <stdint.h>
#include "cuv-api.h"

enum {
  CUV_LDP_MIN_ORDER = 2,
  CUV_LDP_MAX_ORDER = 9, /* derivatives of order 8 still fit in 16 bits */
  CUV_LDP_DIRECTIONS = 4,
  CUV_LDP_CODES = 256,
  CUV_LDP_UNIFORM_BINS = 59,
  CUV_LDP_MAX_SIZE = 16384,
  CUV_LDP_MAX_SCALES = 8,
  CUV_LDP_MAX_PIXELS = 1 << 25, /* maximum per frame, all regions together */
};

/* Bits of a set of directions along which derivatives are taken, in degrees
 * counter-clockwise: 0 to the right, 90 upwards. */
enum {
  CUV_LDP_0 = 1 << 0,
  CUV_LDP_45 = 1 << 1,
  CUV_LDP_90 = 1 << 2,
  CUV_LDP_135 = 1 << 3,
};

/* How pixels near the border are treated. */
typedef enum {
  CUV_LDP_VALID,     /* a margin of `order` pixels is not counted, so that no
                      * code depends on pixels outside the picture */
  CUV_LDP_REPLICATE, /* border pixels are replicated outside, all are counted */
} CuvLdpBorder;

/* How codes map to histogram bins. */
typedef enum {
  CUV_LDP_BINS_256,     /* one bin per code */
  CUV_LDP_BINS_UNIFORM, /* one bin per code with at most two transitions around
                         * the circle, one for all other codes */
  CUV_LDP_BINS_LEVELS,  /* code c is in bin c * levels / 256 */
} CuvLdpBins;

typedef struct {
  int32_t order;      /* CUV_LDP_MIN_ORDER .. CUV_LDP_MAX_ORDER */
  int32_t block;      /* block width and height in pixels; 0: use grid */
  int32_t grid;       /* blocks across and down if block is 0 */
  int32_t directions; /* set of CUV_LDP_0 ..., not empty */
  int32_t is_merged;  /* boolean: one histogram per block for all directions */
  CuvLdpBorder border;
  CuvLdpBins bins;
  int32_t levels; /* 2 .. 256 */
  int32_t scales; /* number of sizes at which the picture is described: its own,
                   * half of it, a quarter, ...; at most CUV_LDP_MAX_SCALES, 0
                   * means 1 */
} CuvLdpParams;

/* The layout of a picture's descriptor, an array of counts at index (block *
 * n_histograms + histogram) * n_bins + bin: blocks row by row, directions in
 * ascending order; the counts of smaller scales follow. */
typedef struct {
  CuvLdpParams params;
  int32_t width, height; /* size of the picture, pixels */
  int32_t columns, rows; /* numbers of blocks */
  int32_t n_blocks;      /* number of blocks of all scales */
  int32_t n_histograms;  /* histograms per block */
  int32_t n_bins;
  uint8_t bin_of_code[CUV_LDP_CODES];
} CuvLdpLayout;

/* A rectangle of a frame, in pixels. */
typedef struct {
  int32_t x, y, width, height; /* width and height > 0 */
} CuvLdpRect;

/* Packed pictures (cuv_ldp_index_pack()) and the weights of their blocks. The
 * distance of two pictures is the sum, over blocks, of the block's weight times
 * the number of codes outside the intersection of their histograms. It is an
 * integer, so it does not depend on the order of summation, and equal
 * similarities compare equal. */
typedef struct {
  int32_t n_blocks, n_histograms, n_bins;
  int32_t count_size;      /* 1, 2 or 4 */
  const uint64_t *weights; /* weight of each block */
  uint64_t max_distance;   /* distance of two pictures without a common code; 0
                            * if nothing is counted: the similarity is then 0 */
  const uint32_t *totals;  /* codes in each histogram of a block; if 256, a
                            * one-byte count of 255 may stand for 256 */
} CuvLdpPacked;

CUV_HOST_DEVICE double
cuv_ldp_similarity_of_distance (uint64_t max_distance, uint64_t distance)
{
  /* signed integers convert faster; max_distance is at most 2^62 */
  return distance < max_distance ? (double) (int64_t) (max_distance - distance)
          / (double) (int64_t) max_distance
                                 : 0.0;
}

/* Return the step of a direction in pixels; dy counts downwards. */
CUV_HOST_DEVICE int
cuv_ldp_dx (int direction)
{
  return direction == 2 ? 0 : direction == 3 ? -1 : 1;
}

CUV_HOST_DEVICE int
cuv_ldp_dy (int direction)
{
  return direction == 0 ? 0 : -1;
}

/* Returns the width in pixels of the margin that is not counted. */
CUV_HOST_DEVICE int
cuv_ldp_margin (const CuvLdpLayout *self)
{
  return self->params.border == CUV_LDP_VALID ? self->params.order : 0;
}

/* Returns the first pixel of block i of n on an axis of `pixels`; i = n: the
 * end of the axis. block: size of a block, 0: n equal ones. No overflow: pixels
 * and n are at most CUV_LDP_MAX_SIZE. */
CUV_HOST_DEVICE int
cuv_ldp_block_begin (int block, int pixels, int n, int i)
{
  if (block > 0)
    return i < n ? i * block : pixels;
  return (pixels * i + n - 1) / n; /* inverse of x * n / pixels */
}

/* Returns the size in pixels of the largest of n blocks on an axis. */
CUV_HOST_DEVICE int
cuv_ldp_max_block_size (int block, int pixels, int n)
{
  return block == 0 ? (pixels + n - 1) / n : block < pixels ? block : pixels;
}

/* Returns the number of blocks on an axis. block: size of a block, 0: a grid of
 * n. */
CUV_HOST_DEVICE int
cuv_ldp_blocks_of_axis (int block, int n, int pixels)
{
  return block > 0 ? (pixels - 1) / block + 1 : n;
}

/* Returns the number of pixels on an axis at a scale: halved `scale` times. */
CUV_HOST_DEVICE int
cuv_ldp_scaled_size (int pixels, int scale)
{
  return pixels >> scale > 0 ? pixels >> scale : 1;
}

/* Returns one scale of a layout, 0 .. params.scales - 1, as a layout of its
 * own. */
CUV_HOST_DEVICE CuvLdpLayout
cuv_ldp_scale (const CuvLdpLayout *self, int scale)
{
  CuvLdpLayout part = *self;

  part.params.scales = 1;
  part.width = cuv_ldp_scaled_size (self->width, scale);
  part.height = cuv_ldp_scaled_size (self->height, scale);
  part.columns =
      cuv_ldp_blocks_of_axis (part.params.block, part.params.grid, part.width);
  part.rows =
      cuv_ldp_blocks_of_axis (part.params.block, part.params.grid, part.height);
  part.n_blocks = part.columns * part.rows;
  return part;
}

/* Returns the number of bytes per count, 2 or 4, so that no count overflows. */
CUV_HOST_DEVICE int
cuv_ldp_count_size (const CuvLdpLayout *self)
{
  const CuvLdpParams *params = &self->params;
  const int64_t max_count = (int64_t) cuv_ldp_max_block_size (
                                params->block, self->width, self->columns)
      * cuv_ldp_max_block_size (params->block, self->height, self->rows)
      * (params->is_merged ? CUV_LDP_DIRECTIONS : 1);

  return max_count <= 0xffff ? 2 : 4;
}

/* Returns the block that contains pixel x of an axis. */
CUV_HOST_DEVICE int
cuv_ldp_block_at (int block, int pixels, int n, int x)
{
  return block > 0 ? x / block : x * n / pixels;
}

#endif
