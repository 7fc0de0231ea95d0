// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a block has what it learns with: in shared memory, as far as that goes.
#ifndef CUV_PCA_LOCAL_CUH
#define CUV_PCA_LOCAL_CUH

#include "spectral/pca-state.cuh"

// What is there: nothing, the matrices of an update, or what is known, too.
enum { CUV_PCA_NOTHING, CUV_PCA_MATRICES, CUV_PCA_ALL };

// Four values of four rows, or of four columns, are in 16 different banks.
static __host__ __device__ inline int
cuv_pca_pitch (int n)
{
  return (n + 11) / 16 * 16 + 4;
}

// Sums, moments of all frames and of this one, and the basis.
static __host__ __device__ inline size_t
cuv_pca_known_doubles (int n)
{
  return (size_t) CUV_PCA_SUMS (n) + 3 * n * n + 5 * n;
}

static inline size_t
cuv_pca_local_bytes (int n, int where)
{
  const size_t matrices =
      (size_t) 4 * CUV_PCA_EVEN (n) * cuv_pca_pitch (n) + 3 * n + CUV_PCA_SLOTS;
  const size_t known = where == CUV_PCA_ALL ? cuv_pca_known_doubles (n) : 0;

  if (where == CUV_PCA_NOTHING)
    return 0;
  return (matrices + known) * sizeof (double)
      + CUV_PCA_PAIRS (n) * sizeof (CuvPcaRotation) + 3 * n * sizeof (int32_t)
      + CUV_PCA_BLOCKS (n) * sizeof (uint16_t);
}

static __device__ __forceinline__ CuvPcaScratch
cuv_pca_scratch_in (double *memory, int n)
{
  const int pitch = cuv_pca_pitch (n), size = CUV_PCA_EVEN (n) * pitch;
  CuvPcaScratch scratch;

  scratch.pitch = pitch;
  scratch.a = memory;
  scratch.b = memory + size;
  scratch.c = memory + 2 * size;
  scratch.vectors = memory + 3 * size;
  scratch.values = memory + 4 * size;
  scratch.room = scratch.values + n;
  scratch.rotations = (CuvPcaRotation *) (scratch.room + 2 * n + CUV_PCA_SLOTS);
  scratch.order = (int32_t *) (scratch.rotations + CUV_PCA_PAIRS (n));
  scratch.best = scratch.order + n;
  scratch.taken = scratch.best + n;
  scratch.blocks = (uint16_t *) (scratch.taken + n);
  return scratch;
}

static __device__ __forceinline__ void
cuv_pca_copy (double *to, const double *from, int n)
{
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    to[i] = from[i];
}

// What is known, for a block to work on.
struct CuvPcaLocal {
  const CuvPcaSum *sums;
  CuvPcaMoments moments, frame;
  CuvPcaBasis basis;
};

static __device__ __forceinline__ void
cuv_pca_copy_local (const CuvPcaLocal &from, const CuvPcaLocal &to)
{
  const int n = from.basis.n;

  cuv_pca_copy (to.moments.covariance, from.moments.covariance, n * n);
  cuv_pca_copy (to.basis.vectors, from.basis.vectors, n * n);
  cuv_pca_copy (to.moments.mean, from.moments.mean, n);
  cuv_pca_copy (to.basis.mean, from.basis.mean, n);
  cuv_pca_copy (to.basis.deviation, from.basis.deviation, n);
  cuv_pca_copy (to.basis.values, from.basis.values, n);
}

// As it is in memory, and in a block's. By all threads, which meet afterwards.
template <int WHERE>
static __device__ __forceinline__ void
cuv_pca_fetch (CuvPcaLocal *local, const CuvPcaKnown &known,
    const CuvPcaSum *sums, double *memory)
{
  const CuvPcaLocal there = { sums, known.moments, known.frame, known.basis };
  const int n = known.basis.n, n_sums = CUV_PCA_SUMS (n);
  CuvPcaLocal here = there;

  if (WHERE == CUV_PCA_ALL) {
    here.sums = (const CuvPcaSum *) memory;
    cuv_pca_copy (memory, (const double *) sums, n_sums);
    memory += n_sums;
    here.moments.covariance = memory;
    here.frame.covariance = memory + n * n;
    here.basis.vectors = memory + 2 * n * n;
    here.moments.mean = memory + 3 * n * n;
    here.frame.mean = here.moments.mean + n;
    here.basis.mean = here.frame.mean + n;
    here.basis.deviation = here.basis.mean + n;
    here.basis.values = here.basis.deviation + n;
    cuv_pca_copy_local (there, here);
  }
  if (threadIdx.x == 0)
    *local = here;
}

template <int WHERE>
static __device__ __forceinline__ void
cuv_pca_store (const CuvPcaLocal &local, CuvPcaKnown *known)
{
  const CuvPcaLocal there = { nullptr, known->moments, known->frame,
    known->basis };

  if (WHERE == CUV_PCA_ALL)
    cuv_pca_copy_local (local, there);
  if (threadIdx.x > 0)
    return;
  known->moments.pixels = local.moments.pixels;
  known->basis.mode = local.basis.mode;
  known->basis.is_known = local.basis.is_known;
}

#endif
