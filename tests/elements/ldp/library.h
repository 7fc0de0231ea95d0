/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Synthetic textures, frames that show them, and an index of them. */
#ifndef CUV_TEST_LIBRARY_H
#define CUV_TEST_LIBRARY_H

#include "cuvelements.h"
#include "index/ldpindex.h"

enum { PICTURES = 20, SIZE = 64 }; /* PICTURES of SIZE x SIZE pixels */

/* Return picture i modulo PICTURES, and a frame of this size tiled with it;
 * grey. */
const guint8 *picture (gint i);
GstBuffer *frame_of (const gchar *format, gint width, gint height, gint i);

/* Returns a frame tiled with these SIZE x SIZE grey pixels. */
GstBuffer *frame_with (
    const gchar *format, gint width, gint height, const guint8 *pixels);

/* Returns the parameters of the index's pictures. */
CuvLdpParams library_params (void);

/* library_new() writes an index of the first n pictures, named "picture 0" and
 * so on, with square thumbnails of this size and colour (i, 2 i, 3 i), or
 * without thumbnails for size 0. It returns the path; free that with
 * library_remove(). */
gchar *library_new (gint n, gint thumbnail);
void library_append (const gchar *path, gint i);
void library_remove (gchar *path);

/* Returns the C reference's similarity of a rectangle of a grey picture and
 * picture i. */
gdouble similarity_to (
    const guint8 *pixels, gint stride, gint width, gint height, gint i);

#endif
