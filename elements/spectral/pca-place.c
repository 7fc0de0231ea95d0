/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which eigenvector is which component, and which way round. */
#include "pca-place.h"

#include <math.h>
#include <string.h>

/* ---- order and signs ---- */

/* Falling, those of the same value as they were. */
static void
sort (const double *values, int n, int32_t *order)
{
  for (int i = 0; i < n; i++) {
    int at = i;

    for (; at > 0 && values[order[at - 1]] < values[i]; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

static void
negate (double *v, int n)
{
  for (int i = 0; i < n; i++)
    v[i] = -v[i];
}

/* The largest component is positive; of those that differ only by rounding the
 * first. */
static void
set_sign (double *v, int n)
{
  double largest = 0.0;
  int at = 0;

  for (int i = 0; i < n; i++)
    largest = fmax (largest, fabs (v[i]));
  while (fabs (v[at]) < largest * (1.0 - 1e-9))
    at++;
  if (v[at] < 0.0)
    negate (v, n);
}

/* The row's largest |dot| among those not taken; -1: all are. */
static int
best_of (const double *dots, int n, const int32_t *taken)
{
  int best = -1;

  for (int j = 0; j < n; j++) {
    if (!taken[j] && (best < 0 || fabs (dots[j]) > fabs (dots[best])))
      best = j;
  }
  return best;
}

/* order[k] becomes the new vector that is most like the old one k: of all pairs
 * that are left, the one most alike first. */
static void
match (const double *dots, int n, int32_t *order)
{
  int32_t taken[CUV_CUBE_MAX_BANDS] = { 0 }, best[CUV_CUBE_MAX_BANDS];

  for (int k = 0; k < n; k++) {
    order[k] = -1;
    best[k] = best_of (&dots[k * n], n, taken);
  }
  for (int done = 0; done < n; done++) {
    int at = -1;

    for (int k = 0; k < n; k++) {
      if (order[k] < 0 && taken[best[k]])
        best[k] = best_of (&dots[k * n], n, taken);
      if (order[k] < 0
          && (at < 0
              || fabs (dots[k * n + best[k]]) > fabs (dots[at * n + best[at]])))
        at = k;
    }
    order[at] = best[at];
    taken[best[at]] = 1;
  }
}

/* Puts vector order[k] at k. */
static void
arrange (CuvPcaBasis *self, const CuvPcaScratch *scratch)
{
  const int n = self->n;

  for (int k = 0; k < n; k++) {
    self->values[k] = scratch->values[scratch->order[k]];
    memcpy (&self->vectors[k * n], &scratch->vectors[scratch->order[k] * n],
        (size_t) n * sizeof (double));
  }
}

void
cuv_pca_place_freely (CuvPcaBasis *self, CuvPcaScratch *scratch)
{
  sort (scratch->values, self->n, scratch->order);
  arrange (self, scratch);
  for (int k = 0; k < self->n; k++)
    set_sign (&self->vectors[k * self->n], self->n);
}

void
cuv_pca_place_as_before (CuvPcaBasis *self, CuvPcaScratch *scratch)
{
  const int n = self->n;

  memcpy (scratch->a, self->vectors, (size_t) (n * n) * sizeof (double));
  cuv_pca_multiply (scratch->a, n, scratch->vectors, n, n, scratch->b);
  match (scratch->b, n, scratch->order);
  arrange (self, scratch);
  for (int k = 0; k < n; k++) {
    if (scratch->b[k * n + scratch->order[k]] < 0.0)
      negate (&self->vectors[k * n], n);
  }
}

/* ---- near eigenvalues ---- */

/* Makes q the rotation nearest to itself, g x g, by Newton and Schulz: q (3 -
 * q^T q) / 2. false: it is too far from any. */
static bool
nearest_rotation (double *q, double *product, double *next, int g)
{
  for (int step = 0; step < 40; step++) {
    double error = 0.0;

    cuv_pca_multiply (
        q, g, q, g, g, product); /* q q^T: from the left it is the same */
    for (int i = 0; i < g * g; i++) {
      const double d = product[i] - (i % (g + 1) == 0 ? 1.0 : 0.0);

      error = fmax (error, fabs (d));
    }
    if (error <= 1e-13 * g)
      return true;
    memset (next, 0, (size_t) (g * g) * sizeof *next);
    for (int i = 0; i < g; i++) {
      cuv_pca_add_scaled (&next[i * g], &q[i * g], 1.5, g);
      for (int j = 0; j < g; j++)
        cuv_pca_add_scaled (
            &next[i * g], &q[j * g], -0.5 * product[i * g + j], g);
    }
    memcpy (q, next, (size_t) (g * g) * sizeof *q);
  }
  return false;
}

/* Turns components members[0 .. g - 1]. */
static void
align_members (
    CuvPcaBasis *self, CuvPcaScratch *scratch, const int32_t *members, int g)
{
  const int n = self->n;
  double *q = scratch->b, *turned = scratch->vectors;
  double *values = scratch->values;

  for (int i = 0; i < g; i++) {
    for (int j = 0; j < g; j++)
      q[i * g + j] = cuv_pca_dot (
          &scratch->a[members[i] * n], &self->vectors[members[j] * n], n);
  }
  if (!nearest_rotation (q, scratch->c, turned, g))
    return;
  memset (turned, 0, (size_t) (g * n) * sizeof *turned);
  memset (values, 0, (size_t) g * sizeof *values);
  for (int i = 0; i < g; i++) {
    for (int j = 0; j < g; j++) {
      const double c = q[i * g + j];

      cuv_pca_add_scaled (&turned[i * n], &self->vectors[members[j] * n], c, n);
      values[i] += c * c * self->values[members[j]];
    }
  }
  for (int i = 0; i < g; i++) {
    memcpy (&self->vectors[members[i] * n], &turned[i * n],
        (size_t) n * sizeof *turned);
    self->values[members[i]] = values[i];
  }
}

void
cuv_pca_align (CuvPcaBasis *self, CuvPcaScratch *scratch)
{
  const int n = self->n;
  int32_t *order = scratch->order;
  double near;
  int first = 0;

  sort (self->values, n, order);
  near = 0.01 * self->values[order[0]];
  for (int k = 1; k <= n; k++) {
    if (k < n && self->values[order[k - 1]] - self->values[order[k]] < near)
      continue;
    if (k - first > 1)
      align_members (self, scratch, &order[first], k - first);
    first = k;
  }
}
