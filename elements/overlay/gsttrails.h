/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trails: the paths of tracked objects over the last frames. */
#ifndef GST_CUV_TRAILS_H
#define GST_CUV_TRAILS_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/* The centre of a region, pixels. */
typedef struct {
  gdouble x, y;
} GstCuvPoint;

typedef struct {
  gint64 id;
  GQuark label;
  GArray *points; /* GstCuvPoint, oldest first */
  GstClockTime last_seen;
} GstCuvTrail;

/* A numeric field as a double; FALSE if it is absent, of another type or not
 * finite. */
gboolean gst_cuv_field_as_double (
    const GstStructure *structure, const gchar *field, gdouble *number);

/* The tracking id of a region, from its parameter "object_id"; 0 if it has
 * none. */
gint64 gst_cuv_region_id (GstVideoRegionOfInterestMeta *roi);

/* The label of a region; "" if it has none. */
const gchar *gst_cuv_region_label (const GstVideoRegionOfInterestMeta *roi);

/* Returns an empty array of GstCuvTrail, to be unreffed. */
GArray *gst_cuv_trails_new (void);

/* Appends the centres of a frame's tracked regions and keeps the last length of
 * each id. Removes trails of ids not seen for a second, all of them if the
 * frame has no time or length is 0. */
void gst_cuv_trails_add_frame (GArray *trails, GstBuffer *buffer, guint length);

G_END_DECLS

#endif
