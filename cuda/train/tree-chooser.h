/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training of trees on channels: chooses the features and thresholds of a
 * tree's nodes on the GPU. All functions use the current CUDA context; map:
 * waldboost.h. */
#ifndef CUV_WALDBOOST_TREE_CHOOSER_H
#define CUV_WALDBOOST_TREE_CHOOSER_H

#include "cuv-cuda.h"

CUV_BEGIN

typedef struct _CuvTreeChooserCuda CuvTreeChooserCuda;

/* The samples to choose with. The first n_positives are positive. */
typedef struct {
  int32_t n, n_positives, n_features;
  const uint8_t *codes; /* code of feature f, sample i: codes[f * pitch + i] */
  size_t pitch;
} CuvTreeSamples;

/* Inner nodes of a tree. Samples go from node i to node 2 i + 1 if their code
 * of feature[i] is below threshold[i], otherwise to node 2 i + 2. */
enum { CUV_TREE_MAX_DEPTH = 4, CUV_TREE_NODES = 15 };

typedef struct {
  int32_t feature[CUV_TREE_NODES];
  int32_t threshold[CUV_TREE_NODES]; /* 1 .. 255 */
} CuvTreeNodes;

/* Copies all codes to device memory and waits; they may be freed afterwards.
 * Returns NULL on failure, see cuv_cuda_error(). */
CuvTreeChooserCuda *cuv_tree_chooser_cuda_new (
    const CuvTreeSamples *samples, CuvCudaStream stream);
void cuv_tree_chooser_cuda_free (CuvTreeChooserCuda *self); /* or NULL */

/* Sets the (1 << depth) - 1 nodes to those of the tree that cuv_train_tree()
 * learns with these weights of the samples and the n_features listed features.
 * depth: 1 .. CUV_TREE_MAX_DEPTH. Waits. Returns 0 or -1. */
int cuv_tree_chooser_cuda_run (CuvTreeChooserCuda *self,
    const uint32_t *weights, const int32_t *features, int32_t n_features,
    int depth, CuvTreeNodes *nodes, CuvCudaStream stream);

CUV_END

#endif
