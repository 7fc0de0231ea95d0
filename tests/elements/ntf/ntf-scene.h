/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cubes of known terms for spectralntf, and access to its metadata. */
#ifndef NTF_SCENE_H
#define NTF_SCENE_H

#include "device.h"
#include "gstcuvmeta.h"

/* Three blocks along the diagonal, the first the brightest, each with a
 * spectrum of its own; black elsewhere. */
#define SCENE_WIDTH 36
#define SCENE_HEIGHT 24
#define SCENE_BANDS 7
#define SCENE_TERMS 3

/* Returns the sample of a block in a band. */
guint8 scene_sample (gint block, gint band);

/* Returns the block of a pixel, or -1 outside of all blocks. */
gint scene_block (gint x, gint y);

/* Returns a harness of spectralntf with properties as in a launch line. */
GstHarness *ntf_harness (const gchar *properties);

/* Sets the caps of a scene; more is "" or additional fields, ",a=b". */
void ntf_set_cube_caps (GstHarness *h, const gchar *format,
    const gchar *interleave, const gchar *more);

/* Returns the scene; samples of U16LE and F32LE are multiplied by gain. */
GstBuffer *ntf_scene (
    const gchar *format, const gchar *interleave, gdouble gain);

/* Returns the index of a sample of a scene. */
gsize ntf_offset (const gchar *interleave, gint x, gint y, gint band);

/* Pushes the buffer and returns the picture; fails if there is none. */
GstBuffer *ntf_push (GstHarness *h, GstBuffer *buffer);

/* Reads R, G, B of a pixel of an RGBA picture. */
void ntf_pixel (GstBuffer *picture, gint width, gint x, gint y, guint8 rgb[3]);

/* Returns the table of a mode: "u", "v", "w" or "errors". */
GstCuvTable ntf_table (GstBuffer *picture, const gchar *mode);
gdouble ntf_last_error (GstBuffer *picture);

#endif
