/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the picture of an object: pixels and metadata. */
#ifndef GST_CROP_PICTURE_H
#define GST_CROP_PICTURE_H

#include <gst/video/video.h>
#include "crop.h"
#include "gstcuvmeta.h"

G_BEGIN_DECLS

/* Copies the planned part of the frame to a new buffer in host memory. Returns
 * NULL if out of memory. info describes the picture: the frame's format with
 * the plan's size. */
GstBuffer *gst_crop_draw (
    GstVideoFrame *in, const GstVideoInfo *info, const CuvCropPlan *plan);

/* Adds the object with its position in the picture, and a parameter "crop": the
 * part of the frame that is in the picture. */
void gst_crop_add_object (GstCuvWriter *writer, const GstVideoInfo *frame_info,
    const GstCuvObject *object, const CuvCropPlan *plan);

G_END_DECLS

#endif
