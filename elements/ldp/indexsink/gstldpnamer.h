/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of the frames of a sink. Downstream of multifilesrc they are the file
 * names: its buffers do not carry them, but while a frame is pushed its
 * property index tells the file. */
#ifndef GST_LDP_NAMER_H
#define GST_LDP_NAMER_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  gchar *title;       /* from tags since the last frame */
  GstElement *source; /* multifilesrc; NULL: none, or not searched yet */
  gboolean is_searched;
  gboolean is_queued;   /* a queue lets the source run ahead of the sink */
  gboolean is_one_each; /* so far each file produced one frame */
  gint first, next;     /* numbers of the first file, and of the next */
} GstLdpNamer;

void gst_ldp_namer_start (GstLdpNamer *self);
void gst_ldp_namer_stop (GstLdpNamer *self);

/* Takes titles from tags. */
void gst_ldp_namer_take_tags (GstLdpNamer *self, GstEvent *event);

/* The name of frame n of a pad. pattern, start: the properties entry-name (or
 * NULL) and start-index. Returns NULL if it cannot be determined; then *problem
 * says why and what to do. Free both. */
gchar *gst_ldp_namer_next (GstLdpNamer *self, GstPad *pad, const gchar *pattern,
    guint64 start, guint64 n, gchar **problem);

/* At the end of the stream: the last file read, if it produced no frame, or
 * NULL; free it. */
gchar *gst_ldp_namer_left (const GstLdpNamer *self);

G_END_DECLS

#endif
