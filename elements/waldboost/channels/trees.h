/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A classifier of trees on channels, for a window of a level: the definition of
 * the result, in plain C. */
#ifndef CUV_CHANNELS_TREES_H
#define CUV_CHANNELS_TREES_H

#include "channels/channels.h"

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
