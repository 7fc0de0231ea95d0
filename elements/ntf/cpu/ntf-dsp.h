/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Function table of the inner loops. All versions add in the same order and
 * return the same bits. */
#ifndef CUV_NTF_DSP_H
#define CUV_NTF_DSP_H

#include "ntf.h"

/* Rows of factors and results have `stride` values, a multiple of
 * CUV_NTF_LANES. */
typedef struct {
  /* result (n_rows x stride) = a (n_rows x n) b (n x stride), where a (i, j) is
   * a[i * row_step + j * step]. */
  void (*product) (const float *a, ptrdiff_t row_step, ptrdiff_t step,
      int n_rows, int n, const float *b, int stride, float *result);

  /* sums (stride) += the sum over n rows of a times b. */
  void (*dot) (const float *a, const float *b, int n, int stride, float *sums);

  /* sums (n x stride) += each row of a times factor (stride). */
  void (*add) (
      const float *a, const float *factor, int n, int stride, float *sums);

  /* Returns the sum of squares of a - b. */
  double (*distance) (const float *a, const float *b, int n);
} CuvNtfDsp;

/* Sets the C functions, then those that cuv_cpu_flags() allows. */
void cuv_ntf_dsp_init (CuvNtfDsp *self);
void cuv_ntf_dsp_init_avx2 (CuvNtfDsp *self);

/* Adds up the lanes in order. */
static inline double
cuv_ntf_sum_lanes (const double lanes[CUV_NTF_LANES])
{
  double sum = 0;

  for (int i = 0; i < CUV_NTF_LANES; i++)
    sum += lanes[i];
  return sum;
}

/* Adds squared differences lane by lane; SIMD versions use it for the last
 * n % CUV_NTF_LANES values. */
static inline void
cuv_ntf_add_distance (
    const float *a, const float *b, int n, double lanes[CUV_NTF_LANES])
{
  for (int i = 0; i < n; i++) {
    double difference = a[i] - b[i];

    lanes[i % CUV_NTF_LANES] += difference * difference;
  }
}

#endif
