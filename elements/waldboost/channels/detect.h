/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The windows of all sizes that a model accepts in a picture: the definition of
 * the result, in plain C. */
#ifndef CUV_CHANNELS_DETECT_H
#define CUV_CHANNELS_DETECT_H

#include "model/channels.h"

typedef struct {
  int32_t level;
  CuvChannelsHit hit;          /* window of the level */
  int32_t x, y, width, height; /* the object's box, pixels of the picture */
} CuvChannelsBox;

/* Writes the accepted windows by level and row, at most capacity of them, and
 * returns the number of all; -1 if memory runs out. Windows whose object is
 * outside of the picture are omitted. Levels are those of a dense
 * scan, as many as the window fits into. */
int64_t cuv_channels_detect (const CuvChannelsModel *model,
    const CuvChannelsPicture *picture, CuvChannelsBox *boxes, int64_t capacity);

#endif
