/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvFilter: late frames and latency. */
#include "probe.h"

#define UPSTREAM (20 * GST_MSECOND)

static GstHarness *
live_harness (CuvProbe **probe)
{
  GstHarness *h = cuv_probe_harness (probe);

  gst_harness_use_testclock (h);
  gst_element_set_base_time (h->element, 0);
  gst_harness_set_live (h, TRUE);
  gst_harness_set_upstream_latency (h, UPSTREAM);
  return h;
}

/* Pushes the nth frame when the clock is `delay` past its timestamp. */
static gboolean
push_delayed (GstHarness *h, guint n, GstClockTime delay)
{
  gst_harness_set_time (h, n * FRAME_TIME + delay);
  return cuv_probe_push (h, n, NULL);
}

static GstPadProbeReturn
advance_clock (GstPad *pad, GstPadProbeInfo *info, gpointer h)
{
  const GstClockTime *until = g_object_get_data (G_OBJECT (pad), "until");

  gst_harness_set_time (h, *until);
  return GST_PAD_PROBE_OK;
}

/* Pushes the nth frame from a queue: the sink blocks the thread until the clock
 * is `delay` past the timestamp of frame `next`. */
static gboolean
push_queued (GstHarness *h, guint n, guint next, GstClockTime delay)
{
  GstClockTime until = next * FRAME_TIME + delay;
  gulong id = gst_pad_add_probe (
      h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, advance_clock, h, NULL);
  gboolean analysed;

  g_object_set_data (G_OBJECT (h->sinkpad), "until", &until);
  analysed = cuv_probe_push (h, n, NULL);
  gst_pad_remove_probe (h->sinkpad, id);
  return analysed;
}

CUV_TEST (overdue_frames_pass_unanalysed)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);

  fail_unless (push_queued (h, 0, 1, UPSTREAM));
  fail_unless (push_queued (h, 1, 2, UPSTREAM + FRAME_TIME));
  fail_unless (push_queued (h, 2, 3, UPSTREAM + FRAME_TIME + GST_MSECOND));
  fail_if (push_queued (h, 3, 4, GST_SECOND));
  fail_if (push_queued (h, 4, 40, 0));
  fail_unless (push_queued (h, 40, 41, 0));
  fail_unless_equals_int (probe->n_analyse, 4);
  fail_unless_equals_uint64 (cuv_stat (h->element, "frames"), 6);
  fail_unless_equals_uint64 (cuv_stat (h->element, "skipped-late"), 2);
  fail_unless_equals_uint64 (cuv_stat (h->element, "skipped"), 2);
}

/* The sink shows frames later by the latency, which leaves more time. */
CUV_TEST (configured_latency_extends_the_deadline)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);

  gst_harness_push_upstream_event (h, gst_event_new_latency (GST_SECOND));
  fail_unless (push_queued (h, 0, 1, GST_SECOND));
  fail_unless (push_queued (h, 1, 2, GST_SECOND + FRAME_TIME + GST_MSECOND));
  fail_if (push_queued (h, 2, 3, 2 * GST_SECOND));
}

/* The clock stands still, as if frames arrived in time through a queue. */
CUV_TEST (frames_captured_during_an_analysis_are_skipped)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);

  gst_harness_push_upstream_event (h, gst_event_new_latency (GST_SECOND));
  probe->takes_us = 115000; /* 3.45 frame times; three analyses: 10.35 */
  for (guint n = 0; n < 10; n++)
    cuv_probe_push (h, n, NULL);
  fail_unless_equals_int (probe->n_analyse, 3);
}

CUV_TEST (late_frames_hold_results)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);

  g_object_set (probe, "hold-results", TRUE, NULL);
  push_queued (h, 0, 1, GST_SECOND);
  fail_unless (cuv_probe_push (h, 1, NULL));
  fail_unless_equals_uint64 (probe->age, FRAME_TIME);
  fail_unless_equals_int (probe->n_analyse, 1);
}

/* The application's clock runs slower, but nothing is queued. */
CUV_TEST (frames_behind_the_clock_are_analysed)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);

  for (guint n = 0; n < 80; n++)
    fail_unless (push_delayed (h, n, n * 2 * FRAME_TIME));
  fail_unless_equals_int (probe->n_analyse, 80);
}

CUV_TEST (skip_late_can_be_turned_off)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);

  g_object_set (probe, "skip-late", FALSE, NULL);
  fail_unless (push_queued (h, 0, 1, GST_SECOND));
  fail_unless (push_queued (h, 1, 2, GST_SECOND));
  fail_unless_equals_int (probe->n_analyse, 2);
}

CUV_TEST (frames_of_files_are_never_late)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);

  gst_harness_set_live (h, FALSE);
  for (guint n = 0; n < 4; n++)
    fail_unless (push_delayed (h, n, GST_SECOND));
}

static void
send_qos (GstHarness *h, GstClockTimeDiff diff, GstClockTime time)
{
  gst_harness_push_upstream_event (h,
      gst_event_new_qos (
          diff > 0 ? GST_QOS_TYPE_UNDERFLOW : GST_QOS_TYPE_OVERFLOW, 1.0, diff,
          time));
}

/* A late sink drops frames before the time that its QoS event names. */
CUV_TEST (qos_marks_late_frames)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);

  gst_harness_set_live (h, FALSE);
  fail_unless (cuv_probe_push (h, 0, NULL));
  send_qos (h, FRAME_TIME, 0);
  fail_if (cuv_probe_push (h, 1, NULL));
  fail_unless (cuv_probe_push (h, 2, NULL));
  send_qos (h, 10 * FRAME_TIME, 2 * FRAME_TIME);
  fail_if (cuv_probe_push (h, 3, NULL));
  send_qos (h, -(GstClockTimeDiff) FRAME_TIME, 3 * FRAME_TIME);
  fail_unless (cuv_probe_push (h, 4, NULL));
  fail_unless_equals_uint64 (cuv_stat (h->element, "skipped-late"), 2);
}

/* The latency is exactly the time of an analysis, so that sinks do not wait
 * longer. */
CUV_TEST (latency_is_the_analysis_time)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);
  GstBus *bus = cuv_harness_watch (h);
  GstMessage *message;

  probe->takes_us = 50000;
  fail_unless (push_delayed (h, 0, 0));
  fail_unless (push_delayed (h, 9, 0));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY);
  fail_unless (message != NULL, "no latency message");
  gst_message_unref (message);
  fail_unless_equals_uint64 (
      gst_harness_query_latency (h), UPSTREAM + 50 * GST_MSECOND);
  /* a faster frame neither changes the latency nor posts a message */
  probe->takes_us = 1000;
  fail_unless (push_delayed (h, 18, 0));
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY) == NULL);
  cuv_harness_unwatch (h, bus);
}

CUV_TEST (fast_analysis_adds_no_latency)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);

  probe->takes_us = 4900;
  for (guint n = 0; n < 100; n++)
    fail_unless (push_delayed (h, n, 0));
  fail_unless_equals_uint64 (gst_harness_query_latency (h), UPSTREAM);
}

/* One slow frame is ignored, two raise the latency; later it falls again. */
CUV_TEST (latency_ignores_single_slow_frames)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);
  GstClockTime fast, slow;
  guint n = 0;

  g_object_set (probe, "skip-late", FALSE, NULL);
  push_delayed (h, n++, 0);
  push_delayed (h, n++, 0);
  fast = gst_harness_query_latency (h);
  probe->takes_us = 200000;
  push_delayed (h, n++, 0);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), fast);
  push_delayed (h, n++, 0);
  slow = gst_harness_query_latency (h);
  fail_unless (slow >= UPSTREAM + 200 * GST_MSECOND);
  probe->takes_us = 1000;
  while (n < 100)
    push_delayed (h, n++, 0);
  fail_unless (gst_harness_query_latency (h) < slow / 2);
}

CUV_TEST (files_have_no_latency)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = live_harness (&probe);

  gst_harness_set_live (h, FALSE);
  gst_harness_set_upstream_latency (h, 0);
  probe->takes_us = 20000;
  fail_unless (push_delayed (h, 0, 0));
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 0);
}

/* An analysis takes ten frame times, and still every frame arrives. The tests
 * of GstCuvQos check with a test clock which frames are analysed. */
static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer n)
{
  g_atomic_int_inc ((gint *) n);
  return GST_PAD_PROBE_OK;
}

CUV_TEST (slow_analysis_drops_nothing)
{
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstElement) filter = NULL;
  g_autoptr (GstElement) sink = NULL;
  gint n_frames = 0;
  g_autoptr (GstPad) pad = NULL;

  cuv_probe_register ();
  pipeline = cuv_pipeline_new (
      "videotestsrc is-live=true num-buffers=60 ! "
      "capsfilter caps=video/x-raw,format=NV12,width=64,height=48,"
      "framerate=30/1 ! cuvprobe name=probe ! fakesink name=sink sync=true "
      "qos=true max-lateness=20000000");
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "probe");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  ((CuvProbe *) filter)->takes_us = 320000;
  ((CuvProbe *) filter)->sleeps = TRUE;
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &n_frames, NULL);
  fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
  fail_unless_equals_int (n_frames, 60);
  fail_unless_equals_uint64 (cuv_stat (filter, "frames"), 60);
  fail_unless (cuv_stat (filter, "analysed") >= 1);
  fail_unless (cuv_stat (filter, "analysed") <= 30);
  g_print ("60 frames in, %d out, %u analysed\n", n_frames,
      (guint) cuv_stat (filter, "analysed"));
}
