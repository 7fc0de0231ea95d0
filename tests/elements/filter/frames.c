/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvFilter: when it configures, analyses, holds and reports results. */
#include "probe.h"

CUV_TEST (configures_once_and_after_changes)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);

  for (guint n = 0; n < 3; n++)
    cuv_probe_push (h, n, NULL);
  fail_unless_equals_int (probe->n_configure, 1);
  g_object_set (probe, "number", 1, NULL);
  cuv_probe_push (h, 3, NULL);
  cuv_probe_push (h, 4, NULL);
  fail_unless_equals_int (probe->n_configure, 2);
  fail_unless_equals_int (probe->n_analyse, 5);

  cuv_harness_caps (h, "NV12", 32, 24);
  gst_buffer_unref (
      gst_harness_push_and_pull (h, cuv_frame_new ("NV12", 32, 24)));
  fail_unless_equals_int (probe->n_configure, 3);
  cuv_harness_caps (h, "RGB", 32, 24);
  gst_buffer_unref (
      gst_harness_push_and_pull (h, cuv_frame_new ("RGB", 32, 24)));
  gst_buffer_unref (
      gst_harness_push_and_pull (h, cuv_frame_new ("RGB", 32, 24)));
  fail_unless_equals_int (probe->n_configure, 4);
}

CUV_TEST (analyses_every_nth)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);

  g_object_set (probe, "inference-interval", 3, NULL);
  for (guint n = 0; n < 10; n++)
    fail_unless_equals_int (cuv_probe_push (h, n, NULL), n % 3 == 0);
  fail_unless_equals_int (probe->n_analyse, 4);
  fail_unless_equals_uint64 (cuv_stat (h->element, "skipped"), 6);
  /* a new interval counts from the last analysed frame */
  g_object_set (probe, "inference-interval", 1, NULL);
  fail_unless (cuv_probe_push (h, 10, NULL));
  g_object_set (probe, "inference-interval", 2, NULL);
  fail_if (cuv_probe_push (h, 11, NULL));
  fail_unless (cuv_probe_push (h, 12, NULL));
}

CUV_TEST (holds_results_with_their_age)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);
  guint analysis = 0;

  g_object_set (probe, "inference-interval", 3, "hold-results", TRUE, NULL);
  for (guint n = 0; n < 7; n++) {
    fail_unless (cuv_probe_push (h, n, &analysis));
    fail_unless_equals_int (analysis, n / 3 + 1);
    fail_unless_equals_uint64 (
        probe->age, n * FRAME_TIME - n / 3 * 3 * FRAME_TIME);
  }
  fail_unless_equals_int (probe->n_analyse, 3);
}

/* Held results do not fit frames of another size. The caps event comes without
 * a segment. */
CUV_TEST (resets_on_caps)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);
  GstCaps *caps = gst_caps_from_string (
      "video/x-raw,format=NV12,width=32,height=24,framerate=30/1");

  g_object_set (probe, "inference-interval", 100, "hold-results", TRUE, NULL);
  cuv_probe_push (h, 0, NULL);
  fail_unless (cuv_probe_push (h, 1, NULL));
  fail_unless_equals_int (probe->n_analyse, 1);
  fail_unless (gst_harness_push_event (h, gst_event_new_caps (caps)));
  gst_caps_unref (caps);
  gst_buffer_unref (
      gst_harness_push_and_pull (h, cuv_frame_new ("NV12", 32, 24)));
  fail_unless_equals_int (probe->n_analyse, 2);
  fail_unless_equals_uint64 (probe->age, 0);
}

/* A flush drops held results, and the next frame is analysed. */
CUV_TEST (resets_on_flush)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);
  GstSegment segment;
  guint resets;

  g_object_set (probe, "inference-interval", 100, "hold-results", TRUE, NULL);
  cuv_probe_push (h, 0, NULL);
  cuv_probe_push (h, 1, NULL);
  fail_unless_equals_int (probe->n_analyse, 1);
  resets = probe->n_reset;
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  fail_unless (probe->n_reset > resets);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  cuv_probe_push (h, 50, NULL);
  fail_unless_equals_int (probe->n_analyse, 2);
  fail_unless_equals_uint64 (probe->age, 0);
}

CUV_TEST (resets_on_segment)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);
  GstSegment segment;
  guint resets;

  cuv_probe_push (h, 0, NULL);
  resets = probe->n_reset;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  fail_unless (probe->n_reset > resets);
}

/* The first frame of a stream is flagged too, but there is nothing to reset.
 */
CUV_TEST (resets_on_discont)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);
  GstBuffer *frame;
  guint resets;

  g_object_set (probe, "inference-interval", 100, NULL);
  cuv_probe_push (h, 0, NULL);
  resets = probe->n_reset;
  cuv_probe_push (h, 1, NULL);
  fail_unless_equals_int (probe->n_reset, resets);
  frame = cuv_probe_frame (90);
  GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
  gst_buffer_unref (gst_harness_push_and_pull (h, frame));
  fail_unless_equals_int (probe->n_reset, resets + 1);
  fail_unless_equals_int (probe->n_analyse, 2);
}

CUV_TEST (restart_clears_stats)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);

  cuv_probe_push (h, 0, NULL);
  gst_element_set_state (h->element, GST_STATE_NULL);
  fail_unless_equals_uint64 (cuv_stat (h->element, "frames"), 1);
  gst_harness_play (h);
  fail_unless_equals_uint64 (cuv_stat (h->element, "frames"), 0);
}

/* If a frame has another owner, its header is copied but not its pixels. */
CUV_TEST (shared_frames_are_not_copied)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);
  g_autoptr (GstBuffer) in = cuv_probe_frame (0);
  g_autoptr (GstBuffer) out = NULL;

  out = gst_harness_push_and_pull (h, gst_buffer_ref (in));
  fail_unless (out != in);
  fail_unless (
      gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (in, 0));
  fail_unless (
      gst_buffer_get_meta (in, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
      == NULL);
}

/* A tracker without a target requests every frame, so inference-interval has no
 * effect; this is reported once. */
CUV_TEST (suspended_interval_is_reported)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);
  GstBus *bus = cuv_harness_watch (h);
  GstMessage *message;
  guint n = 0;

  g_object_set (probe, "inference-interval", 2, NULL);
  for (; n < 210; n++) {
    gst_cuv_filter_request_analysis (GST_CUV_FILTER (probe));
    cuv_probe_push (h, n, NULL);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_INFO);
    fail_unless ((message != NULL) == (n == 99), "frame %u", n);
    g_clear_pointer (&message, gst_message_unref);
  }
  fail_unless_equals_int (probe->n_analyse, n);
  fail_unless_equals_int (cuv_stat_uint (h->element, "interval"), 1);
  cuv_probe_push (h, n, NULL);
  fail_unless_equals_int (cuv_stat_uint (h->element, "interval"), 2);
  cuv_harness_unwatch (h, bus);
}

CUV_TEST (stats_count_analysed_and_skipped)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);
  GstStructure *stats;

  g_object_set (probe, "inference-interval", 2, NULL);
  probe->takes_us = 3000;
  for (guint n = 0; n < 4; n++, probe->takes_us += 1000)
    cuv_probe_push (h, n, NULL);
  fail_unless_equals_uint64 (cuv_stat (h->element, "frames"), 4);
  fail_unless_equals_uint64 (cuv_stat (h->element, "analysed"), 2);
  fail_unless_equals_uint64 (cuv_stat (h->element, "skipped"), 2);
  fail_unless_equals_uint64 (cuv_stat (h->element, "skipped-late"), 0);
  fail_unless_equals_uint64 (cuv_stat (h->element, "own"), 42);
  fail_unless_equals_uint64 (cuv_stat (h->element, "microseconds"), 5000);
  fail_unless_equals_uint64 (cuv_stat (h->element, "microseconds-mean"), 4000);
  g_object_get (probe, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "device"), "cpu");
  gst_structure_free (stats);
}

/* The element may continue after a flush; it is then configured again. */
CUV_TEST (failure_stops_the_flow)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);

  probe->fail = TRUE;
  fail_unless_equals_int (
      gst_harness_push (h, cuv_probe_frame (0)), GST_FLOW_ERROR);
  probe->fail = FALSE;
  fail_unless (cuv_probe_push (h, 1, NULL));
  fail_unless (cuv_probe_push (h, 2, NULL));
  fail_unless_equals_int (probe->n_configure, 2);
}

static guint8
first_luma (GstBuffer *buffer)
{
  guint8 luma;

  fail_unless_equals_int (gst_buffer_extract (buffer, 0, &luma, 1), 1);
  return luma;
}

/* Pixels are written in place if the frame has no other owner, otherwise to a
 * copy from the pool. */
CUV_TEST (writes_in_place_or_to_a_copy)
{
  CuvProbe *probe;
  g_autoptr (GstHarness) h = cuv_probe_harness (&probe);
  GstBuffer *pooled = NULL;

  g_object_set (probe, "writes", TRUE, NULL);
  cuv_probe_push (h, 0, NULL);
  for (guint n = 1; n < 4; n++) {
    GstBuffer *in = cuv_probe_frame (n), *out;
    guint8 before = first_luma (in);

    out = gst_harness_push_and_pull (h, gst_buffer_ref (in));
    fail_unless (out != in && out->pool != NULL);
    fail_unless (pooled == NULL || out == pooled, "copy is not from the pool");
    pooled = out;
    fail_unless_equals_int (first_luma (in), before);
    fail_unless_equals_int (first_luma (out), before ^ 255);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), n * FRAME_TIME);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  g_object_set (probe, "writes", FALSE, NULL);
  cuv_probe_push (h, 4, NULL);
  cuv_probe_push (h, 5, NULL);
}
