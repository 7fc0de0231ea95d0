// SPDX-License-Identifier: LGPL-2.1-or-later
// Training of trees on channels: chooses feature and threshold of each node.
// Each node has an array with the weights of all samples, which are 0 for those
// that do not reach it. For each level of the tree split_kernel(), a block per
// feature and node, finds the feature's best threshold as cuv_train_tree()
// does, node_kernel() the best feature, and divide_kernel() the weights of the
// children.
#include "train/tree-chooser.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string.h>
#include "cuv-arena.cuh"
#include "cuv-wait.h"
#include "train/chooser-sums.cuh"

struct CuvTreeArgs {
  const uint8_t *codes;
  uint32_t *weights; // of node i: weights + i * pitch; 0 beyond n
  size_t pitch;      // a multiple of 4
  int32_t n, n_positives;
  const int32_t *features; // to choose from
  int32_t n_features;
  Found *splits; // of a level's nodes: n_features each; index: of the code
                 // below the threshold
  CuvTreeNodes *nodes;
  int32_t first; // number of the level's first node
};

struct _CuvTreeChooserCuda {
  CuvArena arena = {};
  CuvTreeArgs args = {};
  uint8_t *codes = nullptr;
  int32_t *features = nullptr;
  uint32_t *host_weights = nullptr;   // pinned
  int32_t *host_features = nullptr;   // pinned
  CuvTreeNodes *host_nodes = nullptr; // pinned
  CuvWait wait = {};

  ~_CuvTreeChooserCuda ()
  {
    cuv_arena_clear (&arena);
  }
};

// ---- kernels ----

static __global__ void
__launch_bounds__ (CUV_CHOOSER_CODES) split_kernel (CuvTreeArgs args)
{
  __shared__ Weights sums[CUV_CHOOSER_CODES];
  const int32_t feature = args.features[blockIdx.x];
  const int node = args.first + blockIdx.y, code = threadIdx.x;
  const Weights weights = cuv_choose_sum (args.codes + feature * args.pitch,
      args.weights + node * args.pitch, args.n, args.n_positives);
  const Weights low = sum_to_place (weights, code, sums);
  const Weights all = sums[CUV_CHOOSER_CODES - 1];
  const Weights high = { all.positives - low.positives,
    all.negatives - low.negatives };
  const double loss =
      code < CUV_CHOOSER_CODES - 1 ? root (low) + root (high) : INFINITY;
  const Found best = cuv_choose_least<CUV_CHOOSER_CODES> ({ loss, code });

  if (threadIdx.x == 0)
    args.splits[blockIdx.y * args.n_features + blockIdx.x] = best;
}

static __global__ void
__launch_bounds__ (CUV_CHOOSER_CODES) node_kernel (CuvTreeArgs args)
{
  const Found *splits = args.splits + blockIdx.x * args.n_features;
  const int node = args.first + blockIdx.x;
  Found best = { INFINITY, 0 };

  for (int f = threadIdx.x; f < args.n_features; f += CUV_CHOOSER_CODES)
    best = better (best, { splits[f].loss, f });
  best = cuv_choose_least<CUV_CHOOSER_CODES> (best);
  if (threadIdx.x == 0) {
    args.nodes->feature[node] = args.features[best.index];
    args.nodes->threshold[node] = splits[best.index].index + 1;
  }
}

static __global__ void
__launch_bounds__ (CUV_CHOOSER_CODES) divide_kernel (CuvTreeArgs args)
{
  const int node = args.first + blockIdx.y;
  const size_t i = (size_t) blockIdx.x * CUV_CHOOSER_CODES + threadIdx.x;
  const size_t feature = args.nodes->feature[node];

  if (i < args.pitch) {
    const bool right =
        args.codes[feature * args.pitch + i] >= args.nodes->threshold[node];
    const uint32_t weight = args.weights[node * args.pitch + i];

    args.weights[(2 * node + 1) * args.pitch + i] = right ? 0 : weight;
    args.weights[(2 * node + 2) * args.pitch + i] = right ? weight : 0;
  }
}

// ---- memory ----

static bool
cuv_tree_allocate (CuvTreeChooserCuda *self, int32_t n_features)
{
  CuvTreeArgs *args = &self->args;
  CuvArena *arena = &self->arena;
  const size_t n = (size_t) n_features, pitch = args->pitch;

  self->host_weights =
      (uint32_t *) cuv_arena_pinned (arena, pitch * sizeof (uint32_t));
  self->host_features =
      (int32_t *) cuv_arena_pinned (arena, n * sizeof (int32_t));
  self->host_nodes =
      (CuvTreeNodes *) cuv_arena_pinned (arena, sizeof (CuvTreeNodes));
  return self->host_weights != nullptr && self->host_features != nullptr
      && self->host_nodes != nullptr
      && cuv_arena_new (arena, &self->codes, n * pitch)
      && cuv_arena_new (arena, &self->features, n)
      && cuv_arena_new (arena, &args->weights, CUV_TREE_NODES * pitch)
      && cuv_arena_new (arena, &args->splits, n << (CUV_TREE_MAX_DEPTH - 1))
      && cuv_arena_new (arena, &args->nodes, 1);
}

static int
cuv_tree_upload (CuvTreeChooserCuda *self, const CuvTreeSamples *samples,
    cudaStream_t stream)
{
  CUV_CUDA_TRY (cudaMemcpy2DAsync (self->codes, self->args.pitch,
      samples->codes, samples->pitch, (size_t) samples->n,
      (size_t) samples->n_features, cudaMemcpyHostToDevice, stream));
  return 0;
}

extern "C" CuvTreeChooserCuda *
cuv_tree_chooser_cuda_new (const CuvTreeSamples *samples, CuvCudaStream stream)
{
  std::unique_ptr<CuvTreeChooserCuda> self (
      new (std::nothrow) _CuvTreeChooserCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  self->args.n = samples->n;
  self->args.n_positives = samples->n_positives;
  self->args.pitch = ((size_t) samples->n + 3) / 4 * 4;
  if (!cuv_tree_allocate (self.get (), samples->n_features))
    return nullptr;
  self->args.codes = self->codes;
  self->args.features = self->features;
  return cuv_end_submit (
             cuv_tree_upload (self.get (), samples, (cudaStream_t) stream),
             (cudaStream_t) stream)
              == 0
          && cuv_wait_stream (&self->wait, stream) == 0
      ? self.release ()
      : nullptr;
}

extern "C" void
cuv_tree_chooser_cuda_free (CuvTreeChooserCuda *self)
{
  delete self;
}

// ---- a tree ----

static int
cuv_tree_submit_level (
    const CuvTreeArgs &args, bool divides, cudaStream_t stream)
{
  const unsigned n_nodes = args.first + 1;
  const unsigned n_blocks =
      (unsigned) ((args.pitch + CUV_CHOOSER_CODES - 1) / CUV_CHOOSER_CODES);

  split_kernel<<<dim3 (args.n_features, n_nodes), CUV_CHOOSER_CODES, 0,
      stream>>> (args);
  CUV_CUDA_LAUNCHED (split_kernel);
  node_kernel<<<n_nodes, CUV_CHOOSER_CODES, 0, stream>>> (args);
  CUV_CUDA_LAUNCHED (node_kernel);
  if (!divides)
    return 0;
  divide_kernel<<<dim3 (n_blocks, n_nodes), CUV_CHOOSER_CODES, 0, stream>>> (
      args);
  CUV_CUDA_LAUNCHED (divide_kernel);
  return 0;
}

static int
cuv_tree_submit (CuvTreeChooserCuda *self, int depth, cudaStream_t stream)
{
  CuvTreeArgs args = self->args;

  CUV_CUDA_TRY (cudaMemcpyAsync (args.weights, self->host_weights,
      args.pitch * sizeof (uint32_t), cudaMemcpyHostToDevice, stream));
  CUV_CUDA_TRY (cudaMemcpyAsync (self->features, self->host_features,
      (size_t) args.n_features * sizeof (int32_t), cudaMemcpyHostToDevice,
      stream));
  for (int level = 0; level < depth; level++) {
    args.first = (1 << level) - 1;
    if (cuv_tree_submit_level (args, level < depth - 1, stream) != 0)
      return -1;
  }
  CUV_CUDA_TRY (cudaMemcpyAsync (self->host_nodes, args.nodes,
      sizeof *args.nodes, cudaMemcpyDeviceToHost, stream));
  return 0;
}

extern "C" int
cuv_tree_chooser_cuda_run (CuvTreeChooserCuda *self, const uint32_t *weights,
    const int32_t *features, int32_t n_features, int depth, CuvTreeNodes *nodes,
    CuvCudaStream stream)
{
  const size_t n = (size_t) self->args.n;

  self->args.n_features = n_features;
  memcpy (
      self->host_features, features, (size_t) n_features * sizeof *features);
  memcpy (self->host_weights, weights, n * sizeof *weights);
  memset (self->host_weights + n, 0, (self->args.pitch - n) * sizeof *weights);
  if (cuv_end_submit (cuv_tree_submit (self, depth, (cudaStream_t) stream),
          (cudaStream_t) stream)
          != 0
      || cuv_wait_stream (&self->wait, stream) != 0)
    return -1;
  *nodes = *self->host_nodes;
  return 0;
}
