/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "track/spd.h"
#include "rcd/rcd-distance.h"

#include <string.h>

enum { MAX_ROUNDS = 200 };

/* ---- eigenvalues ---- */

typedef struct {
  double value[CUV_RCD_MAX_FEATURES];
  double vector[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES]; /* columns */
} Eigen;

static void
spd_unpack (const CuvSpd *a, int n, double *full)
{
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++)
      full[i * n + j] = full[j * n + i] = a->c[cuv_rcd_packed_index (n, i, j)];
  }
}

static void
eigen_init (Eigen *self, const CuvSpd *a, int n)
{
  double full[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES];

  spd_unpack (a, n, full);
  for (int i = 0; i < n * n; i++)
    self->vector[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
  cuv_rcd_jacobi (full, self->vector, n);
  for (int i = 0; i < n; i++)
    self->value[i] = full[i * n + i];
}

static bool
eigen_is_positive (const Eigen *self, int n)
{
  for (int i = 0; i < n; i++) {
    if (!(self->value[i] > 0.0) || isinf (self->value[i]))
      return false;
  }
  return true;
}

/* Computes the matrix with the same eigenvectors and function (eigenvalues). */
static void
eigen_compose (
    const Eigen *self, int n, double (*function) (double), CuvSpd *out)
{
  double value[CUV_RCD_MAX_FEATURES];

  for (int k = 0; k < n; k++)
    value[k] = function (self->value[k]);
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++) {
      double sum = 0.0;

      for (int k = 0; k < n; k++)
        sum += self->vector[i * n + k] * value[k] * self->vector[j * n + k];
      out->c[cuv_rcd_packed_index (n, i, j)] = sum;
    }
  }
}

static double
inverse_sqrt (double v)
{
  return 1.0 / sqrt (v);
}

static double
inverse (double v)
{
  return 1.0 / v;
}

/* Applies a function to the eigenvalues. Returns false in the same cases as
 * cuv_spd_log(). */
static bool
apply (const CuvSpd *a, int n, double (*function) (double), CuvSpd *out)
{
  Eigen eigen;

  eigen_init (&eigen, a, n);
  if (!eigen_is_positive (&eigen, n))
    return false;
  eigen_compose (&eigen, n, function, out);
  return true;
}

bool
cuv_spd_log (const CuvSpd *a, int n, CuvSpd *out)
{
  return apply (a, n, log, out);
}

bool
cuv_spd_inverse (const CuvSpd *a, int n, CuvSpd *out)
{
  return apply (a, n, inverse, out);
}

bool
cuv_spd_sqrt (const CuvSpd *a, int n, CuvSpd *root, CuvSpd *inverse_root)
{
  Eigen eigen;

  eigen_init (&eigen, a, n);
  if (!eigen_is_positive (&eigen, n))
    return false;
  eigen_compose (&eigen, n, sqrt, root);
  eigen_compose (&eigen, n, inverse_sqrt, inverse_root);
  return true;
}

void
cuv_spd_exp (const CuvSpd *a, int n, CuvSpd *out)
{
  Eigen eigen;

  eigen_init (&eigen, a, n);
  eigen_compose (&eigen, n, exp, out);
}

/* ---- arithmetic ---- */

void
cuv_spd_congruence (const CuvSpd *a, const CuvSpd *b, int n, CuvSpd *out)
{
  double fa[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES];
  double fb[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES];
  double half[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES] = { 0 };

  spd_unpack (a, n, fa);
  spd_unpack (b, n, fb);
  for (int i = 0; i < n * n; i++) {
    for (int k = 0; k < n; k++)
      half[i] += fb[i / n * n + k] * fa[k * n + i % n];
  }
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++) {
      double sum = 0.0;

      for (int k = 0; k < n; k++)
        sum += half[i * n + k] * fb[k * n + j];
      out->c[cuv_rcd_packed_index (n, i, j)] = sum;
    }
  }
}

void
cuv_spd_lerp (const CuvSpd *a, const CuvSpd *b, double t, int n, CuvSpd *out)
{
  for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
    out->c[k] = a->c[k] + t * (b->c[k] - a->c[k]);
}

double
cuv_spd_norm (const CuvSpd *a, int n)
{
  double sum = 0.0;

  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++) {
      const double v = a->c[cuv_rcd_packed_index (n, i, j)];

      sum += i == j ? v * v : 2.0 * v * v;
    }
  }
  return sqrt (sum);
}

/* ---- means ---- */

/* Computes the arithmetic mean of the matrices, or of function (matrix,
 * parameter). */
static bool
mean_of (const CuvSpd *matrices, int count, int n, const CuvSpd *parameter,
    bool (*function) (const CuvSpd *, const CuvSpd *, int, CuvSpd *),
    CuvSpd *out)
{
  CuvSpd sum = { { 0 } }, one;

  for (int t = 0; t < count; t++) {
    if (function == NULL)
      one = matrices[t];
    else if (!function (&matrices[t], parameter, n, &one))
      return false;
    for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
      sum.c[k] += one.c[k];
  }
  for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
    out->c[k] = sum.c[k] / count;
  return true;
}

/* Computes the logarithm of a in the tangent space at a mean. inverse_root: the
 * inverse of the mean's square root. */
static bool
log_at (const CuvSpd *a, const CuvSpd *inverse_root, int n, CuvSpd *out)
{
  CuvSpd whitened;

  cuv_spd_congruence (a, inverse_root, n, &whitened);
  return cuv_spd_log (&whitened, n, out);
}

static bool
inverse_of_middle (const CuvSpd *a, const CuvSpd *mean, int n, CuvSpd *out)
{
  CuvSpd middle;

  cuv_spd_lerp (a, mean, 0.5, n, &middle);
  return cuv_spd_inverse (&middle, n, out);
}

bool
cuv_spd_mean_riemann (const CuvSpd *matrices, int count, int n, CuvSpd *out)
{
  CuvSpd root, inverse_root, mean, step;

  mean_of (matrices, count, n, NULL, NULL, out);
  for (int round = 0; round < MAX_ROUNDS; round++) {
    if (!cuv_spd_sqrt (out, n, &root, &inverse_root)
        || !mean_of (matrices, count, n, &inverse_root, log_at, &mean))
      return false;
    cuv_spd_exp (&mean, n, &step);
    cuv_spd_congruence (&step, &root, n, out);
    if (cuv_spd_norm (&mean, n) < 1e-6)
      return true;
  }
  return true;
}

bool
cuv_spd_mean_jbld (const CuvSpd *matrices, int count, int n, CuvSpd *out)
{
  CuvSpd mean, next, change;

  mean_of (matrices, count, n, NULL, NULL, out);
  for (int round = 0; round < MAX_ROUNDS; round++) {
    if (!mean_of (matrices, count, n, out, inverse_of_middle, &mean)
        || !cuv_spd_inverse (&mean, n, &next))
      return false;
    for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
      change.c[k] = next.c[k] - out->c[k];
    *out = next;
    if (cuv_spd_norm (&change, n) < 1e-10 * cuv_spd_norm (out, n))
      return true;
  }
  return true;
}
