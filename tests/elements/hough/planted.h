/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Harnesses of houghlines, frames with known lines, access to the metadata. */
#ifndef CUV_TEST_PLANTED_H
#define CUV_TEST_PLANTED_H

#include "device.h"
#include "gstcuvmeta.h"

#define PI 3.14159265358979323846

/* black_frame() returns a black frame. stroke() draws a line of grey 200, one
 * pixel wide and horizontal, vertical or diagonal; fill() draws a grey
 * rectangle and clears the rest. */
GstBuffer *black_frame (const gchar *format, gint width, gint height);
void stroke (GstBuffer *frame, gint x1, gint y1, gint x2, gint y2);
void fill (GstBuffer *frame, gint left, gint top, gint right, gint bottom);
guint8 grey_at (GstBuffer *frame, gint x, gint y);

/* Return a harness of a pipeline, or of a houghlines named d. */
GstHarness *new_line (
    const gchar *line, const gchar *format, gint width, gint height);
GstHarness *new_harness (
    const gchar *properties, const gchar *format, gint width, gint height);
/* Returns GRAY8, or RGB for CUDA memory, which has no GRAY8. */
const gchar *grey_format (void);
GstElement *detector (GstHarness *h);

/* Pushes a copy of the frame and returns the output. */
GstBuffer *push (GstHarness *h, GstBuffer *frame);

typedef struct {
  gdouble rho, theta;
  guint votes;
  gdouble x1, y1, x2, y2;
} Line;

/* Returns the rows of the buffer's table of lines; checks that it is
 * well-formed. */
GArray *lines_of (GstBuffer *buffer, GstCuvTable *table);
guint scalar_of (const GstCuvTable *table, const gchar *name);
/* Pushes a copy of the frame and returns its lines. */
GArray *lines_in (GstHarness *h, GstBuffer *frame);

/* Checks the i-th line within rounding errors; its ends may be swapped. */
void check_line (GArray *lines, guint i, Line expected);

gchar *text_of (GArray *lines); /* for exact comparison */

#endif
