/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of trees on channels shared by CPU and GPU; the channels are those of
 * docs/definitions/channels.md. */
#ifndef CUV_CHANNELS_TYPES_H
#define CUV_CHANNELS_TYPES_H

#include <stdint.h>

enum {
  CUV_CHANNELS_COLORS = 3,
  CUV_CHANNELS_BINS = 6,      /* directions, 30 degrees each */
  CUV_CHANNELS_MAGNITUDE = 3, /* number of the magnitude's channel */
  CUV_CHANNELS_DIRECTION = 4, /* number of the first direction's */
  CUV_CHANNELS_N = 10,
  CUV_CHANNELS_RADIUS = 5, /* of a pixel's surroundings, in pixels */
  CUV_CHANNELS_FLOOR = 6,  /* added to their mean */
};

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

struct _CuvChannelsModel {
  CuvChannelsTrees trees;
  int32_t levels; /* levels per octave */
  /* The object in the window, pixels: x, y, width, height. A part of it is
   * farther inside the window than the overhang on each side, so that this
   * part is always in the picture. */
  int32_t object[4];
};

#endif
