// SPDX-License-Identifier: LGPL-2.1-or-later
// Running sums along lines: twice, and cells are integrals.
#include "rcd/search.cuh"

#define PARTS 16 // of a line, each summed up by itself

// A block has a line; threads are the sums of a place by the parts.
static __global__ void
__launch_bounds__ (PARTS *CUV_RCD_MAX_SUMS)
    prefix_kernel (const __grid_constant__ CuvRcdPrefix prefix)
{
  __shared__ int64_t totals[PARTS][CUV_RCD_MAX_SUMS];
  const int k = threadIdx.x, part = threadIdx.y;
  const int first = part * prefix.n / PARTS;
  const int end = (part + 1) * prefix.n / PARTS;
  int64_t *from = prefix.from + blockIdx.y * prefix.from_plane
      + (size_t) blockIdx.x * prefix.from_line + k;
  int64_t *to = prefix.to + blockIdx.y * prefix.to_plane
      + (size_t) blockIdx.x * prefix.to_line + k;
  int64_t sum = 0;

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
#pragma unroll 8
  for (int i = first; i < end; i++)
    sum += __ldcg ((long long *) &from[(size_t) i * prefix.from_step]);
  totals[part][k] = sum;
  __syncthreads ();
  sum = 0;
  for (int i = 0; i < part; i++)
    sum += totals[i][k];
  if (part == 0)
    to[-(ptrdiff_t) prefix.to_step] = 0;
#pragma unroll 8
  for (int i = first; i < end; i++) {
    sum += from[(size_t) i * prefix.from_step];
    to[(size_t) i * prefix.to_step] = sum;
    if (prefix.clear)
      from[(size_t) i * prefix.from_step] = 0;
  }
}

int
cuv_rcd_prefix_submit (const CuvRcdPrefix &prefix, cudaStream_t stream)
{
  return cuv_launch_early ("prefix_kernel",
      dim3 (prefix.n_lines, prefix.n_planes), dim3 (prefix.n_sums, PARTS), 0,
      stream, prefix_kernel, prefix);
}
