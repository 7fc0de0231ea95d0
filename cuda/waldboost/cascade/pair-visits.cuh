// SPDX-License-Identifier: LGPL-2.1-or-later
// Which windows of a tile a scan visits. OpenCV does not visit the position
// after a window that stage 0 rejects, so whether the first position of a
// tile's row is visited depends on the tiles to its left. Each block publishes
// what its tile says about that, and reads what the blocks before it have
// published, as in D. Merrill, M. Garland, Single-pass Parallel Prefix Scan
// with Decoupled Look-back, NVIDIA 2016. Blocks start in the order of their
// indices, so the ones that a block waits for have started.
#ifndef CUV_WALDBOOST_CASCADE_PAIR_VISITS_CUH
#define CUV_WALDBOOST_CASCADE_PAIR_VISITS_CUH

#include "waldboost/cascade/single-window-kernels.cuh"

// What follows from the rows of a tile, for each warp. A word is complete when
// its upper half is the number of the scan; the lower half has four bits for
// the rows of the warp in which a window passes stage 0 (in others the tile,
// whose width is even, changes nothing), and four bits for those of them after
// which the position to the right of the tile is visited.
struct CuvCascadeTrace {
  unsigned long long of_warp[CUV_CASCADE_WARPS];
};
#define CUV_CASCADE_WARP_ROWS (CUV_CASCADE_MAX_TILE_Y / CUV_CASCADE_WARPS)

// A row of a tile: a word for the pairs' first windows, a word for the second
// ones, with a bit per position.
struct CuvCascadePairRow {
  uint32_t visited[2], alive[2]; // alive: visited, and passed by stage 0

  __device__ unsigned
  n_visited () const
  {
    return __popc (visited[0]) + __popc (visited[1]);
  }

  __device__ unsigned
  n_alive () const
  {
    return __popc (alive[0]) + __popc (alive[1]);
  }

  __device__ unsigned
  n_pairs () const
  {
    return __popc (alive[0] | alive[1]);
  }
};

// Whether the scan visits the position after those of a word in which a window
// passes.
static __device__ __forceinline__ bool
visits_next (uint32_t passed)
{
  return __clz (passed) % 2 == 0;
}

// Publishes what follows from the calling warp's rows; the first lanes have one
// each.
static __device__ __forceinline__ void
publish_trace (CuvCascadeTrace *trace, unsigned scan, const uint32_t passed[2])
{
  const int n = CUV_CASCADE_WARP_ROWS, all = (1 << n) - 1;
  const bool decides = (passed[0] | passed[1]) != 0;
  const unsigned of_rows = __ballot_sync (~0u, decides) & all;
  const unsigned visits = __ballot_sync (
      ~0u, decides && visits_next (passed[1] != 0 ? passed[1] : passed[0]));
  volatile unsigned long long *to = &trace->of_warp[cuv_warp_of_thread ()];

  if (threadIdx.x % 32 == 0)
    *to = (unsigned long long) scan << 32 | (visits & all) << n | of_rows;
}

// Returns whether the scan visits the first position of the lane's row of a
// tile. own: the tile's trace, after those of the n_left tiles to its left.
// Waits for as few of them as possible, each lane for one. Called by a warp;
// lanes for which `wanted` is false may get any answer.
static __device__ __forceinline__ bool
visits_first (
    const CuvCascadeTrace *own, int n_left, unsigned scan, bool wanted)
{
  const int lane = threadIdx.x % 32;
  bool visits = true;

  for (int left = 1; left <= n_left; left += 32) {
    const volatile unsigned long long *from =
        &(own - left - lane)->of_warp[cuv_warp_of_thread ()];
    const int n = min (n_left + 1 - left, 32);
    unsigned long long word = 0;

    for (int i = 0; i < n;) {
      if (lane < n && word >> 32 != scan)
        word = *from;
      const unsigned missing = __ballot_sync (~0u, word >> 32 != scan);
      const int end = missing != 0 ? min (n, __ffs (missing) - 1) : n;

      for (; i < end; i++) {
        const unsigned rows = __shfl_sync (~0u, (unsigned) word, i);

        if (wanted && rows >> lane & 1) {
          visits = rows >> (CUV_CASCADE_WARP_ROWS + lane) & 1;
          wanted = false;
        }
        if (__ballot_sync (~0u, wanted) == 0)
          return visits;
      }
    }
  }
  return visits;
}

// Returns the lane's row of a tile. passed: the positions that pass stage 0;
// skip: see CuvWaldboostPlan; visits: whether the first position is visited.
static __device__ __forceinline__ CuvCascadePairRow
row_of_tile (const CuvPyramidLevel &level, const CuvPyramidTile &tile,
    const uint32_t passed[2], bool skip, bool visits)
{
  const int first = tile.x / 32;
  CuvCascadePairRow found = {};

#pragma unroll
  for (int i = 0; i < 2; i++) {
    if (first + i >= level.words)
      break;
    found.visited[i] = valid_bits (level, first + i)
        & (skip ? visited_bits (passed[i], visits) : ~0u);
    found.alive[i] = found.visited[i] & passed[i];
    visits = passed[i] != 0 ? visits_next (passed[i]) : visits;
  }
  return found;
}

#endif
