/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames in CUDA memory as JPEG, by nvJPEG where it is installed: only the JPEG
 * leaves the GPU. */
#ifndef CUV_WEB_GPU_PICTURE_H
#define CUV_WEB_GPU_PICTURE_H

#include <gst/video/video.h>

G_BEGIN_DECLS

typedef struct _CuvGpuPicture CuvGpuPicture;

CuvGpuPicture *cuv_gpu_picture_new (GstElement *element);
/* NULL is allowed. */
void cuv_gpu_picture_free (CuvGpuPicture *self);

/* Compresses a frame of CUDA memory in its own size. quality: 1 to 100. FALSE:
 * nvJPEG or the memory is not there, or they failed once; the CPU has to do it.
 * jpeg has to hold capacity bytes; size is set. */
gboolean cuv_gpu_picture_encode (CuvGpuPicture *self, const GstVideoInfo *info,
    GstBuffer *buffer, guint quality, guint8 *jpeg, gsize capacity,
    gsize *size);

G_END_DECLS

#endif
