/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of a sink's frames. Behind multifilesrc they are those of the files:
 * its buffers do not say which file they are from, but its index does while one
 * of them is on its way. */
#ifndef GST_LDP_NAMER_H
#define GST_LDP_NAMER_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  gchar *title;       /* that came in tags since the last frame */
  GstElement *source; /* a multifilesrc, NULL: none, or not searched yet */
  gboolean is_searched;
  gboolean is_queued;   /* the source goes on while a frame is on its way */
  gboolean is_one_each; /* so far each file was one frame */
  gint first, next;     /* numbers of the first file, and after the last */
} GstLdpNamer;

void gst_ldp_namer_start (GstLdpNamer *self);
void gst_ldp_namer_stop (GstLdpNamer *self);

/* Takes titles from tags. */
void gst_ldp_namer_take_tags (GstLdpNamer *self, GstEvent *event);

/* The name of the next frame of a pad, which is the n-th, by the properties
 * entry-name, or NULL, and start-index. NULL if it cannot be known, and what to
 * do about it; free both. */
gchar *gst_ldp_namer_next (GstLdpNamer *self, GstPad *pad, const gchar *pattern,
    guint64 start, guint64 n, gchar **problem);

/* At the end: a file after the last frame's that became none, or NULL; free it.
 */
gchar *gst_ldp_namer_left (const GstLdpNamer *self);

G_END_DECLS

#endif
