// SPDX-License-Identifier: LGPL-2.1-or-later
// Selects and sorts the best peaks, or segments, and copies them to the host. A
// peak's place is its rank, the number of better peaks.
#include "hough/peaks.cuh"

#define CUV_HOUGH_BEST_THREADS 1024
#define CUV_HOUGH_BEST_WARPS (CUV_HOUGH_BEST_THREADS / 32)
// if there are more peaks, the best are selected first
#define CUV_HOUGH_MAX_RANKED 16384
// keys that a thread loads at once, so that it waits for memory only once
#define CUV_HOUGH_KEYS_AT_ONCE 16

// Finds the digit of the wanted-th greatest key in a histogram of digits;
// *wanted becomes the rank within that digit. Called by one warp.
static __device__ __forceinline__ int
find_digit (const unsigned *counts, unsigned *wanted)
{
  const int lane = threadIdx.x % 32;
  unsigned sum = 0, above;

  for (int i = 0; i < 8; i++) // lane 0 has the highest eight digits
    sum += counts[255 - 8 * lane - i];
  above = cuv_inclusive_scan (sum) - sum;
  const unsigned who = __ballot_sync (~0u, above < *wanted);
  const int last = 31 - __clz (who);
  int digit = 255 - 8 * last;

  above = __shfl_sync (~0u, above, last);
  for (; above + counts[digit] < *wanted; digit--)
    above += counts[digit];
  *wanted -= above;
  return digit;
}

// Returns the max-th greatest of n > max keys, by radix select from the highest
// digit down.
static __device__ CuvHoughPeakKey
find_limit (const CuvHoughPeakKey *keys, unsigned n, unsigned max)
{
  __shared__ unsigned counts[256];
  __shared__ CuvHoughPeakKey limit;
  CuvHoughPeakKey found_mask = 0; // mask of the digits found so far
  unsigned wanted = max;

  if (threadIdx.x == 0)
    limit = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    if (threadIdx.x < 256)
      counts[threadIdx.x] = 0;
    __syncthreads ();
    for (unsigned i = threadIdx.x; i < n; i += CUV_HOUGH_BEST_THREADS) {
      const CuvHoughPeakKey key = __ldcg (&keys[i]);

      if ((key & found_mask) == limit)
        atomicAdd (&counts[key >> shift & 255], 1u);
    }
    __syncthreads ();
    if (threadIdx.x < 32) {
      const int digit = find_digit (counts, &wanted);

      if (threadIdx.x == 0)
        limit |= (CuvHoughPeakKey) digit << shift;
    }
    found_mask |= (CuvHoughPeakKey) 255 << shift;
    __syncthreads ();
  }
  return limit;
}

// Copies the max best of n_keys > max keys to best, in any order. Called by a
// block.
static __device__ void
select_best (CuvHoughPeakKey *best, const CuvHoughPeakKey *keys,
    unsigned n_keys, unsigned max)
{
  __shared__ unsigned n;
  const CuvHoughPeakKey limit = find_limit (keys, n_keys, max);

  if (threadIdx.x == 0)
    n = 0;
  __syncthreads ();
  for (unsigned i = threadIdx.x; i < n_keys; i += CUV_HOUGH_BEST_THREADS) {
    const CuvHoughPeakKey key = __ldcg (&keys[i]);

    if (key >= limit)
      best[atomicAdd (&n, 1u)] = key;
  }
  __syncthreads ();
}

// Returns the number of greater keys, or at least max if there are that many.
// Called by one warp.
static __device__ __forceinline__ unsigned
rank_of (
    CuvHoughPeakKey key, const CuvHoughPeakKey *keys, unsigned n, unsigned max)
{
  unsigned rank = 0;

  for (unsigned i = 0; i < n && rank < max; i += 32 * CUV_HOUGH_KEYS_AT_ONCE) {
    const unsigned first = i + threadIdx.x % 32;
    CuvHoughPeakKey loaded[CUV_HOUGH_KEYS_AT_ONCE];
    unsigned greater = 0;

#pragma unroll
    for (int j = 0; j < CUV_HOUGH_KEYS_AT_ONCE; j++)
      loaded[j] = keys[min (first + 32 * j, n - 1)];
#pragma unroll
    for (int j = 0; j < CUV_HOUGH_KEYS_AT_ONCE; j++)
      greater += first + 32 * j < n && loaded[j] > key;
    rank += cuv_warp_sum (greater);
  }
  return rank;
}

static __device__ __forceinline__ CuvLineSegment
segment_of (const CuvHoughPeaks &peaks, CuvHoughPeakKey key)
{
  const unsigned pixel = ~(unsigned) key;
  const int edge = __ldcg (&peaks.edges_at.parents[cuv_map_node (
      peaks.edges_at, pixel & 0xffff, pixel >> 16)]);
  const int4 ends = __ldcg (&peaks.ends[edge]);

  return CuvLineSegment{ ends.x, ends.y, ends.z, ends.w,
    (unsigned) (key >> 32) };
}

static __device__ __forceinline__ void
store (const CuvHoughPeaks &peaks, CuvHoughPeakKey key, unsigned rank)
{
  if (peaks.ends != nullptr) {
    peaks.host_segments[rank] = segment_of (peaks, key);
  } else {
    peaks.best[rank] = key;
    peaks.host_best[rank] = key;
  }
}

// Ranks keys first, first + step, ... of n, one per warp, and stores the max
// best in order.
static __device__ __forceinline__ void
rank_keys (const CuvHoughPeaks &peaks, const CuvHoughPeakKey *keys, unsigned n,
    unsigned max, unsigned first, unsigned step)
{
  for (unsigned k = first; k < n; k += step) {
    const CuvHoughPeakKey key = keys[k];
    const unsigned rank = rank_of (key, keys, n, max);

    if (threadIdx.x % 32 == 0 && rank < max)
      store (peaks, key, rank);
  }
}

// Warps of the grid take turns to rank a key; if there are more than
// CUV_HOUGH_MAX_RANKED, the first block selects and ranks the best. Also copies
// the counters to the host.
static __global__ void
__launch_bounds__ (CUV_HOUGH_BEST_THREADS, 1)
    best_kernel (CuvHoughPeaks peaks, unsigned max)
{
  __shared__ CuvHoughPeakKey selected[CUV_HOUGH_MAX_LINES];
  const unsigned warp = cuv_warp_of_thread ();

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = cuv_block_load (&peaks.counters->n_found);

  if (n <= CUV_HOUGH_MAX_RANKED) {
    rank_keys (peaks, peaks.keys, n, max,
        blockIdx.x * CUV_HOUGH_BEST_WARPS + warp,
        gridDim.x * CUV_HOUGH_BEST_WARPS);
  } else if (blockIdx.x == 0) {
    select_best (selected, peaks.keys, n, max);
    rank_keys (peaks, selected, max, max, warp, CUV_HOUGH_BEST_WARPS);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    CuvHoughCounters counters = *peaks.counters;

    counters.ended_ns = cuv_nanoseconds ();
    *peaks.host_counters = counters;
  }
}

int
cuv_best_submit (const CuvHoughPeaks &peaks, int max, cudaStream_t stream)
{
  return cuv_launch_dependent ("best_kernel", cuv_cuda_multiprocessors (),
      CUV_HOUGH_BEST_THREADS, 0, stream, best_kernel, peaks, max);
}
