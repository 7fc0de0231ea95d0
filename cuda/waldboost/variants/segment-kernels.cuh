// SPDX-License-Identifier: LGPL-2.1-or-later
// Variants (see block-kernel.cuh) that compact survivors across the frame
// (GLOBAL, HYBRID, PREFIX_SUM): each launch evaluates one segment, and reads
// and writes lists in global memory. From the first long segment on
// (CUV_VARIANT_LONG_SEGMENT), finish_kernel evaluates all remaining segments.
#ifndef CUV_WALDBOOST_VARIANTS_SEGMENT_KERNELS_CUH
#define CUV_WALDBOOST_VARIANTS_SEGMENT_KERNELS_CUH

#include <cub/block/block_scan.cuh>
#include "waldboost/variants/block-kernel.cuh"

#define CUV_VARIANT_INDEX_BITS 11 // bits of a window's index in its tile

// A window in a list.
template <typename Acc> struct CuvVariantEntry {
  uint32_t where; // tile << CUV_VARIANT_INDEX_BITS | index in the tile
  Acc sum;
};

template <typename Acc> struct CuvVariantFrameList {
  CuvVariantEntry<Acc> *entries;
  uint32_t *n;
};

// Reserves a list index for each thread of the block whose `alive` is true.
template <int threads>
static __device__ uint32_t
claim_frame_index (CuvRearrangement variant, bool alive, uint32_t *counter)
{
  using Scan = cub::BlockScan<int, threads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ uint32_t base;
  __shared__ int count;
  int index, total;

  if (variant == CUV_REARRANGE_GLOBAL)
    return alive ? atomicAdd (counter, 1u) : 0;
  if (variant == CUV_REARRANGE_PREFIX_SUM) {
    Scan (storage).ExclusiveSum ((int) alive, index, total);
  } else {
    if (threadIdx.x == 0)
      count = 0;
    __syncthreads ();
    index = alive ? atomicAdd (&count, 1) : 0;
    __syncthreads ();
    total = count;
  }
  if (threadIdx.x == 0)
    base = atomicAdd (counter, (uint32_t) total);
  __syncthreads ();
  uint32_t at = base + index;
  __syncthreads ();
  return at;
}

// Evaluates segment s: if s is 0, for all windows of the tiles, with one block
// per tile and one thread per window; otherwise for list `from`. Appends
// survivors to list `to`.
template <typename Access, typename Acc, int threads>
static __global__ void
__launch_bounds__ (threads) segment_kernel (const CuvPyramidTile *tiles,
    int n_tiles, const CuvPyramidLevel *levels, CuvWaldboostBlockShape shape,
    Access access, CuvWaldboostDevice<Acc> model, CuvRearrangement variant,
    CuvScanRows rows, CuvScanHits out, int s, CuvVariantFrameList<Acc> from,
    CuvVariantFrameList<Acc> to)
{
  __shared__ CuvWaldboostTally tally;
  const int first = s > 0 ? model.segments[s - 1].end : 0;
  const CuvWaldboostSegment segment = model.segments[s];
  const bool last = s == model.n_segments - 1;
  const uint32_t n = s > 0 ? *from.n : (uint32_t) n_tiles * threads;
  unsigned weak = 0, windows = 0;

  if (s == 0)
    out.begin ();
  tally.clear ();
  __syncthreads ();
  for (uint32_t base = blockIdx.x * threads; base < n;
       base += gridDim.x * threads) {
    uint32_t k = base + threadIdx.x;
    bool alive = k < n;
    CuvVariantEntry<Acc> entry = {
      (k / threads) << CUV_VARIANT_INDEX_BITS | k % threads, 0
    };

    if (alive && s > 0)
      entry = from.entries[k];
    const CuvPyramidTile tile =
        tiles[alive ? entry.where >> CUV_VARIANT_INDEX_BITS : 0];
    CuvVariantBlockRun<Access, Acc> run = { model, access, out,
      levels[tile.level], tile, shape, rows, tally, 0, 0 };
    const int where = entry.where & ((1 << CUV_VARIANT_INDEX_BITS) - 1);

    if (s == 0) {
      alive = alive && run.inside (where);
      windows += alive;
    }
    if (alive) {
      int passed = run_segment (
          model, access, run.view (where), first, segment.end, &entry.sum);

      weak += min (passed + 1, segment.end) - first;
      alive = passed == segment.end
          && (!last || run.add_if_accepted (where, entry.sum));
    }
    if (segment.counter >= 0)
      tally.count (&tally.survivors[segment.counter], alive);
    if (!last) {
      uint32_t at = claim_frame_index<threads> (variant, alive, to.n);

      if (alive)
        to.entries[at] = entry;
    }
  }
  __syncthreads ();
  tally.flush (out.counters, weak, windows);
}

// Evaluates a window from segment s > 0 to the end with a whole warp.
// add_if_accepted() applies the final test. Returns the number of weak
// classifiers evaluated in lane 0, and 0 in the other lanes.
template <typename Access, typename Acc, typename Accept>
static __device__ unsigned
finish_by_warp (const CuvWaldboostDevice<Acc> &model, const Access &access,
    const typename Access::View &view, int s, Acc sum, CuvWaldboostTally &tally,
    Accept add_if_accepted)
{
  const bool leader = lane_of_thread () == 0;
  const int begin = model.segments[s - 1].end;
  int first = begin;

  for (; s < model.n_segments; s++) {
    const CuvWaldboostSegment segment = model.segments[s];
    const int passed =
        run_segment_by_warp (model, access, view, first, segment.end, &sum);

    if (passed < segment.end)
      return leader ? passed + 1 - begin : 0;
    if (leader && (s < model.n_segments - 1 || add_if_accepted (sum))
        && segment.counter >= 0)
      atomicAdd (&tally.survivors[segment.counter], 1u);
    first = segment.end;
  }
  return leader ? first - begin : 0;
}

// Evaluates the windows of list `from` from segment s to the end with one warp
// per window.
template <typename Access, typename Acc, int threads>
static __global__ void
__launch_bounds__ (threads) finish_kernel (const CuvPyramidTile *tiles,
    const CuvPyramidLevel *levels, CuvWaldboostBlockShape shape, Access access,
    CuvWaldboostDevice<Acc> model, CuvScanRows rows, CuvScanHits out, int s,
    CuvVariantFrameList<Acc> from)
{
  __shared__ CuvWaldboostTally tally;
  const uint32_t n = *from.n;
  unsigned weak = 0;

  tally.clear ();
  __syncthreads ();
  for (uint32_t k = (blockIdx.x * threads + threadIdx.x) / 32; k < n;
       k += gridDim.x * threads / 32) {
    const CuvVariantEntry<Acc> entry = from.entries[k];
    const CuvPyramidTile tile = tiles[entry.where >> CUV_VARIANT_INDEX_BITS];
    const int where = entry.where & ((1 << CUV_VARIANT_INDEX_BITS) - 1);
    CuvVariantBlockRun<Access, Acc> run = { model, access, out,
      levels[tile.level], tile, shape, rows, tally, 0, 0 };

    weak += finish_by_warp (model, access, run.view (where), s, entry.sum,
        tally, [&] (Acc sum) { return run.add_if_accepted (where, sum); });
  }
  __syncthreads ();
  tally.flush (out.counters, weak, 0);
}

#endif
