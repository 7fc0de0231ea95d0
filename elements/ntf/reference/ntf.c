/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Factors, an iteration and a run. In an iteration each mode gets its
 * numerators, then the update of its factor. */
#include "ntf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

float *
cuv_ntf_alloc (size_t n)
{
  const size_t line = 64, size = (n * sizeof (float) + line - 1) / line * line;
  float *memory = n > SIZE_MAX / 8 ? NULL : aligned_alloc (line, size);

  if (memory != NULL)
    memset (memory, 0, size);
  return memory;
}

bool
cuv_ntf_factors_init (
    CuvNtfFactors *self, int height, int width, int depth, int rank)
{
  *self = (CuvNtfFactors){ { height, width, depth }, rank, cuv_ntf_pad (rank),
    { 0 } };
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    self->mode[mode] =
        cuv_ntf_alloc ((size_t) self->size[mode] * (size_t) self->stride);
    if (self->mode[mode] == NULL)
      return false;
  }
  return true;
}

void
cuv_ntf_factors_clear (CuvNtfFactors *self)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++)
    free (self->mode[mode]);
  *self = (CuvNtfFactors){ 0 };
}

static const float *
row_of (const CuvNtfFactors *self, int mode, int i)
{
  return &self->mode[mode][(size_t) i * (size_t) self->stride];
}

void
cuv_ntf_gram (const CuvNtfFactors *self, int mode, double *gram)
{
  const int rank = self->rank;

  for (int k = 0; k < rank * rank; k++)
    gram[k] = 0;
  for (int i = 0; i < self->size[mode]; i++) {
    const float *row = row_of (self, mode, i);

    for (int k = 0; k < rank; k++) {
      for (int l = 0; l < rank; l++)
        gram[k * rank + l] += (double) row[k] * row[l];
    }
  }
}

void
cuv_ntf_update_init (CuvNtfUpdate *self, const CuvNtfParams *params,
    const CuvNtfFactors *factors, CuvNtfGram grams[CUV_NTF_MODES], int mode)
{
  const int p = (mode + 1) % CUV_NTF_MODES, q = (mode + 2) % CUV_NTF_MODES;
  const int rank = factors->rank;

  self->algorithm = params->algorithm;
  self->schedule = params->schedule;
  self->rank = rank;
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
    row[k] = cuv_ntf_in_range (
        previous + residuals[k] / self->product[k * self->rank + k]);
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

void
cuv_ntf_update_row (
    const CuvNtfUpdate *self, const float *numerators, float *row)
{
  if (self->algorithm == CUV_NTF_HALS)
    solve (self, numerators, row);
  else
    multiply (self, numerators, row);
}

/* Adds the contribution of one value of G, at (y, x, z), to the numerators. */
static void
add_numerators (const CuvNtfFactors *f, double value, const int at[], int mode,
    double *numerators)
{
  const int p = (mode + 1) % CUV_NTF_MODES, q = (mode + 2) % CUV_NTF_MODES;
  const float *a = row_of (f, p, at[p]), *b = row_of (f, q, at[q]);

  for (int k = 0; k < f->rank; k++)
    numerators[at[mode] * f->stride + k] += value * a[k] * b[k];
}

static void
find_numerators (const CuvNtfTensor *tensor, const CuvNtfFactors *f, int mode,
    double *numerators)
{
  const float *value = tensor->values;

  for (int k = 0; k < f->size[mode] * f->stride; k++)
    numerators[k] = 0;
  for (int y = 0; y < tensor->height; y++) {
    for (int z = 0; z < tensor->depth; z++) {
      for (int x = 0; x < tensor->width; x++)
        add_numerators (f, *value++, (int[]){ y, x, z }, mode, numerators);
    }
  }
}

static void
update_mode (const CuvNtfParams *params, CuvNtfFactors *f,
    CuvNtfGram grams[CUV_NTF_MODES], int mode, const double *numerators)
{
  CuvNtfUpdate update;

  cuv_ntf_update_init (&update, params, f, grams, mode);
  for (int i = 0; i < f->size[mode]; i++) {
    float row[CUV_NTF_MAX_RANK];

    for (int k = 0; k < f->rank; k++)
      row[k] = (float) numerators[i * f->stride + k];
    cuv_ntf_update_row (&update, row, &f->mode[mode][i * f->stride]);
  }
}

void
cuv_ntf_iterate (const CuvNtfTensor *tensor, const CuvNtfParams *params,
    CuvNtfFactors *factors)
{
  const bool gs = params->schedule == CUV_NTF_GS;
  CuvNtfGram grams[CUV_NTF_MODES];
  double *numerators[CUV_NTF_MODES];

  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    numerators[mode] = malloc (
        (size_t) (factors->size[mode] * factors->stride) * sizeof (double));
    cuv_ntf_gram (factors, mode, grams[mode]);
  }
  for (int mode = 0; mode < CUV_NTF_MODES && !gs; mode++)
    find_numerators (tensor, factors, mode, numerators[mode]);
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    if (gs)
      find_numerators (tensor, factors, mode, numerators[mode]);
    update_mode (params, factors, grams, mode, numerators[mode]);
    if (gs)
      cuv_ntf_gram (factors, mode, grams[mode]);
    free (numerators[mode]);
  }
}

static double
sum_of_terms (const CuvNtfFactors *f, int y, int x, int z)
{
  const float *u = row_of (f, CUV_NTF_U, y), *v = row_of (f, CUV_NTF_V, x);
  const float *w = row_of (f, CUV_NTF_W, z);
  double sum = 0;

  for (int k = 0; k < f->rank; k++)
    sum += (double) u[k] * v[k] * w[k];
  return sum;
}

double
cuv_ntf_error (const CuvNtfTensor *tensor, const CuvNtfFactors *factors)
{
  const float *value = tensor->values;
  double residual = 0, total = 0;

  for (int y = 0; y < tensor->height; y++) {
    for (int z = 0; z < tensor->depth; z++) {
      for (int x = 0; x < tensor->width; x++, value++) {
        double difference = *value - sum_of_terms (factors, y, x, z);

        residual += difference * difference;
        total += (double) *value * *value;
      }
    }
  }
  return total > 0 ? sqrt (residual / total) : 0;
}

void
cuv_ntf_run (const CuvNtfTensor *tensor, const CuvNtfParams *params,
    CuvNtfFactors *factors, CuvNtfResult *result)
{
  *result = (CuvNtfResult){ 0 };
  if (params->init == CUV_NTF_PREVIOUS)
    cuv_ntf_resume (factors, tensor->scale);
  else
    cuv_ntf_randomise (factors, params->seed);
  for (int n = 1; n <= params->iterations && !result->converged; n++) {
    cuv_ntf_iterate (tensor, params, factors);
    result->iterations = n;
    if (!cuv_ntf_has_test (params, n))
      continue;
    cuv_ntf_record_error (result, params, cuv_ntf_error (tensor, factors));
    if (params->reinit_dead && n < params->iterations && !result->converged)
      cuv_ntf_revive (factors, params->seed, (uint32_t) n);
  }
  cuv_ntf_finish (factors, params, tensor->scale, result);
}
