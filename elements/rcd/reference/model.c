/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model of a target: its covariance, determinant and inverse factor. */
#include "rcd.h"
#include "rcd/rcd-distance.h"

#include <string.h>

/* Computes the inverse of the Cholesky factor of c: rows of its lower triangle.
 * c is positive definite. */
static void
invert_factor (const double *c, int n, double *inverse)
{
  double l[CUV_RCD_MAX_PACKED];

  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = c[cuv_rcd_packed_index (n, j, i)];

      for (int k = 0; k < j; k++)
        sum -= l[CUV_RCD_TRIANGLE (i) + k] * l[CUV_RCD_TRIANGLE (j) + k];
      l[CUV_RCD_TRIANGLE (i) + j] =
          i == j ? sqrt (sum) : sum / l[CUV_RCD_TRIANGLE (j) + j];
    }
  }
  for (int j = 0; j < n; j++) {
    for (int i = j; i < n; i++) {
      double sum = i == j ? 1.0 : 0.0;

      for (int k = j; k < i; k++)
        sum -= l[CUV_RCD_TRIANGLE (i) + k] * inverse[CUV_RCD_TRIANGLE (k) + j];
      inverse[CUV_RCD_TRIANGLE (i) + j] = sum / l[CUV_RCD_TRIANGLE (i) + i];
    }
  }
}

bool
cuv_rcd_model_init (CuvRcdModel *self, const double *covariance, int n,
    double width, double height)
{
  double c[CUV_RCD_MAX_PACKED];
  const size_t size = (size_t) CUV_RCD_TRIANGLE (n) * sizeof *c;

  *self = (CuvRcdModel){ .width = width, .height = height };
  memcpy (self->c, covariance, size);
  memcpy (c, covariance, size);
  self->det = cuv_rcd_det (c, n);
  if (!(self->det > 0.0))
    return false;
  invert_factor (self->c, n, self->inverse);
  return true;
}

bool
cuv_rcd_model_from_sums (CuvRcdModel *self, const int64_t *sums, int n,
    const CuvRcdBox *box, double lambda)
{
  const int64_t pixels = (int64_t) box->width * box->height;
  double c[CUV_RCD_MAX_PACKED];

  if (pixels < n + 1)
    return false;
  cuv_rcd_covariance (sums, n, pixels, lambda, c);
  return cuv_rcd_model_init (self, c, n, box->width, box->height);
}
