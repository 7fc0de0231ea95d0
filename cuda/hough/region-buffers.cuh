// SPDX-License-Identifier: LGPL-2.1-or-later
// The buffers of regions.cu, as its steps read and write them: the edges of a
// thread, the edges at pixels, boxes and chords of labels.
#ifndef CUV_HOUGH_REGION_BUFFERS_CUH
#define CUV_HOUGH_REGION_BUFFERS_CUH

#include "hough/peaks.cuh"

#define CUV_HOUGH_REGION_THREADS 1024
#define CUV_HOUGH_REGION_NO_PIXEL 0xffffffffu

struct CuvHoughRegionWork {
  CuvHoughRegionBuffers regions;
  CuvHoughMaps maps;
  CuvHoughEdges edges;
  CuvHoughDeviceLayout layout;
};

// Returns the number of edges, or 0 if there are too many. Called by all
// threads of a block.
static __device__ __forceinline__ unsigned
count_edges (const CuvHoughRegionWork &work)
{
  const unsigned n = cuv_block_load (&work.edges.counters->n_edges);

  return n <= work.regions.max_edges ? n : 0;
}

// Returns a warp's first edge. The warp takes 32 edges from there on, and 32
// more every n_threads() further on. Few edges are spread over all blocks.
static __device__ __forceinline__ unsigned
first_of_warp ()
{
  return (threadIdx.x / 32 * gridDim.x + blockIdx.x) * 32;
}

static __device__ __forceinline__ unsigned
first_edge ()
{
  return first_of_warp () + threadIdx.x % 32;
}

static __device__ __forceinline__ unsigned
n_threads ()
{
  return gridDim.x * CUV_HOUGH_REGION_THREADS;
}

static __device__ __forceinline__ int *
index_at (const CuvHoughRegionWork &work, unsigned pixel)
{
  return &work.maps
              .parents[cuv_map_node (work.maps, pixel & 0xffff, pixel >> 16)];
}

// Finds the indices of the edges at pixels, or -1. Loads wait for each other as
// rarely as possible.
template <int N>
static __device__ __forceinline__ void
find_edges (const CuvHoughRegionWork &work, const unsigned (&pixels)[N],
    int (&edges)[N])
{
  unsigned words[N];

#pragma unroll
  for (int k = 0; k < N; k++) {
    const int x = pixels[k] & 0xffff, y = pixels[k] >> 16;

    words[k] = pixels[k] == CUV_HOUGH_REGION_NO_PIXEL
        ? 0
        : __ldcg (
            &work.maps.edges[(size_t) y * cuv_map_pitch (work.maps) + x / 32]);
  }
#pragma unroll
  for (int k = 0; k < N; k++)
    edges[k] = words[k] >> pixels[k] % 32 & 1
        ? __ldcg (index_at (work, pixels[k]))
        : -1;
}

static __device__ __forceinline__ CuvRegionBox
load_box (const CuvRegionBox *box)
{
  const uint4 v = __ldcg ((const uint4 *) box);

  return CuvRegionBox{ v.x, v.y, v.z, v.w };
}

static __device__ __forceinline__ CuvRegionChord
chord_of (const CuvHoughRegionWork &work, int label)
{
  const CuvRegionBox box = load_box (&work.regions.boxes[label]);

  return cuv_region_chord (&box);
}

#endif
