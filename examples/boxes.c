/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the faces in a picture or video: boxes FILE
 * cc -o boxes boxes.c $(pkg-config --cflags --libs gstreamer-video-1.0) */
#include <gst/video/video.h>

static void
print_boxes (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer unused)
{
  GstVideoRegionOfInterestMeta *box;
  gpointer state = NULL;

  while ((box = (gpointer) gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)))
    g_print ("%s %u,%u %ux%u\n", g_quark_to_string (box->roi_type), box->x,
        box->y, box->w, box->h);
}

int
main (int argc, char **argv)
{
  GError *error = NULL;

  gst_init (&argc, &argv);
  GstElement *line = gst_parse_launch (
      "filesrc name=file ! decodebin ! videoconvert ! "
      "waldboostdetect label=face "
      "model=haarcascade_frontalface_alt2.xml ! fakesink name=sink "
      "signal-handoffs=true",
      &error);
  if (error != NULL || argc != 2) {
    g_printerr ("%s\n", error != NULL ? error->message : "usage: boxes FILE");
    return 2;
  }
  GstElement *file = gst_bin_get_by_name (GST_BIN (line), "file");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (line), "sink");
  g_object_set (file, "location", argv[1], NULL);
  g_signal_connect (sink, "handoff", G_CALLBACK (print_boxes), NULL);
  gst_element_set_state (line, GST_STATE_PLAYING);
  GstMessage *end = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (line),
      GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (end) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (end, &error, NULL);
    g_printerr ("%s: %s\n", argv[1], error->message);
  }
  gst_element_set_state (line, GST_STATE_NULL);
  return error != NULL;
}
