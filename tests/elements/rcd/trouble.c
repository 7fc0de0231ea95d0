/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rcdtrack: invalid targets, changing frames, restarted streams, pictures. */
#include "config.h"
#include "film.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 192
#define HEIGHT 128
#define BOX                                                                    \
  "object-initial-x=40 object-initial-y=32 object-initial-width=32 "           \
  "object-initial-height=24 "

static const Box place = { 40, 32, 32, 24 };
static const Box far = { 148, 92, 32, 24 };

/* ---- invalid targets ---- */

static const struct {
  Box box;
  const gchar *problem;
} invalid_boxes[] = {
  { { 300, 10, 20, 20 }, "20 x 20 pixels at (300, 10) lies outside" },
  { { 10, -40, 20, 20 }, "20 x 20 pixels at (10, -40) lies outside" },
  { { 10, 10, 0, 20 }, "0 x 20 pixels at (10, 10) is empty" },
  { { 10, 10, -5, 20 }, "at (10, 10) is empty" },
  { { G_MAXINT, G_MAXINT, G_MAXINT, G_MAXINT }, "lies outside" },
  { { G_MININT, 0, G_MAXINT, 20 }, "lies outside" },
  { { 10, 10, 1, 1 }, "1 x 1 pixels at (10, 10) has too few pixels" },
  { { 191, 0, 40, 3 }, "too few pixels inside the frame" },
  { { 100, 60, 40, 40 }, "40 x 40 pixels at (100, 60) is flat" },
};

/* A warning names the box and the reason; the element goes on, and accepts
 * other targets. */
CUV_TEST (test_invalid_boxes)
{
  static const gchar *const formats[] = { "NV12", "RGB" };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    CuvLive film = film_new ("", formats[f], WIDTH, HEIGHT);
    gint id;

    for (guint i = 0; i < G_N_ELEMENTS (invalid_boxes); i++) {
      const Box box = invalid_boxes[i].box;
      GstBuffer *frame = film_frame (&film);

      film_draw_object (frame, 0, (Box){ 90, 50, 60, 60 }); /* flat */
      g_signal_emit_by_name (
          film.element, "set-target", box.x, box.y, box.width, box.height, &id);
      fail_unless (id > 0);
      check_nothing (cuv_live_push (&film, frame));
      expect_problem (film.bus, GST_MESSAGE_WARNING, invalid_boxes[i].problem);
      check_nothing (film_show (&film, 1, -1, place));
      expect_no_warning (film.bus);
    }
    g_signal_emit_by_name (film.element, "set-target", place.x, place.y,
        place.width, place.height, &id);
    check_at (film_show (&film, 1, 1, place), id, place);
    cuv_live_clear (&film);
  }
}

CUV_TEST (test_one_pixel_by_properties)
{
  CuvLive film = film_new ("object-initial-x=5 object-initial-y=5 "
                           "object-initial-width=1 object-initial-height=1",
      "NV12", WIDTH, HEIGHT);

  check_nothing (film_show (&film, 2, 1, place));
  expect_problem (film.bus, GST_MESSAGE_WARNING, "1 x 1 pixels at (5, 5)");
  expect_no_warning (film.bus);
  cuv_live_clear (&film);
}

/* A box that looks like its surroundings is tracked, but causes one warning. */
CUV_TEST (test_box_like_its_surroundings)
{
  static const gchar *const properties[] = { "", "metric=forstner",
    "features=rgb-grad" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    CuvLive film = film_new (properties[i], "RGB", WIDTH, HEIGHT);
    gint id;

    g_signal_emit_by_name (film.element, "set-target", place.x, place.y,
        place.width, place.height, &id);
    check_at (film_show (&film, 1, 1, place), id, place);
    expect_no_warning (film.bus);
    g_signal_emit_by_name (film.element, "clear-target");
    g_signal_emit_by_name (film.element, "set-target", 90, 50, 40, 40, &id);
    gst_buffer_unref (film_show (&film, 1, 1, place));
    expect_problem (film.bus, GST_MESSAGE_WARNING,
        "40 x 40 pixels at (90, 50) looks like the box beside it");
    gst_buffer_unref (film_show (&film, 5, 1, place));
    expect_no_warning (film.bus);
    cuv_live_clear (&film);
  }
}

/* A flat region that is detected in every frame causes one warning. */
CUV_TEST (test_flat_region)
{
  CuvLive film = film_new ("", "NV12", WIDTH, HEIGHT);

  for (gint i = 0; i < 5; i++) {
    GstBuffer *frame = film_frame (&film);

    film_draw_object (frame, 0, (Box){ 30, 20, 60, 60 });
    film_region (frame, "wall", place);
    check_nothing (cuv_live_push (&film, frame));
    if (i == 0)
      expect_problem (film.bus, GST_MESSAGE_WARNING, "is flat");
    expect_no_warning (film.bus);
  }
  cuv_live_clear (&film);
}

/* Regions are clipped to the frame; those outside are ignored. */
CUV_TEST (test_regions_beyond_the_frame)
{
  static const Box beyond[] = { { 500, 10, 20, 20 }, { -1, -1, -1, -1 },
    { 10, 10, 0, 5 } };
  CuvLive film = film_new ("", "NV12", WIDTH, HEIGHT);
  GstBuffer *frame = film_frame (&film);
  const Box part = { 160, 100, 32, 28 };

  film_draw_object (frame, 1, part);
  for (guint i = 0; i < G_N_ELEMENTS (beyond); i++)
    film_region (frame, "beyond", beyond[i]);
  film_region (frame, "part", (Box){ 160, 100, 5000, 28 });
  frame = cuv_live_push (&film, frame);
  fail_unless_equals_int (n_tracks (frame), 1);
  gst_buffer_unref (frame);
  check_at (film_show (&film, 1, 1, part), 1, part);
  expect_no_warning (film.bus);
  cuv_live_clear (&film);
}

/* Labels of regions may be invalid UTF-8, messages must not. */
CUV_TEST (test_label_of_invalid_utf8)
{
  CuvLive film = film_new ("message=every-frame", "NV12", WIDTH, HEIGHT);
  GstBuffer *frame = film_frame (&film);
  const GstStructure *object;
  GstMessage *message;

  film_draw_object (frame, 1, place);
  film_region (frame, "bad\xff", place);
  gst_buffer_unref (cuv_live_push (&film, frame));
  message = gst_bus_pop_filtered (film.bus, GST_MESSAGE_ELEMENT);
  object = gst_value_get_structure (gst_value_list_get_value (
      gst_structure_get_value (gst_message_get_structure (message), "objects"),
      0));
  fail_unless_equals_string (
      gst_structure_get_string (object, "label"), "bad\xef\xbf\xbd");
  gst_message_unref (message);
  cuv_live_clear (&film);
}

static void
make_grey (GstBuffer *frame)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (frame);
  GstMapInfo map;

  gst_buffer_map (frame, &map, GST_MAP_READWRITE);
  for (guint y = 0; y < meta->height; y++) {
    guint8 *pixel = map.data + meta->offset[0] + y * (guint) meta->stride[0];

    for (guint x = 0; x < meta->width; x++, pixel += 3)
      pixel[1] = pixel[2] = pixel[0];
  }
  gst_buffer_unmap (frame, &map);
}

/* R = G = B: only lambda makes the covariance regular. */
CUV_TEST (test_grey_in_rgb)
{
  static const gchar *const methods[] = { "", "metric=forstner",
    "features=tuzel9", "update=riemann", "update=jbld-mean" };

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    gchar *all = g_strconcat (BOX, methods[i], NULL);
    CuvLive film = film_new (all, "RGB", WIDTH, HEIGHT);
    const Box next = { 44, 36, 32, 24 };

    for (gint n = 0; n < 3; n++) {
      GstBuffer *frame = film_frame (&film);

      film_draw_object (frame, 1, n == 0 ? place : next);
      fail_unless (gst_buffer_get_video_meta (frame)->stride[0] % 3 == 0
          || gst_buffer_get_video_meta (frame)->stride[0] % 4 == 0);
      make_grey (frame);
      check_at (cuv_live_push (&film, frame), 1, n == 0 ? place : next);
    }
    cuv_live_clear (&film);
    g_free (all);
  }
}

/* ---- frames that change ---- */

CUV_TEST (test_other_sizes)
{
  CuvLive film = film_new (BOX "update=none", "NV12", WIDTH, HEIGHT);
  const Box elsewhere = { 300, 200, 32, 24 }, low = { 4, 4, 32, 24 };

  check_at (film_show (&film, 2, 1, place), 1, place);
  cuv_live_caps (&film, "NV12", 2 * WIDTH, 2 * HEIGHT);
  check_at (film_show (&film, 2, 1, elsewhere), 1, elsewhere);
  cuv_live_caps (&film, "NV12", 48, 40);
  check_at (film_show (&film, 2, 1, low), 1, low);
  expect_no_warning (film.bus);
  cuv_live_clear (&film);
}

/* Shrinks frames until no window fits, and enlarges them again. */
CUV_TEST (test_frames_smaller_than_the_target)
{
  static const gint sizes[][2] = { { 30, 20 }, { 6, 6 }, { 1, 1 }, { 1, 90 },
    { 90, 1 } };
  CuvLive film =
      film_new (BOX "update=none scales=<0.5,1.0>", "NV12", WIDTH, HEIGHT);

  check_at (film_show (&film, 2, 1, place), 1, place);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    cuv_live_caps (&film, "NV12", sizes[i][0], sizes[i][1]);
    gst_buffer_unref (film_show (&film, 2, -1, place));
    if (i == 1)
      expect_problem (film.bus, GST_MESSAGE_WARNING, "No window fits the");
    expect_no_warning (film.bus);
  }
  cuv_live_caps (&film, "NV12", WIDTH, HEIGHT);
  check_at (film_show (&film, 1, 1, place), 1, place);
  cuv_live_clear (&film);
}

/* With another colour model the target is measured again at its box. */
CUV_TEST (test_other_formats)
{
  static const gchar *const formats[] = { "RGB", "NV12", "BGRx", "I420" };
  CuvLive film = film_new (BOX "update=none", "RGB", WIDTH, HEIGHT);
  const Box next = { 44, 36, 32, 24 };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstBuffer *out;
    GArray *tracks;

    cuv_live_caps (&film, formats[i], WIDTH, HEIGHT);
    out = film_show (&film, 1, 1, place);
    tracks = tracks_of (out);
    fail_unless_equals_int (tracks->len, 1);
    fail_unless (g_array_index (tracks, Track, 0).distance == 0);
    g_array_unref (tracks);
    check_at (out, 1, place);
    check_at (film_show (&film, 1, 1, next), 1, next);
    check_at (film_show (&film, 1, 1, place), 1, place);
  }
  cuv_live_clear (&film);
}

CUV_TEST (test_cut_to_another_scene)
{
  CuvLive film = film_new (BOX "update=none", "RGB", WIDTH, HEIGHT);
  GstBuffer *frame;

  check_at (film_show (&film, 2, 1, place), 1, place);
  for (gint i = 0; i < 4; i++) {
    frame = film_frame (&film);
    film_draw_object (frame, i % 2 == 0 ? 4 : 0, (Box){ 0, 0, WIDTH, HEIGHT });
    check_nothing (cuv_live_push (&film, frame));
  }
  check_at (film_show (&film, 1, 1, far), 1, far);
  expect_no_warning (film.bus);
  cuv_live_clear (&film);
}

/* ---- restarted streams ---- */

/* After a seek the whole frame is searched once. */
CUV_TEST (test_flush)
{
  CuvLive film = film_new (BOX "update=none", "NV12", WIDTH, HEIGHT);

  check_at (film_show (&film, 2, 1, place), 1, place);
  check_nothing (film_show (&film, 1, 1, far));
  check_at (film_show (&film, 1, 1, far), 1, far); /* it was lost */
  cuv_harness_flush (film.h);
  check_at (film_show (&film, 1, 1, place), 1, place);
  /* the whole frame was searched only once */
  check_nothing (film_show (&film, 1, 1, far));
  cuv_live_clear (&film);
}

CUV_TEST (test_restart)
{
  CuvLive film = film_new (BOX, "NV12", WIDTH, HEIGHT);
  gint id;

  for (gint i = 0; i < 3; i++) {
    check_at (film_show (&film, 2, 1, place), 1, place);
    g_signal_emit_by_name (film.element, "clear-target");
    g_signal_emit_by_name (
        film.element, "set-target", far.x, far.y, far.width, far.height, &id);
    fail_unless_equals_int (id, 2);
    check_at (film_show (&film, 2, 1, far), 2, far);
    gst_element_set_state (film.h->element, GST_STATE_NULL);
    gst_element_set_state (film.h->element, GST_STATE_PLAYING);
    cuv_live_caps (&film, "NV12", WIDTH, HEIGHT);
  }
  cuv_live_clear (&film);
}

CUV_TEST (test_eos)
{
  CuvLive film = film_new (BOX, "NV12", WIDTH, HEIGHT);
  GstEvent *event;
  gboolean ended = FALSE;

  check_at (film_show (&film, 2, 1, place), 1, place);
  gst_harness_push_event (film.h, gst_event_new_eos ());
  while ((event = gst_harness_try_pull_event (film.h)) != NULL) {
    ended |= GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
  }
  fail_unless (ended);
  cuv_live_clear (&film);
}

/* Detection and tracking in a pipeline. */
CUV_TEST (test_pipeline)
{
  cuv_play ("videotestsrc num-buffers=30 pattern=ball ! "
            "video/x-raw,width=160,height=120 ! waldboostdetect ! "
            "rcdtrack object-initial-x=60 object-initial-y=40 "
            "object-initial-width=30 object-initial-height=30 ! fakesink");
}

/* ---- a picture ---- */

/* Writes the frame to a PNG file; unrefs it. */
static gchar *
write_picture (GstBuffer *frame, const gchar *format, gint width, gint height)
{
  g_autofree gchar *folder = g_dir_make_tmp ("rcd-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "target.png", NULL);
  g_autoptr (GstHarness) h = gst_harness_new ("pngenc");
  g_autoptr (GstBuffer) png = NULL;
  GstMapInfo map;

  cuv_harness_caps (h, format, width, height);
  png = gst_harness_push_and_pull (h, frame);
  gst_buffer_map (png, &map, GST_MAP_READ);
  fail_unless (
      g_file_set_contents (path, (gchar *) map.data, (gssize) map.size, NULL));
  gst_buffer_unmap (png, &map);
  return path;
}

static gchar *
picture_of (guint kind, Box box)
{
  GstBuffer *frame = cuv_frame_new ("RGB", box.width, box.height);

  film_draw_object (frame, kind, (Box){ 0, 0, box.width, box.height });
  return write_picture (frame, "RGB", box.width, box.height);
}

/* Writes a picture with a transparent margin; hole: also transparent in the
 * middle. */
static gchar *
transparent_picture_of (guint kind, Box box, gboolean hole)
{
  const gint width = box.width + 20, height = box.height + 9;
  GstBuffer *frame = cuv_frame_new ("RGBA", width, height);
  GstVideoFrame video;
  GstVideoInfo info;

  film_draw_object (frame, kind, (Box){ 13, 4, box.width, box.height });
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGBA, width, height);
  fail_unless (gst_video_frame_map (&video, &info, frame, GST_MAP_READWRITE));
  for (gint i = 0; i < width * height; i++) {
    const gint x = i % width - 13, y = i / width - 4;
    const gboolean inside = x >= 0 && x < box.width && y >= 0 && y < box.height;
    guint8 *row = (guint8 *) video.data[0]
        + i / width * GST_VIDEO_FRAME_PLANE_STRIDE (&video, 0);

    row[4 * (i % width) + 3] =
        inside && !(hole && x > box.width / 4 && x < box.width / 2) ? 255 : 0;
  }
  gst_video_frame_unmap (&video);
  return write_picture (frame, "RGBA", width, height);
}

static void
remove_picture (gchar *path)
{
  g_autofree gchar *folder = g_path_get_dirname (path);

  remove (path);
  remove (folder);
  g_free (path);
}

/* The picture is found in RGB formats, and searched for again after the target
 * was given up. */
CUV_TEST (test_picture)
{
  static const gchar *const formats[] = { "RGB", "BGRx" };
  gchar *path = picture_of (1, place);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    CuvLive film =
        film_new ("max-lost-frames=2 update=none", formats[i], WIDTH, HEIGHT);

    g_object_set (film.element, "target-image", path, NULL);
    check_nothing (film_show (&film, 2, -1, place));
    expect_event (&film, " 1"); /* the target is lost from the start */
    check_nothing (film_show (&film, 1, -1, place));
    expect_event (&film, "given-up 1");
    check_at (film_show (&film, 1, 1, place), 2, place);
    expect_event (&film, "acquired 2");
    check_at (film_show (&film, 1, 1, (Box){ 52, 36, 32, 24 }), 2,
        (Box){ 52, 36, 32, 24 });
    /* the same path again is a new picture: the file may have changed */
    g_object_set (film.element, "target-image", path, NULL);
    check_at (film_show (&film, 1, 1, place), 3, place);
    g_object_set (film.element, "target-image", NULL, NULL);
    check_nothing (film_show (&film, 1, 1, place));
    cuv_live_clear (&film);
  }
  remove_picture (path);
}

CUV_TEST (test_transparent_picture)
{
  gchar *margin = transparent_picture_of (1, place, FALSE);
  gchar *hole = transparent_picture_of (1, place, TRUE);
  CuvLive film = film_new ("", "RGB", WIDTH, HEIGHT);

  g_object_set (film.element, "target-image", margin, NULL);
  check_at (film_show (&film, 1, 1, place), 1, place);
  g_object_set (film.element, "target-image", hole, NULL);
  expect_problem (film.bus, GST_MESSAGE_WARNING, "% of its pixels are transp");
  check_at (film_show (&film, 1, 1, place), 1, place);
  cuv_live_clear (&film);
  remove_picture (margin);
  remove_picture (hole);
}

/* The picture is found in YUV video, too. */
CUV_TEST (test_picture_in_yuv)
{
  gchar *path = picture_of (1, place);
  g_autofree gchar *line =
      g_strdup_printf ("videoconvert ! video/x-raw,format=I420 ! "
                       "rcdtrack name=t target-image=%s",
          path);
  CuvLive film = { .h = gst_harness_new_parse (line), .bus = gst_bus_new () };

  film.element = gst_bin_get_by_name (GST_BIN (film.h->element), "t");
  gst_element_set_bus (film.h->element, film.bus);
  cuv_live_caps (&film, "RGB", WIDTH, HEIGHT);
  check_at (film_show (&film, 1, 1, place), 1, place);
  cuv_live_clear (&film);
  remove_picture (path);
}
