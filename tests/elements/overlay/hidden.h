/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Grey frames with regions that become white. */
#ifndef OVERLAY_HIDDEN_H
#define OVERLAY_HIDDEN_H

#include "scene.h"

#define W 160
#define H 120
#define GREY 0x40 /* frames have this value, hidden pixels 0xff */

/* Returns a harness that only draws white fills of exactly the regions. */
GstHarness *new_harness (void);

GstBuffer *grey_frame_of (const gchar *format, gint width);

GstBuffer *grey_frame (void);

GstBuffer *frame_with (const gchar *label, guint x, guint y, guint w, guint h);

/* Returns for each pixel whether it is hidden; free the array. */
gboolean *hidden_pixels (GstHarness *h, GstBuffer *out);

gboolean is_hidden (GstHarness *h, GstBuffer *out, gint x, gint y);

/* Draws the frame, and checks that the pixels of w x h at x, y are hidden and
 * no others are. */
void check_rect (
    GstHarness *h, GstBuffer *in, gint x, gint y, gint w, gint height);

void check_none (GstHarness *h, GstBuffer *in);

#endif
