/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "correlation/filter-dsp.h"
#include "config.h"
#include "correlation/hog-template.h"
#include "correlation/solve-template.h"
#include "cuvcpu.h"

void
cuv_filter_dsp_init (CuvFilterDsp *self)
{
  *self = (CuvFilterDsp){
    .features = cuv_hog_features,
    .forward = cuv_fourier_forward,
    .mask = cuv_fourier_mask,
    .blend = cuv_spectrum_blend,
    .solve = cuv_solve,
    .respond = cuv_respond,
    .inverse = cuv_response_inverse,
    .peak = cuv_response_peak,
  };
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    cuv_filter_dsp_init_avx2 (self);
#endif
}
