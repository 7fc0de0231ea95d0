// SPDX-License-Identifier: LGPL-2.1-or-later
// A WaldBoost model on the device, and what the kernels in planes/ and
// variants/ share. The responses of weak classifiers are summed until the sum
// is below a threshold, which rejects the window. Most windows are rejected
// early, so a warp soon has few active threads. Therefore survivors are
// compacted after each segment of weak classifiers. Acc, the type of the sum,
// is int32_t for fixed arithmetic, otherwise float.
#ifndef CUV_WALDBOOST_WALDBOOST_MODEL_CUH
#define CUV_WALDBOOST_WALDBOOST_MODEL_CUH

#include "waldboost/scanner.cuh"

// A segment ends after the first `end` weak classifiers. counter: index of the
// plan's segment that ends here, whose survivors are counted; -1: none ends
// here.
struct CuvWaldboostSegment {
  int32_t end, counter;
};

// A tile of width x height windows.
struct CuvWaldboostBlockShape {
  int32_t width, height;
};

// A model on the device.
template <typename Acc> struct CuvWaldboostDevice {
  int32_t n_weak, n_segments;
  Acc final_threshold;
  double score_scale; // value of the lowest bit of a fixed-point sum
  const CuvWaldboostSegment *segments;
  const Acc *thresholds; // a threshold for each weak classifier
  const Acc *leaves;
};

// How the codes of a model's features are computed.
struct CuvCodeRules {
  int32_t inclusive;      // boolean: LBP compares with >=
  int32_t factor, offset; // LRD, LRP: rank (a) + factor * rank (b) + offset
  int32_t window_width, window_height;
  float least_sigma;
};

// ---- one window ----

static __device__ __forceinline__ int
lane_of_thread ()
{
  return threadIdx.x & 31;
}

// Adds a window's next n responses to *sum; each thread of the group has
// per_thread successive ones. Returns the index of the first sum below its
// threshold, or n if there is none, in which case *sum is the last sum. group:
// number of threads, a power of two. Call from whole warps.
template <int per_thread>
static __device__ __forceinline__ int
first_below (int group, int n, const int32_t responses[per_thread],
    const int32_t thresholds[per_thread], int32_t *sum)
{
  const int lane = lane_of_thread (), member = lane & (group - 1);
  int32_t sums[per_thread], total = 0;
  int first = per_thread; // the first in this thread

#pragma unroll
  for (int i = 0; i < per_thread; i++)
    sums[i] = total += per_thread * member + i < n ? responses[i] : 0;
  const int32_t end = cuv_inclusive_scan (total, group);
#pragma unroll
  for (int i = per_thread - 1; i >= 0; i--) {
    if (per_thread * member + i < n
        && *sum + end - total + sums[i] < thresholds[i])
      first = i;
  }
  *sum += __shfl_sync (~0u, end, group - 1, group);
  const unsigned below =
      __ballot_sync (~0u, first < per_thread) >> (lane - member)
      & ~0u >> (32 - group);
  const int at = below ? __ffs (below) - 1 : 0;
  first = per_thread * at + __shfl_sync (~0u, first, at, group);
  return below ? first : n;
}

// first_below() for floats, which it adds in the order of the reference.
template <int per_thread>
static __device__ __forceinline__ int
first_below (int group, int n, const float responses[per_thread],
    const float thresholds[per_thread], float *sum)
{
  int first = n;

  for (int i = 0; i < n; i += per_thread) {
#pragma unroll
    for (int j = 0; j < per_thread; j++) {
      const float next =
          *sum + __shfl_sync (~0u, responses[j], i / per_thread, group);
      const float threshold =
          __shfl_sync (~0u, thresholds[j], i / per_thread, group);

      if (i + j < n) {
        *sum = next;
        if (next < threshold && first == n)
          first = i + j;
      }
    }
  }
  return first;
}

// Returns the score of a hit with this sum.
static __device__ float
score_of (const CuvWaldboostDevice<int32_t> &model, int32_t sum)
{
  return (float) (((double) sum - (double) model.final_threshold)
      * model.score_scale);
}

static __device__ float
score_of (const CuvWaldboostDevice<float> &model, float sum)
{
  return sum - model.final_threshold;
}

// ---- counters ----

// A block's counters, added to the frame's counters at the end.
struct CuvWaldboostTally {
  unsigned long long weak, windows; // evaluated; visited
  unsigned survivors[CUV_WALDBOOST_SEGMENTS];

  __device__ void
  clear ()
  {
    for (int i = threadIdx.x; i < CUV_WALDBOOST_SEGMENTS; i += blockDim.x)
      survivors[i] = 0;
    if (threadIdx.x == 0)
      weak = windows = 0;
  }

  // Counts the threads whose `yes` is true. Call from all threads of a warp.
  __device__ void
  count (unsigned *counter, bool yes)
  {
    unsigned n = __popc (__ballot_sync (~0u, yes));

    if (n > 0 && lane_of_thread () == 0)
      atomicAdd (counter, n);
  }

  // Adds the counters to the frame's. Call from all threads, which this
  // synchronises.
  __device__ void
  flush (CuvScanCounters *counters, unsigned my_weak, unsigned my_windows)
  {
    unsigned long long sum = cuv_warp_sum ((unsigned long long) my_weak);
    unsigned n = cuv_warp_sum (my_windows);

    if (lane_of_thread () == 0) {
      atomicAdd (&weak, sum);
      atomicAdd (&windows, (unsigned long long) n);
    }
    __syncthreads ();
    for (int i = threadIdx.x; i < CUV_WALDBOOST_SEGMENTS; i += blockDim.x) {
      if (survivors[i] > 0)
        atomicAdd (&counters->survivors[i], survivors[i]);
    }
    if (threadIdx.x == 0) {
      atomicAdd (&counters->weak, weak);
      atomicAdd (&counters->windows, windows);
    }
  }
};

#endif
