/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Correlation filters, for gcc and nvcc: sizes, features of a gradient, the
 * place of a maximum. Both processors add in the orders given here and in
 * elements/rcd/correlation, so that they find the same bits. */
#ifndef CUV_RCD_FILTER_H
#define CUV_RCD_FILTER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include "rcd/rcd-pixel.h"

enum {
  CUV_RCD_GRID = 32,     /* cells across and down, a power of two */
  CUV_RCD_CHANNELS = 32, /* values of a cell, even */
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

/* The nearest of 18 directions, 20 degrees apart. Tangents of the limits
 * between them, 10, 30, 50 and 70 degrees, are in 12-bit fixed point. */
CUV_HOST_DEVICE int
cuv_hog_direction (int dx, int dy)
{
  const int x = dx < 0 ? -dx : dx, y = dy < 0 ? -dy : dy;
  const int steps = (y > (722 * x) >> 12) + (y > (2365 * x) >> 12)
      + (y > (4881 * x) >> 12) + (y > (11254 * x) >> 12);
  const int turned = dx >= 0 ? steps : CUV_RCD_HOG_UNSIGNED - steps;

  return dy >= 0 || turned == 0 ? turned : CUV_RCD_HOG_SIGNED - turned;
}

/* The weight of the cell before (after = 0) or after (1) a pixel, by the
 * pixel's position between their centres, 0 .. 3. */
CUV_HOST_DEVICE float
cuv_hog_weight (int place, int after)
{
  const float later = 0.25f * (float) place + 0.125f;

  return after ? later : 1.0f - later;
}

/* The factor of a cell by the energies of it and three neighbours, in the
 * reference's order. 400: the energy of flat noise, so that it does not count
 * as texture. */
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

/* The mean grey value of a cell, from -1 to 1, relative to the picture's. */
CUV_HOST_DEVICE float
cuv_hog_grey (int cell_sum, int total)
{
  const float unit = 1.0f / (255 * CUV_RCD_HOG_CELL * CUV_RCD_HOG_CELL);

  return unit * ((float) cell_sum - (float) total / CUV_RCD_GRID_CELLS);
}

/* Factor of a row or a column of cells: 0 at the border. The C library's cosine
 * may differ from the device's. */
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

/* The place of element i of a line before its transform: i with its bits
 * reversed. */
CUV_HOST_DEVICE int
cuv_filter_reversed (int i)
{
  return (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
}

/* ---- the filter ---- */

/* What a filter is trained with. */
typedef struct {
  int32_t first, end;                 /* rows of the mask that are not 0 */
  float mask[CUV_RCD_GRID_CELLS];     /* of the filter: the target's box */
  float label[CUV_RCD_SPECTRUM_BINS]; /* the ideal response */
} CuvRcdFilterGoal;

/* The filter whose response to the model is the label, and which is 0 outside
 * the mask: by two iterations of the alternating direction method of
 * multipliers, between the solution without a mask, one frequency at a time,
 * and the masked filter. PENALTY: the weight of the constraint that both are
 * equal, in the first and the second iteration; REGULARISATION: that of the
 * filter's energy. */
#define CUV_RCD_FILTER_PENALTY1 1.0f
#define CUV_RCD_FILTER_PENALTY2 10.0f
#define CUV_RCD_FILTER_REGULARISATION 0.01f

/* The factor of solution x penalty + multiplier. */
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

/* Signed distance of cell or frequency i from 0. */
CUV_HOST_DEVICE int
cuv_filter_from_zero (int i)
{
  return i < CUV_RCD_GRID / 2 ? i : i - CUV_RCD_GRID;
}

/* cos and sin of 2 pi turns, which are the same everywhere. */
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

/* Newton's step to the maximum; false if none is near. */
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
