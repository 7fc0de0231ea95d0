/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The update of the basis by a frame, and the gains of its picture. Compiled by
 * gcc for one thread and by nvcc for a thread group. */
#ifndef CUV_PCA_EIGEN_BASIS_H
#define CUV_PCA_EIGEN_BASIS_H

#include "pca/eigen/moments.h"
#include "pca/eigen/order-and-signs.h"

#define CUV_PCA_BASIS_DOUBLES(n) ((n) * ((n) + 3))

/* Places the arrays of a basis in memory of CUV_PCA_BASIS_DOUBLES (n)
 * doubles. */
CUV_HOST_DEVICE void
cuv_pca_place_basis (CuvPcaBasis *self, int n, double *memory)
{
  self->n = n;
  self->mean = memory;
  self->deviation = memory + n;
  self->values = memory + 2 * n;
  self->vectors = memory + 3 * n;
}

/* Returns element (i, j) of the matrix to diagonalise, see CuvPcaMode. */
CUV_HOST_DEVICE double
cuv_pca_element (const CuvPcaBasis *self, CuvPcaMode mode,
    const CuvPcaMoments *moments, int i, int j)
{
  const double c = moments->covariance[i * self->n + j];
  const double scale = self->deviation[i] * self->deviation[j];

  if (mode == CUV_PCA_SECOND_MOMENTS)
    return c + self->mean[i] * self->mean[j];
  if (mode == CUV_PCA_COVARIANCE)
    return c;
  return scale > 0.0 ? c / scale : 0.0;
}

/* Sets scratch->a to the matrix to diagonalise. No barrier is needed before,
 * because each thread reads only means that it wrote itself. */
CUV_PCA_GROUP_FUNC void
cuv_pca_set_matrix (CuvPcaGroup group, CuvPcaBasis *self, CuvPcaMode mode,
    const CuvPcaMoments *moments, const CuvPcaScratch *scratch)
{
  const int n = self->n, pitch = scratch->pitch;

  CUV_PCA_GROUP_EACH (group, i, n)
  {
    self->mean[i] = moments->mean[i];
    self->deviation[i] = mode == CUV_PCA_PEARSON
        ? sqrt (fmax (moments->covariance[i * n + i], 0.0))
        : 1.0;
  }
  cuv_pca_group_sync (group);
  CUV_PCA_GROUP_UPPER (group, i, j, n)
  scratch->a[i * pitch + j] = scratch->a[j * pitch + i] =
      cuv_pca_element (self, mode, moments, i, j);
}

/* Computes the basis from the moments, starting from the previous one if mode
 * is the same. Returns the number of Jacobi sweeps. */
CUV_PCA_GROUP_FUNC int
cuv_pca_update_basis (CuvPcaGroup group, CuvPcaBasis *self,
    const CuvPcaMoments *moments, const CuvPcaLearning *learning,
    CuvPcaScratch *scratch)
{
  const int warm = self->is_known && self->mode == learning->mode;
  const int n = self->n;
  float turned;
  int sweeps;

  cuv_pca_set_matrix (group, self, learning->mode, moments, scratch);
  if (warm)
    cuv_pca_copy_rows (
        group, scratch->vectors, scratch->pitch, self->vectors, n, n, n);
  else
    cuv_pca_set_unit (group, scratch->vectors, n, scratch->pitch);
  self->mode = learning->mode;
  self->is_known = 1;
  sweeps = cuv_pca_find_vectors (group, scratch, n, &turned);
  if (!warm || learning->stabilise == CUV_PCA_FREE)
    cuv_pca_place_freely (group, *self, *scratch);
  else if (learning->stabilise == CUV_PCA_SIGN && turned <= CUV_PCA_IN_PLACE)
    cuv_pca_arrange (group, self, scratch, 0);
  else
    cuv_pca_place_as_before (group, *self, *scratch);
  if (warm && learning->stabilise == CUV_PCA_PROCRUSTES)
    cuv_pca_align (group, *self, *scratch);
  return sweeps;
}

/* Computes the mean and standard deviation of component k (from 0) over the
 * pixels; a deviation below 1e-6 of the largest possible is set to 0. All
 * threads of a row must call it. */
CUV_PCA_GROUP_FUNC void
cuv_pca_spread (CuvPcaGroup group, const CuvPcaBasis *self, int k, double *mean,
    double *deviation)
{
  double variance = self->values[k], sum = 0.0, largest = 0.0;

  CUV_PCA_GROUP_COLUMNS (group, i, 0, self->n)
  {
    sum += self->vectors[k * self->n + i] * self->mean[i];
    largest = fmax (largest, self->values[i]);
  }
  *mean = 0.0;
  if (self->mode == CUV_PCA_SECOND_MOMENTS) {
    *mean = cuv_pca_group_row_sum (group, sum);
    variance -= *mean * *mean;
  }
  *deviation = variance > 1e-12 * cuv_pca_group_row_max (group, largest)
      ? sqrt (variance)
      : 0.0;
}

/* The linear map from the samples s_b of a pixel to three channels:
 * floor (clamp (offset + sum of gain[b] s_b, 0, top) + bias), summed band by
 * band in double. For bytes, bias is slightly above 0.5; otherwise rounding
 * errors would decide sums that are exactly halfway. */
typedef struct {
  int32_t n;
  double gain[CUV_PCA_SHOWN][CUV_CUBE_MAX_BANDS];
  double offset[CUV_PCA_SHOWN];
  double top, bias;
} CuvPcaGains;

/* Percentiles of each channel, in standard deviations from the mean. */
typedef struct {
  double low[CUV_PCA_SHOWN], high[CUV_PCA_SHOWN];
} CuvPcaLimits;

/* Whether two displays have the same limits. */
static inline int
cuv_pca_same_limits (const CuvPcaDisplay *a, const CuvPcaDisplay *b)
{
  int same = a->percentile == b->percentile;

  for (int c = 0; c < CUV_PCA_SHOWN; c++)
    same &= a->component[c] == b->component[c];
  return same;
}

/* A channel: slope * y + base, where y is component k. */
typedef struct {
  int k;
  double slope, base;
} CuvPcaChannel;

/* Returns the channel that maps low to 0 and high to 255. */
CUV_HOST_DEVICE CuvPcaChannel
cuv_pca_span (int k, double low, double high)
{
  const double slope = 255.0 * cuv_pca_reciprocal (high - low);
  const CuvPcaChannel channel = { k, slope, -slope * low };

  return channel;
}

CUV_HOST_DEVICE CuvPcaChannel
cuv_pca_constant (double value)
{
  const CuvPcaChannel channel = { 0, 0.0, value };

  return channel;
}

/* Returns the channel for mapping SIGMA. With second moments component 0 is
 * brightness, so black is 0, not mean - reach. */
CUV_PCA_GROUP_FUNC CuvPcaChannel
cuv_pca_sigma_channel (
    CuvPcaGroup group, const CuvPcaBasis *basis, int k, double sigmas)
{
  double mean, deviation, reach;

  cuv_pca_spread (group, basis, k, &mean, &deviation);
  reach = sigmas * deviation;
  if (basis->mode == CUV_PCA_SECOND_MOMENTS && k == 0 && mean + reach > 0.0)
    return cuv_pca_span (k, 0.0, mean + reach);
  if (deviation == 0.0) /* constant component */
    return cuv_pca_constant (128.0);
  return cuv_pca_span (k, mean - reach * (128.0 / 127.0), mean + reach);
}

CUV_PCA_GROUP_FUNC CuvPcaChannel
cuv_pca_percentile_channel (
    CuvPcaGroup group, const CuvPcaBasis *basis, int k, double low, double high)
{
  double mean, deviation;

  cuv_pca_spread (group, basis, k, &mean, &deviation);
  if (deviation == 0.0)
    return cuv_pca_constant (128.0);
  return cuv_pca_span (k, mean + low * deviation, mean + high * deviation);
}

/* Returns the channel that maps +- CUV_PCA_REACH deviations to the bins. */
CUV_PCA_GROUP_FUNC CuvPcaChannel
cuv_pca_bin_channel (CuvPcaGroup group, const CuvPcaBasis *basis, int k)
{
  const double middle = CUV_PCA_BINS / 2.0;
  CuvPcaChannel channel = { k, 0.0, middle };
  double mean, deviation;

  if (k < 0 || k >= basis->n)
    return cuv_pca_constant (middle);
  cuv_pca_spread (group, basis, k, &mean, &deviation);
  if (deviation == 0.0)
    return cuv_pca_constant (middle);
  channel.slope = middle * cuv_pca_reciprocal (CUV_PCA_REACH * deviation);
  channel.base = middle - channel.slope * mean;
  return channel;
}

/* Returns the map of channel c; components beyond the bands are grey. */
CUV_PCA_GROUP_FUNC CuvPcaChannel
cuv_pca_channel (CuvPcaGroup group, const CuvPcaBasis *basis,
    const CuvPcaDisplay *display, const CuvPcaLimits *limits, int c)
{
  const int k = display->component[c] - 1;

  if (k < 0)
    return cuv_pca_constant (0.0);
  if (k >= basis->n)
    return cuv_pca_constant (128.0);
  if (display->mapping == CUV_PCA_RANGE)
    return cuv_pca_span (k, display->range[0], display->range[1]);
  return display->mapping == CUV_PCA_PERCENTILE
      ? cuv_pca_percentile_channel (
          group, basis, k, limits->low[c], limits->high[c])
      : cuv_pca_sigma_channel (group, basis, k, display->sigmas);
}

/* Sets the gain of each band and the offset, which includes the mean. All
 * threads of a row must call it. */
CUV_PCA_GROUP_FUNC void
cuv_pca_set_channel (CuvPcaGroup group, CuvPcaGains *self, int c,
    const CuvPcaBasis *basis, CuvPcaChannel channel)
{
  const double *v = &basis->vectors[channel.k * basis->n];
  const int is_centred = basis->mode != CUV_PCA_SECOND_MOMENTS;
  double sum = 0.0;

  CUV_PCA_GROUP_COLUMNS (group, b, 0, basis->n)
  {
    double gain = channel.slope * v[b];

    if (basis->mode == CUV_PCA_PEARSON)
      gain = basis->deviation[b] > 0.0
          ? gain * cuv_pca_reciprocal (basis->deviation[b])
          : 0.0;
    self->gain[c][b] = gain;
    sum += is_centred ? gain * basis->mean[b] : 0.0;
  }
  sum = cuv_pca_group_row_sum (group, sum);
  if (group.column == 0)
    self->offset[c] = channel.base - sum;
}

/* See cuv_pca_gains_init() and, with bins, cuv_pca_gains_init_bins(). */
CUV_PCA_GROUP_FUNC void
cuv_pca_set_gains (CuvPcaGroup group, CuvPcaGains *self,
    const CuvPcaBasis *basis, const CuvPcaDisplay *display,
    const CuvPcaLimits *limits, int bins)
{
  if (cuv_pca_group_is_first (group)) {
    self->n = basis->n;
    self->top = bins ? CUV_PCA_BINS - 1.0 : 255.0;
    self->bias = bins ? 0.0 : 0.5 + 0x1p-12;
  }
  CUV_PCA_GROUP_ROWS (group, c, CUV_PCA_SHOWN)
  cuv_pca_set_channel (group, self, c, basis,
      bins ? cuv_pca_bin_channel (group, basis, display->component[c] - 1)
           : cuv_pca_channel (group, basis, display, limits, c));
}

/* Returns the bin, from `first` in direction `step`, where the cumulative count
 * exceeds rank. */
CUV_HOST_DEVICE int
cuv_pca_bin_of (const int64_t *bins, int first, int step, double rank)
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

/* Returns the lower edge of a bin, in deviations from the mean. */
CUV_HOST_DEVICE double
cuv_pca_deviations (int edge)
{
  return (double) edge * 2.0 * CUV_PCA_REACH / CUV_PCA_BINS - CUV_PCA_REACH;
}

/* Computes percentiles of channel c from a histogram of CUV_PCA_BINS bins. */
CUV_HOST_DEVICE void
cuv_pca_find_limits (
    CuvPcaLimits *self, const int64_t *counts, double percentile, int c)
{
  double rank = 0.0;

  for (int i = 0; i < CUV_PCA_BINS; i++)
    rank += (double) counts[i] * percentile / 100.0;
  self->low[c] = cuv_pca_deviations (cuv_pca_bin_of (counts, 0, 1, rank));
  self->high[c] = cuv_pca_deviations (
      cuv_pca_bin_of (counts, CUV_PCA_BINS - 1, -1, rank) + 1);
}

#endif
