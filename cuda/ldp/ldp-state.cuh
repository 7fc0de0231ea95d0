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

// Blocks of threads, each some blocks of the picture next to each other, or a
// piece of one, whose counts are added to those of the others.
struct CuvLdpPlan {
  int n_across, n_down;           // blocks of threads
  int blocks;                     // of the picture, across, in each
  int slices_across, slices_down; // pieces of a block
  int count_size, n_shared;       // counts in shared memory
  bool adds;
};

struct CuvLdpPass {
  CuvLdpShape shape;
  CuvLdpPlan plan;
  CuvFrame picture;                        // of the shape's size
  int8_t histogram_of[CUV_LDP_DIRECTIONS]; // -1: none
  void *counts;
};

int cuv_ldp_describe_submit (const CuvLdpPass &pass, cudaStream_t stream);

#endif
