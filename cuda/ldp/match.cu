// SPDX-License-Identifier: LGPL-2.1-or-later
// A query against the pictures of an index. A block of threads compares some
// pictures with it at once, so that the query is read once for all of them; a
// warp has every n-th block of their histograms.
#include "ldp/match.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string.h>
#include "cuv-cuda.cuh"

#define WARPS 8
#define ENTRIES 4 // of a block of threads

struct Pictures {
  const uint8_t *query, *entries;
  int64_t stride;
  int n, n_blocks, n_histograms, n_bins;
  const double *weights;
  const uint32_t *totals;
  bool is_empty;
  double *similarities;
};

struct _CuvLdpMatchCuda {
  CuvArena arena = {};
  Pictures pictures = {};
  int count_size = 0;
  size_t size = 0;           // of a picture
  uint8_t *staged = nullptr; // pinned: the query
  double *found = nullptr;   // pinned: the similarities
  cudaStream_t stream = nullptr;

  ~_CuvLdpMatchCuda ()
  {
    cuv_arena_clear (&arena);
  }
};

// ---- a histogram ----

template <typename Count>
static __device__ __forceinline__ unsigned
sum_of_smaller (unsigned a, unsigned b)
{
  if (sizeof (Count) == 1)
    return __dp4a (__vminu4 (a, b), 0x01010101u, 0u);
  if (sizeof (Count) == 2) {
    const unsigned both = __vminu2 (a, b);

    return (both & 0xffff) + (both >> 16);
  }
  return min (a, b);
}

// What a lane's words of a histogram have in common with an entry's. Lanes of a
// warp are next to each other; the rest of a histogram is not a whole word.
template <typename Count>
static __device__ __forceinline__ unsigned
common (const uint8_t *a, const uint8_t *b, int n_bins)
{
  const int lane = threadIdx.x % 32;
  const int n = n_bins * (int) sizeof (Count);
  const bool aligned = ((uintptr_t) a | (uintptr_t) b) % 4 == 0;
  const int words = aligned ? n / 4 : 0;
  unsigned sum = 0;

  for (int i = lane; i < words; i += 32)
    sum += sum_of_smaller<Count> (
        ((const unsigned *) a)[i], ((const unsigned *) b)[i]);
  for (int i = words * 4 / (int) sizeof (Count) + lane; i < n_bins; i += 32)
    sum += min (
        (unsigned) ((const Count *) a)[i], (unsigned) ((const Count *) b)[i]);
  return sum;
}

// Of all lanes.
static __device__ __forceinline__ unsigned
sum_of_bytes (const uint8_t *bytes, int n)
{
  unsigned sum = 0;

  for (int i = threadIdx.x % 32; i < n; i += 32)
    sum += bytes[i];
  return cuv_warp_sum (sum);
}

// See cuv_ldp_common_whole().
template <typename Count>
static __device__ __forceinline__ unsigned
common_of_warp (const uint8_t *a, const uint8_t *b, int n_bins, bool whole)
{
  const unsigned sum = cuv_warp_sum (common<Count> (a, b, n_bins));

  if (sizeof (Count) == 1 && whole && sum == 255
      && sum_of_bytes (a, n_bins) == 255 && sum_of_bytes (b, n_bins) == 255)
    return 256;
  return sum;
}

// ---- pictures ----

// What a warp's blocks of some entries lack of the query's.
template <typename Count>
static __device__ __forceinline__ void
compare (const Pictures &all, int first, int n, double sums[ENTRIES])
{
  const int of_block = all.n_histograms * all.n_bins * (int) sizeof (Count);

  for (int block = threadIdx.x / 32; block < all.n_blocks; block += WARPS) {
    const unsigned total = all.totals[block];
    unsigned found[ENTRIES] = {};

    for (int h = 0; h < all.n_histograms; h++) {
      const int64_t at =
          (int64_t) block * of_block + h * all.n_bins * (int) sizeof (Count);

#pragma unroll
      for (int e = 0; e < ENTRIES; e++) {
        if (e < n)
          found[e] += common_of_warp<Count> (all.query + at,
              all.entries + (int64_t) (first + e) * all.stride + at, all.n_bins,
              total == 256);
      }
    }
#pragma unroll
    for (int e = 0; e < ENTRIES; e++)
      sums[e] += all.weights[block] * (all.n_histograms * total - found[e]);
  }
}

template <typename Count>
static __global__ void __launch_bounds__ (32 * WARPS)
    match_kernel (const __grid_constant__ Pictures all)
{
  __shared__ double of_warps[WARPS][ENTRIES];
  const int first = blockIdx.x * ENTRIES;
  const int n = min (ENTRIES, all.n - first);
  double sums[ENTRIES] = {};

  compare<Count> (all, first, n, sums);
  if (threadIdx.x % 32 == 0) {
    for (int e = 0; e < ENTRIES; e++)
      of_warps[threadIdx.x / 32][e] = sums[e];
  }
  __syncthreads ();
  if ((int) threadIdx.x < n) {
    double lack = all.is_empty ? 1.0 : 0.0;

    for (int w = 0; w < WARPS; w++)
      lack += of_warps[w][threadIdx.x];
    all.similarities[first + threadIdx.x] = fmax (1.0 - lack, 0.0);
  }
}

// ---- the entries ----

static bool
init (CuvLdpMatchCuda *self, const CuvLdpPacked *packed, const uint8_t *entries,
    size_t stride, int n)
{
  Pictures *all = &self->pictures;

  self->count_size = packed->count_size;
  self->size = (size_t) packed->n_blocks * packed->n_histograms * packed->n_bins
      * packed->count_size;
  all->stride = (int64_t) stride;
  all->n = (int) n;
  all->n_blocks = packed->n_blocks;
  all->n_histograms = packed->n_histograms;
  all->n_bins = packed->n_bins;
  all->weights = (const double *) cuv_arena_upload (
      &self->arena, packed->weights, packed->n_blocks * sizeof (double));
  all->totals = (const uint32_t *) cuv_arena_upload (
      &self->arena, packed->totals, packed->n_blocks * sizeof (uint32_t));
  all->is_empty = packed->is_empty;
  all->entries = (const uint8_t *) cuv_arena_upload (
      &self->arena, entries, (size_t) (n - 1) * stride + self->size);
  all->query = (const uint8_t *) cuv_arena_alloc (&self->arena, self->size);
  all->similarities =
      (double *) cuv_arena_alloc (&self->arena, n * sizeof (double));
  self->staged = (uint8_t *) cuv_arena_pinned (&self->arena, self->size);
  self->found = (double *) cuv_arena_pinned (&self->arena, n * sizeof (double));
  return all->weights != nullptr && all->totals != nullptr
      && all->entries != nullptr && all->query != nullptr
      && all->similarities != nullptr && self->staged != nullptr
      && self->found != nullptr;
}

extern "C" CuvLdpMatchCuda *
cuv_ldp_match_cuda_new (
    const CuvLdpPacked *packed, const uint8_t *entries, size_t stride, int n)
{
  std::unique_ptr<CuvLdpMatchCuda> self (new (std::nothrow) _CuvLdpMatchCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  return init (self.get (), packed, entries, stride, n) ? self.release ()
                                                        : nullptr;
}

extern "C" void
cuv_ldp_match_cuda_free (CuvLdpMatchCuda *self)
{
  delete self;
}

extern "C" int
cuv_ldp_match_cuda_submit (
    CuvLdpMatchCuda *self, const uint8_t *query, CuvCudaStream stream)
{
  const int n_blocks = cuv_div_up (self->pictures.n, ENTRIES);
  const auto kernel = self->count_size == 1 ? match_kernel<uint8_t>
      : self->count_size == 2               ? match_kernel<uint16_t>
                                            : match_kernel<uint32_t>;

  self->stream = (cudaStream_t) stream;
  memcpy (self->staged, query, self->size);
  CUV_CUDA_TRY (cudaMemcpyAsync ((void *) self->pictures.query, self->staged,
      self->size, cudaMemcpyHostToDevice, self->stream));
  kernel<<<n_blocks, 32 * WARPS, 0, self->stream>>> (self->pictures);
  CUV_CUDA_LAUNCHED (match_kernel);
  CUV_CUDA_TRY (cudaMemcpyAsync (self->found, self->pictures.similarities,
      self->pictures.n * sizeof (double), cudaMemcpyDeviceToHost,
      self->stream));
  return 0;
}

extern "C" int
cuv_ldp_match_cuda_collect (CuvLdpMatchCuda *self, double *similarities)
{
  CUV_CUDA_TRY (cudaStreamSynchronize (self->stream));
  memcpy (similarities, self->found, self->pictures.n * sizeof (double));
  return 0;
}
