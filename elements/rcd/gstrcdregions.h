/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions of interest: reads those that targets are taken from, writes targets
 * to metadata and to the bus message. */
#ifndef GST_RCD_REGIONS_H
#define GST_RCD_REGIONS_H

#include <gst/video/video.h>
#include "track/tracker.h"

G_BEGIN_DECLS

/* Metadata of a target that its track does not have. */
typedef struct {
  gint id;
  GQuark label;
  GstClockTime first_seen; /* PTS of the first frame it was found in, or NONE */
} GstRcdTarget;

/* Iterates over a buffer's regions with this label (0 = any) that intersect the
 * frame; box: the intersection. NULL after the last. *state starts as NULL. */
GstVideoRegionOfInterestMeta *gst_rcd_next_region (GstBuffer *buffer,
    GQuark label, const GstVideoInfo *info, gpointer *state, CuvRcdBox *box);

/* Whether two boxes are one object: the centre of one lies inside the other. */
gboolean gst_rcd_is_same_place (const CuvRcdBox *a, const CuvRcdBox *b);

/* What applies to all tracks of a frame. */
typedef struct {
  const GArray *targets; /* GstRcdTarget, one per track */
  GQuark label;          /* of regions that tracks may reuse, 0 = any */
  gdouble max_distance;
  GstClockTime age; /* of held results, otherwise 0 */
} GstRcdPublishParams;

/* Adds tracked targets to the regions that overlap them, or to new ones; lists
 * all targets in message, which may be NULL. */
void gst_rcd_attach_tracks (const CuvTrackerResult *result,
    const GstRcdPublishParams *params, GstBuffer *buffer,
    const GstVideoInfo *info, GstStructure *message);

G_END_DECLS

#endif
