/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes batches of several streams as analyticscombiner does. */
#ifndef CUV_TEST_BATCHES_H
#define CUV_TEST_BATCHES_H

#include "mtds.h"

#define BATCH_FRAME (GST_SECOND / 10) /* duration of a frame */

/* Returns a batch without events and frames. */
GstBuffer *batch_new (guint n_streams);

/* Returns the nth frame of a stream, without metadata. */
GstBuffer *batch_frame (guint number);

/* Append a sticky event to a stream, or an event, a frame or a list of frames
 * after these; the batch takes ownership. */
void batch_stick (GstBuffer *batch, guint stream, GstEvent *event);
void batch_append (GstBuffer *batch, guint stream, gpointer object);

/* Appends the sticky events of a video stream whose times begin at start. */
void batch_begin (GstBuffer *batch, guint stream, gint width, gint height,
    GstClockTime start);

/* Returns the nth object of a stream after its sticky events. */
gpointer batch_nth (GstBuffer *batch, guint stream, gsize n);

GstEvent *caps_event (gint width, gint height);
GstEvent *segment_event (GstClockTime start);

/* Returns a harness of a line that batches are pushed to. */
GstHarness *batch_harness (const gchar *line);

#endif
