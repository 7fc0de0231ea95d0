/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionoverlay on CUDA memory of the stand-in driver, which runs no kernels:
 * it draws on the CPU, and the frame stays complete. */
#include "config.h"
#include "scene.h"

#define WITH_GPU "cuvcudaupload ! visionoverlay name=o ! cuvcudadownload"

static void
check_picture (const gchar *format, gint width, gint height, gboolean shared,
    const gchar *fill)
{
  GstHarness *host = gst_harness_new_parse ("visionoverlay name=o");
  GstHarness *device = gst_harness_new_parse (WITH_GPU);
  GstElement *on_host = gst_harness_find_element (host, "visionoverlay");
  GstElement *overlay = gst_harness_find_element (device, "visionoverlay");
  GstBuffer *in = cuv_frame_new (format, width, height);
  GstBuffer *copy = gst_buffer_copy_deep (in), *expected, *out;

  gst_util_set_object_arg (G_OBJECT (on_host), "fill", fill);
  gst_util_set_object_arg (G_OBJECT (overlay), "fill", fill);
  cuv_harness_caps (host, format, width, height);
  cuv_harness_caps (device, format, width, height);
  overlay_add_region (in, "face", 5, 30, 31, 23, 0.5);
  expected = overlay_draw (host, in);
  for (guint i = 0; i < 3; i++) {
    gst_harness_push (
        device, shared ? gst_buffer_ref (in) : gst_buffer_copy_deep (in));
    out = gst_harness_pull (device);
    fail_unless (cuv_pad_has_cuda (overlay, "sink"));
    fail_unless (
        cuv_frames_equal (format, width, height, out, expected), "%s", format);
    fail_unless (cuv_frames_equal (format, width, height, in, copy));
    gst_buffer_unref (out);
  }
  gst_buffer_unref (expected);
  gst_buffer_unref (copy);
  gst_buffer_unref (in);
  gst_object_unref (overlay);
  gst_object_unref (on_host);
  gst_harness_teardown (host);
  gst_harness_teardown (device);
  cuv_fake_check_clean ();
}

CUV_TEST (cuda_frames_look_as_on_the_cpu)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    check_picture (formats[i], 99, 76, FALSE, "none");
    check_picture (formats[i], 99, 76, TRUE, "none");
    check_picture (formats[i], 99, 76, i % 2, "blur");
  }
}

/* Another branch of a tee also holds the frame. */
CUV_TEST (shared_cuda_frame_is_copied)
{
  GstHarness *h = gst_harness_new_parse (
      "cuvcudaupload ! tee name=t ! queue ! "
      "visionoverlay fill=solid ! fakesink async=false sync=false "
      "t. ! queue ! cuvcudadownload");
  GstBuffer *in = cuv_frame_new ("NV12", 64, 48), *out;

  cuv_harness_caps (h, "NV12", 64, 48);
  for (guint i = 0; i < 10; i++) {
    GstBuffer *copy = gst_buffer_copy_deep (in);

    overlay_add_region (copy, "face", 10, 20, 30, 20, 0.9);
    gst_harness_push (h, copy);
    out = gst_harness_pull (h);
    fail_unless (cuv_frames_equal ("NV12", 64, 48, in, out), "frame %u", i);
    gst_buffer_unref (out);
  }
  gst_buffer_unref (in);
  gst_harness_teardown (h);
  cuv_fake_check_clean ();
}

/* Pushes a frame into a pipeline in which allocation n fails. Returns
 * whether a frame came out, with the region hidden; otherwise visionoverlay
 * may have posted the error. */
static gboolean
is_passed_on (gint n, gboolean *by_overlay)
{
  GstHarness *h = gst_harness_new_parse ("cuvcudaupload ! visionoverlay");
  GstElement *overlay = gst_harness_find_element (h, "visionoverlay");
  GstBus *bus = cuv_harness_watch (h);
  GstBuffer *in = cuv_frame_new ("NV12", 64, 48), *out;
  GstMessage *message;

  g_object_set (overlay, "draw-boxes", FALSE, "draw-labels", FALSE, NULL);
  gst_util_set_object_arg (G_OBJECT (overlay), "fill", "solid");
  overlay_add_region (in, "face", 0, 0, 64, 48, -1);
  cuv_fake_fail_allocation (n);
  cuv_harness_caps (h, "NV12", 64, 48);
  gst_harness_push (h, in);
  cuv_fake_fail_allocation (-1);
  out = gst_harness_try_pull (h);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless ((out != NULL) == (message == NULL), "after %d allocations", n);
  for (gint i = 0; out != NULL && i < 64 * 48; i++)
    fail_unless_equals_int (overlay_sample (h, out, 0, i % 64, i / 64), 16);
  if (message != NULL) {
    *by_overlay =
        *by_overlay || GST_MESSAGE_SRC (message) == GST_OBJECT (overlay);
    gst_message_unref (message);
  } else {
    gst_buffer_unref (out);
  }
  cuv_harness_unwatch (h, bus);
  gst_object_unref (overlay);
  gst_harness_teardown (h);
  cuv_fake_check_clean ();
  return message == NULL;
}

/* Whichever allocation fails, no frame passes without its region hidden. */
CUV_TEST (out_of_memory_passes_nothing_on)
{
  gboolean by_overlay = FALSE;
  gint n = 0;

  while (n < 50 && !is_passed_on (n, &by_overlay))
    n++;
  fail_unless (n > 2 && n < 50, "%d allocations suffice", n);
  fail_unless (by_overlay, "visionoverlay allocates nothing");
}
