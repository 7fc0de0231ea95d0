/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints as JSON the time that visionwebsink takes for frames in CUDA memory,
 * in the streaming thread and in the encoder, for 0, 1 and 50 viewers. Needs a
 * device: exits 77 without. */
#include "context/gstcuvcontext.h"
#include "watch.h"

#define N_FRAMES 150
#define MOST 50

static gint stopping;

/* Thread of a viewer that accepts all frames. */
static gpointer
view (gpointer data)
{
  GInputStream *stream = g_io_stream_get_input_stream (G_IO_STREAM (data));
  gchar buffer[65536];

  while (!g_atomic_int_get (&stopping)
      && g_input_stream_read (stream, buffer, sizeof buffer, NULL, NULL) > 0) {
  }
  g_object_unref (data);
  return NULL;
}

static void
play (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    g_error ("the pipeline failed");
}

static void
report (GstElement *sink, guint n_viewers)
{
  guint64 encoded = cuv_stat (sink, "encoded");

  g_print ("{\"name\": \"web-sink-cuda-NV12-1080p-%u\", \"render us\": %.1f, "
           "\"encode us\": %.1f, \"encoded\": %u, \"sent\": %u}\n",
      n_viewers, (gdouble) cuv_stat (sink, "render-microseconds") / N_FRAMES,
      encoded == 0 ? 0
                   : (gdouble) cuv_stat (sink, "encode-microseconds") / encoded,
      (guint) encoded, (guint) cuv_stat (sink, "sent"));
}

static void
measure (guint n_viewers)
{
  g_autofree gchar *line = g_strdup_printf (
      "videotestsrc is-live=true num-buffers=%d ! video/x-raw,format=NV12,"
      "width=1920,height=1080,framerate=30/1 ! cuvcudaupload ! visionwebsink "
      "name=sink port=0 async=false",
      N_FRAMES);
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, NULL);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GThread *threads[MOST];

  g_atomic_int_set (&stopping, FALSE);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  for (guint i = 0; i < n_viewers; i++)
    threads[i] =
        g_thread_new ("viewer", view, web_watch (sink, "/stream.mjpg"));
  play (pipeline);
  report (sink, n_viewers);
  g_atomic_int_set (&stopping, TRUE);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  for (guint i = 0; i < n_viewers; i++)
    g_thread_join (threads[i]);
}

CUV_TEST (test_cost)
{
  measure (0);
  measure (1);
  measure (MOST);
}

CUV_BEFORE_TESTS (need_device, tcase)
{
  if (!gst_cuv_cuda_usable ())
    cuv_tests_skip ("no CUDA device");
}
