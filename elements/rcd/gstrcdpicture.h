/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the picture of a target (target-image) from a file. */
#ifndef GST_RCD_PICTURE_H
#define GST_RCD_PICTURE_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Decodes PNG, JPEG or any other format that GStreamer has a decoder for; of a
 * video, the first frame. Blocks for at most ten seconds. Returns NULL, or why
 * *picture was not set; free the text. */
gchar *gst_rcd_picture_load (const gchar *path, GstSample **picture);

/* Converts a picture to the format and colorimetry of like, because features of
 * different formats cannot be compared. Sets info to the buffer's. Returns NULL
 * if GStreamer cannot convert it. */
GstBuffer *gst_rcd_picture_convert (
    GstSample *picture, const GstVideoInfo *like, GstVideoInfo *info);

G_END_DECLS

#endif
