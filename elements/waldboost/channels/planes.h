/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The red, green and blue planes of a frame of any format, turned as the plan
 * says. */
#ifndef CUV_CHANNELS_PLANES_H
#define CUV_CHANNELS_PLANES_H

#include "channels/channels.h"
#include "cuv-rgb.h"
#include "cuvroi.h"
#include "waldboost/waldboost-types.h"

/* Memory that grows with the largest frame; all zeros at first. */
typedef struct {
  uint8_t *frame, *turned;
  size_t frame_size, turned_size;
} CuvChannelsPlanes;

void cuv_channels_planes_clear (CuvChannelsPlanes *self);

/* Sets *picture to the planes of a part of a frame, valid until the next call;
 * turn: of the part. Its pixels are those of the whole frame's planes, also if
 * it begins between two samples of chroma. matrix: of YUV frames; n_threads: as
 * for cuv_threads_run(). False if memory runs out. */
bool cuv_channels_planes_make (CuvChannelsPlanes *self, const CuvFrame *frame,
    const CuvRoi *part, const CuvRgbMatrix *matrix, const CuvTurn *turn,
    int n_threads, CuvChannelsPicture *picture);

#endif
