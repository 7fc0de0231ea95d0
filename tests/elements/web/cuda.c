/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionwebsink with frames in CUDA memory, of the stand-in driver or a GPU:
 * the picture is byte for byte that of frames in host memory, unless nvJPEG
 * compresses it; web-gpu compares nvJPEG with the CPU. */
#include "config.h"
#include "device.h"
#include "watch.h"

static GBytes *
picture_of (GstBuffer *frame, const gchar *format, gint width, gint height,
    gboolean on_device)
{
  GstElement *sink = web_sink_new ("sync=false");
  g_autoptr (GstElement) bin = gst_bin_new (NULL);
  GstElement *upload =
      gst_element_factory_make (on_device ? "cuvcudaupload" : "identity", NULL);
  GSocketConnection *viewer;
  g_autoptr (GstHarness) h = NULL;
  g_autoptr (GstPad) pad = NULL;
  GBytes *body;

  gst_bin_add_many (GST_BIN (bin), upload, sink, NULL);
  gst_element_link (upload, sink);
  pad = gst_element_get_static_pad (upload, "sink");
  gst_element_add_pad (bin, gst_ghost_pad_new ("sink", pad));
  h = gst_harness_new_with_element (bin, "sink", NULL);
  cuv_harness_caps (h, format, width, height);
  viewer = web_watch (sink, "/frame.jpg");
  for (guint i = 0; i < 2; i++)
    fail_unless_equals_int (
        gst_harness_push (h, gst_buffer_ref (frame)), GST_FLOW_OK);
  fail_unless (cuv_pad_has_cuda (sink, "sink") == on_device);
  body = web_read_body (viewer);
  fail_unless (g_bytes_get_size (body) > 100);
  g_object_unref (viewer);
  return body;
}

static void
check_picture (GBytes *device, GBytes *host, const gchar *format)
{
  gsize n = g_bytes_get_size (device), wanted = g_bytes_get_size (host);

  if (use_cuda && HAVE_NVJPEG)
    fail_unless (n > wanted / 2 && n < wanted * 2, "%s: %u bytes, not %u",
        format, (guint) n, (guint) wanted);
  else
    fail_unless (g_bytes_equal (host, device), "%s", format);
}

CUV_TEST (pictures_are_those_of_host_memory)
{
  static const gchar *const formats[] = { "NV12", "I420", "YUY2", "RGB", "BGRx",
    "RGBA" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstBuffer *frame = cuv_frame_new (formats[i], 99, 76);
    GBytes *host = picture_of (frame, formats[i], 99, 76, FALSE);
    GBytes *device = picture_of (frame, formats[i], 99, 76, TRUE);

    check_picture (device, host, formats[i]);
    g_bytes_unref (host);
    g_bytes_unref (device);
    gst_buffer_unref (frame);
  }
  if (!use_cuda)
    cuv_fake_check_clean ();
}
