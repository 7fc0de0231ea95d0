// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of ntf-u-and-v.cu and ntf-w.cu: sums of pixels times rows of
// a factor. A thread has 4 adjacent pixels and up to 16 columns. Single
// precision suffices, because the error of an iteration is larger.
#ifndef CUV_NTF_PRODUCTS_CUH
#define CUV_NTF_PRODUCTS_CUH

#include "ntf/ntf-update.cuh"

#define CUV_NTF_SHARED_VALUES 2048 // shared memory for rows of a factor
#define CUV_NTF_LOADS_IN_FLIGHT 8  // loads in flight per thread

// How the columns of a factor are split over threads.
template <int STRIDE> struct CuvNtfColumns {
  static constexpr int n = STRIDE < 16 ? STRIDE : 16; // columns per thread
  static constexpr int groups = STRIDE / n;           // groups of threads
};

// Copies rows of u or w, padded to STRIDE values, to shared memory, with zero
// rows up to a multiple of 32. Called by all threads.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_load_rows (
    const CuvNtfState &self, int mode, int first, int n, float *rows)
{
  const float *from = &self.factors[mode].values[first * STRIDE];

  static_assert (CUV_NTF_SHARED_VALUES % (32 * STRIDE) == 0,
      "shared memory must hold a multiple of 32 rows");
  __syncthreads ();
  for (int i = 4 * threadIdx.x; i < (n + 31) / 32 * 32 * STRIDE;
       i += 4 * blockDim.x)
    *(float4 *) &rows[i] =
        i < n * STRIDE ? cuv_ntf_load4 (&from[i]) : make_float4 (0, 0, 0, 0);
  __syncthreads ();
}

// Adds 4 pixels times N columns of a row of a factor.
template <int N>
static __device__ __forceinline__ void
cuv_ntf_add_product (
    const float4 &pixels, const float *columns, float (*sums)[4])
{
#pragma unroll
  for (int k = 0; k < N; k += 4) {
    const float4 four = cuv_ntf_load4 (&columns[k]);
    const float factors[4] = { four.x, four.y, four.z, four.w };

#pragma unroll
    for (int i = 0; i < 4; i++) {
      sums[k + i][0] = fmaf (pixels.x, factors[i], sums[k + i][0]);
      sums[k + i][1] = fmaf (pixels.y, factors[i], sums[k + i][1]);
      sums[k + i][2] = fmaf (pixels.z, factors[i], sums[k + i][2]);
      sums[k + i][3] = fmaf (pixels.w, factors[i], sums[k + i][3]);
    }
  }
}

// Adds n times 4 pixels of G, step values apart, each times its row of a
// factor. Zero rows follow, so that no branch separates loads and products.
template <int N>
static __device__ __forceinline__ void
cuv_ntf_add_products (const float *g, int step, int n, const float *rows,
    int row_step, float (*sums)[4])
{
  for (; n > 0; n -= CUV_NTF_LOADS_IN_FLIGHT) {
    float4 pixels[CUV_NTF_LOADS_IN_FLIGHT];

#pragma unroll
    for (int i = 0; i < CUV_NTF_LOADS_IN_FLIGHT; i++, g += step)
      pixels[i] = i < n ? cuv_ntf_load4 (g) : make_float4 (0, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < CUV_NTF_LOADS_IN_FLIGHT; i++, rows += row_step)
      cuv_ntf_add_product<N> (pixels[i], rows, sums);
  }
}

// Sums each column's 4 pixels times v.
template <int N>
static __device__ __forceinline__ void
cuv_ntf_times_v (
    const float (*pixels)[4], const float *v, int pitch, float *sums)
{
#pragma unroll
  for (int k = 0; k < N; k++, v += pitch) {
    const float4 factors = cuv_ntf_load4 (v);

    sums[k] = pixels[k][0] * factors.x;
    sums[k] = fmaf (pixels[k][1], factors.y, sums[k]);
    sums[k] = fmaf (pixels[k][2], factors.z, sums[k]);
    sums[k] = fmaf (pixels[k][3], factors.w, sums[k]);
  }
}

// Reduces values over LANES lanes, STEP apart. Each lane gets N / LANES of the
// sums, in order; if N < LANES, several lanes get the same one.
template <int LANES, int STEP, int N>
static __device__ __forceinline__ void
cuv_ntf_fold (float *values)
{
  int n = N;

#pragma unroll
  for (int d = LANES / 2; d > 0; d /= 2) {
    const bool upper = threadIdx.x & d * STEP;

    if (n == 1) {
      values[0] += __shfl_xor_sync (~0u, values[0], d * STEP);
      continue;
    }
    n /= 2;
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
      if (i >= n)
        break;
      const float gives = upper ? values[i] : values[i + n];
      const float keeps = upper ? values[i + n] : values[i];

      values[i] = keeps + __shfl_xor_sync (~0u, gives, d * STEP);
    }
  }
}

#endif
