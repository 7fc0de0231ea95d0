/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Factors, and where they start. */
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

/* ---- random ---- */

/* Philox 4x32-10: Salmon, Moraes, Dror, Shaw 2011. */
static void
philox (uint32_t counter[4], uint32_t key0, uint32_t key1)
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

/* Four values share a counter. */
float
cuv_ntf_random (uint32_t seed, uint32_t round, int mode, uint32_t at)
{
  uint32_t counter[4] = { at / 4, (uint32_t) mode, round, 0 };

  philox (counter, seed, 0);
  return 0.1f + (float) ((counter[at % 4] >> 8) + 1) * 0x1p-24f;
}

static float *
value_at (const CuvNtfFactors *self, int mode, int i, int k)
{
  return &self->mode[mode][(size_t) i * (size_t) self->stride + (size_t) k];
}

static void
randomise_column (
    CuvNtfFactors *self, int k, int mode, uint32_t seed, uint32_t round)
{
  for (int i = 0; i < self->size[mode]; i++)
    *value_at (self, mode, i, k) =
        cuv_ntf_random (seed, round, mode, (uint32_t) (i * self->rank + k));
}

void
cuv_ntf_randomise (CuvNtfFactors *self, uint32_t seed)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int k = 0; k < self->rank; k++)
      randomise_column (self, k, mode, seed, 0);
  }
}

/* ---- going on ---- */

static float
in_range (double value)
{
  return (float) fmin (fmax (value, CUV_NTF_LEAST), CUV_NTF_MOST);
}

void
cuv_ntf_resume (CuvNtfFactors *self, double scale)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < self->size[mode]; i++) {
      for (int k = 0; k < self->rank; k++) {
        float *value = value_at (self, mode, i, k);

        *value = in_range (mode == CUV_NTF_W ? *value / scale : *value);
      }
    }
  }
}

/* A random term of a hundredth of the mean weight: the next iterations find
 * what it is good for. */
int
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
      randomise_column (self, k, mode, seed, round);
  }
  cuv_ntf_weights (self, weights);
  for (int k = 0; k < self->rank; k++) {
    for (int i = 0; i < self->size[CUV_NTF_W] && dead[k]; i++) {
      float *value = value_at (self, CUV_NTF_W, i, k);

      *value = in_range (*value * 0.01 * sum / self->rank / weights[k]);
    }
  }
  return n;
}
