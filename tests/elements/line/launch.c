/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pipelines as text for gst-launch-1.0: parsing the text gives the same
 * pipeline. */
#include "cuvelements.h"
#include "launch/launch.h"

/* Takes ownership of the result of a parser. */
static GstElement *
in_pipeline (GstElement *parsed, const GError *error, const gchar *text)
{
  GstElement *pipeline = parsed;

  fail_unless (error == NULL, "%s: %s", text, error ? error->message : "");
  if (G_OBJECT_TYPE (parsed) != GST_TYPE_PIPELINE) {
    pipeline = gst_pipeline_new (NULL);
    gst_bin_add (GST_BIN (pipeline), parsed);
  }
  return pipeline;
}

static GstElement *
parse (const gchar *text)
{
  g_autoptr (GError) error = NULL;

  return in_pipeline (gst_parse_launch (text, &error), error, text);
}

/* As gst-launch-1.0 in a shell. */
static GstElement *
parse_in_shell (const gchar *text)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) words = NULL;

  fail_unless (g_shell_parse_argv (text, NULL, &words, &error), "%s", text);
  return in_pipeline (
      gst_parse_launchv ((const gchar **) words, &error), error, text);
}

static gchar *
text_of (GstElement *pipeline)
{
  g_autofree gchar *notes = NULL;
  gchar *text = gst_cuv_launch_text (GST_BIN (pipeline), &notes);

  fail_unless (notes == NULL || strstr (notes, "is not linked") != NULL,
      "%s: %s", text, notes);
  return text;
}

/* The links and properties of a pipeline that text_of() does not write. */
static void
expect_again (GstElement *pipeline, const gchar *expected, gboolean preroll)
{
  g_autofree gchar *text = NULL;

  if (preroll) {
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    fail_unless_equals_int (
        gst_element_get_state (pipeline, NULL, NULL, 60 * GST_SECOND),
        GST_STATE_CHANGE_SUCCESS);
  }
  text = text_of (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  fail_unless_equals_string (text, expected);
}

static void
round_trip (const gchar *line, gboolean preroll)
{
  expect_again (parse (line), line, preroll);
  expect_again (parse_in_shell (line), line, preroll);
}

CUV_TEST (links)
{
  static const gchar *const lines[] = {
    "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=48,"
    "framerate=30/1 ! videoconvert ! fakesink sync=true",
    "videotestsrc pattern=ball ! tee name=t ! queue ! fakesink t. ! queue "
    "max-size-time=5 ! identity ! fakesink name=last",
    "videotestsrc ! tee name=t ! video/x-raw,width=64 ! fakesink t. ! "
    "video/x-raw,width=64 ! fakesink",
    "videotestsrc ! .sink_0 compositor name=mix background=black "
    "sink_0::zorder=1 sink_1::zorder=2 sink_1::xpos=10 ! fakesink "
    "audiotestsrc volume=0.1 ! fakesink videotestsrc is-live=true ! mix.sink_1",
    "videotestsrc ! tee name=t ! .sink_0 funnel name=f ! fakesink t. ! "
    "f.sink_1 t. ! queue ! f.sink_2",
    "videotestsrc ! .video_0 matroskamux name=mux ! fakesink audiotestsrc ! "
    "mux.audio_0",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    round_trip (lines[i], FALSE);
}

#define MEGAMIND "/usr/share/doc/opencv-doc/examples/data/Megamind.avi"

/* Pads that come later. */
CUV_TEST (delayed_links)
{
  static const gchar *const lines[] = {
    "filesrc location=" MEGAMIND " ! decodebin ! videoconvert ! fakesink",
    "filesrc location=" MEGAMIND " ! decodebin name=d .src_0 ! "
    "videoconvert ! video/x-raw,format=RGB ! fakesink d.src_1 ! fakesink",
    "filesrc location=" MEGAMIND " ! avidemux .video_0 ! fakesink",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    round_trip (lines[i], TRUE);
}

CUV_TEST (values)
{
  static const gchar *const lines[] = {
    "aspectratiocrop aspect-ratio=16/9",
    "playbin flags=video+soft-volume",
    "playbin uri=file:///a%20b flags=0x00000000",
    "audiotestsrc freq=1e-10 volume=0.1",
    "videotestsrc pattern=ball is-live=true foreground-color=5",
    "identity name=\"my cam & \\$HOME\"",
    "identity name=\"front! door\"",
    "capsfilter caps=\"video/x-raw(memory:X), width=(int)[ 1, 5 ]\"",
    "visionzones name=zones "
    "zones=\"\\\"{\\\\\\\"zones\\\\\\\": [{\\\\\\\"name\\\\\\\": \\\\\\\"Dad's "
    "\\\\\\\\\\\\\\\"door\\\\\\\\\\\\\\\"\\\\\\\"}]}\\\"\"",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    round_trip (lines[i], FALSE);
}

static void
expect_location (GstElement *pipeline, const gchar *expected)
{
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  g_autofree gchar *location = NULL;

  g_object_get (sink, "location", &location, NULL);
  fail_unless_equals_string (location, expected);
  gst_object_unref (pipeline);
}

/* Any text comes back. */
CUV_TEST (texts)
{
  static const gchar *const parts[] = { "a", "b", " ", "\"", "'", "\\", "!",
    "$", "`", "\t", "\n", ";", "#", "(", "{", "}", "=", ",", ".", "<", "&", "|",
    "*", "?", "%", "@", "\xc3\xa4", ":", "/", "-" };

  for (guint i = 0; i < 2000; i++) {
    g_autoptr (GString) value = g_string_new (NULL);
    g_autofree gchar *text = NULL;
    GstElement *pipeline = parse ("filesink name=s"), *sink;

    for (gint n = g_random_int_range (1, 9); n > 0; n--)
      g_string_append (
          value, parts[g_random_int_range (0, G_N_ELEMENTS (parts))]);
    sink = gst_bin_get_by_name (GST_BIN (pipeline), "s");
    g_object_set (sink, "location", value->str, NULL);
    gst_object_unref (sink);
    text = text_of (pipeline);
    gst_object_unref (pipeline);
    expect_location (parse_in_shell (text), value->str);
    if (value->str[0] != '"')
      expect_location (parse (text), value->str);
  }
}

/* ---- what is not written ---- */

static void
expect_text (const gchar *line, const gchar *expected, const gchar *note)
{
  GstElement *pipeline = parse (line);
  g_autofree gchar *notes = NULL;
  g_autofree gchar *text = gst_cuv_launch_text (GST_BIN (pipeline), &notes);

  fail_unless_equals_string (text, expected);
  fail_unless (
      note == NULL ? notes == NULL : strstr (notes, note) != NULL, "%s", notes);
  gst_object_unref (pipeline);
}

CUV_TEST (names)
{
  expect_text ("fakesrc name=fakesrc7 ! fakesink name=fakesink",
      "fakesrc ! fakesink name=fakesink", NULL);
  /* another tee could get the name tee5 */
  expect_text (
      "fakesrc ! tee name=tee5 ! fakesink tee5. ! tee name=tee6 ! fakesink",
      "fakesrc ! tee name=tee5 ! fakesink tee5. ! tee name=tee6 ! fakesink",
      NULL);
  expect_text ("fakesrc name=fakesrc7 ! visionzones name=a ! fakesink "
               "name=\"fakesrc7.x\"",
      "fakesrc ! visionzones name=a ! fakesink name=fakesrc7.x", NULL);
}

CUV_TEST (passwords)
{
  expect_text ("souphttpsrc location=http://me:pa@ss@host/?token=abc&x=1 "
               "user-id=me user-pw=abc proxy-pw=def ! fakesink",
      "souphttpsrc location=\"http://me:PASSWORD@host/?token=PASSWORD&x=1\" "
      "user-id=me user-pw=PASSWORD proxy-pw=PASSWORD ! fakesink",
      NULL);
  expect_text ("visionpublish password-file=a password-env=b ! fakesink",
      "visionpublish password-file=a password-env=b ! fakesink",
      "sink of visionpublish");
}

CUV_TEST (notes)
{
  expect_text ("fakesrc ! ( name=b queue ! identity ) ! fakesink",
      "fakesrc ! queue ! identity ! fakesink", "the bin b is left out");
  expect_text ("appsrc ! fakesink", "appsrc ! fakesink", "connects to the");
}

/* gst-launch-1.0 cannot refer to a name with a space. */
CUV_TEST (names_that_change)
{
  GstElement *pipeline = parse ("fakesink name=a fakesink name=b"),
             *tee = gst_element_factory_make ("tee", "my tee");
  g_autoptr (GstElement) a = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  g_autoptr (GstElement) b = gst_bin_get_by_name (GST_BIN (pipeline), "b");
  g_autofree gchar *notes = NULL, *text = NULL;

  g_object_set (pipeline, "latency", (guint64) 5, NULL);
  gst_bin_add (GST_BIN (pipeline), tee);
  fail_unless (gst_element_link (tee, a) && gst_element_link (tee, b));
  text = gst_cuv_launch_text (GST_BIN (pipeline), &notes);
  fail_unless_equals_string (
      text, "tee name=my_tee ! fakesink name=a my_tee. ! fakesink name=b");
  fail_unless (strstr (notes, "my tee is called my_tee here") != NULL);
  fail_unless (strstr (notes, "pipeline are left out: latency=5") != NULL);
  gst_object_unref (pipeline);
}
