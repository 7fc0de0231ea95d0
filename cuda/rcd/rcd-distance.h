/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the distance of a window from a model from the window's sums. gcc
 * and nvcc compile the same operations in the same order, so that both find the
 * same window. Windows are ordered by a score that is monotonic in the
 * distance: for JBLD its exponential, which saves the logarithm; for Foerstner
 * its square. */
#ifndef CUV_RCD_DISTANCE_H
#define CUV_RCD_DISTANCE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include "cuv-api.h"
#include "rcd/rcd-types.h"

/* If n is constant, unrolled loops keep matrices in registers. */
#ifdef __CUDA_ARCH__
#define CUV_RCD_UNROLL _Pragma ("unroll")
#else
#define CUV_RCD_UNROLL
#endif

/* Returns the index of element (i, j), i <= j, of a packed n x n matrix. */
CUV_HOST_DEVICE int
cuv_rcd_packed_index (int n, int i, int j)
{
  return i * n - i * (i - 1) / 2 + j - i;
}

/* ---- covariance ---- */

/* Moves the origin of the first two features, x and y, to (x, y). */
CUV_HOST_DEVICE void
cuv_rcd_move_origin (int64_t *sums, int n, int64_t pixels, int64_t x, int64_t y)
{
  int64_t *q = sums + n;

  CUV_RCD_UNROLL
  for (int j = 2; j < n; j++) {
    q[cuv_rcd_packed_index (n, 0, j)] -= x * sums[j];
    q[cuv_rcd_packed_index (n, 1, j)] -= y * sums[j];
  }
  q[cuv_rcd_packed_index (n, 0, 0)] += (x * pixels - 2 * sums[0]) * x;
  q[cuv_rcd_packed_index (n, 1, 1)] += (y * pixels - 2 * sums[1]) * y;
  q[cuv_rcd_packed_index (n, 0, 1)] +=
      x * y * pixels - x * sums[1] - y * sums[0];
  sums[0] -= x * pixels;
  sums[1] -= y * pixels;
}

/* Computes the covariance of the features over at least 2 pixels, and adds
 * lambda to the variances. c is packed. */
CUV_HOST_DEVICE void
cuv_rcd_covariance (
    const int64_t *sums, int n, int64_t pixels, double lambda, double *c)
{
  const double inv_n = 1.0 / (double) pixels;
  const double inv_n_minus_1 = 1.0 / (double) (pixels - 1);
  int k = 0;

  CUV_RCD_UNROLL
  for (int i = 0; i < n; i++) {
    CUV_RCD_UNROLL
    for (int j = i; j < n; j++, k++)
      c[k] =
          ((double) sums[n + k] - (double) sums[i] * (double) sums[j] * inv_n)
              * inv_n_minus_1
          + (i == j ? lambda : 0.0);
  }
}

/* Scales the first two features, x and y, by fx and fy; lambda is not scaled.
 */
CUV_HOST_DEVICE void
cuv_rcd_scale_xy (double *c, int n, double fx, double fy, double lambda)
{
  CUV_RCD_UNROLL
  for (int j = 2; j < n; j++) {
    c[cuv_rcd_packed_index (n, 0, j)] *= fx;
    c[cuv_rcd_packed_index (n, 1, j)] *= fy;
  }
  c[0] = (c[0] - lambda) * (fx * fx) + lambda;
  c[1] = c[1] * (fx * fy);
  c[n] = (c[n] - lambda) * (fy * fy) + lambda;
}

/* Computes the covariance of a window, scaled to a model of width x height
 * pixels. Moves the origin of sums from the frame to the window. */
CUV_HOST_DEVICE void
cuv_rcd_window_covariance (int64_t *sums, int n, const CuvRcdBox *box,
    double lambda, double width, double height, double *c)
{
  const int64_t pixels = (int64_t) box->width * box->height;

  if (n == 9)
    cuv_rcd_move_origin (sums, n, pixels, box->x, box->y);
  cuv_rcd_covariance (sums, n, pixels, lambda, c);
  if (n == 9)
    cuv_rcd_scale_xy (c, n, width / box->width, height / box->height, lambda);
}

/* ---- JBLD ---- */

/* Returns the determinant, by L D L^T decomposition, or 0 if the matrix is not
 * positive definite. Overwrites c. */
CUV_HOST_DEVICE double
cuv_rcd_det (double *c, int n)
{
  double det = 1.0;
  bool positive = true;

  CUV_RCD_UNROLL
  for (int k = 0; k < n; k++) {
    const double pivot = c[cuv_rcd_packed_index (n, k, k)],
                 inv_pivot = 1.0 / pivot;

    positive = positive && pivot > 0.0;
    det *= pivot;
    CUV_RCD_UNROLL
    for (int i = k + 1; i < n; i++) {
      const double f = c[cuv_rcd_packed_index (n, k, i)] * inv_pivot;

      CUV_RCD_UNROLL
      for (int j = i; j < n; j++)
        c[cuv_rcd_packed_index (n, i, j)] -=
            f * c[cuv_rcd_packed_index (n, k, j)];
    }
  }
  return positive ? det : 0.0;
}

/* Returns exp (2 JBLD), or infinity if a determinant is not positive.
 * Overwrites c. */
CUV_HOST_DEVICE double
cuv_rcd_jbld (double *c, int n, const CuvRcdModel *model)
{
  double middle[CUV_RCD_MAX_PACKED], det, det_middle, score;

  CUV_RCD_UNROLL
  for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
    middle[k] = (c[k] + model->c[k]) * 0.5;
  det = cuv_rcd_det (c, n);
  det_middle = cuv_rcd_det (middle, n);
  score = det_middle * det_middle / (det * model->det);
  return det > 0.0 && det_middle > 0.0 && score >= 0.0 ? score
                                                       : (double) INFINITY;
}

/* ---- Förstner ---- */

/* Applies the Jacobi rotation that makes a[p][q] zero to a, and to v unless it
 * is NULL. */
CUV_HOST_DEVICE void
cuv_rcd_rotate (double *a, double *v, int n, int p, int q)
{
  const double apq = a[p * n + q];
  const double tau = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
  const double t =
      (tau >= 0.0 ? 1.0 : -1.0) / (fabs (tau) + sqrt (1.0 + tau * tau));
  const double c = 1.0 / sqrt (1.0 + t * t), s = t * c;

  a[p * n + p] -= t * apq;
  a[q * n + q] += t * apq;
  a[p * n + q] = a[q * n + p] = 0.0;
  for (int k = 0; k < n; k++) {
    if (k != p && k != q) {
      const double kp = a[k * n + p], kq = a[k * n + q];

      a[k * n + p] = a[p * n + k] = c * kp - s * kq;
      a[k * n + q] = a[q * n + k] = s * kp + c * kq;
    }
    if (v != NULL) {
      const double kp = v[k * n + p], kq = v[k * n + q];

      v[k * n + p] = c * kp - s * kq;
      v[k * n + q] = s * kp + c * kq;
    }
  }
}

/* Diagonalises the full symmetric n x n matrix a in place. The eigenvalues are
 * not sorted. v is NULL, or the identity matrix, whose columns become the
 * eigenvectors. Rotations are cyclic by rows, so the order of operations is
 * fixed. */
CUV_HOST_DEVICE void
cuv_rcd_jacobi (double *a, double *v, int n)
{
  for (int sweep = 0; sweep < 30; sweep++) {
    double off = 0.0, total = 0.0;

    for (int i = 0; i < n * n; i++) {
      total += a[i] * a[i];
      off += i % (n + 1) == 0 ? 0.0 : a[i] * a[i];
    }
    if (!(off > 1e-30 * total))
      return;
    for (int p = 0; p < n - 1; p++) {
      for (int q = p + 1; q < n; q++) {
        if (a[p * n + q] != 0.0)
          cuv_rcd_rotate (a, v, n, p, q);
      }
    }
  }
}

/* Computes L^-1 C L^-T as a full matrix. Its eigenvalues are the generalised
 * eigenvalues of C and L L^T. inverse: the rows of the lower triangle L^-1. */
CUV_HOST_DEVICE void
cuv_rcd_whiten (const double *c, const double *inverse, int n, double *out)
{
  double half[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES];

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0.0;

      for (int k = 0; k <= i; k++)
        sum += inverse[CUV_RCD_TRIANGLE (i) + k]
            * c[k < j ? cuv_rcd_packed_index (n, k, j)
                      : cuv_rcd_packed_index (n, j, k)];
      half[i * n + j] = sum;
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = 0.0;

      for (int k = 0; k <= j; k++)
        sum += half[i * n + k] * inverse[CUV_RCD_TRIANGLE (j) + k];
      out[i * n + j] = out[j * n + i] = sum;
    }
  }
}

/* Returns the square of Förstner's distance, or infinity if c is not positive
 * definite. */
CUV_HOST_DEVICE double
cuv_rcd_forstner (const double *c, int n, const CuvRcdModel *model)
{
  double a[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES], sum = 0.0;

  cuv_rcd_whiten (c, model->inverse, n, a);
  cuv_rcd_jacobi (a, NULL, n);
  for (int i = 0; i < n; i++) {
    const double l = log (a[i * n + i]);

    if (!(a[i * n + i] > 0.0))
      return (double) INFINITY;
    sum += l * l;
  }
  return sum;
}

/* ---- windows ---- */

/* Computes by how much width and height of a box change if it grows by a number
 * of steps (< 0: shrinks). A step is 2^-shift of the longer side, at least a
 * pixel. The other side keeps the proportions. */
CUV_HOST_DEVICE void
cuv_rcd_resize (const CuvRcdBox *box, int steps, int shift, int *dw, int *dh)
{
  const bool wide = box->width >= box->height;
  const int longer = wide ? box->width : box->height;
  const int other = wide ? box->height : box->width;
  const int step = longer >> shift > 0 ? longer >> shift : 1;
  const int growth = steps * step;
  const int other_growth =
      (other * (longer + growth) + longer / 2) / longer - other;

  *dw = wide ? growth : other_growth;
  *dh = wide ? other_growth : growth;
}

/* ---- both metrics ---- */

/* Returns the score of a window, or infinity if it has fewer than n + 1 pixels.
 * Moves the origin of sums from the frame to the window. */
CUV_HOST_DEVICE double
cuv_rcd_score (int64_t *sums, int n, const CuvRcdBox *box,
    const CuvRcdModel *model, CuvRcdMetric metric, double lambda)
{
  double c[CUV_RCD_MAX_PACKED];

  if ((int64_t) box->width * box->height < n + 1)
    return (double) INFINITY;
  cuv_rcd_window_covariance (
      sums, n, box, lambda, model->width, model->height, c);
  return metric == CUV_RCD_JBLD ? cuv_rcd_jbld (c, n, model)
                                : cuv_rcd_forstner (c, n, model);
}

/* Returns the distance of a score, at least 0: rounding may leave a JBLD score
 * below 1. */
CUV_HOST_DEVICE double
cuv_rcd_distance (double score, CuvRcdMetric metric)
{
  if (metric == CUV_RCD_FORSTNER)
    return sqrt (score);
  return score > 1.0 ? 0.5 * log (score) : 0.0;
}

#endif
