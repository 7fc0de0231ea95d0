/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What correlation filters on the CPU and on the GPU share: sizes, features of
 * a gradient, the place of a maximum. Both add in the orders given here and in
 * elements/rcd/correlation, so that results have the same bits. */
#ifndef CUV_RCD_FILTER_H
#define CUV_RCD_FILTER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include "rcd/rcd-pixel.h"

enum {
  CUV_RCD_GRID = 32,     /* cells across and down, a power of two */
  CUV_RCD_CHANNELS = 32, /* values of a cell, an even number */
  CUV_RCD_GRID_CELLS = CUV_RCD_GRID * CUV_RCD_GRID,
  /* columns of a spectrum; as values are real, the others follow from them */
  CUV_RCD_SPECTRUM_COLUMNS = CUV_RCD_GRID / 2 + 1,
  CUV_RCD_SPECTRUM_BINS = CUV_RCD_GRID * CUV_RCD_SPECTRUM_COLUMNS,
  CUV_RCD_CHANNEL_PAIRS = CUV_RCD_CHANNELS / 2
};

enum {
  CUV_RCD_HOG_CELL = 4, /* pixels */
  CUV_RCD_HOG_SIDE = CUV_RCD_GRID * CUV_RCD_HOG_CELL,
  CUV_RCD_HOG_PIXELS = CUV_RCD_HOG_SIDE * CUV_RCD_HOG_SIDE,
  CUV_RCD_HOG_SIGNED = 18,
  CUV_RCD_HOG_UNSIGNED = 9,
  CUV_RCD_HOG_SUMS = 4,
  CUV_RCD_HOG_LANES = 20 /* signed orientations, padded with 0 */
};

/* Sizes that a search compares. */
enum { CUV_RCD_FILTER_SCALES = 5 };

/* ---- features ---- */

/* Returns the nearest of 18 directions, which are 20 degrees apart. The
 * tangents of the limits between them (10, 30, 50 and 70 degrees) are in 12-bit
 * fixed point. */
CUV_HOST_DEVICE int
cuv_hog_direction (int dx, int dy)
{
  const int x = dx < 0 ? -dx : dx, y = dy < 0 ? -dy : dy;
  const int steps = (y > (722 * x) >> 12) + (y > (2365 * x) >> 12)
      + (y > (4881 * x) >> 12) + (y > (11254 * x) >> 12);
  const int turned = dx >= 0 ? steps : CUV_RCD_HOG_UNSIGNED - steps;

  return dy >= 0 || turned == 0 ? turned : CUV_RCD_HOG_SIGNED - turned;
}

/* Returns the weight of the cell before (after = 0) or after (after = 1) a
 * pixel. place: the pixel's position between the centres of the two cells, 0
 * to 3. */
CUV_HOST_DEVICE float
cuv_hog_weight (int place, int after)
{
  const float later = 0.25f * (float) place + 0.125f;

  return after ? later : 1.0f - later;
}

/* Returns the factor of a cell from its energy and those of three neighbours,
 * which are added in this order. 400 is the energy of flat noise, which must
 * not count as texture. */
CUV_HOST_DEVICE float
cuv_hog_factor (float cell, float beside, float across, float corner)
{
  return 1.0f / sqrtf (cell + beside + across + corner + 400.0f);
}

CUV_HOST_DEVICE float
cuv_hog_truncate (float value)
{
  return value < 0.2f ? value : 0.2f;
}

/* Returns the mean grey value of a cell relative to that of the picture, -1 ..
 * 1. */
CUV_HOST_DEVICE float
cuv_hog_grey (int cell_sum, int total)
{
  const float unit = 1.0f / (255 * CUV_RCD_HOG_CELL * CUV_RCD_HOG_CELL);

  return unit * ((float) cell_sum - (float) total / CUV_RCD_GRID_CELLS);
}

/* Returns the weight of row or column i of cells, which is 0 at the border. For
 * the host only, because the device's cosine may differ. */
static inline float
cuv_filter_window (int i)
{
  return (
      float) (0.5 - 0.5 * cos (6.283185307179586 * (i + 0.5) / CUV_RCD_GRID));
}

/* ---- transforms ---- */

/* cos and sin of i / CUV_RCD_GRID turns. */
#define CUV_RCD_FILTER_COSINES                                                 \
  {                                                                            \
    1.0f, 0.98078528040323044f, 0.92387953251128675f, 0.83146961230254523f,    \
        0.70710678118654752f, 0.55557023301960222f, 0.38268343236508977f,      \
        0.19509032201612827f, 6.123233995736766e-17f, -0.19509032201612827f,   \
        -0.38268343236508977f, -0.55557023301960222f, -0.70710678118654752f,   \
        -0.83146961230254523f, -0.92387953251128675f, -0.98078528040323044f    \
  }
#define CUV_RCD_FILTER_SINES                                                   \
  {                                                                            \
    0.0f, 0.19509032201612827f, 0.38268343236508977f, 0.55557023301960222f,    \
        0.70710678118654752f, 0.83146961230254523f, 0.92387953251128675f,      \
        0.98078528040323044f, 1.0f, 0.98078528040323044f,                      \
        0.92387953251128675f, 0.83146961230254523f, 0.70710678118654752f,      \
        0.55557023301960222f, 0.38268343236508977f, 0.19509032201612827f       \
  }

/* Returns where element i of a line goes before the transform: i with its bits
 * reversed. */
CUV_HOST_DEVICE int
cuv_filter_reversed (int i)
{
  return (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
}

/* ---- the filter ---- */

/* The goal of a filter's training. */
typedef struct {
  int32_t first, end;                 /* rows of the mask that are not 0 */
  float mask[CUV_RCD_GRID_CELLS];     /* mask of the filter: the target's box */
  float label[CUV_RCD_SPECTRUM_BINS]; /* the ideal response */
} CuvRcdFilterGoal;

/* A filter's response to the model should be the label, and the filter must be
 * 0 outside the mask. Two iterations of the alternating direction method of
 * multipliers compute it, by alternating between the solution without a mask,
 * one frequency at a time, and the masked filter. PENALTY1 and PENALTY2 are the
 * weights, in the first and second iteration, of the constraint that these two
 * are equal. REGULARISATION is the weight of the filter's energy. */
#define CUV_RCD_FILTER_PENALTY1 1.0f
#define CUV_RCD_FILTER_PENALTY2 10.0f
#define CUV_RCD_FILTER_REGULARISATION 0.01f

/* Returns the factor by which penalty x solution + multiplier becomes the next
 * filter. */
CUV_HOST_DEVICE float
cuv_filter_factor (float penalty)
{
  return CUV_RCD_GRID_CELLS
      / (penalty * CUV_RCD_GRID_CELLS + CUV_RCD_FILTER_REGULARISATION);
}

/* ---- the place of a maximum ---- */

/* A position between cells; x and y are at least -CUV_RCD_GRID / 2. */
typedef struct {
  double value, x, y;
} CuvRcdFilterPeak;

/* A response and its derivatives. */
typedef struct {
  double value, x, y, xx, xy, yy;
} CuvRcdFilterSlope;

/* Returns the signed distance of cell or frequency i from 0. */
CUV_HOST_DEVICE int
cuv_filter_from_zero (int i)
{
  return i < CUV_RCD_GRID / 2 ? i : i - CUV_RCD_GRID;
}

/* Computes the cosine and sine of 2 pi turns. Results have the same bits on all
 * processors. */
CUV_HOST_DEVICE void
cuv_filter_turn (double turns, double *cosine, double *sine)
{
  const double quarters = rint (4.0 * turns);
  const double a = 6.283185307179586 * (turns - 0.25 * quarters), b = a * a;
  const double s = a
      * (1.0
          + b
              * (-1.0 / 6.0
                  + b
                      * (1.0 / 120.0
                          + b
                              * (-1.0 / 5040.0
                                  + b
                                      * (1.0 / 362880.0
                                          + b
                                              * (-1.0 / 39916800.0
                                                  + b
                                                      * (1.0
                                                          / 6227020800.0)))))));
  const double c = 1.0
      + b
          * (-0.5
              + b
                  * (1.0 / 24.0
                      + b
                          * (-1.0 / 720.0
                              + b
                                  * (1.0 / 40320.0
                                      + b
                                          * (-1.0 / 3628800.0
                                              + b * (1.0 / 479001600.0))))));
  const int quarter = (int) quarters & 3;

  *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
  *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}

/* Takes a step of Newton's method towards a maximum. Returns false if none is
 * nearby. */
CUV_HOST_DEVICE bool
cuv_filter_step (const CuvRcdFilterSlope *s, double *x, double *y)
{
  const double det = s->xx * s->yy - s->xy * s->xy;
  const double dx = (s->yy * s->x - s->xy * s->y) / det;
  const double dy = (s->xx * s->y - s->xy * s->x) / det;

  if (!(det > 0.0) || s->xx >= 0.0 || fabs (dx) > 1.0 || fabs (dy) > 1.0)
    return false;
  *x -= dx;
  *y -= dy;
  return true;
}

enum { CUV_RCD_FILTER_STEPS = 3 };

#endif
