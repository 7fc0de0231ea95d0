/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ways that tracked objects have come. */
#ifndef GST_CUV_TRAILS_H
#define GST_CUV_TRAILS_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/* The middle of a region in a frame, pixels. */
typedef struct {
  gdouble x, y;
} GstCuvPlace;

typedef struct {
  gint64 id;
  GQuark label;
  GArray *places; /* GstCuvPlace, oldest first */
  GstClockTime last_seen;
} GstCuvTrail;

/* The id of a tracked region, its param "object_id"; 0 if it has none. */
gint64 gst_cuv_region_id (GstVideoRegionOfInterestMeta *roi);

/* An array of GstCuvTrail. Unref it. */
GArray *gst_cuv_trails_new (void);

/* Adds the places of a frame's tracked regions, of which length are kept for
 * each id, and forgets ids not seen for a second and, in frames without times,
 * all. */
void gst_cuv_trails_add_frame (GArray *trails, GstBuffer *buffer, guint length);

G_END_DECLS

#endif
