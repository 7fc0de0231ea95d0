/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of a search in C. */
#include "cpu/rcd-dsp-template.h"
#include "config.h"
#include "cuvcpu.h"

static void
sums (const CuvRcdTile *tile, int32_t *out)
{
  int32_t *products = out + tile->n;

  for (int i = 0; i < tile->n; i++) {
    out[i] = cuv_rcd_total (tile, i);
    for (int j = i; j < tile->n; j++)
      *products++ = cuv_rcd_dot (tile, i, j);
  }
}

void
cuv_rcd_steps_init (CuvRcdSteps *self)
{
  *self = (CuvRcdSteps){ cuv_rcd_samples, cuv_rcd_grey_row, cuv_rcd_gradients,
    cuv_rcd_differences, sums, cuv_rcd_score_row };
#if HAVE_AVX2
  if (cuv_cpu_flags () & CUV_CPU_AVX2)
    cuv_rcd_avx2_init (self);
#endif
}
