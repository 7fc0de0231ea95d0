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

// Of a warp's edges first .. end - 1 each, for all rows.
static __device__ __forceinline__ void
vote_for_all (unsigned *cells, const Slice *slices, int n_slices,
    const unsigned *pixels, int first, int end)
{
  const int lane = threadIdx.x % 32;

  for (; first + 32 * UNROLLED <= end; first += 32 * UNROLLED) {
    unsigned x[UNROLLED], y[UNROLLED];

#pragma unroll
    for (int i = 0; i < UNROLLED; i++) {
      const unsigned pixel = __ldcg (&pixels[first + 32 * i + lane]);

      x[i] = pixel & 0xffff;
      y[i] = pixel >> 16;
    }
    for (int k = 0; k < n_slices; k++) {
      const Slice slice = slices[k];

#pragma unroll
      for (int i = 0; i < UNROLLED; i++)
        vote (cells, slice, x[i], y[i]);
    }
  }
  for (first += lane; first < end; first += 32) {
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
  const int n = (int) __ldcg (&edges.counters->n_edges);
  const int n_units = (n + 31) / 32, each = n_units / n_warps;
  const int one_more = n_units % n_warps; // the first warps have
  const int first = 32 * (warp * each + min (warp, one_more));
  const int end = min (first + 32 * (each + (warp < one_more)), n);

  vote_for_all (cells, slices, n_slices, edges.pixels, first, end);
}

// The votes of those edges that vote in a row, by a block.
static __device__ __forceinline__ void
cuv_vote_in_window (unsigned *cells, const Slice &slice, const CuvVoteRow &row,
    const CuvEdges &edges, int n_groups)
{
  const unsigned *firsts = edges.counts->first;
  const int end = row.first_group + row.n_groups;
  const unsigned n_edges = __ldcg (&firsts[n_groups]);
  const unsigned first = __ldcg (&firsts[row.first_group]);
  const unsigned n = end <= n_groups
      ? __ldcg (&firsts[end]) - first
      : n_edges - first + __ldcg (&firsts[end - n_groups]);

  for (unsigned i = threadIdx.x; i < n; i += UNROLLED * blockDim.x) {
    unsigned pixels[UNROLLED];

#pragma unroll
    for (int j = 0; j < UNROLLED; j++) {
      const unsigned at = first + min (i + j * blockDim.x, n - 1);

      pixels[j] = __ldcg (&edges.sorted[at < n_edges ? at : at - n_edges]);
    }
#pragma unroll
    for (int j = 0; j < UNROLLED; j++) {
      if (i + j * blockDim.x < n)
        vote (cells, slice, pixels[j] & 0xffff, pixels[j] >> 16);
    }
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
