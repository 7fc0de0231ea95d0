// SPDX-License-Identifier: LGPL-2.1-or-later
// WaldBoost models: a window's sum runs over weak classifiers until it falls
// below a threshold. Most windows fall early, so a warp soon has few threads
// with work; the variants here differ in how they close up what is left after a
// segment of weak classifiers. All find the same.
//
// In a block: the survivors of its tile stay in lists in shared memory
// (block_kernel: none, shared, ballot). Across the frame: each segment is a
// launch of its own that reads and writes lists in global memory
// (segment_kernel: global, hybrid, prefix sum). An Access says how a window's
// features are read; an Acc is int32_t for fixed arithmetic, or float.
#ifndef CUV_WALDBOOST_VARIANTS_CUH
#define CUV_WALDBOOST_VARIANTS_CUH

#include <cub/block/block_scan.cuh>
#include "waldboost/detector.cuh"

#define LONG_SEGMENT 48 // weak classifiers that pay for a warp a window

// Survivors are counted where counter is not -1.
struct Segment {
  int32_t end, counter;
};

// What windows a block looks at: width x height of them.
struct BlockShape {
  int32_t width, height;
};

template <typename Acc> struct WaldBoost {
  int32_t n_weak, n_segments;
  Acc final_threshold;
  double score_scale; // of a fixed sum
  const Segment *segments;
  const Acc *thresholds; // of each weak classifier
  const Acc *leaves;
};

// ---- one window ----

static __device__ __forceinline__ int
lane_of_thread ()
{
  return threadIdx.x & 31;
}

// Runs weak classifiers from first on. Returns how many were passed: end, or
// the number of the one that was not.
template <typename Access, typename Acc>
static __device__ int
run_segment (const WaldBoost<Acc> &model, const Access &access,
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

// Sums of a group's n responses in a row, each a thread; those after them are
// not looked at. Returns the first that falls below its threshold, or n; *sum
// is then the last. A group is a power of two threads; by whole warps.
template <int each>
static __device__ __forceinline__ int
first_below (int group, int n, const int32_t responses[each],
    const int32_t thresholds[each], int32_t *sum)
{
  const int lane = lane_of_thread (), mine = lane & (group - 1);
  int32_t sums[each], all = 0;
  int first = each; // of this thread's

#pragma unroll
  for (int i = 0; i < each; i++)
    sums[i] = all += each * mine + i < n ? responses[i] : 0;
  const int32_t end = cuv_running_sum (all, group);
#pragma unroll
  for (int i = each - 1; i >= 0; i--) {
    if (each * mine + i < n && *sum + end - all + sums[i] < thresholds[i])
      first = i;
  }
  *sum += __shfl_sync (~0u, end, group - 1, group);
  const unsigned below =
      __ballot_sync (~0u, first < each) >> (lane - mine) & ~0u >> (32 - group);
  const int at = below ? __ffs (below) - 1 : 0;
  first = each * at + __shfl_sync (~0u, first, at, group);
  return below ? first : n;
}

// Floats add up in their order.
template <int each>
static __device__ __forceinline__ int
first_below (int group, int n, const float responses[each],
    const float thresholds[each], float *sum)
{
  int first = n;

  for (int i = 0; i < n; i += each) {
#pragma unroll
    for (int j = 0; j < each; j++) {
      const float next =
          *sum + __shfl_sync (~0u, responses[j], i / each, group);
      const float threshold = __shfl_sync (~0u, thresholds[j], i / each, group);

      if (i + j < n) {
        *sum = next;
        if (next < threshold && first == n)
          first = i + j;
      }
    }
  }
  return first;
}

// The same as run_segment(), by a whole warp for one window.
template <typename Access, typename Acc>
static __device__ int
run_segment_by_warp (const WaldBoost<Acc> &model, const Access &access,
    const typename Access::View &view, int first, int end, Acc *sum)
{
  for (int k = first; k < end; k += 32) {
    const int n = min (32, end - k), mine = k + min (lane_of_thread (), n - 1);
    const Acc response = model.leaves[access.leaf (view, mine)];
    const int below =
        first_below<1> (32, n, &response, &model.thresholds[mine], sum);

    if (below < n)
      return k + below;
  }
  return end;
}

static __device__ float
score_of (const WaldBoost<int32_t> &model, int32_t sum)
{
  return (float) (((double) sum - (double) model.final_threshold)
      * model.score_scale);
}

static __device__ float
score_of (const WaldBoost<float> &model, float sum)
{
  return sum - model.final_threshold;
}

// ---- counting ----

// A block's counts, added to the frame's at the end.
struct Tally {
  unsigned long long weak, windows;
  unsigned survivors[CUV_WALDBOOST_SEGMENTS];

  __device__ void
  clear ()
  {
    for (int i = threadIdx.x; i < CUV_WALDBOOST_SEGMENTS; i += blockDim.x)
      survivors[i] = 0;
    if (threadIdx.x == 0)
      weak = windows = 0;
  }

  // By all threads of a warp: of those for which yes holds.
  __device__ void
  count (unsigned *counter, bool yes)
  {
    unsigned n = __popc (__ballot_sync (~0u, yes));

    if (n > 0 && lane_of_thread () == 0)
      atomicAdd (counter, n);
  }

  // By all threads, which meet before.
  __device__ void
  flush (CuvCounters *counters, unsigned my_weak, unsigned my_windows)
  {
    unsigned long long sum = cuv_warp_sum ((unsigned long long) my_weak);
    unsigned n = cuv_warp_sum (my_windows);

    if (lane_of_thread () == 0) {
      atomicAdd (&weak, sum);
      atomicAdd (&windows, (unsigned long long) n);
    }
    __syncthreads ();
    for (int i = threadIdx.x; i < CUV_WALDBOOST_SEGMENTS; i += blockDim.x) {
      if (survivors[i] > 0)
        atomicAdd (&counters->survivors[i], survivors[i]);
    }
    if (threadIdx.x == 0) {
      atomicAdd (&counters->weak, weak);
      atomicAdd (&counters->windows, windows);
    }
  }
};

// The rest of a window's way, from segment s on, not the first, by a whole
// warp. accept() is asked for the hit at the end. Returns how many weak
// classifiers that took, in the first lane.
template <typename Access, typename Acc, typename Accept>
static __device__ unsigned
finish_by_warp (const WaldBoost<Acc> &model, const Access &access,
    const typename Access::View &view, int s, Acc sum, Tally &tally,
    Accept accept)
{
  const bool leader = lane_of_thread () == 0;
  const int begin = model.segments[s - 1].end;
  int first = begin;

  for (; s < model.n_segments; s++) {
    const Segment segment = model.segments[s];
    const int passed =
        run_segment_by_warp (model, access, view, first, segment.end, &sum);

    if (passed < segment.end)
      return leader ? passed + 1 - begin : 0;
    if (leader && (s < model.n_segments - 1 || accept (sum))
        && segment.counter >= 0)
      atomicAdd (&tally.survivors[segment.counter], 1u);
    first = segment.end;
  }
  return leader ? first - begin : 0;
}

// ---- in a block ----

// What is left of a block's windows: where in the tile, and their sums.
template <typename Acc> struct BlockList {
  uint16_t *where;
  Acc *sum;
};

// A place in a list for each thread for which alive holds.
static __device__ __forceinline__ int
take_place (CuvRearrangement variant, bool alive, int *count)
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

// One block's way through a tile.
template <typename Access, typename Acc> struct BlockRun {
  const WaldBoost<Acc> &model;
  const Access &access;
  const CuvHits &out;
  const CuvPyramidLevel &level;
  CuvTile tile;
  BlockShape shape;
  CuvRows rows;
  Tally &tally;
  unsigned weak, windows;

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

  // TRUE for a hit, which is added.
  __device__ bool
  accept (int where, Acc sum) const
  {
    int step = level.plan.step;

    if (!(sum > model.final_threshold))
      return false;
    out.add (tile.level, (tile.x + where % shape.width) * step,
        (tile.y + where / shape.width) * step, score_of (model, sum));
    return true;
  }

  // Each thread keeps its window. By whole warps.
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
      Segment segment = model.segments[s];
      bool last = s == model.n_segments - 1;

      if (alive) {
        int passed = run_segment (model, access, v, first, segment.end, &sum);

        weak += min (passed + 1, segment.end) - first;
        alive = passed == segment.end && (!last || accept (where, sum));
      }
      if (segment.counter >= 0)
        tally.count (&tally.survivors[segment.counter], alive);
      if (!__any_sync (~0u, alive))
        return;
      first = segment.end;
    }
  }

  // One segment of n windows of a list (all of the tile if first is 0), a
  // thread each; to: of those that are left.
  __device__ void
  run_list (CuvRearrangement variant, int first, Segment segment, bool last,
      BlockList<Acc> from, int n, BlockList<Acc> to, int *n_to)
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
        alive = passed == segment.end && (!last || accept (where, sum));
      }
      if (last && segment.counter >= 0)
        tally.count (&tally.survivors[segment.counter], alive);
      if (!last) {
        int at = take_place (variant, alive, n_to);

        if (alive) {
          to.where[at] = (uint16_t) where;
          to.sum[at] = sum;
        }
      }
    }
  }

  // The same, a warp each.
  __device__ void
  run_list_by_warps (int first, Segment segment, bool last, BlockList<Acc> from,
      int n, BlockList<Acc> to, int *n_to)
  {
    for (int k = cuv_warp_of_thread (); k < n; k += blockDim.x / 32) {
      int where = from.where[k];
      Acc sum = from.sum[k];
      int passed = run_segment_by_warp (
          model, access, view (where), first, segment.end, &sum);

      if (lane_of_thread () != 0)
        continue;
      weak += min (passed + 1, segment.end) - first;
      if (passed < segment.end || (last && !accept (where, sum)))
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

// Block: tiles of shape, each after the grid's number of tiles. Shared memory:
// two lists.
template <typename Access, typename Acc, int threads>
static __global__ void
__launch_bounds__ (threads) block_kernel (const CuvTile *tiles, int n_tiles,
    const CuvPyramidLevel *levels, BlockShape shape, Access access,
    WaldBoost<Acc> model, CuvRearrangement variant, CuvRows rows, CuvHits out)
{
  extern __shared__ uint4 shared[];
  __shared__ int counts[3];
  __shared__ Tally tally;
  const int n = shape.width * shape.height;
  Acc *sums = (Acc *) shared;
  BlockList<Acc> lists[2] = { { (uint16_t *) (sums + 2 * n), sums },
    { (uint16_t *) (sums + 2 * n) + n, sums + n } };
  unsigned weak = 0, windows = 0;

  out.begin ();
  tally.clear ();
  for (int t = blockIdx.x; t < n_tiles; t += gridDim.x) {
    const CuvTile tile = tiles[t];
    const CuvPyramidLevel &level = levels[tile.level];

    if (!rows.has_level (tile.level))
      continue;
    __syncthreads (); // the tile before is done with
    if (threadIdx.x < 3)
      counts[threadIdx.x] = threadIdx.x == 0 ? n : 0;
    __syncthreads ();
    BlockRun<Access, Acc> run = { model, access, out, level, tile, shape, rows,
      tally, weak, windows };
    int first = 0;
    if (variant == CUV_REARRANGE_NONE)
      run.run_alone ();
    else
      for (int s = 0; s < model.n_segments; s++) {
        const Segment segment = model.segments[s];
        const int n_from = counts[s % 3];
        const bool last = s == model.n_segments - 1;
        const bool odd = s % 2;

        if (n_from == 0)
          break;
        if (s > 0 && segment.end - first >= LONG_SEGMENT
            && n_from <= (int) blockDim.x / 4)
          run.run_list_by_warps (first, segment, last, lists[odd], n_from,
              lists[!odd], &counts[(s + 1) % 3]);
        else
          run.run_list (variant, first, segment, last, lists[odd], n_from,
              lists[!odd], &counts[(s + 1) % 3]);
        // the count after next; nobody reads or adds to it in this turn
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

// ---- across the frame ----

#define FRAME_BITS 11 // of a window's place in its tile

// A window in a list: its tile, its place in it, and its sum.
template <typename Acc> struct Entry {
  uint32_t where; // tile << FRAME_BITS | place
  Acc sum;
};

template <typename Acc> struct FrameList {
  Entry<Acc> *entries;
  uint32_t *n;
};

// A place for each thread of the block for which alive holds.
template <int threads>
static __device__ uint32_t
take_place_in_frame (CuvRearrangement variant, bool alive, uint32_t *counter)
{
  using Scan = cub::BlockScan<int, threads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ uint32_t base;
  __shared__ int count;
  int place, total;

  if (variant == CUV_REARRANGE_GLOBAL)
    return alive ? atomicAdd (counter, 1u) : 0;
  if (variant == CUV_REARRANGE_PREFIX_SUM) {
    Scan (storage).ExclusiveSum ((int) alive, place, total);
  } else {
    if (threadIdx.x == 0)
      count = 0;
    __syncthreads ();
    place = alive ? atomicAdd (&count, 1) : 0;
    __syncthreads ();
    total = count;
  }
  if (threadIdx.x == 0)
    base = atomicAdd (counter, (uint32_t) total);
  __syncthreads ();
  uint32_t at = base + place;
  __syncthreads ();
  return at;
}

// One segment: of all windows of tiles if s is 0, a block a
// tile, or of a list.
template <typename Access, typename Acc, int threads>
static __global__ void
__launch_bounds__ (threads) segment_kernel (const CuvTile *tiles, int n_tiles,
    const CuvPyramidLevel *levels, BlockShape shape, Access access,
    WaldBoost<Acc> model, CuvRearrangement variant, CuvRows rows, CuvHits out,
    int s, FrameList<Acc> from, FrameList<Acc> to)
{
  __shared__ Tally tally;
  const int first = s > 0 ? model.segments[s - 1].end : 0;
  const Segment segment = model.segments[s];
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
    Entry<Acc> entry = { (k / threads) << FRAME_BITS | k % threads, 0 };

    if (alive && s > 0)
      entry = from.entries[k];
    const CuvTile tile = tiles[alive ? entry.where >> FRAME_BITS : 0];
    BlockRun<Access, Acc> run = { model, access, out, levels[tile.level], tile,
      shape, rows, tally, 0, 0 };
    const int where = entry.where & ((1 << FRAME_BITS) - 1);

    if (s == 0) {
      alive = alive && run.inside (where);
      windows += alive;
    }
    if (alive) {
      int passed = run_segment (
          model, access, run.view (where), first, segment.end, &entry.sum);

      weak += min (passed + 1, segment.end) - first;
      alive = passed == segment.end && (!last || run.accept (where, entry.sum));
    }
    if (segment.counter >= 0)
      tally.count (&tally.survivors[segment.counter], alive);
    if (!last) {
      uint32_t at = take_place_in_frame<threads> (variant, alive, to.n);

      if (alive)
        to.entries[at] = entry;
    }
  }
  __syncthreads ();
  tally.flush (out.counters, weak, windows);
}

// The rest of the way of the windows of a list, from segment s on, a warp a
// window.
template <typename Access, typename Acc, int threads>
static __global__ void
__launch_bounds__ (threads) finish_kernel (const CuvTile *tiles,
    const CuvPyramidLevel *levels, BlockShape shape, Access access,
    WaldBoost<Acc> model, CuvRows rows, CuvHits out, int s, FrameList<Acc> from)
{
  __shared__ Tally tally;
  const uint32_t n = *from.n;
  unsigned weak = 0;

  tally.clear ();
  __syncthreads ();
  for (uint32_t k = (blockIdx.x * threads + threadIdx.x) / 32; k < n;
       k += gridDim.x * threads / 32) {
    const Entry<Acc> entry = from.entries[k];
    const CuvTile tile = tiles[entry.where >> FRAME_BITS];
    const int where = entry.where & ((1 << FRAME_BITS) - 1);
    BlockRun<Access, Acc> run = { model, access, out, levels[tile.level], tile,
      shape, rows, tally, 0, 0 };

    weak += finish_by_warp (model, access, run.view (where), s, entry.sum,
        tally, [&] (Acc sum) { return run.accept (where, sum); });
  }
  __syncthreads ();
  tally.flush (out.counters, weak, 0);
}

#endif
