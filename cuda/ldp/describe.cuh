// SPDX-License-Identifier: LGPL-2.1-or-later
// Between describe.cu, plan.cu and ldp.cu: the launch plan and its constants.
#ifndef CUV_LDP_DESCRIBE_CUH
#define CUV_LDP_DESCRIBE_CUH

#include "cuv-cuda.cuh"
#include "cuv-frame.h"
#include "ldp/ldp-types.h"

#define CUV_LDP_THREADS 128            // per block of threads
#define CUV_LDP_ACROSS 128             // width of a tile, pixels
#define CUV_LDP_DOWN 64                // maximum height of a tile, pixels
#define CUV_LDP_ROWS 16                // rows of a tile done at once
#define CUV_LDP_RESIDENT 8             // blocks of threads per multiprocessor
#define CUV_LDP_SHARED_WORDS (8 << 10) // of counts
// Words of padding between the counts of two blocks, so that equal codes of
// neighbouring blocks fall in different banks. 4: keeps 16-byte alignment.
#define CUV_LDP_GAP 4

// A tile's extent on one axis, and the blocks of the picture it covers. Aligned
// to be read in one access.
struct __align__ (16) CuvLdpSpan
{
  int32_t at, size; // pixels
  int32_t block, n_blocks;
};

// How a picture is split into tiles, one per block of threads. A tile holds
// several adjacent blocks of the picture, or a part of one, to whose counts it
// then adds.
struct CuvLdpPlan {
  int n_across, n_down; // tiles
  const CuvLdpSpan *across, *down;
  // for the CUV_LDP_ACROSS pixels of each tile column, four bytes in a word:
  // the block relative to the tile's first; pixels that are not counted go to
  // an extra block after all others, which is never read
  const unsigned *block_of;
  int count_size;
  int n_shared; // words of counts in shared memory
  bool adds;    // to counts in global memory: a block lies in several tiles
};

struct CuvLdpPass {
  CuvLdpLayout layout;
  CuvLdpPlan plan;
  CuvFrame picture;                        // already resized
  int8_t histogram_of[CUV_LDP_DIRECTIONS]; // -1: none
  void *counts;
};

// Pairs of histograms per block: two share a word of shared memory.
CUV_HOST_DEVICE int
cuv_ldp_pairs (const CuvLdpLayout *layout)
{
  return (layout->n_histograms + 1) / 2;
}

// Words of shared memory from the counts of one block to the next.
CUV_HOST_DEVICE int
cuv_ldp_stride (const CuvLdpLayout *layout)
{
  return cuv_ldp_pairs (layout) * layout->n_bins + CUV_LDP_GAP;
}

// The tables of the plan are allocated from the arena. Returns 0 or -1.
int cuv_ldp_plan (
    CuvLdpPlan *self, const CuvLdpLayout &layout, CuvArena *arena);

int cuv_ldp_describe_submit (const CuvLdpPass &pass, cudaStream_t stream);

#endif
