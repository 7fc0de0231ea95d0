/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A live source faster than the detector: no frame is lost, late frames pass
 * unanalysed, and the reported latency is the analysis time. */
#include "config.h"

#include "cuvelements.h"

#define FRAMES 150
#define FPS 60
/* A picture that is expensive to search and cheap to make: a source of noise
 * would take time from the detector. */
#define LINE                                                                   \
  "videotestsrc is-live=true pattern=circular num-buffers=%d ! "               \
  "video/x-raw,format=NV12,width=1920,height=1080,framerate=%d/1 ! "           \
  "waldboostdetect name=d model=lbpcascade_frontalface_improved.xml "          \
  "stats-interval=1 ! fakesink name=s sync=true"

CUV_TEST (test_live_keeps_up)
{
  g_autofree gchar *line = g_strdup_printf (LINE, FRAMES, FPS);
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, NULL);
  g_autoptr (GstElement) d = gst_bin_get_by_name (GST_BIN (pipeline), "d");
  g_autoptr (GstElement) s = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  GstQuery *query = gst_query_new_latency ();
  GstStructure *stats, *sink_stats;
  GstClockTime start, elapsed, slowest, min, max, mean_time;
  guint64 frames, analysed, skipped, mean, rendered;
  gboolean live;

  gst_element_set_state (pipeline, GST_STATE_PAUSED); /* reads the model */
  start = gst_util_get_timestamp ();
  slowest = cuv_pipeline_play_live (pipeline);
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
           " late, slowest %.1f ms, latency %.1f ms\n",
      frames, elapsed / 1e9, analysed, mean, skipped, slowest / 1e6, min / 1e6);

  assert_equals_uint64 (frames, FRAMES);
  assert_equals_uint64 (rendered, FRAMES);
  assert_equals_uint64 (analysed + skipped, FRAMES);
  fail_unless (analysed > 0);
  /* a fast machine analyses all frames; any other must have skipped some */
  if (mean_time > 2 * GST_SECOND / FPS)
    fail_unless (skipped > 0);
  fail_unless (live);
  /* the latency of the source plus 20 ms of the sink */
  slowest += GST_USECOND; /* truncated to microseconds */
  fail_unless (min <= slowest + GST_SECOND / FPS + 20 * GST_MSECOND,
      "reported latency is above the analysis time");

  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_structure_free (stats);
  gst_structure_free (sink_stats);
  gst_query_unref (query);
}
