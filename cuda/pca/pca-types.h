/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components of a cube's pixels: types shared by CPU and GPU.
 *
 * For each frame, the samples of the selected bands (CuvPcaBands) and their
 * products are summed over the pixels (CuvPcaSum). The sums give mean and
 * covariance, which are averaged over frames (CuvPcaLearning); their
 * eigenvectors are the principal components (CuvPcaBasis). Up to three
 * components of each pixel are shown as R, G, B (CuvPcaDisplay). */
#ifndef CUV_PCA_TYPES_H
#define CUV_PCA_TYPES_H

#include <stdint.h>
#include "cuv-cube.h"

/* Bands to analyse. Pixels that have the value `ignore`, NaN or infinity in one
 * of them are excluded. */
typedef struct {
  int32_t n;                         /* 1 .. CUV_CUBE_MAX_BANDS */
  int32_t index[CUV_CUBE_MAX_BANDS]; /* ascending, 0 .. bands - 1 */
  int32_t has_ignore;                /* boolean */
  double ignore;
} CuvPcaBands;

/* A sum over valid pixels: an exact integer i for integer cubes; a double d, of
 * differences from pivots, for float cubes. */
typedef union {
  int64_t i;
  double d;
} CuvPcaSum;

/* The sums of a frame with n bands are a matrix of CUV_PCA_SUMS (n) elements,
 * [i][j] at i * CUV_PCA_STRIDE (n) + j. With the samples s_i of band i over all
 * valid pixels, for i <= j < n:
 *
 *   [i][j]  sum of s_i s_j
 *   [i][n]  sum of s_i
 *   [n][n]  number of pixels
 *   [n][i]  float cubes only: the band's pivot p_i. The sums are then over
 *           s_i - p_i, rounded to float, which limits cancellation.
 *
 * Other elements are unused. */
#define CUV_PCA_STRIDE(n) (((n) + 6) & ~3)
#define CUV_PCA_SUMS(n) (CUV_PCA_STRIDE (n) * CUV_PCA_STRIDE (n))

/* Pivots are estimated from this number of evenly spaced pixels. */
enum { CUV_PCA_PIVOT_PIXELS = 64 };

/* Float sums are added in this order, so that every CPU returns the same bits
 * (those of a GPU differ, see pca.h): pixels, row by row, form tiles of
 * CUV_PCA_TILE, and tiles form up to CUV_PCA_CHUNKS chunks of equal size. In a
 * tile pixel i is added to lane i % CUV_PCA_LANES; then lanes as (0 + 1) + (2 +
 * 3), tiles to their chunk, chunks to the sum. */
enum { CUV_PCA_TILE = 128, CUV_PCA_CHUNKS = 64, CUV_PCA_LANES = 4 };

/* The matrix whose eigenvectors are the components; s: the samples of a pixel,
 * mu: the mean of s. */
typedef enum {
  CUV_PCA_SECOND_MOMENTS, /* R = mean of s s^T */
  CUV_PCA_COVARIANCE,     /* C = R - mu mu^T */
  CUV_PCA_PEARSON,        /* C, each band divided by its standard deviation */
} CuvPcaMode;

/* The components that a frame is projected onto. */
typedef enum {
  CUV_PCA_EXACT,  /* its own: two passes over its pixels */
  CUV_PCA_LAGGED, /* those of the previous frame: one pass */
} CuvPcaTiming;

/* How components are matched to those of the previous frame; their order and
 * signs are arbitrary. */
typedef enum {
  CUV_PCA_FREE, /* sorted by eigenvalue, largest element positive */
  CUV_PCA_SIGN, /* order and sign of the most similar previous components */
  CUV_PCA_PROCRUSTES, /* as SIGN; then components of close eigenvalues are
                       * rotated towards the previous ones */
} CuvPcaStabilise;

/* The values of a component that are shown as black and white. */
typedef enum {
  CUV_PCA_SIGMA,      /* mean - and + sigmas standard deviations */
  CUV_PCA_RANGE,      /* fixed ones */
  CUV_PCA_PERCENTILE, /* two percentiles of the frame */
} CuvPcaMapping;

enum { CUV_PCA_SHOWN = 3 }; /* components in a picture: R, G, B */

/* Percentiles come from a histogram of CUV_PCA_BINS bins over +- CUV_PCA_REACH
 * standard deviations. */
enum { CUV_PCA_BINS = 4096, CUV_PCA_REACH = 6 };

/* How the basis is updated. */
typedef struct {
  CuvPcaMode mode;
  CuvPcaStabilise stabilise;
  double smoothing; /* weight of a new frame in the averages, 0 < a <= 1 */
} CuvPcaLearning;

/* How components are shown. */
typedef struct {
  int32_t component[CUV_PCA_SHOWN]; /* for R, G, B, from 1; 0: black */
  CuvPcaMapping mapping;
  double sigmas;     /* SIGMA: > 0 */
  double range[2];   /* RANGE: values shown black and white; they differ */
  double percentile; /* PERCENTILE: 0 .. 49, percent of pixels clipped at each
                      * end */
} CuvPcaDisplay;

/* Orthonormal components, the rows of vectors. The arrays are adjacent in
 * memory, in this order. Component k of a pixel s is
 * y = sum of vectors[k][b] / deviation[b] * (s_b - mean_b) over bands b; with
 * SECOND_MOMENTS, s_b alone in place of the difference. */
typedef struct {
  int32_t n; /* number of bands, and of components */
  CuvPcaMode mode;
  int32_t is_known; /* boolean: computed from a frame or set */
  double *mean;     /* n: of each band */
  /* n: standard deviations of bands with PEARSON (0: no variance), otherwise 1
   */
  double *deviation;
  double *values;  /* n eigenvalues: second moments of y, >= 0 */
  double *vectors; /* n x n, row by row */
} CuvPcaBasis;

/* Parameters that may change from frame to frame. */
typedef struct {
  CuvPcaLearning learning;
  CuvPcaDisplay display;
  CuvPcaTiming timing;
  int32_t is_frozen; /* boolean: no update once a basis is known */
} CuvPcaParams;

/* Outcome of updating the basis by a frame. */
typedef struct {
  int32_t is_cut; /* boolean: scene cut, history was discarded */
  int32_t sweeps; /* sweeps of Jacobi rotations */
} CuvPcaUpdate;

/* Statistics of a frame. */
typedef struct {
  int64_t pixels, left_out; /* valid and excluded */
  CuvPcaUpdate update;
  /* durations in microseconds; LAGGED: sums_us is that of the only pass */
  float sums_us, basis_us, picture_us;
} CuvPcaResult;

#endif
