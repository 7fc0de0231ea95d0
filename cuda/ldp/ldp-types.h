/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Local derivative patterns: what CPU, GPU, index and tests share. */
#ifndef CUV_LDP_TYPES_H
#define CUV_LDP_TYPES_H

#include <stdint.h>
#include "cuv-api.h"

enum {
  CUV_LDP_MIN_ORDER = 2,
  CUV_LDP_MAX_ORDER = 9, /* up to there derivatives are within 16 bits */
  CUV_LDP_DIRECTIONS = 4,
  CUV_LDP_CODES = 256,
  CUV_LDP_UNIFORM_BINS = 59,
  CUV_LDP_MAX_SIZE = 16384,
  CUV_LDP_MAX_PIXELS = 1 << 25, /* of all that is described of a frame */
};

/* Directions, as bits of a set. Derivatives are taken along them: at 0 degrees
 * to the right, and then counter-clockwise, so at 90 degrees upwards. */
enum {
  CUV_LDP_0 = 1 << 0,
  CUV_LDP_45 = 1 << 1,
  CUV_LDP_90 = 1 << 2,
  CUV_LDP_135 = 1 << 3,
};

/* What becomes of pixels near the border. */
typedef enum {
  CUV_LDP_VALID,     /* `order` on each side are not counted: no code needs any
                      * beyond it */
  CUV_LDP_REPLICATE, /* the picture goes on with its border's pixels */
} CuvLdpBorder;

/* What codes are counted by. */
typedef enum {
  CUV_LDP_BINS_256,     /* each has its bin */
  CUV_LDP_BINS_UNIFORM, /* those of at most two changes around the circle */
  CUV_LDP_BINS_LEVELS,  /* so many of as many codes each, as near as may be */
} CuvLdpBins;

typedef struct {
  int32_t order;      /* CUV_LDP_MIN_ORDER .. CUV_LDP_MAX_ORDER */
  int32_t block;      /* pixels of a block across and down; 0: grid */
  int32_t grid;       /* blocks across and down; the last one if block is 0 */
  int32_t directions; /* a set of them, not empty */
  int32_t is_merged;  /* a boolean: those of a block share one histogram */
  CuvLdpBorder border;
  CuvLdpBins bins;
  int32_t levels; /* 2 .. 256 */
} CuvLdpParams;

/* Histograms of a picture: element ((block * n_histograms) + h) * n_bins + bin,
 * blocks row by row, directions in rising order. */
typedef struct {
  CuvLdpParams params;
  int32_t width, height; /* of the picture */
  int32_t columns, rows; /* of blocks */
  int32_t n_histograms;  /* of a block */
  int32_t n_bins;
  uint8_t bin_of_code[CUV_LDP_CODES];
} CuvLdpShape;

/* A rectangle of a frame, of its pixels. */
typedef struct {
  int32_t x, y, width, height; /* width and height > 0 */
} CuvLdpRect;

/* What packed pictures of a shape are, and what their blocks count for. What
 * two of them lack of being the same is the sum, over blocks, of weight times
 * how many codes their histograms do not have in common: an integer, so that it
 * does not depend on the order of the sum, and what is as much alike ties. */
typedef struct {
  int32_t n_blocks, n_histograms, n_bins;
  int32_t count_size;      /* 1, 2 or 4 */
  const uint64_t *weights; /* of blocks */
  uint64_t whole;          /* what two lack that have nothing in common; 0:
                            * nothing is counted, nothing alike */
  const uint32_t *totals;  /* codes of a histogram; of 256 a byte of 255 may
                            * stand for 256 */
} CuvLdpPacked;

static inline double
cuv_ldp_similarity_of (uint64_t whole, uint64_t lack)
{
  return lack < whole ? (double) (whole - lack) / (double) whole : 0.0;
}

/* The step of a direction: dx and dy, down is positive. */
CUV_BOTH int
cuv_ldp_dx (int direction)
{
  return direction == 2 ? 0 : direction == 3 ? -1 : 1;
}

CUV_BOTH int
cuv_ldp_dy (int direction)
{
  return direction == 0 ? 0 : -1;
}

/* Pixels at each border that are not counted. */
CUV_BOTH int
cuv_ldp_margin (const CuvLdpShape *self)
{
  return self->params.border == CUV_LDP_VALID ? self->params.order : 0;
}

/* Where block i of n begins, of so many pixels. Both are CUV_LDP_MAX_SIZE at
 * most: what is divided is below 2^31. */
CUV_BOTH int
cuv_ldp_edge (int block, int pixels, int n, int i)
{
  if (block > 0)
    return i < n ? i * block : pixels;
  return (pixels * i + n - 1) / n; /* x n / pixels is i */
}

/* Pixels of the longest of n blocks. */
CUV_BOTH int
cuv_ldp_longest (int block, int pixels, int n)
{
  return block == 0 ? (pixels + n - 1) / n : block < pixels ? block : pixels;
}

/* Bytes that all counts fit: 2 or 4. */
CUV_BOTH int
cuv_ldp_count_size (const CuvLdpShape *self)
{
  const CuvLdpParams *params = &self->params;
  const int64_t most =
      (int64_t) cuv_ldp_longest (params->block, self->width, self->columns)
      * cuv_ldp_longest (params->block, self->height, self->rows)
      * (params->is_merged ? CUV_LDP_DIRECTIONS : 1);

  return most <= 0xffff ? 2 : 4;
}

/* The block that pixel `at` is in. */
CUV_BOTH int
cuv_ldp_block_at (int block, int pixels, int n, int at)
{
  return block > 0 ? at / block : at * n / pixels;
}

#endif
