/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements after live sources: cameras with few buffers, streams without
 * timestamps or with a varying rate, flushing pads, slow branches, and chains
 * in the source's own thread. */
#include "cuvelements.h"

#define WIDTH 320
#define HEIGHT 240
#define FRAME_TIME (GST_SECOND / 30)
#define CHAIN                                                                  \
  "waldboostdetect name=a stats-interval=1 ! "                                 \
  "houghlines name=b stats-interval=1 ! rcdtrack name=c stats-interval=1 ! "   \
  "visionoverlay"

/* names of the elements with a sink and a source pad */
static GPtrArray *names;

static gboolean
has_stat (GstElement *element, const gchar *field)
{
  GstStructure *stats;
  gboolean has;

  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "stats")
      == NULL)
    return FALSE;
  g_object_get (element, "stats", &stats, NULL);
  has = gst_structure_has_field (stats, field);
  gst_structure_free (stats);
  return has;
}

static void
check_all_analysed (GstElement *element, guint n)
{
  if (!has_stat (element, "analysed"))
    return;
  fail_unless_equals_uint64 (cuv_stat (element, "frames"), n);
  fail_unless (cuv_stat (element, "analysed") == n, "%s analysed %u of %u",
      GST_OBJECT_NAME (element), (guint) cuv_stat (element, "analysed"), n);
}

/* ---- each element ---- */

/* A live harness with a test clock. */
static GstHarness *
live_harness (const gchar *name, const gchar *framerate)
{
  GstHarness *h = cuv_element_harness (name);
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-raw,format=NV12,width=%d,height=%d,framerate=%s", WIDTH, HEIGHT,
      framerate);

  gst_harness_use_testclock (h);
  gst_element_set_base_time (h->element, 0);
  gst_harness_set_live (h, TRUE);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

static void
push (GstHarness *h, GstBuffer *frame)
{
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (h));
}

static GstBuffer *
new_frame (GstClockTime time)
{
  GstBuffer *frame = cuv_frame_new ("NV12", WIDTH, HEIGHT);

  GST_BUFFER_PTS (frame) = time;
  GST_BUFFER_DURATION (frame) = GST_CLOCK_TIME_NONE;
  return frame;
}

static GstBufferPool *
camera_pool (GstHarness *h)
{
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (h->srcpad);

  gst_buffer_pool_config_set_params (
      config, caps, WIDTH * HEIGHT * 3 / 2, 2, 2);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  return pool;
}

/* A camera has few buffers and stops when an element keeps one. */
CUV_LOOP_TEST (frames_return_to_the_pool, names->len)
{
  GstBufferPoolAcquireParams now = {
    .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
  };
  g_autoptr (GstHarness) h = live_harness (names->pdata[__i__], "30/1");
  g_autoptr (GstBufferPool) pool = camera_pool (h);

  for (guint n = 0; n < 10; n++) {
    GstBuffer *frames[2];

    for (guint i = 0; i < 2; i++)
      fail_unless_equals_int (
          gst_buffer_pool_acquire_buffer (pool, &frames[i], &now), GST_FLOW_OK);
    gst_buffer_unref (frames[1]);
    GST_BUFFER_PTS (frames[0]) = n * FRAME_TIME;
    gst_buffer_memset (frames[0], 0, (guint8) (n * 25), -1);
    push (h, frames[0]);
  }
  gst_buffer_pool_set_active (pool, FALSE);
}

CUV_LOOP_TEST (frames_without_timestamps_are_analysed, names->len)
{
  g_autoptr (GstHarness) h = live_harness (names->pdata[__i__], "30/1");

  for (guint n = 0; n < 5; n++) {
    gst_harness_set_time (h, n * GST_SECOND);
    push (h, new_frame (GST_CLOCK_TIME_NONE));
  }
  check_all_analysed (h->element, 5);
}

/* Frames are seconds to minutes apart and have no durations. */
CUV_LOOP_TEST (frames_of_a_varying_rate_are_analysed, names->len)
{
  static const GstClockTime steps[] = { 1, 5, 200, 40, 1000, 3, 33 };
  g_autoptr (GstHarness) h = live_harness (names->pdata[__i__], "0/1");
  GstClockTime time = 0;

  for (guint n = 0; n < G_N_ELEMENTS (steps); n++) {
    time += steps[n] * GST_SECOND;
    gst_harness_set_time (h, time);
    push (h, new_frame (time));
  }
  check_all_analysed (h->element, G_N_ELEMENTS (steps));
}

CUV_LOOP_TEST (flushing_pads_refuse_and_recover, names->len)
{
  g_autoptr (GstHarness) h = live_harness (names->pdata[__i__], "30/1");

  for (guint n = 0; n < 3; n++) {
    GstSegment segment;

    push (h, new_frame (0));
    gst_harness_push_event (h, gst_event_new_flush_start ());
    fail_unless_equals_int (
        gst_harness_push (h, new_frame (0)), GST_FLOW_FLUSHING);
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    while (gst_harness_buffers_in_queue (h) > 0)
      gst_buffer_unref (gst_harness_pull (h));
  }
}

/* ---- chains ---- */

static GstClockTime
latency_of (GstElement *pipeline)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min;

  fail_unless (gst_element_query (pipeline, query));
  gst_query_parse_latency (query, NULL, &min, NULL);
  gst_query_unref (query);
  return min;
}

static void
check_element (GstElement *pipeline, const gchar *name, guint n)
{
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), name);

  fail_unless_equals_uint64 (cuv_stat (element, "frames"), n);
  g_print ("%s: %u of %u analysed\n", GST_OBJECT_NAME (element),
      (guint) cuv_stat (element, "analysed"), n);
  fail_unless (cuv_stat (element, "analysed") > 0);
}

/* Plays source ! chain ! sink: every frame passes through every element, and
 * these add no more latency than their analysis takes. The tests of GstCuvQos
 * check how many frames are analysed. */
static void
check_chain (const gchar *source, guint n)
{
  g_autofree gchar *bare = g_strdup_printf ("%s ! fakesink sync=true", source);
  g_autofree gchar *line =
      g_strdup_printf ("%s ! " CHAIN " ! fakesink sync=true", source);
  GstElement *pipeline = cuv_pipeline_new (bare);
  GstClockTime before, longest, added;

  cuv_pipeline_play_live (pipeline);
  before = latency_of (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  pipeline = cuv_pipeline_new (line);
  longest = cuv_pipeline_play_live (pipeline);
  added = latency_of (pipeline) - before;
  g_print ("%s: adds %.1f ms of latency; a frame takes at most %.1f ms\n",
      source, (gdouble) added / GST_MSECOND, (gdouble) longest / GST_MSECOND);
  fail_unless (added <= 3 * longest);
  fail_unless (added == 0 || longest >= 5 * GST_MSECOND);
  check_element (pipeline, "a", n);
  check_element (pipeline, "b", n);
  check_element (pipeline, "c", n);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

CUV_TEST (chain_after_imagefreeze)
{
  check_chain ("videotestsrc num-buffers=1 ! video/x-raw,width=320,height=240 "
               "! imagefreeze num-buffers=30 is-live=true "
               "! video/x-raw,framerate=30/1",
      30);
}

CUV_TEST (chain_after_a_live_source)
{
  check_chain ("videotestsrc num-buffers=60 is-live=true "
               "! video/x-raw,width=320,height=240,framerate=60/1",
      60);
}

/* A slow branch does not delay the chain. */
CUV_TEST (chain_beside_slow_branch)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (
      "videotestsrc num-buffers=30 is-live=true "
      "! video/x-raw,width=320,height=240,framerate=30/1 ! tee name=t "
      "t. ! queue ! " CHAIN " ! fakesink sync=true "
      "t. ! queue leaky=downstream max-size-buffers=1 "
      "! identity sleep-time=200000 ! fakesink sync=false");

  cuv_pipeline_play_live (pipeline);
  check_element (pipeline, "a", 30);
  check_element (pipeline, "b", 30);
  check_element (pipeline, "c", 30);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* An application's frames are timestamped on arrival. */
CUV_TEST (chain_after_appsrc)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (
      "appsrc name=s is-live=true do-timestamp=true "
      "format=time caps=video/x-raw,format=NV12,width=320,"
      "height=240,framerate=0/1 ! " CHAIN " ! fakesink sync=true");
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  GstFlowReturn flow;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 0; n < 40; n++) {
    GstBuffer *frame = new_frame (GST_CLOCK_TIME_NONE);

    g_usleep (10000);
    g_signal_emit_by_name (source, "push-buffer", frame, &flow);
    gst_buffer_unref (frame);
    fail_unless_equals_int (flow, GST_FLOW_OK);
  }
  g_signal_emit_by_name (source, "end-of-stream", &flow);
  cuv_pipeline_play_live (pipeline);
  check_element (pipeline, "a", 40);
  check_element (pipeline, "b", 40);
  check_element (pipeline, "c", 40);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  names = cuv_frame_element_names ();
}
