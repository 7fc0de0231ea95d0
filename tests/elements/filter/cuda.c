/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvFilter with CUDA frames on a device without kernels (the stand-in
 * driver): it analyses on the CPU and leaves frames in CUDA memory. */
#include "probe.h"

static guint64
luma_sum (GstBuffer *buffer)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  guint64 sum = 0;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, 64, 48);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (gint y = 0; y < 48; y++)
    for (gint x = 0; x < 64; x++)
      sum += ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (
          &frame, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + x];
  gst_video_frame_unmap (&frame);
  return sum;
}

CUV_TEST (cuda_frames_are_analysed_on_the_cpu)
{
  GstHarness *h;
  CuvProbe *probe;
  GstElement *element;

  cuv_probe_register ();
  h = gst_harness_new_parse (
      "cuvcudaupload ! cuvprobe name=probe ! cuvcudadownload");
  element = gst_bin_get_by_name (GST_BIN (h->element), "probe");
  probe = (CuvProbe *) element;
  cuv_harness_caps (h, "NV12", 64, 48);
  for (guint n = 0; n < 20; n++) {
    GstBuffer *in = cuv_probe_frame (n), *out;
    gint made = cuv_fake_counts ().device_blocks_made;

    out = gst_harness_push_and_pull (h, gst_buffer_ref (in));
    fail_unless (cuv_pad_has_cuda (element, "src"));
    fail_if (probe->cuda);
    fail_unless_equals_uint64 (probe->luma, luma_sum (in));
    fail_unless (cuv_frames_equal ("NV12", 64, 48, in, out));
    fail_unless (
        gst_buffer_get_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
    if (n > 0)
      fail_unless_equals_int (cuv_fake_counts ().device_blocks_made, made);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  fail_unless_equals_int (probe->n_configure, 1);
  gst_object_unref (element);
  gst_harness_teardown (h);
  cuv_fake_check_clean ();
}

static void
find_old_driver (GstDebugCategory *category, GstDebugLevel level,
    const gchar *file, const gchar *function, gint line, GObject *object,
    GstDebugMessage *message, gpointer n)
{
  if (level == GST_LEVEL_WARNING
      && strstr (gst_debug_message_get (message), "the driver is too old"))
    g_atomic_int_inc ((gint *) n);
}

/* The stand-in driver's version is 11.0. */
CUV_TEST (old_driver_is_reported)
{
  GstHarness *h;
  gint n = 0;

  cuv_probe_register ();
  gst_debug_add_log_function (find_old_driver, &n, NULL);
  h = gst_harness_new_parse ("cuvcudaupload ! cuvprobe name=probe");
  gst_debug_set_threshold_for_name ("cuvcontext", GST_LEVEL_WARNING);
  cuv_harness_caps (h, "NV12", 64, 48);
  gst_buffer_unref (gst_harness_push_and_pull (h, cuv_probe_frame (0)));
  gst_harness_teardown (h);
  gst_debug_remove_log_function (find_old_driver);
  fail_unless (g_atomic_int_get (&n) > 0);
}

/* Blocking synchronisation is set once, and also for a decoder that shares the
 * context. */
CUV_TEST (context_uses_blocking_sync)
{
  const gint before = cuv_fake_counts ().blocking_sync_contexts;
  g_autoptr (GstHarness) h = NULL;

  cuv_probe_register ();
  h = gst_harness_new_parse (
      "cuvcudaupload ! cuvprobe ! cuvprobe ! cuvcudadownload");
  cuv_harness_caps (h, "NV12", 64, 48);
  for (guint n = 0; n < 3; n++)
    gst_buffer_unref (gst_harness_push_and_pull (h, cuv_probe_frame (n)));
  fail_unless_equals_int (
      cuv_fake_counts ().blocking_sync_contexts, before + 1);
}

/* Written pixels reach the download. The tee's other branch also holds the
 * frame. */
CUV_TEST (cuda_frames_are_written)
{
  GstElement *element;
  GstHarness *h;

  cuv_probe_register ();
  h = gst_harness_new_parse ("cuvcudaupload ! tee name=t ! queue "
                             "! cuvprobe name=probe ! cuvcudadownload "
                             "t. ! queue ! fakesink async=false");
  element = gst_bin_get_by_name (GST_BIN (h->element), "probe");
  g_object_set (element, "writes", TRUE, NULL);
  cuv_harness_caps (h, "NV12", 64, 48);
  for (guint n = 0; n < 10; n++) {
    GstBuffer *in = cuv_probe_frame (n), *out;

    out = gst_harness_push_and_pull (h, gst_buffer_ref (in));
    fail_unless (cuv_pad_has_cuda (element, "src"));
    fail_unless_equals_uint64 (luma_sum (out), 64 * 48 * 255 - luma_sum (in));
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  gst_object_unref (element);
  gst_harness_teardown (h);
  cuv_fake_check_clean ();
}
