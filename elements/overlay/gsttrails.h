/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trails: the paths of tracked objects over the last frames. */
#ifndef GST_CUV_TRAILS_H
#define GST_CUV_TRAILS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* The centre of an object, in pixels. */
typedef struct {
  gdouble x, y;
} GstCuvPoint;

typedef struct {
  gint64 id;
  GQuark label;
  GArray *points; /* GstCuvPoint, oldest first */
  GstClockTime last_seen;
} GstCuvTrail;

/* Returns an empty array of GstCuvTrail; free it with g_array_unref(). */
GArray *gst_cuv_trails_new (void);

/* Appends the centres of a frame's tracked objects (GstCuvObject) and keeps the
 * last `length` points of each id. Removes trails of ids not seen for a second,
 * or all trails if the frame has no timestamp or length is 0. */
void gst_cuv_trails_add_frame (
    GArray *trails, const GArray *objects, GstClockTime time, guint length);

G_END_DECLS

#endif
