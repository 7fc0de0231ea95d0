/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loops of a correlation filter: the templates, compiled with AVX2. */
#include "correlation/filter-dsp.h"
#include "correlation/hog-template.h"
#include "correlation/solve-template.h"

void
cuv_filter_dsp_init_avx2 (CuvFilterDsp *self)
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
}
