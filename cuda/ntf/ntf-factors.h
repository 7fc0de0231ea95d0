/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Initialisation, stopping test and normalisation of factors; compiled by gcc
 * and nvcc. */
#ifndef CUV_NTF_FACTORS_H
#define CUV_NTF_FACTORS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include "cuv-api.h"
#include "ntf/ntf-types.h"

/* Bounds of every value of a factor during iterations. Lower: a value of 0
 * could never grow again, and products of three values must not become
 * denormal. Upper: products of two values must not overflow. */
#define CUV_NTF_MIN_VALUE 1e-12
#define CUV_NTF_MAX_VALUE 1e13

/* For values that sum to 1: smaller changes do not count, and smaller values
 * become the minimum, so that none consists of rounding errors. */
#define CUV_NTF_LEAST_CHANGE 1e-7
#define CUV_NTF_LEAST_ABUNDANCE 1e-6

/* Added to the sum of a term's squared abundances before its spectrum is
 * divided by that sum: otherwise tiny abundances would give the spectrum huge
 * values. */
#define CUV_NTF_DAMPING 0.01

/* Factors on the host. Rows are padded with zeros to `stride` values. */
typedef struct {
  int32_t size[CUV_NTF_MODES]; /* height, width, depth; or 1, pixels, depth */
  int32_t rank, stride;
  float *mode[CUV_NTF_MODES]; /* size x stride */
} CuvNtfFactors;

/* Clamps to CUV_NTF_MIN_VALUE .. CUV_NTF_MAX_VALUE. */
CUV_HOST_DEVICE float
cuv_ntf_in_range (double value)
{
  return fminf (fmaxf ((float) value, (float) CUV_NTF_MIN_VALUE),
      (float) CUV_NTF_MAX_VALUE);
}

CUV_HOST_DEVICE double
cuv_ntf_damping (const CuvNtfParams *params, int mode)
{
  return params->sum_to_one && mode == CUV_NTF_W ? CUV_NTF_DAMPING : 0;
}

/* Whether a column of `size` values is at the lower bound, by its sum of
 * squares: dividing by it would only amplify noise. */
CUV_HOST_DEVICE bool
cuv_ntf_vanished (double square, int size)
{
  return square < 1e4 * CUV_NTF_MIN_VALUE * CUV_NTF_MIN_VALUE * size;
}

static inline float *
cuv_ntf_at (const CuvNtfFactors *self, int mode, int i, int k)
{
  return &self->mode[mode][(size_t) i * (size_t) self->stride + (size_t) k];
}

/* Computes Philox 4x32-10: Salmon, Moraes, Dror, Shaw 2011. */
CUV_HOST_DEVICE void
cuv_ntf_philox (uint32_t counter[4], uint32_t key0, uint32_t key1)
{
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t) counter[0] * 0xd2511f53u;
    uint64_t b = (uint64_t) counter[2] * 0xcd9e8d57u;

    counter[0] = (uint32_t) (b >> 32) ^ counter[1] ^ key0;
    counter[1] = (uint32_t) b;
    counter[2] = (uint32_t) (a >> 32) ^ counter[3] ^ key1;
    counter[3] = (uint32_t) a;
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
}

/* Returns a random number, uniform in (0.1, 1.1]. at: row * rank + column in
 * the mode's factor. round: 0 at the start, otherwise the iteration after which
 * dead terms are revived. A Philox counter yields four values. */
CUV_HOST_DEVICE float
cuv_ntf_random (uint32_t seed, uint32_t round, int mode, uint32_t at)
{
  uint32_t counter[4] = { at / 4, (uint32_t) mode, round, 0 };

  cuv_ntf_philox (counter, seed, 0);
  return 0.1f + (float) ((counter[at % 4] >> 8) + 1) * 0x1p-24f;
}

static inline void
cuv_ntf_randomise_column (
    CuvNtfFactors *self, int k, int mode, uint32_t seed, uint32_t round)
{
  for (int i = 0; i < self->size[mode]; i++)
    *cuv_ntf_at (self, mode, i, k) = cuv_ntf_random (
        seed, round, mode, (uint32_t) i * (uint32_t) self->rank + (uint32_t) k);
}

static inline void
cuv_ntf_randomise (CuvNtfFactors *self, uint32_t seed)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int k = 0; k < self->rank; k++)
      cuv_ntf_randomise_column (self, k, mode, seed, 0);
  }
}

/* Sets the parameters that are implied by others. */
static inline void
cuv_ntf_complete (CuvNtfParams *params)
{
  if (params->sum_to_one)
    params->algorithm = CUV_NTF_HALS;
  if (params->algorithm == CUV_NTF_HALS
      || params->factorisation == CUV_NTF_MATRIX)
    params->schedule = CUV_NTF_GS;
}

/* MATRIX: sets the factor that is not updated. */
static inline void
cuv_ntf_set_ones (CuvNtfFactors *self)
{
  for (int k = 0; k < self->rank; k++)
    *cuv_ntf_at (self, CUV_NTF_U, 0, k) = 1;
}

static inline double
cuv_ntf_norm (const CuvNtfFactors *self, int mode, int k)
{
  double sum = 0;

  for (int i = 0; i < self->size[mode]; i++) {
    double value = *cuv_ntf_at (self, mode, i, k);

    sum += value * value;
  }
  return sqrt (sum);
}

/* Computes |u| |v| |w| of each term. */
static inline void
cuv_ntf_weights (const CuvNtfFactors *self, double *weights)
{
  for (int k = 0; k < self->rank; k++) {
    weights[k] = 1;
    for (int mode = 0; mode < CUV_NTF_MODES; mode++)
      weights[k] *= cuv_ntf_norm (self, mode, k);
  }
}

/* Marks dead terms, those with less than 1e-6 of the sum of weights, and
 * returns that sum. As the tensor is scaled to a maximum of 1, the sum is about
 * 1; all terms of a zero tensor are dead. */
static inline double
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

/* Clamps existing factors to the bounds, and divides w by the tensor's scale.
 */
static inline void
cuv_ntf_resume (CuvNtfFactors *self, double scale)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < self->size[mode]; i++) {
      for (int k = 0; k < self->rank; k++) {
        float *value = cuv_ntf_at (self, mode, i, k);

        *value = cuv_ntf_in_range (mode == CUV_NTF_W ? *value / scale : *value);
      }
    }
  }
}

/* Randomises dead terms and gives them 1 % of the mean weight, so that the next
 * iterations can grow them. Returns their number; 0 if all terms are dead. */
static inline int
cuv_ntf_revive (CuvNtfFactors *self, uint32_t seed, uint32_t round)
{
  double weights[CUV_NTF_MAX_RANK], sum;
  bool dead[CUV_NTF_MAX_RANK];
  int n = 0;

  sum = cuv_ntf_find_dead (self, dead);
  for (int k = 0; k < self->rank; k++)
    n += dead[k];
  if (n == self->rank)
    return 0;
  for (int k = 0; k < self->rank; k++) {
    for (int mode = 0; mode < CUV_NTF_MODES && dead[k]; mode++)
      cuv_ntf_randomise_column (self, k, mode, seed, round);
  }
  cuv_ntf_weights (self, weights);
  for (int k = 0; k < self->rank; k++) {
    for (int i = 0; i < self->size[CUV_NTF_W] && dead[k]; i++) {
      float *value = cuv_ntf_at (self, CUV_NTF_W, i, k);

      *value = cuv_ntf_in_range (*value * 0.01 * sum / self->rank / weights[k]);
    }
  }
  return n;
}

/* Whether iteration n, counted from 1, is followed by a test; the last one
 * always is. */
CUV_HOST_DEVICE bool
cuv_ntf_has_test (const CuvNtfParams *params, int n)
{
  return n % CUV_NTF_TEST_EVERY == 0 || n == params->iterations;
}

/* Records a test's error, and whether the run has converged. */
CUV_HOST_DEVICE void
cuv_ntf_record_error (
    CuvNtfResult *result, const CuvNtfParams *params, double error)
{
  const int n = result->n_errors++;

  result->errors[n] = error;
  result->converged =
      n > 0 && fabs (result->errors[n - 1] - error) < params->tolerance;
}

/* Multiplies a column; values below FLT_EPSILON times its largest become 0. */
static inline void
cuv_ntf_scale_column (CuvNtfFactors *self, int mode, int k, double factor)
{
  float limit = 0;

  for (int i = 0; i < self->size[mode]; i++)
    limit = fmaxf (limit, FLT_EPSILON * *cuv_ntf_at (self, mode, i, k));
  for (int i = 0; i < self->size[mode]; i++) {
    float *value = cuv_ntf_at (self, mode, i, k);

    *value = *value <= limit ? 0 : (float) (*value * factor);
  }
}

static inline void
cuv_ntf_scale_term (CuvNtfFactors *self, int k, bool normalise, double scale)
{
  double u = normalise ? cuv_ntf_norm (self, CUV_NTF_U, k) : 1;
  double v = normalise ? cuv_ntf_norm (self, CUV_NTF_V, k) : 1;

  cuv_ntf_scale_column (self, CUV_NTF_U, k, 1 / u);
  cuv_ntf_scale_column (self, CUV_NTF_V, k, 1 / v);
  cuv_ntf_scale_column (self, CUV_NTF_W, k, u * v * scale);
}

static inline void
cuv_ntf_clear_term (CuvNtfFactors *self, int k, int first_mode)
{
  for (int mode = first_mode; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < self->size[mode]; i++)
      *cuv_ntf_at (self, mode, i, k) = 0;
  }
}

static inline void
cuv_ntf_swap_terms (CuvNtfFactors *self, int k, int l)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < self->size[mode]; i++) {
      float *row = cuv_ntf_at (self, mode, i, 0), saved = row[k];

      row[k] = row[l];
      row[l] = saved;
    }
  }
}

/* Sorts terms by descending weight. */
static inline void
cuv_ntf_sort_terms (CuvNtfFactors *self, double *weights)
{
  for (int k = 0; k < self->rank; k++) {
    int largest = k;
    double saved = weights[k];

    for (int l = k + 1; l < self->rank; l++)
      largest = weights[l] > weights[largest] ? l : largest;
    if (largest == k)
      continue;
    cuv_ntf_swap_terms (self, k, largest);
    weights[k] = weights[largest];
    weights[largest] = saved;
  }
}

/* Ends a run: sets dead terms, and values below FLT_EPSILON times their
 * column's largest, to 0; multiplies w by the tensor's scale; normalises;
 * counts the remaining terms. Values that sum to 1 keep that sum. */
static inline void
cuv_ntf_finish (CuvNtfFactors *self, const CuvNtfParams *params, double scale,
    CuvNtfResult *result)
{
  double weights[CUV_NTF_MAX_RANK];
  bool dead[CUV_NTF_MAX_RANK];

  cuv_ntf_find_dead (self, dead);
  result->effective_rank = 0;
  for (int k = 0; k < self->rank; k++) {
    if (dead[k])
      cuv_ntf_clear_term (self, k, params->sum_to_one ? CUV_NTF_W : CUV_NTF_U);
    else
      cuv_ntf_scale_term (
          self, k, params->normalise && !params->sum_to_one, scale);
    result->effective_rank += !dead[k];
  }
  cuv_ntf_weights (self, weights);
  if (params->normalise && params->init != CUV_NTF_PREVIOUS)
    cuv_ntf_sort_terms (self, weights);
}

#endif
