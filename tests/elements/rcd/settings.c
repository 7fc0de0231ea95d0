/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rcdtrack: settings change while playing; errors name invalid ones, and the
 * previous settings stay in force. */
#include "config.h"
#include "film.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 192
#define HEIGHT 128
#define BOX                                                                    \
  "object-initial-x=40 object-initial-y=32 object-initial-width=32 "           \
  "object-initial-height=24 "

static const Box place = { 40, 32, 32, 24 };

/* ---- live ---- */

static CuvLive
open_film (const gchar *bad)
{
  CuvLive film = film_new (BOX, "NV12", WIDTH, HEIGHT);

  if (bad != NULL)
    cuv_element_set (film.element, bad);
  return film;
}

/* Returns the number of windows as text. If `features` changes, the target's
 * descriptor is recomputed first. */
static gchar *
look (CuvLive *film)
{
  check_at (film_show (film, 2, 1, place), 1, place);
  return g_strdup_printf (
      "%" G_GUINT64_FORMAT " windows", cuv_stat (film->element, "windows"));
}

CUV_TEST (test_number_of_windows)
{
  static const CuvLiveStep steps[] = { { "search=full", TRUE },
    { "scales=<1.0>", TRUE }, { "scales=<0.8,1.0,1.25,3.0>", TRUE },
    { "scales=<1.25,3.0,1.0,0.8>", FALSE }, { "stride=8", TRUE },
    { "cell=8", FALSE }, { "cell=4", TRUE }, { "search-radius=50", FALSE },
    { "search=local", TRUE }, { "search-radius=0", TRUE },
    { "refine=false", FALSE }, { "features=rgb-grad", FALSE },
    { "metric=forstner", FALSE }, { "update=riemann", FALSE },
    { "update-window=3", FALSE }, { "update-rate=0.5", FALSE },
    { "max-targets=5", FALSE }, { "max-lost-frames=7", FALSE },
    { "search=full", TRUE }, { "cell=0", TRUE }, { "stride=0", TRUE },
    { "scales=<1.0>", TRUE }, { "scales=<>", TRUE } };
  CuvLive film = open_film (NULL);

  cuv_live_steps (&film, steps, G_N_ELEMENTS (steps), look);
  cuv_live_clear (&film);
}

CUV_TEST (test_max_distance)
{
  const Box beside = { 43, 33, 32, 24 };
  CuvLive film = film_new (BOX "refine=false", "NV12", WIDTH, HEIGHT);

  check_at (film_show (&film, 1, 1, place), 1, place);
  g_object_set (film.element, "max-distance", 1e-6, NULL);
  check_nothing (film_show (&film, 1, 1, beside));
  g_object_set (film.element, "max-distance", 0.0, NULL); /* no limit */
  check_at (film_show (&film, 1, 1, beside), 1, beside);
  cuv_live_clear (&film);
}

/* A new box replaces the target of the old one. */
CUV_TEST (test_box)
{
  const Box other = { 100, 80, 32, 24 };
  CuvLive film = film_new (BOX, "NV12", WIDTH, HEIGHT);
  GstBuffer *frame;

  check_at (film_show (&film, 2, 1, place), 1, place);
  g_object_set (
      film.element, "object-initial-x", 100, "object-initial-y", 80, NULL);
  for (gint i = 0; i < 2; i++) {
    frame = film_frame (&film);
    film_draw_object (frame, 1, place);
    film_draw_object (frame, 2, other);
    frame = cuv_live_push (&film, frame);
    fail_unless_equals_int (n_tracks (frame), 1);
    check_at (frame, 2, other);
  }
  cuv_element_set (film.element,
      "object-initial-x=-1 object-initial-y=-1 object-initial-width=0 "
      "object-initial-height=0");
  check_nothing (film_show (&film, 1, 2, other));
  expect_no_warning (film.bus);
  cuv_live_clear (&film);
}

CUV_TEST (test_object_class_among_others)
{
  const Box other = { 60, 32, 32, 24 };
  CuvLive film = film_new ("object-class=cat", "NV12", WIDTH, HEIGHT);
  GstBuffer *frame = film_frame (&film);

  film_draw_object (frame, 1, place);
  film_draw_object (frame, 2, other);
  film_region (frame, "dog", place);
  film_region (frame, "cat", other);
  check_at (cuv_live_push (&film, frame), 1, other);
  cuv_live_clear (&film);
}

CUV_TEST (test_object_class)
{
  CuvLive film = film_new ("object-class=cat", "NV12", WIDTH, HEIGHT);

  for (gint i = 0; i < 2; i++) {
    GstBuffer *frame = film_frame (&film);

    film_draw_object (frame, 1, place);
    film_region (frame, "dog", place);
    if (i == 0)
      check_nothing (cuv_live_push (&film, frame));
    else
      check_at (cuv_live_push (&film, frame), 1, place);
    g_object_set (film.element, "object-class", "", NULL);
  }
  cuv_live_clear (&film);
}

CUV_TEST (test_scales_round_trip)
{
  g_autoptr (GstElement) t = cuv_element_new ("rcdtrack");
  GValue value = G_VALUE_INIT;
  g_autofree gchar *text = NULL;

  gst_util_set_object_arg (G_OBJECT (t), "scales", "<1, 0.5, 2.0>");
  g_value_init (&value, GST_TYPE_ARRAY);
  g_object_get_property (G_OBJECT (t), "scales", &value);
  text = gst_value_serialize (&value);
  fail_unless (
      strstr (text, "1") != NULL && strstr (text, "0.5") != NULL, "%s", text);
  fail_unless_equals_int (gst_value_array_get_size (&value), 3);
  g_value_unset (&value);
}

/* A shared frame is not changed. */
CUV_TEST (test_draw)
{
  CuvLive film = film_new (BOX "draw=distance-map", "RGB", WIDTH, HEIGHT);
  GstBuffer *frame, *out;

  gst_buffer_unref (film_show (&film, 1, 1, place));
  frame = film_frame (&film);
  film_draw_object (frame, 1, place);
  out = cuv_live_push (&film, gst_buffer_ref (frame));
  fail_if (cuv_frames_equal ("RGB", WIDTH, HEIGHT, frame, out));
  check_at (out, 1, place);
  g_object_set (film.element, "draw", 0, NULL);
  out = cuv_live_push (&film, gst_buffer_ref (frame));
  fail_unless (cuv_frames_equal ("RGB", WIDTH, HEIGHT, frame, out));
  gst_buffer_unref (out);
  gst_buffer_unref (frame);
  cuv_live_clear (&film);
}

/* ---- contradictions ---- */

static const CuvContradiction contradictions[] = {
  { "stride=8 cell=3", "cell 3 does not divide stride 8", "cell=4" },
  { "object-initial-x=-1", "-x -1", "object-initial-x=4" },
  { "object-initial-height=0", "set width and height to 1 pixel or more",
      "object-initial-height=24" },
  { "object-initial-x=170", "not inside the frame, which is 192x128",
      "object-initial-x=150" },
  { "object-initial-height=97", "not inside the frame, which is 192x128",
      "object-initial-height=96" },
};

CUV_TEST (test_contradictions_at_start)
{
  cuv_contradictions_at_start (
      contradictions, G_N_ELEMENTS (contradictions), open_film, film_frame);
}

static void
show (CuvLive *film, gboolean is_free)
{
  Box box;

  g_object_get (film->element, "object-initial-x", &box.x, "object-initial-y",
      &box.y, "object-initial-width", &box.width, "object-initial-height",
      &box.height, NULL);
  if (is_free)
    gst_buffer_unref (film_show (film, 1, 1, box));
  else
    check_at (film_show (film, 1, 1, place), 1, place);
}

CUV_TEST (test_live_contradictions)
{
  cuv_contradictions_live (
      contradictions, G_N_ELEMENTS (contradictions), open_film, show, NULL);
}

/* A restart does not keep the previous settings. */
CUV_TEST (test_contradiction_at_second_start)
{
  CuvLive film = open_film (NULL);

  show (&film, FALSE);
  cuv_live_restart (&film, "stride=8 cell=3");
  cuv_live_push_error (&film, film_frame (&film), "cell 3");
  cuv_live_clear (&film);
}

CUV_TEST (test_max_targets_below_number_of_targets)
{
  const Box other = { 100, 80, 32, 24 };
  CuvLive film = film_new (BOX "max-targets=2", "NV12", WIDTH, HEIGHT);
  GstBuffer *out;
  gint id;

  g_signal_emit_by_name (film.element, "set-target", other.x, other.y,
      other.width, other.height, &id);
  for (gint i = 0; i < 3; i++) {
    GstBuffer *frame = film_frame (&film);

    film_draw_object (frame, 1, place);
    film_draw_object (frame, 2, other);
    out = cuv_live_push (&film, frame);
    fail_unless_equals_int (n_tracks (out), 2);
    gst_buffer_unref (out);
    if (i == 1)
      expect_problem (film.bus, GST_MESSAGE_WARNING,
          "max-targets 1 is less than the 2 targets");
    else
      expect_no_warning (film.bus);
    g_object_set (film.element, "max-targets", 1, NULL);
  }
  g_object_set (film.element, "max-targets", 2, NULL);
  g_object_set (film.element, "object-initial-x", 41, NULL);
  gst_buffer_unref (film_show (&film, 1, 1, place));
  expect_no_warning (film.bus);
  cuv_live_clear (&film);
}

/* A new limit is in force from the next frame on; the warning says so. */
CUV_TEST (test_max_targets_not_yet_in_force)
{
  const Box other = { 100, 80, 32, 24 };
  CuvLive film = film_new (BOX "max-targets=1", "NV12", WIDTH, HEIGHT);
  gint id;

  gst_buffer_unref (film_show (&film, 1, 1, place));
  g_signal_emit_by_name (film.element, "set-target", other.x, other.y,
      other.width, other.height, &id);
  fail_unless_equals_int (id, 0);
  expect_problem (
      film.bus, GST_MESSAGE_WARNING, "already tracking max-targets objects");
  g_object_set (film.element, "max-targets", 2, NULL);
  g_signal_emit_by_name (film.element, "set-target", other.x, other.y,
      other.width, other.height, &id);
  fail_unless_equals_int (id, 0);
  expect_problem (
      film.bus, GST_MESSAGE_WARNING, "takes effect with the next frame");
  gst_buffer_unref (film_show (&film, 1, 1, place));
  g_signal_emit_by_name (film.element, "set-target", other.x, other.y,
      other.width, other.height, &id);
  fail_unless (id > 0);
  expect_no_warning (film.bus);
  cuv_live_clear (&film);
}

/* ---- invalid values ---- */

CUV_TEST (test_out_of_range)
{
  cuv_expect_refused ("rcdtrack",
      "object-initial-x=-2 object-initial-width=-1 object-initial-height=16385 "
      "cell=257 update-rate=1.01 update-window=0 update-window=41 "
      "max-distance=-0.1 max-targets=0 max-targets=17");
}

CUV_TEST (test_invalid_names)
{
  cuv_expect_parse_errors ("rcdtrack",
      "features=hsv metric=l2 search=wide update=always draw=map scales=<a>");
}

/* Checks the error of an element that cannot start. */
static void
check_no_start (const gchar *property, const gchar *value, const gchar *problem)
{
  GstElement *t = cuv_element_new ("rcdtrack");

  gst_util_set_object_arg (G_OBJECT (t), property, value);
  cuv_expect_no_start (t, problem);
}

static gchar *
many_scales (void)
{
  GString *text = g_string_new ("<1.0");

  for (gint i = 0; i < 32; i++)
    g_string_append_printf (text, ",%d.0", i % 10 + 1);
  return g_string_free (g_string_append_c (text, '>'), FALSE);
}

CUV_TEST (test_too_many_scales)
{
  g_autofree gchar *many = many_scales ();
  CuvLive film = film_new (BOX, "NV12", WIDTH, HEIGHT);
  GValue value = G_VALUE_INIT;

  check_no_start ("scales", many, "expected at most 32 values, got 33");
  check_at (film_show (&film, 1, 1, place), 1, place);
  gst_util_set_object_arg (G_OBJECT (film.element), "scales", "<1.0>");
  gst_util_set_object_arg (G_OBJECT (film.element), "scales", many);
  expect_problem (
      film.bus, GST_MESSAGE_WARNING, "expected at most 32 values, got 33");
  g_value_init (&value, GST_TYPE_ARRAY);
  g_object_get_property (G_OBJECT (film.element), "scales", &value);
  fail_unless_equals_int (gst_value_array_get_size (&value), 1);
  g_value_unset (&value);
  check_at (film_show (&film, 1, 1, place), 1, place);
  cuv_live_clear (&film);
}

/* ---- invalid pictures ---- */

static gchar *
broken_file (const gchar *bytes)
{
  gchar *path = NULL;
  gint file = g_file_open_tmp ("rcd-XXXXXX.png", &path, NULL);

  fail_unless (file >= 0);
  fail_unless (g_file_set_contents (path, bytes, -1, NULL));
  fail_unless (g_close (file, NULL));
  return path;
}

CUV_TEST (test_invalid_pictures)
{
  g_autofree gchar *text = broken_file ("this is no picture, but some text");
  g_autofree gchar *png = broken_file ("\x89PNG\r\n\x1a\n____________");
  g_autofree gchar *empty = broken_file ("");
  gchar *value;
  CuvLive film;

  check_no_start ("target-image", "/none/such.png",
      "target-image '/none/such.png' cannot be used: cannot read "
      "'/none/such.png': No such file or directory; set target-image");
  check_no_start ("target-image", "/", "it is not a regular file but a folder");
  check_no_start ("target-image", text, "cannot be decoded");
  check_no_start ("target-image", png, "cannot be decoded");
  check_no_start ("target-image", empty, "cannot be decoded");
  film = film_new (BOX, "NV12", WIDTH, HEIGHT);
  check_at (film_show (&film, 1, 1, place), 1, place);
  g_object_set (film.element, "target-image", text, NULL);
  expect_problem (
      film.bus, GST_MESSAGE_WARNING, "The previous value stays in force");
  g_object_get (film.element, "target-image", &value, NULL);
  fail_unless (value == NULL);
  check_at (film_show (&film, 1, 1, place), 1, place);
  cuv_live_clear (&film);
  remove (text);
  remove (png);
  remove (empty);
}

/* ---- intervals ---- */

/* Detector and rcdtrack analyse different frames and still track together. The
 * first frame has no face.
 */
CUV_TEST (test_different_inference_intervals)
{
  g_autofree gchar *path = cuv_test_file ("Megamind.avi");
  g_autofree gchar *line = g_strdup_printf (
      "filesrc location=%s ! decodebin ! videoconvert ! waldboostdetect "
      "inference-interval=25 ! rcdtrack inference-interval=5 ! appsink "
      "name=sink sync=false",
      path);
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (line);
  guint n = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 10; i++) {
    GstSample *sample = cuv_pull_sample (pipeline);

    n += n_tracks (gst_sample_get_buffer (sample));
    gst_sample_unref (sample);
  }
  fail_unless (n > 0, "no track in 10 frames");
  gst_element_set_state (pipeline, GST_STATE_NULL);
}
