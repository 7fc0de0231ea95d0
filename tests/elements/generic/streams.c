/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Common tests of every element that passes frames on. With CUV_TEST_CUDA set,
 * frames reach the elements in CUDA memory. */
#include "cuvelements.h"

/* names of the elements with a sink and a source pad */
static GPtrArray *names;
static gboolean cuda;

/* Returns TRUE for elements that must not change pixels or memory. */
static gboolean
only_reads (const gchar *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  const gchar *klass =
      gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_KLASS);
  gboolean reads = strstr (klass, "Analyzer") || strstr (klass, "Metadata");

  return reads;
}

static gchar *
line_with (const gchar *name)
{
  return g_strdup_printf (
      cuda ? "cuvcudaupload ! %s ! cuvcudadownload" : "%s", name);
}

static GstHarness *
new_harness (const gchar *name)
{
  g_autofree gchar *line = line_with (name);
  GstElement *bin;
  GstHarness *h;

  if (!cuda) {
    h = cuv_element_harness (name);
  } else {
    bin = cuv_bin_new (line);
    h = gst_harness_new_with_element (bin, "sink", "src");
    gst_object_unref (bin);
  }
  return h;
}

static GstElement *
new_pipeline (const gchar *name, const gchar *source, const gchar *sink)
{
  g_autofree gchar *element = line_with (name);
  g_autofree gchar *line =
      g_strdup_printf ("videotestsrc %s ! "
                       "video/x-raw,format=NV12,width=64,height=48 ! "
                       "%s ! fakesink %s",
          source, element, sink);
  GstElement *pipeline = cuv_pipeline_new (line);

  return pipeline;
}

static void
finish (void)
{
  if (cuda)
    cuv_fake_check_clean ();
}

static void
wait_async (GstElement *pipeline)
{
  fail_unless_equals_int (
      gst_element_get_state (pipeline, NULL, NULL, 30 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
}

CUV_LOOP_TEST (restarts, names->len)
{
  GstElement *pipeline =
      new_pipeline (names->pdata[__i__], "num-buffers=3", "");

  for (guint i = 0; i < 3; i++)
    fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
  gst_object_unref (pipeline);
  finish ();
}

CUV_LOOP_TEST (stops_in_every_state, names->len)
{
  GstElement *pipeline = new_pipeline (names->pdata[__i__], "", "");

  for (guint i = 0; i < 3; i++) {
    gst_element_set_state (pipeline, GST_STATE_READY);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    wait_async (pipeline);
    gst_element_set_state (pipeline, GST_STATE_READY);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    wait_async (pipeline);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
  gst_object_unref (pipeline);
  finish ();
}

CUV_LOOP_TEST (seeks, names->len)
{
  GstElement *pipeline =
      new_pipeline (names->pdata[__i__], "num-buffers=-1", "sync=false");
  gchar *error;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  wait_async (pipeline);
  for (guint i = 0; i < 3; i++) {
    fail_unless (gst_element_seek (pipeline, 1.0, GST_FORMAT_TIME,
        GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, GST_SEEK_TYPE_SET,
        i * GST_SECOND, GST_SEEK_TYPE_SET, i * GST_SECOND + GST_SECOND / 4));
    wait_async (pipeline);
  }
  error = cuv_pipeline_play (pipeline);
  fail_unless (error == NULL, "%s", error);
  gst_object_unref (pipeline);
  finish ();
}

static void
push_and_compare (
    GstHarness *h, const gchar *format, gint width, gint height, guint n)
{
  g_autoptr (GstBuffer) in = cuv_frame_new (format, width, height);
  g_autoptr (GstBuffer) out = NULL;

  GST_BUFFER_PTS (in) = n * GST_SECOND / 30;
  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_ref (in)), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (
      out != NULL, "a frame of %s %dx%d is dropped", format, width, height);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), GST_BUFFER_PTS (in));
  fail_unless (cuv_frames_equal (format, width, height, in, out),
      "%s %dx%d is changed", format, width, height);
}

static void
check_format (const gchar *name, const gchar *format)
{
  static const gint sizes[][2] = { { 1, 1 }, { 3, 3 }, { 17, 33 }, { 64, 48 },
    { 321, 7 } };
  g_autoptr (GstHarness) h = new_harness (name);

  /* all in one stream: the caps change between frames */
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    cuv_harness_caps (h, format, sizes[i][0], sizes[i][1]);
    push_and_compare (h, format, sizes[i][0], sizes[i][1], 2 * i);
    push_and_compare (h, format, sizes[i][0], sizes[i][1], 2 * i + 1);
  }
}

/* Returns the host memory formats of the sink template; for ANY a few common
 * ones. */
static GPtrArray *
formats_of (const gchar *name)
{
  static const gchar *const common[] = { "NV12", "I420", "GRAY8", "RGB",
    "P010_10LE" };
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  const GList *l = gst_element_factory_get_static_pad_templates (factory);
  GPtrArray *formats = g_ptr_array_new ();

  for (; l != NULL; l = l->next) {
    GstCaps *caps = gst_static_pad_template_get_caps (l->data);
    guint n = gst_caps_is_any (caps) ? 0 : gst_caps_get_size (caps);

    for (guint i = 0; i < n; i++) {
      const GValue *value =
          gst_structure_get_value (gst_caps_get_structure (caps, i), "format");

      if (((GstStaticPadTemplate *) l->data)->direction != GST_PAD_SINK
          || value == NULL || !GST_VALUE_HOLDS_LIST (value)
          || gst_caps_features_contains (
              gst_caps_get_features (caps, i), CUDA_FEATURE))
        continue;
      for (guint f = 0; f < gst_value_list_get_size (value); f++)
        g_ptr_array_add (formats,
            (gpointer) g_intern_string (
                g_value_get_string (gst_value_list_get_value (value, f))));
    }
    gst_caps_unref (caps);
  }
  for (guint i = 0; formats->len < G_N_ELEMENTS (common); i++)
    g_ptr_array_add (formats, (gpointer) common[i]);
  return formats;
}

CUV_LOOP_TEST (takes_every_format_and_size, names->len)
{
  GPtrArray *formats = formats_of (names->pdata[__i__]);
  guint n = 0;

  for (guint i = 0; i < formats->len; i++) {
    const GstVideoFormatInfo *info = gst_video_format_get_info (
        gst_video_format_from_string (formats->pdata[i]));

    /* opaque formats, and those that GStreamer cannot align */
    if (GST_VIDEO_FORMAT_INFO_IS_COMPLEX (info)
        || GST_VIDEO_FORMAT_INFO_IS_TILED (info)
        || GST_VIDEO_FORMAT_INFO_HAS_PALETTE (info))
      continue;
    check_format (names->pdata[__i__], formats->pdata[i]);
    n++;
  }
  fail_unless (n >= 5);
  g_ptr_array_unref (formats);
  finish ();
}

CUV_LOOP_TEST (format_changes_between_frames, names->len)
{
  static const gchar *const formats[] = { "NV12", "RGB", "GRAY8", "I420",
    "NV12" };
  GstHarness *h = new_harness (names->pdata[__i__]);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    cuv_harness_caps (h, formats[i], 64, 48);
    for (guint n = 0; n < 3; n++)
      push_and_compare (h, formats[i], 64, 48, 3 * i + n);
  }
  gst_harness_teardown (h);
  finish ();
}

CUV_LOOP_TEST (flushes, names->len)
{
  GstHarness *h = new_harness (names->pdata[__i__]);

  cuv_harness_caps (h, "NV12", 64, 48);
  for (guint i = 0; i < 3; i++) {
    push_and_compare (h, "NV12", 64, 48, i);
    cuv_harness_flush (h);
  }
  push_and_compare (h, "NV12", 64, 48, 0);
  gst_harness_teardown (h);
  finish ();
}

CUV_LOOP_TEST (passes_eos, names->len)
{
  GstHarness *h = new_harness (names->pdata[__i__]);
  GstEvent *event;
  gboolean ended = FALSE;

  cuv_harness_caps (h, "NV12", 64, 48);
  push_and_compare (h, "NV12", 64, 48, 0);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  while ((event = gst_harness_try_pull_event (h)) != NULL) {
    ended |= GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
  }
  fail_unless (ended);
  gst_harness_teardown (h);
  finish ();
}

CUV_LOOP_TEST (metas_are_kept, names->len)
{
  GstHarness *h = new_harness (names->pdata[__i__]);
  GstBuffer *out;

  cuv_harness_caps (h, "NV12", 64, 48);
  out = gst_harness_push_and_pull (h, cuv_frame_with_metas ());
  cuv_check_metas (names->pdata[__i__], out);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  finish ();
}

/* Frames are not copied even if they have another owner, whatever metas they
 * have. */
CUV_LOOP_TEST (analyzers_do_not_copy, names->len)
{
  GstHarness *h;
  GstBuffer *in, *out;

  if (!only_reads (names->pdata[__i__]))
    return;
  h = new_harness (names->pdata[__i__]);
  in = cuv_frame_with_metas ();
  cuv_harness_caps (h, "NV12", 64, 48);
  out = gst_harness_push_and_pull (h, gst_buffer_ref (in));
  fail_unless (cuv_frames_equal ("NV12", 64, 48, in, out));
  fail_unless (cuda
      || gst_buffer_peek_memory (in, 0) == gst_buffer_peek_memory (out, 0));
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  finish ();
}

/* Buffers without times, or too small for a frame, may cause an error but no
 * crash. */
CUV_LOOP_TEST (malformed_buffers_do_not_crash, names->len)
{
  GstHarness *h = new_harness (names->pdata[__i__]);
  GstBuffer *frame;

  cuv_harness_caps (h, "NV12", 64, 48);
  frame = cuv_frame_new ("NV12", 64, 48);
  GST_BUFFER_PTS (frame) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (frame) = GST_CLOCK_TIME_NONE;
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  gst_harness_push (h, gst_buffer_new_allocate (NULL, 10, NULL));
  gst_harness_push (h, gst_buffer_new ());
  gst_harness_teardown (h);
  finish ();
}

CUV_LOOP_TEST (two_pipelines_at_once, names->len)
{
  GstElement *pipelines[2];
  gchar *error;

  for (guint i = 0; i < 2; i++) {
    pipelines[i] =
        new_pipeline (names->pdata[__i__], "num-buffers=30", "sync=false");
    gst_element_set_state (pipelines[i], GST_STATE_PLAYING);
  }
  for (guint i = 0; i < 2; i++) {
    error = cuv_pipeline_play (pipelines[i]);
    fail_unless (error == NULL, "%s", error);
    gst_object_unref (pipelines[i]);
  }
  finish ();
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  cuda = g_getenv ("CUV_TEST_CUDA") != NULL;
  names = cuv_frame_element_names ();
  for (guint i = 0; i < names->len; i++)
    g_print ("%s ", (gchar *) names->pdata[i]);
  g_print ("\n");
}
