/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Histograms of oriented gradients, normalised as in Felzenszwalb, Girshick,
 * McAllester, Ramanan, PAMI 2010: 18 signed and 9 unsigned orientations, and a
 * sum for each of 4 normalisations. The last channel is the mean grey value.
 *
 * Histograms are first computed for each row of pixels. A cell's histogram is
 * the weighted sum of the histograms of eight rows. */
#ifndef CUV_RCD_HOG_TEMPLATE_H
#define CUV_RCD_HOG_TEMPLATE_H

#include "correlation/filter-dsp.h"
#include "correlation/four.h"

#include <string.h>

/* Histograms of a row of pixels, with one more cell before the first and after
 * the last. */
typedef float CuvHogRow[CUV_RCD_GRID + 2][CUV_RCD_HOG_LANES];

typedef struct {
  /* gradients of the rows of pixels of a row of blocks */
  uint8_t bins[CUV_RCD_HOG_CELL][CUV_RCD_HOG_SIDE];
  float magnitudes[CUV_RCD_HOG_CELL][CUV_RCD_HOG_SIDE];
  CuvHogRow rows[CUV_RCD_HOG_CELL];
  float histogram[CUV_RCD_GRID_CELLS][CUV_RCD_HOG_LANES];
  /* energies of cells, with the border repeated */
  float energy[CUV_RCD_GRID + 2][CUV_RCD_GRID + 2];
} CuvHog;

/* ---- gradients ---- */

static inline int
cuv_hog_clamp (int v, int end)
{
  return v < 0 ? 0 : v < end ? v : end - 1;
}

/* Computes the directions and magnitudes of a row's gradients. Directions are
 * those of cuv_hog_direction(), computed in 16 bits. */
static inline void
cuv_hog_read_row (
    const uint8_t *picture, int y, uint8_t *bins, float *magnitudes)
{
  enum { N = CUV_RCD_HOG_SIDE };
  const uint8_t *row = picture + y * N;
  const uint8_t *above = picture + cuv_hog_clamp (y - 1, N) * N;
  const uint8_t *below = picture + cuv_hog_clamp (y + 1, N) * N;
  int16_t dx[N], dy[N];

  dx[0] = (int16_t) (row[1] - row[0]);
  for (int x = 1; x < N - 1; x++)
    dx[x] = (int16_t) (row[x + 1] - row[x - 1]);
  dx[N - 1] = (int16_t) (row[N - 1] - row[N - 2]);
  for (int x = 0; x < N; x++)
    dy[x] = (int16_t) (below[x] - above[x]);
  for (int x = 0; x < N; x++) {
    const uint16_t width = (uint16_t) ((dx[x] < 0 ? -dx[x] : dx[x]) * 16);
    const int16_t height = (int16_t) (dy[x] < 0 ? -dy[x] : dy[x]);
    const int16_t steps =
        (int16_t) ((int16_t) (height
                       > (int16_t) ((uint32_t) width * 722u >> 16))
            + (int16_t) (height > (int16_t) ((uint32_t) width * 2365u >> 16))
            + (int16_t) (height > (int16_t) ((uint32_t) width * 4881u >> 16))
            + (int16_t) (height > (int16_t) ((uint32_t) width * 11254u >> 16)));
    const int16_t turned =
        (int16_t) (dx[x] >= 0 ? steps : CUV_RCD_HOG_UNSIGNED - steps);

    bins[x] =
        (uint8_t) (dy[x] >= 0 || turned == 0 ? turned
                                             : CUV_RCD_HOG_SIGNED - turned);
  }
  for (int x = 0; x < N; x++)
    magnitudes[x] = sqrtf ((float) (dx[x] * dx[x] + dy[x] * dy[x]));
}

/* ---- histograms ---- */

/* Adds a pixel to the nearest cells on its left and right. */
static inline void
cuv_hog_add_pixel (CuvHogRow row, int left, int bin, float magnitude, int place)
{
  row[left][bin] += cuv_hog_weight (place, 0) * magnitude;
  row[left + 1][bin] += cuv_hog_weight (place, 1) * magnitude;
}

/* Processes the rows side by side: within a row, each addition depends on
 * the previous one. */
static inline void
cuv_hog_fill_rows (CuvHog *self, int first, int end)
{
  for (int x = 0; x < CUV_RCD_HOG_SIDE; x++) {
    const int left = (x + CUV_RCD_HOG_CELL / 2) / CUV_RCD_HOG_CELL;
    const int place = (x + CUV_RCD_HOG_CELL / 2) % CUV_RCD_HOG_CELL;

    for (int j = first; j < end; j++)
      cuv_hog_add_pixel (
          self->rows[j], left, self->bins[j][x], self->magnitudes[j][x], place);
  }
  for (int j = first; j < end; j++) {
    for (int k = 0; k < CUV_RCD_HOG_LANES; k++) {
      self->rows[j][1][k] += self->rows[j][0][k];
      self->rows[j][CUV_RCD_GRID][k] += self->rows[j][CUV_RCD_GRID + 1][k];
    }
  }
}

/* Adds four rows to the cells above them, and sets the cells below them. */
static inline void
cuv_hog_add_inner (const CuvHogRow rows[CUV_RCD_HOG_CELL],
    float *restrict above, float *restrict below)
{
  const float *a = rows[0][1], *b = rows[1][1], *c = rows[2][1],
              *d = rows[3][1];

  for (int i = 0; i < CUV_RCD_GRID * CUV_RCD_HOG_LANES; i++) {
    above[i] = (((above[i] + 0.875f * a[i]) + 0.625f * b[i]) + 0.375f * c[i])
        + 0.125f * d[i];
    below[i] =
        ((0.125f * a[i] + 0.375f * b[i]) + 0.625f * c[i]) + 0.875f * d[i];
  }
}

/* Adds a row at the picture's border, where the cells above and below it are
 * the same. */
static inline void
cuv_hog_add_border (const CuvHogRow row, int place, float *restrict cells)
{
  const float *from = row[1];

  for (int i = 0; i < CUV_RCD_GRID * CUV_RCD_HOG_LANES; i++) {
    cells[i] += cuv_hog_weight (place, 0) * from[i];
    cells[i] += cuv_hog_weight (place, 1) * from[i];
  }
}

/* Processes a row of blocks: the pixels between the centres of the cells of
 * rows row - 1 and row. */
static inline void
cuv_hog_add_blocks (CuvHog *self, const uint8_t *picture, int row)
{
  enum { HALF = CUV_RCD_HOG_CELL / 2 };
  const int first = row == 0 ? HALF : 0;
  const int end = row == CUV_RCD_GRID ? HALF : CUV_RCD_HOG_CELL;

  memset (self->rows, 0, sizeof self->rows);
  for (int j = first; j < end; j++)
    cuv_hog_read_row (picture, row * CUV_RCD_HOG_CELL - HALF + j, self->bins[j],
        self->magnitudes[j]);
  if (row > 0 && row < CUV_RCD_GRID) {
    cuv_hog_fill_rows (self, 0, CUV_RCD_HOG_CELL);
    cuv_hog_add_inner (self->rows, self->histogram[(row - 1) * CUV_RCD_GRID],
        self->histogram[row * CUV_RCD_GRID]);
  } else {
    const int cells = row == 0 ? 0 : CUV_RCD_GRID - 1;

    cuv_hog_fill_rows (self, first, end);
    for (int j = first; j < end; j++)
      cuv_hog_add_border (
          self->rows[j], j, self->histogram[cells * CUV_RCD_GRID]);
  }
}

/* ---- normalisation ---- */

static inline float
cuv_hog_energy (const float *h)
{
  float squares[CUV_RCD_HOG_UNSIGNED], energy = 0.0f;

  for (int k = 0; k < CUV_RCD_HOG_UNSIGNED; k++) {
    const float v = h[k] + h[k + CUV_RCD_HOG_UNSIGNED];

    squares[k] = v * v;
  }
  for (int k = 0; k < CUV_RCD_HOG_UNSIGNED; k++)
    energy += squares[k];
  return energy;
}

static inline void
cuv_hog_set_energy (CuvHog *self)
{
  for (int i = 0; i < CUV_RCD_GRID_CELLS; i++)
    self->energy[i / CUV_RCD_GRID + 1][i % CUV_RCD_GRID + 1] =
        cuv_hog_energy (self->histogram[i]);
  for (int y = 1; y <= CUV_RCD_GRID; y++) {
    self->energy[y][0] = self->energy[y][1];
    self->energy[y][CUV_RCD_GRID + 1] = self->energy[y][CUV_RCD_GRID];
  }
  memcpy (self->energy[0], self->energy[1], sizeof self->energy[0]);
  memcpy (self->energy[CUV_RCD_GRID + 1], self->energy[CUV_RCD_GRID],
      sizeof self->energy[0]);
}

/* Computes four factors for each cell of a row. Factor i depends on the
 * energies of the cell and its three neighbours at corner i. */
static inline void
cuv_hog_set_factors (
    const CuvHog *self, int y, float factor[CUV_RCD_HOG_SUMS][CUV_RCD_GRID])
{
  const float *row = self->energy[y + 1] + 1;

  for (int i = 0; i < CUV_RCD_HOG_SUMS; i++) {
    const int dx = i % 2 == 0 ? -1 : 1;
    const float *other = self->energy[i / 2 == 0 ? y : y + 2] + 1;

    for (int x = 0; x < CUV_RCD_GRID; x++)
      factor[i][x] =
          cuv_hog_factor (row[x], row[x + dx], other[x], other[x + dx]);
  }
}

/* Applies cuv_hog_truncate() to each element. */
static inline CuvFour
cuv_hog_truncate_four (CuvFour v)
{
  const CuvFour most = { 0.2f, 0.2f, 0.2f, 0.2f };
#ifdef __SSE2__
  return (CuvFour) _mm_min_ps ((__m128) v, (__m128) most);
#else
  const CuvFourInts less = v < most;

  return (CuvFour) (((CuvFourInts) v & less) | ((CuvFourInts) most & ~less));
#endif
}

static inline CuvFour
cuv_hog_normalise (CuvFour h, const float factor[CUV_RCD_HOG_SUMS])
{
  CuvFour sum = { 0.0f, 0.0f, 0.0f, 0.0f };

  for (int i = 0; i < CUV_RCD_HOG_SUMS; i++)
    sum += cuv_hog_truncate_four (h * factor[i]);
  return 0.5f * sum;
}

/* Sets all channels of a cell but the last. Each step writes a few channels too
 * many, which the next ones overwrite. */
static inline void
cuv_hog_set_cell (
    const float *h, const float factor[CUV_RCD_HOG_SUMS], float *channels)
{
  float *both = channels + CUV_RCD_HOG_SIGNED;
  const CuvFour factors = *(const CuvFour *) factor;
  CuvFour totals = { 0.0f, 0.0f, 0.0f, 0.0f };

  for (int k = 0; k < CUV_RCD_HOG_SIGNED; k += 4)
    *(CuvFour *) (channels + k) =
        cuv_hog_normalise (*(const CuvFour *) (h + k), factor);
  for (int k = 0; k < CUV_RCD_HOG_UNSIGNED; k += 4)
    *(CuvFour *) (both + k) = cuv_hog_normalise (*(const CuvFour *) (h + k)
            + *(const CuvFour *) (h + k + CUV_RCD_HOG_UNSIGNED),
        factor);
  for (int k = 0; k < CUV_RCD_HOG_SIGNED; k++)
    totals += cuv_hog_truncate_four (h[k] * factors);
  *(CuvFour *) (both + CUV_RCD_HOG_UNSIGNED) = 0.2357f * totals;
}

/* ---- grey values ---- */

static inline void
cuv_hog_set_grey (const uint8_t *picture, CuvGrid *grid)
{
  int sums[CUV_RCD_GRID_CELLS], total = 0;

  for (int y = 0; y < CUV_RCD_GRID; y++) {
    const uint8_t *rows = picture + y * CUV_RCD_HOG_CELL * CUV_RCD_HOG_SIDE;
    uint16_t columns[CUV_RCD_HOG_SIDE];

    for (int x = 0; x < CUV_RCD_HOG_SIDE; x++)
      columns[x] = (uint16_t) (rows[x] + rows[x + CUV_RCD_HOG_SIDE]
          + rows[x + 2 * CUV_RCD_HOG_SIDE] + rows[x + 3 * CUV_RCD_HOG_SIDE]);
    for (int x = 0; x < CUV_RCD_GRID; x++) {
      const uint16_t *c = columns + x * CUV_RCD_HOG_CELL;

      sums[y * CUV_RCD_GRID + x] = c[0] + c[1] + c[2] + c[3];
      total += sums[y * CUV_RCD_GRID + x];
    }
  }
  for (int i = 0; i < CUV_RCD_GRID_CELLS; i++)
    grid->value[i * CUV_RCD_CHANNELS + CUV_RCD_CHANNELS - 1] =
        cuv_hog_grey (sums[i], total);
}

/* ---- entry point ---- */

static void
cuv_hog_features (const uint8_t *picture, CuvGrid *grid)
{
  float factors[CUV_RCD_HOG_SUMS][CUV_RCD_GRID];
  CuvHog hog;

  memset (hog.histogram[0], 0, CUV_RCD_GRID * sizeof hog.histogram[0]);
  for (int row = 0; row <= CUV_RCD_GRID; row++)
    cuv_hog_add_blocks (&hog, picture, row);
  cuv_hog_set_energy (&hog);
  for (int y = 0; y < CUV_RCD_GRID; y++) {
    cuv_hog_set_factors (&hog, y, factors);
    for (int x = 0; x < CUV_RCD_GRID; x++) {
      const int i = y * CUV_RCD_GRID + x;
      const float factor[CUV_RCD_HOG_SUMS] = { factors[0][x], factors[1][x],
        factors[2][x], factors[3][x] };

      cuv_hog_set_cell (
          hog.histogram[i], factor, grid->value + i * CUV_RCD_CHANNELS);
    }
  }
  cuv_hog_set_grey (picture, grid);
}

#endif
