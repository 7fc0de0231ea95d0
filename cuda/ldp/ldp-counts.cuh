// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts of codes in shared memory. A word holds 16-bit counts of the same bin
// of two histograms of a block, so that the increment, 1 or 1 << 16, depends
// only on the histogram.
#ifndef CUV_LDP_COUNTS_CUH
#define CUV_LDP_COUNTS_CUH

#include "ldp/describe.cuh"

static_assert (
    CUV_LDP_DIRECTIONS * CUV_LDP_TILE_WIDTH * CUV_LDP_TILE_HEIGHT < 1 << 16,
    "counts of a tile must fit in 16 bits");

// Returns the number of words from one block to the next. FULL: a histogram per
// direction, a bin per code.
template <bool FULL>
static __device__ __forceinline__ int
block_stride (const CuvLdpLayout &layout)
{
  return FULL ? CUV_LDP_DIRECTIONS / 2 * CUV_LDP_CODES + CUV_LDP_BLOCK_PADDING
              : cuv_ldp_block_stride (&layout);
}

// Keeps a shared memory address in a register; the compiler would recompute it
// from its parts for each use.
static __device__ __forceinline__ unsigned *
keep_in_register (unsigned *pointer)
{
#ifdef __CUDA_ARCH__
  unsigned address = (unsigned) __cvta_generic_to_shared (pointer);

  asm volatile("" : "+r"(address));
  pointer = (unsigned *) __cvta_shared_to_generic (address);
#endif
  return pointer;
}

// Where a lane counts the codes of its four pixels.
struct CuvLdpLane {
  unsigned *counts[4]; // counts of each pixel's block
  bool in_one_block;   // all four pixels are in one block

  __device__ __forceinline__
  CuvLdpLane (const CuvLdpPlan &plan, unsigned *counts, int stride)
  {
    const unsigned blocks =
        plan.block_of_pixel[blockIdx.x * CUV_LDP_TILE_WIDTH / 4
            + threadIdx.x % 32];

#pragma unroll
    for (int i = 0; i < 4; i++)
      this->counts[i] =
          keep_in_register (counts + (blocks >> 8 * i & 255) * stride);
    in_one_block = blocks == __byte_perm (blocks, 0, 0);
  }
};

// Counts a code of direction d n times.
template <bool FULL>
static __device__ __forceinline__ void
count_code (const CuvLdpDescribeArgs &args, const uint8_t *bin_of_code,
    unsigned *counts, int d, unsigned code, unsigned n)
{
  const int h = FULL ? d : args.histogram_of_direction[d];
  const int bin = FULL ? (int) code : bin_of_code[code];
  const int n_bins = FULL ? CUV_LDP_CODES : args.layout.n_bins;

  atomicAdd (&counts[h / 2 * n_bins + bin], h % 2 == 0 ? n : n << 16);
}

// Counts the codes of a lane's four pixels, a byte each.
template <bool FULL>
static __device__ __forceinline__ void
count_four (const CuvLdpDescribeArgs &args, const uint8_t *bin_of_code,
    const CuvLdpLane &lane, int d, unsigned codes)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    count_code<FULL> (args, bin_of_code, lane.counts[i], d,
        __byte_perm (codes, 0, 0x4440 + i), 1);
}

// Counts the codes of four pixels per lane; called by whole warps. In flat
// areas all codes are 255: those are summed per lane in n_flat first, because
// atomic additions of all lanes to one count serialise. If no lane of the warp
// has such pixels, the usual case, the loop has no branches.
template <bool FULL>
static __device__ __forceinline__ void
count_codes (const CuvLdpDescribeArgs &args, const uint8_t *bin_of_code,
    const CuvLdpLane &lane, const unsigned codes[CUV_LDP_DIRECTIONS],
    unsigned n_flat[CUV_LDP_DIRECTIONS])
{
  bool any = false;

#pragma unroll
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++)
    any = any || codes[d] == ~0u;
  if (!__any_sync (~0u, lane.in_one_block && any)) {
#pragma unroll
    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
      if (FULL || args.histogram_of_direction[d] >= 0)
        count_four<FULL> (args, bin_of_code, lane, d, codes[d]);
    }
    return;
  }
#pragma unroll
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    if (lane.in_one_block && codes[d] == ~0u)
      n_flat[d] += 4;
    else if (FULL || args.histogram_of_direction[d] >= 0)
      count_four<FULL> (args, bin_of_code, lane, d, codes[d]);
  }
}

// Adds the sums of flat areas.
template <bool FULL>
static __device__ __forceinline__ void
count_flat (const CuvLdpDescribeArgs &args, const uint8_t *bin_of_code,
    const CuvLdpLane &lane, const unsigned n_flat[CUV_LDP_DIRECTIONS])
{
#pragma unroll
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    if (n_flat[d] > 0 && (FULL || args.histogram_of_direction[d] >= 0))
      count_code<FULL> (args, bin_of_code, lane.counts[0], d, 255, n_flat[d]);
  }
}

// ---- from shared to global memory ----

template <bool ATOMIC>
static __device__ __forceinline__ void
cuv_ldp_store_count (uint32_t *to, unsigned count)
{
  if (!ATOMIC)
    *to = count;
  else if (count != 0)
    atomicAdd (to, count);
}

template <bool ATOMIC>
static __device__ __forceinline__ void
cuv_ldp_store_count (uint16_t *to, unsigned count)
{
  const unsigned offset = (unsigned) (uintptr_t) to % 4; // offset in its word

  if (!ATOMIC)
    *to = (uint16_t) count;
  else if (count != 0)
    atomicAdd ((unsigned *) ((uintptr_t) to - offset), count << 8 * offset);
}

// Stores four 16-bit counts, two in a word.
template <bool ATOMIC>
static __device__ __forceinline__ void
store_four (uint16_t *to, unsigned first, unsigned last)
{
  if (ATOMIC) {
    cuv_ldp_store_count<true> ((uint32_t *) to, first);
    cuv_ldp_store_count<true> ((uint32_t *) to + 1, last);
  } else {
    *(uint2 *) to = make_uint2 (first, last);
  }
}

// Stores the lower halves of n words, 1 or 4, to one histogram, and the upper
// halves to the one `next` counts further on, unless that is 0.
template <bool ATOMIC, typename Count>
static __device__ __forceinline__ void
store_words (Count *to, const unsigned *words, int n, int next)
{
  if constexpr (sizeof (Count) == 2) {
    if (n == 4) {
      const uint4 four = *(const uint4 *) words;

      store_four<ATOMIC> (to, __byte_perm (four.x, four.y, 0x5410),
          __byte_perm (four.z, four.w, 0x5410));
      if (next > 0)
        store_four<ATOMIC> (to + next, __byte_perm (four.x, four.y, 0x7632),
            __byte_perm (four.z, four.w, 0x7632));
      return;
    }
  }
  cuv_ldp_store_count<ATOMIC> (to, *words & 0xffff);
  if (next > 0)
    cuv_ldp_store_count<ATOMIC> (to + next, *words >> 16);
}

// Stores the counts of n_blocks blocks, the first of which is number `block` of
// the picture.
template <typename Count, bool FULL, bool ATOMIC>
static __device__ __forceinline__ void
store_blocks (const CuvLdpDescribeArgs &args, const unsigned *counts, int block,
    int n_blocks)
{
  const int n_bins = FULL ? CUV_LDP_CODES : args.layout.n_bins;
  const int n_histograms = FULL ? CUV_LDP_DIRECTIONS : args.layout.n_histograms;
  const int stride = block_stride<FULL> (args.layout);
  const int n_words = stride - CUV_LDP_BLOCK_PADDING;
  const int step = sizeof (Count) == 2 && n_bins % 4 == 0 ? 4 : 1;
  Count *to = (Count *) args.counts + (int64_t) block * n_histograms * n_bins;

#pragma unroll 2
  for (int b = 0; b < n_blocks; b++) {
    for (int at = 0; at < n_words; at += CUV_LDP_THREADS * step) {
      const int i = at + threadIdx.x * step;
      const int pair = i >= n_bins;

      // no check where each thread has exactly one step
      if ((FULL && step == 4) || i < n_words)
        store_words<ATOMIC> (to + i + pair * n_bins, counts + i, step,
            2 * pair + 1 < n_histograms ? n_bins : 0);
    }
    counts += stride;
    to += n_histograms * n_bins;
  }
}

template <typename Count, bool FULL>
static __device__ __forceinline__ void
store_blocks (const CuvLdpDescribeArgs &args, const unsigned *counts, int block,
    int n_blocks)
{
  if (args.plan.needs_atomic_add)
    store_blocks<Count, FULL, true> (args, counts, block, n_blocks);
  else
    store_blocks<Count, FULL, false> (args, counts, block, n_blocks);
}

#endif
