// SPDX-License-Identifier: LGPL-2.1-or-later
// What feature-chooser.cu and tree-chooser.cu share: a block sums the weights
// of samples by the code of a feature, in integers, and finds the least of its
// threads' losses.
#ifndef CUV_CHOOSER_SUMS_CUH
#define CUV_CHOOSER_SUMS_CUH

#include "cuv-cuda.cuh"

#define CUV_CHOOSER_CODES 256 // one per thread of a block
#define CUV_CHOOSER_COPIES 4  // of the sums, so that fewer warps collide
// maximum number of samples for which sums of halves of weights fit 32 bits
#define CUV_CHOOSER_PIECE 65536

// ---- sums ----

// Halves of the weights, by code and class.
struct Sums {
  unsigned low[2][CUV_CHOOSER_CODES], high[2][CUV_CHOOSER_CODES];
};

// Sums of the weights of samples.
struct Weights {
  uint64_t positives, negatives;
};

static __device__ __forceinline__ void
cuv_choose_add (
    Sums *sums, int i, unsigned code, uint32_t weight, int n_positives)
{
  const int negative = i >= n_positives;

  atomicAdd (&sums->low[negative][code], weight & 0xffff);
  atomicAdd (&sums->high[negative][code], weight >> 16);
}

// Adds samples first .. end - 1, both multiples of 4.
static __device__ __forceinline__ void
add_piece (const uint8_t *codes, const uint32_t *weights, int n_positives,
    Sums *sums, int first, int end)
{
  for (int i = first + 4 * threadIdx.x; i < end; i += 4 * CUV_CHOOSER_CODES) {
    const unsigned four = *(const unsigned *) (codes + i);
    const uint4 added = *(const uint4 *) (weights + i);

    cuv_choose_add (sums, i, four & 255, added.x, n_positives);
    cuv_choose_add (sums, i + 1, four >> 8 & 255, added.y, n_positives);
    cuv_choose_add (sums, i + 2, four >> 16 & 255, added.z, n_positives);
    cuv_choose_add (sums, i + 3, four >> 24, added.w, n_positives);
  }
}

// Sums the thread's code over all copies and clears them.
static __device__ __forceinline__ uint64_t
cuv_choose_take (Sums *sums, int negative)
{
  uint64_t total = 0;

  for (int copy = 0; copy < CUV_CHOOSER_COPIES; copy++) {
    unsigned *low = &sums[copy].low[negative][threadIdx.x];
    unsigned *high = &sums[copy].high[negative][threadIdx.x];

    total += *low + ((uint64_t) *high << 16);
    *low = *high = 0;
  }
  return total;
}

// Returns the weights of the n samples that have the thread's code, in a block
// of CUV_CHOOSER_CODES threads. Up to the next multiple of 4 weights are 0.
static __device__ __forceinline__ Weights
cuv_choose_sum (
    const uint8_t *codes, const uint32_t *weights, int n, int n_positives)
{
  __shared__ Sums sums[CUV_CHOOSER_COPIES];
  Weights total = {};

  n = (n + 3) / 4 * 4;
  cuv_choose_take (sums, 0); // clears the sums
  cuv_choose_take (sums, 1);
  for (int first = 0; first < n; first += CUV_CHOOSER_PIECE) {
    __syncthreads ();
    add_piece (codes, weights, n_positives,
        &sums[threadIdx.x / 32 % CUV_CHOOSER_COPIES], first,
        min (first + CUV_CHOOSER_PIECE, n));
    __syncthreads ();
    total.positives += cuv_choose_take (sums, 0);
    total.negatives += cuv_choose_take (sums, 1);
  }
  return total;
}

// Places the weights of all threads in sums, and returns the sum of those at
// places up to the thread's index. Afterwards sums has the results of all
// threads.
static __device__ __forceinline__ Weights
sum_to_place (Weights weights, int place, Weights *sums)
{
  sums[place] = weights;
  __syncthreads ();
  weights = sums[threadIdx.x];
  for (int d = 1; d < CUV_CHOOSER_CODES; d *= 2) {
    __syncthreads ();
    sums[threadIdx.x] = weights;
    __syncthreads ();
    if ((int) threadIdx.x >= d) {
      weights.positives += sums[threadIdx.x - d].positives;
      weights.negatives += sums[threadIdx.x - d].negatives;
    }
  }
  __syncthreads ();
  sums[threadIdx.x] = weights;
  __syncthreads ();
  return weights;
}

// ---- losses ----

static __device__ __forceinline__ double
root (Weights weights)
{
  return sqrt ((double) weights.positives * (double) weights.negatives);
}

struct Found {
  double loss;
  int index;
};

static __device__ __forceinline__ Found
better (Found a, Found b)
{
  return b.loss < a.loss || (b.loss == a.loss && b.index < a.index) ? b : a;
}

// Returns in thread 0 the best of all threads of a block of n_threads, a power
// of two.
template <int n_threads>
static __device__ __forceinline__ Found
cuv_choose_least (Found best)
{
  __shared__ Found found[n_threads];

  found[threadIdx.x] = best;
  for (int half = n_threads / 2; half > 0; half /= 2) {
    __syncthreads ();
    if ((int) threadIdx.x < half)
      found[threadIdx.x] =
          better (found[threadIdx.x], found[threadIdx.x + half]);
  }
  return found[threadIdx.x];
}

#endif
