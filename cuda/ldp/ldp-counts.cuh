// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts of codes in shared memory. A word holds 16-bit counts of the same bin
// of two histograms of a block, so that the increment does not depend on the
// code.
#ifndef CUV_LDP_COUNTS_CUH
#define CUV_LDP_COUNTS_CUH

#include "ldp/describe.cuh"

static_assert (CUV_LDP_DIRECTIONS * CUV_LDP_ACROSS * CUV_LDP_DOWN < 1 << 16,
    "counts of a block of threads must fit 16 bits");

// Words from one block to the next. ALL: a histogram per direction, a bin per
// code.
template <bool ALL>
static __device__ __forceinline__ int
stride_of_block (const CuvLdpLayout &layout)
{
  return ALL ? CUV_LDP_DIRECTIONS / 2 * CUV_LDP_CODES + CUV_LDP_GAP
             : cuv_ldp_stride (&layout);
}

// Keeps a shared memory address in a register; the compiler would recompute it
// from its parts for each use.
static __device__ __forceinline__ unsigned *
keep_in_register (unsigned *place)
{
#ifdef __CUDA_ARCH__
  unsigned address = (unsigned) __cvta_generic_to_shared (place);

  asm volatile("" : "+r"(address));
  place = (unsigned *) __cvta_shared_to_generic (address);
#endif
  return place;
}

struct Lane {
  unsigned *counts[4]; // counts of the block of each of its four pixels
  bool one;            // all four are in the same block

  __device__ __forceinline__
  Lane (const CuvLdpPlan &plan, unsigned *counts, int stride)
  {
    const unsigned blocks =
        plan.block_of[blockIdx.x * CUV_LDP_ACROSS / 4 + threadIdx.x % 32];

#pragma unroll
    for (int i = 0; i < 4; i++)
      this->counts[i] =
          keep_in_register (counts + (blocks >> 8 * i & 255) * stride);
    one = blocks == __byte_perm (blocks, 0, 0);
  }
};

// Counts a code of direction d n times.
template <bool ALL>
static __device__ __forceinline__ void
add (const CuvLdpPass &pass, const uint8_t *bin_of_code, unsigned *counts,
    int d, unsigned code, unsigned n)
{
  const int h = ALL ? d : pass.histogram_of[d];
  const int bin = ALL ? (int) code : bin_of_code[code];
  const int n_bins = ALL ? CUV_LDP_CODES : pass.layout.n_bins;

  atomicAdd (&counts[h / 2 * n_bins + bin], h % 2 == 0 ? n : n << 16);
}

template <bool ALL>
static __device__ __forceinline__ void
add_four (const CuvLdpPass &pass, const uint8_t *bin_of_code, const Lane &lane,
    int d, unsigned codes)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    add<ALL> (pass, bin_of_code, lane.counts[i], d,
        __byte_perm (codes, 0, 0x4440 + i), 1);
}

// Counts the codes of four pixels per lane; called by whole warps. In flat
// areas all codes are 255: those are summed per lane in `flat` first, because
// atomic additions of all lanes to one count serialise. If no lane of the warp
// has any, the usual case, the loop has no branches.
template <bool ALL>
static __device__ __forceinline__ void
count_codes (const CuvLdpPass &pass, const uint8_t *bin_of_code,
    const Lane &lane, const unsigned codes[CUV_LDP_DIRECTIONS],
    unsigned flat[CUV_LDP_DIRECTIONS])
{
  bool any = false;

#pragma unroll
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++)
    any = any || codes[d] == ~0u;
  if (!__any_sync (~0u, lane.one && any)) {
#pragma unroll
    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
      if (ALL || pass.histogram_of[d] >= 0)
        add_four<ALL> (pass, bin_of_code, lane, d, codes[d]);
    }
    return;
  }
#pragma unroll
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    if (lane.one && codes[d] == ~0u)
      flat[d] += 4;
    else if (ALL || pass.histogram_of[d] >= 0)
      add_four<ALL> (pass, bin_of_code, lane, d, codes[d]);
  }
}

template <bool ALL>
static __device__ __forceinline__ void
count_flat (const CuvLdpPass &pass, const uint8_t *bin_of_code,
    const Lane &lane, const unsigned flat[CUV_LDP_DIRECTIONS])
{
#pragma unroll
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    if (flat[d] > 0 && (ALL || pass.histogram_of[d] >= 0))
      add<ALL> (pass, bin_of_code, lane.counts[0], d, 255, flat[d]);
  }
}

// ---- to the picture's counts in global memory ----

template <bool ADDS>
static __device__ __forceinline__ void
store (uint32_t *to, unsigned count)
{
  if (!ADDS)
    *to = count;
  else if (count != 0)
    atomicAdd (to, count);
}

template <bool ADDS>
static __device__ __forceinline__ void
store (uint16_t *to, unsigned count)
{
  const unsigned skip = (unsigned) (uintptr_t) to % 4; // offset in its word

  if (!ADDS)
    *to = (uint16_t) count;
  else if (count != 0)
    atomicAdd ((unsigned *) ((uintptr_t) to - skip), count << 8 * skip);
}

// Stores the lower halves of n words to one histogram, and the upper halves to
// the one `next` counts further on, unless that is 0.
template <bool ADDS>
static __device__ __forceinline__ void
store_words (uint32_t *to, const unsigned *words, int, int next)
{
  store<ADDS> (to, *words & 0xffff);
  if (next > 0)
    store<ADDS> (to + next, *words >> 16);
}

template <bool ADDS>
static __device__ __forceinline__ void
store_four (uint16_t *to, unsigned first, unsigned last)
{
  if (ADDS) {
    store<true> ((uint32_t *) to, first);
    store<true> ((uint32_t *) to + 1, last);
  } else {
    *(uint2 *) to = make_uint2 (first, last);
  }
}

template <bool ADDS>
static __device__ __forceinline__ void
store_words (uint16_t *to, const unsigned *words, int n, int next)
{
  if (n == 4) {
    const uint4 four = *(const uint4 *) words;

    store_four<ADDS> (to, __byte_perm (four.x, four.y, 0x5410),
        __byte_perm (four.z, four.w, 0x5410));
    if (next > 0)
      store_four<ADDS> (to + next, __byte_perm (four.x, four.y, 0x7632),
          __byte_perm (four.z, four.w, 0x7632));
  } else {
    store<ADDS> (to, *words & 0xffff);
    if (next > 0)
      store<ADDS> (to + next, *words >> 16);
  }
}

// Stores the counts of n_blocks blocks from `block` of the picture on.
template <typename Count, bool ALL, bool ADDS>
static __device__ __forceinline__ void
store_blocks (
    const CuvLdpPass &pass, const unsigned *counts, int block, int n_blocks)
{
  const int n_bins = ALL ? CUV_LDP_CODES : pass.layout.n_bins;
  const int n_histograms = ALL ? CUV_LDP_DIRECTIONS : pass.layout.n_histograms;
  const int stride = stride_of_block<ALL> (pass.layout);
  const int of_block = stride - CUV_LDP_GAP;
  const int step = sizeof (Count) == 2 && n_bins % 4 == 0 ? 4 : 1;
  Count *to = (Count *) pass.counts + (int64_t) block * n_histograms * n_bins;

#pragma unroll 2
  for (int b = 0; b < n_blocks; b++) {
    for (int at = 0; at < of_block; at += CUV_LDP_THREADS * step) {
      const int i = at + threadIdx.x * step;
      const int pair = i >= n_bins;

      // no check where each thread has exactly one step
      if ((ALL && step == 4) || i < of_block)
        store_words<ADDS> (to + i + pair * n_bins, counts + i, step,
            2 * pair + 1 < n_histograms ? n_bins : 0);
    }
    counts += stride;
    to += n_histograms * n_bins;
  }
}

template <typename Count, bool ALL>
static __device__ __forceinline__ void
store_blocks (
    const CuvLdpPass &pass, const unsigned *counts, int block, int n_blocks)
{
  if (pass.plan.adds)
    store_blocks<Count, ALL, true> (pass, counts, block, n_blocks);
  else
    store_blocks<Count, ALL, false> (pass, counts, block, n_blocks);
}

#endif
