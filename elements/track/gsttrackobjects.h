/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The objects of a buffer as boxes to track, and tracks as metadata. */
#ifndef GST_TRACK_OBJECTS_H
#define GST_TRACK_OBJECTS_H

#include "gstcuvmeta.h"
#include "gstvisiontracksettings.h"

typedef struct {
  GArray *objects;    /* GstCuvObject: all of the buffer */
  GArray *indices;    /* guint: the objects that are tracked */
  GArray *detections; /* CuvMotDetection: their boxes */
  GHashTable *groups; /* label and model -> group */
  GArray *labels;     /* GQuark of each group */
  gboolean all_held;  /* there are boxes, all repeated by their detector */
  guint n_left_out;   /* because there are too many */
} GstTrackObjects;

void gst_track_objects_init (GstTrackObjects *self);
void gst_track_objects_clear (GstTrackObjects *self);

/* Reads the objects that have the label, pixels, and no track yet. */
void gst_track_objects_read (
    GstTrackObjects *self, const GstTrackSettings *settings, GstBuffer *buffer);

/* Marks objects as tracked; lost tracks become TrackingMtds. */
void gst_track_objects_mark (const GstTrackObjects *self,
    const CuvMotTrack *tracks, gint n, GstCuvWriter *writer);

/* Adds the list "objects" to a message. */
void gst_track_objects_describe (const GstTrackObjects *self,
    const CuvMotTrack *tracks, gint n, GstStructure *message);

#endif
