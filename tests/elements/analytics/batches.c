/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "batches.h"

GstBuffer *
batch_new (guint n_streams)
{
  GstBuffer *batch = gst_buffer_new ();
  GstAnalyticsBatchMeta *meta = gst_buffer_add_analytics_batch_meta (batch);

  meta->n_streams = n_streams;
  meta->streams = g_new0 (GstAnalyticsBatchStream, n_streams);
  for (guint i = 0; i < n_streams; i++)
    meta->streams[i].index = i;
  return batch;
}

GstBuffer *
batch_frame (guint number)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 4, NULL);

  GST_BUFFER_PTS (frame) = number * BATCH_FRAME;
  GST_BUFFER_DURATION (frame) = BATCH_FRAME;
  return frame;
}

static GstAnalyticsBatchStream *
stream_of (GstBuffer *batch, guint stream)
{
  return &gst_buffer_get_analytics_batch_meta (batch)->streams[stream];
}

void
batch_stick (GstBuffer *batch, guint stream, GstEvent *event)
{
  GstAnalyticsBatchStream *to = stream_of (batch, stream);

  to->sticky_events =
      g_renew (GstEvent *, to->sticky_events, to->n_sticky_events + 1);
  to->sticky_events[to->n_sticky_events++] = event;
}

void
batch_append (GstBuffer *batch, guint stream, gpointer object)
{
  GstAnalyticsBatchStream *to = stream_of (batch, stream);

  to->objects = g_renew (GstMiniObject *, to->objects, to->n_objects + 1);
  to->objects[to->n_objects++] = object;
}

void
batch_begin (
    GstBuffer *batch, guint stream, gint width, gint height, GstClockTime start)
{
  batch_stick (batch, stream, caps_event (width, height));
  batch_stick (batch, stream, segment_event (start));
}

gpointer
batch_nth (GstBuffer *batch, guint stream, gsize n)
{
  const GstAnalyticsBatchStream *from = stream_of (batch, stream);

  fail_unless (n < from->n_objects);
  return from->objects[n];
}

GstEvent *
caps_event (gint width, gint height)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      "GRAY8", "width", G_TYPE_INT, width, "height", G_TYPE_INT, height,
      "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  GstEvent *event = gst_event_new_caps (caps);

  gst_caps_unref (caps);
  return event;
}

GstEvent *
segment_event (GstClockTime start)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = start; /* stream time begins at 0 */
  return gst_event_new_segment (&segment);
}

GstHarness *
batch_harness (const gchar *line)
{
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (
      h, "multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)");
  return h;
}
