/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Eigenvectors of a symmetric matrix, by rotations in fixed order. */
#include "pca.h"

#include <math.h>

enum { MAX_SWEEPS = 12 };

/* The sum of squares of what is off the diagonal, or of all. */
static double
square_sum (const double *a, int n, bool all)
{
  double sum = 0.0;

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      sum += i != j || all ? a[i * n + j] * a[i * n + j] : 0.0;
  }
  return sum;
}

static void
rotate_rows (double *restrict p, double *restrict q, int n, double c, double s)
{
  for (int i = 0; i < n; i++) {
    const double vp = p[i], vq = q[i];

    p[i] = c * vp - s * vq;
    q[i] = s * vp + c * vq;
  }
}

/* Makes a[p][q] 0 by the smaller of the two angles that do. */
static void
rotate (double *a, double *v, int n, int p, int q)
{
  const double apq = a[p * n + q], app = a[p * n + p], aqq = a[q * n + q];
  const double theta = (aqq - app) / (2.0 * apq);
  const double root = fabs (theta) + sqrt (theta * theta + 1.0);
  const double t = (theta < 0.0 ? -1.0 : 1.0) / root;
  const double c = 1.0 / sqrt (t * t + 1.0), s = t * c;

  rotate_rows (&a[p * n], &a[q * n], n, c, s);
  a[p * n + p] = app - t * apq;
  a[q * n + q] = aqq + t * apq;
  a[p * n + q] = a[q * n + p] = 0.0;
  for (int i = 0; i < n; i++) {
    a[i * n + p] = a[p * n + i];
    a[i * n + q] = a[q * n + i];
  }
  rotate_rows (&v[p * n], &v[q * n], n, c, s);
}

/* Too small to change what it would be added to, or the end. */
static bool
is_negligible (const double *a, int n, int p, int q, double limit)
{
  const double x = fabs (a[p * n + q]);

  return x <= 1e-16 * fmin (fabs (a[p * n + p]), fabs (a[q * n + q]))
      || x <= limit;
}

int
cuv_pca_jacobi (double *a, double *v, int n)
{
  const double all = square_sum (a, n, true);
  const double limit = 1e-14 * sqrt (all) / n;

  for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    if (square_sum (a, n, false) <= 1e-24 * all)
      return sweep;
    for (int p = 0; p < n - 1; p++) {
      for (int q = p + 1; q < n; q++) {
        if (!is_negligible (a, n, p, q, limit))
          rotate (a, v, n, p, q);
      }
    }
  }
  return MAX_SWEEPS;
}
