// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that turn a frame's sums into a basis and the gains of the next
// picture, by one block, in double, in the same steps as on the CPU.
#include <algorithm>
#include <cuda_pipeline.h>
#include "pca/pca-state.cuh"

#define CUV_PCA_LEARN_THREADS 512
#define CUV_PCA_MERGE_THREADS 256

// What shared memory holds, depending on the number of bands: nothing, the
// scratch memory of an update, or also sums and state.
enum { CUV_PCA_IN_GLOBAL, CUV_PCA_SCRATCH_SHARED, CUV_PCA_ALL_SHARED };

static __host__ __device__ inline int
state_doubles (int n)
{
  return CUV_PCA_SUMS (n) + CUV_PCA_STATE_DOUBLES (n);
}

static size_t
cuv_pca_learn_shared_bytes (int n, int where)
{
  const size_t state =
      where == CUV_PCA_ALL_SHARED ? state_doubles (n) * sizeof (double) : 0;

  return where == CUV_PCA_IN_GLOBAL ? 0 : CUV_PCA_SCRATCH_BYTES (n) + state;
}

// Zeroes n doubles, and copies n doubles asynchronously. Called by all threads;
// memory is 16-byte aligned, n even.
static __device__ __forceinline__ void
cuv_pca_clear_doubles (double *memory, int n)
{
  for (int i = threadIdx.x; i < n / 2; i += blockDim.x)
    ((uint4 *) memory)[i] = uint4{};
}

static __device__ __forceinline__ void
cuv_pca_fetch_doubles (double *to, const void *from, int n)
{
  for (int i = threadIdx.x; i < n / 2; i += blockDim.x)
    __pipeline_memcpy_async (
        (uint4 *) to + i, (const uint4 *) from + i, sizeof (uint4));
}

// Adds up the copies of the sums on and above the diagonal. For load balance a
// warp takes rows i and last - i together, at most 33 elements, with all loads
// in flight.
static __device__ __forceinline__ void
add_copies (CuvPcaGroup group, double *to, const CuvPcaSum *from, int n)
{
  const int side = n + 1;

#pragma unroll 1
  for (int fold = group.warp; fold < (side + 1) / 2; fold += group.warps) {
    int at[2];
    int64_t sums[2] = {};

#pragma unroll
    for (int e = 0; e < 2; e++) {
      const int k = min (group.lane + 32 * e, side);

      at[e] = k < side - fold ? fold * CUV_PCA_STRIDE (n) + fold + k
                              : (n - fold) * CUV_PCA_STRIDE (n) + k - 1;
    }
#pragma unroll
    for (int copy = 0; copy < CUV_PCA_SUM_COPIES; copy++) {
#pragma unroll
      for (int e = 0; e < 2; e++)
        sums[e] += from[copy * CUV_PCA_SUMS (n) + at[e]].i;
    }
#pragma unroll
    for (int e = 0; e < 2; e++) {
      if (group.lane + 32 * e <= side)
        ((int64_t *) to)[at[e]] = sums[e];
    }
  }
}

// The state that a block works on.
struct BlockState {
  const CuvPcaSum *sums;
  const double *numbers; // doubles of moments, frame and basis
  CuvPcaMoments moments, frame;
  CuvPcaBasis basis;
};

static __device__ __forceinline__ BlockState
block_state (const CuvPcaDeviceState &state, const CuvPcaSum *sums, int n,
    double *numbers)
{
  BlockState local;

  local.sums = sums;
  local.numbers = numbers;
  cuv_pca_place_basis (&local.basis, n, numbers);
  cuv_pca_place_moments (
      &local.moments, n, numbers + CUV_PCA_BASIS_DOUBLES (n));
  cuv_pca_place_moments (
      &local.frame, n, numbers + CUV_PCA_HISTORY_DOUBLES (n));
  local.moments.pixels = state.moments.pixels;
  local.basis.mode = state.basis.mode;
  local.basis.is_known = state.basis.is_known;
  return local;
}

// Returns a group of all threads of the block, in rows of COLUMNS lanes: 32, or
// fewer in a block of one warp.
template <int COLUMNS>
static __device__ __forceinline__ CuvPcaGroup
thread_group ()
{
  const int warps = COLUMNS == 32 ? (int) blockDim.x / 32 : 1;
  const int warp = COLUMNS == 32 ? cuv_warp_of_thread () : 0;
  const int lane = (int) threadIdx.x % 32;

  return CuvPcaGroup{ COLUMNS == 32 ? warp : lane / COLUMNS,
    warps * (32 / COLUMNS), lane % COLUMNS, COLUMNS, warp, warps, lane };
}

// Fills the report; called by one thread.
static __device__ __forceinline__ void
cuv_pca_report (const CuvPcaLearn &learn, const CuvPcaBasis &basis,
    int64_t pixels, const CuvPcaUpdate &update)
{
  learn.report->pixels = pixels;
  learn.report->update = update;
  learn.report->is_known = basis.is_known;
  learn.report->mode = basis.mode;
}

static __device__ __forceinline__ void
set_gains (
    CuvPcaGroup group, const CuvPcaLearn &learn, const CuvPcaBasis &basis)
{
  CuvPcaDeviceState *state = learn.state;

  if (!basis.is_known) {
    if (threadIdx.x < CUV_PCA_SHOWN)
      state->gains.offset[threadIdx.x] = 0.0;
    for (int i = threadIdx.x; i < CUV_PCA_SHOWN * CUV_CUBE_MAX_BANDS;
         i += blockDim.x)
      (&state->gains.gain[0][0])[i] = 0.0;
    if (threadIdx.x == 0)
      state->gains.top = state->gains.bias = 0.0;
    return;
  }
  cuv_pca_set_gains (
      group, &state->gains, &basis, &learn.display, &state->limits, 0);
  if (learn.counts)
    cuv_pca_set_gains (
        group, &state->bin_gains, &basis, &learn.display, nullptr, 1);
}

// Computes moments and basis from a frame's sums.
static __device__ __forceinline__ CuvPcaUpdate
learn_from (CuvPcaGroup group, const CuvPcaLearn &learn, BlockState *local,
    CuvPcaScratch *scratch)
{
  CuvPcaUpdate update = { 0, 0 };

  cuv_pca_find_moments (group, &local->frame, local->sums, learn.is_exact);
  if (local->frame.pixels == 0)
    return update;
  update.is_cut = cuv_pca_add_moments (group, &local->moments, &local->frame,
      learn.learning.smoothing, scratch->slots);
  if (cuv_pca_group_is_first (group)
      && (update.is_cut || local->basis.mode != learn.learning.mode))
    learn.state->has_limits = 0;
  if (update.is_cut)
    local->basis.is_known = 0;
  update.sweeps = cuv_pca_update_basis (
      group, &local->basis, &local->moments, &learn.learning, scratch);
  return update;
}

// Writes the state back to global memory, if it is not there, and to the host.
// Called by the warps that do not compute gains, if there are any.
template <int WHERE>
static __device__ __forceinline__ void
cuv_pca_store_state (
    CuvPcaGroup group, const CuvPcaLearn &learn, const BlockState &local)
{
  const int first = group.warps > CUV_PCA_SHOWN ? CUV_PCA_SHOWN : 0;
  const int step = 32 * (group.warps - first);
  const int at = 32 * (group.warp - first) + group.lane;
  const int n_sums = CUV_PCA_SUMS (learn.n);

  if (at < 0)
    return;
  for (int i = at; i < CUV_PCA_HISTORY_DOUBLES (learn.n); i += step) {
    const double number = local.numbers[i];

    if (i < CUV_PCA_BASIS_DOUBLES (learn.n))
      learn.reported[i] = number;
    if (WHERE == CUV_PCA_ALL_SHARED)
      learn.numbers[i] = number;
  }
  for (int i = at; learn.is_exact && i < n_sums; i += step) {
    learn.last_sums[i] = local.sums[i];
    for (int copy = 0; copy < CUV_PCA_COPIES (learn.n); copy++)
      learn.sums[copy * n_sums + i].i = 0;
  }
}

// One block. WHERE: what dynamic shared memory holds; COLUMNS: see
// thread_group().
template <int WHERE, int COLUMNS>
static __global__ void
__launch_bounds__ (COLUMNS < 32 ? 32 : CUV_PCA_LEARN_THREADS)
    learn_kernel (const __grid_constant__ CuvPcaLearn learn)
{
  extern __shared__ uint4 shared_of_block[];
  const CuvPcaGroup group = thread_group<COLUMNS> ();
  const int n = learn.n, n_sums = CUV_PCA_SUMS (n);
  double *sums = (double *) shared_of_block, *numbers = sums + n_sums;
  double *matrices =
      WHERE == CUV_PCA_ALL_SHARED ? sums + state_doubles (n) : sums;
  CuvPcaScratch scratch;

  cuv_pdl_trigger ();
  if (WHERE != CUV_PCA_IN_GLOBAL)
    cuv_pca_clear_doubles (matrices, CUV_PCA_SCRATCH_DOUBLES (n));
  // no wait needed: the first kernel of this frame waited for the previous
  // frame
  if (WHERE == CUV_PCA_ALL_SHARED) {
    cuv_pca_fetch_doubles (numbers, learn.numbers, CUV_PCA_HISTORY_DOUBLES (n));
    __pipeline_commit ();
  }
  BlockState local = WHERE == CUV_PCA_ALL_SHARED
      ? block_state (*learn.state, (const CuvPcaSum *) sums, n, numbers)
      : block_state (*learn.state, learn.sums, n, learn.numbers);
  scratch = WHERE == CUV_PCA_IN_GLOBAL ? learn.state->scratch
                                       : cuv_pca_scratch_in (matrices, n);
  cuv_pdl_wait ();
  if (WHERE == CUV_PCA_ALL_SHARED) {
    if (learn.is_exact && CUV_PCA_COPIES (n) > 1)
      add_copies (group, sums, learn.sums, n);
    else
      cuv_pca_fetch_doubles (sums, learn.sums, n_sums);
    __pipeline_commit ();
  }
  __pipeline_wait_prior (0);
  cuv_pca_group_sync (group);
  const CuvPcaUpdate update = learn_from (group, learn, &local, &scratch);

  if (threadIdx.x == blockDim.x - 1) { // first, because writes to the host take
                                       // longest
    cuv_pca_report (learn, local.basis, local.frame.pixels, update);
    learn.state->left_out = learn.n_pixels - local.frame.pixels;
    learn.state->moments.pixels = local.moments.pixels;
    learn.state->basis.mode = local.basis.mode;
    learn.state->basis.is_known = local.basis.is_known;
  }
  cuv_pca_store_state<WHERE> (group, learn, local);
  set_gains (group, learn, local.basis);
}

// Adds up the blocks' float sums in block order: one warp per sum, whose lanes
// each add every 32nd block.
static __global__ void
__launch_bounds__ (CUV_PCA_MERGE_THREADS)
    merge_kernel (const CuvPcaSum *from, int n_blocks, int n, CuvPcaSum *to)
{
  const int at =
      blockIdx.x * (CUV_PCA_MERGE_THREADS / 32) + cuv_warp_of_thread ();
  const int row = at / CUV_PCA_STRIDE (n), column = at % CUV_PCA_STRIDE (n);
  double sum = 0.0;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if (row > column || column > n)
    return;
#pragma unroll 8
  for (int i = threadIdx.x % 32; i < n_blocks; i += 32)
    sum += from[(size_t) i * CUV_PCA_SUMS (n) + at].d;
  sum = cuv_warp_sum (sum);
  if (threadIdx.x % 32 == 0)
    to[at].d = sum;
}

// One block, here and below: updates limits by the histogram, then gains.
static __global__ void
__launch_bounds__ (CUV_PCA_LEARN_THREADS)
    limits_kernel (const __grid_constant__ CuvPcaLearn learn)
{
  __shared__ CuvPcaLimits limits;
  const CuvPcaGroup group = thread_group<32> ();
  const int c = threadIdx.x;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  CuvPcaLimits *running = &learn.state->limits;

  if (c < CUV_PCA_SHOWN) {
    cuv_pca_find_limits (&limits,
        (const int64_t *) learn.bins + c * CUV_PCA_BINS,
        learn.display.percentile, c);
    const double weight = learn.state->has_limits ? learn.limits_weight : 1.0;

    running->low[c] += weight * (limits.low[c] - running->low[c]);
    running->high[c] += weight * (limits.high[c] - running->high[c]);
  }
  __syncthreads ();
  if (threadIdx.x == 0)
    learn.state->has_limits = 1;
  for (int i = threadIdx.x; i < CUV_PCA_SHOWN * CUV_PCA_BINS;
       i += CUV_PCA_LEARN_THREADS)
    learn.bins[i] = 0;
  set_gains (group, learn, learn.state->basis);
}

static __global__ void
__launch_bounds__ (CUV_PCA_LEARN_THREADS)
    gains_kernel (const __grid_constant__ CuvPcaLearn learn)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  set_gains (thread_group<32> (), learn, learn.state->basis);
}

static __global__ void
__launch_bounds__ (CUV_PCA_LEARN_THREADS)
    report_kernel (const __grid_constant__ CuvPcaLearn learn)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  for (int i = threadIdx.x; i < CUV_PCA_BASIS_DOUBLES (learn.n);
       i += CUV_PCA_LEARN_THREADS)
    learn.reported[i] = learn.numbers[i];
  if (threadIdx.x > 0)
    return;
  cuv_pca_report (learn, learn.state->basis,
      learn.n_pixels - (int64_t) *learn.left_out, CuvPcaUpdate{ 0, 0 });
  *learn.left_out = 0;
}

// Returns the number of threads: a warp per 8 x 8 elements of a matrix, up to a
// full block.
static int
threads_for (int n)
{
  const int tiles = cuv_div_up (n, 8) * cuv_div_up (n, 8);

  return std::min (32 * tiles, CUV_PCA_LEARN_THREADS);
}

template <int WHERE, int COLUMNS = 32>
static int
launch_learn (const CuvPcaLearn &learn, cudaStream_t stream)
{
  const size_t bytes = cuv_pca_learn_shared_bytes (learn.n, WHERE);

  if (cuv_cuda_allow_shared ((const void *) learn_kernel<WHERE, COLUMNS>, bytes)
      != 0)
    return -1;
  return cuv_launch_dependent ("learn_kernel", 1, threads_for (learn.n), bytes,
      stream, learn_kernel<WHERE, COLUMNS>, learn);
}

int
cuv_pca_learn_submit (const CuvPcaLearn &learn, cudaStream_t stream)
{
  const size_t max_shared =
      cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int n = learn.n;

  if (!learn.is_exact
      && cuv_launch_dependent ("merge_kernel",
             cuv_div_up (CUV_PCA_SUMS (n), CUV_PCA_MERGE_THREADS / 32),
             CUV_PCA_MERGE_THREADS, 0, stream, merge_kernel, learn.partial,
             learn.n_partial, n, learn.sums)
          != 0)
    return -1;
  if (n <= 8)
    return launch_learn<CUV_PCA_ALL_SHARED, 8> (learn, stream);
  if (cuv_pca_learn_shared_bytes (n, CUV_PCA_ALL_SHARED) <= max_shared)
    return launch_learn<CUV_PCA_ALL_SHARED> (learn, stream);
  return cuv_pca_learn_shared_bytes (n, CUV_PCA_SCRATCH_SHARED) <= max_shared
      ? launch_learn<CUV_PCA_SCRATCH_SHARED> (learn, stream)
      : launch_learn<CUV_PCA_IN_GLOBAL> (learn, stream);
}

int
cuv_pca_limits_submit (const CuvPcaLearn &learn, cudaStream_t stream)
{
  return cuv_launch_dependent ("limits_kernel", 1, CUV_PCA_LEARN_THREADS, 0,
      stream, limits_kernel, learn);
}

int
cuv_pca_gains_submit (const CuvPcaLearn &learn, cudaStream_t stream)
{
  return cuv_launch_dependent (
      "gains_kernel", 1, CUV_PCA_LEARN_THREADS, 0, stream, gains_kernel, learn);
}

int
cuv_pca_report_submit (const CuvPcaLearn &learn, cudaStream_t stream)
{
  return cuv_launch_dependent ("report_kernel", 1, CUV_PCA_LEARN_THREADS, 0,
      stream, report_kernel, learn);
}
