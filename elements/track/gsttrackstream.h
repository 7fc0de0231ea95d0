/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One stream and its tracks: that of the sink pad, or one of a batch. */
#ifndef GST_TRACK_STREAM_H
#define GST_TRACK_STREAM_H

#include "gstcuvstream.h"
#include "gsttrackobjects.h"

typedef struct {
  GstCuvStream base;
  CuvMot *mot;
  GstClockTime last_pts;          /* NONE: no frame since the reset */
  guint states[CUV_MOT_GONE + 1]; /* tracks in each state, for statistics */
} GstTrackStream;

/* Returns NULL if memory runs out. */
GstTrackStream *gst_track_stream_new (guint number);
void gst_track_stream_free (gpointer self);

/* Drops all tracks if the next frame does not continue them. */
void gst_track_stream_changed (GstTrackStream *self, GstCuvStreamChange change);

/* Tracks the objects of the next frame. Returns 0, or -1 if memory runs out. */
gint gst_track_stream_run (GstTrackStream *self, const GstTrackObjects *objects,
    const GstTrackSettings *settings, GstBuffer *buffer);

#endif
