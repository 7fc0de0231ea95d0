/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The red, green and blue planes of a frame of any format, turned as the plan
 * says. */
#ifndef CUV_CHANNELS_PLANES_H
#define CUV_CHANNELS_PLANES_H

#include "channels/channels.h"
#include "cuv-rgb.h"
#include "waldboost/waldboost-types.h"

/* Memory that grows with the largest frame; all zeros at first. */
typedef struct {
  uint8_t *frame, *turned;
  size_t frame_size, turned_size;
} CuvChannelsPlanes;

void cuv_channels_planes_clear (CuvChannelsPlanes *self);

/* Sets *picture to the planes, valid until the next call. matrix: of YUV
 * frames; n_threads: as for cuv_threads_run(). False if memory runs out. */
bool cuv_channels_planes_make (CuvChannelsPlanes *self, const CuvFrame *frame,
    const CuvRgbMatrix *matrix, const CuvTurn *turn, int n_threads,
    CuvChannelsPicture *picture);

#endif
