/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstzonesresults.h"
#include "gstcuvstructure.h"

const gchar *
gst_zones_event_name (CuvZoneEventType type)
{
  static const gchar *const names[] = { "enter", "leave", "cross", "dwell",
    "crowd" };

  return names[type];
}

const gchar *
gst_zones_direction_name (int direction)
{
  return direction > 0 ? "in" : direction < 0 ? "out" : "";
}

static GstStructure *
describe_event (
    const GstZonesStream *stream, GstBuffer *buffer, const CuvZoneEvent *event)
{
  const GstSegment *segment = &stream->base.segment;
  GstStructure *message = gst_cuv_structure_new ("visionzones", "timestamp",
      G_TYPE_UINT64, GST_BUFFER_PTS (buffer), "stream-time", G_TYPE_UINT64,
      gst_cuv_stream_time (segment, buffer), "running-time", G_TYPE_UINT64,
      gst_cuv_running_time (segment, buffer), "duration", G_TYPE_UINT64,
      GST_BUFFER_DURATION (buffer), "event", G_TYPE_STRING,
      gst_zones_event_name (event->type), "zone", G_TYPE_STRING,
      stream->placed->zones[event->zone].name, NULL);
  const gchar *label = g_quark_to_string (event->label);

  if (event->id >= 0)
    gst_cuv_structure_set (message, "id", G_TYPE_INT64, event->id, "label",
        G_TYPE_STRING, label != NULL ? label : "", NULL);
  if (event->direction != 0)
    gst_cuv_structure_set (message, "direction", G_TYPE_STRING,
        gst_zones_direction_name (event->direction), NULL);
  if (event->type == CUV_ZONE_LEAVE || event->type == CUV_ZONE_DWELL)
    gst_cuv_structure_set (message, "dwell", G_TYPE_UINT64, event->dwell, NULL);
  if (event->type == CUV_ZONE_CROWD)
    gst_cuv_structure_set (message, "count", G_TYPE_UINT, event->count, NULL);
  return message;
}

void
gst_zones_post_events (GstElement *element, const GstZonesStream *stream,
    GstBuffer *buffer, gboolean batched)
{
  gint n;
  const CuvZoneEvent *events = cuv_zones_events (stream->zones, &n);

  for (gint i = 0; i < n; i++) {
    GstStructure *message = describe_event (stream, buffer, &events[i]);

    if (batched)
      gst_cuv_structure_set (
          message, "stream", G_TYPE_UINT, stream->base.number, NULL);
    gst_element_post_message (
        element, gst_message_new_element (GST_OBJECT (element), message));
  }
}
