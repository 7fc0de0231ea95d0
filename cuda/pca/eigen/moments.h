/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mean and covariance of a frame from its sums, and their average over frames.
 */
#ifndef CUV_PCA_EIGEN_MOMENTS_H
#define CUV_PCA_EIGEN_MOMENTS_H

#include "pca/eigen/thread-group.h"
#include "pca/pca-types.h"

__extension__ typedef __int128 CuvPcaWide;

/* The mean pixel and the covariance of bands, n x n, adjacent in memory. */
typedef struct {
  int32_t n;
  int64_t pixels; /* valid pixels of the last frame; 0: no frame yet */
  double *mean, *covariance;
} CuvPcaMoments;

#define CUV_PCA_MOMENTS_DOUBLES(n) ((n) * ((n) + 1))

/* Places the arrays in memory of CUV_PCA_MOMENTS_DOUBLES (n) doubles. */
CUV_HOST_DEVICE void
cuv_pca_place_moments (CuvPcaMoments *self, int n, double *memory)
{
  self->n = n;
  self->mean = memory;
  self->covariance = memory + n;
}

/* Returns the pivot of a float band: the mean of some samples if they are so
 * close to each other that sums of squares would cancel; otherwise 0.
 * Differences from it are exact (Sterbenz), except for far outliers. */
CUV_HOST_DEVICE float
cuv_pca_pivot (float minimum, float maximum, double sum, int count)
{
  const int above = minimum > 0.0f && maximum < 2.0f * minimum;
  const int below = maximum < 0.0f && minimum > 2.0f * maximum;
  const int fits =
      minimum > -1e30f && maximum < 1e30f; /* differences do not overflow */

  return count > 0 && (above || below) && fits ? (float) (sum / count) : 0.0f;
}

CUV_HOST_DEVICE int
cuv_pca_pivot_pixels (const CuvCube *cube)
{
  const int64_t n = (int64_t) cube->width * cube->height;

  return n < CUV_PCA_PIVOT_PIXELS ? (int) n : CUV_PCA_PIVOT_PIXELS;
}

/* Returns the index of the i-th pixel that pivots are estimated from. */
CUV_HOST_DEVICE int64_t
cuv_pca_pivot_pixel (const CuvCube *cube, int i)
{
  return (int64_t) cube->width * cube->height * i / cuv_pca_pivot_pixels (cube);
}

/* Converts to double, from multiples of 2^64 and a remainder >= -2^63. */
CUV_HOST_DEVICE double
cuv_pca_from_wide (CuvPcaWide x)
{
  const int64_t low = (int64_t) x;
  const int64_t high = (int64_t) ((x - low) >> 64);

  return (double) high * 18446744073709551616.0 + (double) low;
}

/* Returns the covariance of bands i <= j; for integers exact up to the final
 * roundings. by_m is 1 / pixels. */
CUV_HOST_DEVICE double
cuv_pca_covariance (int n, const CuvPcaSum *sums, int64_t pixels, int is_exact,
    double by_m, int i, int j)
{
  const int stride = CUV_PCA_STRIDE (n);

  if (is_exact) {
    const CuvPcaWide c = (CuvPcaWide) pixels * sums[i * stride + j].i
        - (CuvPcaWide) sums[i * stride + n].i * sums[j * stride + n].i;

    return cuv_pca_from_wide (c) * by_m * by_m;
  }
  return sums[i * stride + j].d * by_m
      - by_m * sums[i * stride + n].d * (by_m * sums[j * stride + n].d);
}

/* Whether a float band's variance is at rounding level. */
CUV_HOST_DEVICE int
cuv_pca_is_flat (int n, const CuvPcaSum *sums, double by_m, int i)
{
  const double mean = by_m * sums[i * CUV_PCA_STRIDE (n) + n].d;

  return !(
      cuv_pca_covariance (n, sums, 0, 0, by_m, i, i) > 1e-13 * mean * mean);
}

/* Computes the moments of a frame. is_exact: sums are integers. */
CUV_PCA_GROUP_FUNC void
cuv_pca_find_moments (
    CuvPcaGroup group, CuvPcaMoments *self, const CuvPcaSum *sums, int is_exact)
{
  const int n = self->n, stride = CUV_PCA_STRIDE (n);
  const CuvPcaSum count = sums[n * stride + n];
  const int64_t pixels = is_exact ? count.i : (int64_t) count.d;
  const double by_m = 1.0 / (double) pixels;

  self->pixels = pixels;
  if (pixels == 0)
    return;
  CUV_PCA_GROUP_EACH (group, i, n)
  self->mean[i] = is_exact
      ? by_m * (double) sums[i * stride + n].i
      : sums[n * stride + i].d + by_m * sums[i * stride + n].d;
  CUV_PCA_GROUP_UPPER (group, i, j, n)
  {
    const int flat = !is_exact
        && (cuv_pca_is_flat (n, sums, by_m, i)
            || cuv_pca_is_flat (n, sums, by_m, j));

    self->covariance[i * n + j] = self->covariance[j * n + i] =
        flat ? 0.0 : cuv_pca_covariance (n, sums, pixels, is_exact, by_m, i, j);
  }
  cuv_pca_group_sync (group);
}

CUV_HOST_DEVICE double
cuv_pca_second_moment (const CuvPcaMoments *self, int i, int j)
{
  return self->covariance[i * self->n + j] + self->mean[i] * self->mean[j];
}

/* Whether there is a scene cut: the second moments differ by more than half of
 * the frame's Frobenius norm. */
CUV_PCA_GROUP_FUNC int
cuv_pca_is_cut (CuvPcaGroup group, const CuvPcaMoments *self,
    const CuvPcaMoments *frame, CuvPcaGroupSlot *slots)
{
  double beyond = 0.0;

  CUV_PCA_GROUP_UPPER (group, i, j, self->n)
  {
    const double r = cuv_pca_second_moment (frame, i, j);
    const double d = r - cuv_pca_second_moment (self, i, j);

    beyond += (i < j ? 2.0 : 1.0) * (d * d - 0.25 * (r * r));
  }
  return cuv_pca_group_sum (group, beyond, slots) > 0.0;
}

/* Returns the difference of means, 0 if it is at rounding level, so that
 * constant bands get no variance. */
CUV_HOST_DEVICE double
cuv_pca_drift (double from, double to)
{
  const double drift = to - from;

  return fabs (drift) > 1e-11 * fabs (to) ? drift : 0.0;
}

/* Computes self = (1 - a) self + a frame, as a mixture: the covariance includes
 * that of the two means. */
CUV_PCA_GROUP_FUNC void
cuv_pca_mix (CuvPcaGroup group, CuvPcaMoments *self, const CuvPcaMoments *frame,
    double a)
{
  const int n = self->n;

  CUV_PCA_GROUP_UPPER (group, i, j, n)
  {
    const double di = cuv_pca_drift (self->mean[i], frame->mean[i]);
    const double dj = cuv_pca_drift (self->mean[j], frame->mean[j]);
    double *c = &self->covariance[i * n + j];

    *c = self->covariance[j * n + i] = (1.0 - a) * *c
        + a * frame->covariance[i * n + j] + a * (1.0 - a) * (di * dj);
  }
  cuv_pca_group_sync (group);
  CUV_PCA_GROUP_EACH (group, i, n)
  self->mean[i] += a * (frame->mean[i] - self->mean[i]);
}

/* See cuv_pca_moments_add(). Other threads may read the means after the next
 * cuv_pca_group_sync(). */
CUV_PCA_GROUP_FUNC int
cuv_pca_add_moments (CuvPcaGroup group, CuvPcaMoments *self,
    const CuvPcaMoments *frame, double smoothing, CuvPcaGroupSlot *slots)
{
  const int known = self->pixels > 0;
  int cut;

  if (frame->pixels == 0)
    return 0;
  cut = known && cuv_pca_is_cut (group, self, frame, slots);
  cuv_pca_mix (group, self, frame, !known || cut ? 1.0 : smoothing);
  self->pixels = frame->pixels;
  return cut;
}

#endif
