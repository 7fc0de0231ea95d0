/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "base/gstcuvqos.h"

#include <stdlib.h>
#include <string.h>

void
gst_cuv_qos_init (GstCuvQos *self, GstElement *element)
{
  *self = (GstCuvQos){ .element = element };
  gst_cuv_qos_start (self);
}

void
gst_cuv_qos_start (GstCuvQos *self)
{
  GST_OBJECT_LOCK (self->element);
  self->live = FALSE;
  self->upstream_latency = 0;
  self->pipeline_latency = 0;
  self->own_latency = 0;
  GST_OBJECT_UNLOCK (self->element);
  self->n_samples = 0;
  self->trusted_backlog = GST_CUV_QOS_UNTESTED;
  self->gap_reported = FALSE;
  gst_cuv_qos_reset (self);
}

void
gst_cuv_qos_reset (GstCuvQos *self)
{
  self->last_time = self->arrived = self->done = GST_CLOCK_TIME_NONE;
  self->waited = self->skipped = FALSE;
  self->possible_backlog = self->probe_time = self->busy_until = self->delay =
      0;
  self->probe_gain = 0;
  self->gap_since = GST_CLOCK_TIME_NONE;
  self->least_delay = GST_CLOCK_TIME_NONE;
  self->behind_since = GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK (self->element);
  self->earliest = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self->element);
}

/* ---- delays ---- */

/* Returns the running time now; NONE without a clock or before the base
 * time. */
static GstClockTime
pipeline_time (GstCuvQos *self)
{
  GstClock *clock = GST_STATE (self->element) == GST_STATE_PLAYING
      ? gst_element_get_clock (self->element)
      : NULL;
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (clock != NULL)
    time = gst_clock_get_time (clock);
  gst_clear_object (&clock);
  return GST_CLOCK_TIME_IS_VALID (time)
          && time >= gst_element_get_base_time (self->element)
      ? time - gst_element_get_base_time (self->element)
      : GST_CLOCK_TIME_NONE;
}

/* Whether work on this frame would begin too late even if every frame had
 * arrived on time, and the idle time of one frame does not make up for it. */
static gboolean
analysis_is_too_slow (GstCuvQos *self, GstClockTime time, GstClockTime duration)
{
  const GstClockTime took = self->n_samples > 0
      ? self->samples[(self->n_samples - 1) % GST_CUV_QOS_SAMPLES]
      : 0;
  const GstClockTime spare = duration > took ? duration - took : 0;

  return time + GST_CUV_QOS_TOLERANCE + spare < self->busy_until;
}

/* Returns the largest delay on arrival that does not count as a backlog. A sink
 * in the same thread blocks until it has shown the previous frame, so this one
 * may arrive late by the latency of the elements upstream. Once there is a
 * backlog no tolerance is added: skipping then removes all of it. */
static GstClockTime
allowed_delay (GstCuvQos *self, GstClockTime duration)
{
  GstClockTime upstream, limit;

  GST_OBJECT_LOCK (self->element);
  upstream = self->upstream_latency;
  limit = MAX (self->pipeline_latency, upstream);
  GST_OBJECT_UNLOCK (self->element);
  limit = MAX (limit, self->least_delay);
  return GST_CLOCK_TIME_IS_VALID (self->behind_since)
      ? limit
      : limit + MAX (duration, upstream);
}

/* Measures the delay of the frame that arrived. The minimum, least_delay, is
 * the latency of source and network; only what exceeds it is a backlog. It is
 * raised to the current delay if a second of skipping has not reduced the
 * delay, or if the thread waited for two frames in a row: then the source
 * itself is that late. */
static void
update_delay (GstCuvQos *self, GstClockTime time, gboolean waited_before)
{
  const GstClockTime before = self->delay;

  self->delay = self->arrived > time ? self->arrived - time : 0;
  if (!GST_CLOCK_TIME_IS_VALID (self->least_delay)
      || (GST_CLOCK_TIME_IS_VALID (self->behind_since)
          && time > self->behind_since + GST_SECOND))
    self->least_delay = self->delay;
  if (self->waited && waited_before)
    self->least_delay = MAX (self->least_delay, MIN (before, self->delay));
  self->least_delay = MIN (self->least_delay, self->delay);
}

static gboolean
falls_behind (GstCuvQos *self, GstClockTime time, GstClockTime duration)
{
  if (!GST_CLOCK_TIME_IS_VALID (self->arrived))
    return FALSE;
  if (self->delay <= allowed_delay (self, duration))
    self->behind_since = GST_CLOCK_TIME_NONE;
  else if (!GST_CLOCK_TIME_IS_VALID (self->behind_since))
    self->behind_since = time;
  return GST_CLOCK_TIME_IS_VALID (self->behind_since);
}

/* ---- waits ---- */

/* Evaluates a skipped frame. took: time until the next frame arrived; step:
 * difference of their timestamps. If, in total, frames after skipped ones came
 *
 *   sooner     frames were queued: no wait is trusted from now on;
 *   later, or on time for enough skipped frames
 *            the thread did wait for its source: the backlog is 0, and the next
 *            test comes when twice as much may be queued;
 *   otherwise  one more frame has to be skipped.
 *
 * Enough means an eighth of the trusted backlog in total. */
static void
evaluate_probe (GstCuvQos *self, GstClockTime took, GstClockTime step)
{
  const gint64 tolerance = (gint64) (step / 8);

  if (!self->skipped || self->possible_backlog <= GST_CUV_QOS_UNTESTED)
    return;
  self->probe_time += step;
  self->probe_gain += (gint64) step - (gint64) took;
  if (self->probe_gain > tolerance) {
    self->trusted_backlog = 0;
    self->least_delay -= MIN (self->possible_backlog, self->least_delay);
  } else if (self->probe_gain < -tolerance
      || self->probe_time >= (self->trusted_backlog > 0
                 ? self->trusted_backlog / 8
                 : GST_CUV_QOS_UNTESTED)) {
    self->trusted_backlog =
        CLAMP (2 * self->trusted_backlog, GST_CUV_QOS_UNTESTED, 4 * GST_SECOND);
    self->possible_backlog = 0;
  } else {
    return;
  }
  self->probe_time = 0;
  self->probe_gain = 0;
}

/* Whether the thread waited for the frame that arrives now. step: difference of
 * the timestamps of this frame and the previous one. The thread surely waited
 * if it was idle for a whole step. A shorter idle time counts as waiting if it
 * is not too short, the frame did not come much sooner than its timestamp says
 * (as from a queue), and the possible backlog is small enough. That backlog
 * grows by the excess of the time between frames over a step, but at most by
 * the time that the thread was busy here: if upstream alone takes longer than a
 * step, skipping would not help. */
static gboolean
has_waited (GstCuvQos *self, GstClockTime now, GstClockTime step)
{
  const GstClockTime idle = now > self->done ? now - self->done : 0;
  const GstClockTime busy = self->done - self->arrived;
  const gint64 growth =
      MIN ((gint64) (idle + busy) - (gint64) step, (gint64) busy);

  evaluate_probe (self, idle + busy, step);
  self->possible_backlog = MAX ((gint64) self->possible_backlog + growth, 0);
  if (idle >= step)
    return TRUE;
  return idle >= MIN (GST_CUV_QOS_UNREPORTED, step / 4)
      && idle + busy >= step - step / 4
      && self->possible_backlog <= self->trusted_backlog;
}

/* Returns the time from the previous frame to the one at `time`, by their
 * timestamps. */
static GstClockTime
step_to (GstCuvQos *self, GstClockTime time, GstClockTime duration)
{
  const GstClockTime last = self->last_time;

  return GST_CLOCK_TIME_IS_VALID (last) && time > last
          && time - last <= GST_SECOND
      ? time - last
      : MIN (duration, GST_SECOND);
}

void
gst_cuv_qos_arrive (GstCuvQos *self, GstClockTime time, GstClockTime duration)
{
  const GstClockTime now = pipeline_time (self);
  const gboolean waited_before = self->waited;

  self->waited = GST_CLOCK_TIME_IS_VALID (now) && GST_CLOCK_TIME_IS_VALID (time)
      && GST_CLOCK_TIME_IS_VALID (self->arrived)
      && GST_CLOCK_TIME_IS_VALID (self->done) && self->done >= self->arrived
      && has_waited (self, now, step_to (self, time, duration));
  self->skipped = FALSE;
  self->last_time = time;
  self->arrived = now;
  self->done = GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID (now) && GST_CLOCK_TIME_IS_VALID (time))
    update_delay (self, time, waited_before);
}

void
gst_cuv_qos_done (GstCuvQos *self)
{
  if (!GST_CLOCK_TIME_IS_VALID (self->done))
    self->done = pipeline_time (self);
}

/* ---- late frames ---- */

/* Returns why the frame is late, as part of a sentence, or NULL. */
static const gchar *
late_cause (GstCuvQos *self, GstClockTime time, GstClockTime duration)
{
  GstClockTime earliest;
  gboolean live, behind;

  GST_OBJECT_LOCK (self->element);
  earliest = self->earliest;
  live = self->live;
  GST_OBJECT_UNLOCK (self->element);
  if (live && self->waited) {
    self->behind_since = GST_CLOCK_TIME_NONE;
    self->busy_until = MIN (self->busy_until, time);
    return NULL;
  }
  behind = live && falls_behind (self, time, duration);
  if (live && analysis_is_too_slow (self, time, duration))
    return "the analysis takes longer than the time between frames: analyse "
           "smaller frames, or fewer (raise inference-interval)";
  if (GST_CLOCK_TIME_IS_VALID (earliest) && time < earliest)
    return "the sink reports that it shows them too late: the elements in its "
           "thread are too slow (put queues between them)";
  return behind ? "they waited in a queue until it was too late to show them: "
                  "the elements in this thread are too slow (put queues "
                  "between them), or the source paused"
                : NULL;
}

/* Warns, once, when no frame has been analysed for a second. */
static void
report_gap (GstCuvQos *self, GstClockTime time, const gchar *cause)
{
  if (cause == NULL || !GST_CLOCK_TIME_IS_VALID (self->gap_since)
      || time < self->gap_since)
    self->gap_since = cause != NULL ? time : GST_CLOCK_TIME_NONE;
  if (cause == NULL || self->gap_reported
      || time - self->gap_since < GST_SECOND)
    return;
  self->gap_reported = TRUE;
  GST_ELEMENT_WARNING (self->element, STREAM, FAILED,
      ("No frame was analysed for a second, because late frames are skipped "
       "(skip-late) and %s. Set skip-late=false to analyse all frames, however "
       "late.",
          cause),
      (NULL));
}

gboolean
gst_cuv_qos_is_late (GstCuvQos *self, GstClockTime time, GstClockTime duration)
{
  const gchar *cause;

  if (!GST_CLOCK_TIME_IS_VALID (time))
    return FALSE;
  duration = MIN (duration, GST_SECOND); /* buffers are not trusted */
  cause = late_cause (self, time, duration);
  report_gap (self, time, cause);
  self->skipped = cause != NULL;
  return self->skipped;
}

/* Returns the time of the first frame to analyse when the sink is late by diff.
 * Twice diff is added, so that it can catch up. */
static GstClockTime
earliest_time (GstClockTime timestamp, GstClockTimeDiff diff)
{
  guint64 earliest;

  if (!GST_CLOCK_TIME_IS_VALID (timestamp) || diff <= 0
      || !g_uint64_checked_add (&earliest, timestamp, 2 * (guint64) diff))
    return GST_CLOCK_TIME_NONE;
  return earliest;
}

void
gst_cuv_qos_event (GstCuvQos *self, GstEvent *event)
{
  GstClockTime timestamp, latency;
  GstClockTimeDiff diff;

  if (GST_EVENT_TYPE (event) == GST_EVENT_QOS) {
    gst_event_parse_qos (event, NULL, NULL, &diff, &timestamp);
    GST_OBJECT_LOCK (self->element);
    self->earliest = earliest_time (timestamp, diff);
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
gst_cuv_qos_query (GstCuvQos *self, GstQuery *query)
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
  /* one frame is held at a time, so the maximum grows by as much as the
   * minimum */
  min += own;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += own;
  gst_query_set_latency (query, live, min, max);
  return TRUE;
}

void
gst_cuv_qos_query_peer (GstCuvQos *self)
{
  GstQuery *query = gst_query_new_latency ();

  gst_cuv_qos_query (self, query);
  gst_query_unref (query);
}

/* Returns the 95th percentile of the last samples: up to one slow frame in 20
 * is ignored. */
static GstClockTime
percentile_95 (const GstCuvQos *self)
{
  const guint n = MIN (self->n_samples, GST_CUV_QOS_SAMPLES);
  const guint n_longest = n - (n - 1) * 95 / 100;
  GstClockTime longest[GST_CUV_QOS_SAMPLES] = { 0 }; /* first */

  for (guint i = 0; i < n; i++) {
    GstClockTime time = self->samples[i];

    for (guint k = 0; k < n_longest && time > longest[n_longest - 1]; k++) {
      if (time > longest[k]) {
        const GstClockTime shorter = longest[k];

        longest[k] = time;
        time = shorter;
      }
    }
  }
  return longest[n_longest - 1];
}

/* Every sink resynchronises when the latency changes, so only a rise by more
 * than an eighth or a fall below half of the reported value is reported. */
static gboolean
is_significant (GstClockTime reported, GstClockTime usual)
{
  if (reported == 0)
    return usual >= GST_CUV_QOS_UNREPORTED;
  return usual > reported + reported / 8 || usual < reported / 2;
}

static void
update_latency (GstCuvQos *self)
{
  const GstClockTime usual = percentile_95 (self);
  gboolean post;

  GST_OBJECT_LOCK (self->element);
  post = self->live && is_significant (self->own_latency, usual);
  if (post)
    self->own_latency = usual >= GST_CUV_QOS_UNREPORTED ? usual : 0;
  GST_OBJECT_UNLOCK (self->element);
  if (post)
    gst_element_post_message (
        self->element, gst_message_new_latency (GST_OBJECT (self->element)));
}

void
gst_cuv_qos_add_sample (GstCuvQos *self, GstClockTime time, GstClockTime took)
{
  if (GST_CLOCK_TIME_IS_VALID (time))
    self->busy_until = MAX (self->busy_until, time) + took;
  self->samples[self->n_samples++ % GST_CUV_QOS_SAMPLES] = took;
  if (self->n_samples > 1) /* the first frame may be slow by accident */
    update_latency (self);
}
