// SPDX-License-Identifier: LGPL-2.1-or-later
// Scores all windows and finds the best one and the second best: the best whose
// centre lies outside the best one.
#include "rcd/search.cuh"

#define SCORE_THREADS CUV_RCD_WINDOWS_PER_BLOCK
#define CONCLUDE_THREADS 256
#define PER_THREAD 4 // windows per thread of conclude_kernel

// ---- scores ----

template <CuvRcdFeatures F, CuvRcdMetric M>
static __device__ double
score_window (const CuvRcdState &state, const CuvRcdTarget &target, int window)
{
  constexpr int n = CUV_RCD_N_FEATURES (F);
  constexpr int n_sums = CUV_RCD_SUMS (n);
  const CuvRcdWindowPosition position =
      cuv_rcd_window_position (target, window);
  const CuvRcdLevel &level = target.levels[position.level];
  const CuvRcdBox box = cuv_rcd_window_box (state, level, position);
  const CuvRcdCorners corners (state, level, position);
  int64_t sums[n_sums];

#pragma unroll
  for (int i = 0; i < n_sums; i++)
    sums[i] = corners.sum (i);
  state.centres[window] = (unsigned) (2 * box.x + box.width)
      | (unsigned) (2 * box.y + box.height) << 16;
  return cuv_rcd_score (sums, n, &box, &target.model, M, state.lambda);
}

// Scores windows. One thread per window. Grid: blocks of windows x targets.
template <CuvRcdFeatures F, CuvRcdMetric M>
static __global__ void
__launch_bounds__ (SCORE_THREADS)
    windows_kernel (const __grid_constant__ CuvRcdState state)
{
  __shared__ CuvRcdTarget target;
  CuvRcdBest best = { CUV_RCD_INFINITE, INT32_MAX };

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  cuv_rcd_block_copy (&target, &state.targets[blockIdx.y]);
  __syncthreads ();
  const int i = blockIdx.x * SCORE_THREADS + threadIdx.x;

  if (i < target.n_windows) {
    const int window = target.first + i;
    const double score = score_window<F, M> (state, target, window);

    state.scores[window] = score;
    best = CuvRcdBest{ cuv_rcd_score_bits (score), window };
  }
  best = cuv_rcd_block_best (best);
  if (threadIdx.x == 0)
    state.block_bests[(size_t) blockIdx.y * state.n_bests + blockIdx.x] = best;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state.second_scores[blockIdx.y] = CUV_RCD_INFINITE;
    state.done[blockIdx.y] = 0;
  }
}

// ---- best and second best ----

struct Window {
  CuvRcdScoreBits score;
  unsigned centre;
};

// Returns the lowest score of the thread's windows whose centres lie outside
// box.
static __device__ __forceinline__ CuvRcdScoreBits
find_second (const Window *windows, const CuvRcdBox &box)
{
  CuvRcdScoreBits lowest = CUV_RCD_INFINITE;

#pragma unroll
  for (int i = 0; i < PER_THREAD; i++) {
    if (windows[i].score < lowest
        && cuv_rcd_is_outside (windows[i].centre, box))
      lowest = windows[i].score;
  }
  return lowest;
}

// Returns the best window of all blocks of windows_kernel(). Called by all
// threads of the block.
static __device__ __forceinline__ CuvRcdBest
find_best (const CuvRcdState &state, int n_bests)
{
  const CuvRcdBest *block_bests =
      state.block_bests + (size_t) blockIdx.y * state.n_bests;
  CuvRcdBest best = { CUV_RCD_INFINITE, INT32_MAX };

  for (int i = threadIdx.x; i < n_bests; i += CONCLUDE_THREADS)
    best = cuv_rcd_is_better (block_bests[i], best) ? block_bests[i] : best;
  return cuv_rcd_block_best (best);
}

// Computes the sums over the match's box; x and y count from the box.
static __device__ void
sum_up (const CuvRcdState &state, const CuvRcdLevel &level,
    const CuvRcdWindowPosition &position, CuvRcdMatch *match)
{
  const CuvRcdCorners corners (state, level, position);

  for (int i = threadIdx.x; i < state.n_sums; i += CONCLUDE_THREADS)
    match->sums[i] = corners.sum (i);
  __syncthreads ();
  if (threadIdx.x == 0 && state.features == CUV_RCD_TUZEL9)
    cuv_rcd_move_origin (match->sums, 9,
        (int64_t) match->box.width * match->box.height, match->box.x,
        match->box.y);
}

static __device__ __forceinline__ void
copy_all_but_second (CuvRcdMatch *to, const CuvRcdMatch *from)
{
  for (int i = threadIdx.x; i < (int) (sizeof *to / 8); i += CONCLUDE_THREADS) {
    if (i != offsetof (CuvRcdMatch, second) / 8)
      ((long long *) to)[i] = ((const long long *) from)[i];
  }
}

// Writes a match except its second score, which other blocks compute. Called by
// all threads of the block.
static __device__ void
write_match (const CuvRcdState &state, const CuvRcdTarget &target,
    const CuvRcdBest &best, const CuvRcdWindowPosition &position,
    const CuvRcdBox &box)
{
  __shared__ CuvRcdMatch match;
  const bool found = best.score < CUV_RCD_INFINITE;

  if (threadIdx.x == 0) {
    match = CuvRcdMatch{};
    match.window = found ? best.window : -1;
    match.level = position.level;
    match.box = box;
    match.score = cuv_rcd_score_from_bits (best.score);
    state.candidates[blockIdx.y * CUV_RCD_MAX_CANDIDATES] = box;
    state.first_scores[blockIdx.y] = best.score;
  }
  __syncthreads ();
  if (found)
    sum_up (state, target.levels[position.level], position, &match);
  __syncthreads ();
  copy_all_but_second (&state.matches[blockIdx.y], &match);
  copy_all_but_second (&state.matches_pinned[blockIdx.y], &match);
}

// Merges a block's second score; the last block of a target to arrive writes
// the result. Called by one thread of the block.
static __device__ void
write_second (const CuvRcdState &state, CuvRcdScoreBits second)
{
  const int t = blockIdx.y;

  atomicMin (&state.second_scores[t], second);
  __threadfence ();
  if (atomicAdd (&state.done[t], 1u) != gridDim.x - 2)
    return;
  __threadfence ();
  const double score =
      cuv_rcd_score_from_bits (atomicMin (&state.second_scores[t], ~0ULL));

  state.matches[t].second = score;
  state.matches_pinned[t].second = score;
}

// The last block of each target writes the match, the others the second score.
// Each computes the best window itself, which saves another kernel. Grid:
// (blocks of windows + 1) x targets.
static __global__ void
__launch_bounds__ (CONCLUDE_THREADS)
    conclude_kernel (const __grid_constant__ CuvRcdState state)
{
  __shared__ CuvRcdTarget target;
  const bool writes_match = blockIdx.x == gridDim.x - 1;
  CuvRcdBest second = { CUV_RCD_INFINITE, 0 };
  CuvRcdWindowPosition position = {};
  CuvRcdBox box = {};
  Window windows[PER_THREAD];

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const CuvRcdTarget &from = state.targets[blockIdx.y];

#pragma unroll
  for (int j = 0; j < PER_THREAD; j++) { // its loads overlap find_best()
    const int i =
        (blockIdx.x * PER_THREAD + j) * CONCLUDE_THREADS + (int) threadIdx.x;

    windows[j] = Window{ CUV_RCD_INFINITE, 0 };
    if (!writes_match && i < from.n_windows) {
      windows[j].score =
          cuv_rcd_score_bits (__ldcg (&state.scores[from.first + i]));
      windows[j].centre = __ldcg (&state.centres[from.first + i]);
    }
  }
  cuv_rcd_block_copy (&target, &from);
  const CuvRcdBest best =
      find_best (state, (from.n_windows + SCORE_THREADS - 1) / SCORE_THREADS);

  if (best.score < CUV_RCD_INFINITE) {
    position = cuv_rcd_window_position (target, best.window);
    box = cuv_rcd_window_box (state, target.levels[position.level], position);
  }
  if (writes_match) {
    write_match (state, target, best, position, box);
    return;
  }
  second.score = find_second (windows, box);
  second = cuv_rcd_block_best (second);
  if (threadIdx.x == 0)
    write_second (state, second.score);
}

// ---- launchers ----

template <CuvRcdFeatures F>
static int
submit_scores (const CuvRcdState &state, dim3 grid, cudaStream_t stream)
{
  return state.metric == CUV_RCD_JBLD
      ? cuv_launch_dependent ("windows_kernel", grid, SCORE_THREADS, 0, stream,
          windows_kernel<F, CUV_RCD_JBLD>, state)
      : cuv_launch_dependent ("windows_kernel", grid, SCORE_THREADS, 0, stream,
          windows_kernel<F, CUV_RCD_FORSTNER>, state);
}

int
cuv_rcd_windows_submit (
    const CuvRcdState &state, int max_windows, cudaStream_t stream)
{
  const int n = max_windows > 0 ? max_windows : 1;
  const dim3 grid (cuv_div_up (n, SCORE_THREADS), state.n_targets);

  if (CUV_RCD_FOR_FEATURES (state.features, submit_scores, state, grid, stream)
      != 0)
    return -1;
  return cuv_launch_dependent ("conclude_kernel",
      dim3 (cuv_div_up (n, CONCLUDE_THREADS * PER_THREAD) + 1, state.n_targets),
      CONCLUDE_THREADS, 0, stream, conclude_kernel, state);
}
