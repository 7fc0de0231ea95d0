/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills the function table for AVX2. The loops over samples are the template's:
 * the compiler vectorises them. */
#include "cpu/x86/rcd-avx2.h"
#include "cpu/rcd-dsp-template.h"

void
cuv_rcd_dsp_init_avx2 (CuvRcdDsp *self)
{
  *self = (CuvRcdDsp){
    .samples = cuv_rcd_samples,
    .grey = cuv_rcd_grey_row,
    .gradients = cuv_rcd_gradients,
    .abs_derivatives = cuv_rcd_abs_derivatives,
    .sums = cuv_rcd_sums_avx2,
    .score = cuv_rcd_score_avx2,
  };
}
