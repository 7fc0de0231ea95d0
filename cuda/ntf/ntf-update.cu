// SPDX-License-Identifier: LGPL-2.1-or-later
// update_kernel: new values of the rows of a mode whose numerators are
// complete. grams_kernel: Gram matrices.
#include <algorithm>
#include "ntf/ntf-update.cuh"

#define CUV_NTF_UPDATE_THREADS 256
// rows per block; few, because adding up numerators takes long
#define CUV_NTF_UPDATE_ROWS 4

// Grid: n_gram_blocks blocks that compute the previous mode's Gram matrix, then
// CUV_NTF_UPDATE_ROWS rows per block.
template <int STRIDE>
static __global__ void
__launch_bounds__ (CUV_NTF_UPDATE_THREADS) update_kernel (
    const __grid_constant__ CuvNtfState self, int mode, int n_gram_blocks)
{
  __shared__ __align__ (16) union {
    double gram[CUV_NTF_GRAM_VALUES];
    CuvNtfUpdateShared<STRIDE> update;
  } shared;
  const int first = ((int) blockIdx.x - n_gram_blocks) * CUV_NTF_UPDATE_ROWS;
  int stop;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  stop = __ldcg (&self.progress->stop);
  if (first >= 0)
    cuv_ntf_update_rows<STRIDE> (self, mode, first,
        min (CUV_NTF_UPDATE_ROWS, self.factors[mode].size - first), stop,
        &shared.update);
  else if (!stop)
    cuv_ntf_gram_part<STRIDE> (
        self, cuv_ntf_mode_before (mode), blockIdx.x, shared.gram);
}

int
cuv_ntf_update_submit (const CuvNtfState &self, int mode, cudaStream_t stream)
{
  const int n_gram_blocks = cuv_ntf_gram_blocks (self, mode, 0);
  const int n_blocks =
      cuv_div_up (self.factors[mode].size, CUV_NTF_UPDATE_ROWS);

  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    return cuv_launch_dependent ("update_kernel", n_gram_blocks + n_blocks,
        CUV_NTF_UPDATE_THREADS, 0, stream, update_kernel<stride ()>, self, mode,
        n_gram_blocks);
  });
}

// Grid: parts x modes from the first on.
template <int STRIDE>
static __global__ void
__launch_bounds__ (CUV_NTF_UPDATE_THREADS)
    grams_kernel (const __grid_constant__ CuvNtfState self, int first_mode)
{
  __shared__ double shared[CUV_NTF_GRAM_VALUES];
  const int mode = first_mode + blockIdx.y;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if ((int) blockIdx.x < self.n_parts[mode] && !__ldcg (&self.progress->stop))
    cuv_ntf_gram_part<STRIDE> (self, mode, blockIdx.x, shared);
}

int
cuv_ntf_grams_submit (
    const CuvNtfState &self, int first_mode, cudaStream_t stream)
{
  const int n_parts = *std::max_element (
      &self.n_parts[first_mode], &self.n_parts[CUV_NTF_MODES]);

  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    return cuv_launch_dependent ("grams_kernel",
        dim3 (n_parts, CUV_NTF_MODES - first_mode), CUV_NTF_UPDATE_THREADS, 0,
        stream, grams_kernel<stride ()>, self, first_mode);
  });
}
