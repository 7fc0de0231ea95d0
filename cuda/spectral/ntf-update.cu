// SPDX-License-Identifier: LGPL-2.1-or-later
// New values of the rows of a mode whose numerators are there, slot by slot.
#include "spectral/ntf-update.cuh"

#define THREADS 256
#define ROWS 4 // of a block; so few, as adding up the slots takes long

// The block's ROWS x STRIDE numerators. Each is added up by as many threads as
// there are for it, slots in turn, and then over the threads.
template <int STRIDE>
static __device__ __forceinline__ void
add_slots (const CuvNtfState &self, int mode, float *parts, float *numerators)
{
  constexpr int n = ROWS * STRIDE, n_parts = THREADS / n;
  const CuvNtfMatrix &m = self.factors[mode];
  const int part = threadIdx.x / n, i = threadIdx.x % n;
  const int k = m.k_step == 1 ? i % STRIDE : i / ROWS;
  const int row = m.k_step == 1 ? i / STRIDE : i % ROWS;
  const int at = blockIdx.x * ROWS + row;
  const size_t slot = (size_t) STRIDE * (m.k_step == 1 ? m.size : m.k_step);
  const float *from = &self.sums[mode][at * m.row_step + k * m.k_step];
  float sum = 0;

#pragma unroll 16
  for (int s = part; s < (at < m.size ? self.n_slots[mode] : 0); s += n_parts)
    sum += __ldcg (&from[s * slot]);
  parts[threadIdx.x] = sum;
  __syncthreads ();
  for (int p = 1; p < n_parts && part == 0; p++)
    sum += parts[p * n + i];
  if (part == 0)
    numerators[row * STRIDE + k] = sum;
}

template <int STRIDE>
static __global__ void
__launch_bounds__ (THREADS) update_kernel (
    const __grid_constant__ CuvNtfState self, int mode, bool hals, bool gram)
{
  // first a rule, then M's room
  __shared__ CuvNtfGramRoom<STRIDE> room;
  __shared__ float parts[THREADS], numerators[ROWS * STRIDE];
  CuvNtfRule<STRIDE> *rule = (CuvNtfRule<STRIDE> *) room;
  const CuvNtfMatrix &m = self.factors[mode];
  const int warp = cuv_warp_of_thread (), i = blockIdx.x * ROWS + warp;

  static_assert (sizeof *rule <= sizeof room, "both are in one place");
  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  if (__ldcg (&self.progress->stop))
    return;
  cuv_ntf_prepare (self, mode, rule);
  add_slots<STRIDE> (self, mode, parts, numerators);
  __syncthreads ();
  if (warp < ROWS && i < m.size)
    cuv_ntf_update_row (self, mode, hals, *rule, &numerators[warp * STRIDE], i);
  if (gram && cuv_ntf_is_last (&self.counters[mode], gridDim.x))
    cuv_ntf_gram_rows<STRIDE> (m, 0, m.size, room, self.grams[mode]);
}

int
cuv_ntf_update_submit (const CuvNtfState &self, int mode, bool hals, bool gram,
    cudaStream_t stream)
{
  const int n_blocks = cuv_div_up (self.factors[mode].size, ROWS);

  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    return cuv_launch_early ("update_kernel", n_blocks, THREADS, 0, stream,
        update_kernel<stride ()>, self, mode, hals, gram);
  });
}

template <int STRIDE>
static __global__ void
__launch_bounds__ (THREADS)
    grams_kernel (const __grid_constant__ CuvNtfState self)
{
  __shared__ CuvNtfGramRoom<STRIDE> room;
  const int mode = blockIdx.y;

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  if ((int) blockIdx.x < self.n_parts[mode] && !__ldcg (&self.progress->stop))
    cuv_ntf_gram_part<STRIDE> (self, mode, blockIdx.x, room);
}

int
cuv_ntf_grams_submit (const CuvNtfState &self, cudaStream_t stream)
{
  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    return cuv_launch_early ("grams_kernel",
        dim3 (CUV_NTF_GRAM_PARTS, CUV_NTF_MODES), THREADS, 0, stream,
        grams_kernel<stride ()>, self);
  });
}
