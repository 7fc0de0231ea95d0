// SPDX-License-Identifier: LGPL-2.1-or-later
// What comparing a picture with others is about: between the kernels and what
// keeps the pictures.
#ifndef CUV_LDP_MATCH_CUH
#define CUV_LDP_MATCH_CUH

#include "cuv-cuda.cuh"

#define CUV_LDP_UNIT 512 // bytes that a warp compares at a time
#define CUV_LDP_PARTS 4  // of a picture, by a block of threads each

// One of a picture's, and what each code counts for that it lacks.
struct CuvLdpHistogram {
  uint64_t weight;
  uint32_t total; // codes
};

struct CuvLdpMatchPass {
  const uint8_t *query, *entries; // packed alike
  int64_t pitch; // bytes from an entry to the next: a multiple of CUV_LDP_UNIT
  int64_t n;
  int n_histograms, n_bins, count_size;
  const CuvLdpHistogram *histograms; // and one that counts for nothing
  uint64_t *lacks; // of entry i in a part: [part * lacks_pitch + i]
  int64_t lacks_pitch;
};

int cuv_ldp_match_run (const CuvLdpMatchPass &pass, cudaStream_t stream);

// n counts of from_size bytes, 2 or 4, as they are in an index: of to_size.
int cuv_ldp_match_pack (const void *counts, int from_size, int64_t n,
    void *packed, int to_size, cudaStream_t stream);

#endif
