// SPDX-License-Identifier: LGPL-2.1-or-later
// Between match.cu, which keeps the pictures, and the kernels that compare
// them.
#ifndef CUV_LDP_MATCH_CUH
#define CUV_LDP_MATCH_CUH

#include "cuv-cuda.cuh"

#define CUV_LDP_UNIT 512 // bytes that a warp compares at once
#define CUV_LDP_PARTS 4  // of a picture, a block of threads each

// A histogram of a picture: its weight per code of distance.
struct CuvLdpHistogram {
  uint64_t weight;
  uint32_t total; // codes in it
};

struct CuvLdpMatchPass {
  const uint8_t *query, *entries; // packed
  int64_t pitch; // bytes from an entry to the next: a multiple of CUV_LDP_UNIT
  int64_t n;
  int n_histograms, n_bins, count_size;
  const CuvLdpHistogram *histograms; // and one more, of weight 0
  uint64_t *distances;               // of entry i: [part * distances_pitch + i]
  int64_t distances_pitch;
};

int cuv_ldp_match_run (const CuvLdpMatchPass &pass, cudaStream_t stream);

// Packs n counts of from_size bytes, 2 or 4, to to_size bytes as in an index.
int cuv_ldp_match_pack (const void *counts, int from_size, int64_t n,
    void *packed, int to_size, cudaStream_t stream);

#endif
