/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compresses frames to JPEG, by nvJPEG on the GPU or by GstVideoConverter and
 * libjpeg-turbo.
 *
 * libjpeg-turbo could also compress the planes of YUV frames directly, which is
 * faster. But JPEG is defined as BT.601 with values from 0 to 255, and video
 * usually is neither: blacks would be grey and colours wrong. The converter
 * makes BGRx in one pass. */
#ifndef CUV_WEB_PICTURE_H
#define CUV_WEB_PICTURE_H

#include <gst/video/video.h>
#include <turbojpeg.h>
#include "gpu-picture.h"

G_BEGIN_DECLS

typedef struct {
  CuvGpuPicture *gpu; /* set by the owner, or NULL */
  tjhandle compressor;
  GstVideoConverter *converter; /* NULL: frames are compressed as they are */
  GstVideoInfo in, out;
  guint max_width;
  GstBuffer *converted;
  guint8 *jpeg;
  gulong capacity; /* bytes of jpeg */
} CuvPicture;

void cuv_picture_clear (CuvPicture *self);

/* Compresses a buffer in host or CUDA memory; if nvJPEG cannot, CUDA memory is
 * downloaded. The picture has square pixels and at most max_width columns (0:
 * no limit). quality: 1 to 100. Returns NULL, with the JPEG in self->jpeg and
 * its size in *size, or the problem, to be freed. */
gchar *cuv_picture_encode (CuvPicture *self, const GstVideoInfo *info,
    GstBuffer *buffer, guint max_width, guint quality, gsize *size);

G_END_DECLS

#endif
