// SPDX-License-Identifier: LGPL-2.1-or-later
// The layout of lines on the GPU, votes and peaks.
#ifndef CUV_HOUGH_VOTES_CUH
#define CUV_HOUGH_VOTES_CUH

#include <vector>
#include "hough/maps.cuh"

// A row, with those of its cells only that pixels of the frame have: cell r is
// number r - first_cell, and number start of the accumulator is the first.
struct __align__ (16) CuvVoteRow
{
  int dx, dy, offset;
  int first_cell, n_cells;
  int first_bin, n_bins;
  int start;
};

// The least v with v * d >= n; d > 0.
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

struct CuvDeviceLayout {
  int width, height;
  int n_rows, period, radius;
  int most_cells; // that a row has
  int n_bins;
  const CuvVoteRow *rows;
  const short2 *boundaries; // of bins
  const uint16_t *bin_rows; // in how many rows a bin votes
};

struct CuvEdges {
  unsigned *pixels; // y << 16 | x
  uint16_t *bins;   // NULL where all vote for everything
  unsigned *sorted; // pixels by bin, if there are bins
  CuvGroupCounts *counts;
  CuvHoughCounters *counters;
};

// Lists the edges of a map, 32 x 32 pixels after 32 x 32, and clears n_cells of
// the accumulator, a multiple of 4.
int cuv_list_submit (const CuvMaps &maps, const CuvEdges &edges,
    unsigned *cells, size_t n_cells, cudaStream_t stream);

// Finds the bins of listed edges, of a frame in which Canny found them, and
// sorts them.
int cuv_sort_submit (const CuvEdges &edges, const CuvDeviceLayout &layout,
    const CuvFrame &frame, bool blurred, cudaStream_t stream);

// How the rows are dealt out to blocks that have slices of them in shared
// memory.
struct CuvVotePlan {
  int rows_per_block; // 0 = not even one fits
  int row_groups;
  int parts;     // that the edges are cut into
  size_t shared; // bytes
};

CuvVotePlan cuv_vote_plan (
    const std::vector<CuvVoteRow> &rows, double n_pixels);

int cuv_vote_shared_submit (const CuvVotePlan &plan,
    const CuvDeviceLayout &layout, const CuvEdges &edges, unsigned *cells,
    cudaStream_t stream);
int cuv_vote_global_submit (const CuvDeviceLayout &layout,
    const CuvEdges &edges, unsigned *cells, cudaStream_t stream);

// Peaks as numbers that sort as they are to be told: the greatest first.
typedef unsigned long long CuvPeakKey;

static inline __host__ __device__ CuvPeakKey
cuv_peak_key (unsigned votes, int k, int r, int radius)
{
  const unsigned place = (unsigned) k * (2 * radius + 1) + (r + radius);

  return (CuvPeakKey) votes << 32 | ~place;
}

static inline __host__ __device__ void
cuv_cell_of_key (CuvPeakKey key, int radius, int *k, int *r)
{
  const unsigned place = ~(unsigned) key, n_cells = 2 * radius + 1;

  *k = (int) (place / n_cells);
  *r = (int) (place % n_cells) - radius;
}

struct CuvPeaks {
  CuvPeakKey *keys; // room for one of each cell
  CuvPeakKey *best; // of max, in order
  CuvHoughCounters *counters;
  // in the host's memory
  CuvHoughCounters *counters_to;
  CuvPeakKey *best_to;
};

int cuv_peaks_submit (const CuvDeviceLayout &layout, const unsigned *cells,
    const CuvPeakParams &params, const CuvPeaks &peaks, cudaStream_t stream);

// Puts the best max of the peaks in order and tells the host.
int cuv_best_submit (const CuvPeaks &peaks, int max, cudaStream_t stream);

// The same without an accumulator: each block votes for some rows and those
// beside them. rows_per_block is 0 where there is no room for that.
CuvVotePlan cuv_ring_plan (const std::vector<CuvVoteRow> &rows, int period,
    const CuvPeakParams &params);
int cuv_ring_submit (const CuvVotePlan &plan, const CuvDeviceLayout &layout,
    const CuvEdges &edges, const CuvPeakParams &params, const CuvPeaks &peaks,
    cudaStream_t stream);

// What all blocks want of the previous kernel, loaded once for each: memory
// gives the same word to one after the other. By all threads of a block, at one
// place of a kernel.
static __device__ __forceinline__ unsigned
cuv_load_once (const unsigned *from)
{
  __shared__ unsigned value;

  if (threadIdx.x == 0)
    value = __ldcg (from);
  __syncthreads ();
  return value;
}

#endif
