/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waldboosttrain with trees on channels, and with the choice between these and
 * patterns. */
#include "config.h"
#include "harness.h"

#include <glib/gstdio.h>
#include <string.h>

#define AUTO "weak=64 negative-samples=1600 copies=4 "
#define CHANNELS AUTO "features=channels "

/* ---- frames in which only colour distinguishes objects ---- */

static void
fill (GstVideoFrame *video, const Place *at, const guint8 *colour)
{
  guint8 *rows = GST_VIDEO_FRAME_PLANE_DATA (video, 0);
  const guint stride = (guint) GST_VIDEO_FRAME_PLANE_STRIDE (video, 0);

  for (guint y = at->y; y < at->y + at->size; y++) {
    for (guint x = at->x; x < at->x + at->size; x++)
      memcpy (rows + y * stride + 3 * x, colour, 3);
  }
}

static Place
square_of (guint i, guint k)
{
  return (Place){ 4 + (i + k) % 3 * 52 + i * 7 % 12, 8 + (i * 11 + k * 29) % 68,
    32 + i * 5 % 8 };
}

/* Returns a frame with three squares of the same grey; the region is on the red
 * one. */
static GstBuffer *
coloured_new (guint i)
{
  static const guint8 colours[3][3] = { { 200, 60, 79 }, { 40, 149, 40 },
    { 60, 100, 240 } };
  GstBuffer *buffer = frame_new ("RGB", i, FALSE);
  const Place red = square_of (i, 0);
  GstVideoFrame video;
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT);
  fail_unless (gst_video_frame_map (&video, &info, buffer, GST_MAP_WRITE));
  for (guint k = 0; k < 3; k++) {
    const Place at = square_of (i, k);

    fill (&video, &at, colours[k]);
  }
  gst_video_frame_unmap (&video);
  add_region (buffer, "red", &red);
  return buffer;
}

static void
push_coloured (const Fixture *self, guint n)
{
  for (guint i = 0; i < n; i++)
    push (self, coloured_new (i));
}

/* ---- tests ---- */

static gchar *
learn_colours (const gchar *settings, GstStructure **done)
{
  Fixture fixture = fixture_new ("RGB", settings);
  gchar *model;

  push_coloured (&fixture, 42);
  end (&fixture);
  *done = wait_for (fixture.bus, "done");
  model = read_model ();
  fixture_free (&fixture);
  g_remove (MODEL);
  return model;
}

CUV_TEST (learns_channels)
{
  GstStructure *done, *again;
  g_autofree gchar *model = learn_colours (CHANNELS, &done);
  g_autofree gchar *same =
      learn_colours (CHANNELS "margin=0.3 alpha=0.005", &again);

  fail_unless (strstr (model,
                   "<CuvisionChannels version=\"1\" width=\"32\" "
                   "height=\"32\"")
          != NULL,
      "%.300s", model);
  fail_unless_equals_string (model, same); /* channels have no margin */
  fail_unless_equals_string (
      gst_structure_get_string (done, "features"), "channels");
  fail_unless_equals_int (get_uint (done, "weak"), 64);
  fail_unless_equals_int (get_uint (done, "window-width"), 32);
  fail_unless_equals_int (get_uint (done, "frames"), 42);
  fail_unless (get_double (done, "recall") > 0.6);
  fail_unless (get_double (done, "false-positives") < 0.5);
  fail_if (gst_structure_has_field (done, "false-positive-rate"));
  fail_if (gst_structure_has_field (done, "choice"));
  gst_structure_free (done);
  gst_structure_free (again);
}

/* Both kinds are learnt; the model is the same as with features=channels. */
CUV_TEST (chooses_features)
{
  GstStructure *done, *named;
  g_autofree gchar *model = learn_colours (AUTO "margin=0", &done);
  g_autofree gchar *same = learn_colours (CHANNELS, &named);
  const gchar *choice = gst_structure_get_string (done, "choice");

  fail_unless_equals_string (
      gst_structure_get_string (done, "features"), "channels");
  fail_unless (g_str_has_prefix (choice, "took channels: "), "%s", choice);
  fail_unless_equals_string (model, same);
  fail_unless (get_double (done, "recall") == get_double (named, "recall"));
  gst_structure_free (done);
  gst_structure_free (named);
}

/* Regions are smaller than the window of channels, so patterns are chosen. */
CUV_TEST (chooses_the_one_that_fits)
{
  Fixture fixture = fixture_new ("GRAY8",
      QUICK "features=auto window-width=36 window-height=36 margin=0.3");
  GstStructure *done;

  for (guint i = 0; i < 14; i++) {
    GstBuffer *buffer = frame_new ("GRAY8", i, TRUE);
    Place at = place_of (i);

    at.size = MIN (at.size, 34);
    add_region (buffer, "cross", &at);
    push (&fixture, buffer);
  }
  end (&fixture);
  done = wait_for (fixture.bus, "done");
  fail_unless_equals_string (
      gst_structure_get_string (done, "features"), "lbp");
  fail_unless (strstr (gst_structure_get_string (done, "choice"),
                   "channels cannot be learnt: The window of 36x36 is larger")
      != NULL);
  gst_structure_free (done);
  fixture_free (&fixture);
}

/* Channels are not learnt from frames that were kept in grey. */
CUV_TEST (features_change_while_playing)
{
  Fixture fixture = fixture_new ("RGB", QUICK);
  GstStructure *done;
  g_autofree gchar *model = NULL;

  push_coloured (&fixture, 20);
  gst_util_set_object_arg (G_OBJECT (fixture.sink), "features", "channels");
  g_object_set (fixture.sink, "train", TRUE, NULL);
  expect_problem (fixture.bus, GST_MESSAGE_WARNING,
      "0 frames with regions were kept in colour, but at least 7");
  push_coloured (&fixture, 14);
  g_object_set (fixture.sink, "train", TRUE, NULL);
  done = wait_for (fixture.bus, "done");
  fail_unless_equals_int (get_uint (done, "frames"), 14);
  gst_structure_free (done);
  model = read_model ();
  fail_unless (strstr (model, "<CuvisionChannels") != NULL);
  gst_util_set_object_arg (G_OBJECT (fixture.sink), "features", "lrd");
  g_object_set (fixture.sink, "train", TRUE, NULL);
  done = wait_for (fixture.bus, "done");
  fail_unless_equals_int (get_uint (done, "frames"), 34);
  fail_unless_equals_string (
      gst_structure_get_string (done, "features"), "lrd");
  gst_structure_free (done);
  fixture_free (&fixture);
}

/* A long training posts its progress, and ends when the element stops. */
CUV_TEST (stops_while_it_learns_trees)
{
  Fixture fixture = fixture_new (
      "RGB", CHANNELS "weak=4096 negative-samples=8000 progress-interval=1");
  GstStructure *message;
  gint64 start;

  push_coloured (&fixture, 42);
  g_object_set (fixture.sink, "train", TRUE, NULL);
  message = wait_for (fixture.bus, "learning");
  fail_unless_equals_string (
      gst_structure_get_string (message, "features"), "channels");
  fail_unless (get_uint (message, "weak") > 0);
  fail_unless (get_double (message, "seconds-left") > 0);
  gst_structure_free (message);
  start = g_get_monotonic_time ();
  fixture_free (&fixture);
  fail_unless (g_get_monotonic_time () - start < 10 * G_USEC_PER_SEC);
  fail_if (g_file_test (MODEL, G_FILE_TEST_EXISTS));
}
