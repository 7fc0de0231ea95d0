/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvbatch.h"

gboolean
gst_cuv_caps_are_batch (const GstCaps *caps)
{
  return gst_structure_has_name (
      gst_caps_get_structure (caps, 0), GST_CUV_BATCH_NAME);
}

#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)
#include <gst/analytics/analytics.h>

gboolean
gst_cuv_is_batch (GstBuffer *buffer)
{
  return gst_buffer_get_analytics_batch_meta (buffer) != NULL;
}

static gboolean
set_item (GstCuvBatchItem *item, GstMiniObject *object)
{
  item->event = GST_IS_EVENT (object) ? GST_EVENT (object) : NULL;
  item->buffer = GST_IS_BUFFER (object) ? GST_BUFFER (object) : NULL;
  return item->event != NULL || item->buffer != NULL;
}

static gboolean
next_of_stream (const GstAnalyticsBatchStream *stream, GstCuvBatchItem *item)
{
  if (item->n_sticky < stream->n_sticky_events)
    return set_item (
        item, GST_MINI_OBJECT (stream->sticky_events[item->n_sticky++]));
  while (item->object < stream->n_objects) {
    GstMiniObject *object = stream->objects[item->object];

    if (GST_IS_BUFFER_LIST (object)
        && item->in_list < gst_buffer_list_length (GST_BUFFER_LIST (object)))
      return set_item (item,
          GST_MINI_OBJECT (
              gst_buffer_list_get (GST_BUFFER_LIST (object), item->in_list++)));
    item->object++;
    item->in_list = 0;
    if (set_item (item, object))
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_cuv_batch_next (GstBuffer *batch, GstCuvBatchItem *item)
{
  const GstAnalyticsBatchMeta *meta =
      gst_buffer_get_analytics_batch_meta (batch);

  for (; meta != NULL && item->stream < meta->n_streams; item->stream++) {
    if (next_of_stream (&meta->streams[item->stream], item))
      return TRUE;
    item->n_sticky = item->object = 0;
  }
  return FALSE;
}

/* The item is the object before item->object, or is in that list. */
GstBuffer *
gst_cuv_batch_make_writable (GstBuffer *batch, GstCuvBatchItem *item)
{
  GstAnalyticsBatchMeta *meta = gst_buffer_get_analytics_batch_meta (batch);
  GstMiniObject **objects = meta->streams[item->stream].objects;

  if (item->in_list > 0) {
    GstBufferList *list =
        gst_buffer_list_make_writable (GST_BUFFER_LIST (objects[item->object]));

    objects[item->object] = GST_MINI_OBJECT (list);
    item->buffer = gst_buffer_list_get_writable (list, item->in_list - 1);
  } else {
    item->buffer =
        gst_buffer_make_writable (GST_BUFFER (objects[item->object - 1]));
    objects[item->object - 1] = GST_MINI_OBJECT (item->buffer);
  }
  return item->buffer;
}
#else
gboolean
gst_cuv_is_batch (GstBuffer *buffer)
{
  return FALSE;
}

gboolean
gst_cuv_batch_next (GstBuffer *batch, GstCuvBatchItem *item)
{
  return FALSE;
}

GstBuffer *
gst_cuv_batch_make_writable (GstBuffer *batch, GstCuvBatchItem *item)
{
  return item->buffer;
}
#endif
