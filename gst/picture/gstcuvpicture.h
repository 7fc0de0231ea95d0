/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes pictures and films, upright as their orientation says.
 *
 *   gstcuvpicture.c   files -> frames
 *   cuvpicturefile.c  what their first bytes say: format, orientation */
#ifndef GST_CUV_PICTURE_H
#define GST_CUV_PICTURE_H

#include <gst/video/video.h>

/* What GStreamer lacks to decode any picture, or NULL. */
gchar *gst_cuv_picture_check (void);

/* The first frame of a file, or NULL with *problem set. */
GstSample *gst_cuv_picture_load (const gchar *path, gchar **problem);

/* Calls visit with each frame of a picture or film and its number, until it
 * returns FALSE. FALSE with *problem set if not all could be decoded. */
gboolean gst_cuv_picture_visit (const gchar *path,
    gboolean (*visit) (gpointer data, GstSample *sample, gint64 frame),
    gpointer data, gchar **problem);

/* How the stored picture of such a frame was turned upright. */
GstVideoOrientationMethod gst_cuv_picture_orientation (GstSample *frame);

#endif
