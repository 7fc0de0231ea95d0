/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes limits of integer sums for the tables of all kinds of models. */
#include "cpu/x86/waldboost-avx2.h"

#include <math.h>
#include <stdlib.h>

int32_t
cuv_avx2_fixed_leaf (const CuvStageLimits *limits, float leaf)
{
  return (int32_t) lrint (ldexp ((double) leaf, limits->exponent));
}

/* Returns the largest integer of this number of bits that is below value. */
static int32_t
below (double value, int bits)
{
  const double end = ldexp (1, bits - 1);

  value = ceil (value) - 1;
  return (int32_t) (value >= end ? end - 1 : value >= -end ? value : -end);
}

/* For n below 2^(bits - 2), integer sums stay below 2^(bits - 1) and differ
 * from the exact sum by at most half a unit per leaf; rounding in the reference
 * adds far less than one unit. */
CuvStageLimits
cuv_avx2_stage_limits (int bits, int n, double largest, float threshold)
{
  double limit, error = 0.5 * n + 1;
  int exponent;

  frexp (largest, &exponent);
  exponent = bits - 3 - exponent;
  limit = ldexp ((double) threshold, exponent);
  return (CuvStageLimits){ exponent, below (limit + error, bits),
    below (limit - error, bits) };
}

void
cuv_waldboost_tables_free_avx2 (CuvWaldboostTables *self)
{
  if (self == NULL)
    return;
  for (size_t i = 0; i < sizeof self->memory / sizeof *self->memory; i++)
    free (self->memory[i]);
  free (self);
}
