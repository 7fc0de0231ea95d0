/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "correlation/hog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
clamp (int v, int end)
{
  return v < 0 ? 0 : v < end ? v : end - 1;
}

/* ---- histograms ---- */

/* The nearest of 18 directions, 20 degrees apart. Tangents of the limits
 * between them, 10, 30, 50 and 70 degrees, are in 12-bit fixed point. */
static int
direction (int dx, int dy)
{
  const int x = abs (dx), y = abs (dy) * 4096;
  const int steps =
      (y > 722 * x) + (y > 2365 * x) + (y > 4881 * x) + (y > 11254 * x);
  const int turned = dx >= 0 ? steps : CUV_HOG_UNSIGNED - steps;

  return dy >= 0 ? turned : (CUV_HOG_SIGNED - turned) % CUV_HOG_SIGNED;
}

/* Weights of the cell before a pixel and the one after, by its place in the
 * cell's width. */
static const float weights[CUV_HOG_CELL][2] = { { 0.375f, 0.625f },
  { 0.125f, 0.875f }, { 0.875f, 0.125f }, { 0.625f, 0.375f } };

/* Directions and magnitudes of a row's gradients. */
static void
read_row (const uint8_t *picture, int y, uint8_t *bins, float *magnitudes)
{
  const uint8_t *row = picture + y * CUV_HOG_SIDE;
  const uint8_t *above = picture + clamp (y - 1, CUV_HOG_SIDE) * CUV_HOG_SIDE;
  const uint8_t *below = picture + clamp (y + 1, CUV_HOG_SIDE) * CUV_HOG_SIDE;
  int dx[CUV_HOG_SIDE];

  dx[0] = row[1] - row[0];
  for (int x = 1; x < CUV_HOG_SIDE - 1; x++)
    dx[x] = row[x + 1] - row[x - 1];
  dx[CUV_HOG_SIDE - 1] = row[CUV_HOG_SIDE - 1] - row[CUV_HOG_SIDE - 2];
  for (int x = 0; x < CUV_HOG_SIDE; x++) {
    const int dy = below[x] - above[x];

    bins[x] = (uint8_t) direction (dx[x], dy);
    magnitudes[x] = sqrtf ((float) (dx[x] * dx[x] + dy * dy));
  }
}

/* Histograms of a row of pixels, each of which adds to the nearest cells left
 * and right; beyond the first and the last cell there is one more. */
static void
fill_row (const uint8_t *bins, const float *magnitudes, CuvHogRow *row)
{
  memset (row, 0, sizeof *row);
  for (int x = 0; x < CUV_HOG_SIDE; x++) {
    const float *weight = weights[x % CUV_HOG_CELL];
    const int left = (x + CUV_HOG_CELL / 2) / CUV_HOG_CELL;

    row->cell[left][bins[x]] += weight[0] * magnitudes[x];
    row->cell[left + 1][bins[x]] += weight[1] * magnitudes[x];
  }
  for (int k = 0; k < CUV_HOG_SIGNED; k++) {
    row->cell[1][k] += row->cell[0][k];
    row->cell[CUV_GRID][k] += row->cell[CUV_GRID + 1][k];
  }
}

static void
add_row (float *restrict to, const float *restrict from, float weight)
{
  for (int i = 0; i < CUV_GRID * CUV_HOG_LANES; i++)
    to[i] += weight * from[i];
}

/* The histogram of a row's first cell. */
static float *
row_at (CuvHog *self, int y)
{
  return self->histogram[clamp (y, CUV_GRID) * CUV_GRID];
}

static void
fill_histograms (CuvHog *self, const uint8_t *picture)
{
  uint8_t bins[CUV_HOG_SIDE];
  float magnitudes[CUV_HOG_SIDE];

  memset (self->histogram, 0, sizeof self->histogram);
  for (int y = 0; y < CUV_HOG_SIDE; y++) {
    const float *weight = weights[y % CUV_HOG_CELL];
    const int above = (y + CUV_HOG_CELL / 2) / CUV_HOG_CELL - 1;

    read_row (picture, y, bins, magnitudes);
    fill_row (bins, magnitudes, &self->row);
    add_row (row_at (self, above), self->row.cell[1], weight[0]);
    add_row (row_at (self, above + 1), self->row.cell[1], weight[1]);
  }
}

static void
sum_energy (CuvHog *self)
{
  for (int i = 0; i < CUV_GRID_CELLS; i++) {
    const float *h = self->histogram[i];

    self->energy[i] = 0.0f;
    for (int k = 0; k < CUV_HOG_UNSIGNED; k++) {
      const float v = h[k] + h[k + CUV_HOG_UNSIGNED];

      self->energy[i] += v * v;
    }
  }
}

/* ---- features ---- */

/* The energy of flat noise, so that it does not count as texture. */
static const float noise_energy = 400.0f;

/* Factors by the energies of the cell and its neighbours in four corners. */
static void
normalisations (const CuvHog *self, int x, int y, float factor[CUV_HOG_SUMS])
{
  for (int i = 0; i < 4; i++) {
    const int column = clamp (x + (i % 2 == 0 ? -1 : 1), CUV_GRID);
    const int row = clamp (y + (i / 2 == 0 ? -1 : 1), CUV_GRID) * CUV_GRID;
    const float *energy = self->energy;

    factor[i] = 1.0f
        / sqrtf (energy[y * CUV_GRID + x] + energy[y * CUV_GRID + column]
            + energy[row + x] + energy[row + column] + noise_energy);
  }
}

static float
truncated (float value)
{
  return value < 0.2f ? value : 0.2f;
}

/* Sums of n values times each factor, truncated; n is a multiple of 4. */
static void
normalise (const float *restrict h, int n, const float factor[CUV_HOG_SUMS],
    float *restrict sums)
{
  memset (sums, 0, (size_t) n * sizeof *sums);
  for (int i = 0; i < CUV_HOG_SUMS; i++) {
    for (int k = 0; k < n; k++)
      sums[k] += truncated (h[k] * factor[i]);
  }
}

static float
truncated_sum (const float *h, float factor)
{
  float sum = 0.0f;

  for (int k = 0; k < CUV_HOG_SIGNED; k++)
    sum += truncated (h[k] * factor);
  return sum;
}

static void
set_orientations (
    const float *h, const float factor[CUV_HOG_SUMS], float *value)
{
  float both[CUV_HOG_UNSIGNED + 3] = { 0 }, sums[CUV_HOG_LANES];

  for (int k = 0; k < CUV_HOG_UNSIGNED; k++)
    both[k] = h[k] + h[k + CUV_HOG_UNSIGNED];
  normalise (h, CUV_HOG_LANES, factor, sums);
  for (int k = 0; k < CUV_HOG_SIGNED; k++)
    *value++ = 0.5f * sums[k];
  normalise (both, CUV_HOG_UNSIGNED + 3, factor, sums);
  for (int k = 0; k < CUV_HOG_UNSIGNED; k++)
    *value++ = 0.5f * sums[k];
  for (int i = 0; i < CUV_HOG_SUMS; i++)
    *value++ = 0.2357f * truncated_sum (h, factor[i]);
}

static int
cell_sum (const uint8_t *picture, int x, int y)
{
  int sum = 0;

  for (int j = 0; j < CUV_HOG_CELL; j++) {
    for (int i = 0; i < CUV_HOG_CELL; i++)
      sum +=
          picture[(y * CUV_HOG_CELL + j) * CUV_HOG_SIDE + x * CUV_HOG_CELL + i];
  }
  return sum;
}

/* Mean grey values of cells, from -1 to 1, relative to the picture's. */
static void
set_grey (const uint8_t *picture, CuvGrid *grid)
{
  const float unit = 1.0f / (255 * CUV_HOG_CELL * CUV_HOG_CELL);
  int total = 0;

  for (int i = 0; i < CUV_HOG_SIDE * CUV_HOG_SIDE; i++)
    total += picture[i];
  for (int i = 0; i < CUV_GRID_CELLS; i++)
    grid->value[i * CUV_CHANNELS + CUV_CHANNELS - 1] = unit
        * ((float) cell_sum (picture, i % CUV_GRID, i / CUV_GRID)
            - (float) total / CUV_GRID_CELLS);
}

void
cuv_hog_compute (CuvHog *self, const uint8_t *picture, CuvGrid *grid)
{
  float factor[CUV_HOG_SUMS];

  fill_histograms (self, picture);
  sum_energy (self);
  for (int i = 0; i < CUV_GRID_CELLS; i++) {
    normalisations (self, i % CUV_GRID, i / CUV_GRID, factor);
    set_orientations (
        self->histogram[i], factor, grid->value + i * CUV_CHANNELS);
  }
  set_grey (picture, grid);
}
