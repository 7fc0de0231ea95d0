/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudaupload and cudadownload without a driver: frames pass untouched. */
#include "cuvelements.h"

static void
check_untouched (
    const gchar *line, const gchar *format, gint width, gint height)
{
  g_autoptr (GstHarness) h = gst_harness_new_parse (line);
  g_autoptr (GstBuffer) in = cuv_frame_new (format, width, height);
  g_autoptr (GstCaps) sent = NULL;
  g_autoptr (GstCaps) got = NULL;
  g_autoptr (GstBuffer) out = NULL;

  cuv_harness_caps (h, format, width, height);
  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_ref (in)), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (out == in, "%s copies %s", line, format);
  sent = gst_pad_get_current_caps (h->srcpad);
  got = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_caps_is_equal (sent, got));
}

CUV_TEST (frames_pass_untouched)
{
  static const gchar *const formats[] = { "NV12", "I420", "GRAY8", "BGRx",
    "AYUV64", "YUY2" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    check_untouched ("cudaupload", formats[i], 64, 48);
    check_untouched ("cudadownload", formats[i], 64, 48);
    check_untouched ("cuvcudaupload ! cuvcudadownload", formats[i], 17, 33);
    check_untouched ("cuvcudaupload", formats[i], 1, 1);
  }
}

CUV_TEST (stats_count_frames)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (
      "videotestsrc num-buffers=5 ! cuvcudaupload name=up ! fakesink");
  g_autoptr (GstElement) up = gst_bin_get_by_name (GST_BIN (pipeline), "up");

  fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
  fail_unless_equals_uint64 (cuv_stat (up, "frames"), 5);
  fail_unless_equals_uint64 (cuv_stat (up, "copied"), 0);
  fail_unless_equals_uint64 (cuv_stat (up, "bytes"), 0);
}

/* A device that cannot be opened causes a warning; the pipeline still runs. */
CUV_TEST (unavailable_device_warns)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (
      "videotestsrc num-buffers=2 ! cuvcudaupload cuda-device-id=0 ! fakesink");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *warning;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  message = gst_bus_timed_pop_filtered (
      bus, 30 * GST_SECOND, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &warning, NULL);
  fail_unless (strstr (warning->message, "cuda-device-id is 0") != NULL);
  g_error_free (warning);
  gst_message_unref (message);
  gst_object_unref (bus);
  fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
}

static gboolean
takes_video (const gchar *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  g_autoptr (GstCaps) video = gst_caps_new_empty_simple ("video/x-raw");
  gboolean takes = gst_element_factory_can_sink_any_caps (factory, video)
      && gst_element_factory_get_num_pad_templates (factory) == 2;

  return takes;
}

CUV_TEST (every_element_runs_between_upload_and_download)
{
  g_autoptr (GPtrArray) names = cuv_element_names ();
  guint n = 0;

  for (guint i = 0; i < names->len; i++) {
    gchar *line = g_strdup_printf ("videotestsrc num-buffers=3 ! cudaupload ! "
                                   "%s ! cudadownload ! fakesink",
        (gchar *) names->pdata[i]);

    if (takes_video (names->pdata[i])) {
      cuv_play (line);
      n++;
    }
    g_free (line);
  }
  g_print ("%u elements between upload and download\n", n);
  fail_unless (n > 4);
}
