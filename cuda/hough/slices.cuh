// SPDX-License-Identifier: LGPL-2.1-or-later
// Votes of edges for a few rows, in a block's shared memory.
//
// An atomic increment takes a warp's votes at once, those for the same cell,
// too, unless two different cells are in one bank. Edges that are close
// together have cells that are close together, so that hardly happens.
#ifndef CUV_HOUGH_SLICES_CUH
#define CUV_HOUGH_SLICES_CUH

#include "hough/votes.cuh"

#define CUV_MAX_SLICES 64
#define CUV_VOTE_THREADS 1024
#define UNROLLED 4 // edges of a thread at a time

// A row in shared memory: the cell of a pixel is the word
// (x * dx + y * dy + offset) >> 16 there.
struct __align__ (16) Slice
{
  int dx, dy;
  unsigned offset;
};

// Of a row whose first cell is a word.
static __device__ __forceinline__ Slice
slice_of (const CuvVoteRow &row, int word)
{
  // what is beyond 32 bits does not matter: words are fewer than 65536
  return Slice{ row.dx, row.dy,
    (unsigned) row.offset + ((unsigned) (word - row.first_cell) << 16) };
}

static __device__ __forceinline__ void
vote (unsigned *cells, const Slice &slice, unsigned x, unsigned y)
{
  atomicAdd (&cells[(x * slice.dx + y * slice.dy + slice.offset) >> 16], 1u);
}

// Pixels of a thread's edges, UNROLLED of them.
static __device__ __forceinline__ void
load_pixels (unsigned *to, const unsigned *pixels, int first)
{
#pragma unroll
  for (int i = 0; i < UNROLLED; i++)
    to[i] = __ldcg (&pixels[first + 32 * i + threadIdx.x % 32]);
}

// Of a warp's edges first .. end - 1 each, for all rows.
static __device__ __forceinline__ void
vote_for_all (unsigned *cells, const Slice *slices, int n_slices,
    const unsigned *pixels, int first, int end)
{
  const int step = 32 * UNROLLED;
  unsigned next[UNROLLED];

  if (first + step <= end)
    load_pixels (next, pixels, first);
  for (; first + step <= end; first += step) {
    unsigned x[UNROLLED], y[UNROLLED];

#pragma unroll
    for (int i = 0; i < UNROLLED; i++) {
      x[i] = next[i] & 0xffff;
      y[i] = next[i] >> 16;
    }
    if (first + 2 * step <= end) // they come while these vote
      load_pixels (next, pixels, first + step);
    for (int k = 0; k < n_slices; k++) {
      const Slice slice = slices[k];

#pragma unroll
      for (int i = 0; i < UNROLLED; i++)
        vote (cells, slice, x[i], y[i]);
    }
  }
  for (first += threadIdx.x % 32; first < end; first += 32) {
    const unsigned pixel = __ldcg (&pixels[first]);

    for (int k = 0; k < n_slices; k++)
      vote (cells, slices[k], pixel & 0xffff, pixel >> 16);
  }
}

// The votes of a warp's share of all edges: of n_warps that of number warp.
static __device__ __forceinline__ void
cuv_vote_in_slices (unsigned *cells, const Slice *slices, int n_slices,
    const CuvEdges &edges, int warp, int n_warps)
{
  const int n = (int) cuv_load_once (&edges.counters->n_edges);
  const int n_units = (n + 31) / 32, each = n_units / n_warps;
  const int one_more = n_units % n_warps; // the first warps have
  const int first = 32 * (warp * each + min (warp, one_more));
  const int end = min (first + 32 * (each + (warp < one_more)), n);

  vote_for_all (cells, slices, n_slices, edges.pixels, first, end);
}

#define AT_ONCE 4 // edges of a thread, in a window

// Votes of edges begin .. end - 1, by a block.
static __device__ __forceinline__ void
vote_for_range (unsigned *cells, const Slice &slice, const unsigned *pixels,
    unsigned begin, unsigned end)
{
  unsigned i = begin + threadIdx.x;

  for (; i + (AT_ONCE - 1) * blockDim.x < end; i += AT_ONCE * blockDim.x) {
    unsigned some[AT_ONCE];

#pragma unroll
    for (int j = 0; j < AT_ONCE; j++)
      some[j] = __ldcg (&pixels[i + j * blockDim.x]);
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++)
      vote (cells, slice, some[j] & 0xffff, some[j] >> 16);
  }
  for (; i < end; i += blockDim.x) {
    const unsigned pixel = __ldcg (&pixels[i]);

    vote (cells, slice, pixel & 0xffff, pixel >> 16);
  }
}

// Votes of the sorted edges that vote in a row, by a block. Those of its last
// bins may be the first ones of all.
static __device__ __forceinline__ void
cuv_vote_in_window (unsigned *cells, const Slice &slice, const CuvVoteRow &row,
    const CuvEdges &edges, int n_bins)
{
  __shared__ unsigned firsts[3];
  const int end = row.first_bin + row.n_bins;
  const int bins[] = { row.first_bin, end <= n_bins ? end : end - n_bins,
    n_bins };

  __syncthreads (); // nobody has them any more
  if (threadIdx.x < 3)
    firsts[threadIdx.x] = __ldcg (&edges.counts->first[bins[threadIdx.x]]);
  __syncthreads ();
  if (end <= n_bins) {
    vote_for_range (cells, slice, edges.sorted, firsts[0], firsts[1]);
  } else {
    vote_for_range (cells, slice, edges.sorted, firsts[0], firsts[2]);
    vote_for_range (cells, slice, edges.sorted, 0, firsts[1]);
  }
}

// Bytes of shared memory that are left for cells, beside what blocks have for
// other things.
static inline size_t
cuv_room_for_cells ()
{
  const int most = cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int others = sizeof (Slice) * CUV_MAX_SLICES + 2048;
  const size_t addressed = 65536 * sizeof (unsigned);

  return most < others                  ? 0
      : most - others < (int) addressed ? most - others
                                        : addressed;
}

#endif
