/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/pca-dsp.h"
#include "config.h"
#include "cuvcpu.h"

void
cuv_pca_dsp_init (CuvPcaDsp *self)
{
  *self = (CuvPcaDsp){
    .load = cuv_pca_load,
    .add = cuv_pca_add,
    .project = cuv_pca_project,
    .paint = cuv_pca_paint,
  };
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    cuv_pca_dsp_init_avx2 (self);
#endif
}
