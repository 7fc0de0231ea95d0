// SPDX-License-Identifier: LGPL-2.1-or-later
// The best of many peaks, in order, for the host: the rank of each is how many
// are better.
#include "hough/peaks.cuh"

#define THREADS 1024
#define WARPS (THREADS / 32)
#define MAX_RANKED 16384 // more are sifted first

// ---- sifting, by one block ----

// The digit at which those from the highest on are wanted or more. By a warp.
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

// The least of the max greatest keys; there are more. Digit by digit.
static __device__ CuvPeakKey
find_limit (const CuvPeakKey *keys, unsigned n, unsigned max)
{
  __shared__ unsigned counts[256];
  __shared__ CuvPeakKey limit;
  CuvPeakKey known = 0; // the digits of limit that are found
  unsigned wanted = max;

  if (threadIdx.x == 0)
    limit = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    if (threadIdx.x < 256)
      counts[threadIdx.x] = 0;
    __syncthreads ();
    for (unsigned i = threadIdx.x; i < n; i += THREADS) {
      const CuvPeakKey key = __ldcg (&keys[i]);

      if ((key & known) == limit)
        atomicAdd (&counts[key >> shift & 255], 1u);
    }
    __syncthreads ();
    if (threadIdx.x < 32) {
      const int digit = find_digit (counts, &wanted);

      if (threadIdx.x == 0)
        limit |= (CuvPeakKey) digit << shift;
    }
    known |= (CuvPeakKey) 255 << shift;
    __syncthreads ();
  }
  return limit;
}

// The max greatest keys, in any order.
static __device__ void
sift (CuvPeakKey *best, const CuvPeakKey *keys, unsigned n_keys, unsigned max)
{
  __shared__ unsigned n;
  const CuvPeakKey limit = find_limit (keys, n_keys, max);

  if (threadIdx.x == 0)
    n = 0;
  __syncthreads ();
  for (unsigned i = threadIdx.x; i < n_keys; i += THREADS) {
    const CuvPeakKey key = __ldcg (&keys[i]);

    if (key >= limit)
      best[atomicAdd (&n, 1u)] = key;
  }
  __syncthreads ();
}

// ---- ranking ----

// How many keys are greater, or max if there are that many. By a warp.
static __device__ __forceinline__ unsigned
rank_of (CuvPeakKey key, const CuvPeakKey *keys, unsigned n, unsigned max)
{
  unsigned rank = 0;

  for (unsigned i = 0; i < n && rank < max; i += 128) {
    unsigned greater = 0;

    for (int j = 0; j < 4; j++) {
      const unsigned at = i + 32 * j + threadIdx.x % 32;

      greater += at < n && keys[at] > key;
    }
    for (int bit = 16; bit > 0; bit /= 2)
      greater += __shfl_xor_sync (~0u, greater, bit);
    rank += greater;
  }
  return rank;
}

// Warps first, first + step, ... of the keys.
static __device__ __forceinline__ void
rank_keys (const CuvPeaks &peaks, const CuvPeakKey *keys, unsigned n,
    unsigned max, unsigned first, unsigned step)
{
  for (unsigned k = first; k < n; k += step) {
    const CuvPeakKey key = keys[k];
    const unsigned rank = rank_of (key, keys, n, max);

    if (threadIdx.x % 32 == 0 && rank < max) {
      peaks.best[rank] = key;
      peaks.best_to[rank] = key;
    }
  }
}

static __global__ void
__launch_bounds__ (THREADS) best_kernel (CuvPeaks peaks, unsigned max)
{
  __shared__ CuvPeakKey sifted[CUV_HOUGH_MAX_LINES];
  const unsigned warp = cuv_warp_of_thread ();

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  const unsigned n = cuv_load_once (&peaks.counters->n_found);

  if (n <= MAX_RANKED) {
    rank_keys (peaks, peaks.keys, n, max, blockIdx.x * WARPS + warp,
        gridDim.x * WARPS);
  } else if (blockIdx.x == 0) {
    sift (sifted, peaks.keys, n, max);
    rank_keys (peaks, sifted, max, max, warp, WARPS);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    CuvHoughCounters counters = *peaks.counters;

    counters.ended = cuv_nanoseconds ();
    *peaks.counters_to = counters;
  }
}

int
cuv_best_submit (const CuvPeaks &peaks, int max, cudaStream_t stream)
{
  return cuv_launch_dependent ("best_kernel", cuv_cuda_multiprocessors (),
      THREADS, 0, stream, best_kernel, peaks, max);
}
