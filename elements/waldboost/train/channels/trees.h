/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learning of trees on channels from samples, and a map of this folder. A
 * sample is the bytes of a window: its features.
 *
 *   trainer.c    pictures with objects -> a model, in rounds; see trainer.h
 *   windows.c    windows with an object, cut out of pictures -> samples
 *   negatives.c  windows without, those that a classifier does not reject
 *   learner.c    all trees of a classifier, and when a window is rejected
 *   trees.c      one tree: the features and thresholds of its nodes, its leaves
 *
 * Real AdaBoost as in train/train.h, whose sets and histograms are used: a
 * sample's code of a feature is the byte itself. Source of trees with early
 * rejection on channels: P. Dollar, R. Appel, S. Belongie, P. Perona, Fast
 * Feature Pyramids for Object Detection, PAMI 2014. */
#ifndef CUV_TRAIN_TREES_H
#define CUV_TRAIN_TREES_H

#include "channels/trees.h"
#include "train/train.h"

enum {
  CUV_TRAIN_TREE_BITS = 8, /* leaves are in units of 2^-8 */
  CUV_TRAIN_TREE_NODES = (1 << CUV_CHANNELS_MAX_DEPTH) - 1,
  CUV_TRAIN_TREE_LEAVES = 1 << CUV_CHANNELS_MAX_DEPTH,
};

/* ---- trees.c ---- */

/* Node i goes to node 2 i + 1 if feature[i] of a sample is below threshold[i],
 * else to 2 i + 2; see CuvChannelsTrees. */
typedef struct {
  int32_t feature[CUV_TRAIN_TREE_NODES];
  uint8_t threshold[CUV_TRAIN_TREE_NODES];
  int16_t leaves[CUV_TRAIN_TREE_LEAVES];
} CuvTrainTree;

/* Learns a tree with the set's weights, and adds it to the sums and masses.
 * Each node in turn, from the root down, takes the feature of the list and the
 * threshold, 1 .. 255, of the least loss sqrt (P N) + sqrt (P' N'): the weights
 * of positives and negatives on both sides of it; of several, the first feature
 * and the lowest threshold. leaf = 1/2 ln ((P + e) / (N + e)), where P and N
 * are shares of all weights and e = 1 / (2 n_alive). Uses at most n_threads
 * threads, with the same result. False if memory runs out. */
bool cuv_train_tree (CuvTrainSet *set, const int32_t *features,
    int32_t n_features, int depth, int n_threads, CuvTrainTree *tree);

/* The leaf that a sample reaches. values: those of its features. */
int cuv_train_tree_leaf (
    const CuvTrainTree *tree, int depth, const uint8_t *values);

/* ---- learner.c ---- */

/* Samples one after another, positives first. */
typedef struct {
  int32_t n, n_positives, n_features;
  const uint8_t *values; /* n_features of each sample */
} CuvTrainSamples;

typedef struct {
  int32_t depth, n_trees;
  double share; /* of the features that a tree chooses from, at random */
  double alpha; /* see cuv_train_threshold() */
  uint64_t seed;
  int32_t n_threads; /* 0 = one per processor */
} CuvTrainTreesParams;

/* Learns n_trees trees from the first samples, and their rejection thresholds
 * from the others, which must not have been learnt from: thresholds[i] after
 * tree i, CUV_TRAIN_NO_THRESHOLD if there is none or no negative is left.
 * *final: the sum that all but the share alpha of the positives left exceed,
 * but at most 0, even odds, as these may be few. False if memory runs out. */
bool cuv_train_trees (const CuvTrainSamples *learning,
    const CuvTrainSamples *calibration, const CuvTrainTreesParams *params,
    CuvTrainTree *trees, int32_t *thresholds, int32_t *final);

#endif
