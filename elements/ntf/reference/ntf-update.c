/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From numerators to new values of a row of a factor. */
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
  self->damping = cuv_ntf_damping (params, mode);
  for (int k = 0; k < rank * rank; k++)
    self->product[k] = grams[p][k] * grams[q][k];
  for (int k = 0; k < rank; k++) {
    const int at = k * rank + k;

    self->penalty[k] = params->sparsity * self->product[at]
        * sqrt (grams[mode][at] / factors->size[mode]);
    self->is_fixed[k] = cuv_ntf_vanished (grams[p][at], factors->size[p])
        || cuv_ntf_vanished (grams[q][at], factors->size[q]);
  }
}

/* Multiplicative update of a row: x <- x N / (X M). */
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

/* residuals -= factor * M[k], M symmetric. */
static void
subtract_row (const CuvNtfUpdate *self, int k, double factor, double *residuals)
{
  for (int l = 0; l < self->rank; l++)
    residuals[l] -= factor * self->product[k * self->rank + l];
}

/* HALS: x_k <- x_k + (N_k - X M_k) / M_kk in order of k. Returns whether a
 * value changed. */
static bool
sweep (const CuvNtfUpdate *self, double *residuals, float *row)
{
  bool changed = false;

  for (int k = 0; k < self->rank; k++) {
    const float previous = row[k];

    if (self->is_fixed[k])
      continue;
    row[k] = cuv_ntf_in_range (previous
        + residuals[k] / (self->product[k * self->rank + k] + self->damping));
    if (row[k] != previous)
      subtract_row (self, k, (double) row[k] - (double) previous, residuals);
    changed |= row[k] != previous;
  }
  return changed;
}

/* Sweeps of HALS over a row; residuals are N - X M. */
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

/* ---- a row that sums to 1 ---- */

/* Fully constrained least squares (Heinz, Chang 2001): conjugate gradients
 * among the values that are free; others are at the minimum. */
typedef struct {
  int n;
  double x[CUV_NTF_MAX_RANK], residuals[CUV_NTF_MAX_RANK]; /* N - X M */
  bool is_free[CUV_NTF_MAX_RANK];
  double direction[CUV_NTF_MAX_RANK];
  double square; /* of the last gradient; 0: the next direction is a new one */
} Shares;

static void
begin (const CuvNtfUpdate *self, const float *numerators, const float *row,
    Shares *s)
{
  double sum = 0;

  s->n = self->rank;
  s->square = 0;
  for (int k = 0; k < s->n; k++) {
    sum += row[k];
    s->residuals[k] = numerators[k];
  }
  for (int k = 0; k < s->n; k++) {
    s->x[k] = row[k] / sum;
    s->is_free[k] = s->x[k] > CUV_NTF_LEAST_SHARE;
    subtract_row (self, k, s->x[k], s->residuals);
  }
}

/* The mean residual of free values: where all have it, the error of values with
 * this sum is at its minimum. */
static double
free_mean (const Shares *s)
{
  double sum = 0;
  int n = 0;

  for (int k = 0; k < s->n; k++) {
    sum += s->is_free[k] ? s->residuals[k] : 0;
    n += s->is_free[k];
  }
  return sum / n;
}

/* Sets the direction, conjugate to the last one; returns its slope. */
static double
turn (Shares *s)
{
  const double mean = free_mean (s), before = s->square;
  double gradient[CUV_NTF_MAX_RANK], slope = 0;

  s->square = 0;
  for (int k = 0; k < s->n; k++) {
    gradient[k] = s->is_free[k] ? s->residuals[k] - mean : 0;
    s->square += gradient[k] * gradient[k];
  }
  for (int k = 0; k < s->n; k++) {
    s->direction[k] = before > 0
        ? gradient[k] + s->square / before * s->direction[k]
        : gradient[k];
    slope += gradient[k] * s->direction[k];
  }
  return slope;
}

/* Multiplies M by the direction; returns the curvature along it. */
static double
bend (const CuvNtfUpdate *self, const Shares *s, double *product)
{
  double curvature = 0;

  for (int k = 0; k < s->n; k++)
    product[k] = 0;
  for (int k = 0; k < s->n; k++)
    subtract_row (self, k, -s->direction[k], product);
  for (int k = 0; k < s->n; k++)
    curvature += s->direction[k] * product[k];
  return curvature;
}

/* Limits a step so that no value falls below the minimum; returns the one that
 * reaches it, or -1. */
static int
limit_step (const Shares *s, double *step)
{
  int reached = -1;

  for (int k = 0; k < s->n; k++) {
    const double room = s->x[k] - CUV_NTF_MIN_VALUE;

    if (s->direction[k] < 0 && room < -*step * s->direction[k]) {
      *step = room / -s->direction[k];
      reached = k;
    }
  }
  return reached;
}

/* Returns whether values changed, or one is no longer free. */
static bool
move (const CuvNtfUpdate *self, Shares *s)
{
  double product[CUV_NTF_MAX_RANK], change = 0;
  const double slope = turn (s), curvature = bend (self, s, product);
  double step = slope / curvature;
  int reached;

  if (!(curvature > 0) || !(step > 0))
    return false;
  reached = limit_step (s, &step);
  for (int k = 0; k < s->n; k++) {
    s->x[k] += step * s->direction[k];
    s->residuals[k] -= step * product[k];
    change = fmax (change, fabs (step * s->direction[k]));
  }
  if (reached < 0)
    return change > CUV_NTF_LEAST_CHANGE;
  s->x[reached] = CUV_NTF_MIN_VALUE;
  s->is_free[reached] = false;
  s->square = 0;
  return true;
}

/* Frees the value whose growth would lower the error most, if any would. */
static bool
release (const CuvNtfUpdate *self, Shares *s)
{
  double most = free_mean (s);
  int found = -1;

  for (int k = 0; k < s->n; k++) {
    const double needed = CUV_NTF_LEAST_CHANGE * self->product[k * s->n + k];

    if (!s->is_free[k] && s->residuals[k] - needed > most) {
      most = s->residuals[k] - needed;
      found = k;
    }
  }
  if (found >= 0)
    s->is_free[found] = true;
  s->square = 0;
  return found >= 0;
}

static void
share (const CuvNtfUpdate *self, const float *numerators, float *row)
{
  Shares s;

  begin (self, numerators, row, &s);
  for (int i = 0; i < CUV_NTF_SHARE_STEPS * s.n; i++) {
    if (!move (self, &s) && !release (self, &s))
      break;
  }
  for (int k = 0; k < s.n; k++)
    row[k] = cuv_ntf_in_range (s.x[k] < CUV_NTF_LEAST_SHARE ? 0 : s.x[k]);
}

void
cuv_ntf_update_row (
    const CuvNtfUpdate *self, const float *numerators, float *row)
{
  if (self->sums_to_one)
    share (self, numerators, row);
  else if (self->algorithm == CUV_NTF_HALS)
    solve (self, numerators, row);
  else
    multiply (self, numerators, row);
}
