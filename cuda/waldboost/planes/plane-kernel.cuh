// SPDX-License-Identifier: LGPL-2.1-or-later
// plane_kernel() scans with planes: a thread block runs a tile of windows
// through all weak classifiers. The first few are evaluated for all windows,
// several per thread. Survivors are listed; each warp then takes a part of the
// list and compacts it when enough of its windows are rejected. Each window has
// one thread or, when few windows are left, a group of threads, which evaluate
// successive weak classifiers at the same time.
#ifndef CUV_WALDBOOST_PLANES_PLANE_KERNEL_CUH
#define CUV_WALDBOOST_PLANES_PLANE_KERNEL_CUH

#include "waldboost/planes/lbp-planes.cuh"
#include "waldboost/planes/rank-planes.cuh"

// A window: its offset in the planes in bytes, and its sum so far.
template <typename Acc> struct CuvPlaneWindow {
  bool alive;
  int offset;
  Acc sum;
};

// Surviving windows of a block or a warp, in shared memory.
template <typename Acc> struct CuvPlaneList {
  uint16_t *offsets;
  Acc *sums;

  __device__ __forceinline__ CuvPlaneWindow<Acc>
  get (bool exists, int k) const
  {
    return { exists, exists ? offsets[k] : 0, exists ? sums[k] : (Acc) 0 };
  }

  // Appends the alive windows of a warp after the first n; returns the new
  // length of the list.
  __device__ __forceinline__ int
  append (int n, const CuvPlaneWindow<Acc> &window) const
  {
    const unsigned voters = __ballot_sync (~0u, window.alive);

    __syncwarp (); // all have read the entries that are overwritten now
    if (window.alive) {
      int at = n + __popc (voters & ((1u << lane_of_thread ()) - 1));

      offsets[at] = (uint16_t) window.offset;
      sums[at] = window.sum;
    }
    __syncwarp ();
    return n + __popc (voters);
  }
};

// Shared by a block's threads in addition to planes and list.
struct CuvPlaneShared {
  CuvWaldboostTally tally;
  CuvPyramidTile tile;
  int n_columns, n_rows; // numbers of columns and rows of windows in the tile
  int n_listed;
  int n_done; // warps that have finished the tile
  CuvPyramidTile next;
  int n_next; // index of the next tile
};

// A thread's part in its block's scan.
template <typename Planes, typename Acc> struct CuvPlaneRun {
  using Window = CuvPlaneWindow<Acc>;
  static const int n_windows = Planes::n_windows; // windows per thread
  // weak classifiers evaluated at the same time, to hide the latency of reads
  static const int at_once = Planes::at_once;
  // rarely exceeded; if it is, the tile is scanned in quarters, which always
  // fit
  static const int max_listed = Planes::tile_x * CUV_PLANE_Y * 3 / 8;
  static_assert (
      n_windows % 4 == 0 && CUV_PLANE_THREADS * n_windows / 4 <= max_listed,
      "the list must hold all windows of a quarter");

  const CuvWaldboostDevice<Acc> &model;
  const Planes &planes;
  const CuvPlaneFirst &first_nodes;
  const int n_dense; // number of weak classifiers evaluated for all windows
  const CuvScanHits &out;
  const CuvPlaneList<Acc> list; // the block's list
  CuvPlaneShared &shared;
  unsigned weak = 0;

  // Applies the final test: adds a hit and returns true if the window passes.
  __device__ bool
  add_if_accepted (int offset, Acc sum) const
  {
    const int row = offset / planes.shape.pitch;

    if (!(sum > model.final_threshold))
      return false;
    out.add (shared.tile.level,
        shared.tile.x + (offset - row * planes.shape.pitch) / Planes::element,
        shared.tile.y + row, score_of (model, sum));
    return true;
  }

  // Adds n to the calling warp's survivors of a segment.
  __device__ void
  count (CuvWaldboostSegment segment, int n) const
  {
    if (n > 0 && lane_of_thread () == 0)
      atomicAdd (&shared.tally.survivors[segment.counter], (unsigned) n);
  }

  // ---- all windows: each thread has some in each row of its warp ----

  // Returns the mask of the thread's windows to scan, row by row.
  __device__ unsigned
  inside (const CuvScanRows &rows, int row) const
  {
    unsigned bits = 0;

#pragma unroll
    for (int i = 0; i < n_windows; i++) {
      const int y = row + i / Planes::n_columns;

      if (Planes::column_of (i) < shared.n_columns && y < shared.n_rows
          && rows.has (shared.tile.level, shared.tile.y + y))
        bits |= 1u << i;
    }
    return bits;
  }

  // Evaluates weak classifier k. Returns the mask of survivors.
  __device__ __forceinline__ unsigned
  evaluate_all (int k, int offset, unsigned alive, Acc sums[n_windows]) const
  {
    const auto node = cuv_plane_node<CuvPlaneNode<Acc>> (first_nodes.nodes[k]);
    const Acc *leaves = planes.shared_leaves () + k * planes.n_codes;
    int codes[n_windows];

    planes.codes (offset, node, codes);
#pragma unroll
    for (int i = 0; i < n_windows; i++) {
      sums[i] += leaves[codes[i]];
      if (sums[i] < node.threshold)
        alive &= ~(1u << i);
    }
    return alive;
  }

  // Returns the offset of a thread's window in the planes.
  __device__ __forceinline__ int
  offset_of (int row, int i) const
  {
    return (row + i / Planes::n_columns) * planes.shape.pitch
        + Planes::column_of (i) * Planes::element;
  }

  // Appends a thread's windows to the block's list as far as they fit; n_listed
  // also counts those that do not.
  __device__ __forceinline__ void
  list_all (int row, unsigned alive, const Acc sums[n_windows]) const
  {
    const int n_alive = __popc (alive), end = cuv_inclusive_scan (n_alive);
    int base = 0;

    if (lane_of_thread () == 31)
      base = atomicAdd (&shared.n_listed, end);
    int at = __shfl_sync (~0u, base, 31) + end - n_alive;
#pragma unroll
    for (int i = 0; i < n_windows; i++) {
      if (alive >> i & 1 && at < max_listed) {
        list.offsets[at] = (uint16_t) offset_of (row, i);
        list.sums[at++] = sums[i];
      }
    }
  }

  // Evaluates the first weak classifiers for a subset of the thread's windows
  // and lists the survivors; updates counters if first_time.
  __device__ __forceinline__ void
  evaluate_dense (const CuvScanRows &rows, unsigned subset, bool first_time)
  {
    const int row = cuv_warp_of_thread () * CUV_PLANE_ROWS;
    const int offset = offset_of (row, 0);
    unsigned alive = inside (rows, row) & subset;
    Acc sums[n_windows] = {};

    for (int k = 0, s = 0; k < n_dense; k++) {
      weak += first_time ? __popc (alive) : 0;
      alive = evaluate_all (k, offset, alive, sums);
      if (model.segments[s].end == k + 1) {
        if (first_time)
          count (model.segments[s], cuv_warp_sum (__popc (alive)));
        s++;
      }
    }
    list_all (row, alive, sums);
  }

  // ---- listed windows, by warps ----

  // Returns a weak classifier's response for a window.
  __device__ __forceinline__ Acc
  response (const Window &window, const CuvPlaneNode<Acc> &node) const
  {
    return model.leaves[planes.leaf (window.offset, node)];
  }

  // Reads a weak classifier that is the same for all threads.
  __device__ __forceinline__ CuvPlaneNode<Acc>
  shared_node (int k) const
  {
    return cuv_plane_node<CuvPlaneNode<Acc>> (
        k < CUV_PLANE_FIRST ? first_nodes.nodes[k] : __ldg (planes.nodes + k));
  }

  // Evaluates weak classifiers k to end - 1, or until at most stop_at of the
  // warp's windows are alive, with one thread per window; threads without a
  // window evaluate a dummy offset. Returns the index of the next weak
  // classifier.
  __device__ __forceinline__ int
  evaluate (int k, int end, int stop_at, Window *window)
  {
    while (k < end) {
      const int n = min (at_once, end - k);
      Acc responses[at_once], thresholds[at_once];

      window->offset = window->alive ? window->offset : 0;
#pragma unroll
      for (int i = 0; i < at_once; i++) {
        const CuvPlaneNode<Acc> node = shared_node (k + min (i, n - 1));

        responses[i] = response (*window, node);
        thresholds[i] = node.threshold;
      }
#pragma unroll
      for (int i = 0; i < at_once; i++) {
        if (i < n) {
          weak += window->alive;
          window->sum += responses[i];
          window->alive = window->alive && !(window->sum < thresholds[i]);
        }
      }
      k += n;
      if (__popc (__ballot_sync (~0u, window->alive)) <= stop_at)
        break;
    }
    return k;
  }

  // Evaluates with a group of threads per window, each of which evaluates some
  // of the weak classifiers. The group's first thread holds the window.
  __device__ __forceinline__ int
  evaluate_by_group (int group, int k, int end, int stop_at, Window *window)
  {
    const int member = lane_of_thread () & (group - 1);

    while (k < end) {
      const int n = min (at_once * group, end - k);
      Acc responses[at_once], thresholds[at_once];

#pragma unroll
      for (int i = 0; i < at_once; i++) {
        const CuvPlaneNode<Acc> node =
            planes.node (k + min (at_once * member + i, n - 1));

        responses[i] = response (*window, node);
        thresholds[i] = node.threshold;
      }
      const int below =
          first_below<at_once> (group, n, responses, thresholds, &window->sum);

      weak += window->alive && member == 0 ? min (below + 1, n) : 0;
      window->alive = window->alive && below == n;
      k += n;
      if (__popc (__ballot_sync (~0u, window->alive && member == 0)) <= stop_at)
        break;
    }
    window->alive = window->alive && member == 0;
    return k;
  }

  // Evaluates the n windows of a list from weak classifier *k to end - 1, with
  // groups of threads; if one warp holds all windows, only until a third is
  // rejected. Returns the number of survivors; *k is set to the next weak
  // classifier.
  __device__ int
  run_list (const CuvPlaneList<Acc> &list, int group, int n, int *k, int end)
  {
    const int first = *k, stop_at = n <= 32 ? n * 2 / 3 : 0;
    int left = 0;

    for (int base = 0; base < n; base += 32 / group) {
      const int i = base + lane_of_thread () / group;
      Window window = list.get (i < n, i);
      const int passed = group == 1
          ? evaluate (first, end, stop_at, &window)
          : evaluate_by_group (group, first, end, stop_at, &window);

      *k = n <= 32 ? passed : end;
      if (*k == model.n_weak)
        window.alive =
            window.alive && add_if_accepted (window.offset, window.sum);
      left = list.append (left, window);
    }
    return left;
  }

  // Evaluates the remaining weak classifiers for the warp's part of the list.
  __device__ void
  run_listed_windows ()
  {
    const int warp = cuv_warp_of_thread (), n_listed = shared.n_listed;
    const int first = n_listed * warp / CUV_PLANE_WARPS;
    const CuvPlaneList<Acc> part = { list.offsets + first, list.sums + first };
    int n = n_listed * (warp + 1) / CUV_PLANE_WARPS - first, k = n_dense, s = 0;

    while (model.segments[s].end <= k)
      s++;
    while (n > 0 && k < model.n_weak) {
      // the largest power of two with which all windows fit the warp
      const int group = 1 << max (__clz (n - 1) - 27, 0);
      const CuvWaldboostSegment segment = model.segments[s];
      const int step = n <= 32 ? model.n_weak : 1 + k / 2;

      n = run_list (part, group, n, &k, min (segment.end, k + step));
      if (k == segment.end) {
        count (segment, n);
        s++;
      }
    }
  }

  // Scans a tile whose planes are complete: in one go, or in quarters if more
  // windows survive than the list can hold.
  __device__ void
  scan (const CuvScanRows &rows)
  {
    const int n = n_windows / 4;

    for (int part = -1; part < 4; part++) {
      const unsigned subset = part < 0 ? ~0u : ((1u << n) - 1) << part * n;

      if (threadIdx.x == 0)
        shared.n_listed = 0;
      __syncthreads ();
      if (cuv_warp_of_thread () * CUV_PLANE_ROWS < shared.n_rows)
        evaluate_dense (rows, subset, part < 0);
      __syncthreads ();
      const bool listed = shared.n_listed <= max_listed;

      if (listed)
        run_listed_windows ();
      if (part < 0 && listed)
        return;
      __syncthreads (); // all threads have read the list
    }
  }
};

// Scans with planes. Blocks take tiles from a global counter. Tiles from n_high
// on have half the height, so that all blocks end at about the same time.
// Dynamic shared memory: planes, leaves of the first n_dense weak classifiers,
// sums and offsets of the list.
template <typename Planes, typename Acc>
static __global__ void
__launch_bounds__ (CUV_PLANE_THREADS, 4) plane_kernel (
    const CuvPyramidTile *tiles, int n_tiles, int n_high,
    const CuvPyramidLevel *levels, Planes planes,
    const __grid_constant__ CuvPlaneFirst first, CuvWaldboostDevice<Acc> model,
    int n_dense, CuvScanRows rows, CuvScanHits out)
{
  using Run = CuvPlaneRun<Planes, Acc>;
  __shared__ CuvPlaneShared shared;
  Acc *sums = (Acc *) (planes.memory () + planes.shared_bytes);
  uint16_t *offsets = (uint16_t *) (sums + Run::max_listed);
  Run run = { model, planes, first, n_dense, out, { offsets, sums }, shared };

  cuv_pdl_trigger ();
  shared.tally.clear ();
  planes.load_leaves ();
  CuvPyramidTile tile = tiles[blockIdx.x];
  cuv_pdl_wait ();
  out.begin ();
  __syncthreads ();
  for (int t = blockIdx.x; t < n_tiles;) {
    const CuvPyramidLevel &level = levels[tile.level];
    const int height = t < n_high ? CUV_PLANE_Y : CUV_PLANE_Y / 2;
    const int n_rows = min (height, level.plan.n_y - tile.y);

    if (threadIdx.x == 0) {
      shared.tile = tile;
      shared.n_columns = min (Planes::tile_x, level.plan.n_x - tile.x);
      shared.n_rows = n_rows;
      shared.n_done = 0;
      shared.tally.windows +=
          shared.n_columns * n_rows; // including rows that are not requested
    }
    if (rows.has_level (tile.level)) {
      planes.load (level, tile, n_rows);
      run.scan (rows);
    } else {
      __syncthreads (); // n_done is 0
    }
    // The last warp to finish takes the next tile: if a tile were taken
    // earlier, it would wait here while other blocks are idle.
    __syncwarp ();
    if (lane_of_thread () == 0
        && atomicAdd (&shared.n_done, 1) == CUV_PLANE_WARPS - 1) {
      shared.n_next = gridDim.x + atomicAdd (&out.counters->tiles, 1u);
      shared.next = tiles[min (shared.n_next, n_tiles - 1)];
    }
    __syncthreads ();
    t = shared.n_next;
    tile = shared.next;
  }
  shared.tally.flush (out.counters, run.weak, 0);
}

#endif
