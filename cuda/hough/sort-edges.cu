// SPDX-License-Identifier: LGPL-2.1-or-later
// Sorts edges by gradient direction, in a counting sort: bin_kernel() finds the
// bin of each edge and counts edges per bin, sort_kernel() writes them in
// order.
#include "hough/directions.cuh"

#define CUV_HOUGH_SORT_THREADS 512

// Blocks per multiprocessor; with compute capability 7.5 it holds 1024 threads.
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define CUV_HOUGH_SORT_BLOCKS 2
#else
#define CUV_HOUGH_SORT_BLOCKS 3
#endif

// Threads of the grid take turns at edges. Shared memory: a block's counts, and
// the boundaries that each edge is compared with.
static __global__ void
__launch_bounds__ (CUV_HOUGH_SORT_THREADS, CUV_HOUGH_SORT_BLOCKS)
    bin_kernel (CuvHoughEdges edges, CuvHoughDeviceLayout layout, CuvFrame grey)
{
  __shared__ unsigned counts[CUV_HOUGH_MAX_PERIOD];
  __shared__ short2 boundaries[CUV_HOUGH_MAX_PERIOD];

  cuv_pdl_trigger ();
  for (int g = threadIdx.x; g < layout.n_bins; g += CUV_HOUGH_SORT_THREADS) {
    counts[g] = 0;
    boundaries[g] = layout.boundaries[g];
  }
  __syncthreads ();
  cuv_pdl_wait ();
  const unsigned n = cuv_block_load (&edges.counters->n_edges);

  for (unsigned i = blockIdx.x * CUV_HOUGH_SORT_THREADS + threadIdx.x; i < n;
       i += gridDim.x * CUV_HOUGH_SORT_THREADS) {
    const unsigned pixel = __ldcg (&edges.pixels[i]);
    const int bin =
        find_bin (boundaries, layout.n_bins, gradient_of (grey, pixel));

    edges.bins[i] = (uint16_t) bin;
    atomicAdd (&counts[bin], 1u);
  }
  __syncthreads ();
  for (int g = threadIdx.x; g < layout.n_bins; g += CUV_HOUGH_SORT_THREADS) {
    if (counts[g] > 0)
      atomicAdd (&edges.counts->n[g], counts[g]);
  }
}

// Computes the exclusive scan of counts; first[n] is the total. Called by a
// block.
static __device__ void
exclusive_scan (unsigned *first, const unsigned *counts, int n)
{
  __shared__ unsigned ends[CUV_HOUGH_SORT_THREADS / 32];
  const int each = (n + CUV_HOUGH_SORT_THREADS - 1) / CUV_HOUGH_SORT_THREADS,
            begin = threadIdx.x * each;
  unsigned sum = 0, end, before = 0;

  for (int g = begin; g < min (begin + each, n); g++)
    sum += __ldcg (&counts[g]);
  end = cuv_inclusive_scan (sum);
  if (threadIdx.x % 32 == 31)
    ends[threadIdx.x / 32] = end;
  __syncthreads ();
  for (int i = 0; i < cuv_warp_of_thread (); i++)
    before += ends[i];
  before += end - sum;
  for (int g = begin; g < min (begin + each, n); g++) {
    first[g] = before;
    before += __ldcg (&counts[g]);
  }
  if (threadIdx.x == CUV_HOUGH_SORT_THREADS - 1)
    first[n] = before;
  __syncthreads ();
}

// Adds the votes of all bins to the counters. Called by a block.
static __device__ void
count_votes (const CuvHoughEdges &edges, const CuvHoughDeviceLayout &layout,
    const unsigned *first)
{
  unsigned long long votes = 0;

  for (int g = threadIdx.x; g < layout.n_bins; g += CUV_HOUGH_SORT_THREADS)
    votes +=
        (unsigned long long) layout.bin_rows[g] * (first[g + 1] - first[g]);
  votes = cuv_warp_sum (votes);
  if (threadIdx.x % 32 == 0 && votes > 0)
    atomicAdd (&edges.counters->n_votes, votes);
}

// Each block sorts a contiguous part of the edges: it counts them per bin,
// reserves as many entries of each bin, and fills them in any order.
static __global__ void
__launch_bounds__ (CUV_HOUGH_SORT_THREADS)
    sort_kernel (CuvHoughEdges edges, CuvHoughDeviceLayout layout)
{
  __shared__ unsigned first[CUV_HOUGH_MAX_PERIOD + 1];
  __shared__ unsigned counts[CUV_HOUGH_MAX_PERIOD];
  const int n_bins = layout.n_bins;

  cuv_pdl_trigger ();
  for (int g = threadIdx.x; g < n_bins; g += CUV_HOUGH_SORT_THREADS)
    counts[g] = 0;
  __syncthreads ();
  cuv_pdl_wait ();
  const unsigned n = cuv_block_load (&edges.counters->n_edges);
  const unsigned each = (n + gridDim.x - 1) / gridDim.x;
  const unsigned begin = min (blockIdx.x * each, n),
                 end = min (begin + each, n);

  for (unsigned i = begin + threadIdx.x; i < end; i += CUV_HOUGH_SORT_THREADS)
    atomicAdd (&counts[edges.bins[i]], 1u);
  exclusive_scan (first, edges.counts->n, n_bins);
  for (int g = threadIdx.x; g < n_bins; g += CUV_HOUGH_SORT_THREADS) {
    const unsigned own = counts[g];

    if (own > 0)
      counts[g] = first[g] + atomicAdd (&edges.counts->used[g], own);
  }
  if (blockIdx.x == 0) {
    for (int g = threadIdx.x; g <= n_bins; g += CUV_HOUGH_SORT_THREADS)
      edges.counts->first[g] = first[g];
    count_votes (edges, layout, first);
  }
  __syncthreads ();
  for (unsigned i = begin + threadIdx.x; i < end; i += CUV_HOUGH_SORT_THREADS)
    edges.sorted[atomicAdd (&counts[edges.bins[i]], 1u)] = edges.pixels[i];
}

int
cuv_sort_submit (const CuvHoughEdges &edges, const CuvHoughDeviceLayout &layout,
    const CuvFrame &grey, cudaStream_t stream)
{
  const int blocks = 3 * cuv_cuda_multiprocessors ();

  if (cuv_launch_dependent ("bin_kernel", blocks, CUV_HOUGH_SORT_THREADS, 0,
          stream, bin_kernel, edges, layout, grey)
      != 0)
    return -1;
  return cuv_launch_dependent ("sort_kernel", blocks, CUV_HOUGH_SORT_THREADS, 0,
      stream, sort_kernel, edges, layout);
}
