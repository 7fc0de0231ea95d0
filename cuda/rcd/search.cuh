// SPDX-License-Identifier: LGPL-2.1-or-later
// State, launchers and device helpers that the kernels of a search share.
#ifndef CUV_RCD_SEARCH_CUH
#define CUV_RCD_SEARCH_CUH

#include "cuv-cuda.cuh"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

// The bits of a score. Scores are not negative, so their bits have the same
// order, and atomicMin() works on them.
typedef unsigned long long CuvRcdScoreBits;

#define CUV_RCD_WINDOWS_PER_BLOCK 64
#define CUV_RCD_INFINITE 0x7ff0000000000000ULL // bits of +infinity

static_assert (CUV_RCD_MAX_CELL <= 32, "sums of larger cells overflow 32 bits");

// A window and its score.
struct CuvRcdBest {
  CuvRcdScoreBits score;
  int window;
};

// A search as kernels see it. Cells and integrals hold the C reference's
// values, but as one plane per sum, so that the reads of neighbouring windows
// coalesce.
struct CuvRcdState {
  CuvFrame frame;
  CuvRcdFeatures features;
  CuvRcdMetric metric;
  double lambda;
  int cell, n_sums, n_targets;
  CuvRcdArea area;
  const CuvRcdTarget *targets_pinned; // in host memory
  CuvRcdTarget *targets;
  int64_t *cells, *integrals;
  double *scores;                 // score of each window, by number
  unsigned *centres;              // centre of each window: 2 x | 2 y << 16
  CuvRcdBest *block_bests;        // best window, by target, then block of
                                  // windows
  int n_bests;                    // block_bests per target
  CuvRcdScoreBits *second_scores; // second-best score of each target
  unsigned *done;                 // number of finished blocks of each target
  CuvRcdMatch *matches;           // match of each target
  CuvRcdMatch *matches_pinned;    // in host memory
  int refine, n_candidates;
  // refinement of several candidates, per target: their boxes, the score of the
  // first one, the best match so far
  CuvRcdBox *candidates;
  CuvRcdScoreBits *first_scores;
  CuvRcdMatch *best_matches;
  // refinement, per target: planes of the uneven grid; between searches all
  // fine_cells are 0
  int64_t *fine_cells, *fine_integrals;
};

// Launchers, in the order of a search. They return 0, or -1 and set
// cuv_cuda_error().

// Computes the sums over the cells of the search area, and copies the targets
// to the device.
int cuv_rcd_cells_submit (const CuvRcdState &state, cudaStream_t stream);

// Integrates n_grids grids with n_sums planes of n_rows x n_columns cells each,
// and zeroes the cells if clear is set.
struct CuvRcdIntegrals {
  int64_t *from, *to;
  int n_columns, n_rows, n_sums, n_grids;
  bool clear;
};
int cuv_rcd_integrate_submit (
    const CuvRcdIntegrals &integrals, cudaStream_t stream);

// Scores all windows and finds the best and second best. max_windows: the
// largest n_windows of the targets.
int cuv_rcd_windows_submit (
    const CuvRcdState &state, int max_windows, cudaStream_t stream);

// Refines the matches of all targets, in all rounds.
int cuv_rcd_fine_submit (const CuvRcdState &state, cudaStream_t stream);

// Refines state.n_candidates windows per target and keeps the best.
int cuv_rcd_candidates_submit (
    const CuvRcdState &state, int max_windows, cudaStream_t stream);

// Adds the sums over a box to `sums`; x and y count from the frame's top left
// pixel.
int cuv_rcd_box_submit (const CuvRcdState &state, const CuvRcdBox &box,
    int64_t *sums, cudaStream_t stream);

// Fills n crops of the frame, one after the other in pixels.
struct CuvRcdCrops {
  CuvRcdCrop crop[CUV_RCD_MAX_TARGETS];
};
int cuv_rcd_crop_submit (const CuvFrame &frame, const CuvRcdCrops &crops, int n,
    uint8_t *pixels, cudaStream_t stream);

// See cuv_rcd_cuda_draw().
int cuv_rcd_draw_submit (const CuvRcdState &state, const CuvFrame &frame,
    int target, double half, cudaStream_t stream);

// ---- device helpers ----

static __device__ __forceinline__ CuvRcdScoreBits
cuv_rcd_score_bits (double score)
{
  return (CuvRcdScoreBits) __double_as_longlong (score);
}

static __device__ __forceinline__ double
cuv_rcd_score_from_bits (CuvRcdScoreBits bits)
{
  return __longlong_as_double ((long long) bits);
}

static __device__ __forceinline__ bool
cuv_rcd_is_better (const CuvRcdBest &a, const CuvRcdBest &b)
{
  return a.score < b.score || (a.score == b.score && a.window < b.window);
}

// Returns the best window of all threads of a one-dimensional block of at most
// 16 warps to all of them. Synchronises the block.
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
  __syncthreads (); // the next call overwrites shared memory
  return best;
}

// Returns whether a window's centre, as in CuvRcdState.centres, lies outside a
// box.
static __device__ __forceinline__ bool
cuv_rcd_is_outside (unsigned centre, const CuvRcdBox &box)
{
  const int x = (int) (centre & 0xffff) - 2 * box.x;
  const int y = (int) (centre >> 16) - 2 * box.y;

  return x < 0 || y < 0 || x >= 2 * box.width || y >= 2 * box.height;
}

// Copies a target or a match. Called by all threads of a block.
template <typename T>
static __device__ __forceinline__ void
cuv_rcd_block_copy (T *to, const T *from)
{
  static_assert (sizeof (T) % 8 == 0, "copied as 64-bit words");
  for (int i = threadIdx.x; i < (int) (sizeof (T) / 8); i += blockDim.x)
    ((long long *) to)[i] = ((const long long *) from)[i];
}

// The level of a window, and its column and row among the level's windows.
struct CuvRcdWindowPosition {
  int level, x, y;
};

static __device__ __forceinline__ CuvRcdWindowPosition
cuv_rcd_window_position (const CuvRcdTarget &target, int window)
{
  CuvRcdWindowPosition position = {};

  for (int l = 1; l < target.n_levels; l++)
    position.level = target.levels[l].first <= window ? l : position.level;
  const CuvRcdLevel &level = target.levels[position.level];
  const int i = window - level.first;

  position.y = i / level.n_x;
  position.x = i - position.y * level.n_x;
  return position;
}

static __device__ __forceinline__ CuvRcdBox
cuv_rcd_window_box (const CuvRcdState &state, const CuvRcdLevel &level,
    const CuvRcdWindowPosition &position)
{
  return CuvRcdBox{ (state.area.column + level.x + position.x * level.step)
        * state.cell,
    (state.area.row + level.y + position.y * level.step) * state.cell,
    level.columns * state.cell, level.rows * state.cell };
}

// Returns the sum over the cells between four entries of an integral image: the
// one at `at`, and those that are `right`, `down` or both entries further on.
static __device__ __forceinline__ int64_t
cuv_rcd_corners (const int64_t *at, int right, int down)
{
  return at[down + right] - at[down] - at[right] + at[0];
}

// Computes the sums over a window from the integral images.
struct CuvRcdCorners {
  const int64_t *at; // the top left entry of plane 0
  int right, down;   // distance to the other corners, in entries
  size_t plane;      // distance to the next plane, in entries

  __device__ __forceinline__
  CuvRcdCorners (const CuvRcdState &state, const CuvRcdLevel &level,
      const CuvRcdWindowPosition &position)
  {
    const int pitch = state.area.n_columns + 1;

    at = state.integrals + (size_t) (level.y + position.y * level.step) * pitch
        + level.x + position.x * level.step;
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

// Calls f<features> (...).
#define CUV_RCD_FOR_FEATURES(features, f, ...)                                 \
  ((features) == CUV_RCD_RGB_GRAD        ? f<CUV_RCD_RGB_GRAD> (__VA_ARGS__)   \
          : (features) == CUV_RCD_TUZEL9 ? f<CUV_RCD_TUZEL9> (__VA_ARGS__)     \
                                         : f<CUV_RCD_GREY_GRAD> (__VA_ARGS__))

#endif
