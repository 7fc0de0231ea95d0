// SPDX-License-Identifier: LGPL-2.1-or-later
// Training: chooses the feature with the smallest loss. loss_kernel(), with a
// block per feature, sums the weights of all samples by code, in integers, and
// computes the loss from the sums as cuv_train_loss() or cuv_train_split()
// does; least_kernel() finds the smallest loss.
#include "train/feature-chooser.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string.h>
#include "cuv-arena.cuh"
#include "cuv-wait.h"
#include "train/chooser-sums.cuh"

#define CUV_CHOOSER_LEAST_THREADS 1024 // threads of the second kernel

struct CuvChooserArgs {
  const uint8_t *codes;    // of the features of one launch
  const uint32_t *weights; // 0 from index n on
  size_t pitch;            // bytes per feature, a multiple of 4
  int32_t n, n_positives;
  int32_t n_features, n_codes;
  double *losses; // of the features of one launch
  int32_t *best;
};

struct _CuvFeatureChooserCuda {
  CuvArena arena = {};
  CuvChooserArgs args = {};
  bool split = false;
  uint8_t *codes = nullptr;            // n_resident + n_chunk rows
  int32_t n_resident = 0, n_chunk = 0; // numbers of features
  const uint8_t *host_codes = nullptr; // of all features
  size_t host_pitch = 0;
  // host_weights is pinned
  uint32_t *weights = nullptr, *host_weights = nullptr;
  int32_t *host_best = nullptr; // pinned
  CuvWait wait = {};

  ~_CuvFeatureChooserCuda ()
  {
    cuv_arena_clear (&arena);
  }
};

// ---- the loss of a feature, in thread 0 ----

// The loss, as cuv_train_loss() computes it.
static __device__ __forceinline__ double
loss_of_codes (Weights weights, int n_codes)
{
  __shared__ double roots[CUV_CHOOSER_CODES];
  double loss = 0;

  roots[threadIdx.x] = root (weights);
  __syncthreads ();
  if (threadIdx.x == 0) {
    for (int code = 0; code < n_codes; code++)
      loss += roots[code];
  }
  return loss;
}

// Returns the rank of the thread's code when codes are sorted by their fraction
// of positives.
static __device__ __forceinline__ int
cuv_choose_place_of (Weights weights, int n_codes)
{
  __shared__ double shares[CUV_CHOOSER_CODES];
  const double share = weights.positives > 0 ? (double) weights.positives
          / (double) (weights.positives + weights.negatives)
                                             : 0;
  int place = 0;

  shares[threadIdx.x] = share;
  __syncthreads ();
  for (int code = 0; code < n_codes; code++)
    place += shares[code] < share
        || (shares[code] == share && code < (int) threadIdx.x);
  return (int) threadIdx.x < n_codes ? place : (int) threadIdx.x;
}

// The loss of the best split, as cuv_train_split() computes it.
static __device__ __forceinline__ double
loss_of_split (Weights weights, int n_codes)
{
  __shared__ Weights sums[CUV_CHOOSER_CODES];
  __shared__ double losses[CUV_CHOOSER_CODES];
  const Weights low =
      sum_to_place (weights, cuv_choose_place_of (weights, n_codes), sums);
  const Weights all = sums[n_codes - 1];
  const Weights high = { all.positives - low.positives,
    all.negatives - low.negatives };

  losses[threadIdx.x] =
      (int) threadIdx.x < n_codes - 1 ? root (low) + root (high) : INFINITY;
  for (int half = CUV_CHOOSER_CODES / 2; half > 0; half /= 2) {
    __syncthreads ();
    if ((int) threadIdx.x < half)
      losses[threadIdx.x] =
          fmin (losses[threadIdx.x], losses[threadIdx.x + half]);
  }
  return losses[threadIdx.x];
}

template <bool SPLIT>
static __global__ void
__launch_bounds__ (CUV_CHOOSER_CODES) loss_kernel (CuvChooserArgs args)
{
  const Weights weights = cuv_choose_sum (args.codes + blockIdx.x * args.pitch,
      args.weights, args.n, args.n_positives);
  double loss;

  loss = SPLIT ? loss_of_split (weights, args.n_codes)
               : loss_of_codes (weights, args.n_codes);
  if (threadIdx.x == 0)
    args.losses[blockIdx.x] = loss;
}

// ---- the smallest loss ----

static __global__ void
__launch_bounds__ (CUV_CHOOSER_LEAST_THREADS) least_kernel (CuvChooserArgs args)
{
  Found best = { args.losses[0], 0 };

  for (int f = threadIdx.x; f < args.n_features; f += CUV_CHOOSER_LEAST_THREADS)
    best = better (best, { args.losses[f], f });
  best = cuv_choose_least<CUV_CHOOSER_LEAST_THREADS> (best);
  if (threadIdx.x == 0)
    *args.best = best.index;
}

// ---- memory ----

// parts of the memory for codes; if not all codes fit, one part is for codes
// that are uploaded in each run
#define CUV_CHOOSER_CHUNKS 8

// Returns the number of rows of codes that the memory may hold.
static int32_t
cuv_choose_count_rows (const CuvChooserArgs *args, size_t max_bytes)
{
  size_t available = 0, total = 0;

  if (max_bytes == 0
      && cuv_cuda_record (cudaMemGetInfo (&available, &total), "cudaMemGetInfo")
          == 0)
    max_bytes = available / 8 * 7;
  return (int32_t) std::min<size_t> (
      args->n_features, std::max<size_t> (max_bytes / args->pitch, 1));
}

static bool
allocate_codes (CuvFeatureChooserCuda *self, size_t max_bytes)
{
  const CuvChooserArgs *args = &self->args;
  int32_t n = cuv_choose_count_rows (args, max_bytes);

  // less memory may be free now
  while ((self->codes = (uint8_t *) cuv_arena_zeroed (
              &self->arena, (size_t) n * args->pitch))
          == nullptr
      && n > 1)
    n /= 2;
  self->n_chunk = n < args->n_features
      ? (n + CUV_CHOOSER_CHUNKS - 1) / CUV_CHOOSER_CHUNKS
      : 0;
  self->n_resident = n - self->n_chunk;
  return self->codes != nullptr;
}

static bool
cuv_choose_init (CuvFeatureChooserCuda *self, size_t max_bytes)
{
  CuvChooserArgs *args = &self->args;
  const size_t n = args->pitch;

  self->weights =
      (uint32_t *) cuv_arena_alloc (&self->arena, n * sizeof (uint32_t));
  args->losses = (double *) cuv_arena_alloc (
      &self->arena, (size_t) args->n_features * sizeof (double));
  self->host_weights =
      (uint32_t *) cuv_arena_pinned (&self->arena, n * sizeof (uint32_t));
  self->host_best =
      (int32_t *) cuv_arena_pinned (&self->arena, sizeof (int32_t));
  args->weights = self->weights;
  args->best = self->host_best;
  return self->weights != nullptr && args->losses != nullptr
      && self->host_weights != nullptr && self->host_best != nullptr
      && allocate_codes (self, max_bytes);
}

extern "C" CuvFeatureChooserCuda *
cuv_feature_chooser_cuda_new (int32_t n_features, int32_t n_codes, bool split,
    int32_t capacity, size_t max_bytes)
{
  std::unique_ptr<CuvFeatureChooserCuda> self (
      new (std::nothrow) _CuvFeatureChooserCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  self->args.n_features = n_features;
  self->args.n_codes = n_codes;
  self->split = split;
  self->args.pitch = ((size_t) capacity + 3) / 4 * 4;
  return cuv_choose_init (self.get (), max_bytes) ? self.release () : nullptr;
}

extern "C" void
cuv_feature_chooser_cuda_free (CuvFeatureChooserCuda *self)
{
  delete self;
}

extern "C" int32_t
cuv_feature_chooser_cuda_n_resident (const CuvFeatureChooserCuda *self)
{
  return self->n_resident;
}

// ---- host ----

// Copies the codes of n_features features, samples first to end - 1, to rows
// `row` and following.
static int
cuv_choose_upload (CuvFeatureChooserCuda *self, int32_t feature,
    int32_t n_features, int32_t row, int32_t first, int32_t end,
    cudaStream_t stream)
{
  const size_t pitch = self->args.pitch;

  if (n_features == 0 || first == end)
    return 0;
  CUV_CUDA_TRY (cudaMemcpy2DAsync (self->codes + row * pitch + first, pitch,
      self->host_codes + feature * self->host_pitch + first, self->host_pitch,
      (size_t) (end - first), (size_t) n_features, cudaMemcpyHostToDevice,
      stream));
  return 0;
}

extern "C" int
cuv_feature_chooser_cuda_set_codes (CuvFeatureChooserCuda *self,
    const uint8_t *codes, size_t pitch, int32_t first, int32_t end,
    CuvCudaStream stream)
{
  self->host_codes = codes;
  self->host_pitch = pitch;
  return cuv_end_submit (cuv_choose_upload (self, 0, self->n_resident, 0, first,
                             end, (cudaStream_t) stream),
             (cudaStream_t) stream)
              == 0
          && cuv_wait_stream (&self->wait, stream) == 0
      ? 0
      : -1;
}

// Computes the losses of features whose codes are in rows `row` and following.
static int
cuv_choose_launch (CuvFeatureChooserCuda *self, int32_t feature,
    int32_t n_features, int32_t row, cudaStream_t stream)
{
  const auto kernel = self->split ? loss_kernel<true> : loss_kernel<false>;
  CuvChooserArgs args = self->args;

  if (n_features == 0)
    return 0;
  args.codes = self->codes + row * args.pitch;
  args.losses += feature;
  kernel<<<n_features, CUV_CHOOSER_CODES, 0, stream>>> (args);
  CUV_CUDA_LAUNCHED (loss_kernel);
  return 0;
}

static int
cuv_choose_submit (CuvFeatureChooserCuda *self, cudaStream_t stream)
{
  const CuvChooserArgs *args = &self->args;
  const size_t padded = ((size_t) args->n + 3) / 4 * 4;

  CUV_CUDA_TRY (cudaMemcpyAsync (self->weights, self->host_weights,
      padded * sizeof (uint32_t), cudaMemcpyHostToDevice, stream));
  if (cuv_choose_launch (self, 0, self->n_resident, 0, stream) != 0)
    return -1;
  for (int32_t f = self->n_resident; f < args->n_features; f += self->n_chunk) {
    const int32_t n = std::min (self->n_chunk, args->n_features - f);

    if (cuv_choose_upload (self, f, n, self->n_resident, 0, args->n, stream)
            != 0
        || cuv_choose_launch (self, f, n, self->n_resident, stream) != 0)
      return -1;
  }
  least_kernel<<<1, CUV_CHOOSER_LEAST_THREADS, 0, stream>>> (*args);
  CUV_CUDA_LAUNCHED (least_kernel);
  return 0;
}

extern "C" int
cuv_feature_chooser_cuda_run (CuvFeatureChooserCuda *self,
    const uint32_t *weights, int32_t n, int32_t n_positives, int32_t *feature,
    CuvCudaStream stream)
{
  const size_t padded = ((size_t) n + 3) / 4 * 4;

  self->args.n = n;
  self->args.n_positives = n_positives;
  memcpy (self->host_weights, weights, (size_t) n * sizeof *weights);
  memset (self->host_weights + n, 0, (padded - (size_t) n) * sizeof *weights);
  if (cuv_end_submit (cuv_choose_submit (self, (cudaStream_t) stream),
          (cudaStream_t) stream)
          != 0
      || cuv_wait_stream (&self->wait, stream) != 0)
    return -1;
  *feature = *self->host_best;
  return 0;
}
