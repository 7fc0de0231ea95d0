/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A classifier of trees on channels, for a window of a level: the definition of
 * the result, in plain C. */
#ifndef CUV_CHANNELS_TREES_H
#define CUV_CHANNELS_TREES_H

#include "channels/channels.h"

enum {
  CUV_CHANNELS_MAX_DEPTH = 4,
  CUV_CHANNELS_MAX_TREES = 4096,
};

/* Goes left if the byte of a channel is less than threshold, else right. */
typedef struct {
  uint8_t channel;     /* 0 .. CUV_CHANNELS_N - 1 */
  uint8_t column, row; /* in the window, blocks */
  uint8_t threshold;
} CuvChannelsNode;

/* Complete binary trees of the same depth. In a tree of depth d the 2^d - 1
 * nodes are numbered by level from 0, left to right: the children of node i are
 * 2 i + 1 and 2 i + 2; the 2^d leaves follow from left to right.
 *
 * The leaves that a window reaches are added, from the first tree to the last.
 * It is rejected if a sum is less than its tree's threshold, or the last one
 * not above final_threshold. Sums fit 32 bits: leaves have 16. */
typedef struct {
  int32_t columns, rows; /* the window, blocks */
  int32_t shrink;        /* side of a block, pixels: 2 or 4 */
  int32_t overhang;      /* how far windows may exceed a picture, blocks */
  int32_t depth;         /* 1 .. CUV_CHANNELS_MAX_DEPTH */
  int32_t n_trees;       /* 1 .. CUV_CHANNELS_MAX_TREES */
  const CuvChannelsNode *nodes; /* tree after tree */
  const int16_t *leaves;        /* tree after tree, in 1/256 */
  /* rejection threshold of each tree, in 1/256; INT32_MIN: none */
  const int32_t *thresholds;
  int32_t final_threshold;
} CuvChannelsTrees;

/* The channels of a level; see cuv_channels_compute(). */
typedef struct {
  const uint8_t *value;
  int32_t columns, rows; /* blocks */
} CuvChannelsLevel;

/* Evaluates the window whose upper left block is (column, row), which may be
 * negative. Blocks beyond the level's edges are those of the edge. Returns the
 * number of trees passed before the one that rejected the window; the final
 * test belongs to the last tree. Returns n_trees if the window is accepted, and
 * sets *score to the last sum less final_threshold, at least 1. */
int cuv_channels_evaluate (const CuvChannelsTrees *self,
    const CuvChannelsLevel *level, int column, int row, int32_t *score);

#endif
