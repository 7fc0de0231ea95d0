/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/ntf-dsp.h"
#include "config.h"
#include "cuvcpu.h"

static void
ntf_product_c (const float *a, ptrdiff_t row_step, ptrdiff_t step, int n_rows,
    int n, const float *b, int stride, float *result)
{
  for (int i = 0; i < n_rows; i++, result += stride) {
    for (int k = 0; k < stride; k++)
      result[k] = 0;
    for (int j = 0; j < n; j++) {
      const float value = a[i * row_step + j * step];

      for (int k = 0; k < stride; k++)
        result[k] += value * b[j * stride + k];
    }
  }
}

static void
ntf_dot_c (const float *a, const float *b, int n, int stride, float *sums)
{
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < stride; k++)
      sums[k] += a[i * stride + k] * b[i * stride + k];
  }
}

static void
ntf_add_c (const float *a, const float *factor, int n, int stride, float *sums)
{
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < stride; k++)
      sums[i * stride + k] += a[i * stride + k] * factor[k];
  }
}

static double
ntf_distance_c (const float *a, const float *b, int n)
{
  double lanes[CUV_NTF_LANES] = { 0 };

  cuv_ntf_add_distance (a, b, n, lanes);
  return cuv_ntf_sum_lanes (lanes);
}

void
cuv_ntf_dsp_init (CuvNtfDsp *self)
{
  *self = (CuvNtfDsp){
    .product = ntf_product_c,
    .dot = ntf_dot_c,
    .add = ntf_add_c,
    .distance = ntf_distance_c,
  };
#if HAVE_SIMD
  if (cuv_cpu_flags () & CUV_CPU_SIMD)
    cuv_ntf_dsp_init_avx2 (self);
#endif
}
