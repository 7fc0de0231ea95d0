/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvQos with a test clock: which frames are late and which latency is
 * reported. Streaming threads, queues and sinks are simulated. */
#include "config.h"

#include <gst/check/gsttestclock.h>
#include "cuvelements.h"
#include "base/gstcuvqos.h"

#define MS GST_MSECOND
#define FRAME (GST_SECOND / 30)

/* A simulated streaming thread: a source, one or two elements and a sink. */
typedef struct {
  GstElement *element;
  GstClock *clock;
  GstCuvQos qos[2];
  guint n_qos;
  GstClockTime took[2];        /* duration of an analysis */
  GstClockTime source;         /* latency that the source reports */
  GstClockTime source_delay;   /* its real latency */
  GstClockTime period;         /* real interval of frames; timestamps: FRAME */
  GstClockTime work;           /* time that other elements upstream take in the
                                * thread */
  GstClockTime after;          /* time that elements downstream take */
  gboolean queue;              /* a queue before the sink: the thread never
                                * waits there */
  guint n;                     /* frames so far */
  GstClockTime now;            /* clock of the thread */
  GstClockTime latest;         /* largest delay of a frame */
  guint n_analysed[2], n_both; /* frames analysed by each element, by both */
} Stream;

static Stream
stream_new (guint n_qos, GstClockTime first, GstClockTime second)
{
  Stream self = {
    .n_qos = n_qos, .took = { first, second }, .source = FRAME, .period = FRAME
  };

  self.element = gst_element_factory_make ("identity", NULL);
  self.clock = gst_test_clock_new ();
  gst_element_set_clock (self.element, self.clock);
  gst_element_set_base_time (self.element, 0);
  gst_element_set_state (self.element, GST_STATE_PLAYING);
  for (guint i = 0; i < n_qos; i++) {
    gst_cuv_qos_init (&self.qos[i], self.element);
    self.qos[i].live = TRUE;
  }
  return self;
}

static void
stream_clear (Stream *self)
{
  gst_element_set_state (self->element, GST_STATE_NULL);
  gst_object_unref (self->element);
  gst_object_unref (self->clock);
}

/* Sets the latency as a pipeline does after a LATENCY message; sinks add 20
 * ms. */
static GstClockTime
distribute_latency (Stream *self)
{
  GstClockTime sum = self->source;
  GstEvent *event;

  for (guint i = 0; i < self->n_qos; i++) {
    self->qos[i].upstream_latency = sum;
    sum += self->qos[i].own_latency;
  }
  event = gst_event_new_latency (sum + 20 * MS);
  for (guint i = 0; i < self->n_qos; i++)
    gst_cuv_qos_event (&self->qos[i], event);
  gst_event_unref (event);
  return sum + 20 * MS;
}

static gboolean
work (Stream *self, guint i, GstClockTime time)
{
  gst_test_clock_set_time (GST_TEST_CLOCK (self->clock), self->now);
  gst_cuv_qos_arrive (&self->qos[i], time, FRAME);
  if (gst_cuv_qos_is_late (&self->qos[i], time, FRAME))
    return FALSE;
  self->now += self->took[i];
  gst_cuv_qos_add_sample (&self->qos[i], time, self->took[i]);
  self->n_analysed[i]++;
  return TRUE;
}

static void
play (Stream *self, guint n_frames)
{
  for (guint i = 0; i < n_frames; i++) {
    const GstClockTime made = self->n * self->period + self->source_delay;
    const GstClockTime time = self->n++ * FRAME;
    const GstClockTime latency = distribute_latency (self);
    guint n_analysed = 0;

    self->now = MAX (self->now, made) + self->work;
    for (guint k = 0; k < self->n_qos; k++)
      n_analysed += work (self, k, time);
    self->n_both += n_analysed == 2;
    self->now += self->after;
    if (self->now > time + latency)
      self->latest = MAX (self->latest, self->now - time - latency);
    if (!self->queue)
      self->now = MAX (self->now, time + latency);
    gst_test_clock_set_time (GST_TEST_CLOCK (self->clock), self->now);
    for (guint k = 0; k < self->n_qos; k++)
      gst_cuv_qos_done (&self->qos[k]);
  }
}

CUV_TEST (fast_analysis_adds_no_latency)
{
  Stream stream = stream_new (2, 1 * MS, 4 * MS);

  play (&stream, 200);
  fail_unless_equals_int (stream.n_both, 200);
  fail_unless_equals_uint64 (stream.latest, 0);
  fail_unless_equals_uint64 (stream.qos[0].own_latency, 0);
  fail_unless_equals_uint64 (stream.qos[1].own_latency, 0);
  stream_clear (&stream);
}

CUV_TEST (slow_analysis_reports_its_time)
{
  Stream stream = stream_new (1, 20 * MS, 0);

  play (&stream, 200);
  fail_unless_equals_int (stream.n_analysed[0], 200);
  fail_unless_equals_uint64 (stream.qos[0].own_latency, 20 * MS);
  stream_clear (&stream);
}

/* Times that vary around the shortest one that is reported cause no new
 * messages. */
CUV_TEST (latency_does_not_flap)
{
  Stream stream = stream_new (1, 5 * MS, 0);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (stream.element, bus);
  for (guint n = 0; n < 300; n++) {
    stream.took[0] = n / 70 % 2 == 0 ? 5100 * GST_USECOND : 4900 * GST_USECOND;
    play (&stream, 1);
  }
  gst_message_unref (gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY));
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY) == NULL);
  stream.took[0] = 2 * MS;
  play (&stream, 100);
  fail_unless_equals_uint64 (stream.qos[0].own_latency, 0);
  gst_element_set_bus (stream.element, NULL);
  gst_object_unref (bus);
  stream_clear (&stream);
}

/* Pipelines that start together have a base time ahead of their clocks. */
CUV_TEST (frames_before_the_base_time_are_not_late)
{
  Stream stream = stream_new (1, 1 * MS, 0);

  gst_element_set_base_time (stream.element, 10 * GST_SECOND);
  play (&stream, 100);
  fail_unless_equals_int (stream.n_analysed[0], 100);
  stream_clear (&stream);
}

/* An analysis takes 47 ms, frames come every 33 ms: late frames are skipped,
 * the thread is busy and the stream keeps its rate. */
static void
check_too_slow (gboolean queue)
{
  Stream stream = stream_new (1, 47 * MS, 0);

  stream.queue = queue;
  play (&stream, 3); /* frames are late until the latency is known */
  stream.latest = 0;
  play (&stream, 297);
  fail_unless_equals_uint64 (stream.qos[0].own_latency, 47 * MS);
  fail_unless (stream.n_analysed[0] <= 300 * FRAME / (47 * MS) + 1);
  fail_unless (stream.n_analysed[0] >= 300 * FRAME / (47 * MS) - 20);
  /* without a queue the thread waits in the sink and cannot analyse */
  fail_unless (
      stream.latest <= (queue ? 0 : GST_CUV_QOS_TOLERANCE + 47 * MS - FRAME));
  stream_clear (&stream);
}

CUV_TEST (too_slow_analysis_skips_frames)
{
  check_too_slow (FALSE);
  check_too_slow (TRUE);
}

/* Each element keeps up alone, but not both together, and no sink sends QoS. */
CUV_TEST (two_elements_too_slow_together_skip)
{
  Stream stream = stream_new (2, 20 * MS, 20 * MS);

  play (&stream, 300);
  fail_unless (stream.latest <= 3 * FRAME, "%" GST_TIME_FORMAT " late",
      GST_TIME_ARGS (stream.latest));
  fail_unless (stream.n_both >= 100);
  stream_clear (&stream);
}

/* A tracker needs the frames that the detector before it has analysed. */
CUV_TEST (elements_analyse_the_same_frames)
{
  Stream stream = stream_new (2, 100 * MS, 8 * MS);

  play (&stream, 300);
  fail_unless (stream.n_analysed[0] >= 60);
  fail_unless (stream.n_both >= stream.n_analysed[0] - 2,
      "%u of %u frames were analysed by both", stream.n_both,
      stream.n_analysed[0]);
  stream_clear (&stream);
}

/* Some cameras report less latency than they have; analysis goes on. */
CUV_TEST (source_with_unreported_latency_is_analysed)
{
  Stream stream = stream_new (1, 10 * MS, 0);

  stream.source_delay = 300 * MS;
  stream.queue = TRUE;
  play (&stream, 100);
  fail_unless_equals_int (stream.n_analysed[0], 100);
  stream.source_delay = 600 * MS; /* the network became slower */
  play (&stream, 300);
  fail_unless (stream.n_analysed[0] >= 200, "%u", stream.n_analysed[0]);
  stream_clear (&stream);
}

/* A source produces frames more slowly than their timestamps say. Nothing is
 * queued while analysis keeps up. */
static void
check_slow_source (
    GstClockTime period, GstClockTime took, GstClockTime after, guint n_skipped)
{
  Stream stream = stream_new (1, took, 0);

  stream.period = period;
  stream.after = after;
  play (&stream, 1000);
  fail_unless (stream.n_analysed[0] >= 1000 - n_skipped,
      "%u of 1000 frames analysed; one comes every %u ms, analysis takes %u ms",
      stream.n_analysed[0], (guint) (period / MS), (guint) (took / MS));
  stream_clear (&stream);
}

CUV_TEST (frames_of_a_slow_source_are_analysed)
{
  check_slow_source (100 * MS, 5 * MS, 0, 0);
  check_slow_source (100 * MS, 60 * MS, 0, 0);
  check_slow_source (67 * MS, 30 * MS, 0, 0);
  /* idle for less than a frame: a frame is skipped now and then to test whether
   * frames are queued */
  check_slow_source (FRAME + FRAME / 100, 5 * MS, 0, 1);
  check_slow_source (67 * MS, 55 * MS, 0, 15);
  check_slow_source (FRAME + FRAME / 20, 25 * MS, 0, 4);
  check_slow_source (FRAME + FRAME / 20, 10 * MS, 10 * MS, 4);
}

/* Work upstream in the thread is taken for waiting, until skipping a frame
 * shows that frames were queued. */
CUV_TEST (work_upstream_is_not_taken_for_waiting)
{
  Stream stream = stream_new (1, 30 * MS, 0);

  stream.work = 10 * MS;
  stream.queue = TRUE;
  play (&stream, 300);
  fail_unless (stream.latest <= GST_CUV_QOS_UNTESTED + FRAME);
  stream.latest = 0;
  play (&stream, 1000);
  fail_unless (stream.latest <= 2 * FRAME, "%" GST_TIME_FORMAT " late",
      GST_TIME_ARGS (stream.latest));
  fail_unless (stream.n_analysed[0] >= 700, "%u", stream.n_analysed[0]);
  stream_clear (&stream);
}

/* Skipping is the only way to catch up, even if that takes long. */
static void
check_busy_thread (GstClockTime work, GstClockTime delay)
{
  Stream stream = stream_new (1, 20 * MS, 0);

  stream.work = work;
  stream.queue = TRUE;
  play (&stream, 3000);
  fail_unless (stream.latest <= delay, "%" GST_TIME_FORMAT " late",
      GST_TIME_ARGS (stream.latest));
  fail_unless (stream.n_analysed[0] >= 200, "%u", stream.n_analysed[0]);
  stream_clear (&stream);
}

CUV_TEST (a_thread_that_hardly_waits_does_not_fall_behind)
{
  check_busy_thread (FRAME * 90 / 100, GST_SECOND);
  check_busy_thread (FRAME * 96 / 100, 2 * GST_SECOND);
}

static GstMessage *
pop_warning (GstBus *bus)
{
  return gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
}

/* An analysis takes 1.5 s, so there are gaps of more than a second. */
CUV_TEST (a_hole_of_a_second_is_reported_once)
{
  Stream stream = stream_new (1, 1500 * MS, 0);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error;

  gst_element_set_bus (stream.element, bus);
  play (&stream, 30);
  fail_unless (pop_warning (bus) == NULL, "reported too early");
  play (&stream, 120);
  message = pop_warning (bus);
  fail_unless (message != NULL, "no warning");
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "skip-late=false") != NULL);
  fail_unless (strstr (error->message, "analysis takes longer") != NULL, "%s",
      error->message);
  g_error_free (error);
  gst_message_unref (message);
  fail_unless (pop_warning (bus) == NULL, "reported twice");
  gst_element_set_bus (stream.element, NULL);
  gst_object_unref (bus);
  stream_clear (&stream);
}

/* After a network stall a second of frames arrives at once: those that are too
 * late to be shown are skipped. */
CUV_TEST (a_backlog_is_skipped)
{
  Stream stream = stream_new (1, 10 * MS, 0);

  play (&stream, 60);
  fail_unless_equals_int (stream.n_analysed[0], 60);
  stream.now += GST_SECOND;
  play (&stream, 60);
  fail_unless (stream.n_analysed[0] <= 120 - 27, "%u", stream.n_analysed[0]);
  fail_unless (stream.n_analysed[0] >= 120 - 33, "%u", stream.n_analysed[0]);
  stream_clear (&stream);
}

CUV_TEST (durations_do_not_overflow)
{
  Stream stream = stream_new (1, 30 * MS, 0);

  play (&stream, 10);
  stream.qos[0].busy_until = stream.n * FRAME;
  fail_if (gst_cuv_qos_is_late (
      &stream.qos[0], stream.n * FRAME, GST_CLOCK_TIME_NONE - 1));
  stream_clear (&stream);
}

/* Any element or application may send QoS events with extreme values. */
CUV_TEST (qos_events_do_not_overflow)
{
  const GstClockTimeDiff diffs[] = { G_MAXINT64, G_MININT64, 1, 0 };
  const GstClockTime times[] = { 0, 1, G_MAXINT64, GST_CLOCK_TIME_NONE - 1,
    GST_CLOCK_TIME_NONE };
  Stream stream = stream_new (1, 1 * MS, 0);

  for (guint i = 0; i < G_N_ELEMENTS (diffs); i++) {
    for (guint k = 0; k < G_N_ELEMENTS (times); k++) {
      GstEvent *event = gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1, 1, 0);
      GstStructure *structure = gst_event_writable_structure (event);

      gst_structure_set (structure, "timestamp", G_TYPE_UINT64, times[k],
          "diff", G_TYPE_INT64, diffs[i], NULL);
      gst_cuv_qos_event (&stream.qos[0], event);
      if (diffs[i] <= 0)
        fail_if (gst_cuv_qos_is_late (&stream.qos[0], 0, FRAME));
      gst_event_unref (event);
    }
  }
  stream_clear (&stream);
}
