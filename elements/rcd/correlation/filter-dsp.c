/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "correlation/filter-template.h"
#include "config.h"
#include "cuvcpu.h"

void
cuv_filter_dsp_init (CuvFilterDsp *self)
{
  *self = cuv_filter_functions;
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    cuv_filter_dsp_init_avx2 (self);
#endif
}
