/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes pictures, upright as their orientation says. */
#ifndef CUV_PICTURE_H
#define CUV_PICTURE_H

#include <gst/video/video.h>

/* A pipeline for all pictures. Prints an error in the program's name and
 * returns NULL if an element is missing. */
GstElement *picture_decoder_new (const gchar *program);

/* The first frame of a file, or NULL with *problem set. */
GstSample *picture_decode (
    GstElement *decoder, const gchar *path, gchar **problem);

/* Calls visit with each frame of a picture or film and its number, until it
 * returns FALSE. FALSE with *problem set if not all could be decoded. */
gboolean picture_visit_frames (GstElement *decoder, const gchar *path,
    gboolean (*visit) (gpointer data, GstSample *sample, gint64 frame),
    gpointer data, gchar **problem);

/* How the stored picture of a frame that is visited was turned upright. */
GstVideoOrientationMethod picture_orientation (GstSample *frame);

/* The text of an error message. */
gchar *picture_error (GstMessage *message);

#endif
