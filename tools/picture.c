/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture.h"

#include <gst/app/gstappsink.h>
#include <unistd.h>
#include "cuvfile.h"

#define DECODER                                                                \
  "filesrc name=file ! decodebin name=decode "                                 \
  "videoflip name=turn video-direction=auto ! videoconvert "                   \
  "! appsink name=out sync=false max-buffers=4 "                               \
  "caps=\"video/x-raw,format={NV12,I420,YV12,"                                 \
  "NV21,YUY2,UYVY,RGB,BGR,RGBx,BGRx,RGBA,BGRA,GRAY8}\""
enum { TIMEOUT = 60 }; /* seconds per picture */

gchar *
picture_error (GstMessage *message)
{
  GError *error;
  gchar *text;

  gst_message_parse_error (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  return text;
}

/* videoflip keeps the previous orientation if the next picture has none. */
static void
reset_turn (GstPad *sink)
{
  GstTagList *upright =
      gst_tag_list_new (GST_TAG_IMAGE_ORIENTATION, "rotate-0", NULL);

  gst_pad_send_event (sink, gst_event_new_stream_start ("upright"));
  gst_pad_send_event (sink, gst_event_new_tag (upright));
}

/* Puts jpegparse, which reads the EXIF orientation, before the decoders: by
 * itself decodebin uses it in few versions of GStreamer. */
G_GNUC_BEGIN_IGNORE_DEPRECATIONS
static GValueArray *
sort_factories (
    GstElement *decode, GstPad *pad, GstCaps *caps, GValueArray *factories)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  GstElementFactory *parser = gst_element_factory_find ("jpegparse");
  GValueArray *sorted = NULL;
  GValue value = G_VALUE_INIT;
  gboolean parsed = FALSE;

  gst_structure_get_boolean (structure, "parsed", &parsed);
  if (parser != NULL && !parsed
      && gst_structure_has_name (structure, "image/jpeg")) {
    g_value_init (&value, G_TYPE_FROM_INSTANCE (parser));
    g_value_set_object (&value, parser);
    sorted = g_value_array_prepend (g_value_array_copy (factories), &value);
    g_value_unset (&value);
  }
  gst_clear_object (&parser);
  return sorted;
}
G_GNUC_END_IGNORE_DEPRECATIONS

static void
link_picture (GstElement *decode, GstPad *pad, gpointer turn)
{
  GstPad *sink = gst_element_get_static_pad (turn, "sink");

  if (!gst_pad_is_linked (sink)) { /* ignores audio */
    reset_turn (sink);
    gst_pad_link (pad, sink);
  }
  gst_object_unref (sink);
}

GstElement *
picture_decoder_new (const gchar *program)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (DECODER, &error), *decode, *turn;

  if (error != NULL) {
    g_printerr ("%s: %s: install GStreamer's base and good plugins\n", program,
        error->message);
    g_error_free (error);
    gst_clear_object (&pipeline);
    return NULL;
  }
  decode = gst_bin_get_by_name (GST_BIN (pipeline), "decode");
  turn = gst_bin_get_by_name (GST_BIN (pipeline), "turn");
  g_signal_connect (decode, "autoplug-sort", G_CALLBACK (sort_factories), NULL);
  g_signal_connect_object (
      decode, "pad-added", G_CALLBACK (link_picture), turn, 0);
  gst_object_unref (turn);
  gst_object_unref (decode);
  return pipeline;
}

static GstSample *
decode_first (GstElement *pipeline, const gchar *path, gchar **problem)
{
  GstElement *file = gst_bin_get_by_name (GST_BIN (pipeline), "file");
  GstElement *out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstSample *sample = NULL;
  GstMessage *message;

  g_object_set (file, "location", path, NULL);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  message = gst_bus_timed_pop_filtered (bus, TIMEOUT * GST_SECOND,
      GST_MESSAGE_ERROR | GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_EOS);
  if (message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    *problem = picture_error (message);
  else if (message != NULL)
    sample = gst_app_sink_try_pull_preroll (GST_APP_SINK (out), 0);
  else
    *problem = g_strdup_printf ("it was not decoded within %d s", TIMEOUT);
  if (sample == NULL && *problem == NULL)
    *problem = g_strdup ("it contains no picture");
  gst_clear_message (&message);
  /* after an error some elements may not return from PAUSED to READY */
  gst_element_set_state (
      pipeline, sample != NULL ? GST_STATE_READY : GST_STATE_NULL);
  gst_bus_set_flushing (bus, TRUE); /* drops messages about this picture */
  gst_bus_set_flushing (bus, FALSE);
  gst_object_unref (bus);
  gst_object_unref (out);
  gst_object_unref (file);
  return sample;
}

/* NULL at the end, after an error, which is *message then, or if nothing comes
 * within TIMEOUT. */
static GstSample *
next_sample (GstAppSink *out, GstBus *bus, GstMessage **message)
{
  const gint64 end = g_get_monotonic_time () + TIMEOUT * G_USEC_PER_SEC;
  GstSample *sample = NULL;

  while (sample == NULL && *message == NULL && !gst_app_sink_is_eos (out)
      && g_get_monotonic_time () < end) {
    sample = gst_app_sink_try_pull_sample (out, GST_SECOND / 50);
    if (sample == NULL)
      *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  }
  return sample;
}

/* videoflip keeps the tag that it has turned by. */
static GstSample *
note_orientation (GstElement *pipeline, GstSample *sample)
{
  GstElement *turn = gst_bin_get_by_name (GST_BIN (pipeline), "turn");
  GstPad *sink = gst_element_get_static_pad (turn, "sink");
  GstVideoOrientationMethod method = GST_VIDEO_ORIENTATION_IDENTITY;
  GstTagList *tags;
  GstEvent *event;

  for (guint i = 0;
       (event = gst_pad_get_sticky_event (sink, GST_EVENT_TAG, i)) != NULL;
       i++) {
    gst_event_parse_tag (event, &tags);
    gst_video_orientation_from_tag (tags, &method);
    gst_event_unref (event);
  }
  gst_object_unref (sink);
  gst_object_unref (turn);
  sample = gst_sample_make_writable (sample);
  gst_sample_set_info (sample,
      gst_structure_new ("picture", "orientation",
          GST_TYPE_VIDEO_ORIENTATION_METHOD, method, NULL));
  return sample;
}

GstVideoOrientationMethod
picture_orientation (GstSample *frame)
{
  const GstStructure *info = gst_sample_get_info (frame);
  gint method = GST_VIDEO_ORIENTATION_IDENTITY;

  if (info != NULL)
    gst_structure_get_enum (
        info, "orientation", GST_TYPE_VIDEO_ORIENTATION_METHOD, &method);
  return (GstVideoOrientationMethod) method;
}

static gboolean
visit_frames (GstElement *pipeline, const gchar *path,
    gboolean (*visit) (gpointer data, GstSample *sample, gint64 frame),
    gpointer data, gchar **problem)
{
  GstElement *file = gst_bin_get_by_name (GST_BIN (pipeline), "file");
  GstElement *out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = NULL;
  GstSample *sample;
  gboolean more = TRUE;
  gint64 frame = 0;

  g_object_set (file, "location", path, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (more && (sample = next_sample (GST_APP_SINK (out), bus, &message))) {
    sample = note_orientation (pipeline, sample);
    more = visit (data, sample, frame++);
    gst_sample_unref (sample);
  }
  if (message == NULL)
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  if (message != NULL)
    *problem = picture_error (message);
  else if (frame == 0)
    *problem = g_strdup ("it contains no picture");
  else if (more && !gst_app_sink_is_eos (GST_APP_SINK (out)))
    *problem = g_strdup_printf ("frame %" G_GINT64_FORMAT
                                " was not decoded within %d s",
        frame, TIMEOUT);
  gst_clear_message (&message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (out);
  gst_object_unref (file);
  return *problem == NULL;
}

/* For filesrc, which waits for a FIFO's writer. */
static gboolean
is_readable (const gchar *path, gchar **problem)
{
  const char *reason;
  const int fd = cuv_file_open (path, NULL, &reason);

  if (fd < 0)
    *problem = g_strdup (reason);
  else
    close (fd);
  return fd >= 0;
}

GstSample *
picture_decode (GstElement *decoder, const gchar *path, gchar **problem)
{
  return is_readable (path, problem) ? decode_first (decoder, path, problem)
                                     : NULL;
}

gboolean
picture_visit_frames (GstElement *decoder, const gchar *path,
    gboolean (*visit) (gpointer data, GstSample *sample, gint64 frame),
    gpointer data, gchar **problem)
{
  return is_readable (path, problem)
      && visit_frames (decoder, path, visit, data, problem);
}
