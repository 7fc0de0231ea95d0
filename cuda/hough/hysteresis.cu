// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis across tiles: unites undecided runs that touch each other across
// the border of a tile.
#include "hough/edge-maps.cuh"

#define CUV_HOUGH_HYSTERESIS_THREADS 128
// Pixels of a tile's first row and column, a thread each
#define CUV_HOUGH_HYSTERESIS_ITEMS                                             \
  (CUV_HOUGH_TILE_WIDTH + CUV_HOUGH_TILE_HEIGHT)

// Returns the node of a pixel's run: 0 for an edge, -1 if it is not a
// candidate.
static __device__ __forceinline__ int
load_node (const CuvHoughMaps &maps, int x, int y)
{
  const int pitch = cuv_map_pitch (maps), bit = x & 31;
  const bool there = x >= 0 && x < maps.width && y >= 0 && y < maps.height;
  // without branches, so that all loads of a thread are issued before the first
  // is used
  const size_t at = there ? (size_t) y * pitch + x / 32 : 0;
  const unsigned edges = __ldcg (&maps.edges[at]);
  const unsigned undecided = __ldcg (&maps.undecided[at]);

  if (!there || !((edges | undecided) >> bit & 1))
    return -1;
  return edges >> bit & 1
      ? 0
      : cuv_map_node (maps, x - bit + cuv_run_start (undecided, bit), y);
}

static __device__ __forceinline__ void
unite (const CuvHoughMaps &maps, int a, int b)
{
  if (a >= 0 && b >= 0)
    cuv_unite (maps.parents, a, b);
}

// Unites a pixel with its three neighbours across the border, the middle one at
// (other_x, other_y); (dx, dy) is the step along the border. If the middle one
// is a candidate, it is already connected to the other two.
static __device__ __forceinline__ void
unite_across (const CuvHoughMaps &maps, int x, int y, int other_x, int other_y,
    int dx, int dy)
{
  const int here = load_node (maps, x, y);
  const int middle = load_node (maps, other_x, other_y);
  const int before = load_node (maps, other_x - dx, other_y - dy);
  const int after = load_node (maps, other_x + dx, other_y + dy);

  if (middle >= 0) {
    unite (maps, here, middle);
  } else {
    unite (maps, here, before);
    unite (maps, here, after);
  }
}

// One thread per pixel of the first row and column of each tile.
static __global__ void
__launch_bounds__ (CUV_HOUGH_HYSTERESIS_THREADS)
    hysteresis_kernel (CuvHoughMaps maps)
{
  const int i = blockIdx.x * CUV_HOUGH_HYSTERESIS_THREADS + threadIdx.x;
  const int tile = i / CUV_HOUGH_HYSTERESIS_ITEMS,
            item = i % CUV_HOUGH_HYSTERESIS_ITEMS;
  const int x = tile % maps.tiles_x * CUV_HOUGH_TILE_WIDTH;
  const int y = tile / maps.tiles_x * CUV_HOUGH_TILE_HEIGHT;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if (tile >= maps.tiles_x * maps.tiles_y)
    return;
  if (item < CUV_HOUGH_TILE_WIDTH)
    unite_across (maps, x + item, y, x + item, y - 1, 1, 0);
  else
    unite_across (maps, x, y + item - CUV_HOUGH_TILE_WIDTH, x - 1,
        y + item - CUV_HOUGH_TILE_WIDTH, 0, 1);
}

int
cuv_hysteresis_submit (const CuvHoughMaps &maps, cudaStream_t stream)
{
  const int blocks =
      cuv_div_up (maps.tiles_x * maps.tiles_y * CUV_HOUGH_HYSTERESIS_ITEMS,
          CUV_HOUGH_HYSTERESIS_THREADS);

  return cuv_launch_dependent ("hysteresis_kernel", blocks,
      CUV_HOUGH_HYSTERESIS_THREADS, 0, stream, hysteresis_kernel, maps);
}
