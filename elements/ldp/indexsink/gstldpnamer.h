/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of the frames of a sink. Downstream of multifilesrc they are file
 * names: buffers do not carry them, but while a frame is pushed, the property
 * `index` of multifilesrc follows the number of its file. */
#ifndef GST_LDP_NAMER_H
#define GST_LDP_NAMER_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Checks a pattern of names: text with at most one number (%d, or with a width
 * %6d or %06d), and %% for a percent sign. Returns NULL, or the problem and
 * what to do; free it. */
gchar *gst_ldp_name_check (const gchar *pattern);

typedef struct {
  gchar *title;       /* title in the tags since the last frame */
  GstElement *source; /* multifilesrc; NULL: none, or not searched yet */
  gboolean searched;
  gboolean has_queue; /* a queue lets the source run ahead of the sink */
  gboolean one_frame_per_file;    /* so far each file produced one frame */
  gint first_number, next_number; /* numbers of files */
} GstLdpNamer;

void gst_ldp_namer_start (GstLdpNamer *self);
void gst_ldp_namer_stop (GstLdpNamer *self);

/* Makes the title in the tags the name of the next frame. */
void gst_ldp_namer_add_tags (GstLdpNamer *self, GstEvent *event);

/* Returns the name of frame n of a pad. pattern, start: the properties
 * entry-name (or NULL) and start-index. If the name cannot be determined,
 * returns NULL and sets *problem to the reason and what to do. Free both. */
gchar *gst_ldp_namer_next (GstLdpNamer *self, GstPad *pad, const gchar *pattern,
    guint64 start, guint64 n, gchar **problem);

/* Returns, at the end of the stream, the name of the last file read if it
 * produced no frame, otherwise NULL; free it. */
gchar *gst_ldp_namer_find_undecoded (const GstLdpNamer *self);

G_END_DECLS

#endif
