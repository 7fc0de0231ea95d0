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
#define QUEUE 64   // edges that a warp waits with

// A row in shared memory: the cell of a pixel is the word
// (x * dx + y * dy + offset) >> 16 there.
struct __align__ (16) Slice
{
  int dx, dy;
  unsigned offset;
  int first_group_and_n; // << 16
};

// Of a row whose first cell is a word.
static __device__ __forceinline__ Slice
slice_of (const CuvVoteRow &row, int word)
{
  // what is beyond 32 bits does not matter: words are fewer than 65536
  return Slice{ row.dx, row.dy,
    (unsigned) row.offset + ((unsigned) (word - row.first_cell) << 16),
    (int) ((unsigned) row.first_group << 16 | (unsigned) row.n_groups) };
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

// ---- directions ----

static __device__ __forceinline__ bool
takes (const Slice &slice, int n_groups, int group)
{
  const int behind = group - (slice.first_group_and_n >> 16);

  return (behind < 0 ? behind + n_groups : behind)
      < (slice.first_group_and_n & 0xffff);
}

// The groups that any of the rows takes. Rows are of rising angles; each has a
// group that begins there.
static __device__ __forceinline__ Slice
all_groups (const Slice *slices, int n_slices, int n_groups)
{
  const Slice &last = slices[n_slices - 1];
  const int first = slices[0].first_group_and_n >> 16;
  const int behind = (last.first_group_and_n >> 16) - first;
  int n = (behind < 0 ? behind + n_groups : behind)
      + (last.first_group_and_n & 0xffff);
  Slice all = slices[0];

  if (n_slices >= n_groups || n > n_groups) // all around
    n = n_groups;
  all.first_group_and_n = first << 16 | n;
  return all;
}

// Edges whose direction is wanted queue up until a warp is full.
static __device__ __forceinline__ void
vote_for_some (unsigned *cells, const Slice *slices, int n_slices, int n_groups,
    uint2 *queue, const CuvEdges &edges, int first, int end)
{
  const int lane = threadIdx.x % 32;
  const Slice all = all_groups (slices, n_slices, n_groups);
  int n = 0;

  for (; first < end || n > 0; first += 32) {
    const bool there = first + lane < end;
    const int group = there ? __ldcg (&edges.groups[first + lane]) : 0;
    const bool wanted = there && takes (all, n_groups, group);
    const unsigned who = __ballot_sync (~0u, wanted);

    if (wanted)
      queue[n + __popc (who & ((1u << lane) - 1))] =
          make_uint2 (__ldcg (&edges.pixels[first + lane]), group);
    n += __popc (who);
    __syncwarp ();
    if (n >= 32 || first + 32 >= end) {
      const bool has = n >= 32 || lane < n;
      const uint2 edge =
          has ? queue[max (n - 32, 0) + lane] : make_uint2 (0, 0);

      for (int k = 0; has && k < n_slices; k++) {
        const Slice slice = slices[k];

        if (takes (slice, n_groups, edge.y))
          vote (cells, slice, edge.x & 0xffff, edge.x >> 16);
      }
      n = max (n - 32, 0);
    }
    __syncwarp ();
  }
}

// The votes of a warp's share of the edges: of n_warps that of number warp.
static __device__ __forceinline__ void
cuv_vote_in_slices (unsigned *cells, const Slice *slices, int n_slices,
    const CuvVoteSpace &space, const CuvEdges &edges, uint2 *queue, int warp,
    int n_warps)
{
  const int n = (int) __ldcg (&edges.counters->n_edges);
  const int n_units = (n + 31) / 32;
  const int first = (int) ((long long) n_units * warp / n_warps) * 32;
  const int end =
      min ((int) ((long long) n_units * (warp + 1) / n_warps) * 32, n);

  if (edges.groups == nullptr)
    vote_for_all (cells, slices, n_slices, edges.pixels, first, end);
  else
    vote_for_some (
        cells, slices, n_slices, space.n_groups, queue, edges, first, end);
}

// Bytes of shared memory that are left for cells, beside what blocks have for
// other things.
static inline size_t
cuv_room_for_cells ()
{
  const int most = cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int others = sizeof (Slice) * CUV_MAX_SLICES
      + CUV_VOTE_THREADS / 32 * QUEUE * sizeof (uint2) + 2048;
  const size_t addressed = 65536 * sizeof (unsigned);

  return most < others                  ? 0
      : most - others < (int) addressed ? most - others
                                        : addressed;
}

#endif
