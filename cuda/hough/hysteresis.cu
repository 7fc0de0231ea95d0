// SPDX-License-Identifier: LGPL-2.1-or-later
// Edges that go on from tile to tile: undecided runs at the border of a tile
// are united with what they touch there.
#include "hough/hysteresis.cuh"

#define THREADS 128
// A tile's: words of its first row, and rows of its first column
#define ITEMS (CUV_TILE_WORDS + CUV_TILE_HEIGHT)

struct Word {
  unsigned edges, undecided;
};

static __device__ __forceinline__ Word
load (const CuvMaps &maps, int x, int y)
{
  const int pitch = cuv_map_pitch (maps), word = x >> 5;
  const size_t at = (size_t) y * pitch + word;

  return word < 0 || word >= pitch || y < 0
          || y >= maps.tiles_y * CUV_TILE_HEIGHT
      ? Word{ 0, 0 }
      : Word{ __ldcg (&maps.edges[at]), __ldcg (&maps.undecided[at]) };
}

static __device__ __forceinline__ int
node_of (const CuvMaps &maps, const Word &word, int x0, int bit, int y)
{
  return cuv_map_node (maps, x0 + cuv_run_start (word.undecided, bit), y);
}

// Two pixels that touch, each a bit of its word.
static __device__ __forceinline__ void
unite_pixels (const CuvMaps &maps, const Word &a, int x_a, int bit_a, int y_a,
    const Word &b, int x_b, int bit_b, int y_b)
{
  const bool undecided_a = a.undecided >> bit_a & 1;
  const bool undecided_b = b.undecided >> bit_b & 1;

  if ((undecided_a && (undecided_b || (b.edges >> bit_b & 1)))
      || (undecided_b && (a.edges >> bit_a & 1)))
    cuv_unite (maps.parents,
        undecided_a ? node_of (maps, a, x_a, bit_a, y_a) : 0,
        undecided_b ? node_of (maps, b, x_b, bit_b, y_b) : 0);
}

static __device__ __forceinline__ unsigned
widen (unsigned pixels)
{
  return pixels | pixels << 1 | pixels >> 1;
}

// The undecided runs of a word with those of one in the row above or below; if
// edges is set, with the edges there, too.
static __device__ __forceinline__ void
unite_runs (const CuvMaps &maps, const Word &word, int x0, int y,
    const Word &other, int y_other, bool runs)
{
  unsigned left = word.undecided & widen (other.edges | other.undecided);

  while (left != 0) {
    const int bit = cuv_run_start (word.undecided, __ffs (left) - 1);
    const unsigned run = cuv_run_at (word.undecided, bit);
    const int node = cuv_map_node (maps, x0 + bit, y);
    unsigned touched = runs ? other.undecided & widen (run) : 0;

    if (other.edges & widen (run))
      cuv_unite (maps.parents, node, 0);
    while (touched != 0) {
      const int start = cuv_run_start (other.undecided, __ffs (touched) - 1);

      cuv_unite (maps.parents, node, cuv_map_node (maps, x0 + start, y_other));
      touched &= ~cuv_run_at (other.undecided, start);
    }
    left &= ~run;
  }
}

// A word with the row above.
static __device__ __forceinline__ void
unite_upwards (const CuvMaps &maps, int x, int y)
{
  const Word here = load (maps, x, y), above = load (maps, x, y - 1);
  const Word left = load (maps, x - 32, y - 1);
  const Word right = load (maps, x + 32, y - 1);

  unite_runs (maps, here, x, y, above, y - 1, true);
  unite_runs (maps, above, x, y - 1, here, y, false);
  unite_pixels (maps, here, x, 0, y, left, x - 32, 31, y - 1);
  unite_pixels (maps, here, x, 31, y, right, x + 32, 0, y - 1);
}

// The first pixel of a row with those on its left.
static __device__ __forceinline__ void
unite_leftwards (const CuvMaps &maps, int x, int y)
{
  const Word here = load (maps, x, y);
  Word left[3];

  for (int i = 0; i < 3; i++)
    left[i] = load (maps, x - 32, y + i - 1);
  for (int i = 0; i < 3; i++)
    unite_pixels (maps, here, x, 0, y, left[i], x - 32, 31, y + i - 1);
}

// A thread does an item of a tile.
static __global__ void
__launch_bounds__ (THREADS) hysteresis_kernel (CuvMaps maps)
{
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const int tile = i / ITEMS, item = i % ITEMS;
  const int x = tile % maps.tiles_x * CUV_TILE_WIDTH;
  const int y = tile / maps.tiles_x * CUV_TILE_HEIGHT;

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  if (tile >= maps.tiles_x * maps.tiles_y)
    return;
  if (item < CUV_TILE_WORDS)
    unite_upwards (maps, x + 32 * item, y);
  else
    unite_leftwards (maps, x, y + item - CUV_TILE_WORDS);
}

int
cuv_hysteresis_submit (const CuvMaps &maps, cudaStream_t stream)
{
  const int blocks = cuv_div_up (maps.tiles_x * maps.tiles_y * ITEMS, THREADS);

  return cuv_launch_early (
      "hysteresis_kernel", blocks, THREADS, 0, stream, hysteresis_kernel, maps);
}
