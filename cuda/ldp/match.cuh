// SPDX-License-Identifier: LGPL-2.1-or-later
// Arguments and launchers of the kernels in match-kernels.cu, which match.cu
// calls.
#ifndef CUV_LDP_MATCH_CUH
#define CUV_LDP_MATCH_CUH

#include "cuv-cuda.cuh"

#define CUV_LDP_WARP_BYTES 512 // bytes that a warp compares at once
#define CUV_LDP_PARTS 4 // maximum per picture; a thread block compares one
#define CUV_LDP_MATCH_AT_ONCE 4 // queries compared with entries read once

// A histogram adds to the distance its weight times the number of its codes
// outside the intersection.
struct CuvLdpHistogram {
  uint64_t weight;
  uint32_t total; // codes in the histogram
};

struct CuvLdpMatchArgs {
  const uint8_t *queries[CUV_LDP_MATCH_AT_ONCE]; // packed
  int n_queries;                                 // number of these queries
  bool is_first;          // no other queries were compared with these entries
  const uint8_t *entries; // packed
  int64_t pitch;          // bytes from an entry to the next: a multiple of
                          // CUV_LDP_WARP_BYTES
  int64_t n;              // entries
  int n_histograms, n_bins, count_size; // histograms per picture, bins, bytes
                                        // per count
  const CuvLdpHistogram *histograms;    // followed by one of weight 0
  int n_parts;                          // 1 .. CUV_LDP_PARTS
  int n_warps;                          // warps that share a part: 1, 2, 4 or 8
  // The distance of entry i to query q is the sum over the parts of [(q *
  // n_parts + part) * distances_pitch + i].
  uint64_t *distances;
  int64_t distances_pitch;
  uint64_t *smallest;    // distance of each entry to the nearest query
  uint64_t max_distance; // distance of two pictures without a common code
  double *similarities;  // similarity of each entry, by its smallest distance
};

// Sets n_parts and n_warps by the other fields, so that no warp is idle.
void cuv_ldp_match_plan (CuvLdpMatchArgs *args);

int cuv_ldp_match_run (const CuvLdpMatchArgs &args, cudaStream_t stream);

// Packs n counts of from_size bytes, 2 or 4, to to_size bytes as in an index.
int cuv_ldp_match_pack (const void *counts, int from_size, int64_t n,
    void *packed, int to_size, cudaStream_t stream);

#endif
