/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loops of a correlation filter: the templates, compiled with AVX2. */
#include "correlation/filter-template.h"

void
cuv_filter_dsp_init_avx2 (CuvFilterDsp *self)
{
  *self = cuv_filter_functions;
}
