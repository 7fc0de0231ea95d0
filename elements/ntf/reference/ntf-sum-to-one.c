/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row of values that are at least 0 and sum to 1: fully constrained least
 * squares (Heinz, Chang 2001), by conjugate gradients among the values that are
 * free; the others are at the minimum. */
#include "ntf.h"

#include <math.h>

typedef struct {
  int n;
  double x[CUV_NTF_MAX_RANK], residuals[CUV_NTF_MAX_RANK]; /* numerators minus
                                                            * factors times Gram
                                                            * matrix: N - X M */
  bool is_free[CUV_NTF_MAX_RANK];
  double direction[CUV_NTF_MAX_RANK];
  double square; /* squared norm of the last gradient; 0: restart */
} Abundances;

/* Computes M times a vector. */
static void
multiply (const CuvNtfUpdate *self, const double *vector, double *product)
{
  const int n = self->rank;

  for (int k = 0; k < n; k++)
    product[k] = 0;
  for (int l = 0; l < n; l++) {
    for (int k = 0; k < n; k++)
      product[k] += vector[l] * self->product[l * n + k];
  }
}

static void
abundances_begin (const CuvNtfUpdate *self, const float *numerators,
    const float *row, Abundances *s)
{
  double product[CUV_NTF_MAX_RANK], sum = 0;

  s->n = self->rank;
  s->square = 0;
  for (int k = 0; k < s->n; k++)
    sum += row[k];
  for (int k = 0; k < s->n; k++) {
    s->x[k] = row[k] / sum;
    s->is_free[k] = s->x[k] > CUV_NTF_LEAST_ABUNDANCE;
  }
  multiply (self, s->x, product);
  for (int k = 0; k < s->n; k++)
    s->residuals[k] = numerators[k] - product[k];
}

/* Returns the mean residual of free values. If all of them have this residual,
 * the error is minimal among values with this sum. */
static double
free_mean (const Abundances *s)
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
turn (Abundances *s)
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
bend (const CuvNtfUpdate *self, const Abundances *s, double *product)
{
  double curvature = 0;

  multiply (self, s->direction, product);
  for (int k = 0; k < s->n; k++)
    curvature += s->direction[k] * product[k];
  return curvature;
}

/* Limits a step so that no value falls below the minimum; returns the index of
 * the value that reaches it, or -1. */
static int
limit_step (const Abundances *s, double *step)
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

/* Returns whether a value changed or is no longer free. */
static bool
abundances_move (const CuvNtfUpdate *self, Abundances *s)
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

/* Frees the value whose growth would lower the error most, if there is one. */
static bool
release (const CuvNtfUpdate *self, Abundances *s)
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

void
cuv_ntf_sum_to_one_row (
    const CuvNtfUpdate *self, const float *numerators, float *row)
{
  Abundances s;

  abundances_begin (self, numerators, row, &s);
  for (int i = 0; i < CUV_NTF_SUM_TO_ONE_STEPS * s.n; i++) {
    if (!abundances_move (self, &s) && !release (self, &s))
      break;
  }
  for (int k = 0; k < s.n; k++)
    row[k] = cuv_ntf_in_range (s.x[k] < CUV_NTF_LEAST_ABUNDANCE ? 0 : s.x[k]);
}
