// SPDX-License-Identifier: LGPL-2.1-or-later
// Scans an OpenCV cascade of LBP features with one kernel over tiles of window
// positions. The first stages are evaluated for pairs of windows
// CUV_CASCADE_PAIR_X positions apart in a row: each thread has a pair, with the
// block sums of both windows in the halves of one word (CuvPairSum).
#ifndef CUV_WALDBOOST_CASCADE_WINDOW_PAIR_KERNELS_CUH
#define CUV_WALDBOOST_CASCADE_WINDOW_PAIR_KERNELS_CUH

#include "waldboost/cascade/pair-tile.cuh"
#include "waldboost/cascade/pair-visits.cuh"

// maximum numbers of stages evaluated in pairs and of weak classifiers in them
#define CUV_CASCADE_PAIR_STAGES 6
#define CUV_CASCADE_PAIR_WEAK 48
#define CUV_CASCADE_PATTERN_WORDS 8 // a bit per pattern, for one node
// a tile with at most this many alive windows no longer pairs them
#define CUV_CASCADE_PAIR_FEW 32
// rows of a list of pairs; a column has at most one pair per row of the tile
#define CUV_CASCADE_PAIR_ROWS 32
#define CUV_CASCADE_MAX_PAIRS (CUV_CASCADE_PAIR_ROWS * CUV_CASCADE_PAIR_X)
// number of single windows listed at a time
#define CUV_CASCADE_PAIR_WINDOWS 512

// Blocks per multiprocessor; with compute capability 7.5, a multiprocessor
// holds only 1024 threads.
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define CUV_CASCADE_PAIR_BLOCKS 4
#else
#define CUV_CASCADE_PAIR_BLOCKS 5
#endif

struct CuvCascadePairNode {
  // as in CuvGridCorners, without the first column, which is 0
  int32_t row[4], column[3];
  // boolean: blocks have at most CUV_WALDBOOST_SMALL_BLOCK pixels
  int32_t small;

  __device__ CuvGridCorners
  corners () const
  {
    return { { row[0], row[1], row[2], row[3] },
      { 0, column[0], column[1], column[2] } };
  }
};

// The first stages, passed by value so that uniform reads come from constant
// memory.
struct CuvCascadePairStages {
  int32_t n; // 0: stage 0 has too many weak classifiers
  CuvCascadeStage stages[CUV_CASCADE_PAIR_STAGES];
  CuvCascadePairNode nodes[2][CUV_CASCADE_PAIR_WEAK];
};

// For each of the first nodes, the patterns that go left: pattern p is bit 31 -
// p % 32 of word p / 32.
using CuvCascadePairPatterns =
    uint32_t[CUV_CASCADE_PAIR_WEAK][CUV_CASCADE_PATTERN_WORDS];

// A pair: which of its windows are alive (not rejected), and the decisions of
// the current stage's stumps.
struct CuvCascadePair {
  bool first, second;
  unsigned first_decisions, second_decisions;

  __device__ void
  decide (const uint32_t *table, bool small, const unsigned sums[9])
  {
    const unsigned patterns =
        small ? cuv_small_patterns (sums) : cuv_large_patterns (sums);

    add (table, patterns, &first_decisions);
    add (table, patterns >> 16, &second_decisions);
  }

  static __device__ void
  add (const uint32_t *table, unsigned pattern, unsigned *decisions)
  {
    const uint32_t bit = table[pattern >> 5 & 7] << (pattern & 31);

    *decisions = __funnelshift_l (bit, *decisions, 1);
  }

  // Ends a stage: looks up whether the windows' decisions pass it.
  template <typename Nodes>
  __device__ void
  pass (const CuvCascade<Nodes> &cascade, const CuvCascadeStage &stage)
  {
    first = first && look_up (cascade, stage, first_decisions);
    second = second && look_up (cascade, stage, second_decisions);
    first_decisions = second_decisions = 0;
  }
};

// Evaluates the pairs of a block's tile.
template <typename Nodes> struct CuvCascadePairTile {
  const CuvCascadeTile<CuvPairSum, true> &tile;
  const CuvCascade<Nodes> &cascade;
  const CuvCascadePairStages &first;
  const CuvCascadePairPatterns &patterns;

  // Evaluates stage s < first.n for n pairs per thread.
  template <int n>
  __device__ __forceinline__ void
  decide (
      int s, const CuvPairSum *const windows[n], CuvCascadePair pairs[n]) const
  {
    for (int k = first.stages[s].first; k < first.stages[s].end; k++) {
      const CuvCascadePairNode &node = first.nodes[tile.split][k];
      const CuvGridCorners corners = node.corners ();

#pragma unroll
      for (int i = 0; i < n; i++) {
        unsigned sums[9];

        cuv_packed_sums (windows[i], corners, sums);
        pairs[i].decide (patterns[k], node.small, sums);
      }
    }
#pragma unroll
    for (int i = 0; i < n; i++)
      pairs[i].pass (cascade, first.stages[s]);
  }
};

// Copies the patterns to shared memory.
static __device__ void
copy_patterns (CuvCascadePairPatterns to, const uint32_t *from, int n)
{
  for (int i = threadIdx.x; i < n * CUV_CASCADE_PATTERN_WORDS;
       i += CUV_CASCADE_THREADS)
    to[i / CUV_CASCADE_PATTERN_WORDS][i % CUV_CASCADE_PATTERN_WORDS] = from[i];
}

// ---- stage 0 at every position ----

// Evaluates stage 0 with one warp for n rows of the tile, CUV_CASCADE_WARPS
// apart. Writes two words of bits per row: for the first and for the second
// windows of its pairs.
template <int n, typename Nodes>
static __device__ __forceinline__ void
decide_rows (const CuvCascadePairTile<Nodes> &pairs, int first_row,
    uint32_t (*passed)[2])
{
  const CuvCascadeTile<CuvPairSum, true> &tile = pairs.tile;
  const int lane = threadIdx.x % 32;
  const CuvPairSum *windows[n];
  CuvCascadePair row_pairs[n] = {};

#pragma unroll
  for (int i = 0; i < n; i++) {
    const int row = first_row + i * CUV_CASCADE_WARPS;

    windows[i] = tile.view (lane, row).sums;
    row_pairs[i].first = tile.inside (lane, row);
    row_pairs[i].second = tile.inside (lane + CUV_CASCADE_PAIR_X, row);
  }
  pairs.template decide<n> (0, windows, row_pairs);
#pragma unroll
  for (int i = 0; i < n; i++) {
    const unsigned first = __ballot_sync (~0u, row_pairs[i].first);
    const unsigned second = __ballot_sync (~0u, row_pairs[i].second);

    if (lane == 0) {
      passed[first_row + i * CUV_CASCADE_WARPS][0] = first;
      passed[first_row + i * CUV_CASCADE_WARPS][1] = second;
    }
  }
}

// Evaluates stage 0 for a tile of n_rows rows, each warp in up to two rows at a
// time.
template <typename Nodes>
static __device__ __forceinline__ void
decide_tile (
    const CuvCascadePairTile<Nodes> &pairs, int n_rows, uint32_t (*passed)[2])
{
  int row = cuv_warp_of_thread ();

  for (; row + CUV_CASCADE_WARPS < n_rows; row += 2 * CUV_CASCADE_WARPS)
    decide_rows<2> (pairs, row, passed);
  for (; row < n_rows; row += CUV_CASCADE_WARPS)
    decide_rows<1> (pairs, row, passed);
}

// ---- survivors ----

// The pairs of a tile that have an alive window. An entry is the pair's index
// in the tile and, in bits 14 and 15, which of its windows are alive. A warp
// processes a row of the list at a time. At steps 1 and 2, each column of the
// full rows holds pairs whose sums are in one bank of shared memory, so that
// rows have no bank conflicts. Entries that do not fit their column follow in
// any order.
struct CuvCascadePairList {
  uint16_t *entries; // CUV_CASCADE_PAIR_X per row
  int *columns;      // number of pairs in each column
  int *n_rest;       // number of pairs after the full rows
  int full;          // number of full rows
  int shift;         // banks of shared memory between rows of the tile

  __device__ void
  add (int at, bool first, bool second) const
  {
    const uint16_t entry = (uint16_t) (at | first << 14 | second << 15);
    const int column =
        (at + at / CUV_CASCADE_PAIR_X * shift) % CUV_CASCADE_PAIR_X;
    int row;

    if (!first && !second)
      return;
    row = atomicAdd (&columns[column], 1);
    if (row < full)
      entries[row * CUV_CASCADE_PAIR_X + column] = entry;
    else
      entries[full * CUV_CASCADE_PAIR_X + atomicAdd (n_rest, 1)] = entry;
  }

  __device__ int
  n_rows () const
  {
    return full + (*n_rest + CUV_CASCADE_PAIR_X - 1) / CUV_CASCADE_PAIR_X;
  }

  // Returns a lane's entry of a row; if it has none, an index in the same bank.
  __device__ unsigned
  get (int row, int lane) const
  {
    const bool there = row < full
        ? row < columns[lane]
        : (row - full) * CUV_CASCADE_PAIR_X + lane < *n_rest;

    return there ? entries[row * CUV_CASCADE_PAIR_X + lane] : lane;
  }
};

static __device__ int
index_of (unsigned entry)
{
  return entry & (CUV_CASCADE_MAX_PAIRS - 1);
}

static __device__ bool
has_first (unsigned entry)
{
  return entry >> 14 & 1;
}

static __device__ bool
has_second (unsigned entry)
{
  return entry >> 15 & 1;
}

static __device__ int
count_lanes (bool one, bool other)
{
  return __popc (__ballot_sync (~0u, one))
      + __popc (__ballot_sync (~0u, other));
}

// Evaluates stage s for all pairs of a list, and lists the pairs with a window
// that passes. Returns the number of passing windows in the calling warp.
template <typename Nodes>
static __device__ unsigned
compact_pairs (const CuvCascadePairTile<Nodes> &pairs, int s,
    CuvCascadePairList list, CuvCascadePairList to)
{
  const int n = list.n_rows ();
  unsigned alive = 0;

  for (int row = cuv_warp_of_thread (); row < n; row += CUV_CASCADE_WARPS) {
    const unsigned entry = list.get (row, threadIdx.x % 32);
    const int at = index_of (entry);
    const CuvPairSum *window =
        pairs.tile.view (at % CUV_CASCADE_PAIR_X, at / CUV_CASCADE_PAIR_X).sums;
    CuvCascadePair pair = { has_first (entry), has_second (entry), 0, 0 };

    pairs.template decide<1> (s, &window, &pair);
    to.add (at, pair.first, pair.second);
    alive += count_lanes (pair.first, pair.second);
  }
  return alive;
}

// Lists the single windows in some rows of a list of pairs.
static __device__ void
list_windows (const CuvCascadePairList &list, int row, int end,
    CuvCascadeWindowList to, int *n)
{
  for (row += cuv_warp_of_thread (); row < end; row += CUV_CASCADE_WARPS) {
    const unsigned entry = list.get (row, threadIdx.x % 32);
    const int at = index_of (entry);
    const int window =
        at / CUV_CASCADE_PAIR_X * CUV_CASCADE_TILE_X + at % CUV_CASCADE_PAIR_X;

    if (has_first (entry))
      to.index[atomicAdd (n, 1)] = (uint16_t) window;
    if (has_second (entry))
      to.index[atomicAdd (n, 1)] = (uint16_t) (window + CUV_CASCADE_PAIR_X);
  }
}

// Shared memory of a block without the tile.
struct CuvCascadePairMemory {
  CuvCascadePairPatterns patterns;
  union {
    CuvCascadePairEnds ends; // while the tile is made
    uint16_t entries[2][CUV_CASCADE_MAX_PAIRS];
  };
  union {
    // positions of each row that pass stage 0, then those that are alive
    uint32_t passed[CUV_CASCADE_MAX_TILE_Y][2];
    uint16_t windows[CUV_CASCADE_PAIR_WINDOWS];
  };
  // pairs in each column, of the current list and the next two
  int columns[3][CUV_CASCADE_PAIR_X];
  int n_rest[CUV_CASCADE_PAIR_STAGES];
  int n_windows[3]; // lengths of the lists of run_remaining_stages()
  // counts of windows: visited, and alive after each stage
  unsigned visited, alive[CUV_CASCADE_PAIR_STAGES];
  unsigned n_pairs; // pairs with a window alive after stage 0

  __device__ void
  clear ()
  {
    if (threadIdx.x < 3 * CUV_CASCADE_PAIR_X)
      columns[threadIdx.x / CUV_CASCADE_PAIR_X]
             [threadIdx.x % CUV_CASCADE_PAIR_X] = 0;
    if (threadIdx.x < CUV_CASCADE_PAIR_STAGES)
      n_rest[threadIdx.x] = alive[threadIdx.x] = 0;
    if (threadIdx.x == 0)
      visited = n_pairs = 0;
  }

  // Returns the list of the pairs after stage s.
  __device__ CuvCascadePairList
  list (int s, int full, int shift)
  {
    return { entries[s % 2], columns[s % 3], &n_rest[s], full, shift };
  }
};

// Finds the survivors of stage 0 in the calling warp's rows of the tile, of
// which memory.passed has the positions, and counts them. Each of the first
// lanes has a row.
template <typename Nodes>
static __device__ __forceinline__ void
find_survivors (const CuvCascadePairTile<Nodes> &pairs, int n_rows,
    const CuvScanRows &rows, CuvCascadeTrace *trace, unsigned scan,
    CuvCascadePairMemory *memory)
{
  const CuvPyramidTile &at = pairs.tile.tile;
  const CuvPyramidLevel &level = pairs.tile.level;
  const int lane = threadIdx.x % 32;
  const int row = cuv_warp_of_thread () + lane * CUV_CASCADE_WARPS;
  const bool there = row < n_rows, skip = pairs.cascade.skip;
  const bool wanted =
      there && at.y + row < level.plan.n_y && rows.has (at.level, at.y + row);
  const uint32_t passed[2] = { there ? memory->passed[row][0] : 0,
    there ? memory->passed[row][1] : 0 };
  CuvCascadePairRow found = {};
  bool visits = true;

  if (skip) {
    publish_trace (trace, scan, passed);
    visits = visits_first (trace, at.x / CUV_CASCADE_TILE_X, scan, wanted);
  }
  if (wanted)
    found = row_of_tile (level, at, passed, skip, visits);
  if (there) {
    memory->passed[row][0] = found.alive[0];
    memory->passed[row][1] = found.alive[1];
  }
  const unsigned n_visited = cuv_warp_sum (found.n_visited ());
  const unsigned n_alive = cuv_warp_sum (found.n_alive ());
  const unsigned n_pairs = cuv_warp_sum (found.n_pairs ());

  if (lane == 0 && n_visited > 0) {
    atomicAdd (&memory->visited, n_visited);
    atomicAdd (&memory->alive[0], n_alive);
    atomicAdd (&memory->n_pairs, n_pairs);
  }
}

// Scans tiles. Grid: tiles; traces: one per tile. Dynamic shared memory: the
// tile.
template <typename Nodes>
static __global__ void
__launch_bounds__ (CUV_CASCADE_THREADS, CUV_CASCADE_PAIR_BLOCKS)
    pair_kernel (const CuvPyramidTile *tiles, const CuvPyramidLevel *levels,
        const uint8_t *pictures, CuvCascadeTileShape shape,
        CuvCascade<Nodes> cascade,
        const __grid_constant__ CuvCascadePairStages first,
        const uint32_t *all_patterns, CuvScanRows rows, CuvCascadeTrace *traces,
        unsigned scan, CuvScanHits out)
{
  __shared__ CuvCascadePairMemory memory;
  const CuvPyramidTile at = tiles[blockIdx.x];
  const int lane = threadIdx.x % 32, warp = cuv_warp_of_thread ();

  out.begin ();
  if (!rows.has_any (at.level, at.y, at.y + shape.rows))
    return;
  const CuvCascadeTile<CuvPairSum, true> tile (at, levels, shape);
  const CuvCascadePairTile<Nodes> pairs = { tile, cascade, first,
    memory.patterns };
  memory.clear ();
  copy_patterns (memory.patterns, all_patterns, first.stages[first.n - 1].end);
  make_pair_tile (tile.level, at, shape, pictures,
      (uint32_t *) tile.shared_sums (), memory.ends);
  __syncthreads ();
  decide_tile (pairs, shape.rows, memory.passed);
  __syncwarp ();
  find_survivors (pairs, shape.rows, rows, traces + blockIdx.x, scan, &memory);
  __syncthreads ();

  // the number of full rows if the pairs were distributed evenly over the
  // columns
  const int shift = tile.pitch * tile.level.plan.step % CUV_CASCADE_PAIR_X;
  int full = memory.n_pairs / CUV_CASCADE_PAIR_X, s = 0;
  CuvCascadePairList list = memory.list (0, full, shift);
  for (int row = warp; row < shape.rows; row += CUV_CASCADE_WARPS)
    list.add (row * CUV_CASCADE_PAIR_X + lane,
        memory.passed[row][0] >> lane & 1, memory.passed[row][1] >> lane & 1);
  __syncthreads ();
  while (s + 1 < first.n && memory.alive[s] > CUV_CASCADE_PAIR_FEW) {
    full /= 2; // about half of the pairs pass
    const CuvCascadePairList next = memory.list (++s, full, shift);
    if (threadIdx.x
        < CUV_CASCADE_PAIR_X) // reset the columns of the list after the next
      memory.columns[(s + 1) % 3][threadIdx.x] = 0;
    const unsigned passing = compact_pairs (pairs, s, list, next);

    if (lane == 0)
      atomicAdd (&memory.alive[s], passing);
    list = next;
    __syncthreads ();
  }

  // the remaining stages for single windows, as many at a time as fit the list
  const CuvCascadeImages none = {};
  const CuvCascadeSurvivors<Nodes, CuvPairSum, true, true> survivors = {
    cascade, tile, none, out, cascade.nodes_of (tile.split)
  };
  const CuvCascadeWindowList windows = { memory.windows, nullptr };
  const CuvCascadeWindowList spare = { memory.entries[(s + 1) % 2], nullptr };
  const int n_rows = list.n_rows (),
            rows_at_once = CUV_CASCADE_PAIR_WINDOWS / (2 * CUV_CASCADE_PAIR_X);

  for (int row = 0; row < n_rows; row += rows_at_once) {
    __syncthreads ();
    if (threadIdx.x < 3)
      memory.n_windows[threadIdx.x] = 0;
    __syncthreads ();
    list_windows (list, row, min (row + rows_at_once, n_rows), windows,
        &memory.n_windows[0]);
    __syncthreads ();
    // if the model has only one stage, evaluate it again to get the score
    run_remaining_stages (survivors, min (s + 1, cascade.n_stages - 1), windows,
        spare, memory.n_windows);
  }
  if (threadIdx.x == 0 && memory.visited > 0)
    atomicAdd (&out.counters->windows, memory.visited);
  if ((int) threadIdx.x <= s && memory.alive[threadIdx.x] > 0)
    atomicAdd (
        &out.counters->survivors[threadIdx.x], memory.alive[threadIdx.x]);
}

#endif
