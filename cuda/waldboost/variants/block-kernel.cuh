// SPDX-License-Identifier: LGPL-2.1-or-later
// Variants of the scan of a WaldBoost model that differ in how the surviving
// windows are compacted (CuvRearrangement), following GPU detectors in the
// literature; all give the same result. They are kept for comparison, and for
// what planes do not support: large blocks, Haar features, steps above 1.
//
// This file has the variants that compact within a block. Survivors of the
// block's tile stay in registers (NONE) or in lists in shared memory (SHARED,
// BALLOT). Access is CuvVariantAccess, which reads a window's features.
#ifndef CUV_WALDBOOST_VARIANTS_BLOCK_KERNEL_CUH
#define CUV_WALDBOOST_VARIANTS_BLOCK_KERNEL_CUH

#include "waldboost/waldboost-model.cuh"

// segments of at least this many weak classifiers are faster with a warp per
// window
#define CUV_VARIANT_LONG_SEGMENT 48

// ---- one window ----

// Evaluates weak classifiers first to end - 1. Returns end if the window passes
// them all, otherwise the index of the one that rejects it.
template <typename Access, typename Acc>
static __device__ int
run_segment (const CuvWaldboostDevice<Acc> &model, const Access &access,
    const typename Access::View &view, int first, int end, Acc *sum)
{
  Acc r = *sum;

  for (int k = first; k < end; k++) {
    r += model.leaves[access.leaf (view, k)];
    if (r < model.thresholds[k])
      return k;
  }
  *sum = r;
  return end;
}

// Evaluates one window with a whole warp, otherwise like run_segment().
template <typename Access, typename Acc>
static __device__ int
run_segment_by_warp (const CuvWaldboostDevice<Acc> &model, const Access &access,
    const typename Access::View &view, int first, int end, Acc *sum)
{
  for (int k = first; k < end; k += 32) {
    const int n = min (32, end - k), index = k + min (lane_of_thread (), n - 1);
    const Acc response = model.leaves[access.leaf (view, index)];
    const int below =
        first_below<1> (32, n, &response, &model.thresholds[index], sum);

    if (below < n)
      return k + below;
  }
  return end;
}

// ---- tiles ----

// Surviving windows of a block: index in the tile (row by row) and sum.
template <typename Acc> struct CuvVariantBlockList {
  uint16_t *where;
  Acc *sum;
};

// Reserves a list index for each thread whose `alive` is true.
static __device__ __forceinline__ int
claim_index (CuvRearrangement variant, bool alive, int *count)
{
  if (variant == CUV_REARRANGE_SHARED)
    return alive ? atomicAdd (count, 1) : 0;
  unsigned voters = __ballot_sync (~0u, alive);
  int base = 0;
  if (lane_of_thread () == 0 && voters != 0)
    base = atomicAdd (count, __popc (voters));
  return __shfl_sync (~0u, base, 0)
      + __popc (voters & ((1u << lane_of_thread ()) - 1));
}

// A block's scan of a tile, from the view of one thread. where: index of a
// window in the tile.
template <typename Access, typename Acc> struct CuvVariantBlockRun {
  const CuvWaldboostDevice<Acc> &model;
  const Access &access;
  const CuvScanHits &out;
  const CuvPyramidLevel &level;
  CuvPyramidTile tile;
  CuvWaldboostBlockShape shape;
  CuvScanRows rows;
  CuvWaldboostTally &tally;
  // numbers of this thread: weak classifiers evaluated, windows visited
  unsigned weak, windows;

  // Returns whether a window exists and is to be scanned.
  __device__ bool
  inside (int where) const
  {
    int x = tile.x + where % shape.width, y = tile.y + where / shape.width;

    return where < shape.width * shape.height && x < level.plan.n_x
        && y < level.plan.n_y && rows.has (tile.level, y);
  }

  __device__ typename Access::View
  view (int where) const
  {
    return access.view (level, tile, where % shape.width, where / shape.width);
  }

  // Applies the final test: adds a hit and returns true if the window passes.
  __device__ bool
  add_if_accepted (int where, Acc sum) const
  {
    int step = level.plan.step;

    if (!(sum > model.final_threshold))
      return false;
    out.add (tile.level, (tile.x + where % shape.width) * step,
        (tile.y + where / shape.width) * step, score_of (model, sum));
    return true;
  }

  // NONE: scans with each thread keeping its window. Call from whole warps.
  __device__ void
  run_alone ()
  {
    int where = threadIdx.x, first = 0;
    bool alive = inside (where);
    typename Access::View v = {};
    Acc sum = 0;

    windows += alive;
    if (alive)
      v = view (where);
    for (int s = 0; s < model.n_segments; s++) {
      CuvWaldboostSegment segment = model.segments[s];
      bool last = s == model.n_segments - 1;

      if (alive) {
        int passed = run_segment (model, access, v, first, segment.end, &sum);

        weak += min (passed + 1, segment.end) - first;
        alive =
            passed == segment.end && (!last || add_if_accepted (where, sum));
      }
      if (segment.counter >= 0)
        tally.count (&tally.survivors[segment.counter], alive);
      if (!__any_sync (~0u, alive))
        return;
      first = segment.end;
    }
  }

  // Evaluates one segment for the n windows of a list (if first is 0, of the
  // whole tile) with one thread per window; appends survivors to list `to`.
  __device__ void
  run_list (CuvRearrangement variant, int first, CuvWaldboostSegment segment,
      bool last, CuvVariantBlockList<Acc> from, int n,
      CuvVariantBlockList<Acc> to, int *n_to)
  {
    for (int base = threadIdx.x & ~31; base < n; base += blockDim.x) {
      int k = base + lane_of_thread ();
      bool alive = k < n;
      int where = alive && first > 0 ? from.where[k] : k;
      Acc sum = alive && first > 0 ? from.sum[k] : (Acc) 0;

      if (first == 0) {
        alive = alive && inside (where);
        windows += alive;
      }
      if (alive) {
        int passed =
            run_segment (model, access, view (where), first, segment.end, &sum);

        weak += min (passed + 1, segment.end) - first;
        alive =
            passed == segment.end && (!last || add_if_accepted (where, sum));
      }
      if (last && segment.counter >= 0)
        tally.count (&tally.survivors[segment.counter], alive);
      if (!last) {
        int at = claim_index (variant, alive, n_to);

        if (alive) {
          to.where[at] = (uint16_t) where;
          to.sum[at] = sum;
        }
      }
    }
  }

  // Evaluates one segment for the n windows of a list with one warp per window.
  __device__ void
  run_list_by_warps (int first, CuvWaldboostSegment segment, bool last,
      CuvVariantBlockList<Acc> from, int n, CuvVariantBlockList<Acc> to,
      int *n_to)
  {
    for (int k = cuv_warp_of_thread (); k < n; k += blockDim.x / 32) {
      int where = from.where[k];
      Acc sum = from.sum[k];
      int passed = run_segment_by_warp (
          model, access, view (where), first, segment.end, &sum);

      if (lane_of_thread () != 0)
        continue;
      weak += min (passed + 1, segment.end) - first;
      if (passed < segment.end || (last && !add_if_accepted (where, sum)))
        continue;
      if (last) {
        if (segment.counter >= 0)
          atomicAdd (&tally.survivors[segment.counter], 1u);
      } else {
        int at = atomicAdd (n_to, 1);

        to.where[at] = (uint16_t) where;
        to.sum[at] = sum;
      }
    }
  }
};

// Scans tiles, which are assigned to blocks in turn. Dynamic shared memory: two
// lists of a tile's windows, the sums of both first.
template <typename Access, typename Acc, int threads>
static __global__ void
__launch_bounds__ (threads) block_kernel (const CuvPyramidTile *tiles,
    int n_tiles, const CuvPyramidLevel *levels, CuvWaldboostBlockShape shape,
    Access access, CuvWaldboostDevice<Acc> model, CuvRearrangement variant,
    CuvScanRows rows, CuvScanHits out)
{
  extern __shared__ uint4 shared[];
  __shared__ int counts[3];
  __shared__ CuvWaldboostTally tally;
  const int n = shape.width * shape.height;
  Acc *sums = (Acc *) shared;
  CuvVariantBlockList<Acc> lists[2] = { { (uint16_t *) (sums + 2 * n), sums },
    { (uint16_t *) (sums + 2 * n) + n, sums + n } };
  unsigned weak = 0, windows = 0;

  out.begin ();
  tally.clear ();
  for (int t = blockIdx.x; t < n_tiles; t += gridDim.x) {
    const CuvPyramidTile tile = tiles[t];
    const CuvPyramidLevel &level = levels[tile.level];

    if (!rows.has_level (tile.level))
      continue;
    __syncthreads (); // all threads have finished the previous tile
    if (threadIdx.x < 3)
      counts[threadIdx.x] = threadIdx.x == 0 ? n : 0;
    __syncthreads ();
    CuvVariantBlockRun<Access, Acc> run = { model, access, out, level, tile,
      shape, rows, tally, weak, windows };
    int first = 0;
    if (variant == CUV_REARRANGE_NONE)
      run.run_alone ();
    else
      for (int s = 0; s < model.n_segments; s++) {
        const CuvWaldboostSegment segment = model.segments[s];
        const int n_from = counts[s % 3];
        const bool last = s == model.n_segments - 1;
        const bool odd = s % 2;

        if (n_from == 0)
          break;
        if (s > 0 && segment.end - first >= CUV_VARIANT_LONG_SEGMENT
            && n_from <= (int) blockDim.x / 4)
          run.run_list_by_warps (first, segment, last, lists[odd], n_from,
              lists[!odd], &counts[(s + 1) % 3]);
        else
          run.run_list (variant, first, segment, last, lists[odd], n_from,
              lists[!odd], &counts[(s + 1) % 3]);
        // reset the count after the next, which this iteration does not use
        if (threadIdx.x == 0)
          counts[(s + 2) % 3] = 0;
        __syncthreads ();
        if (threadIdx.x == 0 && !last && segment.counter >= 0)
          tally.survivors[segment.counter] += counts[(s + 1) % 3];
        first = segment.end;
      }
    weak = run.weak;
    windows = run.windows;
  }
  __syncthreads ();
  tally.flush (out.counters, weak, windows);
}

#endif
