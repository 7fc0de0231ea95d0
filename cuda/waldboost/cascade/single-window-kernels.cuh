// SPDX-License-Identifier: LGPL-2.1-or-later
// Scans an OpenCV cascade with two kernels over tiles of window positions.
// dense_kernel() evaluates stage 0 at every position and stores the results as
// bit masks. OpenCV does not visit the position after a window that stage 0
// rejects. Therefore survivor_kernel() finds the visited positions in the
// masks, lists those of its tile that passed stage 0, the survivors, and
// evaluates the other stages, compacting the list after each. Most LBP cascades
// use window-pair-kernels.cuh instead.
//
// Nodes: CuvCascadeWideNodes or CuvCascadePackedNodes; Sum: element of the
// integral images; stumps: all trees have one node; tiled: tiles are in shared
// memory.
#ifndef CUV_WALDBOOST_CASCADE_SINGLE_WINDOW_KERNELS_CUH
#define CUV_WALDBOOST_CASCADE_SINGLE_WINDOW_KERNELS_CUH

#include "waldboost/cascade/tile.cuh"

// ---- stage 0 ----

// The result of stage 0 for a window.
struct CuvCascadeOutcome {
  bool ok;   // passes stage 0
  bool flat; // Haar: has too little contrast, see CuvHaarNode
};

// Evaluates stage 0 for n windows that are `apart` elements apart; the stumps
// are kernel arguments.
template <int n, int apart, typename Nodes, typename Sum>
static __device__ __forceinline__ void
first_stage (const CuvCascade<Nodes> &cascade,
    const CuvCascadeFirstStage<typename Nodes::Node> &first, bool split,
    const CuvCascadeView<Sum> views[n], CuvCascadeOutcome outcomes[n])
{
  unsigned decisions[n] = {};
  double sums[n] = {};
  const CuvCascadeStage &stage = first.stage;
  const bool tabled = Nodes::Node::tabled && stage.passes >= 0;

  for (int k = 0; k < first.n; k++) {
    const typename Nodes::Node &node = first.nodes[split][k];
    const float left = node.left.leaf, right = node.right.leaf;

#pragma unroll
    for (int i = 0; i < n; i++) {
      CuvCascadeView<Sum> view = views[0];

      view.sums += i * apart;
      view.tilted += i * apart;
      view.factor = views[i].factor;
      unsigned bit = decide (cascade, view, node);
      if (tabled)
        decisions[i] = __funnelshift_l (bit, decisions[i], 1);
      else
        sums[i] += (int) bit < 0 ? left : right;
    }
  }
#pragma unroll
  for (int i = 0; i < n; i++)
    outcomes[i].ok = tabled ? look_up (cascade, stage, decisions[i])
                            : !(sums[i] < (double) stage.threshold);
}

// Evaluates stage 0 for a tile. A warp evaluates 32 positions at a time or, if
// step is not 0 (step 1 or 2, tiles of cuv_cascade_fixed_pitch()), 32 in each
// of two rows CUV_CASCADE_WARPS apart. Writes bit masks, one word per 32
// positions of a row: passed, positions that pass stage 0; no_skip, positions
// after which the scan does not skip one, because they pass or are flat.
template <typename Nodes, typename Sum, bool stumps, bool tiled, int step>
static __device__ __forceinline__ void
decide_tile (const CuvCascadeTile<Sum, tiled> &tile,
    const CuvCascadeImages &images, const CuvCascadeTileShape &shape,
    const CuvCascade<Nodes> &cascade,
    const CuvCascadeFirstStage<typename Nodes::Node> &first, uint32_t *passed,
    uint32_t *no_skip)
{
  const bool haar = Nodes::Node::haar;
  const int n = step != 0 ? 2 : 1, lane = threadIdx.x % 32;
  const int apart =
      CUV_CASCADE_WARPS * step * cuv_cascade_fixed_pitch (step == 2);
  const Nodes nodes = cascade.nodes_of (tile.split);

  for (int i = 0;
       i < shape.rows / CUV_CASCADE_WARPS / n * (CUV_CASCADE_TILE_X / 32);
       i++) {
    int row = cuv_warp_of_thread () + i / 2 * CUV_CASCADE_WARPS * n;
    int column = i % 2 * 32 + lane;
    CuvCascadeView<Sum> views[n];
    CuvCascadeOutcome outcomes[n] = {};

#pragma unroll
    for (int j = 0; j < n; j++) {
      views[j] = tile.view (column, row + j * CUV_CASCADE_WARPS);
      if (haar && tile.inside (column, row + j * CUV_CASCADE_WARPS))
        outcomes[j].flat = !find_factor (tile.level, images,
            cascade.window_width, cascade.window_height, tile.tile.x + column,
            tile.tile.y + row + j * CUV_CASCADE_WARPS, &views[j].factor);
    }
    if (stumps && first.n > 0) {
      first_stage<n, apart> (cascade, first, tile.split, views, outcomes);
    } else {
#pragma unroll
      for (int j = 0; j < n; j++)
        outcomes[j].ok = tile.inside (column, row + j * CUV_CASCADE_WARPS)
            && stage_passes<stumps> (
                cascade, nodes, cascade.stages[0], views[j]);
    }
#pragma unroll
    for (int j = 0; j < n; j++) {
      bool ok = outcomes[j].ok && !outcomes[j].flat
          && tile.inside (column, row + j * CUV_CASCADE_WARPS);
      unsigned bits = __ballot_sync (~0u, ok);
      unsigned flat = haar ? __ballot_sync (~0u, outcomes[j].flat) : 0;
      int y = tile.tile.y + row + j * CUV_CASCADE_WARPS;
      int word = (tile.tile.x + column - lane) / 32;

      if (lane == 0 && y < tile.level.plan.n_y && word < tile.level.words) {
        int at = tile.level.first_word + y * tile.level.words + word;

        passed[at] = bits;
        if (haar)
          no_skip[at] = bits | flat;
      }
    }
  }
}

// Evaluates stage 0. Grid: tiles. Dynamic shared memory: the tile. fixed: the
// tile has cuv_cascade_fixed_pitch().
template <typename Nodes, typename Sum, bool stumps, bool tiled, bool fixed>
static __global__ void
__launch_bounds__ (CUV_CASCADE_THREADS) dense_kernel (
    const CuvPyramidTile *tiles, const CuvPyramidLevel *levels,
    CuvCascadeImages images, CuvCascadeTileShape shape,
    CuvCascade<Nodes> cascade,
    const __grid_constant__ CuvCascadeFirstStage<typename Nodes::Node> first,
    uint32_t *passed, uint32_t *no_skip, CuvScanHits out)
{
  out.begin ();
  const CuvCascadeTile<Sum, tiled> tile (
      tiles[blockIdx.x], levels, images, shape);

  tile.wait ();
  __syncthreads ();
  if (!fixed || (!tile.split && tile.level.plan.step != 1))
    decide_tile<Nodes, Sum, stumps, tiled, 0> (
        tile, images, shape, cascade, first, passed, no_skip);
  else if (tile.split)
    decide_tile<Nodes, Sum, stumps, tiled, fixed ? 2 : 0> (
        tile, images, shape, cascade, first, passed, no_skip);
  else
    decide_tile<Nodes, Sum, stumps, tiled, fixed ? 1 : 0> (
        tile, images, shape, cascade, first, passed, no_skip);
}

// ---- survivors ----

// Returns whether the scan visits the first position of a word of no_skip.
// After the last no_skip position before it, the scan visits every other
// position, so it visits this one if the distance is odd. Words without a
// no_skip position do not change that, as 32 is even.
static __device__ bool
visits_first (const uint32_t *row_start, const uint32_t *word)
{
  while (word > row_start) {
    uint32_t before = *--word;

    if (before != 0)
      return __clz (before) % 2 == 0;
  }
  return true;
}

// Returns the positions of a word that the scan visits: every other one of each
// run, from its first; a run ends with a no_skip position. In runs that start
// at an odd position, the carry of an addition flips the bits up to the run's
// end.
static __device__ uint32_t
visited_bits (uint32_t no_skip, bool visits_first)
{
  const uint32_t odd = 0xaaaaaaaau;
  const uint32_t from_odd = (no_skip << 1 & odd) | !visits_first;

  return (from_odd + ~no_skip) ^ no_skip ^ odd;
}

// Returns the bits of a word that are positions of the level.
static __device__ uint32_t
valid_bits (const CuvPyramidLevel &level, int word)
{
  return ~0u >> (32 - min (32, level.plan.n_x - word * 32));
}

// Lists the visited positions of a tile that passed stage 0, in any order, and
// updates the counters. rows: number of rows of the tile; requested: rows to
// scan.
static __device__ void
list_survivors (const CuvPyramidTile &tile, const CuvPyramidLevel &level,
    int rows, const CuvScanRows &requested, bool skip, const uint32_t *passed,
    const uint32_t *no_skip, uint16_t *list, int *n_list,
    CuvScanCounters *counters)
{
  const int words = CUV_CASCADE_TILE_X / 32;
  int row = threadIdx.x / words, y = tile.y + row;
  int column = tile.x / 32 + threadIdx.x % words;
  uint32_t visited = 0, alive = 0, alive_or_flat = 0;

  if (threadIdx.x >= CUV_CASCADE_MAX_TILE_Y * words) // only whole warps return
    return;
  if (row < rows && y < level.plan.n_y && column < level.words
      && requested.has (tile.level, y)) {
    int start = level.first_word + y * level.words;
    uint32_t bits = no_skip[start + column];

    visited = valid_bits (level, column);
    if (skip)
      visited &= visited_bits (
          bits, visits_first (no_skip + start, no_skip + start + column));
    alive = visited & passed[start + column];
    alive_or_flat = visited & bits;
  }
  int at = atomicAdd (n_list, __popc (alive));
  for (uint32_t bits = alive; bits != 0; bits &= bits - 1)
    list[at++] = (uint16_t) (threadIdx.x * 32 + __ffs (bits) - 1);
  unsigned n_visited = cuv_warp_sum (__popc (visited));
  unsigned n_alive = cuv_warp_sum (__popc (alive));
  unsigned n_flat = cuv_warp_sum (__popc (alive_or_flat & ~alive));
  if (threadIdx.x % 32 == 0 && n_visited > 0) {
    atomicAdd (&counters->windows, n_visited);
    atomicAdd (&counters->survivors[0], n_alive);
    if (n_flat > 0)
      atomicAdd (&counters->flat, n_flat);
  }
}

// A list of windows of a tile in shared memory.
struct CuvCascadeWindowList {
  uint16_t *index; // row * CUV_CASCADE_TILE_X + column
  float *factor;   // Haar: CuvCascadeView.factor; unset in a block's first list
};

// Evaluates stages for a block's survivors. has_factors: the list contains
// factors.
template <typename Nodes, typename Sum, bool stumps, bool tiled>
struct CuvCascadeSurvivors {
  static const bool haar = Nodes::Node::haar;
  const CuvCascade<Nodes> &cascade;
  const CuvCascadeTile<Sum, tiled> &tile;
  const CuvCascadeImages &images;
  const CuvScanHits &out;
  const Nodes nodes;

  // Returns the k-th window of a list.
  __device__ CuvCascadeView<Sum>
  view_of (CuvCascadeWindowList list, int k, bool has_factors) const
  {
    int row = list.index[k] / CUV_CASCADE_TILE_X,
        column = list.index[k] % CUV_CASCADE_TILE_X;
    CuvCascadeView<Sum> view = tile.view (column, row);

    if (haar && has_factors)
      view.factor = list.factor[k];
    else if (haar)
      find_factor (tile.level, images, cascade.window_width,
          cascade.window_height, tile.tile.x + column, tile.tile.y + row,
          &view.factor);
    return view;
  }

  // Adds a hit. margin: the last stage's sum minus its threshold.
  __device__ void
  add_hit (int index, double margin) const
  {
    int step = tile.level.plan.step;

    out.add (tile.tile.level, (tile.tile.x + index % CUV_CASCADE_TILE_X) * step,
        (tile.tile.y + index / CUV_CASCADE_TILE_X) * step, (float) margin);
  }

  // Adds n to the number of windows that passed a stage.
  __device__ void
  count (int stage, int n) const
  {
    if (stage > 0) // list_survivors() counts stage 0
      atomicAdd (&out.counters->survivors[stage], n);
  }

  // Evaluates one stage for the n windows of a list, with a group of threads
  // per window, and appends those that pass to list `to`.
  template <int group>
  __device__ void
  compact (int stage, CuvCascadeWindowList list, int n, bool has_factors,
      CuvCascadeWindowList to, int *n_to) const
  {
    const CuvCascadeStage s = cascade.stages[stage];

    for (int k = threadIdx.x / group; k < n; k += CUV_CASCADE_THREADS / group) {
      const CuvCascadeView<Sum> view = view_of (list, k, has_factors);
      const bool ok = group == 1
          ? stage_passes<stumps> (cascade, nodes, s, view)
          : !(stage_sum<stumps, group> (cascade, nodes, s, view)
              < (double) s.threshold);

      if (ok && threadIdx.x % group == 0) {
        int at = atomicAdd (n_to, 1);

        to.index[at] = list.index[k];
        if (haar)
          to.factor[at] = view.factor;
      }
    }
  }

  // Evaluates all stages from `stage` on for each window of a list, with a
  // group of threads per window, and records the hits.
  template <int group>
  __device__ void
  finish (int stage, CuvCascadeWindowList list, int n, bool has_factors) const
  {
    for (int k = threadIdx.x / group; k < n; k += CUV_CASCADE_THREADS / group) {
      CuvCascadeView<Sum> view = view_of (list, k, has_factors);
      double sum = 0, threshold = 0;
      bool ok = true;

      for (int s = stage; ok && s < cascade.n_stages; s++) {
        const CuvCascadeStage at = cascade.stages[s];

        threshold = at.threshold;
        sum = stage_sum<stumps, group> (cascade, nodes, at, view);
        ok = !(sum < threshold);
        if (ok && threadIdx.x % group == 0)
          count (s, 1);
      }
      if (ok && threadIdx.x % group == 0)
        add_hit (list.index[k], sum - threshold);
    }
  }

  // Evaluates one stage and returns false or, if that is faster, evaluates all
  // remaining stages and returns true.
  __device__ bool
  run_stage (int stage, CuvCascadeWindowList list, int n, bool has_factors,
      CuvCascadeWindowList to, int *n_to) const
  {
    const CuvCascadeStage s = cascade.stages[stage];
    const bool is_long = s.end - s.first >= CUV_CASCADE_LONG_STAGE;
    const bool last = stage == cascade.n_stages - 1;

    if (n == 0)
      return true;
    if (cascade.exact && is_long && (last || n <= CUV_CASCADE_WARPS))
      finish<32> (stage, list, n, has_factors);
    else if (cascade.exact && !is_long && (last || n <= CUV_CASCADE_FEW_SHORT))
      finish<CUV_CASCADE_GROUP> (stage, list, n, has_factors);
    else if (last || (!cascade.exact && n <= CUV_CASCADE_FEW))
      finish<1> (stage, list, n, has_factors);
    else {
      if (cascade.exact && is_long && n <= CUV_CASCADE_FEW_LONG)
        compact<CUV_CASCADE_GROUP> (stage, list, n, has_factors, to, n_to);
      else
        compact<1> (stage, list, n, has_factors, to, n_to);
      return false;
    }
    return true;
  }
};

// Evaluates the stages from `stage` on for a block's windows; the two lists
// alternate. counts, in shared memory: lengths of the current list, the next
// one and the one after that. On entry counts[0] is the length of `list`, the
// others are 0.
template <typename CuvCascadeSurvivors>
static __device__ void
run_remaining_stages (const CuvCascadeSurvivors &survivors, int stage,
    CuvCascadeWindowList list, CuvCascadeWindowList next, int counts[3])
{
  for (int round = 0;; round++, stage++) {
    const int n = counts[round % 3];
    const CuvCascadeWindowList after = list;

    if (round > 0 && threadIdx.x == 0 && n > 0)
      survivors.count (stage - 1, n);
    if (survivors.run_stage (
            stage, list, n, round > 0, next, &counts[(round + 1) % 3]))
      return;
    list = next;
    next = after;
    // reset the count after the next, which this iteration does not use
    if (threadIdx.x == 0)
      counts[(round + 2) % 3] = 0;
    __syncthreads ();
  }
}

// Evaluates the stages after stage 0. Grid: tiles. Dynamic shared memory: the
// tile.
template <typename Nodes, typename Sum, bool stumps, bool tiled>
static __global__ void
__launch_bounds__ (CUV_CASCADE_THREADS, 4)
    survivor_kernel (const CuvPyramidTile *tiles, const CuvPyramidLevel *levels,
        CuvCascadeImages images, CuvCascadeTileShape shape,
        CuvCascade<Nodes> cascade, CuvScanRows rows, const uint32_t *passed,
        const uint32_t *no_skip, CuvScanHits out)
{
  const bool haar = Nodes::Node::haar;
  __shared__ uint16_t indices[2][CUV_CASCADE_TILE_X
      * (haar ? CUV_CASCADE_MAX_HAAR_Y : CUV_CASCADE_MAX_TILE_Y)];
  __shared__ float
      factors[2][haar ? CUV_CASCADE_TILE_X * CUV_CASCADE_MAX_HAAR_Y : 1];
  __shared__ int counts[3];
  const CuvPyramidTile at = tiles[blockIdx.x];

  if (!rows.has_level (at.level))
    return;
  const CuvCascadeTile<Sum, tiled> tile (at, levels, images, shape);
  const CuvCascadeSurvivors<Nodes, Sum, stumps, tiled> survivors = { cascade,
    tile, images, out, cascade.nodes_of (tile.split) };
  if (threadIdx.x < 3)
    counts[threadIdx.x] = 0;
  tile.wait ();
  __syncthreads ();
  list_survivors (at, tile.level, shape.rows, rows, cascade.skip, passed,
      no_skip, indices[0], &counts[0], out.counters);
  __syncthreads ();
  // if the model has only one stage, evaluate it again to get the score
  run_remaining_stages (survivors, min (1, cascade.n_stages - 1),
      CuvCascadeWindowList{ indices[0], factors[0] },
      CuvCascadeWindowList{ indices[1], factors[1] }, counts);
}

#endif
