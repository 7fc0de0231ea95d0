// SPDX-License-Identifier: LGPL-2.1-or-later
// Refinement of more places than the best window's: each time the best window
// elsewhere, and at the end the best place.
#include "rcd/search.cuh"

#define THREADS 256
#define PER_THREAD 4 // windows

// The best of some windows that lie outside all places so far, block by block.
static __global__ void
__launch_bounds__ (THREADS)
    beyond_kernel (const __grid_constant__ CuvRcdState state, int n_places)
{
  __shared__ CuvRcdBox places[CUV_RCD_MAX_PLACES];
  const int t = blockIdx.y;
  CuvRcdBest best = { CUV_RCD_INFINITE, INT32_MAX };

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  if ((int) threadIdx.x < n_places)
    places[threadIdx.x] = state.places[t * CUV_RCD_MAX_PLACES + threadIdx.x];
  __syncthreads ();
  const int first = state.targets[t].first;
  const int n_windows = state.targets[t].n_windows;

  for (int j = 0; j < PER_THREAD; j++) {
    const int i = (blockIdx.x * PER_THREAD + j) * THREADS + (int) threadIdx.x;

    if (i >= n_windows)
      break;
    const CuvRcdBest one = { cuv_rcd_bits (state.scores[first + i]),
      first + i };
    bool beyond = cuv_rcd_is_better (one, best);

    for (int p = 0; beyond && p < n_places; p++)
      beyond = cuv_rcd_is_outside (state.centres[first + i], places[p]);
    best = beyond ? one : best;
  }
  best = cuv_rcd_block_best (best);
  if (threadIdx.x == 0)
    state.bests[(size_t) t * state.n_bests + blockIdx.x] = best;
}

// Keeps a refined match if it is the first, or better than what was kept. By
// all threads.
static __device__ __forceinline__ void
keep_better (const CuvRcdState &state, int t, bool is_first)
{
  const CuvRcdMatch *match = &state.matches[t];
  CuvRcdMatch *kept = &state.kept[t];
  const bool better =
      is_first || (match->window >= 0 && match->score < kept->score);

  __syncthreads ();
  if (better)
    cuv_rcd_copy (kept, match);
  __syncthreads ();
}

// The next place becomes the match that is refined.
static __global__ void
__launch_bounds__ (THREADS)
    place_kernel (const __grid_constant__ CuvRcdState state, int n_places)
{
  const int t = blockIdx.x;
  const CuvRcdBest *bests = state.bests + (size_t) t * state.n_bests;
  CuvRcdBest best = { CUV_RCD_INFINITE, INT32_MAX };

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  const CuvRcdTarget &target = state.targets[t];
  const int n = cuv_div_up (target.n_windows, THREADS * PER_THREAD);

  for (int i = threadIdx.x; i < n; i += THREADS)
    best = cuv_rcd_is_better (bests[i], best) ? bests[i] : best;
  best = cuv_rcd_block_best (best);
  keep_better (state, t, n_places == 1);
  if (threadIdx.x != 0)
    return;
  CuvRcdMatch *match = &state.matches[t];

  match->window = -1;
  if (best.score < CUV_RCD_INFINITE) {
    const CuvRcdPlace place = cuv_rcd_place (target, best.window);

    match->window = best.window;
    match->level = place.level;
    match->box = cuv_rcd_box (state, target.levels[place.level], place);
    match->score = cuv_rcd_score_of (best.score);
    match->second = cuv_rcd_score_of (state.firsts[t]);
    state.places[t * CUV_RCD_MAX_PLACES + n_places] = match->box;
  }
}

static __global__ void
__launch_bounds__ (THREADS)
    best_place_kernel (const __grid_constant__ CuvRcdState state)
{
  const int t = blockIdx.x;

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  keep_better (state, t, false);
  cuv_rcd_copy (&state.matches[t], &state.kept[t]);
  cuv_rcd_copy (&state.matches_to[t], &state.kept[t]);
}

// ---- launchers ----

static int
submit_place (
    const CuvRcdState &state, int most, int n_places, cudaStream_t stream)
{
  const dim3 grid (
      cuv_div_up (most > 0 ? most : 1, THREADS * PER_THREAD), state.n_targets);

  if (cuv_launch_early ("beyond_kernel", grid, THREADS, 0, stream,
          beyond_kernel, state, n_places)
          != 0
      || cuv_launch_early ("place_kernel", state.n_targets, THREADS, 0, stream,
             place_kernel, state, n_places)
          != 0)
    return -1;
  return cuv_rcd_fine_submit (state, stream);
}

int
cuv_rcd_places_submit (const CuvRcdState &state, int most, cudaStream_t stream)
{
  if (cuv_rcd_fine_submit (state, stream) != 0)
    return -1;
  if (state.n_places == 1)
    return 0;
  for (int n = 1; n < state.n_places; n++) {
    if (submit_place (state, most, n, stream) != 0)
      return -1;
  }
  return cuv_launch_early ("best_place_kernel", state.n_targets, THREADS, 0,
      stream, best_place_kernel, state);
}
