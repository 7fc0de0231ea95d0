/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts a buffer's metadata to a list of primitives. */
#ifndef GST_CUV_SCENE_H
#define GST_CUV_SCENE_H

#include <gst/video/video.h>
#include "draw.h"
#include "style.h"
#include "scene/text.h"

G_BEGIN_DECLS

/* Replaces the list in drawing. Order: fills (GstCuvHidden), shapes, trails
 * (GstCuvTrail), boxes of the objects (GstCuvObject), keypoints, labels, strips
 * of pictures; fills by their strength, everything else in the order of the
 * metadata. Returns FALSE if a region cannot be hidden. */
gboolean gst_cuv_scene_build (CuvDrawing *drawing, CuvText *text,
    const GstCuvStyle *style, GArray *hidden, const GArray *trails,
    const GArray *objects, GstBuffer *buffer, const GstVideoInfo *info);

G_END_DECLS

#endif
