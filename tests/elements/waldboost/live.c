/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A live source that is faster than the detector: no frame is lost, late ones
 * pass unanalysed, the stream keeps real time and says how late it is. */
#include "config.h"

#include <gst/check/gstcheck.h>

#define FRAMES 150
#define FPS 60

GST_START_TEST (test_live_keeps_up)
{
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc is-live=true pattern=snow num-buffers=" G_STRINGIFY (
          FRAMES) " ! video/x-raw,format=NV12,width=1920,height=1080,"
                  "framerate=" G_STRINGIFY (
                      FPS) "/1 ! waldboostdetect name=d "
                           "model=lbpcascade_frontalface_improved.xml ! "
                           "fakesink name=s sync=true signal-handoffs=true",
      NULL);
  GstElement *d = gst_bin_get_by_name (GST_BIN (pipeline), "d");
  GstElement *s = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstQuery *query = gst_query_new_latency ();
  GstStructure *stats, *sink_stats;
  GstClockTime start = gst_util_get_timestamp (), elapsed, min, max, mean_time;
  guint64 frames, analysed, skipped, mean, rendered;
  gboolean live;
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
              GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_LATENCY))) {
    GstMessageType type = GST_MESSAGE_TYPE (message);

    gst_message_unref (message);
    if (type == GST_MESSAGE_LATENCY) {
      gst_bin_recalculate_latency (GST_BIN (pipeline));
      continue;
    }
    fail_unless (type == GST_MESSAGE_EOS);
    break;
  }
  elapsed = gst_util_get_timestamp () - start;
  fail_unless (gst_element_query (pipeline, query));
  gst_query_parse_latency (query, &live, &min, &max);
  g_object_get (d, "stats", &stats, NULL);
  g_object_get (s, "stats", &sink_stats, NULL);
  fail_unless (gst_structure_get (stats, "frames", G_TYPE_UINT64, &frames,
      "analysed", G_TYPE_UINT64, &analysed, "skipped-late", G_TYPE_UINT64,
      &skipped, "microseconds-mean", G_TYPE_UINT64, &mean, NULL));
  fail_unless (gst_structure_get_uint64 (sink_stats, "rendered", &rendered));
  mean_time = mean * GST_USECOND;
  g_print ("%" G_GUINT64_FORMAT " frames in %.2f s, %" G_GUINT64_FORMAT
           " analysed in %" G_GUINT64_FORMAT " us each, %" G_GUINT64_FORMAT
           " late, latency %.1f ms\n",
      frames, elapsed / 1e9, analysed, mean, skipped, min / 1e6);

  assert_equals_uint64 (frames, FRAMES);
  assert_equals_uint64 (rendered, FRAMES);
  assert_equals_uint64 (analysed + skipped, FRAMES);
  fail_unless (analysed > 0);
  /* a machine fast enough analyses all; any other must have let some pass */
  if (mean_time > 2 * GST_SECOND / FPS)
    fail_unless (skipped > 0);
  fail_unless (live);
  fail_unless (min >= mean_time, "reported latency is below the work's time");
  fail_unless (min < GST_SECOND * 3, "latency is not bounded");
  /* real time, the last frame's latency, and a second to start */
  fail_unless (elapsed < FRAMES * GST_SECOND / FPS + min + 2 * GST_SECOND);

  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_structure_free (stats);
  gst_structure_free (sink_stats);
  gst_query_unref (query);
  gst_object_unref (bus);
  gst_object_unref (d);
  gst_object_unref (s);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static Suite *
live_suite (void)
{
  Suite *s = suite_create ("live");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_live_keeps_up);
  return s;
}

GST_CHECK_MAIN (live);
