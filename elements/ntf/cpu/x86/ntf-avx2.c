/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inner loops in AVX2. A lane is a term, so sums are added in the order of
 * the C version. No FMA: it would round differently. */
#include "cpu/ntf-dsp.h"
#include "cuvavx2.h"

/* Register blocking: rows, and values of each. */
enum { ROWS = 4, WIDE = 2 * CUV_NTF_LANES };

static inline __m256
multiply_add (__m256 a, __m256 b, __m256 sum)
{
  return _mm256_add_ps (sum, _mm256_mul_ps (a, b));
}

typedef struct {
  const float *a, *b;
  ptrdiff_t row_step, step;
  int n, stride;
  float *result;
} Block;

/* n_rows x n_vectors accumulators in registers: both arguments are constants at
 * the call. */
CUV_INLINE void
multiply_block (const Block *block, const int n_rows, const int n_vectors)
{
  const float *a = block->a, *b = block->b;
  __m256 sums[ROWS][2];

  for (int i = 0; i < n_rows; i++) {
    for (int v = 0; v < n_vectors; v++)
      sums[i][v] = _mm256_setzero_ps ();
  }
  for (int j = 0; j < block->n; j++, a += block->step, b += block->stride) {
    for (int i = 0; i < n_rows; i++) {
      __m256 value = _mm256_broadcast_ss (&a[i * block->row_step]);

      for (int v = 0; v < n_vectors; v++)
        sums[i][v] = multiply_add (
            value, _mm256_loadu_ps (&b[v * CUV_NTF_LANES]), sums[i][v]);
    }
  }
  for (int i = 0; i < n_rows; i++) {
    for (int v = 0; v < n_vectors; v++)
      _mm256_storeu_ps (
          &block->result[i * block->stride + v * CUV_NTF_LANES], sums[i][v]);
  }
}

static void
multiply_rows (Block block, bool all_rows)
{
  const float *b = block.b;
  float *result = block.result;
  int k = 0;

  for (; k + WIDE <= block.stride; k += WIDE) {
    block.b = b + k;
    block.result = result + k;
    if (all_rows)
      multiply_block (&block, ROWS, 2);
    else
      multiply_block (&block, 1, 2);
  }
  block.b = b + k;
  block.result = result + k;
  if (k < block.stride && all_rows)
    multiply_block (&block, ROWS, 1);
  else if (k < block.stride)
    multiply_block (&block, 1, 1);
}

static void
ntf_product_avx2 (const float *a, ptrdiff_t row_step, ptrdiff_t step,
    int n_rows, int n, const float *b, int stride, float *result)
{
  Block block = { a, b, row_step, step, n, stride, result };
  int i = 0;

  while (i < n_rows) {
    const bool all_rows = i + ROWS <= n_rows;

    block.a = a + i * row_step;
    block.result = result + (ptrdiff_t) i * stride;
    multiply_rows (block, all_rows);
    i += all_rows ? ROWS : 1;
  }
}

static void
ntf_dot_avx2 (const float *a, const float *b, int n, int stride, float *sums)
{
  for (int k = 0; k < stride; k += CUV_NTF_LANES) {
    __m256 sum = _mm256_loadu_ps (&sums[k]);

    for (int i = 0; i < n; i++)
      sum = multiply_add (_mm256_loadu_ps (&a[i * stride + k]),
          _mm256_loadu_ps (&b[i * stride + k]), sum);
    _mm256_storeu_ps (&sums[k], sum);
  }
}

static void
ntf_add_avx2 (
    const float *a, const float *factor, int n, int stride, float *sums)
{
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < stride; k += CUV_NTF_LANES) {
      float *sum = &sums[i * stride + k];

      _mm256_storeu_ps (sum,
          multiply_add (_mm256_loadu_ps (&a[i * stride + k]),
              _mm256_loadu_ps (&factor[k]), _mm256_loadu_ps (sum)));
    }
  }
}

static inline __m256d
add_square (__m128 difference, __m256d sum)
{
  __m256d wide = _mm256_cvtps_pd (difference);

  return _mm256_add_pd (sum, _mm256_mul_pd (wide, wide));
}

static double
ntf_distance_avx2 (const float *a, const float *b, int n)
{
  const int n_vectorised = n - n % CUV_NTF_LANES;
  double lanes[CUV_NTF_LANES];
  __m256d low = _mm256_setzero_pd (), high = low;

  for (int i = 0; i < n_vectorised; i += CUV_NTF_LANES) {
    __m256 difference =
        _mm256_sub_ps (_mm256_loadu_ps (&a[i]), _mm256_loadu_ps (&b[i]));

    low = add_square (_mm256_castps256_ps128 (difference), low);
    high = add_square (_mm256_extractf128_ps (difference, 1), high);
  }
  _mm256_storeu_pd (lanes, low);
  _mm256_storeu_pd (lanes + 4, high);
  cuv_ntf_add_distance (
      a + n_vectorised, b + n_vectorised, n - n_vectorised, lanes);
  return cuv_ntf_sum_lanes (lanes);
}

void
cuv_ntf_dsp_init_avx2 (CuvNtfDsp *self)
{
  *self = (CuvNtfDsp){
    .product = ntf_product_avx2,
    .dot = ntf_dot_avx2,
    .add = ntf_add_avx2,
    .distance = ntf_distance_avx2,
  };
}
