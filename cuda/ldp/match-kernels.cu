// SPDX-License-Identifier: LGPL-2.1-or-later
// A query against the pictures of an index. A block of threads has some
// pictures and a part of their histograms, so that the query is read once for
// all of them; a warp has every n-th piece. Who has what does not depend on how
// many pictures there are: sums are the same however they are cut.
#include "ldp/match.cuh"

#define WARPS 8
#define ENTRIES 8 // of a block of threads
#define PACK_THREADS 256

static __device__ __forceinline__ int
lane_of_thread ()
{
  return threadIdx.x % 32;
}

// Behind the last one is the last one again.
static __device__ __forceinline__ const uint8_t *
entry_at (const CuvLdpMatchPass &pass, int64_t i)
{
  return pass.entries
      + min ((long long) i, (long long) pass.n - 1) * pass.pitch;
}

// ---- histograms of 256 bins ----

// Whether the bytes of the lane's half of the warp add up to 255.
static __device__ __forceinline__ bool
adds_up_to_255 (uint4 a)
{
  const int shift = lane_of_thread () / 16 * 16;
  const unsigned sum = __vsadu4 (a.x, 0) + __vsadu4 (a.y, 0) + __vsadu4 (a.z, 0)
      + __vsadu4 (a.w, 0);

  return (cuv_warp_sum (sum << shift) >> shift & 0xffff) == 255;
}

// Two histograms of 256 bytes: how much they differ is twice what they lack.
struct Bytes {
  enum { HISTOGRAMS = 2 };

  static __device__ __forceinline__ unsigned
  found (uint4 a, uint4 b)
  {
    return __vsadu4 (a.x, b.x) + __vsadu4 (a.y, b.y) + __vsadu4 (a.z, b.z)
        + __vsadu4 (a.w, b.w);
  }

  // A byte of 255 may stand for 256, all codes of a histogram. If one of the
  // two has it, they differ by an odd number, which is one too small. If both
  // have it, in other bins, they differ by 510, two too small: others that do
  // so have one code in common. A query of which 255 are seen is no such other.
  static __device__ __forceinline__ unsigned
  lack (uint4 query, unsigned found, uint32_t total)
  {
    const unsigned difference = found & 0xffff;
    const bool is_510 = difference == 510 && total == 256;
    unsigned lack = (difference + 1) / 2;

    if (__any_sync (~0u, is_510) && adds_up_to_255 (query) && is_510)
      lack++;
    return lack;
  }
};

// A histogram of 256 counts of two bytes: what they have in common.
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
  lack (uint4, unsigned found, uint32_t total)
  {
    return total - found;
  }
};

// Each lane has 16 bytes. Lane e of those of a histogram keeps what entry e
// lacks, in every such histogram.
template <typename Form> struct Units {
  static __device__ __forceinline__ uint64_t
  compare (const CuvLdpMatchPass &pass, int64_t first, int from, int step)
  {
    const int lanes = 32 / Form::HISTOGRAMS; // of a histogram
    const int lane = lane_of_thread (), shift = lane / lanes * 16;
    const int n_units =
        (pass.n_histograms + Form::HISTOGRAMS - 1) / Form::HISTOGRAMS;
    // by the lanes, or the compiler finds all of them anew for each unit
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
          * Form::lack (query, found >> shift, histogram.total);
    }
    if (Form::HISTOGRAMS == 2)
      sum += __shfl_down_sync (~0u, sum, lanes);
    return sum;
  }
};

// ---- any histograms ----

// Of whole warps.
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
common_of (const Count *a, const Count *b, int n, uint32_t total)
{
  unsigned sum = 0;

  for (int i = lane_of_thread (); i < n; i += 32)
    sum += min ((unsigned) a[i], (unsigned) b[i]);
  sum = cuv_warp_sum (sum);
  // see cuv_ldp_common_whole()
  if (sizeof (Count) == 1 && total == 256 && sum == 255
      && sum_of_bins (a, n) == 255 && sum_of_bins (b, n) == 255)
    return 256;
  return sum;
}

// Lane e keeps what entry e lacks.
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
        const unsigned lack = histogram.total
            - common_of ((const Count *) pass.query + at,
                (const Count *) entry_at (pass, first + e) + at, pass.n_bins,
                histogram.total);

        if (lane_of_thread () == e)
          sum += histogram.weight * lack;
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
    uint64_t lack = 0;

    for (int w = 0; w < WARPS; w++)
      lack += of_warps[w][threadIdx.x];
    pass.lacks[part * pass.lacks_pitch + first + threadIdx.x] = lack;
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
