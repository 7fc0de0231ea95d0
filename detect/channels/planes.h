/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the red, green and blue planes of a frame of any format, turned as the
 * plan requires. */
#ifndef CUV_CHANNELS_PLANES_H
#define CUV_CHANNELS_PLANES_H

#include "channels/channels.h"
#include "cuv-rgb.h"
#include "cuvroi.h"
#include "waldboost/waldboost-types.h"

/* Memory that grows with the largest frame. Initialise it with zeros. */
typedef struct {
  uint8_t *frame, *turned;
  size_t frame_size, turned_size;
} CuvChannelsPlanes;

CUV_API void cuv_channels_planes_clear (CuvChannelsPlanes *self);

/* Sets *picture to the planes of a part of a frame, turned by `turn`; they are
 * valid until the next call. A pixel has the colour that it has in the planes
 * of the whole frame, even if the part begins between two chroma samples.
 * matrix: converts YUV to RGB; n_threads: as in cuv_threads_run(). Returns
 * false if memory runs out. */
CUV_API bool cuv_channels_planes_make (CuvChannelsPlanes *self,
    const CuvFrame *frame, const CuvRoi *part, const CuvRgbMatrix *matrix,
    const CuvTurn *turn, int n_threads, CuvChannelsPicture *picture);

#endif
