// SPDX-License-Identifier: LGPL-2.1-or-later
// Windows of all levels, evaluated by trees on channels. Most windows are
// rejected by the first trees, which a thread evaluates for its own windows;
// those that are left are listed, and a warp takes one at a time, a tree per
// thread.
#ifndef CUV_CHANNELS_TREES_KERNEL_CUH
#define CUV_CHANNELS_TREES_KERNEL_CUH

#include "waldboost/channels/channels.cuh"
#include "waldboost/scanner.cuh"

#define CUV_CHANNELS_TREES_WARPS 8 // of a block
// A tile: a window per lane, this many rows per warp.
#define CUV_CHANNELS_TREES_ROWS_OF_WARP 4
#define CUV_CHANNELS_TREES_COLUMNS 32
#define CUV_CHANNELS_TREES_ROWS                                                \
  (CUV_CHANNELS_TREES_WARPS * CUV_CHANNELS_TREES_ROWS_OF_WARP)
#define CUV_CHANNELS_TREES_DENSE 8 // trees that each window's thread evaluates

// A model on the device. A node is the offset of its byte, from the first byte
// of a window, times 256, plus its threshold; depths are those of all trees.
struct CuvChannelsDeviceTrees {
  int32_t n_trees, n_dense, depth;
  int32_t shrink, first; // position of a window: first + shrink * number
  int32_t final_threshold;
  const uint32_t *nodes; // 2^depth per tree, the last one unused
  const int16_t *leaves; // 2^depth per tree
  const int32_t *thresholds;
  int32_t n_segments;
  const int32_t *segment_end;
};

// A window of the tile and the sum of its first n_dense trees.
struct CuvChannelsCandidate {
  int32_t window; // row in the tile times 32, plus column
  int32_t sum;
};

// What the blocks share.
struct CuvChannelsTreesShared {
  CuvChannelsCandidate
      candidates[CUV_CHANNELS_TREES_COLUMNS * CUV_CHANNELS_TREES_ROWS];
  int n_candidates;
  unsigned windows, weak;
  // windows that passed that many dense trees, plus 1
  unsigned passed[CUV_CHANNELS_TREES_DENSE];
  unsigned survivors[CUV_WALDBOOST_SEGMENTS];
};

// ---- one window ----

// The leaf of a tree that a window reaches.
static __device__ __forceinline__ int
cuv_channels_leaf (
    const CuvChannelsDeviceTrees &trees, int tree, const uint8_t *window)
{
  const int first = tree << trees.depth;
  int at = 0;

  for (int i = 0; i < trees.depth; i++) {
    const uint32_t node = trees.nodes[first + at];

    at = 2 * at + 1 + (window[node >> 8] >= (node & 255));
  }
  return trees.leaves[first + at - (1 << trees.depth) + 1];
}

// Evaluates the trees after the dense ones, by a warp. Returns how many the
// window passed in all, see cuv_channels_evaluate(); *sum becomes the last sum.
static __device__ __forceinline__ int
cuv_channels_finish (
    const CuvChannelsDeviceTrees &trees, const uint8_t *window, int *sum)
{
  const int lane = threadIdx.x & 31;

  for (int first = trees.n_dense; first < trees.n_trees; first += 32) {
    const int tree = first + lane;
    const bool is_tree = tree < trees.n_trees;
    const int sum_here = *sum
        + (int) cuv_inclusive_scan (
            is_tree ? cuv_channels_leaf (trees, tree, window) : 0);
    const unsigned failed =
        __ballot_sync (~0u, is_tree && sum_here < trees.thresholds[tree]);

    if (failed != 0)
      return first + __ffs (failed) - 1;
    *sum = __shfl_sync (~0u, sum_here, 31);
  }
  return *sum > trees.final_threshold ? trees.n_trees : trees.n_trees - 1;
}

// ---- a tile ----

// The first trees of a thread's windows; lists those that are left.
static __device__ void
cuv_channels_scan_dense (const CuvChannelsDeviceTrees &trees,
    const CuvChannelsDeviceLevel &level, const CuvChannelsTile &tile,
    const CuvScanRows &rows, const uint8_t *channels,
    CuvChannelsTreesShared *shared)
{
  const int warp = cuv_warp_of_thread (), lane = threadIdx.x & 31;
  const int x = tile.x + lane;
  const int row_bytes = CUV_CHANNELS_N * level.channels.pitch;
  const uint8_t *windows[CUV_CHANNELS_TREES_ROWS_OF_WARP];
  bool alive[CUV_CHANNELS_TREES_ROWS_OF_WARP];
  int sums[CUV_CHANNELS_TREES_ROWS_OF_WARP] = {};
  unsigned visited = 0, weak = 0, passed = 0;

#pragma unroll
  for (int i = 0; i < CUV_CHANNELS_TREES_ROWS_OF_WARP; i++) {
    const int y = tile.y + warp + CUV_CHANNELS_TREES_WARPS * i;

    alive[i] = x < level.n_x && y < level.n_y && rows.has (tile.level, y);
    windows[i] = channels + level.channels.first + (int64_t) y * row_bytes + x;
    visited += __popc (__ballot_sync (~0u, alive[i]));
  }
  weak = visited; // of the tree that comes next
  if (lane == 0)
    atomicAdd (&shared->windows, visited);
  visited = 0;
  for (int tree = 0; tree < trees.n_dense && weak > 0; tree++) {
    const int threshold = trees.thresholds[tree];

    visited += weak;
    weak = 0;
#pragma unroll
    for (int i = 0; i < CUV_CHANNELS_TREES_ROWS_OF_WARP; i++) {
      if (alive[i]) {
        sums[i] += cuv_channels_leaf (trees, tree, windows[i]);
        alive[i] = sums[i] >= threshold;
      }
      weak += __popc (__ballot_sync (~0u, alive[i]));
    }
    passed = lane == tree ? weak : passed;
  }
  if (lane == 0)
    atomicAdd (&shared->weak, visited);
  if (lane < trees.n_dense && passed > 0)
    atomicAdd (&shared->passed[lane], passed);
#pragma unroll
  for (int i = 0; i < CUV_CHANNELS_TREES_ROWS_OF_WARP; i++) {
    if (alive[i])
      shared->candidates[atomicAdd (&shared->n_candidates, 1)] =
          CuvChannelsCandidate{ (warp + CUV_CHANNELS_TREES_WARPS * i)
                    * CUV_CHANNELS_TREES_COLUMNS
                + lane,
            sums[i] };
  }
}

// A survivor is counted by the dense trees, unless the segment ends with the
// model.
static __device__ __forceinline__ bool
cuv_channels_ends_dense (const CuvChannelsDeviceTrees &trees, int segment)
{
  return trees.segment_end[segment] <= trees.n_dense
      && trees.segment_end[segment] < trees.n_trees;
}

// The rest of the trees, for a listed window.
static __device__ void
cuv_channels_scan_candidate (const CuvChannelsDeviceTrees &trees,
    const CuvChannelsDeviceLevel &level, const CuvChannelsTile &tile,
    const CuvChannelsCandidate &candidate, const uint8_t *channels,
    const CuvScanHits &hits, CuvChannelsTreesShared *shared)
{
  const int lane = threadIdx.x & 31;
  const int x = tile.x + candidate.window % CUV_CHANNELS_TREES_COLUMNS;
  const int y = tile.y + candidate.window / CUV_CHANNELS_TREES_COLUMNS;
  int sum = candidate.sum;
  const int passed = cuv_channels_finish (trees,
      channels + level.channels.first
          + (int64_t) y * CUV_CHANNELS_N * level.channels.pitch + x,
      &sum);

  for (int s = lane; s < trees.n_segments; s += 32) {
    if (!cuv_channels_ends_dense (trees, s) && passed >= trees.segment_end[s])
      atomicAdd (&shared->survivors[s], 1u);
  }
  if (lane == 0) {
    atomicAdd (&shared->weak,
        (unsigned) (min (passed + 1, trees.n_trees) - trees.n_dense));
    if (passed == trees.n_trees)
      hits.add (tile.level, trees.first + x * trees.shrink,
          trees.first + y * trees.shrink,
          (float) (sum - trees.final_threshold) / 256);
  }
}

static __device__ void
cuv_channels_add_counters (const CuvChannelsDeviceTrees &trees,
    const CuvChannelsTreesShared &shared, CuvScanCounters *counters)
{
  const int thread = threadIdx.x;

  if (thread < trees.n_segments) {
    const unsigned n = cuv_channels_ends_dense (trees, thread)
        ? shared.passed[trees.segment_end[thread] - 1]
        : shared.survivors[thread];

    if (n > 0)
      atomicAdd (&counters->survivors[thread], (unsigned long long) n);
  }
  if (thread == 0) {
    atomicAdd (&counters->windows, (unsigned long long) shared.windows);
    atomicAdd (&counters->weak, (unsigned long long) shared.weak);
  }
}

// A block per tile; x and y of a tile: the numbers of its first window.
static __global__ void __launch_bounds__ (32 * CUV_CHANNELS_TREES_WARPS)
    cuv_channels_trees_kernel (const CuvChannelsTile *tiles,
        const CuvChannelsDeviceLevel *levels,
        const __grid_constant__ CuvChannelsDeviceTrees trees,
        const uint8_t *channels, const __grid_constant__ CuvScanRows rows,
        const __grid_constant__ CuvScanHits hits)
{
  __shared__ CuvChannelsTreesShared shared;

  if (threadIdx.x == 0)
    shared.n_candidates = shared.windows = shared.weak = 0;
  if (threadIdx.x < CUV_CHANNELS_TREES_DENSE)
    shared.passed[threadIdx.x] = 0;
  if (threadIdx.x < CUV_WALDBOOST_SEGMENTS)
    shared.survivors[threadIdx.x] = 0;
  cuv_pdl_wait ();
  hits.begin ();
  const CuvChannelsTile tile = tiles[blockIdx.x];
  const CuvChannelsDeviceLevel &level = levels[tile.level];

  if (!rows.has_level (tile.level))
    return;
  __syncthreads ();
  cuv_channels_scan_dense (trees, level, tile, rows, channels, &shared);
  __syncthreads ();
  for (int i = cuv_warp_of_thread (); i < shared.n_candidates;
       i += CUV_CHANNELS_TREES_WARPS)
    cuv_channels_scan_candidate (
        trees, level, tile, shared.candidates[i], channels, hits, &shared);
  __syncthreads ();
  cuv_channels_add_counters (trees, shared, hits.counters);
}

#endif
