/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvbatch.h"

#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)
#include <gst/analytics/analytics.h>

gboolean
gst_cuv_is_batch (GstBuffer *buffer)
{
  return gst_buffer_get_analytics_batch_meta (buffer) != NULL;
}

/* Events between the frames change caps and segment. */
static void
handle_event (GstEvent *event, GstCuvBatchFrame *frame)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    gst_event_parse_caps (event, &frame->caps);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    gst_event_parse_segment (event, &frame->segment);
}

/* Returns the next frame of the stream, or NULL. */
static GstBuffer *
next_of_stream (const GstAnalyticsBatchStream *stream, GstCuvBatchFrame *frame)
{
  while (frame->object < stream->n_objects) {
    GstMiniObject *object = stream->objects[frame->object];

    if (GST_IS_BUFFER_LIST (object)
        && frame->item < gst_buffer_list_length (GST_BUFFER_LIST (object)))
      return gst_buffer_list_get (GST_BUFFER_LIST (object), frame->item++);
    frame->object++;
    frame->item = 0;
    if (GST_IS_BUFFER (object))
      return GST_BUFFER (object);
    if (GST_IS_EVENT (object))
      handle_event (GST_EVENT (object), frame);
  }
  return NULL;
}

gboolean
gst_cuv_batch_next (GstBuffer *batch, GstCuvBatchFrame *frame)
{
  const GstAnalyticsBatchMeta *meta =
      gst_buffer_get_analytics_batch_meta (batch);

  for (; meta != NULL && frame->stream < meta->n_streams; frame->stream++) {
    GstAnalyticsBatchStream *stream = &meta->streams[frame->stream];

    if (frame->object == 0 && frame->item == 0) {
      frame->segment = gst_analytics_batch_stream_get_segment (stream);
      frame->caps = gst_analytics_batch_stream_get_caps (stream);
    }
    frame->buffer = next_of_stream (stream, frame);
    if (frame->buffer != NULL)
      return TRUE;
    frame->object = 0;
  }
  return FALSE;
}
#else
gboolean
gst_cuv_is_batch (GstBuffer *buffer)
{
  return FALSE;
}

gboolean
gst_cuv_batch_next (GstBuffer *batch, GstCuvBatchFrame *frame)
{
  return FALSE;
}
#endif
