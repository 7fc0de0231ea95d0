/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components of a cube's pixels: what CPU, GPU and tests share. */
#ifndef CUV_PCA_TYPES_H
#define CUV_PCA_TYPES_H

#include <stdint.h>
#include "cuv-cube.h"

/* The samples that count: these bands of a cube, and of its pixels those that
 * have no sample of the value ignore there, and no NaN or infinity. */
typedef struct {
  int32_t n;                         /* 1 .. CUV_CUBE_MAX_BANDS */
  int32_t index[CUV_CUBE_MAX_BANDS]; /* rising, 0 .. bands - 1 */
  int32_t has_ignore;
  double ignore;
} CuvPcaBands;

/* Sums over the pixels that count: of an integer cube exact, as integers, of a
 * float cube in double, about pivots. */
typedef union {
  int64_t i;
  double d;
} CuvPcaSum;

/* They are a square matrix of n bands and, as the last, a band that is 1
 * everywhere: element [i][j], i <= j, at i * CUV_PCA_STRIDE (n) + j, is the sum
 * of s_i s_j. So [i][n] is the sum of s_i, and [n][n] how many pixels count.
 * Of floats s_i - p_i, rounded to float, is in the place of s_i, and p_i, the
 * band's pivot, at [n][i]. Other elements mean nothing. */
#define CUV_PCA_STRIDE(n) (((n) + 6) & ~3)
#define CUV_PCA_SUMS(n) (CUV_PCA_STRIDE (n) * CUV_PCA_STRIDE (n))

/* Pivots are found from so many pixels, spread evenly. */
enum { CUV_PCA_PIVOT_PIXELS = 64 };

/* The order that sums of floats are made in, so that they are the same bits
 * on every CPU; a GPU has its own, and they differ by 1e-12 at most: pixels row
 * by row are tiles of CUV_PCA_TILE, tiles are in up to CUV_PCA_CHUNKS chunks of
 * as many each. In a tile pixel i adds to lane i % 4; the lanes are added as (0
 * + 1) + (2 + 3), tiles one after the other to their chunk, and chunks one
 * after the other. */
enum { CUV_PCA_TILE = 128, CUV_PCA_CHUNKS = 64, CUV_PCA_LANES = 4 };

typedef enum {
  CUV_PCA_CORRELATION, /* R = mean of s s^T */
  CUV_PCA_COVARIANCE,  /* C = R - mu mu^T */
  CUV_PCA_PEARSON,     /* C, each band divided by its deviation */
} CuvPcaMode;

typedef enum {
  CUV_PCA_EXACT,  /* a frame is shown by its own components */
  CUV_PCA_LAGGED, /* by those of the frame before: read once */
} CuvPcaTiming;

typedef enum {
  CUV_PCA_FREE, /* by eigenvalue, largest component positive */
  CUV_PCA_SIGN, /* each where the one most like it was, not turned round */
  CUV_PCA_PROCRUSTES, /* and those of near eigenvalues turned to those before */
} CuvPcaStabilise;

typedef enum {
  CUV_PCA_SIGMA,      /* mean +- sigmas deviations */
  CUV_PCA_RANGE,      /* a fixed range of values */
  CUV_PCA_PERCENTILE, /* from one percentile of the frame to another */
} CuvPcaMapping;

enum { CUV_PCA_SHOWN = 3 };

/* Percentiles come from so many bins over +- CUV_PCA_REACH deviations. */
enum { CUV_PCA_BINS = 4096, CUV_PCA_REACH = 6 };

typedef struct {
  CuvPcaMode mode;
  CuvPcaStabilise stabilise;
  double smoothing; /* 0 < a <= 1: a frame's share of what is known; 1: all */
} CuvPcaLearning;

typedef struct {
  int32_t component[CUV_PCA_SHOWN]; /* for R, G, B: from 1 on; 0: black */
  CuvPcaMapping mapping;
  double sigmas;     /* > 0 */
  double range[2];   /* values that are black and white, different */
  double percentile; /* 0 .. 49: so many percent are black, and white */
} CuvPcaDisplay;

/* Components, one a row of vectors: orthonormal. Component k of a pixel s is
 * y = sum of vectors[k][b] / deviation[b] * (s_b - mean_b), of a correlation
 * without the mean. */
typedef struct {
  int32_t n;
  CuvPcaMode mode;
  int32_t is_known;         /* a boolean */
  double *mean, *deviation; /* 1 unless pearson; 0: the band has no variance */
  double *values;           /* second moment of y: not below 0 */
  double *vectors;          /* n x n */
} CuvPcaBasis;

typedef struct {
  CuvPcaLearning learning;
  CuvPcaDisplay display;
  CuvPcaTiming timing;
  int32_t is_frozen; /* a boolean: learn no more, once something is known */
} CuvPcaParams;

/* What learning from a frame was like. */
typedef struct {
  int32_t is_cut; /* a boolean: another scene: what was known is forgotten */
  int32_t sweeps;
} CuvPcaLesson;

typedef struct {
  int64_t pixels, left_out; /* that count, and that do not */
  CuvPcaLesson lesson;
  float sums_us, basis_us, picture_us; /* lagged: all of it is sums */
} CuvPcaResult;

#endif
