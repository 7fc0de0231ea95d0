/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GStreamer's objectdetectionoverlay draws what this project writes. */
#include "config.h"
#include "mtds.h"

CUV_BEFORE_TESTS (prepare, tcase)
{
  skip_without ("objectdetectionoverlay");
}

static guint
blue_at (GstBuffer *frame, guint x, guint y)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (frame);
  guint8 blue;

  gst_buffer_extract (
      frame, meta->offset[0] + (gsize) meta->stride[0] * y + 4 * x, &blue, 1);
  return blue;
}

static guint
n_drawn (GstBuffer *frame, CuvRoi area)
{
  guint n = 0;

  for (gint y = area.top; y < area.bottom; y++) {
    for (gint x = area.left; x < area.right; x++)
      n += blue_at (frame, (guint) x, (guint) y) > 0;
  }
  return n;
}

static GstBuffer *
frame_with_face (void)
{
  GstBuffer *frame = black_frame ();
  GstVideoInfo info = frame_info ();
  GstCuvObject object = gst_cuv_meta_add_object (
      &(GstCuvWriter){ .buffer = frame, .info = &info }, 0, "face", 60, 50, 100,
      80, 0.75, NULL);

  gst_cuv_meta_add_class (&(GstCuvWriter){ .buffer = frame }, &object);
  return frame;
}

CUV_TEST (test_box_and_label)
{
  GstHarness *h = line_new ("objectdetectionoverlay", "BGRA");
  GstBuffer *frame = push (h, frame_with_face ());

  for (guint x = 70; x < 150; x += 10)
    fail_unless (blue_at (frame, x, 50) > 100 && blue_at (frame, x, 130) > 100);
  for (guint y = 60; y < 120; y += 10)
    fail_unless (blue_at (frame, 60, y) > 100 && blue_at (frame, 160, y) > 100);
  fail_unless (blue_at (frame, 110, 90) == 0 && blue_at (frame, 40, 90) == 0
      && blue_at (frame, 200, 90) == 0);
  ck_assert_uint_gt (n_drawn (frame, (CuvRoi){ 60, 30, 160, 45 }), 50);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}

/* Draws the id inside the lower edge of the box (GStreamer 1.28). */
CUV_TEST (test_id)
{
  GstHarness *h = line_new ("visiontrack ! objectdetectionoverlay", "BGRA");
  GstElement *overlay = gst_harness_find_element (h, "objectdetectionoverlay");
  const gboolean has_ids =
      g_object_class_find_property (
          G_OBJECT_GET_CLASS (overlay), "draw-tracking-labels")
      != NULL;
  GstBuffer *frame = push (h, frame_with_face ());
  MtdTrack track = mtd_find_track (frame, 1);
  const guint n = n_drawn (frame, (CuvRoi){ 65, 100, 155, 125 });

  mtd_check_box (&track.od, 60, 50, 100, 80);
  fail_unless (has_ids ? n > 50 : n == 0, "%u pixels of the id are drawn", n);
  gst_buffer_unref (frame);
  gst_object_unref (overlay);
  gst_harness_teardown (h);
}
