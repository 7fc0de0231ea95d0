/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A picture of a target, out of a file. */
#ifndef GST_RCD_PICTURE_H
#define GST_RCD_PICTURE_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Decodes a picture, PNG, JPEG or what else GStreamer has a decoder for; of a
 * film its first frame. Takes no longer than ten seconds. NULL and error, which
 * names the path, if there is none. */
GstSample *gst_rcd_picture_load (const gchar *path, GError **error);

/* The picture in the format and colours of like, for features of different
 * formats cannot be compared; *info becomes that of the buffer. NULL if
 * GStreamer cannot make it. */
GstBuffer *gst_rcd_picture_convert (
    GstSample *picture, const GstVideoInfo *like, GstVideoInfo *info);

G_END_DECLS

#endif
