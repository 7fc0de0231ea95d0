/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Features: the compiler makes them fast. */
#include "cpu/x86/rcd-avx2.h"
#include "cpu/rcd-dsp-template.h"

void
cuv_rcd_avx2_init (CuvRcdSteps *self)
{
  *self = (CuvRcdSteps){ cuv_rcd_samples, cuv_rcd_grey_row, cuv_rcd_gradients,
    cuv_rcd_differences, cuv_rcd_sums_avx2, cuv_rcd_score_avx2 };
}
