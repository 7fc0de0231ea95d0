// SPDX-License-Identifier: LGPL-2.1-or-later
// Barriers and reductions of a thread group; a part of thread-group.h. Every
// thread gets the result.
#ifndef CUV_PCA_EIGEN_REDUCTIONS_CUH
#define CUV_PCA_EIGEN_REDUCTIONS_CUH

#include "cuv-cuda.cuh"

// ---- over the lanes in mask: rows of adjacent lanes, a power of two ----

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

// Returns the maximum of values >= 0, which are ordered like their bits: first
// by the upper half. CUDA 12.4 uses a wrong register where the halves are
// combined to a double, so that threads of a warp get different values.
static __device__ __forceinline__ double
cuv_lanes_max (unsigned mask, int lanes, double value)
{
  if (lanes == 32 && CUDART_VERSION >= 13000) {
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

// ---- over the threads of a row, all of which must call them ----

static __device__ __forceinline__ unsigned
cuv_pca_group_row_mask (CuvPcaGroup group)
{
  return group.columns == 32
      ? ~0u
      : ((1u << group.columns) - 1) << (group.lane - group.column);
}

CUV_PCA_GROUP_FUNC double
cuv_pca_group_row_sum (CuvPcaGroup group, double value)
{
  return cuv_lanes_sum (cuv_pca_group_row_mask (group), group.columns, value);
}

// Returns the maximum; here and below values are >= 0.
CUV_PCA_GROUP_FUNC double
cuv_pca_group_row_max (CuvPcaGroup group, double value)
{
  return cuv_lanes_max (cuv_pca_group_row_mask (group), group.columns, value);
}

// ---- over the group, all of whose threads must call them ----

// Synchronises the group, with memory ordering.
CUV_PCA_GROUP_FUNC void
cuv_pca_group_sync (CuvPcaGroup group)
{
  if (group.columns < 32)
    __syncwarp ();
  else
    __syncthreads ();
}

// reduce() returns the sum or maximum over a warp. slots: CUV_PCA_GROUP_SLOTS
// in shared memory, not to be reused before the next cuv_pca_group_sync().
template <typename Reduce>
static __device__ __forceinline__ CuvPcaGroupSlot
cuv_pca_group_reduce (CuvPcaGroup group, CuvPcaGroupSlot part,
    CuvPcaGroupSlot *slots, Reduce reduce)
{
  part = reduce (part);
  if (group.columns == 32 && group.lane == 0)
    slots[group.warp] = part;
  cuv_pca_group_sync (group);
  if (group.columns == 32)
    part = reduce (
        group.lane < group.warps ? slots[group.lane] : CuvPcaGroupSlot{ 0.0 });
  return part;
}

CUV_PCA_GROUP_FUNC double
cuv_pca_group_sum (CuvPcaGroup group, double value, CuvPcaGroupSlot *slots)
{
  return cuv_pca_group_reduce (group, CuvPcaGroupSlot{ value }, slots,
      [] (CuvPcaGroupSlot part) {
        return CuvPcaGroupSlot{ cuv_warp_sum (part.value) };
      })
      .value;
}

CUV_PCA_GROUP_FUNC double
cuv_pca_group_max (CuvPcaGroup group, double value, CuvPcaGroupSlot *slots)
{
  return cuv_pca_group_reduce (group, CuvPcaGroupSlot{ value }, slots,
      [] (CuvPcaGroupSlot part) {
        return CuvPcaGroupSlot{ cuv_lanes_max (~0u, 32, part.value) };
      })
      .value;
}

// Adds fixed-point integers, which is faster: 512 threads times 2^22 fit in 32
// bits.
CUV_PCA_GROUP_FUNC CuvPcaMagnitude
cuv_pca_group_magnitude (
    CuvPcaGroup group, float squares, float largest, CuvPcaGroupSlot *slots)
{
  CuvPcaGroupSlot size;

  size.parts[0] = (unsigned) (fminf (squares, 1.0f) * (1 << 22)) + 1;
  size.parts[1] = __float_as_uint (largest);
  size = cuv_pca_group_reduce (group, size, slots, [] (CuvPcaGroupSlot part) {
    part.parts[0] = cuv_warp_sum (part.parts[0]);
    part.parts[1] = cuv_warp_max (part.parts[1]);
    return part;
  });
  return { (float) size.parts[0] / (1 << 22), __uint_as_float (size.parts[1]) };
}

#endif
