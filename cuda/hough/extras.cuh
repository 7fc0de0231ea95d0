// SPDX-License-Identifier: LGPL-2.1-or-later
// Optional outputs: segments and debug views.
#ifndef CUV_HOUGH_EXTRAS_CUH
#define CUV_HOUGH_EXTRAS_CUH

#include "hough/votes.cuh"

struct CuvSegments {
  unsigned *counts;               // per peak
  CuvHoughSegment *host_segments; // in host memory
};

// Finds the segments of the best max peaks.
int cuv_segments_submit (const CuvDeviceLayout &layout, const CuvMaps &maps,
    const CuvPeaks &peaks, int max, const CuvSegmentParams &params,
    const CuvSegments &segments, cudaStream_t stream);

int cuv_draw_edges_submit (
    const CuvFrame &frame, const CuvMaps &maps, cudaStream_t stream);
int cuv_draw_votes_submit (const CuvFrame &frame, const CuvDeviceLayout &layout,
    const unsigned *cells, unsigned threshold, cudaStream_t stream);

#endif
