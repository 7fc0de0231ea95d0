/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The function table of a correlation filter, for the instruction set for which
 * the including file is compiled. */
#ifndef CUV_RCD_FILTER_TEMPLATE_H
#define CUV_RCD_FILTER_TEMPLATE_H

#include "correlation/filter-dsp.h"
#include "correlation/hog-template.h"
#include "correlation/solve-template.h"

static const CuvFilterDsp cuv_filter_functions = {
  .features = cuv_hog_features,
  .forward = cuv_fourier_forward,
  .mask = cuv_fourier_mask,
  .blend = cuv_spectrum_blend,
  .solve = cuv_solve,
  .respond = cuv_respond,
  .inverse = cuv_response_inverse,
  .peak = cuv_response_peak,
};

#endif
