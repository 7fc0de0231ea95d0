/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* houghlines in a harness, frames with lines that are known, and what the
 * metadata says of them. */
#ifndef CUV_TEST_PLANTED_H
#define CUV_TEST_PLANTED_H

#include "cuvelements.h"
#include "gstcuvmeta.h"

extern gboolean
    use_cuda; /* frames are uploaded: the GPU has to find the same */

#define PI 3.14159265358979323846

/* A black frame, and grey strokes on it, of one pixel's width: from a pixel to
 * another that is across, down or diagonal from it. */
GstBuffer *black_frame (const gchar *format, gint width, gint height);
void stroke (GstBuffer *frame, gint x1, gint y1, gint x2, gint y2);
void fill (GstBuffer *frame, gint left, gint top, gint right, gint bottom);
guint8 grey_at (GstBuffer *frame, gint x, gint y);

/* The line in a harness; its houghlines is named d. RGB where GRAY8 is meant
 * for CUDA memory, which has none. */
GstHarness *new_line (
    const gchar *line, const gchar *format, gint width, gint height);
GstHarness *new_harness (
    const gchar *properties, const gchar *format, gint width, gint height);
const gchar *grey_format (void);
GstElement *detector (GstHarness *h);
GstBus *watch (GstHarness *h);
void unwatch (GstHarness *h, GstBus *bus); /* drops what is on it */

/* Pushes a copy of the frame; what comes out. */
GstBuffer *push (GstHarness *h, GstBuffer *frame);

typedef struct {
  gdouble rho, theta;
  guint votes;
  gdouble x1, y1, x2, y2;
} Line;

/* The rows of the buffer's table of lines, which has to be well made. */
GArray *lines_of (GstBuffer *buffer, GstCuvTable *table);
guint scalar_of (const GstCuvTable *table, const gchar *name);
/* Of a pushed frame. */
GArray *lines_in (GstHarness *h, GstBuffer *frame);

/* The i-th is this one, with ends in either order, to a small part. */
void check_line (GArray *lines, guint i, Line expected);

int planted_main (Suite *(*make) (void), int argc, char **argv);

#endif
