/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvpace.h"

void
gst_cuv_pace_init (GstCuvPace *self, GstElement *element)
{
  *self = (GstCuvPace){ .element = element, .earliest = GST_CLOCK_TIME_NONE };
}

void
gst_cuv_pace_forget (GstCuvPace *self)
{
  self->busy_until = 0;
  GST_OBJECT_LOCK (self->element);
  self->earliest = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self->element);
}

/* ---- lateness ---- */

/* The pipeline's time now, NONE while it has none. */
static GstClockTime
pipeline_time (GstCuvPace *self)
{
  GstClock *clock = GST_STATE (self->element) == GST_STATE_PLAYING
      ? gst_element_get_clock (self->element)
      : NULL;
  GstClockTime now = GST_CLOCK_TIME_NONE;

  if (clock != NULL)
    now =
        gst_clock_get_time (clock) - gst_element_get_base_time (self->element);
  gst_clear_object (&clock);
  return now;
}

/* A frame that the sink says will come too late; a live one that came while we
 * were busy, or that the sink should have shown by now. Working on it would
 * make the next later still. A live frame may well come later than it was
 * captured: a sink in the same thread makes it wait for the one before. */
gboolean
gst_cuv_pace_is_late (
    GstCuvPace *self, GstClockTime time, GstClockTime patience)
{
  GstClockTime earliest, latency, now;
  gboolean live;

  if (!GST_CLOCK_TIME_IS_VALID (time))
    return FALSE;
  GST_OBJECT_LOCK (self->element);
  earliest = self->earliest;
  live = self->live;
  latency = MAX (self->pipeline_latency, self->upstream_latency);
  GST_OBJECT_UNLOCK (self->element);
  if (GST_CLOCK_TIME_IS_VALID (earliest) && time < earliest)
    return TRUE;
  now = live ? pipeline_time (self) : GST_CLOCK_TIME_NONE;
  if (!GST_CLOCK_TIME_IS_VALID (now))
    return FALSE;
  time += patience;
  return time < self->busy_until || now > time + latency;
}

void
gst_cuv_pace_event (GstCuvPace *self, GstEvent *event)
{
  GstClockTime timestamp, latency;
  GstClockTimeDiff diff;

  if (GST_EVENT_TYPE (event) == GST_EVENT_QOS) {
    gst_event_parse_qos (event, NULL, NULL, &diff, &timestamp);
    GST_OBJECT_LOCK (self->element);
    self->earliest = GST_CLOCK_TIME_IS_VALID (timestamp) && diff > 0
        ? timestamp + 2 * diff
        : GST_CLOCK_TIME_NONE;
    GST_OBJECT_UNLOCK (self->element);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY) {
    gst_event_parse_latency (event, &latency);
    GST_OBJECT_LOCK (self->element);
    self->pipeline_latency = latency;
    GST_OBJECT_UNLOCK (self->element);
  }
}

/* ---- latency ---- */

gboolean
gst_cuv_pace_query (GstCuvPace *self, GstQuery *query)
{
  GstPad *sink = gst_element_get_static_pad (self->element, "sink");
  gboolean ok = gst_pad_peer_query (sink, query), live;
  GstClockTime min, max, own;

  gst_object_unref (sink);
  if (!ok)
    return FALSE;
  gst_query_parse_latency (query, &live, &min, &max);
  GST_OBJECT_LOCK (self->element);
  self->live = live;
  self->upstream_latency = min;
  own = self->own_latency;
  GST_OBJECT_UNLOCK (self->element);
  if (!live)
    return TRUE;
  /* we hold one frame at a time, so the maximum grows as the minimum does */
  min += own;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += own;
  gst_query_set_latency (query, live, min, max);
  return TRUE;
}

void
gst_cuv_pace_ask (GstCuvPace *self)
{
  GstQuery *query = gst_query_new_latency ();

  gst_cuv_pace_query (self, query);
  gst_query_unref (query);
}

/* Rises with the second slow frame in a row, for one alone is an accident, and
 * falls slowly. */
static GstClockTime
usual_time (GstCuvPace *self, GstClockTime took)
{
  GstClockTime slow = self->took > 0 ? MIN (took, self->took) : took;

  self->took = took;
  self->usual =
      slow > self->usual ? slow : self->usual - (self->usual - slow) / 16;
  return self->usual;
}

/* Has the pipeline ask again when we have become slower than we said, or twice
 * as fast. */
static void
update_latency (GstCuvPace *self, GstClockTime latency)
{
  gboolean post;

  GST_OBJECT_LOCK (self->element);
  post = self->live
      && (latency > self->own_latency || latency < self->own_latency / 2);
  if (post) /* a margin, so that a little jitter does not post every time */
    self->own_latency = latency + latency / 4;
  GST_OBJECT_UNLOCK (self->element);
  if (post)
    gst_element_post_message (
        self->element, gst_message_new_latency (GST_OBJECT (self->element)));
}

/* is_late() allows patience of debt, so that work takes as much of the time as
 * there is, not half of it. */
void
gst_cuv_pace_worked (GstCuvPace *self, GstClockTime time, GstClockTime took,
    GstClockTime patience)
{
  if (GST_CLOCK_TIME_IS_VALID (time))
    self->busy_until = MAX (self->busy_until, time) + took;
  update_latency (self, usual_time (self, took) + patience);
}
