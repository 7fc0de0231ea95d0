/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvstream.h"

void
gst_cuv_stream_init (GstCuvStream *self, guint number)
{
  *self = (GstCuvStream){ .number = number };
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
}

void
gst_cuv_stream_clear (GstCuvStream *self)
{
  g_clear_pointer (&self->id, g_free);
}

/* ---- events ---- */

GstCuvStreamChange
gst_cuv_stream_set_caps (GstCuvStream *self, const GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint width, height, numerator = 0, denominator = 1;

  gst_structure_get_fraction (structure, "framerate", &numerator, &denominator);
  self->duration =
      numerator > 0 ? (gdouble) GST_SECOND * denominator / numerator : 0;
  if (!gst_structure_get_int (structure, "width", &width)
      || !gst_structure_get_int (structure, "height", &height))
    width = height = 0;
  if (width == self->width && height == self->height)
    return GST_CUV_STREAM_SAME;
  self->width = width;
  self->height = height;
  return GST_CUV_STREAM_RESIZED;
}

/* Elements send their segment again with new caps, for example, with another
 * position. */
static GstCuvStreamChange
set_segment (GstCuvStream *self, const GstSegment *segment)
{
  GstSegment next = *segment;

  next.position = self->segment.position;
  if (gst_segment_is_equal (&self->segment, &next))
    return GST_CUV_STREAM_SAME;
  self->segment = next;
  return GST_CUV_STREAM_JUMPED;
}

static GstCuvStreamChange
set_id (GstCuvStream *self, const gchar *id)
{
  if (g_strcmp0 (self->id, id) == 0)
    return GST_CUV_STREAM_SAME;
  g_free (self->id);
  self->id = g_strdup (id);
  return GST_CUV_STREAM_FLUSHED;
}

GstCuvStreamChange
gst_cuv_stream_event (GstCuvStream *self, GstEvent *event)
{
  const GstSegment *segment;
  const gchar *id;
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      gst_event_parse_stream_start (event, &id);
      return set_id (self, id);
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      return gst_cuv_stream_set_caps (self, caps);
    case GST_EVENT_SEGMENT:
      gst_event_parse_segment (event, &segment);
      return set_segment (self, segment);
    case GST_EVENT_FLUSH_STOP:
      return GST_CUV_STREAM_FLUSHED;
    default:
      return GST_CUV_STREAM_SAME;
  }
}

/* ---- times ---- */

/* GStreamer logs a critical message if a segment that is played backwards has
 * no known end. */
static gboolean
has_time (const GstSegment *segment)
{
  return segment->format == GST_FORMAT_TIME
      && (segment->rate > 0 || GST_CLOCK_TIME_IS_VALID (segment->stop));
}

GstClockTime
gst_cuv_stream_time (const GstSegment *segment, GstBuffer *buffer)
{
  return !has_time (segment) ? GST_CLOCK_TIME_NONE
                             : gst_segment_to_stream_time (segment,
                                 GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
}

GstClockTime
gst_cuv_running_time (const GstSegment *segment, GstBuffer *buffer)
{
  return !has_time (segment) ? GST_CLOCK_TIME_NONE
                             : gst_segment_to_running_time (segment,
                                 GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
}
