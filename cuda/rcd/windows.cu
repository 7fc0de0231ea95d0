// SPDX-License-Identifier: LGPL-2.1-or-later
// The scores of all windows, the best of them and the best elsewhere.
#include "rcd/search.cuh"

#define THREADS CUV_RCD_WINDOWS_OF_BLOCK
#define CONCLUDE_THREADS 256
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
  const CuvRcdCorners corners (state, level, place);
  int64_t sums[n_sums];

#pragma unroll
  for (int i = 0; i < n_sums; i++)
    sums[i] = corners.sum (i);
  state.centres[window] = (unsigned) (2 * box.x + box.width)
      | (unsigned) (2 * box.y + box.height) << 16;
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

struct Window {
  CuvRcdBits score;
  unsigned centre;
};

// The least score of some windows whose centres lie outside box.
static __device__ __forceinline__ CuvRcdBits
find_elsewhere (const Window *windows, const CuvRcdBox &box)
{
  CuvRcdBits least = CUV_RCD_INFINITE;

#pragma unroll
  for (int i = 0; i < PER_THREAD; i++) {
    if (windows[i].score < least && cuv_rcd_is_outside (windows[i].centre, box))
      least = windows[i].score;
  }
  return least;
}

// The best of all blocks. By all threads.
static __device__ __forceinline__ CuvRcdBest
find_best (const CuvRcdState &state, int n_bests)
{
  const CuvRcdBest *bests = state.bests + (size_t) blockIdx.y * state.n_bests;
  CuvRcdBest best = { CUV_RCD_INFINITE, INT32_MAX };

  for (int i = threadIdx.x; i < n_bests; i += CONCLUDE_THREADS)
    best = cuv_rcd_is_better (bests[i], best) ? bests[i] : best;
  return cuv_rcd_block_best (best);
}

// The sums over the box, of which x and y count from it then.
static __device__ void
sum_up (const CuvRcdState &state, const CuvRcdLevel &level,
    const CuvRcdPlace &place, CuvRcdMatch *match)
{
  const CuvRcdCorners corners (state, level, place);

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

// A match but for the second score, which other blocks look for. By all
// threads.
static __device__ void
write_match (const CuvRcdState &state, const CuvRcdTarget &target,
    const CuvRcdBest &best, const CuvRcdPlace &place, const CuvRcdBox &box)
{
  __shared__ CuvRcdMatch match;
  const bool found = best.score < CUV_RCD_INFINITE;

  if (threadIdx.x == 0) {
    match = CuvRcdMatch{};
    match.window = found ? best.window : -1;
    match.level = place.level;
    match.box = box;
    match.score = cuv_rcd_score_of (best.score);
    state.places[blockIdx.y * CUV_RCD_MAX_PLACES] = box;
    state.firsts[blockIdx.y] = best.score;
  }
  __syncthreads ();
  if (found)
    sum_up (state, target.levels[place.level], place, &match);
  __syncthreads ();
  copy_all_but_second (&state.matches[blockIdx.y], &match);
  copy_all_but_second (&state.matches_to[blockIdx.y], &match);
}

// Notes a block's second score; the last of a target's blocks to get here has
// it for all. By one thread.
static __device__ void
write_second (const CuvRcdState &state, CuvRcdBits second)
{
  const int t = blockIdx.y;

  atomicMin (&state.seconds[t], second);
  __threadfence ();
  if (atomicAdd (&state.done[t], 1u) != gridDim.x - 2)
    return;
  __threadfence ();
  const double score = cuv_rcd_score_of (atomicMin (&state.seconds[t], ~0ULL));

  state.matches[t].second = score;
  state.matches_to[t].second = score;
}

// The last block of each target has the match, the others the second score.
static __global__ void
__launch_bounds__ (CONCLUDE_THREADS)
    conclude_kernel (const __grid_constant__ CuvRcdState state)
{
  __shared__ CuvRcdTarget target;
  const bool matches = blockIdx.x == gridDim.x - 1;
  CuvRcdBest second = { CUV_RCD_INFINITE, 0 };
  CuvRcdPlace place = {};
  CuvRcdBox box = {};
  Window windows[PER_THREAD];

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  const CuvRcdTarget &from = state.targets[blockIdx.y];

#pragma unroll
  for (int j = 0; j < PER_THREAD; j++) { // on their way while the best is found
    const int i =
        (blockIdx.x * PER_THREAD + j) * CONCLUDE_THREADS + (int) threadIdx.x;

    windows[j] = Window{ CUV_RCD_INFINITE, 0 };
    if (!matches && i < from.n_windows) {
      windows[j].score = cuv_rcd_bits (__ldcg (&state.scores[from.first + i]));
      windows[j].centre = __ldcg (&state.centres[from.first + i]);
    }
  }
  cuv_rcd_copy (&target, &from);
  const CuvRcdBest best =
      find_best (state, (from.n_windows + THREADS - 1) / THREADS);

  if (best.score < CUV_RCD_INFINITE) {
    place = cuv_rcd_place (target, best.window);
    box = cuv_rcd_box (state, target.levels[place.level], place);
  }
  if (matches) {
    write_match (state, target, best, place, box);
    return;
  }
  second.score = find_elsewhere (windows, box);
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
      dim3 (cuv_div_up (n, CONCLUDE_THREADS * PER_THREAD) + 1, state.n_targets),
      CONCLUDE_THREADS, 0, stream, conclude_kernel, state);
}
