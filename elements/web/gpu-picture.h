/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compresses frames in CUDA memory with nvJPEG, if it is installed: only the
 * JPEG leaves the GPU. */
#ifndef CUV_WEB_GPU_PICTURE_H
#define CUV_WEB_GPU_PICTURE_H

#include <gst/video/video.h>

G_BEGIN_DECLS

typedef struct _CuvGpuPicture CuvGpuPicture;

CuvGpuPicture *cuv_gpu_picture_new (GstElement *element);
/* Frees self, which may be NULL. */
void cuv_gpu_picture_free (CuvGpuPicture *self);

/* Compresses a frame in CUDA memory to jpeg, of capacity bytes, in the frame's
 * size, and sets *size. quality: 1 to 100. Returns FALSE if nvJPEG is not
 * installed, the frame is not in CUDA memory, or an earlier call failed: then
 * the CPU has to compress the frame. */
gboolean cuv_gpu_picture_encode (CuvGpuPicture *self, const GstVideoInfo *info,
    GstBuffer *buffer, guint quality, guint8 *jpeg, gsize capacity,
    gsize *size);

G_END_DECLS

#endif
