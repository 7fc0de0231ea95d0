/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What CPU and GPU share of region covariance tracking: features, windows,
 * models of targets, results.
 *
 * O. Tuzel, F. Porikli, P. Meer, Region Covariance: A Fast Descriptor for
 * Detection and Classification, ECCV 2006. */
#ifndef CUV_RCD_TYPES_H
#define CUV_RCD_TYPES_H

#include <stdint.h>

/* ---- features of a pixel, all integers ----
 *
 * Colours are R G B, Y U V (nearest chroma) or three times the grey value, by
 * the frame's model, 0 .. 255 each. Gradients are of Y, or of the grey value of
 * R G B by BT.2020: Sobel's, -1020 .. 1020, and second differences, -510 ..
 * 510, with the frame's border repeated. */
typedef enum {
  CUV_RCD_RGB_GRAD,  /* R G B Ix Iy */
  CUV_RCD_TUZEL9,    /* x y R G B |Ix| |Iy| |Ixx| |Iyy| */
  CUV_RCD_GREY_GRAD, /* I Ix Iy */
} CuvRcdFeatures;

#define CUV_RCD_MAX_FEATURES 9

/* Symmetric matrices are packed: rows of the upper triangle, 0 <= i <= j < n.
 */
#define CUV_RCD_TRIANGLE(n) ((n) * ((n) + 1) / 2)
#define CUV_RCD_MAX_PACKED CUV_RCD_TRIANGLE (CUV_RCD_MAX_FEATURES)

/* Sums over pixels: of n features, then of their packed products. x and y count
 * from the frame's top left pixel, in a match from the window's. */
#define CUV_RCD_SUMS(n) ((n) + CUV_RCD_TRIANGLE (n))
#define CUV_RCD_MAX_SUMS CUV_RCD_SUMS (CUV_RCD_MAX_FEATURES)

typedef enum {
  CUV_RCD_JBLD,     /* log det ((A + B) / 2) - log (det A det B) / 2 */
  CUV_RCD_FORSTNER, /* sqrt (sum ln^2 of the eigenvalues of A^-1 B) */
} CuvRcdMetric;

/* ---- what is searched ---- */

/* Pixels of the frame. */
typedef struct {
  int32_t x, y, width, height;
} CuvRcdBox;

/* What a searcher is made for. */
typedef struct {
  CuvRcdFeatures features;
  CuvRcdMetric metric;
  int32_t width, height; /* of the frame, 1 .. CUV_RCD_MAX_SIZE */
  int32_t cell;          /* pixels: windows begin and end between cells */
  int32_t max_targets;   /* 1 .. CUV_RCD_MAX_TARGETS */
  int32_t max_windows;   /* of a search, over its targets */
  double lambda;         /* added to all variances; 0 = nothing */
} CuvRcdShape;

#define CUV_RCD_MAX_SIZE 16384
#define CUV_RCD_MAX_CELL 32
#define CUV_RCD_MAX_TARGETS 16
#define CUV_RCD_MAX_LEVELS 32

/* The part of the frame's whole cells that a search looks at. */
typedef struct {
  int32_t column, row; /* the first */
  int32_t n_columns, n_rows;
} CuvRcdArea;

/* All windows of one size. Cells of the area. */
typedef struct {
  int32_t columns, rows; /* of a window */
  int32_t x, y;          /* the first window's first cell */
  int32_t n_x, n_y;      /* windows across and down */
  int32_t step;          /* cells from one to the next */
  int32_t first;         /* number of the first window in the search */
} CuvRcdLevel;

/* What is looked for. */
typedef struct {
  double c[CUV_RCD_MAX_PACKED];       /* the covariance, lambda added */
  double inverse[CUV_RCD_MAX_PACKED]; /* FORSTNER: of the Cholesky factor, by
                                         rows of the lower triangle */
  double det;                         /* of c */
  double width, height; /* pixels: x and y of a window are scaled to these */
} CuvRcdModel;

/* One target's part of a search. Windows are numbered level after level, row by
 * row, from first on; the best is that with the least distance, and the first
 * of those. */
typedef struct {
  CuvRcdModel model;
  int32_t first, n_windows;
  int32_t n_levels;
  CuvRcdLevel levels[CUV_RCD_MAX_LEVELS];
} CuvRcdTarget;

typedef struct {
  CuvRcdArea area;
  int32_t n_targets;
  const CuvRcdTarget *targets;
  /* 0, or pixels of the first step of refinement: see rcd.h */
  int32_t refine;
  /* places that are refined, 1 .. CUV_RCD_MAX_PLACES; 0 = 1: the best window,
   * then each time the best of those whose centres lie outside all before. The
   * match is of the place with the least score after refinement, the first of
   * those. */
  int32_t n_places;
} CuvRcdSearch;

#define CUV_RCD_MAX_PLACES 8

/* ---- what is found ---- */

typedef struct {
  int32_t window; /* its number before refinement, -1 = none can be compared */
  int32_t level;
  CuvRcdBox box; /* after refinement */
  double score;  /* of the box; see cuv_rcd_distance() */
  /* before refinement: of the best window whose centre lies outside the best
   * window, or of that where the match is of another place; infinite if there
   * is none */
  double second;
  int64_t sums[CUV_RCD_MAX_SUMS]; /* over the box */
} CuvRcdMatch;

/* ---- refinement ----
 *
 * A round compares windows around a box: CUV_RCD_FINE_STEPS places across and
 * down, spacing pixels apart, in each of CUV_RCD_FINE_SIZES sizes. */
#define CUV_RCD_FINE_STEPS 9
#define CUV_RCD_FINE_SIZES 5
#define CUV_RCD_FINE_WINDOWS                                                   \
  (CUV_RCD_FINE_STEPS * CUV_RCD_FINE_STEPS * CUV_RCD_FINE_SIZES)
#define CUV_RCD_FINE_LINES (2 * CUV_RCD_FINE_STEPS * CUV_RCD_FINE_SIZES)

#endif
