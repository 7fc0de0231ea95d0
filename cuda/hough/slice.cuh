// SPDX-License-Identifier: LGPL-2.1-or-later
// Voting in a slice of the accumulator: some rows in a block's shared memory.
// cuv_vote_plan() in votes.cu and cuv_ring_plan() in ring.cu choose the number
// of rows; shared memory limits it, see cuv_shared_for_cells().
//
// A shared memory atomic adds the votes of a whole warp at once, also several
// for one cell, unless different cells share a bank. A warp's edges are
// neighbours (list-edges.cu), and so are their cells, so that conflicts are
// rare.
#ifndef CUV_HOUGH_SLICE_CUH
#define CUV_HOUGH_SLICE_CUH

#include "hough/votes.cuh"

#include <algorithm>

// maximum; cuv_vote_plan() chooses how many
#define CUV_HOUGH_MAX_SLICE_ROWS 64
#define CUV_HOUGH_VOTE_THREADS 1024 // threads per block
// edges that a thread loads at a time
#define CUV_HOUGH_EDGES_AT_ONCE 8
#define CUV_HOUGH_EDGES_IN_ROW 4 // the same, with an orientation window

// A row of a slice, with the position of its cells included in offset: pixel y
// << 16 | x votes for word (pixel * dx + y * dy + offset) >> 16 of the slice.
// dy is the row's dy minus dx << 16, which cancels the y << 16 of pixel * dx.
struct __align__ (16) CuvHoughSliceRow
{
  unsigned dx, dy, offset; // may wrap around, as the sum does
};

// word: the row's first word in the slice.
static __device__ __forceinline__ CuvHoughSliceRow
slice_row (const CuvHoughVoteRow &row, int word)
{
  const unsigned dx = row.dx, dy = row.dy, offset = row.offset;

  // the sum's upper 16 bits are right for up to 65536 words
  return CuvHoughSliceRow{ dx, dy - (dx << 16),
    offset + ((unsigned) (word - row.first_cell) << 16) };
}

static __device__ __forceinline__ void
vote (unsigned *cells, const CuvHoughSliceRow &row, unsigned pixel)
{
  const unsigned y = pixel >> 16;

  atomicAdd (&cells[(pixel * row.dx + y * row.dy + row.offset) >> 16], 1u);
}

// Adds the votes of CUV_HOUGH_EDGES_AT_ONCE edges in all rows of the slice. The
// next row is loaded before the votes, which would delay it, so one row after
// the end is read.
static __device__ __forceinline__ void
vote_in_rows (unsigned *cells, const CuvHoughSliceRow *slice_rows,
    int n_slice_rows, const unsigned *pixels)
{
  CuvHoughSliceRow next = slice_rows[0];

#pragma unroll 1 // unrolled, it takes more registers and instructions
  for (int k = 0; k < n_slice_rows; k++) {
    const CuvHoughSliceRow row = next;

    next = slice_rows[k + 1];
#pragma unroll
    for (int i = 0; i < CUV_HOUGH_EDGES_AT_ONCE; i++)
      vote (cells, row, pixels[i]);
  }
}

// Adds the votes in all rows of the slice, by n_warps warps that take turns,
// CUV_HOUGH_EDGES_AT_ONCE edges per thread. The rest, less than a turn of one
// warp, goes to the last warps, 32 edges each.
static __device__ __forceinline__ void
cuv_vote_in_slice (unsigned *cells, const CuvHoughSliceRow *slice_rows,
    int n_slice_rows, const CuvHoughEdges &edges, int warp, int n_warps)
{
  const int n = (int) cuv_block_load (&edges.counters->n_edges);
  const int at_once = 32 * CUV_HOUGH_EDGES_AT_ONCE, step = at_once * n_warps;
  const int end = n / at_once * at_once, lane = threadIdx.x % 32;
  const int rest = end + 32 * (n_warps - 1 - warp) + lane;

  for (int first = at_once * warp; first < end; first += step) {
    const unsigned *from = edges.pixels + first + lane;
    unsigned pixels[CUV_HOUGH_EDGES_AT_ONCE];

#pragma unroll
    for (int i = 0; i < CUV_HOUGH_EDGES_AT_ONCE; i++)
      pixels[i] = __ldcg (&from[32 * i]);
    vote_in_rows (cells, slice_rows, n_slice_rows, pixels);
  }
  if (rest < n) {
    const unsigned pixel = __ldcg (&edges.pixels[rest]);

    for (int k = 0; k < n_slice_rows; k++)
      vote (cells, slice_rows[k], pixel);
  }
}

// ---- with an orientation window ----

// Adds the votes of edges begin .. end - 1 in one row. Called by a block.
static __device__ __forceinline__ void
vote_for_range (unsigned *cells, const CuvHoughSliceRow &slice_row,
    const unsigned *pixels, unsigned begin, unsigned end)
{
  unsigned i = begin + threadIdx.x;

  for (; i + (CUV_HOUGH_EDGES_IN_ROW - 1) * blockDim.x < end;
       i += CUV_HOUGH_EDGES_IN_ROW * blockDim.x) {
    unsigned loaded[CUV_HOUGH_EDGES_IN_ROW];

#pragma unroll
    for (int j = 0; j < CUV_HOUGH_EDGES_IN_ROW; j++)
      loaded[j] = __ldcg (&pixels[i + j * blockDim.x]);
#pragma unroll
    for (int j = 0; j < CUV_HOUGH_EDGES_IN_ROW; j++)
      vote (cells, slice_row, loaded[j]);
  }
  for (; i < end; i += blockDim.x)
    vote (cells, slice_row, __ldcg (&pixels[i]));
}

// Adds the votes in one row of the edges whose orientation bin votes there.
// Called by a block. Edges are sorted by bin: it is one range of them, or two
// if the row's bins wrap around.
static __device__ __forceinline__ void
cuv_vote_in_window (unsigned *cells, const CuvHoughSliceRow &slice_row,
    const CuvHoughVoteRow &row, const CuvHoughEdges &edges, int n_bins)
{
  __shared__ unsigned firsts[3];
  const int end = row.first_bin + row.n_bins;
  const int bins[] = { row.first_bin, end <= n_bins ? end : end - n_bins,
    n_bins };

  __syncthreads (); // firsts is no longer read
  if (threadIdx.x < 3)
    firsts[threadIdx.x] = __ldcg (&edges.counts->first[bins[threadIdx.x]]);
  __syncthreads ();
  if (end <= n_bins) {
    vote_for_range (cells, slice_row, edges.sorted, firsts[0], firsts[1]);
  } else {
    vote_for_range (cells, slice_row, edges.sorted, firsts[0], firsts[2]);
    vote_for_range (cells, slice_row, edges.sorted, 0, firsts[1]);
  }
}

// Returns how many bytes of shared memory a slice's cells may take: what the
// kernels' static arrays leave, and at most what CuvHoughSliceRow can address.
static inline size_t
cuv_shared_for_cells ()
{
  const int maximum =
      cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int others =
      sizeof (CuvHoughSliceRow) * (CUV_HOUGH_MAX_SLICE_ROWS + 1) + 2048;
  const size_t addressed = 65536 * sizeof (unsigned);

  if (maximum < others)
    return 0;
  return std::min ((size_t) (maximum - others), addressed);
}

#endif
