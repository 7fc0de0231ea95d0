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

// The number of edges; 0 if they are too many. Called by all threads of a
// block.
static __device__ __forceinline__ unsigned
count_edges (const CuvHoughRegionWork &work)
{
  const unsigned n = cuv_block_load (&work.edges.counters->n_edges);

  return n <= work.regions.max_edges ? n : 0;
}

// The edges of a warp: 32 from first_of_warp(), every n_threads(). Few edges
// are spread over all blocks.
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

// The indices of the edges at pixels, or -1. Loads wait for each other as
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

static __device__ __forceinline__ void
store_box (CuvRegionBox *box, uint4 v)
{
  *(uint4 *) box = v;
}

static __device__ __forceinline__ CuvRegionChord
chord_of (const CuvHoughRegionWork &work, int at, int label)
{
  const CuvRegionBox box = load_box (&work.regions.boxes[at][label]);

  return cuv_region_chord (&box);
}

// Whether edge i is the label of a region that needs no split.
static __device__ __forceinline__ bool
is_straight (const CuvHoughRegionWork &work, int at, unsigned i)
{
  return __ldcg (&work.regions.labels[i]) == (int) i
      && __ldcg (&work.regions.keys[at][i]) == 0;
}

// Extends the boxes of the labels of a warp's edges; label -1: none. The edges
// of a warp are near each other, so most need not touch memory: one with the
// same label in a lane nearby is further out.
static __device__ __forceinline__ void
extend (CuvRegionBox *boxes, int label, unsigned pixel)
{
  const unsigned turned = pixel << 16 | pixel >> 16;
  bool top = true, bottom = true, left = true, right = true;

#pragma unroll
  for (int k = 0; k < 4; k++) {
    const int distance = k < 2 ? k + 1 : 32 + 1 - k;
    const int lane = (threadIdx.x + distance) % 32;
    const bool mate = __shfl_sync (~0u, label, lane) == label;
    const unsigned other = __shfl_sync (~0u, pixel, lane);
    const unsigned other_turned = other << 16 | other >> 16;

    top = top && !(mate && other < pixel);
    bottom = bottom && !(mate && other > pixel);
    left = left && !(mate && other_turned < turned);
    right = right && !(mate && other_turned > turned);
  }
  if (label < 0 || !(top || bottom || left || right))
    return;
  CuvRegionBox *box = &boxes[label];
  const CuvRegionBox now = load_box (box);

  if (top && pixel < now.top)
    atomicMin (&box->top, pixel);
  if (bottom && pixel > now.bottom)
    atomicMax (&box->bottom, pixel);
  if (left && turned < now.left)
    atomicMin (&box->left, turned);
  if (right && turned > now.right)
    atomicMax (&box->right, turned);
}

static __device__ __forceinline__ int
side_of (
    const CuvHoughRegionWork &work, const CuvRegionChord &chord, int direction)
{
  const bool turned = direction >= work.layout.n_bins;
  const short2 boundary =
      work.layout.boundaries[direction - (turned ? work.layout.n_bins : 0)];

  return cuv_region_side (&chord, boundary.x, boundary.y, turned);
}

// Whether edge i's direction is to the other side of its region's chord than
// that of the region's first edge.
static __device__ __forceinline__ bool
opposes (
    const CuvHoughRegionWork &work, const CuvRegionChord &chord, unsigned i)
{
  const int first = __ldcg (index_at (work, cuv_region_end (&chord, 0)));

  return side_of (work, chord, __ldcg (&work.edges.bins[i]))
      != side_of (work, chord, __ldcg (&work.edges.bins[first]));
}

#endif
