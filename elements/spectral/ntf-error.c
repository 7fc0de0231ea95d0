/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How good factors are, and how a run ends. */
#include "ntf.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const float *
row_of (const CuvNtfFactors *self, int mode, int i)
{
  return &self->mode[mode][(size_t) i * (size_t) self->stride];
}

/* ---- errors ---- */

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
  double rest = 0, all = 0;

  for (int y = 0; y < tensor->height; y++) {
    for (int z = 0; z < tensor->depth; z++) {
      for (int x = 0; x < tensor->width; x++, value++) {
        double difference = *value - sum_of_terms (factors, y, x, z);

        rest += difference * difference;
        all += (double) *value * *value;
      }
    }
  }
  return all > 0 ? sqrt (rest / all) : 0;
}

bool
cuv_ntf_has_test (const CuvNtfParams *params, int n)
{
  return n % CUV_NTF_TEST_EVERY == 0 || n == params->iterations;
}

void
cuv_ntf_note (CuvNtfResult *result, const CuvNtfParams *params, double error)
{
  const int n = result->n_errors++;

  result->errors[n] = error;
  result->converged =
      n > 0 && fabs (result->errors[n - 1] - error) < params->tolerance;
}

/* ---- weights ---- */

static double
norm (const CuvNtfFactors *self, int mode, int k)
{
  double sum = 0;

  for (int i = 0; i < self->size[mode]; i++) {
    double value = row_of (self, mode, i)[k];

    sum += value * value;
  }
  return sqrt (sum);
}

void
cuv_ntf_weights (const CuvNtfFactors *self, double *weights)
{
  for (int k = 0; k < self->rank; k++) {
    weights[k] = 1;
    for (int mode = 0; mode < CUV_NTF_MODES; mode++)
      weights[k] *= norm (self, mode, k);
  }
}

/* The sum of weights of a tensor that is not 0 is about 1, its largest value.
 */
double
cuv_ntf_find_dead (const CuvNtfFactors *self, bool *dead)
{
  double weights[CUV_NTF_MAX_RANK], sum = 0;

  cuv_ntf_weights (self, weights);
  for (int k = 0; k < self->rank; k++)
    sum += weights[k];
  for (int k = 0; k < self->rank; k++)
    dead[k] = sum < 1e-6 || weights[k] < 1e-6 * sum;
  return sum;
}

/* ---- the end ---- */

static void
scale_column (CuvNtfFactors *self, int mode, int k, double factor)
{
  float least = 0;

  for (int i = 0; i < self->size[mode]; i++)
    least = fmaxf (least, FLT_EPSILON * row_of (self, mode, i)[k]);
  for (int i = 0; i < self->size[mode]; i++) {
    float *value = &self->mode[mode][i * self->stride + k];

    *value = *value <= least ? 0 : (float) (*value * factor);
  }
}

static void
scale_term (CuvNtfFactors *self, int k, bool normalise, double scale)
{
  double u = normalise ? norm (self, CUV_NTF_U, k) : 1;
  double v = normalise ? norm (self, CUV_NTF_V, k) : 1;

  scale_column (self, CUV_NTF_U, k, 1 / u);
  scale_column (self, CUV_NTF_V, k, 1 / v);
  scale_column (self, CUV_NTF_W, k, u * v * scale);
}

static void
clear_term (CuvNtfFactors *self, int k)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < self->size[mode]; i++)
      self->mode[mode][i * self->stride + k] = 0;
  }
}

static void
swap_terms (CuvNtfFactors *self, int k, int l)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < self->size[mode]; i++) {
      float *row = &self->mode[mode][i * self->stride], was = row[k];

      row[k] = row[l];
      row[l] = was;
    }
  }
}

static void
sort_terms (CuvNtfFactors *self, double *weights)
{
  for (int k = 0; k < self->rank; k++) {
    int most = k;
    double was = weights[k];

    for (int l = k + 1; l < self->rank; l++)
      most = weights[l] > weights[most] ? l : most;
    if (most == k)
      continue;
    swap_terms (self, k, most);
    weights[k] = weights[most];
    weights[most] = was;
  }
}

void
cuv_ntf_finish (CuvNtfFactors *self, const CuvNtfParams *params, double scale,
    CuvNtfResult *result)
{
  double weights[CUV_NTF_MAX_RANK];
  bool dead[CUV_NTF_MAX_RANK];

  cuv_ntf_find_dead (self, dead);
  result->effective_rank = 0;
  for (int k = 0; k < self->rank; k++) {
    if (dead[k])
      clear_term (self, k);
    else
      scale_term (self, k, params->normalise, scale);
    result->effective_rank += !dead[k];
  }
  cuv_ntf_weights (self, weights);
  if (params->normalise && params->init != CUV_NTF_PREVIOUS)
    sort_terms (self, weights);
}
