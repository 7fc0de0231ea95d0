/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tables of all kinds of models share. */
#include "cpu/x86/waldboost-avx2.h"

#include <math.h>
#include <stdlib.h>

static int32_t
clamp (double value)
{
  return value > INT32_MAX ? INT32_MAX
      : value < INT32_MIN  ? INT32_MIN
                           : (int32_t) value;
}

int32_t
cuv_avx2_fixed_leaf (const CuvStageLimits *limits, float leaf)
{
  return (int32_t) lrint (ldexp ((double) leaf, limits->exponent));
}

/* Integer sums stay below 2^30 and are within half a unit per leaf of the exact
 * sum; rounding in the reference adds far less than one unit. */
CuvStageLimits
cuv_avx2_stage_limits (int n, double largest, float threshold)
{
  double limit, error = 0.5 * n + 1;
  int exponent;

  frexp (largest, &exponent);
  limit = ldexp ((double) threshold, 29 - exponent);
  return (CuvStageLimits){ 29 - exponent, clamp (ceil (limit + error) - 1),
    clamp (ceil (limit - error) - 1) };
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
