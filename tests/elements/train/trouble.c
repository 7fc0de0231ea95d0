/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of waldboosttrain when it is interrupted or fails: stopped while it
 * trains, no samples, a full disk. */
#include "config.h"
#include "harness.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>

/* ---- the end of the stream ---- */

static void
expect_state (GstElement *pipeline, GstState state)
{
  gst_element_set_state (pipeline, state);
  fail_unless_equals_int (
      gst_element_get_state (pipeline, NULL, NULL, 30 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
}

/* Plays frames and waits until the element trains. */
static GstElement *
train_in_pipeline (const gchar *settings)
{
  g_autofree gchar *line = g_strdup_printf (
      "appsrc name=src format=time "
      "caps=video/x-raw,format=GRAY8,width=%d,height=%d,framerate=25/1 ! "
      "waldboosttrain name=sink progress-interval=1 %s",
      WIDTH, HEIGHT, settings);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  g_autoptr (GstElement) src = NULL;
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstFlowReturn flow;

  gst_child_proxy_set (GST_CHILD_PROXY (pipeline), "sink::model", MODEL, NULL);
  src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  for (guint i = 0; i < 14; i++) {
    GstBuffer *buffer = hopeless_new (i);

    GST_BUFFER_PTS (buffer) = i * GST_SECOND / 25;
    g_signal_emit_by_name (src, "push-buffer", buffer, &flow);
    gst_buffer_unref (buffer);
  }
  g_signal_emit_by_name (src, "end-of-stream", &flow);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (;;) {
    GstMessage *message = gst_bus_timed_pop_filtered (
        bus, 30 * GST_SECOND, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);

    fail_unless (
        message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT);
    gst_message_unref (message);
    break;
  }
  return pipeline;
}

CUV_TEST (stops_while_it_trains)
{
  GstElement *pipeline = train_in_pipeline (NEVER_DONE);
  g_autofree gchar *model = NULL;

  g_file_set_contents (MODEL, "before", -1, NULL);
  expect_state (pipeline, GST_STATE_PAUSED);
  expect_state (pipeline, GST_STATE_PLAYING);
  expect_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  model = read_model ();
  fail_unless_equals_string (model, "before");
}

CUV_TEST (flush_ends_waiting)
{
  g_autoptr (GstElement) pipeline = train_in_pipeline (NEVER_DONE);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");

  fail_unless (gst_pad_send_event (pad, gst_event_new_flush_start ()));
  fail_unless (gst_pad_send_event (pad, gst_event_new_flush_stop (TRUE)));
  expect_state (pipeline, GST_STATE_NULL);
}

/* A change to PAUSED waits for the end of training; EOS comes once, with the
 * model. */
CUV_TEST (pauses_while_it_trains)
{
  g_autoptr (GstElement) pipeline =
      train_in_pipeline ("weak=40 negative-samples=1000 margin=0");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  expect_state (pipeline, GST_STATE_PAUSED);
  gst_structure_free (wait_for (bus, "done"));
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_EOS) == NULL);
  expect_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 30 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (
      message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  fail_unless (g_file_test (MODEL, G_FILE_TEST_EXISTS));
  expect_state (pipeline, GST_STATE_NULL);
}

/* ---- errors ---- */

typedef void (*Feed) (const Fixture *fixture, guint n);

static void
feed_crosses (const Fixture *fixture, guint n)
{
  push_examples (fixture, "GRAY8", n);
}

static void
feed_without_regions (const Fixture *fixture, guint n)
{
  for (guint i = 0; i < n; i++)
    push (fixture, frame_new ("GRAY8", i, TRUE));
}

static void
feed_whole_frames (const Fixture *fixture, guint n)
{
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = frame_new ("GRAY8", i, TRUE);

    gst_buffer_add_video_region_of_interest_meta (
        buffer, "all", 0, 0, WIDTH, HEIGHT);
    push (fixture, buffer);
  }
}

/* Problems are warnings while playing, errors at the end. */
CUV_TEST (problems_are_named)
{
  static const struct {
    const gchar *settings;
    Feed feed;
    guint n;
    const gchar *problem;
  } cases[] = {
    { "", feed_crosses, 0, "No frame arrived: check" },
    { "", feed_without_regions, 9, "put rcdtrack, a detector" },
    { "object-class=dog", feed_without_regions, 9, "put rcdtrack, a detector" },
    { "object-class=dog", feed_crosses, 9,
        "object-class 'dog'; the labels of the regions are 'cross'" },
    { "", feed_crosses, 6, "6 frames with regions were kept, but at least 7" },
    { QUICK "window-width=64", feed_crosses, 14,
        "The window of 64x64 is larger than all boxes" },
    { QUICK "window-width=120 window-height=100", feed_whole_frames, 14,
        "No negatives were found" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Fixture fixture = fixture_new ("GRAY8", cases[i].settings);
    gboolean train = TRUE;

    cases[i].feed (&fixture, cases[i].n);
    g_object_set (fixture.sink, "train", TRUE, NULL);
    for (guint t = 0; t < 3000 && train; t++) {
      g_usleep (10000);
      g_object_get (fixture.sink, "train", &train, NULL);
    }
    end (&fixture);
    expect_problem (fixture.bus, GST_MESSAGE_WARNING, cases[i].problem);
    expect_problem (fixture.bus, GST_MESSAGE_ERROR, cases[i].problem);
    fail_if (g_file_test (MODEL, G_FILE_TEST_EXISTS));
    fixture_free (&fixture);
  }
}

CUV_TEST (settings_are_checked)
{
  static const gchar *const cases[][2] = {
    { "", "set it to the name of a file" },
    { "model=nowhere/cup.xml", "the folder 'nowhere' does not exist" },
    { "model=/", "it is a folder" },
    { "model=/dev/null", "it is a folder or a device" },
    { "model=cup.xml window-width=7", "expected 8 to 128 pixels" },
    { "model=cup.xml window-height=1", "expected 8 to 128 pixels" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *sink = gst_element_factory_make ("waldboosttrain", NULL);

    if (*cases[i][0] != '\0')
      cuv_element_set (sink, cases[i][0]);
    cuv_expect_no_start (sink, cases[i][1]);
  }
}

static void
limit_files (rlim_t bytes)
{
  struct rlimit limit;

  fail_unless (getrlimit (RLIMIT_FSIZE, &limit) == 0);
  limit.rlim_cur = bytes;
  fail_unless (setrlimit (RLIMIT_FSIZE, &limit) == 0);
}

/* On a full disk the previous model stays. */
CUV_TEST (no_space_is_left)
{
  Fixture fixture = fixture_new ("GRAY8", QUICK);
  g_autofree gchar *model = NULL;

  signal (SIGXFSZ, SIG_IGN);
  g_file_set_contents (MODEL, "before", -1, NULL);
  limit_files (10 * WIDTH * HEIGHT + 100);
  push_examples (&fixture, "GRAY8", 14);
  expect_problem (
      fixture.bus, GST_MESSAGE_WARNING, "No more frames are kept: no space");
  fail_unless_equals_int (cuv_stat_uint (fixture.sink, "kept"), 10);
  limit_files (100);
  end (&fixture);
  limit_files (RLIM_INFINITY);
  expect_problem (
      fixture.bus, GST_MESSAGE_ERROR, "No space for the samples: set TMPDIR");
  model = read_model ();
  fail_unless_equals_string (model, "before");
  fixture_free (&fixture);
}

CUV_TEST (model_cannot_be_written)
{
  Fixture fixture = fixture_new ("GRAY8", QUICK);

  fail_unless (g_mkdir (MODEL, 0700) == 0);
  push_examples (&fixture, "GRAY8", 14);
  end (&fixture);
  expect_problem (fixture.bus, GST_MESSAGE_ERROR, MODEL "' cannot be written");
  fail_unless (g_rmdir (MODEL) == 0);
  fixture_free (&fixture);
}
