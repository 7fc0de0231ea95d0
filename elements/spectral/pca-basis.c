/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Components of one frame after the other. */
#include "pca-place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

bool
cuv_pca_basis_init (CuvPcaBasis *self, int n)
{
  const size_t size = (size_t) n;

  *self = (CuvPcaBasis){ .n = n,
    .mean = calloc (size, sizeof (double)),
    .deviation = calloc (size, sizeof (double)),
    .values = calloc (size, sizeof (double)),
    .vectors = calloc (size * size, sizeof (double)) };
  return self->mean && self->deviation && self->values && self->vectors;
}

void
cuv_pca_basis_clear (CuvPcaBasis *self)
{
  free (self->mean);
  free (self->deviation);
  free (self->values);
  free (self->vectors);
  *self = (CuvPcaBasis){ 0 };
}

void
cuv_pca_basis_copy (CuvPcaBasis *self, const CuvPcaBasis *from)
{
  const size_t size = (size_t) from->n * sizeof (double);

  self->mode = from->mode;
  self->is_known = from->is_known;
  memcpy (self->mean, from->mean, size);
  memcpy (self->deviation, from->deviation, size);
  memcpy (self->values, from->values, size);
  memcpy (self->vectors, from->vectors, (size_t) from->n * size);
}

bool
cuv_pca_scratch_init (CuvPcaScratch *self, int n)
{
  const size_t size = (size_t) n;

  *self = (CuvPcaScratch){ calloc (size * size, sizeof (double)),
    calloc (size * size, sizeof (double)),
    calloc (size * size, sizeof (double)),
    calloc (size * size, sizeof (double)), calloc (size, sizeof (double)),
    calloc (size, sizeof (int32_t)) };
  return self->a && self->b && self->c && self->vectors && self->values
      && self->order;
}

void
cuv_pca_scratch_clear (CuvPcaScratch *self)
{
  free (self->a);
  free (self->b);
  free (self->c);
  free (self->vectors);
  free (self->values);
  free (self->order);
  *self = (CuvPcaScratch){ 0 };
}

/* ---- the matrix ---- */

/* Rotations of many frames would add up to a basis a little askew. */
static void
orthonormalise (double *v, int n)
{
  for (int i = 0; i < n; i++) {
    double *row = &v[i * n];
    double norm;

    for (int j = 0; j < i; j++)
      cuv_pca_add_scaled (row, &v[j * n], -cuv_pca_dot (row, &v[j * n], n), n);
    norm = sqrt (cuv_pca_dot (row, row, n));
    for (int k = 0; k < n; k++)
      row[k] /= norm;
  }
}

static void
set_deviations (CuvPcaBasis *self, const CuvPcaMoments *moments)
{
  for (int i = 0; i < self->n; i++)
    self->deviation[i] = self->mode == CUV_PCA_PEARSON
        ? sqrt (fmax (moments->covariance[i * self->n + i], 0.0))
        : 1.0;
}

static double
element (const CuvPcaBasis *self, const CuvPcaMoments *moments, int i, int j)
{
  const double c = moments->covariance[i * self->n + j];
  const double scale = self->deviation[i] * self->deviation[j];

  if (self->mode == CUV_PCA_CORRELATION)
    return c + moments->mean[i] * moments->mean[j];
  return scale > 0.0 ? c / scale : 0.0;
}

static void
set_matrix (const CuvPcaBasis *self, const CuvPcaMoments *moments, double *a)
{
  for (int i = 0; i < self->n; i++) {
    for (int j = 0; j < self->n; j++)
      a[i * self->n + j] = element (self, moments, i, j);
  }
}

/* Into the axes of v: nearly diagonal, if v is nearly right. */
static void
turn (double *a, double *b, const double *v, int n)
{
  cuv_pca_multiply (v, n, a, n, n, b);
  cuv_pca_multiply (b, n, v, n, n, a);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++)
      a[i * n + j] = a[j * n + i];
  }
}

/* ---- an update ---- */

/* In scratch vectors and values, in no order. */
static int
solve (const CuvPcaBasis *self, CuvPcaScratch *scratch, bool warm)
{
  const int n = self->n;
  int sweeps;

  if (warm) {
    memcpy (
        scratch->vectors, self->vectors, (size_t) (n * n) * sizeof (double));
    orthonormalise (scratch->vectors, n);
    turn (scratch->a, scratch->b, scratch->vectors, n);
  } else {
    memset (scratch->vectors, 0, (size_t) (n * n) * sizeof (double));
    for (int i = 0; i < n; i++)
      scratch->vectors[i * n + i] = 1.0;
  }
  sweeps = cuv_pca_jacobi (scratch->a, scratch->vectors, n);
  for (int i = 0; i < n; i++)
    scratch->values[i] = fmax (scratch->a[i * n + i], 0.0);
  return sweeps;
}

int
cuv_pca_basis_update (CuvPcaBasis *self, const CuvPcaMoments *moments,
    const CuvPcaLearning *learning, CuvPcaScratch *scratch)
{
  const bool warm = self->is_known && self->mode == learning->mode;
  int sweeps;

  self->mode = learning->mode;
  self->is_known = true;
  memcpy (self->mean, moments->mean, (size_t) self->n * sizeof (double));
  set_deviations (self, moments);
  set_matrix (self, moments, scratch->a);
  sweeps = solve (self, scratch, warm);
  if (!warm || learning->stabilise == CUV_PCA_FREE)
    cuv_pca_place_freely (self, scratch);
  else
    cuv_pca_place_as_before (self, scratch);
  if (warm && learning->stabilise == CUV_PCA_PROCRUSTES)
    cuv_pca_align (self, scratch);
  return sweeps;
}

/* ---- what it says ---- */

double
cuv_pca_basis_total (const CuvPcaBasis *self)
{
  double total = 0.0;

  for (int k = 0; k < self->n; k++)
    total += self->values[k];
  return total;
}

static double
largest_value (const CuvPcaBasis *self)
{
  double largest = 0.0;

  for (int k = 0; k < self->n; k++)
    largest = fmax (largest, self->values[k]);
  return largest;
}

void
cuv_pca_basis_spread (
    const CuvPcaBasis *self, int k, double *mean, double *deviation)
{
  double variance = self->values[k];

  *mean = 0.0;
  if (self->mode == CUV_PCA_CORRELATION) {
    *mean = cuv_pca_dot (&self->vectors[k * self->n], self->mean, self->n);
    variance -= *mean * *mean;
  }
  *deviation = variance > 1e-12 * largest_value (self) ? sqrt (variance) : 0.0;
}
