/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions of interest: those that targets are taken from, and targets as such,
 * in metadata and in the bus message. */
#ifndef GST_RCD_REGIONS_H
#define GST_RCD_REGIONS_H

#include <gst/video/video.h>
#include "track/tracker.h"

G_BEGIN_DECLS

/* What there is to say of a target beside its track. */
typedef struct {
  gint id;
  GQuark label;
  GstClockTime first_seen; /* of the first frame it was found in, or NONE */
} GstRcdTarget;

/* Steps through a buffer's regions with this label, 0 = all, that have a part
 * in a frame of this size, in box; NULL after the last. state starts as NULL.
 */
GstVideoRegionOfInterestMeta *gst_rcd_next_region (GstBuffer *buffer,
    GQuark label, const GstVideoInfo *info, gpointer *state, CuvRcdBox *box);

/* Whether two boxes are of one object: the centre of one lies in the other. */
gboolean gst_rcd_is_same_place (const CuvRcdBox *a, const CuvRcdBox *b);

/* What all tracks of a frame are published with. */
typedef struct {
  const GArray *targets; /* GstRcdTarget, of all tracks */
  GQuark label;          /* of the regions that they may be put on, 0 = all */
  gdouble max_distance;
  GstClockTime age; /* of held results, else 0 */
} GstRcdPublication;

/* Puts tracked targets on the regions that they belong to, or on new ones, and
 * lists all targets in message, unless it is NULL. */
void gst_rcd_attach_tracks (const CuvTrackerResult *result,
    const GstRcdPublication *with, GstBuffer *buffer, const GstVideoInfo *info,
    GstStructure *message);

G_END_DECLS

#endif
