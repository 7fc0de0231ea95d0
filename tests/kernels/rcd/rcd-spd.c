/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions and means of positive definite matrices. */
#include "cuvcheck.h"
#include "rcd/rcd-distance.h"
#include "track/spd.h"

#include <string.h>

#define MAX CUV_RCD_MAX_FEATURES
enum { COUNT = 12 };

typedef bool (*Mean) (const CuvSpd *matrices, int count, int n, CuvSpd *out);
static const Mean means[] = { cuv_spd_mean_riemann, cuv_spd_mean_jbld };

static double
uniform (double low, double high)
{
  return low + (high - low) * cuv_check_below (1 << 20) / (double) (1 << 20);
}

/* Fills a matrix that is diagonally dominant by 0.5 or more, so that congruence
 * keeps matrices well conditioned. */
static void
random_full (double *m, int n)
{
  for (int i = 0; i < n * n; i++)
    m[i] = uniform (-0.5, 0.5) / n + (i % (n + 1) == 0 ? 1.0 : 0.0);
}

/* Returns m a m^T. */
static CuvSpd
transform (const CuvSpd *a, const double *m, int n)
{
  CuvSpd out;

  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++) {
      double sum = 0;

      for (int k = 0; k < n; k++) {
        for (int l = 0; l < n; l++)
          sum += m[i * n + k] * m[j * n + l]
              * a->c[k < l ? cuv_rcd_packed_index (n, k, l)
                           : cuv_rcd_packed_index (n, l, k)];
      }
      out.c[cuv_rcd_packed_index (n, i, j)] = sum;
    }
  }
  return out;
}

static CuvSpd
diagonal (int n, double low, double high)
{
  CuvSpd a = { { 0 } };

  for (int i = 0; i < n; i++)
    a.c[cuv_rcd_packed_index (n, i, i)] = exp (uniform (log (low), log (high)));
  return a;
}

/* Returns a matrix like the covariances of an object: variances differ between
 * features, but not much between frames. */
static CuvSpd
random_matrix (int n)
{
  CuvSpd a = diagonal (n, 0.2, 5);
  double m[MAX * MAX];

  random_full (m, n);
  a = transform (&a, m, n);
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++)
      a.c[cuv_rcd_packed_index (n, i, j)] *= pow (2, i + j - n);
  }
  return a;
}

static double
difference (const CuvSpd *a, const CuvSpd *b, int n)
{
  CuvSpd d;

  for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
    d.c[k] = a->c[k] - b->c[k];
  return cuv_spd_norm (&d, n) / cuv_spd_norm (b, n);
}

/* ---- functions ---- */

static void
check_functions (int n)
{
  CuvSpd a = random_matrix (n), root, inverse_root, b;
  double unit = 0;

  CUV_CHECK (cuv_spd_log (&a, n, &b));
  cuv_spd_exp (&b, n, &b);
  CUV_CHECK (difference (&b, &a, n) < 1e-10, ": %g", difference (&b, &a, n));

  CUV_CHECK (cuv_spd_sqrt (&a, n, &root, &inverse_root));
  b = diagonal (n, 1, 1);
  cuv_spd_congruence (&b, &root, n, &b);
  CUV_CHECK (difference (&b, &a, n) < 1e-10);
  cuv_spd_congruence (&a, &inverse_root, n, &b);
  for (int i = 0; i < n; i++)
    unit += fabs (b.c[cuv_rcd_packed_index (n, i, i)] - 1.0);
  CUV_CHECK (fabs (cuv_spd_norm (&b, n) - sqrt (n)) + unit < 1e-6);

  CUV_CHECK (cuv_spd_inverse (&a, n, &b) && cuv_spd_inverse (&b, n, &b));
  CUV_CHECK (difference (&b, &a, n) < 1e-6);
}

CUV_CHECKS_CPU (check_known)
{
  /* [[2, 1], [1, 2]] has the eigenvalues 3 and 1 along (1, 1) and (1, -1) */
  const CuvSpd a = { { 2, 1, 2 } };
  CuvSpd out, other;

  cuv_check_case ("a matrix of two rows");
  CUV_CHECK (cuv_spd_log (&a, 2, &out));
  for (int k = 0; k < 3; k++)
    CUV_CHECK (fabs (out.c[k] - log (3) / 2) < 1e-15);
  CUV_CHECK (cuv_spd_sqrt (&a, 2, &out, &other));
  CUV_CHECK (fabs (out.c[1] - (sqrt (3) - 1) / 2) < 1e-15);
  CUV_CHECK (fabs (other.c[1] - (1 / sqrt (3) - 1) / 2) < 1e-15);
  CUV_CHECK (fabs (cuv_spd_norm (&a, 2) - sqrt (10)) < 1e-15);
}

CUV_CHECKS_CPU (check_refused)
{
  const CuvSpd bad[] = { { { 1, 2, 1 } }, { { 0, 0, 1 } }, { { -1, 0, 1 } },
    { { NAN, 0, 1 } }, { { INFINITY, 0, 1 } } };
  CuvSpd out, other;

  for (int i = 0; i < 5; i++) {
    cuv_check_case ("bad matrix %d", i);
    CUV_CHECK (!cuv_spd_log (&bad[i], 2, &out));
    CUV_CHECK (!cuv_spd_sqrt (&bad[i], 2, &out, &other));
    CUV_CHECK (!cuv_spd_inverse (&bad[i], 2, &out));
    for (int m = 0; m < 2; m++)
      CUV_CHECK (!means[m](&bad[i], 1, 2, &out));
  }
}

/* ---- means ---- */

static void
check_copies (Mean mean, int n)
{
  CuvSpd copies[COUNT], out;

  copies[0] = random_matrix (n);
  for (int t = 1; t < COUNT; t++)
    copies[t] = copies[0];
  CUV_CHECK (mean (copies, COUNT, n, &out));
  CUV_CHECK (difference (&out, copies, n) < 1e-9, ": %g",
      difference (&out, copies, n));
}

/* Checks that the mean of commuting matrices is the geometric mean; for JBLD
 * this holds for two matrices only. */
static void
check_commuting (Mean mean, int n, int count)
{
  CuvSpd matrices[COUNT], out, expected = { { 0 } };

  for (int t = 0; t < count; t++)
    matrices[t] = diagonal (n, 0.2, 5);
  for (int i = 0; i < n; i++) {
    const int at = cuv_rcd_packed_index (n, i, i);
    double sum = 0;

    for (int t = 0; t < count; t++)
      sum += log (matrices[t].c[at]);
    expected.c[at] = exp (sum / count);
  }
  CUV_CHECK (mean (matrices, count, n, &out));
  for (int i = 0; i < n; i++) {
    const int at = cuv_rcd_packed_index (n, i, i);

    CUV_CHECK (fabs (out.c[at] / expected.c[at] - 1) < 1e-7, ": %g, not %g",
        out.c[at], expected.c[at]);
  }
  CUV_CHECK (difference (&out, &expected, n) < 1e-7);
}

static void
check_equivariance (Mean mean, int n)
{
  CuvSpd matrices[COUNT], moved[COUNT], out, of_moved;
  double m[MAX * MAX];

  random_full (m, n);
  for (int t = 0; t < COUNT; t++) {
    matrices[t] = random_matrix (n);
    moved[t] = transform (&matrices[t], m, n);
  }
  CUV_CHECK (mean (matrices, COUNT, n, &out));
  CUV_CHECK (mean (moved, COUNT, n, &of_moved));
  out = transform (&out, m, n);
  CUV_CHECK (difference (&of_moved, &out, n) < 1e-8, ": %g",
      difference (&of_moved, &out, n));
}

/* Returns the sum of squared Förstner distances, or of JBLDs. */
static double
cost (const CuvSpd *matrices, int n, const CuvSpd *mean, CuvRcdMetric metric)
{
  double sum = 0;

  for (int t = 0; t < COUNT; t++) {
    CuvRcdModel model = { .det = 0 };
    CuvSpd c = matrices[t];

    memcpy (model.c, mean->c, sizeof model.c);
    if (metric == CUV_RCD_JBLD) {
      CuvSpd lost = *mean;

      model.det = cuv_rcd_det (lost.c, n);
      sum += cuv_rcd_distance (cuv_rcd_jbld (c.c, n, &model), metric);
    } else {
      CuvSpd root, inverse_root, seen;

      cuv_spd_sqrt (mean, n, &root, &inverse_root);
      cuv_spd_congruence (&c, &inverse_root, n, &seen);
      cuv_spd_log (&seen, n, &seen);
      sum += pow (cuv_spd_norm (&seen, n), 2);
    }
  }
  return sum;
}

/* Returns a random step of this length, which must exceed the rounding errors
 * of the cost. */
static void
random_step (CuvSpd *step, double length, int n)
{
  double norm;

  do {
    for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
      step->c[k] = uniform (-1, 1);
    norm = cuv_spd_norm (step, n);
  } while (norm < 1e-2);
  for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
    step->c[k] *= length / norm;
}

static void
check_minimum (Mean mean, CuvRcdMetric metric, int n)
{
  CuvSpd matrices[COUNT], out, step, root, other;
  double least;

  for (int t = 0; t < COUNT; t++)
    matrices[t] = random_matrix (n);
  CUV_CHECK (mean (matrices, COUNT, n, &out));
  least = cost (matrices, n, &out, metric);
  CUV_CHECK (cuv_spd_sqrt (&out, n, &root, &other));
  for (int i = 0; i < 20; i++) {
    random_step (&step, 1e-2, n);
    cuv_spd_exp (&step, n, &step);
    cuv_spd_congruence (&step, &root, n, &other);
    CUV_CHECK (cost (matrices, n, &other, metric) > least);
  }
}

static void
check_means (int n)
{
  for (int m = 0; m < 2; m++) {
    cuv_check_case ("mean %d of %d rows", m, n);
    check_copies (means[m], n);
    check_commuting (means[m], n, m == 0 ? COUNT : 2);
  }
  check_equivariance (cuv_spd_mean_riemann, n);
  check_equivariance (cuv_spd_mean_jbld, n);
  check_minimum (cuv_spd_mean_riemann, CUV_RCD_FORSTNER, n);
  check_minimum (cuv_spd_mean_jbld, CUV_RCD_JBLD, n);
}

CUV_CHECKS_CPU (check_sizes)
{
  for (int n = 1; n <= MAX; n++) {
    cuv_check_case ("%d rows", n);
    check_functions (n);
    check_means (n);
  }
}
