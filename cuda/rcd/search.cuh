// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels of the covariance search have in common: where its parts are
// in memory, and the steps they go through.
#ifndef CUV_RCD_SEARCH_CUH
#define CUV_RCD_SEARCH_CUH

#include "cuv-cuda.cuh"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

typedef unsigned long long CuvRcdBits; // of a score: ordered as scores are

#define CUV_RCD_WINDOWS_OF_BLOCK 64 // and one best
#define CUV_RCD_INFINITE 0x7ff0000000000000ULL

static_assert (CUV_RCD_MAX_CELL <= 32, "sums of a cell are within 32 bits");

// A window by how good it is: the least is the best, the first of those.
struct CuvRcdBest {
  CuvRcdBits score;
  int window;
};

// A search as kernels see it. Cells and integrals are the C reference's, over
// the area, but all of one sum before the next, so that windows side by side
// have theirs side by side.
struct CuvRcdState {
  CuvFrame frame;
  CuvRcdFeatures features;
  CuvRcdMetric metric;
  double lambda;
  int cell, n_sums, n_targets;
  CuvRcdArea area;
  const CuvRcdTarget *targets_from; // pinned
  CuvRcdTarget *targets;
  int64_t *cells, *integrals;
  double *scores;
  unsigned *centres;   // of windows: twice x, and twice y << 16
  CuvRcdBest *bests;   // of each block of windows, by target
  int n_bests;         // for each target
  CuvRcdBits *seconds; // a target's second-best score
  unsigned *done;      // a target's blocks that are done
  CuvRcdMatch *matches;
  CuvRcdMatch *matches_to; // pinned
  int refine, n_places;
  // of places, for each target: the boxes, the first one's score, the best so
  // far
  CuvRcdBox *places;
  CuvRcdBits *firsts;
  CuvRcdMatch *kept;
  // of refinement, for each target: in the same order
  int64_t *fine_cells, *fine_integrals; // all cells are 0 between searches
};

// The steps, each after the one before on the stream. Return 0 or -1.

int cuv_rcd_cells_submit (const CuvRcdState &state, cudaStream_t stream);

// n_grids grids, each of n_sums sums of n_rows x n_columns cells, become as
// many integrals. clear: the cells are 0 afterwards.
struct CuvRcdIntegrals {
  int64_t *from, *to;
  int n_columns, n_rows, n_sums, n_grids;
  bool clear;
};
int cuv_rcd_integrate_submit (const CuvRcdIntegrals &all, cudaStream_t stream);

// most: windows of a target.
int cuv_rcd_windows_submit (
    const CuvRcdState &state, int most, cudaStream_t stream);

// All rounds of refinement of all targets' matches.
int cuv_rcd_fine_submit (const CuvRcdState &state, cudaStream_t stream);

// The same of n_places places each, and the best of them.
int cuv_rcd_places_submit (
    const CuvRcdState &state, int most, cudaStream_t stream);

// Adds the sums over a box, places from the frame's top left.
int cuv_rcd_box_submit (const CuvRcdState &state, const CuvRcdBox &box,
    int64_t *sums, cudaStream_t stream);

int cuv_rcd_draw_submit (const CuvRcdState &state, const CuvFrame &frame,
    int target, double half, cudaStream_t stream);

// ---- what kernels share ----

static __device__ __forceinline__ CuvRcdBits
cuv_rcd_bits (double score)
{
  return (CuvRcdBits) __double_as_longlong (score);
}

static __device__ __forceinline__ double
cuv_rcd_score_of (CuvRcdBits bits)
{
  return __longlong_as_double ((long long) bits);
}

static __device__ __forceinline__ bool
cuv_rcd_is_better (const CuvRcdBest &a, const CuvRcdBest &b)
{
  return a.score < b.score || (a.score == b.score && a.window < b.window);
}

// The best that the threads of a block have, in all of them. By all threads of
// a block in one dimension of at most 16 warps.
static __device__ __forceinline__ CuvRcdBest
cuv_rcd_block_best (CuvRcdBest best)
{
  __shared__ CuvRcdBest bests[16];
  const int warps = (blockDim.x + 31) / 32;

#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) {
    const CuvRcdBest other = { __shfl_xor_sync (~0u, best.score, bit),
      __shfl_xor_sync (~0u, best.window, bit) };

    best = cuv_rcd_is_better (other, best) ? other : best;
  }
  if (threadIdx.x % 32 == 0)
    bests[threadIdx.x / 32] = best;
  __syncthreads ();
  best = bests[0];
  for (int i = 1; i < warps; i++)
    best = cuv_rcd_is_better (bests[i], best) ? bests[i] : best;
  __syncthreads (); // before bests are written again
  return best;
}

// Whether a window's centre lies outside a box.
static __device__ __forceinline__ bool
cuv_rcd_is_outside (unsigned centre, const CuvRcdBox &box)
{
  const int x = (int) (centre & 0xffff) - 2 * box.x;
  const int y = (int) (centre >> 16) - 2 * box.y;

  return x < 0 || y < 0 || x >= 2 * box.width || y >= 2 * box.height;
}

// A target or a match, by all threads of a block.
template <typename T>
static __device__ __forceinline__ void
cuv_rcd_copy (T *to, const T *from)
{
  static_assert (sizeof (T) % 8 == 0, "words of 64 bits");
  for (int i = threadIdx.x; i < (int) (sizeof (T) / 8); i += blockDim.x)
    ((long long *) to)[i] = ((const long long *) from)[i];
}

// Where a window is: the level it belongs to, and its place there.
struct CuvRcdPlace {
  int level, x, y;
};

static __device__ __forceinline__ CuvRcdPlace
cuv_rcd_place (const CuvRcdTarget &target, int window)
{
  CuvRcdPlace place = {};

  for (int l = 1; l < target.n_levels; l++)
    place.level = target.levels[l].first <= window ? l : place.level;
  const CuvRcdLevel &level = target.levels[place.level];
  const int i = window - level.first;

  place.y = i / level.n_x;
  place.x = i - place.y * level.n_x;
  return place;
}

static __device__ __forceinline__ CuvRcdBox
cuv_rcd_box (const CuvRcdState &state, const CuvRcdLevel &level,
    const CuvRcdPlace &place)
{
  return CuvRcdBox{ (state.area.column + level.x + place.x * level.step)
        * state.cell,
    (state.area.row + level.y + place.y * level.step) * state.cell,
    level.columns * state.cell, level.rows * state.cell };
}

// The sum over cells, from the crossing of lines at their upper left; to the
// right and down are so many values.
static __device__ __forceinline__ int64_t
cuv_rcd_corners (const int64_t *at, int right, int down)
{
  return at[down + right] - at[down] - at[right] + at[0];
}

// The same of the window at a place, sum after sum.
struct CuvRcdCorners {
  const int64_t *at;
  int right, down;
  size_t plane;

  __device__ __forceinline__
  CuvRcdCorners (const CuvRcdState &state, const CuvRcdLevel &level,
      const CuvRcdPlace &place)
  {
    const int pitch = state.area.n_columns + 1;

    at = state.integrals + (size_t) (level.y + place.y * level.step) * pitch
        + level.x + place.x * level.step;
    right = level.columns;
    down = level.rows * pitch;
    plane = (size_t) pitch * (state.area.n_rows + 1);
  }
  __device__ __forceinline__ int64_t
  sum (int i) const
  {
    return cuv_rcd_corners (at + i * plane, right, down);
  }
};

// Calls f<features> for the features of the state.
#define CUV_RCD_FOR_FEATURES(features, f, ...)                                 \
  ((features) == CUV_RCD_RGB_GRAD        ? f<CUV_RCD_RGB_GRAD> (__VA_ARGS__)   \
          : (features) == CUV_RCD_TUZEL9 ? f<CUV_RCD_TUZEL9> (__VA_ARGS__)     \
                                         : f<CUV_RCD_GREY_GRAD> (__VA_ARGS__))

#endif
