/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What CPU and GPU share of the line detector: parameters, the space of lines,
 * results. */
#ifndef CUV_HOUGH_TYPES_H
#define CUV_HOUGH_TYPES_H

#include <stdint.h>

/* ---- edges ---- */

typedef enum {
  CUV_CANNY_L1, /* |gx| + |gy| */
  CUV_CANNY_L2, /* the square root of gx^2 + gy^2 */
} CuvCannyNorm;

typedef struct {
  int32_t blur; /* 1 = before anything else, by [1 4 6 4 1] both ways */
  CuvCannyNorm norm;
  /* limits of the gradient's norm, 0 .. 2040: above high a pixel is an edge,
   * above low it is one if it is connected to one */
  int32_t low, high;
} CuvCannyParams;

/* ---- lines ---- */

/* Lines x cos (theta) + y sin (theta) = rho, of pixels counted from 0 at the
 * top left. Row k of the accumulator is theta = -90 + k * 180 / period degrees;
 * its column diagonal + r is rho = r * rho_step. The row before the first one
 * is the last one with rho negated, and so on. */
typedef struct {
  int32_t width, height; /* of the frame, up to 16384 */
  int32_t n_theta;       /* rows */
  int32_t period;        /* n_theta, or one less: the last row is the first */
  int32_t diagonal, n_rho;
  double rho_step;
  /* of each row, in units of 2^-16 / rho_step; owned */
  int32_t *cosines, *sines;
} CuvHoughSpace;

/* What a peak is: a cell with more votes than the threshold, and */
typedef enum {
  CUV_PEAKS_ALL,    /* nothing else */
  CUV_PEAKS_CROSS,  /* more than the cells before it in rho and in theta, and no
                     * less than those after it, as OpenCV has it */
  CUV_PEAKS_SQUARE, /* the most of the n x n cells around it; of equal ones the
                     * first, row by row */
} CuvPeakRule;

typedef struct {
  uint32_t threshold;
  CuvPeakRule rule;
  int32_t neighborhood; /* of SQUARE: n, odd */
} CuvPeakParams;

typedef struct {
  int32_t k; /* row: theta */
  int32_t r; /* rho in steps */
  uint32_t votes;
} CuvHoughPeak;

#endif
