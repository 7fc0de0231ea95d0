// SPDX-License-Identifier: LGPL-2.1-or-later
// Refines several candidates. The first is the best window; each further one is
// the best window whose centre lies outside all candidates before it. The match
// is the candidate with the lowest score after refinement.
#include "rcd/search.cuh"

#define CANDIDATE_THREADS 256
#define PER_THREAD 4 // windows per thread

// Each block finds its best window whose centre lies outside all candidates so
// far. Grid: blocks of windows x targets.
static __global__ void
__launch_bounds__ (CANDIDATE_THREADS) next_window_kernel (
    const __grid_constant__ CuvRcdState state, int n_candidates)
{
  __shared__ CuvRcdBox candidates[CUV_RCD_MAX_CANDIDATES];
  const int t = blockIdx.y;
  CuvRcdBest best = { CUV_RCD_INFINITE, INT32_MAX };

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if ((int) threadIdx.x < n_candidates)
    candidates[threadIdx.x] =
        state.candidates[t * CUV_RCD_MAX_CANDIDATES + threadIdx.x];
  __syncthreads ();
  const int first = state.targets[t].first;
  const int n_windows = state.targets[t].n_windows;

  for (int j = 0; j < PER_THREAD; j++) {
    const int i =
        (blockIdx.x * PER_THREAD + j) * CANDIDATE_THREADS + (int) threadIdx.x;

    if (i >= n_windows)
      break;
    const CuvRcdBest one = { cuv_rcd_score_bits (state.scores[first + i]),
      first + i };
    bool better = cuv_rcd_is_better (one, best);

    for (int p = 0; better && p < n_candidates; p++)
      better = cuv_rcd_is_outside (state.centres[first + i], candidates[p]);
    best = better ? one : best;
  }
  best = cuv_rcd_block_best (best);
  if (threadIdx.x == 0)
    state.block_bests[(size_t) t * state.n_bests + blockIdx.x] = best;
}

// Keeps a refined match if it is the first, or better than the one kept so far.
// Called by all threads of the block.
static __device__ __forceinline__ void
keep_better (const CuvRcdState &state, int t, bool is_first)
{
  const CuvRcdMatch *match = &state.matches[t];
  CuvRcdMatch *kept = &state.best_matches[t];
  const bool better =
      is_first || (match->window >= 0 && match->score < kept->score);

  __syncthreads ();
  if (better)
    cuv_rcd_block_copy (kept, match);
  __syncthreads ();
}

// Keeps the candidate just refined if it is the best so far, and makes the best
// window of next_window_kernel() the match to refine next. Grid: targets.
static __global__ void
__launch_bounds__ (CANDIDATE_THREADS) candidate_kernel (
    const __grid_constant__ CuvRcdState state, int n_candidates)
{
  const int t = blockIdx.x;
  const CuvRcdBest *bests = state.block_bests + (size_t) t * state.n_bests;
  CuvRcdBest best = { CUV_RCD_INFINITE, INT32_MAX };

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const CuvRcdTarget &target = state.targets[t];
  const int n = cuv_div_up (target.n_windows, CANDIDATE_THREADS * PER_THREAD);

  for (int i = threadIdx.x; i < n; i += CANDIDATE_THREADS)
    best = cuv_rcd_is_better (bests[i], best) ? bests[i] : best;
  best = cuv_rcd_block_best (best);
  keep_better (state, t, n_candidates == 1);
  if (threadIdx.x != 0)
    return;
  CuvRcdMatch *match = &state.matches[t];

  match->window = -1;
  if (best.score < CUV_RCD_INFINITE) {
    const CuvRcdWindowPosition position =
        cuv_rcd_window_position (target, best.window);

    match->window = best.window;
    match->level = position.level;
    match->box =
        cuv_rcd_window_box (state, target.levels[position.level], position);
    match->score = cuv_rcd_score_from_bits (best.score);
    match->second = cuv_rcd_score_from_bits (state.first_scores[t]);
    state.candidates[t * CUV_RCD_MAX_CANDIDATES + n_candidates] = match->box;
  }
}

// Reports the best candidate after the last one was refined. Grid: targets.
static __global__ void
__launch_bounds__ (CANDIDATE_THREADS)
    best_candidate_kernel (const __grid_constant__ CuvRcdState state)
{
  const int t = blockIdx.x;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  keep_better (state, t, false);
  cuv_rcd_block_copy (&state.matches[t], &state.best_matches[t]);
  cuv_rcd_block_copy (&state.matches_pinned[t], &state.best_matches[t]);
}

// ---- launchers ----

static int
submit_candidate (const CuvRcdState &state, int max_windows, int n_candidates,
    cudaStream_t stream)
{
  const dim3 grid (cuv_div_up (max_windows > 0 ? max_windows : 1,
                       CANDIDATE_THREADS * PER_THREAD),
      state.n_targets);

  if (cuv_launch_dependent ("next_window_kernel", grid, CANDIDATE_THREADS, 0,
          stream, next_window_kernel, state, n_candidates)
          != 0
      || cuv_launch_dependent ("candidate_kernel", state.n_targets,
             CANDIDATE_THREADS, 0, stream, candidate_kernel, state,
             n_candidates)
          != 0)
    return -1;
  return cuv_rcd_fine_submit (state, stream);
}

int
cuv_rcd_candidates_submit (
    const CuvRcdState &state, int max_windows, cudaStream_t stream)
{
  if (cuv_rcd_fine_submit (state, stream) != 0)
    return -1;
  if (state.n_candidates == 1)
    return 0;
  for (int n = 1; n < state.n_candidates; n++) {
    if (submit_candidate (state, max_windows, n, stream) != 0)
      return -1;
  }
  return cuv_launch_dependent ("best_candidate_kernel", state.n_targets,
      CANDIDATE_THREADS, 0, stream, best_candidate_kernel, state);
}
