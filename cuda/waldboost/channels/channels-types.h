/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of trees on channels, shared by CPU and GPU.
 * docs/definitions/channels.md defines the channels. */
#ifndef CUV_CHANNELS_TYPES_H
#define CUV_CHANNELS_TYPES_H

#include <stdint.h>

enum {
  CUV_CHANNELS_COLORS = 3,
  CUV_CHANNELS_BINS = 6,      /* directions of 30 degrees each */
  CUV_CHANNELS_MAGNITUDE = 3, /* index of the channel of magnitudes */
  CUV_CHANNELS_DIRECTION = 4, /* index of the channel of the first direction */
  CUV_CHANNELS_N = 10,
  CUV_CHANNELS_RADIUS = 5, /* radius of a pixel's surroundings, in pixels */
  CUV_CHANNELS_FLOOR = 6,  /* added to the surroundings' mean magnitude */
};

enum {
  CUV_CHANNELS_MAX_DEPTH = 4,
  CUV_CHANNELS_MAX_TREES = 4096,
};

/* A node of a tree. A window goes left if its byte at the node's place is less
 * than threshold, and right otherwise. */
typedef struct {
  uint8_t channel;     /* 0 to CUV_CHANNELS_N - 1 */
  uint8_t column, row; /* place of a block in the window */
  uint8_t threshold;
} CuvChannelsNode;

/* Complete binary trees of the same depth. In a tree of depth d the 2^d - 1
 * nodes are numbered from 0, level by level, from left to right: the children
 * of node i are 2 i + 1 and 2 i + 2; the 2^d leaves follow from left to right.
 *
 * The values of the leaves that a window reaches are summed from the first tree
 * to the last. The window is rejected if the sum after a tree is less than the
 * tree's threshold, or if the last sum is not above final_threshold. Sums fit
 * in 32 bits because leaves have 16. */
typedef struct {
  int32_t columns, rows; /* size of the window in blocks */
  int32_t shrink;        /* width and height of a block in pixels: 2 or 4 */
  int32_t overhang;      /* blocks by which windows may exceed a picture */
  int32_t depth;         /* 1 to CUV_CHANNELS_MAX_DEPTH */
  int32_t n_trees;       /* 1 to CUV_CHANNELS_MAX_TREES */
  const CuvChannelsNode *nodes; /* one tree after the other */
  const int16_t *leaves;        /* one tree after the other, in 1/256 */
  /* rejection threshold of each tree, in 1/256; INT32_MIN: none */
  const int32_t *thresholds;
  int32_t final_threshold;
} CuvChannelsTrees;

struct _CuvChannelsModel {
  CuvChannelsTrees trees;
  int32_t levels; /* number of levels per octave */
  /* The object in the window, in pixels: x, y, width, height. A part of it is
   * farther inside the window than the overhang on each side, so that this part
   * is always in the picture. */
  int32_t object[4];
  /* Sums, in 1/256. even: half of the boxes with this sum are right; spread:
   * difference of sums that multiplies the odds by e; 0: unknown. */
  int32_t even, spread;
};

#endif
