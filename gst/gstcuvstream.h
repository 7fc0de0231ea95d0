/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the events of a stream say about its frames: the stream of a sink pad,
 * or one of a batch. */
#ifndef GST_CUV_STREAM_H
#define GST_CUV_STREAM_H

#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

typedef struct {
  guint number;       /* in the batch; 0 for that of a sink pad */
  gint width, height; /* 0: the frames are not video */
  gdouble duration;   /* of a frame, by the frame rate, in ns; 0: unknown */
  GstSegment segment;
  gchar *id; /* of the last STREAM_START, or NULL */
} GstCuvStream;

CUV_API void gst_cuv_stream_init (GstCuvStream *self, guint number);
CUV_API void gst_cuv_stream_clear (GstCuvStream *self);

/* What is different from the next frame on. */
typedef enum {
  GST_CUV_STREAM_SAME,
  GST_CUV_STREAM_RESIZED,
  GST_CUV_STREAM_JUMPED,  /* another segment */
  GST_CUV_STREAM_FLUSHED, /* or another stream */
} GstCuvStreamChange;

/* Handles any event. A segment or caps that are sent again change nothing. */
CUV_API GstCuvStreamChange gst_cuv_stream_event (
    GstCuvStream *self, GstEvent *event);
CUV_API GstCuvStreamChange gst_cuv_stream_set_caps (
    GstCuvStream *self, const GstCaps *caps);

/* Return the time of the buffer's PTS; NONE if the buffer has no PTS or the
 * segment cannot convert it. */
CUV_API GstClockTime gst_cuv_stream_time (
    const GstSegment *segment, GstBuffer *buffer);
CUV_API GstClockTime gst_cuv_running_time (
    const GstSegment *segment, GstBuffer *buffer);

G_END_DECLS

#endif
