/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of region covariance tracking that the CPU and the GPU share: features,
 * windows, models of targets, matches.
 *
 * O. Tuzel, F. Porikli, P. Meer, Region Covariance: A Fast Descriptor for
 * Detection and Classification, ECCV 2006. */
#ifndef CUV_RCD_TYPES_H
#define CUV_RCD_TYPES_H

#include <stdint.h>

/* ---- features of a pixel, all integers ----
 *
 * Colours, 0 .. 255: R G B, Y U V (nearest chroma sample) or three times the
 * grey value, according to the frame's model. Gradients of the grey value (Y,
 * or the BT.2020 luma of R G B), with the frame's border repeated: Ix, Iy by
 * Sobel, -1020 .. 1020; Ixx, Iyy second differences, -510 .. 510. */
typedef enum {
  CUV_RCD_RGB_GRAD,  /* R G B Ix Iy */
  CUV_RCD_TUZEL9,    /* x y R G B |Ix| |Iy| |Ixx| |Iyy| */
  CUV_RCD_GREY_GRAD, /* I Ix Iy */
} CuvRcdFeatures;

#define CUV_RCD_N_FEATURES(features)                                           \
  ((features) == CUV_RCD_TUZEL9 ? 9 : (features) == CUV_RCD_RGB_GRAD ? 5 : 3)
#define CUV_RCD_MAX_FEATURES 9

/* Symmetric matrices are packed: the upper triangle, row by row. */
#define CUV_RCD_TRIANGLE(n) ((n) * ((n) + 1) / 2)
#define CUV_RCD_MAX_PACKED CUV_RCD_TRIANGLE (CUV_RCD_MAX_FEATURES)

/* Sums over pixels: n sums of features, then the packed sums of their products.
 * x and y count from the frame's top left pixel, or from the window's in a
 * match. */
#define CUV_RCD_SUMS(n) ((n) + CUV_RCD_TRIANGLE (n))
#define CUV_RCD_MAX_SUMS CUV_RCD_SUMS (CUV_RCD_MAX_FEATURES)

typedef enum {
  CUV_RCD_JBLD,     /* log det ((A + B) / 2) - log (det A det B) / 2 */
  CUV_RCD_FORSTNER, /* sqrt (sum ln^2 of the eigenvalues of A^-1 B) */
} CuvRcdMetric;

/* ---- a search ---- */

/* A rectangle in pixels of the frame; (x, y) is its top left pixel. */
typedef struct {
  int32_t x, y, width, height;
} CuvRcdBox;

/* The settings for which a search object is allocated. */
typedef struct {
  CuvRcdFeatures features;
  CuvRcdMetric metric;
  int32_t width, height; /* size of the frame, 1 .. CUV_RCD_MAX_SIZE */
  int32_t cell; /* side of a cell, pixels; windows consist of whole cells */
  int32_t max_targets; /* 1 .. CUV_RCD_MAX_TARGETS */
  int32_t max_windows; /* maximum per search, over all its targets */
  double lambda;       /* >= 0, added to all variances */
} CuvRcdConfig;

#define CUV_RCD_MAX_SIZE 16384
#define CUV_RCD_MAX_CELL 32
#define CUV_RCD_MAX_TARGETS 16
#define CUV_RCD_MAX_LEVELS 32

/* The part of the frame that a search covers, in cells. A frame has only whole
 * cells. */
typedef struct {
  int32_t column, row; /* the first cell */
  int32_t n_columns, n_rows;
} CuvRcdArea;

/* All windows of one size, in cells of the search area. */
typedef struct {
  int32_t columns, rows; /* size of a window */
  int32_t x, y;          /* first cell of the first window */
  int32_t n_x, n_y;      /* windows across and down */
  int32_t step;          /* cells from one window to the next */
  int32_t first;         /* number of the first window in the search */
} CuvRcdLevel;

/* The model of a target. */
typedef struct {
  double c[CUV_RCD_MAX_PACKED];       /* the covariance, lambda added */
  double inverse[CUV_RCD_MAX_PACKED]; /* FORSTNER: inverse Cholesky factor,
                                         rows of its lower triangle */
  double det;                         /* determinant of c */
  double width, height; /* pixels; x and y of windows are scaled to this size */
} CuvRcdModel;

/* The windows to compare with one target, numbered from first on, level after
 * level, row by row. The best window is the one with the lowest score, or the
 * first of several with this score. */
typedef struct {
  CuvRcdModel model;
  int32_t first, n_windows;
  int32_t n_levels;
  CuvRcdLevel levels[CUV_RCD_MAX_LEVELS];
} CuvRcdTarget;

/* One search of a frame. */
typedef struct {
  CuvRcdArea area;
  int32_t n_targets;
  const CuvRcdTarget *targets;
  /* distance of the windows in the first round of refinement, pixels; 0 = no
   * refinement */
  int32_t refine;
  /* Number of candidates to refine, 1 .. CUV_RCD_MAX_CANDIDATES; 0 = 1. The
   * first is the best window; each further one is the best window whose centre
   * lies outside all candidates before it. The match is the candidate with the
   * lowest score after refinement. */
  int32_t n_candidates;
} CuvRcdSearch;

#define CUV_RCD_MAX_CANDIDATES 8

/* ---- crops ---- */

/* A grey picture of a square part of the frame, CUV_RCD_CROP pixels across and
 * down, whatever the part's size. Samples are between pixels of the frame,
 * whose border is repeated. */
typedef struct {
  int64_t x, y; /* position of the first sample, in 2^-16 pixels from the centre
                 * of the frame's top left pixel */
  int64_t step; /* distance between neighbouring samples, in 2^-16 pixels */
  int32_t samples; /* samples across and down whose mean is a pixel: 1 or 2 */
} CuvRcdCrop;

#define CUV_RCD_CROP 192
#define CUV_RCD_CROP_PIXELS (CUV_RCD_CROP * CUV_RCD_CROP)

/* ---- results ---- */

/* The best window of a target. */
typedef struct {
  int32_t
      window; /* number before refinement; -1 if no window has a finite score */
  int32_t level;
  CuvRcdBox box; /* the box after refinement */
  double score;  /* score of the box; see cuv_rcd_distance() */
  /* Before refinement: score of the best window whose centre lies outside the
   * first candidate, or infinity without such a window. If the match is
   * another candidate, the score of the first one. */
  double second;
  int64_t sums[CUV_RCD_MAX_SUMS]; /* sums over the box */
} CuvRcdMatch;

/* ---- refinement ----
 *
 * A round compares windows around a box: CUV_RCD_FINE_STEPS positions across
 * and down, in CUV_RCD_FINE_SIZES sizes. CUV_RCD_FINE_LINES: edges per axis. */
#define CUV_RCD_FINE_STEPS 9
#define CUV_RCD_FINE_SIZES 5
#define CUV_RCD_FINE_WINDOWS                                                   \
  (CUV_RCD_FINE_STEPS * CUV_RCD_FINE_STEPS * CUV_RCD_FINE_SIZES)
#define CUV_RCD_FINE_LINES (2 * CUV_RCD_FINE_STEPS * CUV_RCD_FINE_SIZES)

/* Returns the distance of the windows in the next round of refinement, or 0
 * after the round with distance 1. */
static inline int
cuv_rcd_next_spacing (int spacing)
{
  return spacing > 1 ? (spacing + 7) / 8 : 0;
}

/* The step between sizes is 2^-shift of the longer side. These are the shifts
 * of the first round and of all later ones. */
enum { CUV_RCD_FINE_FIRST_SHIFT = 4, CUV_RCD_FINE_NEXT_SHIFT = 6 };

#endif
