// SPDX-License-Identifier: LGPL-2.1-or-later
// How the features of WaldBoost models with small blocks are read in a dense
// scan. A block of threads keeps, for its tile and each size of block, a plane
// of all the sums of blocks of that size in shared memory: a feature is nine
// reads of it.
#ifndef CUV_WALDBOOST_PLANES_CUH
#define CUV_WALDBOOST_PLANES_CUH

#include "waldboost/codes.cuh"

#define CUV_FRONT_X 64 // windows of a tile
#define CUV_FRONT_Y 32
#define CUV_FRONT_GROUP 8 // threads of a window after the front
#define CUV_N_PLANES 4    // blocks of 1x1, 2x1, 1x2, 2x2 pixels

struct alignas (16) CuvPlaneCode {
  int32_t offset;      // of the first block, from the window's place
  int32_t row, column; // from a block to the next
  int32_t first_leaf;
  int32_t a, b; // from the first block to those whose ranks count
  int32_t pad[2];
};

struct CuvPlaneShape {
  int32_t pitch, rows;         // elements, of a plane
  int32_t first[CUV_N_PLANES]; // of each plane, elements; -1 = not used
  uint32_t bias[CUV_N_PLANES]; // of means, of two values side by side
  int32_t shift[CUV_N_PLANES];
};

// A view is a window's place: an element of a plane.
template <CuvCode code> struct CuvPlaneAccess {
  using View = int;

  size_t shared_bytes;
  const uint8_t *pictures;
  const CuvPlaneCode *nodes;
  CuvPlaneShape shape;
  CuvCodeRules rules;

  // Two by two, as 16 bits.
  static __device__ __forceinline__ uint2
  widen (uint32_t four)
  {
    return make_uint2 (
        __byte_perm (four, 0, 0x4140), __byte_perm (four, 0, 0x4342));
  }

  static __device__ __forceinline__ uint2
  add (uint2 a, uint2 b)
  {
    return make_uint2 (a.x + b.x, a.y + b.y);
  }

  // The four pixels that begin one to the right; by whole warps.
  static __device__ __forceinline__ uint32_t
  next_pixels (uint32_t four)
  {
    return __funnelshift_r (four, __shfl_down_sync (~0u, four, 1), 8);
  }

  __device__ __forceinline__ void
  store (uint16_t *at, int plane, uint2 v) const
  {
    if (shape.first[plane] < 0)
      return;
    if (shape.shift[plane] > 0) {
      const uint32_t low = 0xffffu >> shape.shift[plane];
      const uint32_t mask = low << 16 | low;

      v.x = (v.x + shape.bias[plane]) >> shape.shift[plane] & mask;
      v.y = (v.y + shape.bias[plane]) >> shape.shift[plane] & mask;
    }
    *(uint2 *) (at + shape.first[plane]) = v;
  }

  // A warp makes some rows of each plane, from the pixels of one more. Those
  // outside the picture are 0.
  __device__ void
  load (const CuvPyramidLevel &level, const CuvTile &tile) const
  {
    extern __shared__ uint4 shared[];
    const int each = (shape.rows + blockDim.x / 32 - 1) / (blockDim.x / 32);
    const int first = threadIdx.x / 32 * each;
    const int end = min (first + each, shape.rows);
    const int column = 4 * (threadIdx.x & 31), x = tile.x + column;
    const int pitch = level.picture_pitch;
    const int n = x < pitch ? level.plan.height - tile.y - first : 0;
    const uint8_t *from =
        pictures + level.picture + (int64_t) (tile.y + first) * pitch + x;
    uint32_t four = n > 0 ? __ldg ((const uint32_t *) from) : 0;
    uint2 one = widen (four), wide = add (one, widen (next_pixels (four)));

#pragma unroll 4
    for (int row = first; row < end; row++) {
      from += pitch;
      four = row - first + 1 < n ? __ldg ((const uint32_t *) from) : 0;
      uint2 below = widen (four);
      uint2 wide_below = add (below, widen (next_pixels (four)));
      if (column < shape.pitch) {
        uint16_t *to = (uint16_t *) shared + row * shape.pitch + column;

        store (to, 0, one);
        store (to, 1, wide);
        store (to, 2, add (one, below));
        store (to, 3, add (wide, wide_below));
      }
      one = below;
      wide = wide_below;
    }
  }

  __device__ __forceinline__ int
  leaf (View view, int k) const
  {
    extern __shared__ uint4 shared[];
    const CuvPlaneCode node = nodes[k];
    const uint16_t *first = (const uint16_t *) shared + view + node.offset;

    return node.first_leaf + code_of (first, node);
  }

  __device__ __forceinline__ int
  code_of (const uint16_t *first, const CuvPlaneCode &node) const
  {
    int block[9];

#pragma unroll
    for (int j = 0; j < 3; j++) {
      const uint16_t *row = first + j * node.row;

      block[3 * j] = row[0];
      block[3 * j + 1] = row[node.column];
      block[3 * j + 2] = row[2 * node.column];
    }
    if (code == CUV_CODE_PATTERN)
      return rules.inclusive ? ~cuv_below (block) & 255 : cuv_above (block);
    return ranks (block, first[node.a], first[node.b]);
  }

  // Both ranks at once, in 16 bits each: 9 less the number of blocks whose
  // value is not below a's, or b's.
  __device__ __forceinline__ int
  ranks (const int block[9], unsigned a, unsigned b) const
  {
    const unsigned less = ((1 - a) & 0xffff) | (1 - b) << 16;
    unsigned count = 0;

#pragma unroll
    for (int k = 0; k < 9; k++)
      count +=
          __viaddmin_s16x2_relu ((unsigned) block[k] * 0x10001, less, 0x10001);
    int rank_a = 9 - (int) (count & 0xffff), rank_b = 9 - (int) (count >> 16);
    return rank_a + rules.factor * rank_b + rules.offset;
  }
};

// ---- a tile's windows by warps of their own ----

// A warp's windows that are left, closed up in place: their places in the
// planes and their sums.
template <typename Acc> struct WarpList {
  uint16_t *places;
  Acc *sums;

  // Keeps those for which alive holds, behind the n before; returns how many
  // there are then.
  __device__ __forceinline__ int
  keep (int n, bool alive, int place, Acc sum) const
  {
    const unsigned voters = __ballot_sync (~0u, alive);

    if (alive) {
      int at = n + __popc (voters & ((1u << lane_of_thread ()) - 1));

      places[at] = (uint16_t) place;
      sums[at] = sum;
    }
    __syncwarp ();
    return n + __popc (voters);
  }
};

// A warp's way through its rows of a tile.
template <CuvCode code, typename Acc> struct WarpRun {
  const WaldBoost<Acc> &model;
  const CuvPlaneAccess<code> &access;
  const CuvHits &out;
  const CuvTile tile;
  WarpList<Acc> list;
  Tally &tally;
  unsigned weak, windows;

  __device__ bool
  accept (int place, Acc sum) const
  {
    const int row = place / access.shape.pitch;

    if (!(sum > model.final_threshold))
      return false;
    out.add (tile.level, tile.x + place - row * access.shape.pitch,
        tile.y + row, score_of (model, sum));
    return true;
  }

  // The first weak classifier of all windows of so many rows of a tile. Returns
  // how many are left, listed.
  template <int n_rows>
  __device__ int
  begin (const CuvPyramidLevel &level, const CuvRows &rows, int row)
  {
    const int n_x = level.plan.n_x, n_y = level.plan.n_y;
    const bool last = model.n_weak == 1;
    int n = 0;

    for (int column = lane_of_thread (); column < CUV_FRONT_X; column += 32) {
      const int place = row * access.shape.pitch + column;
      Acc sums[n_rows];

      // of those outside, too: there is something
#pragma unroll
      for (int i = 0; i < n_rows; i++)
        sums[i] = (Acc) 0
            + model.leaves[access.leaf (place + i * access.shape.pitch, 0)];
#pragma unroll
      for (int i = 0; i < n_rows; i++) {
        const int at = place + i * access.shape.pitch;
        bool alive = tile.x + column < n_x && tile.y + row + i < n_y
            && rows.has (tile.level, tile.y + row + i);

        windows += alive;
        weak += alive;
        alive = alive && !(sums[i] < model.thresholds[0])
            && (!last || accept (at, sums[i]));
        n = list.keep (n, alive, at, sums[i]);
      }
    }
    return n;
  }

  // The window passes a segment; the final test, too, after the last.
  __device__ __forceinline__ bool
  run (int place, int first, Segment segment, Acc *sum)
  {
    int passed = run_segment (model, access, place, first, segment.end, sum);

    weak += min (passed + 1, segment.end) - first;
    return passed == segment.end
        && (segment.end < model.n_weak || accept (place, *sum));
  }

  __device__ int
  go_on (int n, int first, Segment segment)
  {
    int left = 0;

    for (int base = 0; base < n; base += 32) {
      const int k = base + lane_of_thread ();
      bool alive = k < n;
      int place = alive ? list.places[k] : 0;
      Acc sum = alive ? list.sums[k] : (Acc) 0;

      __syncwarp ();
      alive = alive && run (place, first, segment, &sum);
      left = list.keep (left, alive, place, sum);
    }
    return left;
  }

  __device__ void
  count (Segment segment, int n) const
  {
    if (segment.counter >= 0 && n > 0 && lane_of_thread () == 0)
      atomicAdd (&tally.survivors[segment.counter], (unsigned) n);
  }

  // A window from segment s on, by the whole warp.
  __device__ void
  finish (int place, Acc sum, int s)
  {
    int first = model.segments[s - 1].end;

    for (; s < model.n_segments; s++) {
      const Segment segment = model.segments[s];
      int passed =
          run_segment_by_warp (model, access, place, first, segment.end, &sum);
      bool alive = passed == segment.end;

      if (lane_of_thread () == 0) {
        weak += min (passed + 1, segment.end) - first;
        if (alive && s == model.n_segments - 1)
          alive = accept (place, sum);
      }
      if (passed < segment.end)
        return;
      count (segment, alive);
      first = segment.end;
    }
  }

  // A window a group of threads, if any, from segment s to before end; and from
  // there on the whole warp for those that are left.
  __device__ void
  finish_groups (bool alive, int place, Acc sum, int s, int end)
  {
    const int group = CUV_FRONT_GROUP, mate = lane_of_thread () % group;
    int first = model.segments[s - 1].end;

    for (; s < end; s++) {
      const Segment segment = model.segments[s];

      for (int base = first; base < segment.end; base += group) {
        const int k = base + mate;
        const bool in = alive && k < segment.end;
        // adding -0 changes no float
        Acc response = in ? model.leaves[access.leaf (place, k)] : (Acc) -0.f;
        int below = first_below<group> (
            response, in ? model.thresholds[k] : least ((Acc) 0), &sum);

        if (alive && mate == 0)
          weak += min (below + 1, min (group, segment.end - base));
        alive = alive && below == group;
        if (!__any_sync (~0u, alive))
          return;
      }
      if (s == model.n_segments - 1 && mate == 0)
        alive = alive && accept (place, sum);
      if (segment.counter >= 0)
        tally.count (&tally.survivors[segment.counter], alive && mate == 0);
      first = segment.end;
    }
    if (end < model.n_segments) {
      unsigned left = __ballot_sync (~0u, alive && mate == 0);

      for (; left != 0; left &= left - 1) {
        const int leader = __ffs (left) - 1;

        finish (__shfl_sync (~0u, place, leader),
            __shfl_sync (~0u, sum, leader), end);
      }
    }
  }
};

// Where the block's k-th window that is left is: the lists of its warps, one
// after another.
template <int warps>
static __device__ __forceinline__ int
find_listed (const int *n_left, int each, int k)
{
#pragma unroll
  for (int w = 0; w < warps; w++) {
    if (k < n_left[w])
      return w * each + k;
    k -= n_left[w];
  }
  return -1;
}

// Block: tiles, each after the grid's number of tiles. A warp has some rows of
// them: for the first n_front segments a thread a window. Then the block's
// windows that are left have a group of threads each, and after n_middle
// segments a warp.
template <CuvCode code, typename Acc, int threads>
static __global__ void
__launch_bounds__ (threads) plane_kernel (const CuvTile *tiles, int n_tiles,
    const CuvPyramidLevel *levels, CuvPlaneAccess<code> access,
    WaldBoost<Acc> model, int n_front, int n_middle, CuvRows rows, CuvHits out)
{
  extern __shared__ uint4 shared[];
  const int warps = threads / 32, n_rows = CUV_FRONT_Y / warps;
  const int each = n_rows * CUV_FRONT_X, groups = threads / CUV_FRONT_GROUP;
  __shared__ Tally tally;
  __shared__ int n_left[warps];
  Acc *sums = (Acc *) ((uint8_t *) shared + access.shared_bytes);
  uint16_t *places = (uint16_t *) (sums + CUV_FRONT_X * CUV_FRONT_Y);
  const int warp = threadIdx.x / 32;
  const WarpList<Acc> list = { places + warp * each, sums + warp * each };
  unsigned weak = 0, windows = 0;

  tally.clear ();
  for (int t = blockIdx.x; t < n_tiles; t += gridDim.x) {
    const CuvTile tile = tiles[t];
    const CuvPyramidLevel &level = levels[tile.level];

    if (rows.level >= 0 && rows.level != tile.level)
      continue;
    __syncthreads (); // the tile before is done with
    access.load (level, tile);
    __syncthreads ();
    WarpRun<code, Acc> run = { model, access, out, tile, list, tally, weak,
      windows };
    int n = run.template begin<n_rows> (level, rows, warp * n_rows);
    run.count (model.segments[0], n);
    for (int s = 1; s < n_front && n > 0; s++) {
      n = run.go_on (n, model.segments[s - 1].end, model.segments[s]);
      run.count (model.segments[s], n);
    }
    if (n_front < model.n_segments) {
      if (lane_of_thread () == 0)
        n_left[warp] = n;
      __syncthreads ();
      for (int base = warp * (32 / CUV_FRONT_GROUP);; base += groups) {
        int at = find_listed<warps> (
            n_left, each, base + lane_of_thread () / CUV_FRONT_GROUP);

        if (!__any_sync (~0u, at >= 0))
          break;
        run.finish_groups (at >= 0, at >= 0 ? places[at] : 0,
            at >= 0 ? sums[at] : (Acc) 0, n_front, n_middle);
      }
    }
    weak = run.weak;
    windows = run.windows;
  }
  __syncthreads ();
  tally.flush (out.counters, weak, windows);
}

// The host's side.
class CuvPlanes
{
public:
  BlockShape shape = { CUV_FRONT_X, CUV_FRONT_Y };

  // Whether model and plan are for it.
  bool fit (const CuvWaldboostModel &model,
      const std::vector<CuvGridNode> &grid, const CuvWaldboostPlan &plan);
  void add_tables (CuvTables *tables, const std::vector<CuvGridNode> &grid,
      const std::vector<CuvWeak> &weak);
  template <CuvCode code>
  CuvPlaneAccess<code>
  access (const CuvPyramid &pyramid, const CuvCodeRules &rules) const
  {
    return CuvPlaneAccess<code>{ shared_bytes,
      (const uint8_t *) pyramid.pictures.data,
      pyramid.table<CuvPlaneCode> (nodes_at), planes, rules };
  }

private:
  CuvPlaneShape planes;
  size_t shared_bytes, nodes_at;
};

#endif
