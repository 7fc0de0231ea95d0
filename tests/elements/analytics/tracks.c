/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visiontrack with GstAnalytics: objects that are detections only, tracks that
 * are found and lost. */
#include "config.h"
#include "mtds.h"

#define FRAME (GST_SECOND / 30)

/* Pushes a frame with a detection at x, or with none. */
static GstBuffer *
push_at (GstHarness *h, guint number, gint x)
{
  GstBuffer *frame = gst_buffer_new ();

  if (x >= 0)
    mtd_add_od (frame, "person", x, 50, 40, 80, 0.75f);
  GST_BUFFER_PTS (frame) = number * FRAME;
  return push (h, frame);
}

CUV_TEST (test_detections_get_tracks)
{
  GstHarness *h = line_new ("visiontrack", "BGRA");

  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = push_at (h, i, 20 + 3 * (gint) i);
    MtdTrack track = mtd_find_track (buffer, 1);

    fail_if (track.lost);
    ck_assert_uint_eq (track.first_seen, 0);
    ck_assert_uint_eq (track.last_seen, i * FRAME);
    mtd_check_box (&track.od, 20 + 3 * i, 50, 40, 80);
    ck_assert_int_eq (only_object (buffer).track, 1);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

CUV_TEST (test_lost_tracks)
{
  GstHarness *h = line_new ("visiontrack max-lost-frames=2", "BGRA");

  gst_buffer_unref (push_at (h, 0, 20));
  for (guint i = 1; i < 5; i++) {
    GstBuffer *buffer = push_at (h, i, -1);

    if (i <= 2) {
      MtdTrack track = mtd_find_track (buffer, 1);

      fail_unless (track.lost);
      ck_assert_uint_eq (track.last_seen, 0);
    } else {
      ck_assert_uint_eq (
          mtd_count (buffer, gst_analytics_tracking_mtd_get_mtd_type ()), 0);
    }
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

/* The track of another tracker stays. */
CUV_TEST (test_other_tracks_stay)
{
  GstHarness *h = line_new ("visiontrack", "BGRA");
  GstBuffer *frame = gst_buffer_new ();

  mtd_add_track (
      frame, mtd_add_od (frame, "person", 20, 50, 40, 80, 0.75f), 77);
  GST_BUFFER_PTS (frame) = 0;
  frame = push (h, frame);
  ck_assert_int_eq (only_object (frame).track, 77);
  ck_assert_uint_eq (
      mtd_count (frame, gst_analytics_tracking_mtd_get_mtd_type ()), 1);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}
