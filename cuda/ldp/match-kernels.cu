// SPDX-License-Identifier: LGPL-2.1-or-later
// Distances between a query and the pictures of an index. A block of threads
// takes ENTRIES pictures and one of CUV_LDP_PARTS of their histograms, so that
// the query is read once for all of them; its warps interleave. The assignment
// does not depend on the number of pictures.
#include "ldp/match.cuh"

#define WARPS 8
#define ENTRIES 8 // per block of threads
#define PACK_THREADS 256

static __device__ __forceinline__ int
lane_of_thread ()
{
  return threadIdx.x % 32;
}

// Clamped: beyond the last entry, the last one is read again.
static __device__ __forceinline__ const uint8_t *
entry_at (const CuvLdpMatchPass &pass, int64_t i)
{
  return pass.entries
      + min ((long long) i, (long long) pass.n - 1) * pass.pitch;
}

// ---- histograms of 256 bins ----

// Whether the 16 x 16 bytes of the lane's half of the warp sum to 255.
static __device__ __forceinline__ bool
adds_up_to_255 (uint4 a)
{
  const int shift = lane_of_thread () / 16 * 16;
  const unsigned sum = __vsadu4 (a.x, 0) + __vsadu4 (a.y, 0) + __vsadu4 (a.z, 0)
      + __vsadu4 (a.w, 0);

  return (cuv_warp_sum (sum << shift) >> shift & 0xffff) == 255;
}

// A warp compares two histograms of 256 one-byte counts: the sum of absolute
// differences is twice the distance.
struct Bytes {
  enum { HISTOGRAMS = 2 };

  static __device__ __forceinline__ unsigned
  found (uint4 a, uint4 b)
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
  distance (uint4 query, unsigned found, uint32_t total)
  {
    const unsigned difference = found & 0xffff;
    const bool is_510 = difference == 510 && total == 256;
    unsigned distance = (difference + 1) / 2;

    if (__any_sync (~0u, is_510) && adds_up_to_255 (query) && is_510)
      distance++;
    return distance;
  }
};

// A warp compares one histogram of 256 two-byte counts, by its intersection.
struct Pairs {
  enum { HISTOGRAMS = 1 };

  static __device__ __forceinline__ unsigned
  found (uint4 a, uint4 b)
  {
    unsigned sum = __dp2a_lo (__vminu2 (a.x, b.x), 0x0101u, 0u);

    sum = __dp2a_lo (__vminu2 (a.y, b.y), 0x0101u, sum);
    sum = __dp2a_lo (__vminu2 (a.z, b.z), 0x0101u, sum);
    return __dp2a_lo (__vminu2 (a.w, b.w), 0x0101u, sum);
  }

  static __device__ __forceinline__ unsigned
  distance (uint4, unsigned found, uint32_t total)
  {
    return total - found;
  }
};

// A unit is 512 bytes, 16 per lane. Of the lanes of a histogram, lane e sums
// the distance of entry e.
template <typename Form> struct Units {
  static __device__ __forceinline__ uint64_t
  compare (const CuvLdpMatchPass &pass, int64_t first, int from, int step)
  {
    const int lanes = 32 / Form::HISTOGRAMS; // per histogram
    const int lane = lane_of_thread (), shift = lane / lanes * 16;
    const int n_units =
        (pass.n_histograms + Form::HISTOGRAMS - 1) / Form::HISTOGRAMS;
    // through the lanes, or the compiler recomputes all addresses per unit
    const int64_t offset = entry_at (pass, first + lane) - pass.entries;
    const uint4 *entries[ENTRIES];
    uint64_t sum = 0;

#pragma unroll
    for (int e = 0; e < ENTRIES; e++)
      entries[e] =
          (const uint4 *) (pass.entries + __shfl_sync (~0u, offset, e));
#pragma unroll 1
    for (int unit = from; unit < n_units; unit += step) {
      const int at = unit * 32 + lane;
      const CuvLdpHistogram histogram =
          pass.histograms[unit * Form::HISTOGRAMS + lane / lanes];
      const uint4 query = ((const uint4 *) pass.query)[at];
      uint4 entry[ENTRIES];
      unsigned found = 0;

#pragma unroll
      for (int e = 0; e < ENTRIES; e++)
        entry[e] = entries[e][at];
#pragma unroll
      for (int e = 0; e < ENTRIES; e++) {
        const unsigned all =
            cuv_warp_sum (Form::found (query, entry[e]) << shift);

        found = lane % lanes == e ? all : found;
      }
      sum += histogram.weight
          * Form::distance (query, found >> shift, histogram.total);
    }
    if (Form::HISTOGRAMS == 2)
      sum += __shfl_down_sync (~0u, sum, lanes);
    return sum;
  }
};

// ---- any histograms ----

// Called by whole warps.
template <typename Count>
static __device__ __forceinline__ unsigned
sum_of_bins (const Count *counts, int n)
{
  unsigned sum = 0;

  for (int i = lane_of_thread (); i < n; i += 32)
    sum += counts[i];
  return cuv_warp_sum (sum);
}

template <typename Count>
static __device__ __forceinline__ unsigned
intersection_of (const Count *a, const Count *b, int n, uint32_t total)
{
  unsigned sum = 0;

  for (int i = lane_of_thread (); i < n; i += 32)
    sum += min ((unsigned) a[i], (unsigned) b[i]);
  sum = cuv_warp_sum (sum);
  // see cuv_ldp_intersect_256()
  if (sizeof (Count) == 1 && total == 256 && sum == 255
      && sum_of_bins (a, n) == 255 && sum_of_bins (b, n) == 255)
    return 256;
  return sum;
}

// A warp per histogram. Lane e sums the distance of entry e.
template <typename Count> struct Any {
  static __device__ __forceinline__ uint64_t
  compare (const CuvLdpMatchPass &pass, int64_t first, int from, int step)
  {
    uint64_t sum = 0;

#pragma unroll 1
    for (int h = from; h < pass.n_histograms; h += step) {
      const CuvLdpHistogram histogram = pass.histograms[h];
      const int64_t at = (int64_t) h * pass.n_bins;

#pragma unroll 1
      for (int e = 0; e < ENTRIES; e++) {
        const unsigned distance = histogram.total
            - intersection_of ((const Count *) pass.query + at,
                (const Count *) entry_at (pass, first + e) + at, pass.n_bins,
                histogram.total);

        if (lane_of_thread () == e)
          sum += histogram.weight * distance;
      }
    }
    return sum;
  }
};

// ---- the kernels ----

template <typename Histograms>
static __global__ void __launch_bounds__ (32 * WARPS, 4)
    match_kernel (const __grid_constant__ CuvLdpMatchPass pass)
{
  __shared__ uint64_t of_warps[WARPS][ENTRIES];
  const int part = blockIdx.x % CUV_LDP_PARTS;
  const int64_t first = (int64_t) (blockIdx.x / CUV_LDP_PARTS) * ENTRIES;
  const int warp = cuv_warp_of_thread ();
  const uint64_t sum = Histograms::compare (
      pass, first, part * WARPS + warp, CUV_LDP_PARTS * WARPS);

  if (lane_of_thread () < ENTRIES)
    of_warps[warp][lane_of_thread ()] = sum;
  __syncthreads ();
  if (threadIdx.x < ENTRIES && first + threadIdx.x < pass.n) {
    uint64_t distance = 0;

    for (int w = 0; w < WARPS; w++)
      distance += of_warps[w][threadIdx.x];
    pass.distances[part * pass.distances_pitch + first + threadIdx.x] =
        distance;
  }
}

template <typename From, typename To>
static __global__ void
__launch_bounds__ (PACK_THREADS)
    pack_kernel (const void *counts, int64_t n, void *packed)
{
  const int64_t at = (int64_t) blockIdx.x * PACK_THREADS + threadIdx.x;

  if (at < n)
    ((To *) packed)[at] =
        (To) min ((unsigned) ((const From *) counts)[at], (unsigned) (To) ~0u);
}

// ---- the launchers ----

int
cuv_ldp_match_run (const CuvLdpMatchPass &pass, cudaStream_t stream)
{
  const unsigned n_blocks =
      (unsigned) ((pass.n + ENTRIES - 1) / ENTRIES) * CUV_LDP_PARTS;
  const bool whole = pass.n_bins == 256 && (uintptr_t) pass.query % 16 == 0;
  const auto kernel = pass.count_size == 1
      ? whole ? match_kernel<Units<Bytes>> : match_kernel<Any<uint8_t>>
      : pass.count_size == 2
      ? whole ? match_kernel<Units<Pairs>> : match_kernel<Any<uint16_t>>
      : match_kernel<Any<uint32_t>>;

  if (pass.n == 0)
    return 0;
  kernel<<<n_blocks, 32 * WARPS, 0, stream>>> (pass);
  CUV_CUDA_LAUNCHED (match_kernel);
  return 0;
}

template <typename From>
static auto
pack_kernel_to (int size)
{
  return size == 1 ? pack_kernel<From, uint8_t>
      : size == 2  ? pack_kernel<From, uint16_t>
                   : pack_kernel<From, uint32_t>;
}

int
cuv_ldp_match_pack (const void *counts, int from_size, int64_t n, void *packed,
    int to_size, cudaStream_t stream)
{
  const unsigned n_blocks = (unsigned) ((n + PACK_THREADS - 1) / PACK_THREADS);
  const auto kernel = from_size == 2 ? pack_kernel_to<uint16_t> (to_size)
                                     : pack_kernel_to<uint32_t> (to_size);

  kernel<<<n_blocks, PACK_THREADS, 0, stream>>> (counts, n, packed);
  CUV_CUDA_LAUNCHED (pack_kernel);
  return 0;
}
