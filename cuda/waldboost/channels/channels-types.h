/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of trees on channels shared by CPU and GPU; the channels are those of
 * docs/definitions/channels.md. */
#ifndef CUV_CHANNELS_TYPES_H
#define CUV_CHANNELS_TYPES_H

#include <stdint.h>

enum {
  CUV_CHANNELS_COLORS = 3,
  CUV_CHANNELS_BINS = 6,      /* directions, 30 degrees each */
  CUV_CHANNELS_MAGNITUDE = 3, /* index of the channel of magnitudes */
  CUV_CHANNELS_DIRECTION = 4, /* index of the channel of the first direction */
  CUV_CHANNELS_N = 10,
  CUV_CHANNELS_RADIUS = 5, /* pixels around a pixel that normalise it */
  CUV_CHANNELS_FLOOR = 6,  /* added to the mean magnitude of those pixels */
};

enum {
  CUV_CHANNELS_MAX_DEPTH = 4,
  CUV_CHANNELS_MAX_TREES = 4096,
};

/* A node of a tree. A window goes left if its byte at this place is less than
 * threshold, and right otherwise. */
typedef struct {
  uint8_t channel;     /* 0 .. CUV_CHANNELS_N - 1 */
  uint8_t column, row; /* of a block in the window */
  uint8_t threshold;
} CuvChannelsNode;

/* Complete binary trees of the same depth. In a tree of depth d the 2^d - 1
 * nodes are numbered by level from 0, left to right: the children of node i are
 * 2 i + 1 and 2 i + 2; the 2^d leaves follow from left to right.
 *
 * The values of the leaves that a window reaches are summed from the first tree
 * to the last. The window is rejected if the sum after a tree is less than the
 * tree's threshold, or if the last sum is not above final_threshold. Sums fit
 * in 32 bits because leaves have 16. */
typedef struct {
  int32_t columns, rows; /* size of the window, blocks */
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
  /* Sums, in 1/256: that of boxes of which half are right, and by how much a
   * larger one multiplies their odds by e; spread 0: unknown. */
  int32_t even, spread;
};

#endif
