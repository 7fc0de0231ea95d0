// SPDX-License-Identifier: LGPL-2.1-or-later
// Sorts edges by gradient direction, in a counting sort: bin_kernel() finds the
// bin of each edge and counts edges per bin, sort_kernel() writes them in
// order.
#include "hough/votes.cuh"

#define THREADS 512

// Blocks per multiprocessor; with compute capability 7.5 it holds 1024 threads.
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define BLOCKS 2
#else
#define BLOCKS 3
#endif

// A pixel blurred by [1 4 6 4 1] / 16 in x and y, with replicated borders.
static __device__ int
blurred (const CuvFrame &frame, int x, int y)
{
  int sum = 128;

  for (int j = -2; j <= 2; j++) {
    for (int i = -2; i <= 2; i++) {
      const int wx = i == 0 ? 6 : abs (i) == 1 ? 4 : 1;
      const int wy = j == 0 ? 6 : abs (j) == 1 ? 4 : 1;

      sum += wx * wy
          * cuv_frame_grey (
              &frame, clamp (x + i, frame.width), clamp (y + j, frame.height));
    }
  }
  return sum >> 8;
}

// The 3x3 luma values around an edge pixel, as in Canny. No edge is on the
// frame's border.
template <bool BLURRED>
static __device__ __forceinline__ void
load_grey (const CuvFrame &frame, int x, int y, int *grey)
{
  const CuvComponent &c = frame.component[0];
  const uint8_t *at = c.data + (int64_t) y * c.stride + x * c.step;

#pragma unroll
  for (int i = 0; i < 9; i++) {
    const int dx = i % 3 - 1, dy = i / 3 - 1;

    if (BLURRED)
      grey[i] = blurred (frame, x + dx, y + dy);
    else if (frame.model != CUV_MODEL_RGB)
      grey[i] = __ldg (at + dy * c.stride + dx * c.step);
    else
      grey[i] = cuv_frame_grey (&frame, x + dx, y + dy);
  }
}

// The bin of a direction: atan2f() guesses it to within one, integer cross
// products correct the guess.
static __device__ __forceinline__ int
find_bin (const short2 *boundaries, int n_bins, int gx, int gy)
{
  const bool turn = gx < 0 || (gx == 0 && gy > 0);
  const int x = turn ? -gx : gx, y = turn ? -gy : gy;
  const auto begins_after = [&] (int g) {
    const short2 boundary = boundaries[g];

    return boundary.x * y - boundary.y * x < 0;
  };
  const float turns = atan2f ((float) y, (float) x) * .318309886f + .5f;
  int g = min (max ((int) (turns * n_bins), 0), n_bins - 1);

  while (g > 0 && begins_after (g))
    g--;
  while (g < n_bins - 1 && !begins_after (g + 1))
    g++;
  return g;
}

template <bool BLURRED>
static __device__ __forceinline__ int
bin_of (
    const short2 *boundaries, int n_bins, const CuvFrame &frame, int x, int y)
{
  int at[9];

  load_grey<BLURRED> (frame, x, y, at);
  return find_bin (boundaries, n_bins,
      at[2] + 2 * at[5] + at[8] - at[0] - 2 * at[3] - at[6],
      at[6] + 2 * at[7] + at[8] - at[0] - 2 * at[1] - at[2]);
}

// Edges in turn over all threads. Shared memory: a block's counts, and the
// boundaries that each edge is compared with.
template <bool BLURRED>
static __global__ void
__launch_bounds__ (THREADS, BLOCKS)
    bin_kernel (CuvEdges edges, CuvDeviceLayout layout, CuvFrame frame)
{
  __shared__ unsigned counts[CUV_HOUGH_MAX_PERIOD];
  __shared__ short2 boundaries[CUV_HOUGH_MAX_PERIOD];

  cuv_pdl_trigger ();
  for (int g = threadIdx.x; g < layout.n_bins; g += THREADS) {
    counts[g] = 0;
    boundaries[g] = layout.boundaries[g];
  }
  __syncthreads ();
  cuv_pdl_wait ();
  const unsigned n = cuv_block_load (&edges.counters->n_edges);

  for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n;
       i += gridDim.x * THREADS) {
    const unsigned pixel = __ldcg (&edges.pixels[i]);
    const int bin = bin_of<BLURRED> (
        boundaries, layout.n_bins, frame, pixel & 0xffff, pixel >> 16);

    edges.bins[i] = (uint16_t) bin;
    atomicAdd (&counts[bin], 1u);
  }
  __syncthreads ();
  for (int g = threadIdx.x; g < layout.n_bins; g += THREADS) {
    if (counts[g] > 0)
      atomicAdd (&edges.counts->n[g], counts[g]);
  }
}

// Exclusive scan of counts; first[n] is the total. Called by a block.
static __device__ void
exclusive_scan (unsigned *first, const unsigned *counts, int n)
{
  __shared__ unsigned ends[THREADS / 32];
  const int each = (n + THREADS - 1) / THREADS, begin = threadIdx.x * each;
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
  if (threadIdx.x == THREADS - 1)
    first[n] = before;
  __syncthreads ();
}

// Adds the votes of all bins to the counters. Called by a block.
static __device__ void
count_votes (
    const CuvEdges &edges, const CuvDeviceLayout &layout, const unsigned *first)
{
  unsigned long long votes = 0;

  for (int g = threadIdx.x; g < layout.n_bins; g += THREADS)
    votes +=
        (unsigned long long) layout.bin_rows[g] * (first[g + 1] - first[g]);
  votes = cuv_warp_sum (votes);
  if (threadIdx.x % 32 == 0 && votes > 0)
    atomicAdd (&edges.counters->n_votes, votes);
}

// Each block sorts a contiguous part of the edges: it counts them per bin,
// reserves as many entries of each bin, and fills them in any order.
static __global__ void
__launch_bounds__ (THREADS) sort_kernel (CuvEdges edges, CuvDeviceLayout layout)
{
  __shared__ unsigned first[CUV_HOUGH_MAX_PERIOD + 1];
  __shared__ unsigned counts[CUV_HOUGH_MAX_PERIOD];
  const int n_bins = layout.n_bins;

  cuv_pdl_trigger ();
  for (int g = threadIdx.x; g < n_bins; g += THREADS)
    counts[g] = 0;
  __syncthreads ();
  cuv_pdl_wait ();
  const unsigned n = cuv_block_load (&edges.counters->n_edges);
  const unsigned each = (n + gridDim.x - 1) / gridDim.x;
  const unsigned begin = min (blockIdx.x * each, n),
                 end = min (begin + each, n);

  for (unsigned i = begin + threadIdx.x; i < end; i += THREADS)
    atomicAdd (&counts[edges.bins[i]], 1u);
  exclusive_scan (first, edges.counts->n, n_bins);
  for (int g = threadIdx.x; g < n_bins; g += THREADS) {
    const unsigned own = counts[g];

    if (own > 0)
      counts[g] = first[g] + atomicAdd (&edges.counts->used[g], own);
  }
  if (blockIdx.x == 0) {
    for (int g = threadIdx.x; g <= n_bins; g += THREADS)
      edges.counts->first[g] = first[g];
    count_votes (edges, layout, first);
  }
  __syncthreads ();
  for (unsigned i = begin + threadIdx.x; i < end; i += THREADS)
    edges.sorted[atomicAdd (&counts[edges.bins[i]], 1u)] = edges.pixels[i];
}

int
cuv_sort_submit (const CuvEdges &edges, const CuvDeviceLayout &layout,
    const CuvFrame &frame, bool blurred, cudaStream_t stream)
{
  const int blocks = 3 * cuv_cuda_multiprocessors ();

  if (cuv_launch_dependent ("bin_kernel", blocks, THREADS, 0, stream,
          blurred ? bin_kernel<true> : bin_kernel<false>, edges, layout, frame)
      != 0)
    return -1;
  return cuv_launch_dependent (
      "sort_kernel", blocks, THREADS, 0, stream, sort_kernel, edges, layout);
}
