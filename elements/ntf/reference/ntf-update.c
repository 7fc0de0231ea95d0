/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes new values of a factor's row from numerators: the rules of
 * docs/spectralntf.md, "What is computed". x is the row, N its numerators, and
 * M self->product, the product of the other factors' Gram matrices. */
#include "ntf.h"

#include <math.h>

void
cuv_ntf_update_init (CuvNtfUpdate *self, const CuvNtfParams *params,
    const CuvNtfFactors *factors, CuvNtfGram grams[CUV_NTF_MODES], int mode)
{
  const int p = (mode + 1) % CUV_NTF_MODES, q = (mode + 2) % CUV_NTF_MODES;
  const int rank = factors->rank;

  self->algorithm = params->algorithm;
  self->schedule = params->schedule;
  self->sums_to_one = params->sum_to_one && mode == CUV_NTF_V;
  self->rank = rank;
  for (int k = 0; k < rank * rank; k++)
    self->product[k] = grams[p][k] * grams[q][k];
  for (int k = 0; k < rank; k++) {
    const int at = k * rank + k;

    self->divisors[k] = self->product[at] + cuv_ntf_damping (params, mode);
    /* what the sparsity adds to the derivative of half the squared error, x M -
     * N: sparsity x M_kk x the column's root mean square. So multiply() adds it
     * to the denominator x M; HALS subtracts it from N and divides by M_kk,
     * which lowers x_k by sparsity x that root mean square. */
    self->penalty[k] = params->sparsity * self->product[at]
        * sqrt (grams[mode][at] / factors->size[mode]);
    self->is_fixed[k] = cuv_ntf_vanished (grams[p][at], factors->size[p])
        || cuv_ntf_vanished (grams[q][at], factors->size[q]);
  }
}

/* Updates a row by multiplication: x <- x N / (x M), or by the ratio's cube
 * root if all three factors are updated from the old ones. */
static void
multiply (const CuvNtfUpdate *self, const float *numerators, float *row)
{
  const int rank = self->rank;
  double denominators[CUV_NTF_MAX_RANK];

  for (int k = 0; k < rank; k++)
    denominators[k] = self->penalty[k];
  for (int l = 0; l < rank; l++) {
    for (int k = 0; k < rank; k++)
      denominators[k] += row[l] * self->product[l * rank + k];
  }
  for (int k = 0; k < rank; k++) {
    double ratio = numerators[k] / fmax (denominators[k], 1e-20);

    row[k] = cuv_ntf_in_range (
        row[k] * (self->schedule == CUV_NTF_JACOBI ? cbrt (ratio) : ratio));
  }
}

/* Computes residuals -= factor * M[k]; M is symmetric. */
static void
subtract_row (const CuvNtfUpdate *self, int k, double factor, double *residuals)
{
  for (int l = 0; l < self->rank; l++)
    residuals[l] -= factor * self->product[k * self->rank + l];
}

/* Sweeps over a row with HALS: x_k <- x_k + residual_k / (M_kk + damping) in
 * order of k. Returns whether a value changed. */
static bool
sweep (const CuvNtfUpdate *self, double *residuals, float *row)
{
  bool changed = false;

  for (int k = 0; k < self->rank; k++) {
    const float previous = row[k];

    if (self->is_fixed[k])
      continue;
    row[k] = cuv_ntf_in_range (previous + residuals[k] / self->divisors[k]);
    if (row[k] != previous)
      subtract_row (self, k, (double) row[k] - (double) previous, residuals);
    changed |= row[k] != previous;
  }
  return changed;
}

/* Updates a row by sweeps of HALS; residuals are N - penalty - x M. */
static void
solve (const CuvNtfUpdate *self, const float *numerators, float *row)
{
  double residuals[CUV_NTF_MAX_RANK];

  for (int k = 0; k < self->rank; k++)
    residuals[k] = numerators[k] - self->penalty[k];
  for (int k = 0; k < self->rank; k++)
    subtract_row (self, k, row[k], residuals);
  for (int i = 0; i < CUV_NTF_SWEEPS && sweep (self, residuals, row); i++)
    ;
}

void
cuv_ntf_update_row (
    const CuvNtfUpdate *self, const float *numerators, float *row)
{
  if (self->sums_to_one)
    cuv_ntf_sum_to_one_row (self, numerators, row);
  else if (self->algorithm == CUV_NTF_HALS)
    solve (self, numerators, row);
  else
    multiply (self, numerators, row);
}
