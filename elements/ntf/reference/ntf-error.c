/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ntf.h"

#include <math.h>

static const float *
row_of (const CuvNtfFactors *self, int mode, int i)
{
  return &self->mode[mode][(size_t) i * (size_t) self->stride];
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
