// SPDX-License-Identifier: LGPL-2.1-or-later
// Edge bitmaps on the GPU, computed in tiles.
#ifndef CUV_HOUGH_MAPS_CUH
#define CUV_HOUGH_MAPS_CUH

#include "cuv-cuda.cuh"
#include "cuv-frame.h"
#include "hough/hough-types.h"

#define CUV_TILE_WORDS 4 // of 32 pixels
#define CUV_TILE_WIDTH (32 * CUV_TILE_WORDS)
#define CUV_TILE_HEIGHT 32
#define CUV_TILE_SIZE (CUV_TILE_WORDS * CUV_TILE_HEIGHT) // in words

// Counters and times reported to the host, which has a copy.
struct CuvHoughCounters {
  unsigned n_edges;
  unsigned n_found; // peaks
  unsigned n_segments;
  unsigned long long n_votes;
  unsigned long long began, listed, voted, ended; // ns
};

// Edges per orientation bin.
struct CuvBinCounts {
  unsigned n[CUV_HOUGH_MAX_PERIOD];    // all edges
  unsigned used[CUV_HOUGH_MAX_PERIOD]; // sorted so far
  // index of each bin's first sorted edge, and the end
  unsigned first[CUV_HOUGH_MAX_PERIOD + 1];
};

// Bit x % 32 of word x / 32 of row y is pixel (x, y). Maps are zero-padded to
// whole tiles.
struct CuvMaps {
  int width, height;
  int tiles_x, tiles_y;
  unsigned *edges;
  unsigned *undecided; // edges if connected to one in another tile
  // union-find parents, one per pixel after the root 0
  int *parents;
  CuvHoughCounters *counters;
  CuvBinCounts *bins; // NULL without an orientation window
};

static inline __host__ __device__ int
cuv_map_pitch (const CuvMaps &maps)
{
  return maps.tiles_x * CUV_TILE_WORDS;
}

static inline __host__ __device__ size_t
cuv_map_words (const CuvMaps &maps)
{
  return (size_t) maps.tiles_x * maps.tiles_y * CUV_TILE_SIZE;
}

// A pixel's index in parents.
static inline __host__ __device__ int
cuv_map_node (const CuvMaps &maps, int x, int y)
{
  return 1 + y * 32 * cuv_map_pitch (maps) + x;
}

// Resets counters; called by one block of a frame's first kernel.
static __device__ __forceinline__ void
cuv_begin_frame (const CuvMaps &maps)
{
  if (threadIdx.x == 0) {
    *maps.counters = CuvHoughCounters{};
    maps.counters->began = cuv_nanoseconds ();
  }
  for (int i = threadIdx.x; maps.bins != nullptr && i < CUV_HOUGH_MAX_PERIOD;
       i += blockDim.x)
    maps.bins->n[i] = maps.bins->used[i] = 0;
}

// Computes a frame's maps. cuv_decide () resolves undecided pixels.
int cuv_maps_submit (const CuvMaps &maps, const CuvFrame &frame,
    const CuvCannyParams &params, cudaStream_t stream);
// The same for edges=input.
int cuv_maps_submit_input (
    const CuvMaps &maps, const CuvFrame &frame, cudaStream_t stream);

static __device__ __forceinline__ int
clamp (int v, int end)
{
  return min (max (v, 0), end - 1);
}

#endif
