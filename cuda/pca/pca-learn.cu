// SPDX-License-Identifier: LGPL-2.1-or-later
// The update by a frame: from its sums to the basis and to the gains of the
// next picture, by one block, in double, in the same steps as on the CPU.
#include <algorithm>
#include "pca/pca-local.cuh"

#define THREADS 512
#define MERGE_THREADS 256

// Threads in rows of COLUMNS lanes: 32, or fewer in a block of one warp.
template <int COLUMNS>
static __device__ __forceinline__ CuvThreadGroup
thread_group ()
{
  const int warps = COLUMNS == 32 ? (int) blockDim.x / 32 : 1;
  const int warp = COLUMNS == 32 ? cuv_warp_of_thread () : 0;
  const int lane = (int) threadIdx.x % 32;

  return CuvThreadGroup{ COLUMNS == 32 ? warp : lane / COLUMNS,
    warps * (32 / COLUMNS), lane % COLUMNS, COLUMNS, warp, warps, lane };
}

// Called by one thread.
static __device__ __forceinline__ void
report (const CuvPcaLearn &learn, const CuvPcaBasis &basis, int64_t pixels,
    const CuvPcaUpdate &update)
{
  learn.report->pixels = pixels;
  learn.report->update = update;
  learn.report->is_known = basis.is_known;
  learn.report->mode = basis.mode;
}

static __device__ __forceinline__ void
set_gains (
    CuvThreadGroup group, const CuvPcaLearn &learn, const CuvPcaBasis &basis)
{
  CuvPcaKnown *known = learn.known;

  if (!basis.is_known) {
    if (threadIdx.x < CUV_PCA_SHOWN)
      known->gains.offset[threadIdx.x] = 0.0;
    for (int i = threadIdx.x; i < CUV_PCA_SHOWN * CUV_CUBE_MAX_BANDS;
         i += blockDim.x)
      (&known->gains.gain[0][0])[i] = 0.0;
    if (threadIdx.x == 0)
      known->gains.top = known->gains.bias = 0.0;
    return;
  }
  cuv_pca_set_gains (
      group, &known->gains, &basis, &learn.display, &known->limits, 0);
  if (learn.counts)
    cuv_pca_set_gains (
        group, &known->bin_gains, &basis, &learn.display, nullptr, 1);
}

static __device__ __forceinline__ CuvPcaUpdate
learn_from (CuvThreadGroup group, const CuvPcaLearn &learn, CuvPcaLocal *local,
    CuvPcaScratch *scratch)
{
  CuvPcaUpdate update = { 0, 0 };

  cuv_pca_find_moments (group, &local->frame, local->sums, learn.is_exact);
  if (local->frame.pixels == 0)
    return update;
  update.is_cut = cuv_pca_add_moments (group, &local->moments, &local->frame,
      learn.learning.smoothing, scratch->slots);
  if (cuv_group_is_first (group)
      && (update.is_cut || local->basis.mode != learn.learning.mode))
    learn.known->has_limits = 0;
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
store (CuvThreadGroup group, const CuvPcaLearn &learn, const CuvPcaLocal &local)
{
  const int first = group.warps > CUV_PCA_SHOWN ? CUV_PCA_SHOWN : 0;
  const int step = 32 * (group.warps - first);
  const int at = 32 * (group.warp - first) + group.lane;
  const int n_sums = CUV_PCA_SUMS (learn.n);

  if (at < 0)
    return;
  for (int i = at; i < CUV_PCA_RETAINED (learn.n); i += step) {
    const double number = local.numbers[i];

    if (i < CUV_PCA_REPORTED (learn.n))
      learn.reported[i] = number;
    if (WHERE == CUV_PCA_ALL)
      learn.numbers[i] = number;
  }
  for (int i = at; learn.is_exact && i < n_sums; i += step) {
    learn.last_sums[i] = local.sums[i];
    for (int copy = 0; copy < CUV_PCA_COPIES (learn.n); copy++)
      learn.sums[copy * n_sums + i].i = 0;
  }
}

template <int WHERE, int COLUMNS>
static __global__ void
__launch_bounds__ (COLUMNS < 32 ? 32 : THREADS)
    learn_kernel (const __grid_constant__ CuvPcaLearn learn)
{
  extern __shared__ uint4 shared_of_block[];
  const CuvThreadGroup group = thread_group<COLUMNS> ();
  const int n = learn.n, n_sums = CUV_PCA_SUMS (n);
  double *sums = (double *) shared_of_block, *numbers = sums + n_sums;
  double *matrices =
      WHERE == CUV_PCA_ALL ? sums + cuv_pca_state_doubles (n) : sums;
  CuvPcaScratch scratch;

  cuv_pdl_trigger ();
  if (WHERE != CUV_PCA_NOTHING)
    cuv_pca_clear (matrices, cuv_pca_scratch_doubles (n));
  // this frame's sums have already waited for the previous frame
  if (WHERE == CUV_PCA_ALL) {
    cuv_pca_fetch (numbers, learn.numbers, CUV_PCA_RETAINED (n));
    __pipeline_commit ();
  }
  CuvPcaLocal local = WHERE == CUV_PCA_ALL
      ? cuv_pca_local (*learn.known, (const CuvPcaSum *) sums, n, numbers)
      : cuv_pca_local (*learn.known, learn.sums, n, learn.numbers);
  scratch = WHERE == CUV_PCA_NOTHING ? learn.known->scratch
                                     : cuv_pca_scratch_in (matrices, n);
  cuv_pdl_wait ();
  if (WHERE == CUV_PCA_ALL) {
    if (learn.is_exact && CUV_PCA_COPIES (n) > 1)
      cuv_pca_add_copies (group, sums, learn.sums, n);
    else
      cuv_pca_fetch (sums, learn.sums, n_sums);
    __pipeline_commit ();
  }
  __pipeline_wait_prior (0);
  cuv_group_sync (group);
  const CuvPcaUpdate update = learn_from (group, learn, &local, &scratch);

  if (threadIdx.x == blockDim.x - 1) { // first: writes to the host take longest
    report (learn, local.basis, local.frame.pixels, update);
    learn.known->moments.pixels = local.moments.pixels;
    learn.known->basis.mode = local.basis.mode;
    learn.known->basis.is_known = local.basis.is_known;
  }
  store<WHERE> (group, learn, local);
  set_gains (group, learn, local.basis);
}

// Adds up the blocks' float sums in block order; one warp per sum, each lane
// every 32nd block.
static __global__ void
__launch_bounds__ (MERGE_THREADS)
    merge_kernel (const CuvPcaSum *from, int n_blocks, int n, CuvPcaSum *to)
{
  const int at = blockIdx.x * (MERGE_THREADS / 32) + cuv_warp_of_thread ();
  const int row = at / CUV_PCA_STRIDE (n), column = at % CUV_PCA_STRIDE (n);
  double sum = 0.0;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if (row > column || column > n)
    return;
#pragma unroll 8
  for (int i = threadIdx.x % 32; i < n_blocks; i += 32)
    sum += from[(size_t) i * CUV_PCA_SUMS (n) + at].d;
  for (int bit = 16; bit > 0; bit /= 2)
    sum += __shfl_xor_sync (~0u, sum, bit);
  if (threadIdx.x % 32 == 0)
    to[at].d = sum;
}

static __global__ void
__launch_bounds__ (THREADS)
    limits_kernel (const __grid_constant__ CuvPcaLearn learn)
{
  __shared__ CuvPcaLimits limits;
  const CuvThreadGroup group = thread_group<32> ();
  const int c = threadIdx.x;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  CuvPcaLimits *known = &learn.known->limits;

  if (c < CUV_PCA_SHOWN) {
    cuv_pca_find_limits (&limits,
        (const int64_t *) learn.bins + c * CUV_PCA_BINS,
        learn.display.percentile, c);
    const double share = learn.known->has_limits ? learn.limits_share : 1.0;

    known->low[c] += share * (limits.low[c] - known->low[c]);
    known->high[c] += share * (limits.high[c] - known->high[c]);
  }
  __syncthreads ();
  if (threadIdx.x == 0)
    learn.known->has_limits = 1;
  for (int i = threadIdx.x; i < CUV_PCA_SHOWN * CUV_PCA_BINS; i += THREADS)
    learn.bins[i] = 0;
  set_gains (group, learn, learn.known->basis);
}

static __global__ void
__launch_bounds__ (THREADS)
    gains_kernel (const __grid_constant__ CuvPcaLearn learn)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  set_gains (thread_group<32> (), learn, learn.known->basis);
}

static __global__ void
__launch_bounds__ (THREADS)
    report_kernel (const __grid_constant__ CuvPcaLearn learn)
{
  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  for (int i = threadIdx.x; i < CUV_PCA_REPORTED (learn.n); i += THREADS)
    learn.reported[i] = learn.numbers[i];
  if (threadIdx.x > 0)
    return;
  report (learn, learn.known->basis, learn.n_pixels - (int64_t) *learn.left_out,
      CuvPcaUpdate{ 0, 0 });
  *learn.left_out = 0;
}

// One warp per 8 x 8 elements of a matrix, up to a full block.
static int
threads_for (int n)
{
  const int tiles = cuv_div_up (n, 8) * cuv_div_up (n, 8);

  return std::min (32 * tiles, THREADS);
}

template <int WHERE, int COLUMNS = 32>
static int
launch_learn (const CuvPcaLearn &learn, cudaStream_t stream)
{
  const size_t bytes = cuv_pca_local_bytes (learn.n, WHERE);

  if (cuv_cuda_allow_shared ((const void *) learn_kernel<WHERE, COLUMNS>, bytes)
      != 0)
    return -1;
  return cuv_launch_dependent ("learn_kernel", 1, threads_for (learn.n), bytes,
      stream, learn_kernel<WHERE, COLUMNS>, learn);
}

int
cuv_pca_learn_submit (const CuvPcaLearn &learn, cudaStream_t stream)
{
  const size_t most =
      cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int n = learn.n;

  if (!learn.is_exact
      && cuv_launch_dependent ("merge_kernel",
             cuv_div_up (CUV_PCA_SUMS (n), MERGE_THREADS / 32), MERGE_THREADS,
             0, stream, merge_kernel, learn.partial, learn.n_partial, n,
             learn.sums)
          != 0)
    return -1;
  if (n <= 8)
    return launch_learn<CUV_PCA_ALL, 8> (learn, stream);
  if (cuv_pca_local_bytes (n, CUV_PCA_ALL) <= most)
    return launch_learn<CUV_PCA_ALL> (learn, stream);
  return cuv_pca_local_bytes (n, CUV_PCA_MATRICES) <= most
      ? launch_learn<CUV_PCA_MATRICES> (learn, stream)
      : launch_learn<CUV_PCA_NOTHING> (learn, stream);
}

int
cuv_pca_limits_submit (const CuvPcaLearn &learn, cudaStream_t stream)
{
  return cuv_launch_dependent (
      "limits_kernel", 1, THREADS, 0, stream, limits_kernel, learn);
}

int
cuv_pca_gains_submit (const CuvPcaLearn &learn, cudaStream_t stream)
{
  return cuv_launch_dependent (
      "gains_kernel", 1, THREADS, 0, stream, gains_kernel, learn);
}

int
cuv_pca_report_submit (const CuvPcaLearn &learn, cudaStream_t stream)
{
  return cuv_launch_dependent (
      "report_kernel", 1, THREADS, 0, stream, report_kernel, learn);
}
