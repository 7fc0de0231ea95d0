// SPDX-License-Identifier: LGPL-2.1-or-later
// Structures on the device (layout, edges, peaks, segments) and launchers of
// the kernels that follow edge detection.
#ifndef CUV_HOUGH_VOTES_CUH
#define CUV_HOUGH_VOTES_CUH

#include <vector>
#include "hough/edge-maps.cuh"
#include "hough/regions.h"

// A row, restricted to cells reached by pixels of the frame: cell r is element
// start + r - first_cell of the accumulator.
struct __align__ (16) CuvHoughVoteRow
{
  int dx, dy, offset;
  int first_cell, n_cells;
  int first_bin, n_bins; // see CuvHoughRow
  int start;
};

// Returns the minimum v with v * d >= n; d > 0.
static inline __host__ __device__ long long
cuv_divide_up (long long n, int d)
{
  return n >= 0 ? (n + d - 1) / d : -(-n / d);
}

// Rows begin at multiples of 4 cells.
static inline __host__ __device__ int
cuv_padded (int n_cells)
{
  return (n_cells + 3) / 4 * 4;
}

// CuvHoughLayout on the device.
struct CuvHoughDeviceLayout {
  int width, height;
  int n_rows, period, radius;
  int max_cells; // largest n_cells of a row
  int n_bins;
  const CuvHoughVoteRow *rows;
  const short2 *boundaries; // direction at which each bin starts
  const uint16_t *bin_rows; // number of rows each bin votes in
  CuvThetaRange range;
};

// The list of edges; counters->n_edges is its length.
struct CuvHoughEdges {
  unsigned *pixels; // y << 16 | x
  uint16_t *bins;   // orientation bins of pixels, or directions if regions are
                    // looked for; NULL: all edges vote in all rows
  unsigned *sorted; // pixels sorted by bin, if there are bins
  CuvHoughBinCounts *counts;
  CuvHoughCounters *counters;
};

// Lists a map's edges, block by block of 32 x 32 pixels, and clears n_cells (a
// multiple of 4) of the accumulator.
int cuv_list_submit (const CuvHoughMaps &maps, const CuvHoughEdges &edges,
    unsigned *cells, size_t n_cells, cudaStream_t stream);

// Finds the orientation bins of the listed edges that Canny found in a frame
// whose luma, if it was blurred, is that of `grey`, and sorts the edges by bin.
int cuv_sort_submit (const CuvHoughEdges &edges,
    const CuvHoughDeviceLayout &layout, const CuvFrame &grey,
    cudaStream_t stream);

// How rows and edges are split over blocks.
struct CuvHoughVotePlan {
  int rows_per_slice; // 0 = not even one fits in shared memory
  int n_slices;
  int parts;     // parts of the edges
  size_t shared; // bytes
};

CuvHoughVotePlan cuv_vote_plan (
    const std::vector<CuvHoughVoteRow> &rows, double n_pixels);

int cuv_vote_shared_submit (const CuvHoughVotePlan &plan,
    const CuvHoughDeviceLayout &layout, const CuvHoughEdges &edges,
    unsigned *cells, cudaStream_t stream);
int cuv_vote_global_submit (const CuvHoughDeviceLayout &layout,
    const CuvHoughEdges &edges, unsigned *cells, cudaStream_t stream);

// A peak as a sort key: the greater, the better. Better peaks have more votes
// or, with equal votes, come first by row and cell.
typedef unsigned long long CuvHoughPeakKey;

static inline __host__ __device__ CuvHoughPeakKey
cuv_peak_key (unsigned votes, int k, int r, int radius)
{
  const unsigned place = (unsigned) k * (2 * radius + 1) + (r + radius);

  return (CuvHoughPeakKey) votes << 32 | ~place;
}

static inline __host__ __device__ void
cuv_cell_of_key (CuvHoughPeakKey key, int radius, int *k, int *r)
{
  const unsigned place = ~(unsigned) key, n_cells = 2 * radius + 1;

  *k = (int) (place / n_cells);
  *r = (int) (place % n_cells) - radius;
}

struct CuvHoughPeaks {
  CuvHoughPeakKey *keys; // all peaks, in any order; room for one per cell
  CuvHoughPeakKey *best; // the best ones, sorted; CUV_HOUGH_MAX_LINES
  CuvHoughCounters *counters;
  // in pinned host memory
  CuvHoughCounters *host_counters;
  CuvHoughPeakKey *host_best;
  // only if the keys are of segments (their votes and first pixel): the ends by
  // edge, the edge at each pixel, and where to write the best segments
  const int4 *ends = nullptr;
  CuvHoughMaps edges_at;
  CuvLineSegment *host_segments;
};

int cuv_peaks_submit (const CuvHoughDeviceLayout &layout, const unsigned *cells,
    const CuvPeakParams &params, const CuvHoughPeaks &peaks,
    cudaStream_t stream);

// Sorts the best `max` peaks and copies them and the counters to the host.
int cuv_best_submit (const CuvHoughPeaks &peaks, int max, cudaStream_t stream);

// Votes and peaks without an accumulator: each block votes for its rows and
// their neighbours. rows_per_slice is 0 if shared memory is too small.
CuvHoughVotePlan cuv_ring_plan (const std::vector<CuvHoughVoteRow> &rows,
    int period, const CuvPeakParams &params);
int cuv_ring_submit (const CuvHoughVotePlan &plan,
    const CuvHoughDeviceLayout &layout, const CuvHoughEdges &edges,
    const CuvPeakParams &params, const CuvHoughPeaks &peaks,
    cudaStream_t stream);

struct CuvHoughSegments {
  unsigned *counts;               // segments per peak, on the device
  CuvHoughSegment *host_segments; // CUV_HOUGH_MAX_SEGMENTS in host memory
};

// Finds the segments of the best `max` peaks.
int cuv_segments_submit (const CuvHoughDeviceLayout &layout,
    const CuvHoughMaps &maps, const CuvHoughPeaks &peaks, int max,
    const CuvSegmentParams &params, const CuvHoughSegments &segments,
    cudaStream_t stream);

// An edge in the list of all edges by region.
struct __align__ (16) CuvHoughRegionEdge
{
  unsigned pixel;
  int index, direction;
  unsigned region; // index in the list of regions
};

// A region's place in the list of edges by region and in that of regions. While
// edges are counted, `edge` is their number.
struct __align__ (8) CuvHoughRegionPlace
{
  unsigned edge, region;
};

// The edges of a region: n edges from index `edge` on in the list by region.
struct __align__ (8) CuvHoughRegionEdges
{
  unsigned edge, n;
};

// The buffers of regions.cu, for each edge; a label is the index of an edge.
struct CuvHoughRegionBuffers {
  unsigned max_edges;
  int *labels;
  int *roots;  // roots of labels that are united across gaps
  int *parts;  // the edge's number in its region, then its part of the region
  int4 *mates; // neighbours that belong with the edge; in the memory of edges
  CuvHoughRegionEdge *edges;
  CuvHoughRegionEdges *list;
  // for each label
  CuvHoughRegionPlace *places;
  CuvRegionBox *boxes;
  int4 *ends;             // ends of the label's segment; in the memory of boxes
  uint8_t *bent;          // whether the label's region is not straight
  CuvHoughPeakKey *found; // room for half as many as there are edges
  int *bridged; // labels of regions to be bridged; in the memory of found
  CuvLineSegment *host_segments; // CUV_HOUGH_MAX_LINES in host memory
};

// Finds the segments of regions of listed Canny edges, sorts the best, and
// copies them and the counters to the host. grey: see cuv_sort_submit(). Uses
// maps.parents.
int cuv_regions_submit (const CuvHoughRegionBuffers &regions,
    const CuvHoughMaps &maps, const CuvHoughEdges &edges,
    const CuvHoughDeviceLayout &layout, const CuvFrame &grey,
    const CuvHoughParams &params, const CuvHoughPeaks &peaks,
    cudaStream_t stream);

int cuv_draw_edges_submit (
    const CuvFrame &frame, const CuvHoughMaps &maps, cudaStream_t stream);
int cuv_draw_votes_submit (const CuvFrame &frame,
    const CuvHoughDeviceLayout &layout, const unsigned *cells,
    unsigned threshold, cudaStream_t stream);

// Loads a value once per block: loads of the same address by many warps would
// be serialised. Called by all threads of a block, once per kernel.
static __device__ __forceinline__ unsigned
cuv_block_load (const unsigned *from)
{
  __shared__ unsigned value;

  if (threadIdx.x == 0)
    value = __ldcg (from);
  __syncthreads ();
  return value;
}

#endif
