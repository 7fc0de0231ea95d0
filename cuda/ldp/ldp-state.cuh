// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels of local derivative patterns have in common.
#ifndef CUV_LDP_STATE_CUH
#define CUV_LDP_STATE_CUH

#include "cuv-cuda.cuh"
#include "cuv-frame.h"
#include "ldp/ldp-types.h"

#define CUV_LDP_ACROSS 128              // pixels of a tile
#define CUV_LDP_DOWN 64                 // and of a piece of a block
#define CUV_LDP_SHARED_BYTES (32 << 10) // of histograms

#define CUV_LDP_NO_BLOCK 255

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
  // in a word: how many blocks behind its first, or CUV_LDP_NO_BLOCK
  const unsigned *block_of;
  int count_size, n_shared; // counts in shared memory
  bool adds;
};

struct CuvLdpPass {
  CuvLdpShape shape;
  CuvLdpPlan plan;
  CuvFrame picture;                        // of the shape's size
  int8_t histogram_of[CUV_LDP_DIRECTIONS]; // -1: none
  void *counts;
};

// Its tables are of the arena.
int cuv_ldp_plan (CuvLdpPlan *self, const CuvLdpShape &shape, CuvArena *arena);

int cuv_ldp_describe_submit (const CuvLdpPass &pass, cudaStream_t stream);

#endif
