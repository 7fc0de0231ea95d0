/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The picture of an object. */
#ifndef GST_CROP_PICTURE_H
#define GST_CROP_PICTURE_H

#include <gst/video/video.h>
#include "crop.h"
#include "gstcuvmeta.h"

G_BEGIN_DECLS

/* The planned part of the frame, in host memory; NULL if there is no memory.
 * info is that of the picture: the frame's format in the plan's size. */
GstBuffer *gst_crop_draw (
    GstVideoFrame *in, const GstVideoInfo *info, const CuvCropPlan *plan);

/* Adds the object as it is in the picture, and a parameter "crop": which part
 * of the frame the picture is. */
void gst_crop_add_object (GstBuffer *picture, const GstVideoInfo *frame_info,
    const GstVideoInfo *info, const GstCuvObject *object,
    const CuvCropPlan *plan);

G_END_DECLS

#endif
