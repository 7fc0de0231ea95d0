/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes pictures and videos in files, and turns them upright; for tools, and
 * for elements that read a picture.
 *
 *   gstcuvpicture.c   files -> frames
 *   cuvpicturefile.c  format and orientation, from the bytes of a file */
#ifndef GST_CUV_PICTURE_H
#define GST_CUV_PICTURE_H

#include <gst/video/video.h>

/* Returns NULL, or what GStreamer lacks to decode any picture; to be freed. */
gchar *gst_cuv_picture_check (void);

/* Returns the first frame of a file, or NULL with *problem set, which is to be
 * freed. */
GstSample *gst_cuv_picture_load (const gchar *path, gchar **problem);

/* Calls visit with each frame of a picture or video and its number, until it
 * returns FALSE. Returns FALSE with *problem set if not all frames could be
 * decoded. */
gboolean gst_cuv_picture_visit (const gchar *path,
    gboolean (*visit) (gpointer data, GstSample *sample, gint64 frame),
    gpointer data, gchar **problem);

/* Returns how the stored picture was turned to make such a frame upright. */
GstVideoOrientationMethod gst_cuv_picture_orientation (GstSample *frame);

#endif
