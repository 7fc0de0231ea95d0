/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstzonesresults.h"

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
describe_event (const GstZonesFrame *frame, const CuvZoneEvent *event)
{
  GstStructure *message = gst_structure_new ("visionzones", "timestamp",
      G_TYPE_UINT64, frame->pts, "stream-time", G_TYPE_UINT64,
      frame->stream_time, "running-time", G_TYPE_UINT64, frame->running_time,
      "duration", G_TYPE_UINT64, frame->duration, "event", G_TYPE_STRING,
      gst_zones_event_name (event->type), "zone", G_TYPE_STRING,
      frame->placed->zones[event->zone].name, NULL);
  const gchar *label = g_quark_to_string (event->label);

  if (event->id >= 0)
    gst_structure_set (message, "id", G_TYPE_INT64, event->id, "label",
        G_TYPE_STRING, label != NULL ? label : "", NULL);
  if (event->direction != 0)
    gst_structure_set (message, "direction", G_TYPE_STRING,
        gst_zones_direction_name (event->direction), NULL);
  if (event->type == CUV_ZONE_LEAVE || event->type == CUV_ZONE_DWELL)
    gst_structure_set (message, "dwell", G_TYPE_UINT64, event->dwell, NULL);
  if (event->type == CUV_ZONE_CROWD)
    gst_structure_set (message, "count", G_TYPE_UINT, event->count, NULL);
  return message;
}

void
gst_zones_post_events (GstElement *element, const GstZonesFrame *frame)
{
  gint n;
  const CuvZoneEvent *events = cuv_zones_events (frame->zones, &n);

  for (gint i = 0; i < n; i++)
    gst_element_post_message (element,
        gst_message_new_element (
            GST_OBJECT (element), describe_event (frame, &events[i])));
}
