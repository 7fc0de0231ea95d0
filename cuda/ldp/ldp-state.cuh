// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels of local derivative patterns have in common.
#ifndef CUV_LDP_STATE_CUH
#define CUV_LDP_STATE_CUH

#include "cuv-cuda.cuh"
#include "cuv-frame.h"
#include "ldp/ldp-types.h"

#define CUV_LDP_THREADS 128            // of a block of threads
#define CUV_LDP_ACROSS 128             // pixels of a tile
#define CUV_LDP_DOWN 64                // and of a piece of a block
#define CUV_LDP_ROWS 16                // of them at a time
#define CUV_LDP_RESIDENT 8             // blocks of threads on a multiprocessor
#define CUV_LDP_SHARED_WORDS (8 << 10) // of counts
// words between those of two blocks, so that banks of memory differ where codes
// of neighbours are the same; 16 bytes, which are written at once
#define CUV_LDP_GAP 4

// What a block of threads has of an axis: pixels, and the blocks they are in.
// 16 bytes, so that they are read at once.
struct __align__ (16) CuvLdpPiece
{
  int32_t at, size; // pixels
  int32_t block, n_blocks;
};

// How a picture is shared out. A block of threads has a piece across, and one
// down: of some blocks of the picture next to each other, or of one, to whose
// counts it adds.
struct CuvLdpPlan {
  int n_across, n_down; // pieces
  const CuvLdpPiece *across, *down;
  // of CUV_LDP_ACROSS pixels from the beginning of each piece across on, four
  // in a word: how many blocks behind its first; those that are not counted
  // have one of their own behind all others, which nobody reads
  const unsigned *block_of;
  int count_size;
  int n_shared; // words of counts in shared memory
  bool adds;
};

struct CuvLdpPass {
  CuvLdpShape shape;
  CuvLdpPlan plan;
  CuvFrame picture;                        // of the shape's size
  int8_t histogram_of[CUV_LDP_DIRECTIONS]; // -1: none
  void *counts;
};

// Histograms of a block, of which two share words in shared memory.
CUV_BOTH int
cuv_ldp_pairs (const CuvLdpShape *shape)
{
  return (shape->n_histograms + 1) / 2;
}

// Words from a block's counts in shared memory to those of the next.
CUV_BOTH int
cuv_ldp_stride (const CuvLdpShape *shape)
{
  return cuv_ldp_pairs (shape) * shape->n_bins + CUV_LDP_GAP;
}

// Its tables are of the arena.
int cuv_ldp_plan (CuvLdpPlan *self, const CuvLdpShape &shape, CuvArena *arena);

int cuv_ldp_describe_submit (const CuvLdpPass &pass, cudaStream_t stream);

#endif
