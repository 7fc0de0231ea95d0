/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inner loops of the line detector as a function table: C, overwritten by
 * the SIMD functions that the CPU supports. */
#ifndef CUV_HOUGH_DSP_H
#define CUV_HOUGH_DSP_H

#include "hough.h"

/* States of a pixel during hysteresis. */
enum { CUV_HOUGH_PIXEL_NONE, CUV_HOUGH_PIXEL_WEAK, CUV_HOUGH_PIXEL_EDGE };

/* Number of elements that rows have room for beyond the frame's width. */
#define CUV_HOUGH_ROW_PADDING 32

typedef struct {
  int16_t *gx, *gy;
  int16_t *l1; /* norms, with CUV_CANNY_L1 */
  int32_t *l2; /* squared norms, with CUV_CANNY_L2 */
} CuvGradientRow;

/* Two rows of similar directions. A pixel's cells in both differ by a number
 * that changes slowly along their lines, so a table with a count for each cell
 * of the first row and each difference is small. A pixel adds one to a count;
 * later the count is added to a cell of each row. */
typedef struct {
  /* Cells are shifted so that the first cell of the first row and the minimum
   * difference are 0; all cells are below 2^15. */
  CuvHoughRow rows[2];
  int base[2];               /* the cells of the table's first count */
  int n_differences, stride; /* the table's rows, and the length of each */
} CuvHoughPair;

/* Returns the count that a pixel votes for: an index into the table. */
static inline int32_t
cuv_hough_pair_index (const CuvHoughPair *pair, int x, int y)
{
  int32_t a = cuv_hough_cell (&pair->rows[0], x, y);
  int32_t b = cuv_hough_cell (&pair->rows[1], x, y);

  return a + (b - a) * pair->stride;
}

/* An edge map, row by row or column by column, and the cells of its pixels:
 * pixel v of such a line is in cell (line * step + v * d + offset) >> 16. */
typedef struct {
  const uint8_t *map;
  int n_lines, n; /* n: pixels of a line */
  int32_t step, d, offset;
  int radius; /* cells are -radius .. radius */
} CuvGather;

enum { CUV_HOUGH_N_LANES = 8 };

typedef struct {
  /* Computes the luma of row y of the frame. */
  void (*grey) (const CuvFrame *frame, int y, uint8_t *out);
  /* Convolves a row, padded by two pixels on either side, with [1 4 6 4 1]. */
  void (*blur_across) (const uint8_t *row, int width, uint16_t *out);
  /* Convolves five rows vertically with [1 4 6 4 1], and rounds to 8 bits. */
  void (*blur_down) (const uint16_t *const rows[5], int width, uint8_t *out);
  /* Computes Sobel gradients of rows[1]; scratch has room for two padded
   * rows. */
  void (*gradients) (const uint8_t *const rows[3], int width, CuvCannyNorm norm,
      int16_t *scratch, const CuvGradientRow *out);
  /* Suppresses non-maxima of rows[1]: sets the state of all pixels but the
   * first and the last one. */
  void (*suppress) (const CuvGradientRow *const rows[3], int width,
      const CuvCannyParams *params, uint8_t *out);
  /* Finds the first edge of rows[1] from x > 0 on that has a weak neighbour;
   * returns `end`, which comes before the last pixel, if there is none. */
  int (*find_seed) (const uint8_t *const rows[3], int x, int end);
  /* Lists the edge pixels of a row as first + x, in any order, and converts
   * states to 255 or 0; pixels has room for width. Returns the number of
   * edges. */
  size_t (*list) (uint8_t *row, int width, uint32_t first, uint32_t *pixels);
  /* Computes the orientation bins of n gradients. */
  void (*bin) (const CuvHoughLayout *layout, const int16_t *gx,
      const int16_t *gy, int n, uint16_t *bins);
  /* Counts the votes of n edges for a row; middle[r] is its cell r. */
  void (*vote) (const CuvHoughRow *row, const uint32_t *pixels, size_t n,
      uint32_t *middle);
  /* Counts the votes of n edges in the table of a pair. */
  void (*vote_pair) (const CuvHoughPair *pair, const uint32_t *pixels, size_t n,
      uint32_t *table);
  /* Adds n counts to the cells of both rows, and clears the counts. */
  void (*add_counts) (uint32_t *counts, int n, uint32_t *a, uint32_t *b);
  /* Adds map pixels, 255 as 1, to cells. lanes has room for CUV_HOUGH_N_LANES
   * rows of cells plus CUV_HOUGH_ROW_PADDING, and is 0 before and after. */
  void (*gather) (const CuvGather *work, uint8_t *lanes, uint32_t *middle);
  /* Lists the cells above a threshold; found has room for n. Returns their
   * number. */
  int (*find_cells) (
      const uint32_t *cells, int n, uint32_t threshold, int32_t *found);
  /* Percentage of edges among pixels above which gathering is faster than
   * voting; measured in docs/benchmarks/hough.md, "The methods". */
  int gather_threshold;
} CuvHoughDsp;

void cuv_hough_dsp_init (CuvHoughDsp *self);
void cuv_hough_dsp_init_avx2 (CuvHoughDsp *self);

#endif
