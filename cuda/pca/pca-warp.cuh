// SPDX-License-Identifier: LGPL-2.1-or-later
// Reductions over the lanes in mask: rows of adjacent lanes, a power of two.
// Every lane gets the result.
#ifndef CUV_PCA_WARP_CUH
#define CUV_PCA_WARP_CUH

#include "cuv-cuda.cuh"

static __device__ __forceinline__ double
cuv_lanes_sum (unsigned mask, int lanes, double value)
{
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) {
    if (bit < lanes)
      value += __shfl_xor_sync (mask, value, bit);
  }
  return value;
}

static __device__ __forceinline__ unsigned
cuv_warp_max (unsigned value)
{
#if CUV_HAS_REDUCE
  return __reduce_max_sync (~0u, value);
#else
  for (int bit = 16; bit > 0; bit /= 2)
    value = max (value, __shfl_xor_sync (~0u, value, bit));
  return value;
#endif
}

// Maximum of values >= 0, which are ordered like their bits: upper half first.
static __device__ __forceinline__ double
cuv_lanes_max (unsigned mask, int lanes, double value)
{
  if (lanes == 32) {
    const unsigned long long bits =
        (unsigned long long) __double_as_longlong (value);
    const unsigned mine = (unsigned) (bits >> 32);
    const unsigned upper = cuv_warp_max (mine);
    const unsigned lower = cuv_warp_max (mine == upper ? (unsigned) bits : 0u);

    return __longlong_as_double (
        (long long) ((unsigned long long) upper << 32 | lower));
  }
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) {
    if (bit < lanes)
      value = fmax (value, __shfl_xor_sync (mask, value, bit));
  }
  return value;
}

#endif
