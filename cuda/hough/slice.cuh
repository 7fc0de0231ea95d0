// SPDX-License-Identifier: LGPL-2.1-or-later
// Voting in a slice of the accumulator: a few rows in a block's shared memory,
// for votes.cu and ring.cu, where cuv_vote_plan() and cuv_ring_plan() choose
// the number of rows: limited by shared memory, see cuv_shared_for_cells().
//
// A shared memory atomic adds the votes of a whole warp at once, also several
// for one cell, unless different cells share a bank. A warp's edges are
// neighbours (list.cu), so are their cells, and conflicts are rare.
#ifndef CUV_HOUGH_SLICE_CUH
#define CUV_HOUGH_SLICE_CUH

#include "hough/votes.cuh"

#include <algorithm>

#define CUV_MAX_SLICE_ROWS 64 // the limit; cuv_vote_plan() chooses how many
#define CUV_VOTE_THREADS 1024 // per block
#define EDGES_AT_ONCE 4       // loaded by a thread at a time

// A row of a slice, with the position of its cells included in offset: pixel
// (x, y) votes for word (x * dx + y * dy + offset) >> 16 of the slice.
struct __align__ (16) SliceRow
{
  int dx, dy;
  unsigned offset;
};

// word: the row's first word in the slice.
static __device__ __forceinline__ SliceRow
slice_row (const CuvVoteRow &row, int word)
{
  // may wrap around: the sum's upper 16 bits are right for up to 65536 words
  return SliceRow{ row.dx, row.dy,
    (unsigned) row.offset + ((unsigned) (word - row.first_cell) << 16) };
}

static __device__ __forceinline__ void
vote (unsigned *cells, const SliceRow &row, unsigned x, unsigned y)
{
  atomicAdd (&cells[(x * row.dx + y * row.dy + row.offset) >> 16], 1u);
}

// The lane's EDGES_AT_ONCE edges from `first` on, 32 apart.
static __device__ __forceinline__ void
load_pixels (unsigned *to, const unsigned *pixels, int first)
{
#pragma unroll
  for (int i = 0; i < EDGES_AT_ONCE; i++)
    to[i] = __ldcg (&pixels[first + 32 * i + threadIdx.x % 32]);
}

// Votes of edges first .. end - 1 in all rows of the slice, called by one warp.
// pixels: y << 16 | x.
static __device__ __forceinline__ void
vote_for_all (unsigned *cells, const SliceRow *slice_rows, int n_slice_rows,
    const unsigned *pixels, int first, int end)
{
  const int step = 32 * EDGES_AT_ONCE;
  unsigned next[EDGES_AT_ONCE];

  if (first + step <= end)
    load_pixels (next, pixels, first);
  for (; first + step <= end; first += step) {
    unsigned x[EDGES_AT_ONCE], y[EDGES_AT_ONCE];

#pragma unroll
    for (int i = 0; i < EDGES_AT_ONCE; i++) {
      x[i] = next[i] & 0xffff;
      y[i] = next[i] >> 16;
    }
    if (first + 2 * step <= end) // prefetch the next
      load_pixels (next, pixels, first + step);
    for (int k = 0; k < n_slice_rows; k++) {
      const SliceRow row = slice_rows[k];

#pragma unroll
      for (int i = 0; i < EDGES_AT_ONCE; i++)
        vote (cells, row, x[i], y[i]);
    }
  }
  for (first += threadIdx.x % 32; first < end; first += 32) {
    const unsigned pixel = __ldcg (&pixels[first]);

    for (int k = 0; k < n_slice_rows; k++)
      vote (cells, slice_rows[k], pixel & 0xffff, pixel >> 16);
  }
}

// Votes of edges in all rows of the slice: of the part of all edges that
// belongs to this one of n_warps warps, in chunks of 32.
static __device__ __forceinline__ void
cuv_vote_in_slice (unsigned *cells, const SliceRow *slice_rows,
    int n_slice_rows, const CuvEdges &edges, int warp, int n_warps)
{
  const int n = (int) cuv_block_load (&edges.counters->n_edges);
  const int n_chunks = (n + 31) / 32, each = n_chunks / n_warps;
  const int remainder = n_chunks % n_warps; // for the first warps
  const int first = 32 * (warp * each + min (warp, remainder));
  const int end = min (first + 32 * (each + (warp < remainder)), n);

  vote_for_all (cells, slice_rows, n_slice_rows, edges.pixels, first, end);
}

// ---- with an orientation window ----

// Votes of edges begin .. end - 1 in one row, called by a block.
static __device__ __forceinline__ void
vote_for_range (unsigned *cells, const SliceRow &slice_row,
    const unsigned *pixels, unsigned begin, unsigned end)
{
  unsigned i = begin + threadIdx.x;

  for (; i + (EDGES_AT_ONCE - 1) * blockDim.x < end;
       i += EDGES_AT_ONCE * blockDim.x) {
    unsigned loaded[EDGES_AT_ONCE];

#pragma unroll
    for (int j = 0; j < EDGES_AT_ONCE; j++)
      loaded[j] = __ldcg (&pixels[i + j * blockDim.x]);
#pragma unroll
    for (int j = 0; j < EDGES_AT_ONCE; j++)
      vote (cells, slice_row, loaded[j] & 0xffff, loaded[j] >> 16);
  }
  for (; i < end; i += blockDim.x) {
    const unsigned pixel = __ldcg (&pixels[i]);

    vote (cells, slice_row, pixel & 0xffff, pixel >> 16);
  }
}

// Votes in one row of the edges whose orientation bin votes there, called by a
// block. As edges are sorted by bin, they are one range, or two if the row's
// bins wrap around.
static __device__ __forceinline__ void
cuv_vote_in_window (unsigned *cells, const SliceRow &slice_row,
    const CuvVoteRow &row, const CuvEdges &edges, int n_bins)
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

// Bytes of shared memory that a slice's cells may take: what the kernels'
// static arrays leave, and at most what SliceRow can address.
static inline size_t
cuv_shared_for_cells ()
{
  const int maximum =
      cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int others = sizeof (SliceRow) * CUV_MAX_SLICE_ROWS + 2048;
  const size_t addressed = 65536 * sizeof (unsigned);

  if (maximum < others)
    return 0;
  return std::min ((size_t) (maximum - others), addressed);
}

#endif
