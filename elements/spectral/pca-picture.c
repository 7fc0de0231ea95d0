/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Three components as red, green and blue. */
#include "pca-place.h"

#include <math.h>
#include <string.h>

/* ---- gains ---- */

/* value = slope * y + base for component k of the basis: gain[b] s_b + offset.
 */
static void
set_channel (CuvPcaGains *self, int channel, const CuvPcaBasis *basis, int k,
    double slope, double base)
{
  const double *v = &basis->vectors[k * basis->n];
  double *gain = self->gain[channel];
  double offset = base;

  for (int b = 0; b < basis->n; b++) {
    const double d = basis->deviation[b];

    gain[b] = d > 0.0 ? slope * v[b] / d : 0.0;
    if (basis->mode != CUV_PCA_CORRELATION)
      offset -= gain[b] * basis->mean[b];
  }
  self->offset[channel] = offset;
}

static void
set_constant (CuvPcaGains *self, int channel, double value)
{
  memset (self->gain[channel], 0, sizeof self->gain[channel]);
  self->offset[channel] = value;
}

/* From low, black, to high, white. */
static void
set_span (CuvPcaGains *self, int channel, const CuvPcaBasis *basis, int k,
    double low, double high)
{
  const double slope = 255.0 / (high - low);

  set_channel (self, channel, basis, k, slope, -slope * low);
}

/* A correlation's first component is brightness: it begins at 0. */
static void
set_sigma (CuvPcaGains *self, int channel, const CuvPcaBasis *basis, int k,
    double reach)
{
  double mean, deviation;

  cuv_pca_basis_spread (basis, k, &mean, &deviation);
  if (basis->mode == CUV_PCA_CORRELATION && k == 0
      && mean + reach * deviation > 0.0)
    set_span (self, channel, basis, k, 0.0, mean + reach * deviation);
  else
    set_channel (self, channel, basis, k, 127.0 / (reach * deviation),
        128.0 - 127.0 * mean / (reach * deviation));
}

/* Of no deviation: all there is to see is that. */
static bool
is_flat (const CuvPcaBasis *basis, int k)
{
  double mean, deviation;

  cuv_pca_basis_spread (basis, k, &mean, &deviation);
  return deviation == 0.0
      && !(basis->mode == CUV_PCA_CORRELATION && k == 0 && mean > 0.0);
}

static void
set_percentile (CuvPcaGains *self, int channel, const CuvPcaBasis *basis, int k,
    const CuvPcaLimits *limits)
{
  double mean, deviation;

  cuv_pca_basis_spread (basis, k, &mean, &deviation);
  if (deviation > 0.0)
    set_span (self, channel, basis, k, mean + limits->low[channel] * deviation,
        mean + limits->high[channel] * deviation);
  else
    set_constant (self, channel, 128.0);
}

void
cuv_pca_gains_init (CuvPcaGains *self, const CuvPcaBasis *basis,
    const CuvPcaDisplay *display, const CuvPcaLimits *limits)
{
  self->n = basis->n;
  self->top = 255.0;
  self->bias = 0.5;
  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    const int k = display->component[c] - 1;

    if (k < 0)
      set_constant (self, c, 0.0);
    else if (k >= basis->n)
      set_constant (self, c, 128.0);
    else if (display->mapping == CUV_PCA_RANGE)
      set_span (self, c, basis, k, display->range[0], display->range[1]);
    else if (is_flat (basis, k))
      set_constant (self, c, 128.0);
    else if (display->mapping == CUV_PCA_PERCENTILE)
      set_percentile (self, c, basis, k, limits);
    else
      set_sigma (self, c, basis, k, display->sigmas);
  }
}

/* ---- percentiles ---- */

void
cuv_pca_gains_init_bins (
    CuvPcaGains *self, const CuvPcaBasis *basis, const CuvPcaDisplay *display)
{
  const double middle = CUV_PCA_BINS / 2.0;

  self->n = basis->n;
  self->top = CUV_PCA_BINS - 1.0;
  self->bias = 0.0;
  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    const int k = display->component[c] - 1;
    double mean = 0.0, deviation = 0.0, slope;

    if (k >= 0 && k < basis->n)
      cuv_pca_basis_spread (basis, k, &mean, &deviation);
    slope = middle / (CUV_PCA_REACH * deviation);
    if (deviation > 0.0)
      set_channel (self, c, basis, k, slope, middle - slope * mean);
    else
      set_constant (self, c, middle);
  }
}

/* The first bin, from one end on, with which more than so many are counted. */
static int
bin_of (const int64_t *bins, int first, int step, double rank)
{
  int64_t n = 0;
  int bin = first;

  for (int i = 0; i < CUV_PCA_BINS - 1; i++, bin += step) {
    n += bins[bin];
    if ((double) n > rank)
      break;
  }
  return bin;
}

static double
deviations (int edge)
{
  return (double) edge * 2.0 * CUV_PCA_REACH / CUV_PCA_BINS - CUV_PCA_REACH;
}

void
cuv_pca_limits_init (
    CuvPcaLimits *self, const int64_t *bins, const CuvPcaDisplay *display)
{
  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    const int64_t *counts = &bins[c * CUV_PCA_BINS];
    double rank = 0.0;

    for (int i = 0; i < CUV_PCA_BINS; i++)
      rank += (double) counts[i] * display->percentile / 100.0;
    self->low[c] = deviations (bin_of (counts, 0, 1, rank));
    self->high[c] =
        deviations (bin_of (counts, CUV_PCA_BINS - 1, -1, rank) + 1);
  }
}

/* ---- pixels ---- */

/* What is no number is 0. */
static int32_t
to_int (double value, double top, double bias)
{
  const double v = value > 0.0 ? value : 0.0;

  return (int32_t) ((v < top ? v : top) + bias);
}

void
cuv_pca_project (const CuvPcaTile *tile, const CuvPcaGains *gains, int32_t *out)
{
  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    for (int p = 0; p < CUV_PCA_TILE; p++) {
      double value = gains->offset[c];

      for (int b = 0; b < tile->n; b++)
        value += gains->gain[c][b] * tile->rows[b * CUV_PCA_TILE + p];
      out[c * CUV_PCA_TILE + p] = to_int (value, gains->top, gains->bias);
    }
  }
}

void
cuv_pca_paint (const CuvPcaTile *tile, const int32_t *values, uint8_t *out)
{
  for (int p = 0; p < tile->count; p++) {
    for (int c = 0; c < CUV_PCA_SHOWN; c++)
      out[4 * p + c] =
          tile->left_out[p] ? 0 : (uint8_t) values[c * CUV_PCA_TILE + p];
    out[4 * p + 3] = 255;
  }
}
