// SPDX-License-Identifier: LGPL-2.1-or-later
// A block's copy of the state: in shared memory as far as it fits.
#ifndef CUV_PCA_LOCAL_CUH
#define CUV_PCA_LOCAL_CUH

#include <cuda_pipeline.h>
#include "pca/pca-state.cuh"

// What is in shared memory: nothing, the matrices of an update, or the state,
// too.
enum { CUV_PCA_NOTHING, CUV_PCA_MATRICES, CUV_PCA_ALL };

static __host__ __device__ inline int
cuv_pca_matrix_doubles (int n)
{
  return 4 * CUV_PCA_PADDED (n) * CUV_PCA_PITCH (n);
}

// Followed by values, signs and two zeros: values may be read up to a multiple
// of four.
static __host__ __device__ inline int
cuv_pca_scratch_doubles (int n)
{
  return cuv_pca_matrix_doubles (n) + 2 * n + 2;
}

static __host__ __device__ inline int
cuv_pca_state_doubles (int n)
{
  return CUV_PCA_SUMS (n) + CUV_PCA_NUMBERS (n);
}

static inline size_t
cuv_pca_local_bytes (int n, int where)
{
  const size_t known = where == CUV_PCA_ALL ? cuv_pca_state_doubles (n) : 0;

  if (where == CUV_PCA_NOTHING)
    return 0;
  return (cuv_pca_scratch_doubles (n) + known) * sizeof (double)
      + CUV_GROUP_SLOTS * sizeof (CuvGroupSlot)
      + CUV_PCA_PAIRS (n) * sizeof (CuvPcaRotation) + 3 * n * sizeof (int32_t)
      + CUV_PCA_BLOCKS (n) * sizeof (uint16_t);
}

static __device__ __forceinline__ CuvPcaScratch
cuv_pca_scratch_in (double *memory, int n)
{
  const int size = CUV_PCA_PADDED (n) * CUV_PCA_PITCH (n);
  CuvPcaScratch scratch;

  scratch.pitch = CUV_PCA_PITCH (n);
  scratch.a = memory;
  scratch.b = memory + size;
  scratch.c = memory + 2 * size;
  scratch.vectors = memory + 3 * size;
  scratch.values = memory + 4 * size;
  scratch.sign = scratch.values + n;
  scratch.slots = (CuvGroupSlot *) (scratch.sign + n + 2);
  scratch.rotations = (CuvPcaRotation *) (scratch.slots + CUV_GROUP_SLOTS);
  scratch.order = (int32_t *) (scratch.rotations + CUV_PCA_PAIRS (n));
  scratch.best = scratch.order + n;
  scratch.taken = scratch.best + n;
  scratch.blocks = (uint16_t *) (scratch.taken + n);
  return scratch;
}

// Called by all threads. memory is 16-byte aligned, n even.
static __device__ __forceinline__ void
cuv_pca_clear (double *memory, int n)
{
  for (int i = threadIdx.x; i < n / 2; i += blockDim.x)
    ((uint4 *) memory)[i] = uint4{};
}

static __device__ __forceinline__ void
cuv_pca_fetch (double *to, const void *from, int n)
{
  for (int i = threadIdx.x; i < n / 2; i += blockDim.x)
    __pipeline_memcpy_async (
        (uint4 *) to + i, (const uint4 *) from + i, sizeof (uint4));
}

// Adds up the copies of the sums on and above the diagonal. For load balance a
// warp takes rows i and last - i together: at most 33 elements, all loads in
// flight at once.
static __device__ __forceinline__ void
cuv_pca_add_copies (
    CuvThreadGroup group, double *to, const CuvPcaSum *from, int n)
{
  const int side = n + 1;

#pragma unroll 1
  for (int fold = group.warp; fold < (side + 1) / 2; fold += group.warps) {
    int at[2];
    int64_t sums[2] = {};

#pragma unroll
    for (int e = 0; e < 2; e++) {
      const int k = min (group.lane + 32 * e, side);

      at[e] = k < side - fold ? fold * CUV_PCA_STRIDE (n) + fold + k
                              : (n - fold) * CUV_PCA_STRIDE (n) + k - 1;
    }
#pragma unroll
    for (int copy = 0; copy < CUV_PCA_FEW_COPIES; copy++) {
#pragma unroll
      for (int e = 0; e < 2; e++)
        sums[e] += from[copy * CUV_PCA_SUMS (n) + at[e]].i;
    }
#pragma unroll
    for (int e = 0; e < 2; e++) {
      if (group.lane + 32 * e <= side)
        ((int64_t *) to)[at[e]] = sums[e];
    }
  }
}

// The state that a block works on.
struct CuvPcaLocal {
  const CuvPcaSum *sums;
  const double *numbers; // of moments, frame and basis
  CuvPcaMoments moments, frame;
  CuvPcaBasis basis;
};

static __device__ __forceinline__ CuvPcaLocal
cuv_pca_local (
    const CuvPcaKnown &known, const CuvPcaSum *sums, int n, double *numbers)
{
  CuvPcaLocal local;

  local.sums = sums;
  local.numbers = numbers;
  cuv_pca_place_basis (&local.basis, n, numbers);
  cuv_pca_place_moments (&local.moments, n, numbers + CUV_PCA_REPORTED (n));
  cuv_pca_place_moments (&local.frame, n, numbers + CUV_PCA_RETAINED (n));
  local.moments.pixels = known.moments.pixels;
  local.basis.mode = known.basis.mode;
  local.basis.is_known = known.basis.is_known;
  return local;
}

#endif
