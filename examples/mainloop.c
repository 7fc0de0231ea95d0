/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts faces in a video, in a program with a GMainLoop, as desktop programs
 * and services have: mainloop FILE
 * cc -o mainloop mainloop.c $(pkg-config --cflags --libs gstreamer-app-1.0 \
 *   gstreamer-video-1.0) */
#include <glib-unix.h>
#include <gst/app/app.h>
#include <gst/video/video.h>

typedef struct {
  GMainLoop *loop;
  GstElement *line;
  gint n_frames, n_faces; /* atomic: counted in the streaming thread */
  int status;
} App;

/* Called in the streaming thread: a slow function delays a video, or drops
 * frames of a camera. */
static GstFlowReturn
take_frame (GstAppSink *sink, gpointer data)
{
  GstSample *sample = gst_app_sink_pull_sample (sink);
  App *app = data;
  gpointer state = NULL;

  if (sample == NULL)
    return GST_FLOW_EOS;
  while (gst_buffer_iterate_meta_filtered (gst_sample_get_buffer (sample),
      &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    g_atomic_int_inc (&app->n_faces);
  g_atomic_int_inc (&app->n_frames);
  gst_sample_unref (sample);
  return GST_FLOW_OK;
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  App *app = data;
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("%s: %s\n", GST_MESSAGE_SRC_NAME (message), error->message);
    g_error_free (error);
    app->status = 1;
    g_main_loop_quit (app->loop);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS) {
    g_main_loop_quit (app->loop);
  }
  return G_SOURCE_CONTINUE;
}

/* The main loop remains free for the rest of the program. */
static gboolean
print_counts (gpointer data)
{
  App *app = data;

  g_print ("%d frames, %d faces\n", g_atomic_int_get (&app->n_frames),
      g_atomic_int_get (&app->n_faces));
  return G_SOURCE_CONTINUE;
}

static gboolean
stop (gpointer data)
{
  App *app = data;

  gst_element_send_event (app->line, gst_event_new_eos ());
  return G_SOURCE_CONTINUE;
}

static GstElement *
make_line (App *app, const char *path, GError **error)
{
  GstAppSinkCallbacks callbacks = { .new_sample = take_frame };
  GstElement *line = gst_parse_launch (
      "filesrc name=file ! decodebin ! videoconvert ! waldboostdetect "
      "label=face model=haarcascade_frontalface_alt2.xml ! "
      "appsink name=sink sync=false max-buffers=2",
      error);

  if (line == NULL)
    return NULL;
  gst_child_proxy_set (GST_CHILD_PROXY (line), "file::location", path, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (line), "sink");
  gst_app_sink_set_callbacks (GST_APP_SINK (sink), &callbacks, app, NULL);
  gst_object_unref (sink);
  return line;
}

int
main (int argc, char **argv)
{
  App app = { .loop = g_main_loop_new (NULL, FALSE) };
  GError *error = NULL;

  gst_init (&argc, &argv);
  app.line = argc == 2 ? make_line (&app, argv[1], &error) : NULL;
  if (app.line == NULL) {
    g_printerr (
        "%s\n", error != NULL ? error->message : "usage: mainloop FILE");
    return 2;
  }
  gst_bus_add_watch (GST_ELEMENT_BUS (app.line), on_message, &app);
  g_timeout_add_seconds (1, print_counts, &app);
  g_unix_signal_add (SIGINT, stop, &app);
  gst_element_set_state (app.line, GST_STATE_PLAYING);
  g_main_loop_run (app.loop);
  gst_element_set_state (app.line, GST_STATE_NULL);
  print_counts (&app);
  gst_object_unref (app.line);
  g_main_loop_unref (app.loop);
  return app.status;
}
