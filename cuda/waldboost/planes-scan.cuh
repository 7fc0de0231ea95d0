// SPDX-License-Identifier: LGPL-2.1-or-later
// The dense scan by planes. A block of threads takes a tile of windows through
// all weak classifiers, in three steps. All its windows are asked the first
// few, a thread having some of them. Each warp lists those of its windows that
// are left and goes on, a thread a window, closing up the list. When hardly any
// are left, the block's come together in one list; the last have a warp each.
#ifndef CUV_WALDBOOST_PLANES_SCAN_CUH
#define CUV_WALDBOOST_PLANES_SCAN_CUH

#include "waldboost/planes.cuh"

#define CUV_PLANE_WARPS (CUV_PLANE_THREADS / 32)
#define CUV_PLANE_ROWS (CUV_PLANE_Y / CUV_PLANE_WARPS) // of a tile, for a warp
#define CUV_PLANE_FEW 12 // windows of a tile that have a warp each

// How far each step goes: segments of the model.
struct CuvPlaneSteps {
  int32_t dense, by_warps;
};

// What a block's threads share beside the planes.
template <typename Acc> struct PlaneShared {
  Tally tally;
  int n_left[CUV_PLANE_WARPS];
  int n_late[2];
  Acc late_sums[CUV_PLANE_THREADS];
  uint16_t late_places[CUV_PLANE_THREADS];
};

// A window: its place in the planes and its sum so far.
template <typename Acc> struct PlaneWindow {
  bool alive;
  int place;
  Acc sum;
};

// A warp's windows that are left.
template <typename Acc> struct WarpList {
  uint16_t *places;
  Acc *sums;

  __device__ __forceinline__ PlaneWindow<Acc>
  get (bool there, int k) const
  {
    return { there, there ? places[k] : 0, there ? sums[k] : (Acc) 0 };
  }

  // Adds those that are alive to the n before; returns how many there are then.
  __device__ __forceinline__ int
  keep (int n, const PlaneWindow<Acc> &window) const
  {
    const unsigned voters = __ballot_sync (~0u, window.alive);

    __syncwarp (); // all have read what is written over now
    if (window.alive) {
      int at = n + __popc (voters & ((1u << lane_of_thread ()) - 1));

      places[at] = (uint16_t) window.place;
      sums[at] = window.sum;
    }
    __syncwarp ();
    return n + __popc (voters);
  }
};

// A thread's part in its block's way through a tile.
template <CuvCode code, typename Acc> struct PlaneRun {
  using Window = PlaneWindow<Acc>;

  const WaldBoost<Acc> &model;
  const CuvPlaneAccess<code, Acc> &planes;
  const CuvPlaneSteps &steps;
  const CuvHits &out;
  const WarpList<Acc> list;
  PlaneShared<Acc> &shared;
  CuvTile tile = {};
  int turn = 0; // which of the two counts of late windows is used next
  unsigned weak = 0, windows = 0;

  __device__ bool
  accept (int place, Acc sum) const
  {
    const int row = place / planes.shape.pitch;

    if (!(sum > model.final_threshold))
      return false;
    out.add (tile.level, tile.x + (place - row * planes.shape.pitch) / 2,
        tile.y + row, score_of (model, sum));
    return true;
  }

  // A warp's n windows are left after a segment.
  __device__ void
  count (Segment segment, int n) const
  {
    if (segment.counter >= 0 && n > 0 && lane_of_thread () == 0)
      atomicAdd (&shared.tally.survivors[segment.counter], (unsigned) n);
  }

  // ---- all windows: a thread has two side by side in each row ----

  // Which are to be looked at: a bit each, row by row.
  __device__ unsigned
  inside (const CuvPyramidLevel &level, const CuvRows &rows, int row,
      int column) const
  {
    const int n_x = min (max (level.plan.n_x - tile.x - column, 0), 2);
    unsigned bits = 0;

#pragma unroll
    for (int i = 0; i < CUV_PLANE_ROWS; i++) {
      const int y = tile.y + row + i;

      if (y < level.plan.n_y && rows.has (tile.level, y))
        bits |= ((1u << n_x) - 1) << 2 * i;
    }
    return bits;
  }

  // Weak classifier k. Returns which windows are left.
  __device__ __forceinline__ unsigned
  ask_all (int k, int place, unsigned alive, Acc sums[2 * CUV_PLANE_ROWS]) const
  {
    const CuvPlaneNode<Acc> node = planes.nodes[k];
    uint32_t codes[CUV_PLANE_ROWS];

    planes.template codes<CUV_PLANE_ROWS> (place, node, codes);
#pragma unroll
    for (int i = 0; i < 2 * CUV_PLANE_ROWS; i++) {
      const int leaf = i % 2 ? codes[i / 2] >> 16 : codes[i / 2] & 0xffff;

      sums[i] += model.leaves[node.first_leaf + leaf];
      if (sums[i] < node.threshold)
        alive &= ~(1u << i);
    }
    return alive;
  }

  // Lists a thread's windows behind those of the threads before.
  __device__ __forceinline__ int
  list_all (int place, unsigned alive, const Acc sums[2 * CUV_PLANE_ROWS]) const
  {
    const int mine = __popc (alive);
    int end = mine;

#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      int before = __shfl_up_sync (~0u, end, d);

      end += lane_of_thread () >= d ? before : 0;
    }
    int at = end - mine;
#pragma unroll
    for (int i = 0; i < 2 * CUV_PLANE_ROWS; i++) {
      if (alive >> i & 1) {
        list.places[at] =
            (uint16_t) (place + i / 2 * planes.shape.pitch + i % 2 * 2);
        list.sums[at++] = sums[i];
      }
    }
    __syncwarp ();
    return __shfl_sync (~0u, end, 31);
  }

  // Returns how many of the warp's windows are left, listed.
  __device__ int
  ask_dense (const CuvPyramidLevel &level, const CuvRows &rows)
  {
    const int row = threadIdx.x / 32 * CUV_PLANE_ROWS;
    const int column = 2 * lane_of_thread ();
    const int place = row * planes.shape.pitch + 2 * column;
    unsigned alive = inside (level, rows, row, column);
    Acc sums[2 * CUV_PLANE_ROWS] = {};

    windows += __popc (alive);
    for (int s = 0; s < steps.dense; s++) { // segment s is weak classifier s
      weak += __popc (alive);
      alive = ask_all (s, place, alive, sums);
      if (model.segments[s].counter >= 0)
        count (model.segments[s], cuv_warp_sum (__popc (alive)));
    }
    return list_all (place, alive, sums);
  }

  // ---- a window a thread ----

  // Segment s, and after the last one the final test. All threads of a warp
  // look at the same weak classifier, those without a window at one place.
  __device__ __forceinline__ void
  ask (int s, Window *window)
  {
    const int first = s > 0 ? model.segments[s - 1].end : 0;
    const int end = model.segments[s].end;
    CuvPlaneNode<Acc> next = planes.nodes[first];
    bool alive = window->alive;

    for (int k = first; k < end && __any_sync (~0u, alive); k++) {
      const CuvPlaneNode<Acc> node = next;

      next = planes.nodes[k + 1];
      weak += alive;
      window->place = alive ? window->place : 0;
      window->sum += model.leaves[planes.leaf (window->place, node)];
      alive = alive && !(window->sum < node.threshold);
    }
    if (end == model.n_weak)
      alive = alive && accept (window->place, window->sum);
    window->alive = alive;
  }

  // Segment s of the n windows of the warp's list.
  __device__ int
  go_on (int n, int s)
  {
    int left = 0;

    for (int base = 0; base < n; base += 32) {
      const int k = base + lane_of_thread ();
      Window window = list.get (k < n, k);

      ask (s, &window);
      left = list.keep (left, window);
    }
    count (model.segments[s], left);
    return left;
  }

  // ---- the block's windows ----

  // Where the k-th of the block's windows is: the lists of its warps, one after
  // another.
  __device__ Window
  find_listed (int k) const
  {
    const int each = CUV_PLANE_ROWS * CUV_PLANE_X;
    const WarpList<Acc> all = { list.places - threadIdx.x / 32 * each,
      list.sums - threadIdx.x / 32 * each };
    int at = -1;

#pragma unroll
    for (int w = 0; w < CUV_PLANE_WARPS; w++) {
      if (k >= 0 && k < shared.n_left[w])
        at = w * each + k;
      k -= shared.n_left[w];
    }
    return all.get (at >= 0, at);
  }

  // Lists the windows of all threads that are alive and gives them out anew,
  // to the first threads. Returns how many there are.
  __device__ int
  close_up (Window *window)
  {
    const WarpList<Acc> late = { shared.late_places, shared.late_sums };
    int base = 0;

    __syncthreads (); // the list before has been read
    const unsigned voters = __ballot_sync (~0u, window->alive);
    if (voters != 0) {
      if (lane_of_thread () == 0)
        base = atomicAdd (&shared.n_late[turn], __popc (voters));
      late.keep (__shfl_sync (~0u, base, 0), *window);
    }
    if (threadIdx.x == 0)
      shared.n_late[!turn] = 0;
    __syncthreads ();
    const int n = shared.n_late[turn];
    turn = !turn;
    *window = late.get ((int) threadIdx.x < n, threadIdx.x);
    return n;
  }

  // The k-th of the list from segment s on, by the whole warp.
  __device__ void
  finish (int k, int s)
  {
    const int place = shared.late_places[k];

    weak += finish_by_warp (model, planes, place, s, shared.late_sums[k],
        shared.tally, [&] (Acc sum) { return accept (place, sum); });
  }

  // All that are left, from segment s on; as many at a time as there are
  // threads.
  __device__ void
  finish_tile (int first)
  {
    int n_left = 0;

    for (int w = 0; w < CUV_PLANE_WARPS; w++)
      n_left += shared.n_left[w];
    for (int base = 0; base < n_left; base += CUV_PLANE_THREADS) {
      Window window = find_listed (base + threadIdx.x);
      int s = first, n = close_up (&window);

      for (; s < model.n_segments && n > CUV_PLANE_FEW; s++) {
        ask (s, &window);
        if (model.segments[s].counter >= 0)
          shared.tally.count (
              &shared.tally.survivors[model.segments[s].counter], window.alive);
        n = close_up (&window);
      }
      if (s < model.n_segments) {
        for (int k = threadIdx.x / 32; k < n; k += CUV_PLANE_WARPS)
          finish (k, s);
      }
    }
  }
};

// Block: tiles, each after the grid's number of tiles.
template <CuvCode code, typename Acc>
static __global__ void
__launch_bounds__ (CUV_PLANE_THREADS, 4)
    plane_kernel (const CuvTile *tiles, int n_tiles,
        const CuvPyramidLevel *levels, CuvPlaneAccess<code, Acc> planes,
        WaldBoost<Acc> model, CuvPlaneSteps steps, CuvRows rows, CuvHits out)
{
  __shared__ PlaneShared<Acc> shared;
  const int warp = threadIdx.x / 32, each = CUV_PLANE_ROWS * CUV_PLANE_X;
  Acc *sums = (Acc *) (planes.memory () + planes.shared_bytes);
  uint16_t *places = (uint16_t *) (sums + CUV_PLANE_X * CUV_PLANE_Y);
  const WarpList<Acc> list = { places + warp * each, sums + warp * each };
  PlaneRun<code, Acc> run = { model, planes, steps, out, list, shared };

  shared.tally.clear ();
  if (threadIdx.x == 0)
    shared.n_late[0] = 0;
  for (int t = blockIdx.x; t < n_tiles; t += gridDim.x) {
    const CuvTile tile = tiles[t];
    const CuvPyramidLevel &level = levels[tile.level];

    if (!rows.has_level (tile.level))
      continue;
    __syncthreads (); // the tile before is done with
    planes.load (level, tile);
    __syncthreads ();
    run.tile = tile;
    int n = run.ask_dense (level, rows);
    for (int s = steps.dense; s < steps.by_warps && n > 0; s++)
      n = run.go_on (n, s);
    if (steps.by_warps < model.n_segments) {
      if (lane_of_thread () == 0)
        shared.n_left[warp] = n;
      __syncthreads ();
      run.finish_tile (steps.by_warps);
    }
  }
  __syncthreads ();
  shared.tally.flush (out.counters, run.weak, run.windows);
}

#endif
