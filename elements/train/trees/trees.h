/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learns trees on channels from samples. A sample is the bytes of a window,
 * which are its features.
 *
 *   trainer.c    pictures with objects -> a model, in rounds; see trainer.h
 *   windows.c    windows with an object, cut out of pictures -> samples
 *   negatives.c  windows without objects that a classifier does not reject ->
 *                samples
 *   learner.c    all trees of a classifier, and when a window is rejected
 *   trees.c      one tree: the features and thresholds of its nodes, which on
 *                the GPU cuda/train/tree-chooser.cu chooses, and its leaves
 *   state.c      saves the trees of a training and recalls them
 *
 * The method is Real AdaBoost with the sets and histograms of train.h:
 * the code of a feature is the byte itself. Source of trees with early
 * rejection on channels: P. Dollar, R. Appel, S. Belongie, P. Perona, Fast
 * Feature Pyramids for Object Detection, PAMI 2014. */
#ifndef CUV_TRAIN_TREES_H
#define CUV_TRAIN_TREES_H

#include "train.h"
#include "waldboost/channels/channels-types.h"

enum {
  CUV_TRAIN_TREE_BITS = 8, /* leaves are in units of 2^-8 */
  CUV_TRAIN_TREE_NODES = (1 << CUV_CHANNELS_MAX_DEPTH) - 1,
  CUV_TRAIN_TREE_LEAVES = 1 << CUV_CHANNELS_MAX_DEPTH,
};

/* ---- trees.c ---- */

/* A tree. From node i a sample goes to node 2 i + 1 if its feature[i] is below
 * threshold[i], otherwise to 2 i + 2; see CuvChannelsTrees. */
typedef struct {
  int32_t feature[CUV_TRAIN_TREE_NODES];
  uint8_t threshold[CUV_TRAIN_TREE_NODES];
  int16_t leaves[CUV_TRAIN_TREE_LEAVES];
} CuvTrainTree;

/* Learns a tree with the set's weights, and updates the set's sums and masses.
 * From the root down, each node gets the feature of the list and the threshold,
 * 1 .. 255, that have the least loss sqrt (P N) + sqrt (P' N'). P and N are the
 * weights of positives and negatives below the threshold, P' and N' the others.
 * Among equal losses, the first feature and then the lowest threshold win. A
 * leaf is 1/2 ln ((P + e) / (N + e)), where P and N are the fractions of the
 * total weight that reach it and e = 1 / (2 n_alive). The result does not
 * depend on n_threads. Returns false if memory runs out. */
bool cuv_train_tree (CuvTrainSet *set, const int32_t *features,
    int32_t n_features, int depth, int n_threads, CuvTrainTree *tree);

/* The same for a tree whose features and thresholds are known. */
bool cuv_train_tree_again (CuvTrainSet *set, int depth, CuvTrainTree *tree);

/* Returns the leaf that a sample reaches. values: the sample's features. */
int cuv_train_tree_leaf (
    const CuvTrainTree *tree, int depth, const uint8_t *values);

/* ---- learner.c ---- */

/* Samples, positives first. */
typedef struct {
  int32_t n, n_positives, n_features;
  const uint8_t *values; /* n_features bytes per sample */
} CuvTrainSamples;

/* Follows a training; any function may be NULL. Trees of all rounds come one
 * after another. */
typedef struct {
  void *data;
  /* Whether training is to end without a result. Called by several threads at a
   * time. */
  bool (*is_stopped) (void *data);
  /* Whether the next tree was learnt before; sets *tree to it. */
  bool (*recall) (void *data, CuvTrainTree *tree);
  void (*learnt) (void *data, const CuvTrainTree *tree);
  /* Whether to continue on the CPU after the GPU failed with this error. */
  bool (*device_failed) (void *data, const char *problem);
} CuvTrainWatch;

static inline bool
cuv_train_is_stopped (const CuvTrainWatch *watch)
{
  return watch != NULL && watch->is_stopped != NULL
      && watch->is_stopped (watch->data);
}

typedef struct {
  int32_t depth, n_trees;
  double share; /* fraction of the features, drawn for each tree */
  double alpha; /* see cuv_train_threshold() */
  uint64_t seed;
  /* May be NULL: the CPU, with a thread per processor. Set to the CPU if the
   * GPU fails and watch->device_failed() returns true. */
  CuvProcessor *processor;
  const CuvTrainWatch *watch; /* may be NULL */
} CuvTrainTreesParams;

/* Returns the number of threads for work on the CPU, 0 = one per processor. */
static inline int
cuv_train_n_threads (const CuvTrainTreesParams *params)
{
  return params->processor != NULL ? params->processor->n_threads : 0;
}

/* Learns n_trees trees from the samples of learning, and sets rejection
 * thresholds with those of calibration, which must be other samples.
 * thresholds[i] applies after tree i; it is CUV_TRAIN_NO_THRESHOLD if no
 * threshold is good enough or no negative is left. *final is a threshold that
 * all but a fraction alpha of the remaining positives of calibration exceed; as
 * these may be few, it is at most 0 (even odds). Returns false if memory runs
 * out, the watch stops it, or the GPU fails and it does not continue on the
 * CPU. */
bool cuv_train_trees (const CuvTrainSamples *learning,
    const CuvTrainSamples *calibration, const CuvTrainTreesParams *params,
    CuvTrainTree *trees, int32_t *thresholds, int32_t *final);

#endif
