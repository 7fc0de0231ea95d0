/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GStreamer's objectdetectionoverlay draws what this project writes. */
#include "config.h"
#include "mtds.h"

static guint
blue_at (GstBuffer *frame, guint x, guint y)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (frame);
  guint8 blue;

  gst_buffer_extract (
      frame, meta->offset[0] + (gsize) meta->stride[0] * y + 4 * x, &blue, 1);
  return blue;
}

CUV_TEST (test_objectdetectionoverlay)
{
  GstHarness *h = line_new ("objectdetectionoverlay", "BGRA");
  GstBuffer *frame = black_frame ();
  GstVideoInfo info = frame_info ();
  GstCuvObject object = gst_cuv_meta_add_object (
      frame, &info, 0, "face", 60, 50, 100, 80, 0.75, NULL);
  guint label = 0;

  gst_cuv_meta_add_class (frame, &object);
  frame = push (h, frame);
  for (guint x = 70; x < 150; x += 10)
    fail_unless (blue_at (frame, x, 50) > 100 && blue_at (frame, x, 130) > 100);
  for (guint y = 60; y < 120; y += 10)
    fail_unless (blue_at (frame, 60, y) > 100 && blue_at (frame, 160, y) > 100);
  fail_unless (blue_at (frame, 110, 90) == 0 && blue_at (frame, 40, 90) == 0
      && blue_at (frame, 200, 90) == 0);
  for (guint x = 60; x < 160; x++) {
    for (guint y = 30; y < 45; y++)
      label += blue_at (frame, x, y) > 0;
  }
  fail_unless (label > 50, "only %u pixels of the label are drawn", label);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}
