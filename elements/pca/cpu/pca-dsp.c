/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/pca-dsp.h"
#include "config.h"
#include "cuvcpu.h"

void
cuv_pca_steps_init (CuvPcaSteps *self)
{
  *self = (CuvPcaSteps){ cuv_pca_load, cuv_pca_add, cuv_pca_project,
    cuv_pca_paint };
#if HAVE_AVX2
  if ((cuv_cpu_flags () & CUV_CPU_AVX2) && __builtin_cpu_supports ("fma"))
    cuv_pca_avx2_init (self);
#endif
}
