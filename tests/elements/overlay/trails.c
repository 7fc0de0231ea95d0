/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionoverlay: the trails of tracked objects, their length and their end. */
#include "config.h"
#include "scene.h"

#define Y 60 /* y of all objects' centres */

static GstHarness *
new_harness (guint length)
{
  GstHarness *h = overlay_new ("RGB", 320, 120, NULL);

  g_object_set (h->element, "draw-boxes", FALSE, "trail-length", length, NULL);
  return h;
}

/* Returns a black frame at this time, with an object around (x, Y) if id is not
 * 0. */
static GstBuffer *
frame_at (GstClockTime time, gint id, guint x)
{
  GstBuffer *buffer = cuv_frame_new ("RGB", 320, 120);

  gst_buffer_memset (buffer, 0, 0, -1);
  GST_BUFFER_PTS (buffer) = time;
  if (id != 0)
    gst_video_region_of_interest_meta_add_param (
        overlay_add_region (buffer, "dog", x - 10, Y - 10, 21, 21, -1),
        gst_structure_new ("object_id", "id", G_TYPE_INT, id, NULL));
  return buffer;
}

/* Draws a frame and checks where it has a trail: expected[i] is '1' or '0' for
 * each x. */
static void
check (
    GstHarness *h, GstBuffer *in, const gint *x, guint n, const gchar *expected)
{
  GstBuffer *out = overlay_draw (h, in);

  for (guint i = 0; i < n; i++)
    fail_unless (
        (overlay_sample (h, out, 0, x[i], Y) > 200) == (expected[i] == '1'),
        "trail at x = %d differs from %s", x[i], expected);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
}

static const gint between[] = { 60, 110, 160, 210 };
#define CHECK(h, in, expected) check (h, in, between, 4, expected)

static void
walk (GstHarness *h, gint id)
{
  CHECK (h, frame_at (0, id, 40), "0000");
  CHECK (h, frame_at (GST_SECOND / 10, id, 90), "1000");
  CHECK (h, frame_at (GST_SECOND / 5, id, 140), "1100");
}

CUV_TEST (trail_connects_centres)
{
  g_autoptr (GstHarness) h = new_harness (30);

  walk (h, 7);
}

CUV_TEST (trail_length_limits_it)
{
  g_autoptr (GstHarness) h = new_harness (3);

  walk (h, 7);
  CHECK (h, frame_at (GST_SECOND / 4, 7, 190), "0110");
  CHECK (h, frame_at (GST_SECOND / 3, 7, 240), "0011");
  g_object_set (h->element, "trail-length", 0, NULL);
  CHECK (h, frame_at (GST_SECOND / 2, 7, 290), "0000");
}

CUV_TEST (only_tracked_objects_have_trails)
{
  g_autoptr (GstHarness) h = new_harness (30);
  GstBuffer *in = frame_at (0, 0, 0);

  overlay_add_region (in, "dog", 30, Y - 10, 21, 21, -1);
  CHECK (h, in, "0000");
  in = frame_at (GST_SECOND / 10, 0, 0);
  overlay_add_region (in, "dog", 180, Y - 10, 21, 21, -1);
  CHECK (h, in, "0000");
  g_object_set (h->element, "labels", "cat", NULL);
  CHECK (h, frame_at (GST_SECOND / 5, 3, 40), "0000");
  CHECK (h, frame_at (GST_SECOND / 4, 3, 90), "0000");
  g_object_set (h->element, "labels", "dog", NULL);
  CHECK (h, frame_at (GST_SECOND / 3, 3, 140), "1100");
}

CUV_TEST (trail_of_lost_object_stays_for_a_second)
{
  g_autoptr (GstHarness) h = new_harness (30);

  walk (h, 7);
  CHECK (h, frame_at (GST_SECOND, 0, 0), "1100");
  CHECK (h, frame_at (GST_SECOND * 6 / 5, 0, 0), "1100");
  CHECK (h, frame_at (GST_SECOND * 6 / 5 + 1, 0, 0), "0000");
  CHECK (h, frame_at (GST_SECOND * 7 / 5, 7, 190), "0000");
}

CUV_TEST (flush_clears_trails)
{
  g_autoptr (GstHarness) h = new_harness (30);

  walk (h, 7);
  cuv_harness_flush (h);
  CHECK (h, frame_at (GST_SECOND / 4, 7, 190), "0000");
}

CUV_TEST (frames_without_timestamps_have_no_trails)
{
  g_autoptr (GstHarness) h = new_harness (30);

  CHECK (h, frame_at (GST_CLOCK_TIME_NONE, 7, 40), "0000");
  CHECK (h, frame_at (GST_CLOCK_TIME_NONE, 7, 90), "0000");
}

CUV_TEST (ids_have_own_colours)
{
  g_autoptr (GstHarness) h = overlay_new ("RGB", 320, 120, NULL);
  g_autoptr (GstBuffer) in = frame_at (0, 1, 40);
  g_autoptr (GstBuffer) out = NULL;
  guint differs = 0;

  gst_video_region_of_interest_meta_add_param (
      overlay_add_region (in, "dog", 190, Y - 10, 21, 21, -1),
      gst_structure_new ("object_id", "id", G_TYPE_INT, 2, NULL));
  g_object_set (h->element, "color", 0, NULL);
  out = overlay_draw (h, in);
  for (guint c = 0; c < 3; c++)
    differs +=
        overlay_sample (h, out, c, 30, Y) != overlay_sample (h, out, c, 190, Y);
  fail_unless (differs > 0, "objects 1 and 2 have the same colour");
}
