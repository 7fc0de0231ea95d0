// SPDX-License-Identifier: LGPL-2.1-or-later
// The tile plan, and the arguments of describe_kernel. "Block" means a block of
// the picture, which has its own histograms (CuvLdpLayout); CUDA's blocks are
// called thread blocks.
#ifndef CUV_LDP_DESCRIBE_CUH
#define CUV_LDP_DESCRIBE_CUH

#include "cuv-cuda.cuh"
#include "cuv-frame.h"
#include "ldp/ldp-types.h"

#define CUV_LDP_THREADS 128            // threads per thread block
#define CUV_LDP_TILE_WIDTH 128         // pixels
#define CUV_LDP_TILE_HEIGHT 64         // maximum, pixels
#define CUV_LDP_STEP_ROWS 16           // rows of a tile processed at once
#define CUV_LDP_BLOCKS_PER_SM 8        // resident thread blocks
#define CUV_LDP_SHARED_WORDS (8 << 10) // maximum for counts
// Words of padding between the counts of two blocks, so that equal codes of
// neighbouring blocks fall in different banks. 4: keeps 16-byte alignment.
#define CUV_LDP_BLOCK_PADDING 4

// The extent of a tile on one axis, aligned so that it is read in one access.
struct __align__ (16) CuvLdpSpan
{
  int32_t begin, length;         // pixels
  int32_t first_block, n_blocks; // blocks that the span lies in
};

// How a picture is split into tiles, one per thread block. A tile holds several
// adjacent blocks, or a part of one.
struct CuvLdpPlan {
  int n_tile_columns, n_tile_rows;
  const CuvLdpSpan *columns, *rows;
  // The block of each pixel of a tile row, relative to the first block of the
  // tile: a byte each, four in a word, CUV_LDP_TILE_WIDTH per tile column.
  // Pixels that are not counted have the number after the last block, whose
  // counts are never read.
  const unsigned *block_of_pixel;
  int count_size;        // bytes per count in global memory, 2 or 4
  int n_shared_words;    // words for counts in shared memory
  bool needs_atomic_add; // whether a block lies in several tiles
};

struct CuvLdpDescribeArgs {
  CuvLdpLayout layout;
  CuvLdpPlan plan;
  CuvFrame picture;                                  // has the layout's size
  int8_t histogram_of_direction[CUV_LDP_DIRECTIONS]; // -1: none
  void *counts; // in device memory, in the order of CuvLdpLayout
};

// Returns the number of words of shared memory from the counts of one block to
// the next. A word holds the same bin of two histograms.
CUV_HOST_DEVICE int
cuv_ldp_block_stride (const CuvLdpLayout *layout)
{
  return (layout->n_histograms + 1) / 2 * layout->n_bins
      + CUV_LDP_BLOCK_PADDING;
}

// Allocates the tables of the plan from the arena. Returns 0 or -1.
int cuv_ldp_plan (
    CuvLdpPlan *self, const CuvLdpLayout &layout, CuvArena *arena);

// Enqueues describe_kernel. If plan.needs_atomic_add, counts must be zeroed.
// Returns 0 or -1.
int cuv_ldp_describe_submit (
    const CuvLdpDescribeArgs &args, cudaStream_t stream);

#endif
