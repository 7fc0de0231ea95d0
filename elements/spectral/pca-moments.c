/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From sums to means and covariances, and those of many frames. */
#include "pca.h"

#include <math.h>
#include <stdlib.h>

__extension__ typedef __int128 Wide;

bool
cuv_pca_moments_init (CuvPcaMoments *self, int n)
{
  const size_t size = (size_t) n;

  *self = (CuvPcaMoments){ .n = n,
    .mean = calloc (size, sizeof (double)),
    .covariance = calloc (size * size, sizeof (double)) };
  return self->mean != NULL && self->covariance != NULL;
}

void
cuv_pca_moments_clear (CuvPcaMoments *self)
{
  free (self->mean);
  free (self->covariance);
  *self = (CuvPcaMoments){ 0 };
}

/* ---- of a frame ---- */

static void
from_integers (CuvPcaMoments *self, const CuvPcaSum *sums)
{
  const int n = self->n, stride = CUV_PCA_STRIDE (n);
  const int64_t m = self->pixels;

  for (int i = 0; i < n; i++) {
    const int64_t sum = sums[i * stride + n].i;

    self->mean[i] = (double) sum / (double) m;
    for (int j = i; j < n; j++) {
      const Wide c = (Wide) m * sums[i * stride + j].i
          - (Wide) sum * sums[j * stride + n].i;

      self->covariance[i * n + j] = (double) c / ((double) m * (double) m);
    }
  }
}

static void
from_doubles (CuvPcaMoments *self, const CuvPcaSum *sums)
{
  const int n = self->n, stride = CUV_PCA_STRIDE (n);
  const double m = (double) self->pixels;

  for (int i = 0; i < n; i++)
    self->mean[i] = sums[i * stride + n].d / m;
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++)
      self->covariance[i * n + j] =
          sums[i * stride + j].d / m - self->mean[i] * self->mean[j];
  }
}

/* What a difference of two numbers cannot tell from 0. */
static void
drop_rounding (CuvPcaMoments *self)
{
  const int n = self->n;

  for (int i = 0; i < n; i++) {
    const double variance = self->covariance[i * n + i];

    if (variance > 1e-13 * self->mean[i] * self->mean[i])
      continue;
    for (int j = 0; j < n; j++)
      self->covariance[i < j ? i * n + j : j * n + i] = 0.0;
  }
}

static void
mirror (CuvPcaMoments *self)
{
  for (int i = 0; i < self->n; i++) {
    for (int j = 0; j < i; j++)
      self->covariance[i * self->n + j] = self->covariance[j * self->n + i];
  }
}

void
cuv_pca_moments_from_sums (
    CuvPcaMoments *self, const CuvPcaSum *sums, bool is_exact)
{
  const CuvPcaSum count = sums[self->n * CUV_PCA_STRIDE (self->n) + self->n];

  self->pixels = is_exact ? count.i : (int64_t) count.d;
  if (self->pixels == 0)
    return;
  if (is_exact) {
    from_integers (self, sums);
  } else {
    from_doubles (self, sums);
    drop_rounding (self);
  }
  mirror (self);
}

/* ---- of frames ---- */

static double
second_moment (const CuvPcaMoments *self, int i, int j)
{
  return self->covariance[i * self->n + j] + self->mean[i] * self->mean[j];
}

static bool
is_cut (const CuvPcaMoments *self, const CuvPcaMoments *frame)
{
  double norm = 0.0, difference = 0.0;

  for (int i = 0; i < self->n; i++) {
    for (int j = 0; j < self->n; j++) {
      const double r = second_moment (frame, i, j);
      const double d = r - second_moment (self, i, j);

      norm += r * r;
      difference += d * d;
    }
  }
  return difference > 0.25 * norm;
}

/* The covariance of a mixture has that of its parts' means. */
static void
mix (CuvPcaMoments *self, const CuvPcaMoments *frame, double a)
{
  const int n = self->n;

  for (int i = 0; i < n; i++) {
    const double di = frame->mean[i] - self->mean[i];

    for (int j = 0; j < n; j++) {
      const double dj = frame->mean[j] - self->mean[j];
      double *c = &self->covariance[i * n + j];

      *c = (1.0 - a) * *c + a * frame->covariance[i * n + j]
          + a * (1.0 - a) * (di * dj);
    }
  }
  for (int i = 0; i < n; i++)
    self->mean[i] += a * (frame->mean[i] - self->mean[i]);
}

bool
cuv_pca_moments_add (
    CuvPcaMoments *self, const CuvPcaMoments *frame, double smoothing)
{
  bool cut;

  if (frame->pixels == 0)
    return false;
  cut = self->pixels > 0 && is_cut (self, frame);
  mix (self, frame, self->pixels == 0 || cut ? 1.0 : smoothing);
  self->pixels = frame->pixels;
  return cut;
}
