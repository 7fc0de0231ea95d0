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
factor_row (const CuvNtfFactors *self, int mode, int i)
{
  return &self->mode[mode][(size_t) i * (size_t) self->stride];
}

void
cuv_ntf_add_gram (
    const float *rows, size_t n, int rank, int stride, double *gram)
{
  for (size_t i = 0; i < n; i++, rows += stride) {
    for (int k = 0; k < rank; k++) {
      for (int l = 0; l < rank; l++)
        gram[k * rank + l] += (double) rows[k] * rows[l];
    }
  }
}

void
cuv_ntf_gram (const CuvNtfFactors *self, int mode, double *gram)
{
  for (int k = 0; k < self->rank * self->rank; k++)
    gram[k] = 0;
  cuv_ntf_add_gram (self->mode[mode], (size_t) self->size[mode], self->rank,
      self->stride, gram);
}

/* The rows of the factors that meet at a value of G. The factors of a MATRIX
 * have the size 1 x pixels x depth. */
typedef struct {
  int row[CUV_NTF_MODES];
} Place;

static Place
ntf_place_of (
    const CuvNtfTensor *tensor, const CuvNtfFactors *f, int y, int x, int z)
{
  return f->size[CUV_NTF_V] == tensor->width
      ? (Place){ { y, x, z } }
      : (Place){ { 0, y * tensor->width + x, z } };
}

/* Adds the contribution of one value of G to the numerators. */
static void
add_numerators (const CuvNtfFactors *f, double value, const int at[], int mode,
    double *numerators)
{
  const int p = (mode + 1) % CUV_NTF_MODES, q = (mode + 2) % CUV_NTF_MODES;
  const float *a = factor_row (f, p, at[p]), *b = factor_row (f, q, at[q]);

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
        add_numerators (f, *value++, ntf_place_of (tensor, f, y, x, z).row,
            mode, numerators);
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
  const int first =
      params->factorisation == CUV_NTF_MATRIX ? CUV_NTF_V : CUV_NTF_U;
  CuvNtfGram grams[CUV_NTF_MODES];
  double *numerators[CUV_NTF_MODES];

  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    numerators[mode] = malloc (
        (size_t) (factors->size[mode] * factors->stride) * sizeof (double));
    cuv_ntf_gram (factors, mode, grams[mode]);
  }
  for (int mode = 0; mode < CUV_NTF_MODES && !gs; mode++)
    find_numerators (tensor, factors, mode, numerators[mode]);
  for (int mode = first; mode < CUV_NTF_MODES; mode++) {
    if (gs)
      find_numerators (tensor, factors, mode, numerators[mode]);
    update_mode (params, factors, grams, mode, numerators[mode]);
    if (gs)
      cuv_ntf_gram (factors, mode, grams[mode]);
  }
  for (int mode = 0; mode < CUV_NTF_MODES; mode++)
    free (numerators[mode]);
}

static double
sum_of_terms (const CuvNtfFactors *f, const int at[])
{
  const float *u = factor_row (f, CUV_NTF_U, at[CUV_NTF_U]);
  const float *v = factor_row (f, CUV_NTF_V, at[CUV_NTF_V]);
  const float *w = factor_row (f, CUV_NTF_W, at[CUV_NTF_W]);
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
        double difference = *value
            - sum_of_terms (
                factors, ntf_place_of (tensor, factors, y, x, z).row);

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
  if (params->factorisation == CUV_NTF_MATRIX)
    cuv_ntf_set_ones (factors);
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
