/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses the objects that targets are taken from, and publishes targets as
 * metadata and in the bus message. */
#ifndef GST_RCD_REGIONS_H
#define GST_RCD_REGIONS_H

#include "gstcuvmeta.h"
#include "track/tracker.h"

G_BEGIN_DECLS

/* Metadata of a target that its track does not have. */
typedef struct {
  gint id;
  GQuark label;
  /* PTS of the first and of the last frame it was found in, or NONE */
  GstClockTime first_seen, last_seen;
  gboolean confirmed;    /* is to be published */
  gboolean is_detection; /* it came from a detector, which has to confirm it */
  guint detections, undetected_frames;
  guint misses; /* frames with other objects but not this one */
} GstRcdTarget;

/* Whether the object has this label (0 = any) and pixels in the frame; box: set
 * to those pixels. */
gboolean gst_rcd_object_in_frame (const GstCuvObject *object, GQuark label,
    const GstVideoInfo *info, CuvRcdBox *box);

/* Whether two boxes are the same object: the centre of one lies inside the
 * other. */
gboolean gst_rcd_is_same_place (const CuvRcdBox *a, const CuvRcdBox *b);

/* What applies to all tracks of a frame. */
typedef struct {
  const GArray *targets; /* GstRcdTarget, one per track */
  GQuark label;          /* label of regions that tracks may reuse, 0 = any */
  gdouble max_distance;
  GstClockTime age; /* age of held results, otherwise 0 */
} GstRcdPublishParams;

/* Adds tracked targets to the objects that overlap them, or as new ones; lists
 * all targets in message, which may be NULL. present: scratch, an array of
 * GstCuvObject. */
void gst_rcd_attach_tracks (const CuvTrackerResult *result,
    const GstRcdPublishParams *params, GArray *present, GstCuvWriter *writer,
    GstStructure *message);

G_END_DECLS

#endif
