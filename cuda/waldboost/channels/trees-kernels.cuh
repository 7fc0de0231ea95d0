// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that evaluate trees on channels for the windows of all levels. The
// first trees, which each thread evaluates for its own windows, reject most
// windows. The remaining ones are close to each other, so they are listed for
// the whole frame; in a second kernel each warp evaluates one of them at a
// time, with a tree per thread.
#ifndef CUV_CHANNELS_TREES_KERNELS_CUH
#define CUV_CHANNELS_TREES_KERNELS_CUH

#include <limits.h>
#include "waldboost/channels/channels.cuh"
#include "waldboost/waldboost-model.cuh"

#define CUV_CHANNELS_TREES_WARPS 8 // warps per block
// A tile has a window per lane, and this many rows per warp.
#define CUV_CHANNELS_TREES_ROWS_OF_WARP 4
#define CUV_CHANNELS_TREES_COLUMNS 32
#define CUV_CHANNELS_TREES_ROWS                                                \
  (CUV_CHANNELS_TREES_WARPS * CUV_CHANNELS_TREES_ROWS_OF_WARP)
#define CUV_CHANNELS_TREES_WINDOWS                                             \
  (CUV_CHANNELS_TREES_COLUMNS * CUV_CHANNELS_TREES_ROWS)
// number of trees that each window's thread evaluates
#define CUV_CHANNELS_TREES_DENSE 8
// blocks of the second kernel per multiprocessor
#define CUV_CHANNELS_TREES_FINISH_BLOCKS 6

// A tree on the device, in words of 16 bytes. A node's offset is the distance
// of its byte from a window's first one.
template <int depth> struct alignas (16) CuvChannelsDeviceTree {
  static constexpr int n_nodes = (1 << depth) - 1, n_leaves = 1 << depth;
  uint32_t offsets[n_nodes];
  int32_t reject; // rejects windows with smaller sums
  int16_t leaves[n_leaves];
  uint8_t thresholds[n_leaves]; // the last one is unused
};

// A model on the device.
struct CuvChannelsDeviceTrees {
  int32_t n_trees, n_dense;
  int32_t shrink, overhang;
  int32_t final_threshold;
  const void *trees; // CuvChannelsDeviceTree
  int32_t n_segments;
  const int32_t *segment_end;
};

// A window that the first n_dense trees did not reject.
struct alignas (16) CuvChannelsCandidate {
  // index of the tile times CUV_CHANNELS_TREES_WINDOWS, plus row in the tile
  // times CUV_CHANNELS_TREES_COLUMNS, plus column
  uint32_t window;
  int32_t sum;
  int64_t at; // address of its first byte in the channels
};

// The windows of a frame, and the results of the kernels.
struct CuvChannelsSearch {
  const CuvChannelsTile *tiles; // x and y: position of the first window
  const CuvChannelsDeviceLevel *levels;
  const uint8_t *channels;
  CuvChannelsDeviceTrees trees;
  CuvScanRows rows;
  CuvScanHits hits;
  CuvChannelsCandidate *candidates;
  unsigned *n_candidates;
};

// ---- one window ----

template <int depth>
static __device__ __forceinline__ CuvChannelsDeviceTree<depth>
cuv_channels_tree (const CuvChannelsDeviceTrees &trees, int tree)
{
  return ((const CuvChannelsDeviceTree<depth> *) trees.trees)[tree];
}

// Returns the leaf of a tree that a window reaches. Nodes are selected from
// registers.
template <int depth>
static __device__ __forceinline__ int
cuv_channels_leaf (
    const CuvChannelsDeviceTree<depth> &tree, const uint8_t *window)
{
  constexpr int n_nodes = tree.n_nodes;
  int at = 0, leaf = tree.leaves[0];

#pragma unroll
  for (int level = 0; level < depth; level++) {
    uint32_t offset = tree.offsets[(1 << level) - 1];
    int threshold = tree.thresholds[(1 << level) - 1];

#pragma unroll
    for (int k = 1 << level; k < (2 << level) - 1; k++) {
      offset = at == k ? tree.offsets[k] : offset;
      threshold = at == k ? tree.thresholds[k] : threshold;
    }
    at = 2 * at + 1 + (window[offset] >= threshold);
  }
#pragma unroll
  for (int k = 1; k <= n_nodes; k++)
    leaf = at == n_nodes + k ? tree.leaves[k] : leaf;
  return leaf;
}

// The trees of a thread: every 32nd of 32 n trees, so that those of a warp are
// adjacent.
template <int depth, int n> struct CuvChannelsLaneTrees {
  CuvChannelsDeviceTree<depth> trees[n];

  // Loads the thread's trees. first: the warp's first tree. Threads without a
  // tree evaluate the last one, whose result is not used.
  __device__ __forceinline__ void
  load (const CuvChannelsDeviceTrees &from, int first)
  {
#pragma unroll
    for (int i = 0; i < n; i++)
      trees[i] = cuv_channels_tree<depth> (from,
          min (first + 32 * i + (int) (threadIdx.x & 31), from.n_trees - 1));
  }

  // Evaluates n_trees of the warp. Returns the index of the tree that rejects
  // the window, or n_trees if none does and sets *sum to the last sum.
  __device__ __forceinline__ int
  evaluate (const uint8_t *window, int n_trees, int *sum) const
  {
    int32_t leaves[n];
    int passed = 0;

#pragma unroll
    for (int i = 0; i < n; i++)
      leaves[i] = cuv_channels_leaf (trees[i], window);
#pragma unroll
    for (int i = 0; i < n; i++) {
      const int n_here = min (max (n_trees - 32 * i, 0), 32);

      if (passed == 32 * i)
        passed +=
            first_below<1> (32, n_here, &leaves[i], &trees[i].reject, sum);
    }
    return passed;
  }
};

// Evaluates the trees after the dense ones with a warp: the next 32, which it
// keeps in registers, then many at a time, because a window that remains is
// probably accepted. Returns how many trees the window passes in total, as
// cuv_channels_evaluate() does in C; *sum is set to the last sum.
template <int depth>
static __device__ __forceinline__ int
cuv_channels_finish (const CuvChannelsDeviceTrees &trees,
    const CuvChannelsLaneTrees<depth, 1> &kept, const uint8_t *window, int *sum)
{
  constexpr int per_lane = depth > 2 ? 1 : 4;
  int n = min (32, trees.n_trees - trees.n_dense);
  int first = trees.n_dense, found = kept.evaluate (window, n, sum);

  while (found == n && first + n < trees.n_trees) {
    CuvChannelsLaneTrees<depth, per_lane> next;

    first += n;
    n = min (32 * per_lane, trees.n_trees - first);
    next.load (trees, first);
    found = next.evaluate (window, n, sum);
  }
  if (found < n)
    return first + found;
  return *sum > trees.final_threshold ? trees.n_trees : trees.n_trees - 1;
}

// Returns the offset of the first byte of window (x, y) of a level in the
// channels.
static __device__ __forceinline__ int64_t
cuv_channels_window_at (const CuvChannelsDeviceTrees &trees,
    const CuvChannelsDeviceLevel &level, int x, int y)
{
  return level.channels.first
      + (int64_t) (y - trees.overhang) * CUV_CHANNELS_N * level.channels.pitch
      + x - trees.overhang;
}

// ---- the first trees ----

// The counts of a block.
struct CuvChannelsDenseCounts {
  unsigned windows, weak;
  unsigned passed[CUV_CHANNELS_TREES_DENSE]; // [i]: i + 1 trees
  unsigned n_candidates, first_candidate;
};

// Returns whether the first kernel knows which windows survive a segment: it
// does unless the segment ends later, or with the model.
static __device__ __forceinline__ bool
cuv_channels_ends_dense (const CuvChannelsDeviceTrees &trees, int segment)
{
  return trees.segment_end[segment] <= trees.n_dense
      && trees.segment_end[segment] < trees.n_trees;
}

// A thread's windows: row i of the warp is row warp + CUV_CHANNELS_TREES_WARPS
// * i of the tile.
struct CuvChannelsDenseWindows {
  bool alive[CUV_CHANNELS_TREES_ROWS_OF_WARP];
  int sums[CUV_CHANNELS_TREES_ROWS_OF_WARP];
  int64_t at[CUV_CHANNELS_TREES_ROWS_OF_WARP];
};

// Evaluates the first trees for a thread's windows.
template <int depth>
static __device__ __forceinline__ CuvChannelsDenseWindows
cuv_channels_scan_dense (const CuvChannelsSearch &search,
    const CuvChannelsTile &tile, CuvChannelsDenseCounts *counts)
{
  const CuvChannelsDeviceTrees &trees = search.trees;
  const CuvChannelsDeviceLevel &level = search.levels[tile.level];
  const int warp = cuv_warp_of_thread (), lane = threadIdx.x & 31;
  const int x = tile.x + lane;
  CuvChannelsDenseWindows self = {};
  unsigned n_alive = 0, weak = 0, passed = 0;

#pragma unroll
  for (int i = 0; i < CUV_CHANNELS_TREES_ROWS_OF_WARP; i++) {
    const int y = tile.y + warp + CUV_CHANNELS_TREES_WARPS * i;

    self.alive[i] =
        x < level.n_x && y < level.n_y && search.rows.has (tile.level, y);
    // threads without a window in the level read another window
    self.at[i] = cuv_channels_window_at (
        trees, level, min (x, level.n_x - 1), min (y, level.n_y - 1));
    n_alive += __popc (__ballot_sync (~0u, self.alive[i]));
  }
  if (lane == 0)
    atomicAdd (&counts->windows, n_alive);
  for (int i = 0; i < trees.n_dense && n_alive > 0; i++) {
    const CuvChannelsDeviceTree<depth> tree =
        cuv_channels_tree<depth> (trees, i);

    weak += n_alive;
    n_alive = 0;
#pragma unroll
    for (int k = 0; k < CUV_CHANNELS_TREES_ROWS_OF_WARP; k++) {
      self.sums[k] += cuv_channels_leaf (tree, search.channels + self.at[k]);
      self.alive[k] = self.alive[k] && self.sums[k] >= tree.reject;
      n_alive += __popc (__ballot_sync (~0u, self.alive[k]));
    }
    passed = lane == i ? n_alive : passed;
  }
  if (lane == 0)
    atomicAdd (&counts->weak, weak);
  if (lane < trees.n_dense && passed > 0)
    atomicAdd (&counts->passed[lane], passed);
  return self;
}

// Lists the remaining windows of a block.
static __device__ __forceinline__ void
cuv_channels_list (const CuvChannelsSearch &search,
    const CuvChannelsDenseWindows &windows, CuvChannelsDenseCounts *counts)
{
  const int warp = cuv_warp_of_thread (), lane = threadIdx.x & 31;
  unsigned n = 0, first = 0;

#pragma unroll
  for (int i = 0; i < CUV_CHANNELS_TREES_ROWS_OF_WARP; i++)
    n += __popc (__ballot_sync (~0u, windows.alive[i]));
  if (lane == 0)
    first = atomicAdd (&counts->n_candidates, n);
  __syncthreads ();
  if (threadIdx.x == 0 && counts->n_candidates > 0)
    counts->first_candidate =
        atomicAdd (search.n_candidates, counts->n_candidates);
  __syncthreads ();
  first = __shfl_sync (~0u, first, 0) + counts->first_candidate;
#pragma unroll
  for (int i = 0; i < CUV_CHANNELS_TREES_ROWS_OF_WARP; i++) {
    const unsigned alive = __ballot_sync (~0u, windows.alive[i]);
    const int row = warp + CUV_CHANNELS_TREES_WARPS * i;

    if (windows.alive[i])
      search.candidates[first + __popc (alive & ((1u << lane) - 1))] =
          CuvChannelsCandidate{ blockIdx.x * CUV_CHANNELS_TREES_WINDOWS
                + row * CUV_CHANNELS_TREES_COLUMNS + lane,
            windows.sums[i], windows.at[i] };
    first += __popc (alive);
  }
}

// Evaluates the first trees, with a block per tile.
template <int depth>
static __global__ void __launch_bounds__ (32 * CUV_CHANNELS_TREES_WARPS)
    cuv_channels_dense_kernel (const __grid_constant__ CuvChannelsSearch search)
{
  __shared__ CuvChannelsDenseCounts counts;
  const CuvChannelsDeviceTrees &trees = search.trees;
  const int thread = threadIdx.x;

  if (thread < (int) (sizeof counts / sizeof (unsigned)))
    ((unsigned *) &counts)[thread] = 0;
  cuv_pdl_wait ();
  search.hits.begin ();
  const CuvChannelsTile tile = search.tiles[blockIdx.x];

  if (!search.rows.has_level (tile.level))
    return;
  __syncthreads ();
  cuv_channels_list (
      search, cuv_channels_scan_dense<depth> (search, tile, &counts), &counts);
  if (thread < trees.n_segments && cuv_channels_ends_dense (trees, thread))
    atomicAdd (&search.hits.counters->survivors[thread],
        (unsigned long long) counts.passed[trees.segment_end[thread] - 1]);
  if (thread == 0) {
    atomicAdd (
        &search.hits.counters->windows, (unsigned long long) counts.windows);
    atomicAdd (&search.hits.counters->weak, (unsigned long long) counts.weak);
  }
}

// ---- the other trees ----

// The counts of a block.
struct CuvChannelsFinishCounts {
  unsigned weak, survivors[CUV_WALDBOOST_SEGMENTS];
};

// The counts of a thread: lane s of a warp counts for segments s and s + 32.
struct CuvChannelsLaneCounts {
  unsigned weak, survivors[2];
  // INT_MAX: no segment, or one that the first kernel counts
  int segment_end[2];
};

static __device__ __forceinline__ CuvChannelsLaneCounts
cuv_channels_lane_counts (const CuvChannelsDeviceTrees &trees)
{
  CuvChannelsLaneCounts self = {};

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int segment = (threadIdx.x & 31) + 32 * i;

    self.segment_end[i] = INT_MAX;
    if (segment < trees.n_segments && !cuv_channels_ends_dense (trees, segment))
      self.segment_end[i] = trees.segment_end[segment];
  }
  return self;
}

static __device__ __forceinline__ void
cuv_channels_add_hit (
    const CuvChannelsSearch &search, unsigned window, int score)
{
  const CuvChannelsDeviceTrees &trees = search.trees;
  const CuvChannelsTile tile =
      search.tiles[window / CUV_CHANNELS_TREES_WINDOWS];
  const int number = window % CUV_CHANNELS_TREES_WINDOWS;
  const int x = tile.x + number % CUV_CHANNELS_TREES_COLUMNS;
  const int y = tile.y + number / CUV_CHANNELS_TREES_COLUMNS;

  search.hits.add (tile.level, trees.shrink * (x - trees.overhang),
      trees.shrink * (y - trees.overhang), (float) score / 256);
}

// Evaluates the other trees, with any number of blocks.
template <int depth>
static __global__ void __launch_bounds__ (32 * CUV_CHANNELS_TREES_WARPS)
    cuv_channels_finish_kernel (
        const __grid_constant__ CuvChannelsSearch search)
{
  __shared__ CuvChannelsFinishCounts block;
  const CuvChannelsDeviceTrees &trees = search.trees;
  const int warps = gridDim.x * CUV_CHANNELS_TREES_WARPS;
  const int thread = threadIdx.x, lane = thread & 31;
  CuvScanCounters *counters = search.hits.counters;

  if (thread < (int) (sizeof block / sizeof (unsigned)))
    ((unsigned *) &block)[thread] = 0;
  __syncthreads ();
  cuv_pdl_wait ();
  const int n = (int) *search.n_candidates;
  CuvChannelsLaneCounts counts = cuv_channels_lane_counts (trees);
  CuvChannelsLaneTrees<depth, 1> kept;

  kept.load (trees, trees.n_dense);

  for (int i = blockIdx.x * CUV_CHANNELS_TREES_WARPS + cuv_warp_of_thread ();
       i < n; i += warps) {
    const CuvChannelsCandidate candidate = search.candidates[i];
    int sum = candidate.sum;
    const int passed = cuv_channels_finish<depth> (
        trees, kept, search.channels + candidate.at, &sum);

    counts.weak += min (passed + 1, trees.n_trees) - trees.n_dense;
    counts.survivors[0] += passed >= counts.segment_end[0];
    counts.survivors[1] += passed >= counts.segment_end[1];
    if (lane == 0 && passed == trees.n_trees)
      cuv_channels_add_hit (
          search, candidate.window, sum - trees.final_threshold);
  }
  if (lane == 0 && counts.weak > 0)
    atomicAdd (&block.weak, counts.weak);
#pragma unroll
  for (int i = 0; i < 2; i++) {
    if (counts.survivors[i] > 0)
      atomicAdd (&block.survivors[lane + 32 * i], counts.survivors[i]);
  }
  __syncthreads ();
  if (thread == 0 && block.weak > 0)
    atomicAdd (&counters->weak, (unsigned long long) block.weak);
  if (thread < trees.n_segments && block.survivors[thread] > 0)
    atomicAdd (&counters->survivors[thread],
        (unsigned long long) block.survivors[thread]);
}

#endif
