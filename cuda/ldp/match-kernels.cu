// SPDX-License-Identifier: LGPL-2.1-or-later
// Distances between queries and the entries of an index, and similarities.
// n_warps warps of a thread block compare one of n_parts parts of the queries
// with the same part of CUV_LDP_MATCH_ENTRIES entries, so that the block reads
// each query only once and each entry only once; the warps take turns at
// histograms. If a picture has few histograms, the other warps of the block
// compare other entries. The assignment does not depend on the number of
// entries.
#include "ldp/match.cuh"
#include "ldp/ldp-types.h"

#define CUV_LDP_MATCH_WARPS 8
#define CUV_LDP_MATCH_ENTRIES 8 // entries per thread block
#define CUV_LDP_SIMILARITY_THREADS 256
#define CUV_LDP_PACK_THREADS 256

static __device__ __forceinline__ int
cuv_ldp_lane ()
{
  return threadIdx.x % 32;
}

// Returns the address of entry i, or of the last entry if i is larger.
static __device__ __forceinline__ const uint8_t *
entry_at (const CuvLdpMatchArgs &args, int64_t i)
{
  return args.entries
      + min ((long long) i, (long long) args.n - 1) * args.pitch;
}

// ---- histograms of 256 bins ----

// Whether the 16 x 16 bytes of the lane's half of the warp sum to 255.
static __device__ __forceinline__ bool
sums_to_255 (uint4 a)
{
  const int shift = cuv_ldp_lane () / 16 * 16;
  const unsigned sum = __vsadu4 (a.x, 0) + __vsadu4 (a.y, 0) + __vsadu4 (a.z, 0)
      + __vsadu4 (a.w, 0);

  return (cuv_warp_sum (sum << shift) >> shift & 0xffff) == 255;
}

// A warp compares two histograms of 256 one-byte counts: the sum of absolute
// differences is twice the distance.
struct ByteCounts {
  enum { PER_WARP = 2 }; // histograms

  static __device__ __forceinline__ unsigned
  partial_sum (uint4 a, uint4 b)
  {
    return __vsadu4 (a.x, b.x) + __vsadu4 (a.y, b.y) + __vsadu4 (a.z, b.z)
        + __vsadu4 (a.w, b.w);
  }

  // A byte of 255 may stand for 256, all codes of a histogram. If one histogram
  // has such a byte, the difference is odd and one too small. If both have one,
  // in different bins, the difference is 510 and two too small. Histograms with
  // one common code also differ by 510, but then the query's bytes do not sum
  // to 255.
  static __device__ __forceinline__ unsigned
  distance (uint4 query, unsigned partial_sum, uint32_t total)
  {
    const unsigned difference = partial_sum & 0xffff;
    const bool is_510 = difference == 510 && total == 256;
    unsigned distance = (difference + 1) / 2;

    if (__any_sync (~0u, is_510) && sums_to_255 (query) && is_510)
      distance++;
    return distance;
  }
};

// A warp compares one histogram of 256 two-byte counts, by its intersection.
struct ShortCounts {
  enum { PER_WARP = 1 }; // histograms

  static __device__ __forceinline__ unsigned
  partial_sum (uint4 a, uint4 b)
  {
    unsigned sum = __dp2a_lo (__vminu2 (a.x, b.x), 0x0101u, 0u);

    sum = __dp2a_lo (__vminu2 (a.y, b.y), 0x0101u, sum);
    sum = __dp2a_lo (__vminu2 (a.z, b.z), 0x0101u, sum);
    return __dp2a_lo (__vminu2 (a.w, b.w), 0x0101u, sum);
  }

  static __device__ __forceinline__ unsigned
  distance (uint4, unsigned partial_sum, uint32_t total)
  {
    return total - partial_sum;
  }
};

// A warp reads units of CUV_LDP_WARP_BYTES, 16 per lane, of the queries and of
// CUV_LDP_MATCH_ENTRIES entries. Of the lanes of a histogram, lane e sums the
// distances of entry e, one to each query.
template <typename Counts> struct Histograms256 {
  template <int N_QUERIES>
  static __device__ __forceinline__ void
  compare (const CuvLdpMatchArgs &args, int64_t first, int from, int step,
      uint64_t *sums)
  {
    const int lanes = 32 / Counts::PER_WARP; // lanes per histogram
    const int lane = cuv_ldp_lane (), shift = lane / lanes * 16;
    const int n_units =
        (args.n_histograms + Counts::PER_WARP - 1) / Counts::PER_WARP;
    // shuffled between lanes, because the compiler would otherwise recompute
    // all addresses for each unit
    const int64_t offset = entry_at (args, first + lane) - args.entries;
    const uint4 *entries[CUV_LDP_MATCH_ENTRIES];

#pragma unroll
    for (int e = 0; e < CUV_LDP_MATCH_ENTRIES; e++)
      entries[e] =
          (const uint4 *) (args.entries + __shfl_sync (~0u, offset, e));
#pragma unroll 1
    for (int unit = from; unit < n_units; unit += step) {
      const int at = unit * 32 + lane;
      const CuvLdpHistogram histogram =
          args.histograms[unit * Counts::PER_WARP + lane / lanes];
      uint4 query = ((const uint4 *) args.queries[0])[at];
      uint4 entry[CUV_LDP_MATCH_ENTRIES];

#pragma unroll
      for (int e = 0; e < CUV_LDP_MATCH_ENTRIES; e++)
        entry[e] = entries[e][at];
#pragma unroll
      for (int q = 0; q < N_QUERIES; q++) {
        unsigned partial_sum = 0;

        if (q > 0)
          query = ((const uint4 *) args.queries[q])[at];
#pragma unroll
        for (int e = 0; e < CUV_LDP_MATCH_ENTRIES; e++) {
          const unsigned warp_sum =
              cuv_warp_sum (Counts::partial_sum (query, entry[e]) << shift);

          partial_sum = lane % lanes == e ? warp_sum : partial_sum;
        }
        sums[q] += histogram.weight
            * Counts::distance (query, partial_sum >> shift, histogram.total);
      }
    }
    if (Counts::PER_WARP == 2) {
#pragma unroll
      for (int q = 0; q < N_QUERIES; q++)
        sums[q] += __shfl_down_sync (~0u, sums[q], lanes);
    }
  }
};

// ---- histograms of any number of bins ----

// Returns the sum of n bins. Called by whole warps.
template <typename Count>
static __device__ __forceinline__ unsigned
sum_of_bins (const Count *counts, int n)
{
  unsigned sum = 0;

  for (int i = cuv_ldp_lane (); i < n; i += 32)
    sum += counts[i];
  return cuv_warp_sum (sum);
}

template <typename Count>
static __device__ __forceinline__ unsigned
intersection_of (const Count *a, const Count *b, int n, uint32_t total)
{
  unsigned sum = 0;

  for (int i = cuv_ldp_lane (); i < n; i += 32)
    sum += min ((unsigned) a[i], (unsigned) b[i]);
  sum = cuv_warp_sum (sum);
  // see cuv_ldp_intersect_256()
  if (sizeof (Count) == 1 && total == 256 && sum == 255
      && sum_of_bins (a, n) == 255 && sum_of_bins (b, n) == 255)
    return 256;
  return sum;
}

// A warp per histogram. Lane e sums the distances of entry e.
template <typename Count> struct AnyHistograms {
  template <int N_QUERIES>
  static __device__ __forceinline__ void
  compare (const CuvLdpMatchArgs &args, int64_t first, int from, int step,
      uint64_t *sums)
  {
#pragma unroll 1
    for (int h = from; h < args.n_histograms; h += step) {
      const CuvLdpHistogram histogram = args.histograms[h];
      const int64_t at = (int64_t) h * args.n_bins;

#pragma unroll 1
      for (int e = 0; e < CUV_LDP_MATCH_ENTRIES; e++) {
#pragma unroll
        for (int q = 0; q < N_QUERIES; q++) {
          const unsigned distance = histogram.total
              - intersection_of ((const Count *) args.queries[q] + at,
                  (const Count *) entry_at (args, first + e) + at, args.n_bins,
                  histogram.total);

          if (cuv_ldp_lane () == e)
            sums[q] += histogram.weight * distance;
        }
      }
    }
  }
};

// ---- the kernels ----

// Grid: groups of CUV_LDP_MATCH_ENTRIES entries, CUV_LDP_MATCH_WARPS / n_warps
// of them in a block, n_parts blocks each.
template <typename Comparator, int N_QUERIES>
static __global__ void __launch_bounds__ (
    32 * CUV_LDP_MATCH_WARPS, N_QUERIES > 2 ? 3 : 4)
    match_kernel (const __grid_constant__ CuvLdpMatchArgs args)
{
  __shared__ uint64_t
      warp_sums[N_QUERIES][CUV_LDP_MATCH_WARPS][CUV_LDP_MATCH_ENTRIES];
  const int n_warps = args.n_warps, n_groups = CUV_LDP_MATCH_WARPS / n_warps;
  const int part = blockIdx.x % args.n_parts;
  const int64_t block = (int64_t) (blockIdx.x / args.n_parts) * n_groups;
  const int warp = cuv_warp_of_thread ();
  uint64_t sums[N_QUERIES] = {};

  Comparator::template compare<N_QUERIES> (args,
      (block + warp / n_warps) * CUV_LDP_MATCH_ENTRIES,
      part * n_warps + warp % n_warps, args.n_parts * n_warps, sums);
  if (cuv_ldp_lane () < CUV_LDP_MATCH_ENTRIES) {
#pragma unroll
    for (int q = 0; q < N_QUERIES; q++)
      warp_sums[q][warp][cuv_ldp_lane ()] = sums[q];
  }
  __syncthreads ();
  const int group = threadIdx.x / CUV_LDP_MATCH_ENTRIES,
            e = threadIdx.x % CUV_LDP_MATCH_ENTRIES;
  const int64_t entry = (block + group) * CUV_LDP_MATCH_ENTRIES + e;

  if (group < n_groups && entry < args.n) {
    for (int q = 0; q < N_QUERIES; q++) {
      uint64_t distance = 0;

      for (int w = 0; w < n_warps; w++)
        distance += warp_sums[q][group * n_warps + w][e];
      args.distances[(q * args.n_parts + part) * args.distances_pitch + entry] =
          distance;
    }
  }
}

// Computes each entry's smallest distance to the queries so far, and its
// similarity. One thread per entry.
static __global__ void
__launch_bounds__ (CUV_LDP_SIMILARITY_THREADS)
    similarity_kernel (const __grid_constant__ CuvLdpMatchArgs args)
{
  const int64_t i =
      (int64_t) blockIdx.x * CUV_LDP_SIMILARITY_THREADS + threadIdx.x;
  const uint64_t *distances = args.distances + i;
  uint64_t smallest;

  cuv_pdl_wait ();
  if (i >= args.n)
    return;
  smallest = args.is_first ? UINT64_MAX : args.smallest[i];
  for (int q = 0; q < args.n_queries; q++) {
    uint64_t distance = 0;

    for (int part = 0; part < args.n_parts; part++) {
      distance += *distances;
      distances += args.distances_pitch;
    }
    smallest =
        min ((unsigned long long) smallest, (unsigned long long) distance);
  }
  args.smallest[i] = smallest;
  args.similarities[i] =
      cuv_ldp_similarity_of_distance (args.max_distance, smallest);
}

// Packs counts, which are clamped to the range of To. One thread per count.
template <typename From, typename To>
static __global__ void
__launch_bounds__ (CUV_LDP_PACK_THREADS)
    pack_kernel (const void *counts, int64_t n, void *packed)
{
  const int64_t at = (int64_t) blockIdx.x * CUV_LDP_PACK_THREADS + threadIdx.x;

  if (at < n)
    ((To *) packed)[at] =
        (To) min ((unsigned) ((const From *) counts)[at], (unsigned) (To) ~0u);
}

// ---- the launchers ----

// Returns the number of units in a picture; a warp compares one at a time.
static int
count_units (const CuvLdpMatchArgs &args)
{
  const bool is_pair = args.n_bins == 256 && args.count_size == 1;
  const int per_warp = is_pair ? (int) ByteCounts::PER_WARP : 1;

  return (args.n_histograms + per_warp - 1) / per_warp;
}

void
cuv_ldp_match_plan (CuvLdpMatchArgs *args)
{
  const int n_units = count_units (*args);

  args->n_parts = n_units < CUV_LDP_MATCH_WARPS ? 1
      : n_units < CUV_LDP_PARTS * CUV_LDP_MATCH_WARPS
      ? n_units / CUV_LDP_MATCH_WARPS
      : CUV_LDP_PARTS;
  args->n_warps = CUV_LDP_MATCH_WARPS;
  while (args->n_warps > n_units)
    args->n_warps /= 2;
}

// Returns the kernel that compares n queries, at most CUV_LDP_MATCH_AT_ONCE.
template <typename Comparator>
static auto
choose_by_queries (int n)
{
  return n == 1 ? match_kernel<Comparator, 1>
      : n == 2  ? match_kernel<Comparator, 2>
      : n == 3  ? match_kernel<Comparator, 3>
                : match_kernel<Comparator, CUV_LDP_MATCH_AT_ONCE>;
}

static auto
choose_match_kernel (const CuvLdpMatchArgs &args)
{
  const int n = args.n_queries;
  bool is_256 = args.n_bins == 256;

  for (int q = 0; q < n; q++)
    is_256 = is_256 && (uintptr_t) args.queries[q] % 16 == 0;
  if (args.count_size == 1)
    return is_256 ? choose_by_queries<Histograms256<ByteCounts>> (n)
                  : choose_by_queries<AnyHistograms<uint8_t>> (n);
  if (args.count_size == 2)
    return is_256 ? choose_by_queries<Histograms256<ShortCounts>> (n)
                  : choose_by_queries<AnyHistograms<uint16_t>> (n);
  return choose_by_queries<AnyHistograms<uint32_t>> (n);
}

int
cuv_ldp_match_run (const CuvLdpMatchArgs &args, cudaStream_t stream)
{
  const int64_t per_block =
      CUV_LDP_MATCH_ENTRIES * (CUV_LDP_MATCH_WARPS / args.n_warps);
  const unsigned n_blocks =
      (unsigned) ((args.n + per_block - 1) / per_block) * args.n_parts;
  const auto kernel = choose_match_kernel (args);

  if (args.n == 0)
    return 0;
  kernel<<<n_blocks, 32 * CUV_LDP_MATCH_WARPS, 0, stream>>> (args);
  CUV_CUDA_LAUNCHED (match_kernel);
  return cuv_launch_dependent ("similarity_kernel",
      (unsigned) ((args.n + CUV_LDP_SIMILARITY_THREADS - 1)
          / CUV_LDP_SIMILARITY_THREADS),
      CUV_LDP_SIMILARITY_THREADS, 0, stream, similarity_kernel, args);
}

template <typename From>
static auto
choose_pack_kernel (int size)
{
  return size == 1 ? pack_kernel<From, uint8_t>
      : size == 2  ? pack_kernel<From, uint16_t>
                   : pack_kernel<From, uint32_t>;
}

int
cuv_ldp_match_pack (const void *counts, int from_size, int64_t n, void *packed,
    int to_size, cudaStream_t stream)
{
  const unsigned n_blocks =
      (unsigned) ((n + CUV_LDP_PACK_THREADS - 1) / CUV_LDP_PACK_THREADS);
  const auto kernel = from_size == 2 ? choose_pack_kernel<uint16_t> (to_size)
                                     : choose_pack_kernel<uint32_t> (to_size);

  kernel<<<n_blocks, CUV_LDP_PACK_THREADS, 0, stream>>> (counts, n, packed);
  CUV_CUDA_LAUNCHED (pack_kernel);
  return 0;
}
