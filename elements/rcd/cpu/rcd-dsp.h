/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inner loops of a search as a function table: C, or AVX2 where the CPU
 * supports it. All versions return the same bits. */
#ifndef CUV_RCD_DSP_H
#define CUV_RCD_DSP_H

#include "rcd.h"

/* Features are computed for a block of pixels at a time and summed over its
 * tiles. A tile is a cell, or part of one. */
enum {
  CUV_RCD_BLOCK_WIDTH = 320,
  CUV_RCD_BLOCK_HEIGHT = 32,
  CUV_RCD_TILE_WIDTH = 64,
  CUV_RCD_PADDING = 16, /* samples that may be read beyond the end of a row */
};

_Static_assert(
    CUV_RCD_TILE_WIDTH *CUV_RCD_BLOCK_HEIGHT <= INT32_MAX / (1020 * 1020),
    "a tile's sums of products overflow 32 bits");

/* n features of width x height pixels, a plane each; CUV_RCD_PADDING samples
 * after a row are readable. pitch in samples; 0 if all rows are equal. */
typedef struct {
  int n, width, height;
  const int16_t *z[CUV_RCD_MAX_FEATURES];
  ptrdiff_t pitch[CUV_RCD_MAX_FEATURES];
} CuvRcdTile;

/* Windows of one size side by side, and the model to compare them with. */
typedef struct {
  const CuvRcdModel *model;
  CuvRcdMetric metric;
  int n; /* number of features */
  double lambda;
  /* rows of integrals at the top and bottom edges */
  const int64_t *upper, *lower;
  int32_t y, width, height; /* pixels */
} CuvRcdWindowRow;

typedef struct {
  int32_t x;           /* the window's left pixel */
  int32_t left, right; /* offsets of its edges in a row of integrals */
} CuvRcdWindowEdges;

typedef struct CuvRcdDsp {
  /* Writes n samples of a component from pixel (x, y) on; subsampled ones are
   * repeated. */
  void (*samples) (const CuvComponent *c, int x, int y, int n, int16_t *out);
  /* Computes the BT.2020 luma of n pixels. */
  void (*grey) (const int16_t *const rgb[3], int n, int16_t *out);
  /* Computes Sobel's Ix and Iy of n pixels of rows[1]; rows are valid from -1
   * to n. */
  void (*gradients) (
      const int16_t *const rows[3], int n, int16_t *ix, int16_t *iy);
  /* Computes |Ix| |Iy| |Ixx| |Iyy| of these pixels. */
  void (*abs_derivatives) (
      const int16_t *const rows[3], int n, int16_t *const out[4]);
  /* Computes CUV_RCD_SUMS (n) sums over a tile. */
  void (*sums) (const CuvRcdTile *tile, int32_t *sums);
  /* Computes cuv_rcd_score() of n_windows windows of a row. */
  void (*score) (const CuvRcdWindowRow *row, const CuvRcdWindowEdges *edges,
      int n_windows, double *scores);
} CuvRcdDsp;

void cuv_rcd_dsp_init (CuvRcdDsp *self);

/* defined in cpu/x86 */
void cuv_rcd_dsp_init_avx2 (CuvRcdDsp *self);
void cuv_rcd_sums_avx2 (const CuvRcdTile *tile, int32_t *sums);

#endif
