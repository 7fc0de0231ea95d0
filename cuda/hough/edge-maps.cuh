// SPDX-License-Identifier: LGPL-2.1-or-later
// Edge bitmaps on the GPU, computed in tiles, and the connected components of
// their undecided pixels by union-find. A node is a run of ones within a word,
// identified by its first pixel. A parent has a smaller index than its child;
// root 0 is the set of edges.
//
// Union by atomic minimum as in A. Hennequin, L. Lacassagne, L. Cabaret, Q.
// Meunier, A New Direct Connected Component Labeling and Analysis Algorithm for
// GPUs, DASIP 2018, after V. Oliveira, R. Lotufo.
#ifndef CUV_HOUGH_EDGE_MAPS_CUH
#define CUV_HOUGH_EDGE_MAPS_CUH

#include "cuv-cuda.cuh"
#include "cuv-frame.h"
#include "cuv-replay.cuh"
#include "hough/hough-types.h"

#define CUV_HOUGH_TILE_WORDS 4 // words of 32 pixels per row
#define CUV_HOUGH_TILE_WIDTH (32 * CUV_HOUGH_TILE_WORDS)
#define CUV_HOUGH_TILE_HEIGHT 32
// in words
#define CUV_HOUGH_TILE_SIZE (CUV_HOUGH_TILE_WORDS * CUV_HOUGH_TILE_HEIGHT)

// Counters and times of a frame, copied to the host.
struct CuvHoughCounters {
  unsigned n_edges;
  unsigned n_found; // peaks found
  unsigned n_segments;
  unsigned long long n_votes;
  // lengths of the lists before the splits, and before the splits that follow
  // bridging: edges << 32 | regions
  unsigned long long n_listed[2];
  unsigned n_bridged; // regions that look for others across gaps
  // times of the start, and when edges were found, votes counted, peaks sorted
  unsigned long long began_ns, listed_ns, voted_ns, ended_ns;
};

// Edges per orientation bin.
struct CuvHoughBinCounts {
  unsigned n[CUV_HOUGH_MAX_PERIOD];
  unsigned used[CUV_HOUGH_MAX_PERIOD]; // sorted so far
  // index of each bin's first sorted edge, and the end
  unsigned first[CUV_HOUGH_MAX_PERIOD + 1];
};

// Bit x % 32 of word x / 32 of row y is pixel (x, y). Maps are zero-padded to
// whole tiles.
struct CuvHoughMaps {
  int width, height;
  int tiles_x, tiles_y;
  unsigned *edges;
  unsigned *undecided; // pixels that are edges if they are connected to one in
                       // another tile
  int *parents;        // parents of nodes: one per pixel, after the root 0
  // the blurred frame, whose rows are as long as those of the maps; NULL
  // without an orientation window
  uint8_t *blurred;
  CuvHoughCounters *counters;
  CuvHoughBinCounts *bins; // NULL without an orientation window
};

static inline __host__ __device__ int
cuv_map_pitch (const CuvHoughMaps &maps)
{
  return maps.tiles_x * CUV_HOUGH_TILE_WORDS;
}

static inline __host__ __device__ size_t
cuv_map_words (const CuvHoughMaps &maps)
{
  return (size_t) maps.tiles_x * maps.tiles_y * CUV_HOUGH_TILE_SIZE;
}

static inline __host__ __device__ int
cuv_blurred_pitch (const CuvHoughMaps &maps) // bytes
{
  return maps.tiles_x * CUV_HOUGH_TILE_WIDTH;
}

// Returns the index in parents of the node that starts at a pixel.
static inline __host__ __device__ int
cuv_map_node (const CuvHoughMaps &maps, int x, int y)
{
  return 1 + y * 32 * cuv_map_pitch (maps) + x;
}

// Resets counters; called by one block of a frame's first kernel.
static __device__ __forceinline__ void
cuv_begin_frame (const CuvHoughMaps &maps)
{
  if (threadIdx.x == 0) {
    *maps.counters = CuvHoughCounters{};
    maps.counters->began_ns = cuv_nanoseconds ();
  }
  for (int i = threadIdx.x; maps.bins != nullptr && i < CUV_HOUGH_MAX_PERIOD;
       i += blockDim.x)
    maps.bins->n[i] = maps.bins->used[i] = 0;
}

// ---- components ----

// Returns the first bit of the run that contains a bit.
static __device__ __forceinline__ int
cuv_run_start (unsigned word, int bit)
{
  return 32 - __clz (~word & ((1u << bit) - 1));
}

// Returns a mask of the run that starts at a bit: an addition carries to its
// end.
static __device__ __forceinline__ unsigned
cuv_run_at (unsigned word, int start)
{
  return word & ~(word + (1u << start));
}

static __device__ __forceinline__ int
cuv_find_root (const volatile int *parents, int node)
{
  for (int parent; (parent = parents[node]) != node; node = parent)
    ;
  return node;
}

// Unites two sets, safely against concurrent calls. low becomes the parent of
// high unless high's parent is smaller; if high had another parent, the loop
// goes on to unite that parent with low.
static __device__ __forceinline__ void
cuv_unite (int *parents, int a, int b)
{
  while (a != b) {
    const int high = max (a, b), low = min (a, b);
    const int before = atomicMin (&parents[high], low);

    if (before == high)
      return; // high was a root
    a = before;
    b = low;
  }
}

// runs whose roots a thread looks up at the same time
#define CUV_HOUGH_RUNS_AT_ONCE 4

// Returns the final edges of a word, for kernels launched after
// cuv_hysteresis_submit(). Finding a root takes several dependent loads, so
// each step is taken for all runs before the next one.
static __device__ __forceinline__ unsigned
cuv_final_edges (
    const CuvHoughMaps &maps, unsigned edges, unsigned undecided, int x, int y)
{
  while (undecided != 0) {
    unsigned runs[CUV_HOUGH_RUNS_AT_ONCE];
    int nodes[CUV_HOUGH_RUNS_AT_ONCE];
    bool moved;

#pragma unroll
    for (int i = 0; i < CUV_HOUGH_RUNS_AT_ONCE; i++) {
      const int bit = undecided != 0 ? __ffs (undecided) - 1 : 0;

      runs[i] = undecided != 0 ? cuv_run_at (undecided, bit) : 0;
      nodes[i] = undecided != 0 ? cuv_map_node (maps, x + bit, y) : 0;
      undecided &= ~runs[i];
    }
    do {
      moved = false;
#pragma unroll
      for (int i = 0; i < CUV_HOUGH_RUNS_AT_ONCE; i++) {
        const int parent = nodes[i] != 0 ? __ldcg (&maps.parents[nodes[i]]) : 0;

        moved |= parent != nodes[i];
        nodes[i] = parent;
      }
    } while (moved);
#pragma unroll
    for (int i = 0; i < CUV_HOUGH_RUNS_AT_ONCE; i++)
      edges |= nodes[i] == 0 ? runs[i] : 0;
  }
  return edges;
}

// ---- launchers ----

// Computes a frame's maps, and the blurred frame if Canny blurs it, by one
// kernel. The next step is cuv_hysteresis_submit(); cuv_final_edges() resolves
// the pixels that are still undecided. recorded: NULL, or see CuvReplay.
int cuv_maps_submit (const CuvHoughMaps &maps, const CuvFrame &frame,
    const CuvCannyParams &params, cudaStream_t stream, CuvReplay *recorded);
// Computes the maps of a frame that is an edge map; nothing is undecided.
int cuv_maps_submit_input (const CuvHoughMaps &maps, const CuvFrame &frame,
    cudaStream_t stream, CuvReplay *recorded);

// Connects undecided runs across tiles; the kernel before it has connected
// those within tiles.
int cuv_hysteresis_submit (const CuvHoughMaps &maps, cudaStream_t stream);

static __device__ __forceinline__ int
cuv_hough_clamp (int v, int end)
{
  return min (max (v, 0), end - 1);
}

#endif
