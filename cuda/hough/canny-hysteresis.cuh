// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis within a tile: candidates connected to a strong pixel become
// edges; those that may be connected to one in another tile stay undecided.
#ifndef CUV_HOUGH_CANNY_HYSTERESIS_CUH
#define CUV_HOUGH_CANNY_HYSTERESIS_CUH

#include "hough/canny-grey.cuh"

// A row of a tile: bit x is pixel x.
typedef unsigned __int128 CuvHoughMapRow;

// Fills runs of ones from their seeds towards higher bits: the carry of an
// addition propagates through a run.
static __device__ __forceinline__ CuvHoughMapRow
fill_upwards (CuvHoughMapRow seeds, CuvHoughMapRow runs)
{
  return ((runs ^ (runs + seeds)) & runs) | seeds;
}

static __device__ __forceinline__ CuvHoughMapRow
reverse_row (CuvHoughMapRow row)
{
  const unsigned long long low = row, high = row >> 64;

  return (CuvHoughMapRow) __brevll (low) << 64 | __brevll (high);
}

static __device__ __forceinline__ CuvHoughMapRow
fill_runs (CuvHoughMapRow seeds, CuvHoughMapRow runs)
{
  return fill_upwards (seeds, runs)
      | reverse_row (fill_upwards (reverse_row (seeds), reverse_row (runs)));
}

// Returns the row of the previous or next lane; the lane's own at either end of
// the warp.
static __device__ __forceinline__ CuvHoughMapRow
neighbour_row (CuvHoughMapRow row, int delta)
{
  const unsigned long long low = row, high = row >> 64;

  return delta < 0 ? (CuvHoughMapRow) __shfl_up_sync (~0u, high, 1) << 64
          | __shfl_up_sync (~0u, low, 1)
                   : (CuvHoughMapRow) __shfl_down_sync (~0u, high, 1) << 64
          | __shfl_down_sync (~0u, low, 1);
}

// Grows edges through connected candidates. A lane has a row of the tile.
static __device__ __forceinline__ CuvHoughMapRow
grow (CuvHoughMapRow edges, CuvHoughMapRow candidates)
{
  bool changed;

  static_assert (CUV_HOUGH_TILE_HEIGHT == 32 && CUV_HOUGH_TILE_WIDTH == 128,
      "each lane holds a row of a tile");
  do {
    const CuvHoughMapRow near =
        edges | neighbour_row (edges, -1) | neighbour_row (edges, 1);
    const CuvHoughMapRow grown =
        fill_runs ((near | near << 1 | near >> 1) & candidates, candidates);

    changed = grown != edges;
    edges = grown;
  } while (__any_sync (~0u, changed));
  return edges;
}

// Bitmaps of a tile, and the connected components of candidates that are not
// edges yet.
struct CuvHoughComponents {
  __align__ (16) unsigned edges[CUV_HOUGH_TILE_SIZE];
  __align__ (16) unsigned candidates[CUV_HOUGH_TILE_SIZE];
  unsigned undecided[CUV_HOUGH_TILE_SIZE];
  // bitmap of the roots of components that touch the tile's border
  unsigned open_roots[CUV_HOUGH_TILE_SIZE];
  int parents[32 * CUV_HOUGH_TILE_SIZE];   // parents of nodes, which are pixel
                                           // indices
  uint16_t runs[16 * CUV_HOUGH_TILE_SIZE]; // nodes of all runs, in any order
  unsigned n_runs;
};

// A run of ones in a word. node: index of its first pixel, 32 * word + bit.
struct CuvHoughRun {
  int word, bit, node;
  unsigned pixels; // mask
};

static __device__ __forceinline__ CuvHoughRun
run_of (const CuvHoughComponents *tile, int word, int bit)
{
  const unsigned candidates = tile->candidates[word];
  const int start = cuv_run_start (candidates, bit);

  return CuvHoughRun{ word, start, 32 * word + start,
    cuv_run_at (candidates, start) };
}

static __device__ __forceinline__ CuvHoughRun
listed_run (const CuvHoughComponents *tile, unsigned i)
{
  return run_of (tile, tile->runs[i] / 32, tile->runs[i] % 32);
}

// Makes each run of undecided candidates in a word a component of its own.
static __device__ __forceinline__ void
list_runs (CuvHoughComponents *tile, int word)
{
  const unsigned candidates = tile->candidates[word] & ~tile->edges[word];
  unsigned starts = candidates & ~(candidates << 1);
  unsigned at = 0;

  if (starts != 0)
    at = atomicAdd (&tile->n_runs, (unsigned) __popc (starts));
  tile->candidates[word] = candidates;
  tile->undecided[word] = tile->open_roots[word] = 0;
  for (; starts != 0; starts &= starts - 1) {
    const int node = 32 * word + __ffs (starts) - 1;

    tile->runs[at++] = (uint16_t) node;
    tile->parents[node] = node;
  }
}

static __device__ __forceinline__ void
unite_pixel (
    CuvHoughComponents *tile, const CuvHoughRun &run, int word, int bit)
{
  if (tile->candidates[word] >> bit & 1)
    cuv_unite (tile->parents, run.node, run_of (tile, word, bit).node);
}

// Unites a run with runs in the row above and in adjacent words.
static __device__ __forceinline__ void
unite_run (CuvHoughComponents *tile, const CuvHoughRun &run)
{
  const bool goes_left =
      (run.pixels & 1) && run.word % CUV_HOUGH_TILE_WORDS > 0;
  const bool goes_right = run.pixels >> 31
      && run.word % CUV_HOUGH_TILE_WORDS < CUV_HOUGH_TILE_WORDS - 1;
  const int above = run.word - CUV_HOUGH_TILE_WORDS;

  if (goes_left)
    unite_pixel (tile, run, run.word - 1, 31);
  if (above < 0)
    return;
  if (goes_left)
    unite_pixel (tile, run, above - 1, 31);
  if (goes_right)
    unite_pixel (tile, run, above + 1, 0);
  unsigned touched = tile->candidates[above]
      & (run.pixels | run.pixels << 1 | run.pixels >> 1);

  while (touched != 0) {
    const CuvHoughRun other = run_of (tile, above, __ffs (touched) - 1);

    cuv_unite (tile->parents, run.node, other.node);
    touched &= ~other.pixels;
  }
}

static __device__ __forceinline__ bool
is_at_border (const CuvHoughRun &run)
{
  const int row = run.word / CUV_HOUGH_TILE_WORDS,
            word = run.word % CUV_HOUGH_TILE_WORDS;

  return row == 0 || row == CUV_HOUGH_TILE_HEIGHT - 1
      || (word == 0 && (run.pixels & 1))
      || (word == CUV_HOUGH_TILE_WORDS - 1 && run.pixels >> 31);
}

// Makes the root of its component the parent of every run, and marks roots of
// components that touch the border as open. A parent is only written when no
// thread reads parents.
static __device__ __forceinline__ void
find_roots (CuvHoughComponents *tile, unsigned n)
{
  for (unsigned first = 0; first < n; first += CUV_HOUGH_CANNY_THREADS) {
    const unsigned i = first + threadIdx.x;
    const CuvHoughRun run = i < n ? listed_run (tile, i) : CuvHoughRun{};
    const int root = i < n ? cuv_find_root (tile->parents, run.node) : 0;

    __syncthreads ();
    if (i < n) {
      tile->parents[run.node] = root;
      if (is_at_border (run))
        atomicOr (&tile->open_roots[root / 32], 1u << root % 32);
    }
    __syncthreads ();
  }
}

// Writes runs of open components to the parents that cuv_hysteresis_submit()
// reads.
static __device__ __forceinline__ void
publish_if_open (
    CuvHoughComponents *tile, const CuvHoughMaps &maps, const CuvHoughRun &run)
{
  const int root = tile->parents[run.node];
  const int x0 = blockIdx.x * CUV_HOUGH_TILE_WIDTH,
            y0 = blockIdx.y * CUV_HOUGH_TILE_HEIGHT;

  if (!(tile->open_roots[root / 32] >> root % 32 & 1))
    return;
  atomicOr (&tile->undecided[run.word], run.pixels);
  maps.parents[cuv_map_node (maps, x0 + run.node % CUV_HOUGH_TILE_WIDTH,
      y0 + run.node / CUV_HOUGH_TILE_WIDTH)] = cuv_map_node (maps,
      x0 + root % CUV_HOUGH_TILE_WIDTH, y0 + root / CUV_HOUGH_TILE_WIDTH);
}

// Splits candidates into edges and undecided pixels. On entry edges holds the
// strong pixels. Called by all threads of a block.
static __device__ __forceinline__ void
cuv_connect_tile (CuvHoughComponents *tile, const CuvHoughMaps &maps)
{
  if (threadIdx.x < 32) {
    CuvHoughMapRow *edges = (CuvHoughMapRow *) tile->edges + threadIdx.x;

    *edges =
        grow (*edges, ((const CuvHoughMapRow *) tile->candidates)[threadIdx.x]);
    tile->n_runs = 0;
  }
  __syncthreads ();
  for (int i = threadIdx.x; i < CUV_HOUGH_TILE_SIZE;
       i += CUV_HOUGH_CANNY_THREADS)
    list_runs (tile, i);
  __syncthreads ();
  const unsigned n = tile->n_runs;

  for (unsigned i = threadIdx.x; i < n; i += CUV_HOUGH_CANNY_THREADS)
    unite_run (tile, listed_run (tile, i));
  __syncthreads ();
  find_roots (tile, n);
  for (unsigned i = threadIdx.x; i < n; i += CUV_HOUGH_CANNY_THREADS)
    publish_if_open (tile, maps, listed_run (tile, i));
  __syncthreads ();
}

#endif
