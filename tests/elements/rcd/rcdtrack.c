/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rcdtrack: sources of targets, tracking, metadata, messages and statistics. */
#include "config.h"
#include "film.h"

#include "base/gstcuvfilter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 192
#define HEIGHT 128
#define BOX                                                                    \
  "object-initial-x=40 object-initial-y=32 object-initial-width=32 "           \
  "object-initial-height=24 "

static const Box start = { 40, 32, 32, 24 };

/* Returns the box some frames later, on the grid of windows: it moves 4 pixels
 * right in every frame and 4 down in every second one. */
static Box
moved (Box box, gint frames)
{
  return (
      Box){ box.x + 4 * frames, box.y + frames / 2 * 4, box.width, box.height };
}

static void
walk (CuvLive *film, gint from, gint to, gint kind)
{
  for (gint i = from; i < to; i++)
    check_at (film_show (film, 1, kind, moved (start, i)), 1, moved (start, i));
}

/* ---- a box ---- */

CUV_TEST (test_box_in_every_format)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };

  for (guint i = 0; i < G_N_ELEMENTS (formats) - use_cuda; i++) {
    CuvLive film = film_new (BOX, formats[i], WIDTH, HEIGHT);

    walk (&film, 0, 8, 1);
    cuv_live_clear (&film);
  }
}

CUV_TEST (test_every_method)
{
  static const gchar *const methods[] = { "features=tuzel9",
    "features=grey-grad", "metric=forstner", "search=full",
    "refine=false stride=2 cell=1", "update=none",
    "update=riemann update-window=4", "update=jbld-mean update-window=4",
    "update=moments update-rate=0.3", "search-radius=16", "scales=<1.0,0.5>",
    "stride=8 cell=4" };

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    gchar *all = g_strconcat (BOX, methods[i], NULL);
    CuvLive film = film_new (all, "NV12", WIDTH, HEIGHT);

    g_print ("%s\n", methods[i]);
    walk (&film, 0, 6, 1);
    cuv_live_clear (&film);
    g_free (all);
  }
}

CUV_TEST (test_scale)
{
  CuvLive film = film_new (BOX "search=full", "RGB", WIDTH, HEIGHT);
  const Box large = { 60, 32, 48, 36 };
  GstBuffer *out;
  GArray *tracks;

  check_at (film_show (&film, 1, 1, start), 1, start);
  out = film_show (&film, 1, 1, large);
  tracks = tracks_of (out);
  fail_unless_equals_int (tracks->len, 1);
  check_at (gst_buffer_ref (out), 1, large);
  fail_unless (fabs (g_array_index (tracks, Track, 0).scale - 1.5) < 0.2);
  g_array_unref (tracks);
  gst_buffer_unref (out);
  cuv_live_clear (&film);
}

/* ---- metadata ---- */

CUV_TEST (test_metadata)
{
  CuvLive film = film_new (BOX, "NV12", WIDTH, HEIGHT);
  GstBuffer *out;
  GArray *tracks;
  Track t;

  gst_buffer_unref (film_show (&film, 1, 1, start));
  out = film_show (&film, 1, 1, moved (start, 1));
  tracks = tracks_of (out);
  fail_unless_equals_int (tracks->len, 1);
  t = g_array_index (tracks, Track, 0);
  fail_unless_equals_string (t.label, "target");
  fail_unless (t.id == 1 && t.region_id == 0 && t.lost_frames == 0);
  fail_unless (t.distance < 0.2 && t.second > t.distance);
  /* confidence is 0.5 at max-distance, which is 0.7 for these features */
  fail_unless (fabs (t.confidence - pow (2, -t.distance / 0.7)) < 1e-9);
  fail_unless (t.detection == t.confidence);
  fail_unless (fabs (t.scale - 1) < 0.2);
  g_object_set (film.element, "max-distance", 0.25, NULL);
  g_array_unref (tracks);
  gst_buffer_unref (out);
  out = film_show (&film, 1, 1, moved (start, 2));
  tracks = tracks_of (out);
  t = g_array_index (tracks, Track, 0);
  fail_unless (fabs (t.confidence - pow (2, -t.distance / 0.25)) < 1e-9);
  g_array_unref (tracks);
  gst_buffer_unref (out);
  cuv_live_clear (&film);
}

/* The track is attached to the region with the largest IoU above 0.5, without a
 * new region. */
CUV_TEST (test_upstream_region_gets_the_track)
{
  CuvLive film = film_new (BOX "object-class=dog", "NV12", WIDTH, HEIGHT);
  GstBuffer *frame = film_frame (&film), *out;
  GstVideoRegionOfInterestMeta *other;
  GArray *tracks;

  film_draw_object (frame, 1, start);
  film_region (frame, "cat", start)->id = 0;
  other = film_region (frame, "dog", start);
  other->id = 4; /* an id of another tracker */
  gst_video_region_of_interest_meta_add_param (
      other, gst_structure_new ("object_id", "id", G_TYPE_INT, 9, NULL));
  film_region (frame, "dog", moved (start, 3))->id = 1;
  film_region (frame, "dog", start)->id = 2;
  film_region (frame, "dog", moved (start, 1))->id = 3;
  out = cuv_live_push (&film, frame);
  tracks = tracks_of (out);
  fail_unless_equals_int (tracks->len, 1);
  fail_unless_equals_int (g_array_index (tracks, Track, 0).region_id, 2);
  fail_unless_equals_string (g_array_index (tracks, Track, 0).label, "dog");
  fail_unless_equals_int (
      gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE),
      5);
  g_array_unref (tracks);
  gst_buffer_unref (out);
  frame = film_frame (&film);
  film_draw_object (frame, 1, start);
  film_region (frame, "dog", moved (start, 3))->id = 5;
  out = cuv_live_push (&film, frame);
  tracks = tracks_of (out);
  fail_unless_equals_int (tracks->len, 1);
  fail_unless_equals_int (g_array_index (tracks, Track, 0).region_id, 6);
  fail_unless_equals_string (g_array_index (tracks, Track, 0).label, "target");
  g_array_unref (tracks);
  check_at (out, 1, start);
  cuv_live_clear (&film);
}

CUV_TEST (test_hold_results)
{
  CuvLive film = film_new (
      BOX "inference-interval=2 hold-results=true", "NV12", WIDTH, HEIGHT);
  GstBuffer *out;
  GArray *tracks;

  gst_buffer_unref (film_show (&film, 1, 1, start));
  out = film_show (&film, 1, -1, start);
  tracks = tracks_of (out);
  fail_unless_equals_int (tracks->len, 1);
  fail_unless_equals_uint64 (
      g_array_index (tracks, Track, 0).age, GST_SECOND / 25);
  g_array_unref (tracks);
  check_at (out, 1, start);
  cuv_live_clear (&film);
}

/* ---- messages, statistics ---- */

CUV_TEST (test_events)
{
  CuvLive film =
      film_new (BOX "max-lost-frames=3 update=none", "NV12", WIDTH, HEIGHT);
  guint targets;

  gst_buffer_unref (film_show (&film, 2, 1, start));
  expect_event (&film, "acquired 1");
  fail_unless (cuv_stat_uint (film.element, "tracked") == 1
      && cuv_stat_uint (film.element, "lost") == 0);
  fail_unless (cuv_stat (film.element, "windows") > 0);
  check_nothing (film_show (&film, 2, -1, start));
  expect_event (&film, "lost 1");
  fail_unless (cuv_stat_uint (film.element, "tracked") == 0
      && cuv_stat_uint (film.element, "lost") == 1);
  check_at (film_show (&film, 2, 1, moved (start, 20)), 1, moved (start, 20));
  expect_event (&film, "reacquired 1");
  check_nothing (film_show (&film, 4, -1, start));
  expect_event (&film, "lost 1");
  expect_event (&film, "given-up 1");
  check_nothing (film_show (&film, 1, 1, start));
  g_object_get (film.element, "targets", &targets, NULL);
  fail_unless (targets == 0 && cuv_stat_uint (film.element, "targets") == 0);
  fail_unless (next_event (&film) == NULL);
  cuv_live_clear (&film);
}

CUV_TEST (test_message_fields)
{
  CuvLive film = film_new (BOX "message=every-frame", "NV12", WIDTH, HEIGHT);
  const GstStructure *object;
  GstMessage *message;
  guint x = 0, y = 0, w = 0, h = 0;
  gdouble distance = -1, confidence = -1;

  gst_buffer_unref (film_show (&film, 1, 1, start));
  message = gst_bus_pop_filtered (film.bus, GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL);
  object = gst_value_get_structure (gst_value_list_get_value (
      gst_structure_get_value (gst_message_get_structure (message), "objects"),
      0));
  fail_unless (gst_structure_get (object, "x", G_TYPE_UINT, &x, "y",
      G_TYPE_UINT, &y, "width", G_TYPE_UINT, &w, "height", G_TYPE_UINT, &h,
      "distance", G_TYPE_DOUBLE, &distance, "confidence", G_TYPE_DOUBLE,
      &confidence, NULL));
  fail_unless (x == 40 && y == 32 && w == 32 && h == 24);
  fail_unless (distance == 0 && confidence == 1);
  fail_unless_equals_string (
      gst_structure_get_string (object, "state"), "tracked");
  fail_unless_equals_string (
      gst_structure_get_string (object, "label"), "target");
  gst_message_unref (message);
  gst_buffer_unref (film_show (&film, 1, 1, start));
  expect_event (&film, " 1");
  cuv_live_clear (&film);
}

/* ---- regions ---- */

CUV_TEST (test_first_region_is_tracked)
{
  CuvLive film = film_new ("", "NV12", WIDTH, HEIGHT);
  GstBuffer *frame = film_frame (&film), *out;
  GArray *tracks;

  film_draw_object (frame, 1, start);
  film_draw_object (frame, 2, moved (start, 20));
  film_region (frame, "dog", start);
  film_region (frame, "cat", moved (start, 20));
  out = cuv_live_push (&film, frame);
  tracks = tracks_of (out);
  fail_unless_equals_int (tracks->len, 1);
  fail_unless_equals_string (g_array_index (tracks, Track, 0).label, "dog");
  g_array_unref (tracks);
  check_at (out, 1, start);
  walk (&film, 1, 6, 1);
  /* without regions the track keeps its label */
  out = film_show (&film, 1, 1, moved (start, 6));
  tracks = tracks_of (out);
  fail_unless_equals_string (g_array_index (tracks, Track, 0).label, "dog");
  g_array_unref (tracks);
  gst_buffer_unref (out);
  cuv_live_clear (&film);
}

static gboolean
requests_analysis (CuvLive *film)
{
  GstEvent *event;
  gboolean found = FALSE;

  while ((event = gst_harness_try_pull_upstream_event (film->h)) != NULL) {
    found |= gst_cuv_event_is_request_analysis (event);
    gst_event_unref (event);
  }
  return found;
}

/* While nothing is tracked, a detector that analyses every Nth frame is asked
 * to analyse the next; a lost target still counts as tracked. */
CUV_TEST (test_detections_are_requested)
{
  CuvLive film = film_new ("max-lost-frames=2", "NV12", WIDTH, HEIGHT);
  GstBuffer *frame = film_frame (&film);

  gst_buffer_unref (film_show (&film, 1, -1, start));
  fail_unless (requests_analysis (&film));
  film_draw_object (frame, 1, start);
  film_region (frame, "dog", start);
  gst_buffer_unref (cuv_live_push (&film, frame));
  fail_if (requests_analysis (&film));
  gst_buffer_unref (film_show (&film, 2, -1, start));
  fail_if (requests_analysis (&film));
  gst_buffer_unref (film_show (&film, 2, -1, start));
  fail_unless (requests_analysis (&film));
  g_object_set (film.element, "request-detections", FALSE, NULL);
  gst_buffer_unref (film_show (&film, 2, -1, start));
  fail_if (requests_analysis (&film));
  cuv_live_clear (&film);
}

/* Pushes a frame with two objects; `detected` and `other` say which of them are
 * detected. */
static GstBuffer *
show_detected (CuvLive *film, gboolean detected, gboolean other)
{
  GstBuffer *frame = film_frame (film);

  film_draw_object (frame, 1, start);
  film_draw_object (frame, 2, moved (start, 12));
  if (detected)
    film_region (frame, "dog", start);
  if (other)
    film_region (frame, "dog", moved (start, 12));
  return cuv_live_push (film, frame);
}

/* A target is published with its third detection, and given up after too long
 * without one. */
CUV_TEST (test_detections_confirm)
{
  CuvLive film = film_new (
      "confirm-detections=3 max-undetected-frames=4", "NV12", WIDTH, HEIGHT);

  for (gint i = 0; i < 2; i++) {
    check_nothing (show_detected (&film, TRUE, FALSE));
    check_nothing (show_detected (&film, FALSE, FALSE));
    fail_unless (requests_analysis (&film));
    /* only the first frame causes a message */
    expect_event (&film, i == 0 ? "" : NULL);
  }
  check_at (show_detected (&film, TRUE, FALSE), 1, start);
  expect_event (&film, "acquired 1");
  fail_if (requests_analysis (&film));
  for (gint i = 0; i < 4; i++)
    check_at (show_detected (&film, FALSE, FALSE), 1, start);
  check_nothing (show_detected (&film, FALSE, FALSE));
  expect_event (&film, "given-up 1");
  check_nothing (show_detected (&film, FALSE, FALSE));
  fail_unless (requests_analysis (&film));
  cuv_live_clear (&film);
}

/* A false detection does not keep the detector's next one from being a target.
 */
CUV_TEST (test_false_detection)
{
  CuvLive film = film_new ("confirm-detections=3", "NV12", WIDTH, HEIGHT);

  check_nothing (show_detected (&film, FALSE, TRUE));
  for (gint i = 0; i < 6; i++)
    gst_buffer_unref (show_detected (&film, TRUE, FALSE));
  check_at (show_detected (&film, TRUE, FALSE), 2, start);
  cuv_live_clear (&film);
}

/* Ids are stable and not reused; repeated detections add no targets. */
CUV_TEST (test_several_targets)
{
  CuvLive film = film_new (
      "max-targets=3 max-lost-frames=2 update=none", "RGB", WIDTH, HEIGHT);
  const Box other = { 120, 80, 28, 28 }, third = { 20, 90, 24, 24 };

  for (gint i = 0; i < 8; i++) {
    GstBuffer *frame = film_frame (&film), *out;

    film_draw_object (frame, 1, moved (start, i));
    film_draw_object (frame, 2, other);
    film_region (frame, "dog", moved (start, i));
    film_region (frame, "dog", other);
    film_region (frame, "dog", moved (other, 1)); /* detected twice */
    out = cuv_live_push (&film, frame);
    fail_unless_equals_int (n_tracks (out), 2);
    check_at (gst_buffer_ref (out), 1, moved (start, i));
    check_at (out, 2, other);
  }
  /* target 1 is given up */
  check_at (film_show (&film, 4, 2, other), 2, other);
  for (gint i = 0; i < 2; i++) {
    GstBuffer *frame = film_frame (&film), *out;

    film_draw_object (frame, 2, other);
    film_draw_object (frame, 3, third);
    film_region (frame, "dog", third);
    out = cuv_live_push (&film, frame);
    check_at (gst_buffer_ref (out), 2, other);
    check_at (out, 3, third);
  }
  cuv_live_clear (&film);
}

/* Pushes a frame half as bright, as when a lamp is turned off. */
static GstBuffer *
show_dark (CuvLive *film, Box box)
{
  GstBuffer *frame = film_frame (film);
  GstMapInfo map;

  film_draw_object (frame, 1, box);
  gst_buffer_map (frame, &map, GST_MAP_READWRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] /= 2;
  gst_buffer_unmap (frame, &map);
  return cuv_live_push (film, frame);
}

CUV_TEST (test_light_that_changes)
{
  static const gchar *const properties[] = { "", "features=rgb-grad",
    "update=moments", "update=riemann" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    CuvLive film = film_new (properties[i], "RGB", WIDTH, HEIGHT);
    gint id;

    g_signal_emit_by_name (film.element, "set-target", start.x, start.y,
        start.width, start.height, &id);
    check_at (film_show (&film, 5, 1, start), id, start);
    for (guint n = 0; n < 3; n++)
      gst_buffer_unref (show_dark (&film, start));
    check_at (show_dark (&film, moved (start, 3)), id, moved (start, 3));
    for (guint n = 0; n < 4; n++)
      gst_buffer_unref (film_show (&film, 1, 1, start));
    check_at (film_show (&film, 1, 1, start), id, start);
    cuv_live_clear (&film);
  }
}

/* ---- signals ---- */

typedef struct {
  CuvLive *film;
  gint id;
} Caller;

static gpointer
call (gpointer data)
{
  Caller *caller = data;

  g_signal_emit_by_name (caller->film->element, "set-target", start.x, start.y,
      start.width, start.height, &caller->id);
  return NULL;
}

CUV_TEST (test_signals_from_another_thread)
{
  CuvLive film = film_new ("", "NV12", WIDTH, HEIGHT);
  Caller caller = { &film, -1 };
  gint id = -1;

  for (gint i = 1; i <= 3; i++) {
    check_nothing (film_show (&film, 2, 1, start));
    expect_event (&film, "");
    g_thread_join (g_thread_new ("call", call, &caller));
    fail_unless_equals_int (caller.id, i);
    check_at (film_show (&film, 2, 1, start), i, start);
    g_free (next_event (&film));
    g_signal_emit_by_name (film.element, "set-target", 1, 1, 9, 9, &id);
    fail_unless_equals_int (id, 0);
    expect_problem (film.bus, GST_MESSAGE_WARNING, "clear-target");
    g_signal_emit_by_name (film.element, "clear-target");
  }
  check_nothing (film_show (&film, 1, 1, start));
  cuv_live_clear (&film);
}

static gpointer
call_on (gpointer data)
{
  CuvLive *film = data;
  gint id;

  while (!g_atomic_int_get (&film->height)) {
    g_signal_emit_by_name (film->element, "set-target", 8, 8, 40, 30, &id);
    g_signal_emit_by_name (film->element, "clear-target");
  }
  return NULL;
}

CUV_TEST (test_signals_while_frames_pass)
{
  CuvLive film = film_new ("scales=<1.0>", "NV12", 64, 48);
  CuvLive shared = { .element = film.element };
  GThread *thread = g_thread_new ("call", call_on, &shared);

  gst_buffer_unref (film_show (&film, 200, 1, (Box){ 8, 8, 40, 30 }));
  g_atomic_int_set (&shared.height, 1);
  g_thread_join (thread);
  cuv_live_clear (&film);
}

/* Emits set-target; returns the id. */
static gint
set_target (GstElement *t, Box box)
{
  gint id = -1;

  g_signal_emit_by_name (
      t, "set-target", box.x, box.y, box.width, box.height, &id);
  return id;
}

CUV_TEST (test_signals_before_the_start)
{
  g_autoptr (GstElement) line = gst_parse_launch (
      "videotestsrc num-buffers=3 ! rcdtrack name=t ! fakesink", NULL);
  g_autoptr (GstElement) t = gst_bin_get_by_name (GST_BIN (line), "t");
  guint targets;

  fail_unless_equals_int (set_target (t, (Box){ 1, 2, 30, 40 }), 1);
  fail_unless_equals_int (set_target (t, (Box){ 1, 2, 30, 40 }), 0);
  g_signal_emit_by_name (t, "clear-target");
  fail_unless_equals_int (set_target (t, (Box){ 90, 60, 80, 99 }), 2);
  gst_element_set_state (line, GST_STATE_PLAYING);
  gst_message_unref (gst_bus_timed_pop_filtered (
      GST_ELEMENT_BUS (line), 10 * GST_SECOND, GST_MESSAGE_EOS));
  g_object_get (t, "targets", &targets, NULL);
  fail_unless_equals_int (targets, 1);
  gst_element_set_state (line, GST_STATE_NULL);
  fail_unless_equals_int (set_target (t, (Box){ 1, 2, 30, 40 }), 1);
}
