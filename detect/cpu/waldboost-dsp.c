/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills the function table with plain C functions, then with those that this
 * CPU and the model allow. */
#include "config.h"
#include "cpu/waldboost-dsp.h"

#include "cuvcpu.h"

CuvResizeRow
cuv_waldboost_resize_row (void)
{
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    return cuv_waldboost_resize_row_avx2 ();
#endif
  return cuv_resize_row;
}

void
cuv_waldboost_dsp_init (
    CuvWaldboostDsp *self, const CuvWaldboostModel *model, ptrdiff_t stride)
{
  *self = (CuvWaldboostDsp){ .sum_size = sizeof (uint32_t),
    .resize_row = cuv_waldboost_resize_row (),
    .sum_row = cuv_sum_row,
    .square_row = cuv_square_row,
    .tilted_row = cuv_tilted_row,
    .scan_row = cuv_scan_row };
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    cuv_waldboost_dsp_init_avx2 (self, model, stride);
#endif
}

void
cuv_waldboost_dsp_clear (CuvWaldboostDsp *self)
{
#if HAVE_SIMD
  cuv_waldboost_tables_free_avx2 (self->tables);
#endif
  self->tables = NULL;
}
