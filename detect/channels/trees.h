/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evaluates a classifier of trees on channels in a window of a level. This
 * plain C defines the result. */
#ifndef CUV_CHANNELS_TREES_H
#define CUV_CHANNELS_TREES_H

#include "channels/channels.h"

/* The channels of a level; see cuv_channels_compute(). */
typedef struct {
  const uint8_t *value;
  int32_t columns, rows; /* blocks */
} CuvChannelsLevel;

/* Evaluates the window whose upper left block is at (column, row); both may be
 * negative. Blocks at the level's edges are repeated beyond them. If the window
 * is accepted, returns n_trees and sets *score to the last sum minus
 * final_threshold, at least 1. Otherwise returns how many trees the window
 * passed before the one that rejected it; the final threshold counts as part of
 * the last tree. */
CUV_API int cuv_channels_evaluate (const CuvChannelsTrees *self,
    const CuvChannelsLevel *level, int column, int row, int32_t *score);

#endif
