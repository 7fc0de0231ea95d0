// SPDX-License-Identifier: LGPL-2.1-or-later
// Edges on the GPU: maps of bits, made in tiles.
#ifndef CUV_HOUGH_MAPS_CUH
#define CUV_HOUGH_MAPS_CUH

#include "cuv-cuda.cuh"
#include "cuv-frame.h"
#include "hough/hough-types.h"

#define CUV_TILE_WORDS 4 // of 32 pixels
#define CUV_TILE_WIDTH (32 * CUV_TILE_WORDS)
#define CUV_TILE_HEIGHT 32
#define CUV_TILE_SIZE (CUV_TILE_WORDS * CUV_TILE_HEIGHT) // in words

// Tells the host what happened; the device has one, too.
struct CuvHoughCounters {
  unsigned n_edges;
  unsigned n_found; // peaks
  unsigned n_segments;
  unsigned long long n_votes;
  unsigned long long began, listed, voted, ended; // ns
};

// Of edges, by their direction.
struct CuvGroupCounts {
  unsigned n[CUV_HOUGH_MAX_PERIOD];    // that there are
  unsigned used[CUV_HOUGH_MAX_PERIOD]; // that are sorted
  // where those of a bin begin among the sorted ones, and all end
  unsigned first[CUV_HOUGH_MAX_PERIOD + 1];
};

// Bit x % 32 of word x / 32 of row y is pixel (x, y). Rows and columns go on to
// the end of the last tile, with bits of 0.
struct CuvMaps {
  int width, height;
  int tiles_x, tiles_y;
  unsigned *edges;
  unsigned *undecided; // edges if they are connected to one in another tile
  // of each pixel, and one before them: the parents of undecided runs
  int *parents;
  CuvHoughCounters *counters;
  CuvGroupCounts *bins; // NULL where nobody wants them
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

// The number of a pixel among parents.
static inline __host__ __device__ int
cuv_map_node (const CuvMaps &maps, int x, int y)
{
  return 1 + y * 32 * cuv_map_pitch (maps) + x;
}

// By a block of the first kernel of a frame.
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

// Makes the maps of a frame's edges. Undecided ones are decided by
// cuv_decide ().
int cuv_maps_submit (const CuvMaps &maps, const CuvFrame &frame,
    const CuvCannyParams &params, cudaStream_t stream);
// Of a frame that is a map itself.
int cuv_maps_submit_input (
    const CuvMaps &maps, const CuvFrame &frame, cudaStream_t stream);

#endif
