// SPDX-License-Identifier: LGPL-2.1-or-later
// The scores of all windows, the best of them and the best elsewhere.
#include "rcd/search.cuh"

#define THREADS 128
#define MAX_WARPS (THREADS / 32)
#define PER_THREAD 4 // windows, where scores are only compared

// ---- scores ----

template <CuvRcdFeatures F, CuvRcdMetric M>
static __device__ double
score_window (const CuvRcdState &state, const CuvRcdTarget &target, int window)
{
  constexpr int n = F == CUV_RCD_TUZEL9 ? 9 : F == CUV_RCD_RGB_GRAD ? 5 : 3;
  constexpr int n_sums = CUV_RCD_SUMS (n);
  const CuvRcdPlace place = cuv_rcd_place (target, window);
  const CuvRcdLevel &level = target.levels[place.level];
  const CuvRcdBox box = cuv_rcd_box (state, level, place);
  const size_t pitch = (size_t) (state.area.n_columns + 1) * n_sums;
  const int left = (level.x + place.x * level.step) * n_sums;
  const int right = left + level.columns * n_sums;
  const int64_t *upper =
      state.integrals + (level.y + place.y * level.step) * pitch;
  const int64_t *lower = upper + level.rows * pitch;
  int64_t sums[n_sums];

#pragma unroll
  for (int i = 0; i < n_sums; i++)
    sums[i] = cuv_rcd_corners (upper, lower, left, right, i);
  return cuv_rcd_score (sums, n, &box, &target.model, M, state.lambda);
}

template <CuvRcdFeatures F, CuvRcdMetric M>
static __global__ void
__launch_bounds__ (THREADS)
    windows_kernel (const __grid_constant__ CuvRcdState state)
{
  __shared__ CuvRcdTarget target;
  CuvRcdBest best = { CUV_RCD_INFINITE, INT32_MAX };

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  cuv_rcd_copy (&target, &state.targets[blockIdx.y]);
  __syncthreads ();
  const int i = blockIdx.x * THREADS + threadIdx.x;

  if (i < target.n_windows) {
    const int window = target.first + i;
    const double score = score_window<F, M> (state, target, window);

    state.scores[window] = score;
    best = CuvRcdBest{ cuv_rcd_bits (score), window };
  }
  best = cuv_rcd_block_best (best);
  if (threadIdx.x == 0)
    state.bests[(size_t) blockIdx.y * state.n_bests + blockIdx.x] = best;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state.seconds[blockIdx.y] = CUV_RCD_INFINITE;
    state.done[blockIdx.y] = 0;
  }
}

// ---- the best, and the best elsewhere ----

// The least score of the windows of this block whose centres lie outside box.
static __device__ CuvRcdBits
find_elsewhere (
    const CuvRcdState &state, const CuvRcdTarget &target, const CuvRcdBox &box)
{
  CuvRcdBits least = CUV_RCD_INFINITE;

  for (int j = 0; j < PER_THREAD; j++) {
    const int i = (blockIdx.x * PER_THREAD + j) * THREADS + threadIdx.x;
    const int window = target.first + i;

    if (i >= target.n_windows)
      break;
    const CuvRcdBits score = cuv_rcd_bits (__ldcg (&state.scores[window]));

    if (score >= least)
      continue;
    const CuvRcdPlace place = cuv_rcd_place (target, window);
    const CuvRcdBox other =
        cuv_rcd_box (state, target.levels[place.level], place);
    const int x = 2 * (other.x - box.x) + other.width;
    const int y = 2 * (other.y - box.y) + other.height;

    if (x < 0 || y < 0 || x >= 2 * box.width || y >= 2 * box.height)
      least = score;
  }
  return least;
}

// The sums over the box, of which x and y count from it then.
static __device__ void
sum_up (const CuvRcdState &state, const CuvRcdLevel &level,
    const CuvRcdPlace &place, CuvRcdMatch *match)
{
  const size_t pitch = (size_t) (state.area.n_columns + 1) * state.n_sums;
  const int left = (level.x + place.x * level.step) * state.n_sums;
  const int64_t *upper =
      state.integrals + (level.y + place.y * level.step) * pitch;

  for (int i = threadIdx.x; i < state.n_sums; i += THREADS)
    match->sums[i] = cuv_rcd_corners (upper, upper + level.rows * pitch, left,
        left + level.columns * state.n_sums, i);
  __syncthreads ();
  if (threadIdx.x == 0 && state.features == CUV_RCD_TUZEL9)
    cuv_rcd_move_origin (match->sums, 9,
        (int64_t) match->box.width * match->box.height, match->box.x,
        match->box.y);
}

// Whether this block is the last of a target's to get here. By all threads.
static __device__ bool
is_last (const CuvRcdState &state)
{
  __shared__ bool last;

  if (threadIdx.x == 0) {
    __threadfence ();
    last = atomicAdd (&state.done[blockIdx.y], 1u) == gridDim.x - 1;
    __threadfence ();
  }
  __syncthreads ();
  return last;
}

static __global__ void
__launch_bounds__ (THREADS)
    conclude_kernel (const __grid_constant__ CuvRcdState state)
{
  __shared__ CuvRcdTarget target;
  __shared__ CuvRcdMatch match;
  const int t = blockIdx.y;
  CuvRcdBest best = { CUV_RCD_INFINITE, INT32_MAX };
  CuvRcdPlace place = {};
  CuvRcdBox box = {};

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  cuv_rcd_copy (&target, &state.targets[t]);
  __syncthreads ();
  for (int i = threadIdx.x; i * THREADS < target.n_windows; i += THREADS) {
    const CuvRcdBest other = state.bests[(size_t) t * state.n_bests + i];

    best = cuv_rcd_is_better (other, best) ? other : best;
  }
  best = cuv_rcd_block_best (best);
  const bool found = best.score < CUV_RCD_INFINITE;

  if (found) {
    CuvRcdBest second = { CUV_RCD_INFINITE, 0 };

    place = cuv_rcd_place (target, best.window);
    box = cuv_rcd_box (state, target.levels[place.level], place);
    second.score = find_elsewhere (state, target, box);
    second = cuv_rcd_block_best (second);
    if (threadIdx.x == 0)
      atomicMin (&state.seconds[t], second.score);
  }
  if (!is_last (state))
    return;
  if (threadIdx.x == 0) {
    match = CuvRcdMatch{};
    match.window = found ? best.window : -1;
    match.level = place.level;
    match.box = box;
    match.score = cuv_rcd_score_of (best.score);
    match.second = cuv_rcd_score_of (atomicMin (&state.seconds[t], ~0ULL));
  }
  __syncthreads ();
  if (found)
    sum_up (state, target.levels[place.level], place, &match);
  __syncthreads ();
  cuv_rcd_copy (&state.matches[t], &match);
  cuv_rcd_copy (&state.matches_to[t], &match);
}

// ---- launchers ----

template <CuvRcdFeatures F>
static int
submit_scores (const CuvRcdState &state, dim3 grid, cudaStream_t stream)
{
  return state.metric == CUV_RCD_JBLD
      ? cuv_launch_early ("windows_kernel", grid, THREADS, 0, stream,
          windows_kernel<F, CUV_RCD_JBLD>, state)
      : cuv_launch_early ("windows_kernel", grid, THREADS, 0, stream,
          windows_kernel<F, CUV_RCD_FORSTNER>, state);
}

int
cuv_rcd_windows_submit (const CuvRcdState &state, int most, cudaStream_t stream)
{
  const int n = most > 0 ? most : 1;
  const dim3 grid (cuv_div_up (n, THREADS), state.n_targets);

  if (CUV_RCD_FOR_FEATURES (state.features, submit_scores, state, grid, stream)
      != 0)
    return -1;
  return cuv_launch_early ("conclude_kernel",
      dim3 (cuv_div_up (n, THREADS * PER_THREAD), state.n_targets), THREADS, 0,
      stream, conclude_kernel, state);
}
