/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionoverlay: regions stay hidden after they have disappeared. */
#include "config.h"
#include "hidden.h"

CUV_TEST (regions_are_held_by_default)
{
  g_autoptr (GstHarness) h = overlay_new ("RGB", W, H, NULL);

  g_object_set (h->element, "draw-boxes", FALSE, "fill-color", 0xffffffu,
      "fill-margin", 0.0, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "fill", "solid");
  for (guint i = 0; i < 11; i++)
    check_rect (h, i == 0 ? frame_with ("face", 10, 20, 30, 40) : grey_frame (),
        10, 20, 30, 40);
  check_none (h, grey_frame ());
}

CUV_TEST (region_is_held)
{
  g_autoptr (GstHarness) h = new_harness ();

  g_object_set (h->element, "hold-regions", 3, NULL);
  check_none (h, grey_frame ());
  check_rect (h, frame_with ("face", 10, 20, 30, 40), 10, 20, 30, 40);
  for (guint i = 0; i < 3; i++)
    check_rect (h, grey_frame (), 10, 20, 30, 40);
  check_none (h, grey_frame ());
  check_rect (h, frame_with ("face", 10, 20, 30, 40), 10, 20, 30, 40);
  check_rect (h, grey_frame (), 10, 20, 30, 40);
  g_object_set (h->element, "hold-regions", 0, NULL);
  check_none (h, grey_frame ());
}

/* A region that continues is not held, a second one that is lost is held,
 * and a new one elsewhere does not take its place. */
CUV_TEST (each_region_is_held)
{
  GstHarness *h = new_harness ();
  GstBuffer *in = frame_with ("face", 10, 20, 30, 40), *out;

  g_object_set (h->element, "hold-regions", 5, NULL);
  overlay_add_region (in, "face", 15, 22, 30, 40, -1);
  out = overlay_draw (h, in);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
  in = frame_with ("face", 15, 22, 30, 40);
  overlay_add_region (in, "face", 100, 20, 30, 40, -1);
  out = overlay_draw (h, in);
  fail_unless (is_hidden (h, out, 10, 20) && is_hidden (h, out, 44, 61));
  fail_unless (is_hidden (h, out, 100, 20));
  fail_unless_equals_int (cuv_stat (h->element, "hidden"), 2 + 3);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
  /* with another label */
  in = frame_with ("dog", 100, 20, 30, 40);
  out = overlay_draw (h, in);
  fail_unless_equals_int (cuv_stat (h->element, "hidden"), 2 + 3 + 4);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

/* A held region extends from where it was last seen to where it would be
 * now. */
CUV_TEST (held_region_moves_on)
{
  g_autoptr (GstHarness) h = new_harness ();

  g_object_set (h->element, "hold-regions", 10, NULL);
  check_rect (h, frame_with ("face", 20, 60, 30, 40), 20, 60, 30, 40);
  check_rect (h, frame_with ("face", 26, 57, 30, 40), 26, 57, 30, 40);
  check_rect (h, grey_frame (), 26, 54, 36, 43);
  check_rect (h, grey_frame (), 26, 51, 42, 46);
  /* found again where it is expected now, unless it is another object */
  check_rect (h, frame_with ("face", 44, 48, 30, 40), 26, 48, 48, 49);
  for (guint i = 1; i <= 7; i++) /* the region at 44, 48 also moves on */
    check_rect (h, grey_frame (), 26, 48 - 3 * (gint) i, 48 + 6 * (gint) i,
        49 + 3 * (gint) i);
  check_rect (h, grey_frame (), 44, 24, 78, 64);
}

/* Another face at the expected place of the held one does not reveal the
 * held one's last place. */
CUV_TEST (last_place_is_held)
{
  g_autoptr (GstHarness) h = new_harness ();

  g_object_set (h->element, "hold-regions", 100, NULL);
  check_rect (h, frame_with ("face", 20, 40, 30, 30), 20, 40, 30, 30);
  check_rect (h, frame_with ("face", 29, 40, 30, 30), 29, 40, 30, 30);
  for (gint i = 1; i <= 6; i++)
    check_rect (h, grey_frame (), 29, 40, 30 + 9 * i, 30);
  check_rect (h, frame_with ("face", 92, 40, 30, 30), 29, 40, 93, 30);
  check_rect (h, frame_with ("face", 93, 40, 30, 30), 29, 40, 102, 30);
}

static void
push_tracked (GstHarness *h, gint id, guint x, guint n_hidden)
{
  guint64 before = cuv_stat (h->element, "hidden");
  GstBuffer *in = frame_with ("face", x, 20, 30, 40);

  if (id > 0)
    gst_video_region_of_interest_meta_add_param (
        gst_buffer_get_video_region_of_interest_meta_id (in, 0),
        gst_structure_new ("object_id", "id", G_TYPE_INT, id, NULL));
  gst_buffer_unref (overlay_draw (h, in));
  gst_buffer_unref (in);
  fail_unless_equals_int (cuv_stat (h->element, "hidden") - before, n_hidden);
}

CUV_TEST (other_tracks_do_not_continue)
{
  g_autoptr (GstHarness) h = new_harness ();

  g_object_set (h->element, "hold-regions", 100, NULL);
  push_tracked (h, 1, 10, 1);
  push_tracked (h, 1, 11, 1);
  push_tracked (h, 2, 11, 2); /* 1 stays */
  push_tracked (h, 2, 12, 2);
  push_tracked (h, 0, 13, 2); /* continues one of the regions, but it is
                               * unknown which */
}

/* Each of many regions is found again, so none is held. */
CUV_TEST (many_regions_are_continued)
{
  g_autoptr (GstHarness) h = new_harness ();

  g_object_set (h->element, "hold-regions", 100, NULL);
  for (guint frame = 0; frame < 3; frame++) {
    GstBuffer *in = grey_frame ();

    for (guint i = 0; i < 1000; i++)
      overlay_add_region (in, "face", i % 40 * 4 + frame % 2, i / 40 * 4, 4,
          i % 7 == 0 ? 20 : 4, -1);
    gst_buffer_unref (overlay_draw (h, in));
    gst_buffer_unref (in);
    fail_unless_equals_int (
        cuv_stat (h->element, "hidden"), 1000 * (frame + 1));
  }
}

CUV_TEST (flush_ends_holding)
{
  g_autoptr (GstHarness) h = new_harness ();

  g_object_set (h->element, "hold-regions", 10, NULL);
  check_rect (h, frame_with ("face", 20, 60, 30, 40), 20, 60, 30, 40);
  cuv_harness_flush (h);
  check_none (h, grey_frame ());
}

/* Held regions are also scaled in frames of another size or format. */
CUV_TEST (held_region_is_scaled)
{
  g_autoptr (GstHarness) h = new_harness ();
  g_autoptr (GstBuffer) in = NULL;
  g_autoptr (GstBuffer) out = NULL;

  g_object_set (h->element, "hold-regions", 10, NULL);
  check_rect (h, frame_with ("face", 14, 60, 30, 40), 14, 60, 30, 40);
  check_rect (h, frame_with ("face", 20, 60, 30, 40), 20, 60, 30, 40);
  cuv_harness_caps (h, "BGR", W, H);
  check_rect (h, grey_frame_of ("BGR", W), 20, 60, 36, 40);
  cuv_harness_caps (h, "BGR", 2 * W, H);
  in = grey_frame_of ("BGR", 2 * W);
  out = overlay_draw (h, in);
  fail_unless_equals_int (
      overlay_changed (h, in, out, 0, 0, 2 * W, H), 84 * 40);
  fail_unless_equals_int (
      overlay_changed (h, in, out, 40, 60, 84, 40), 84 * 40);
}

/* Returns whether the middle pixel of a grey row is hidden, with an object
 * from x on. */
static gboolean
row_is_hidden (GstHarness *h, gsize width, guint x, guint w)
{
  GstBuffer *in = gst_buffer_new_allocate (NULL, GST_ROUND_UP_4 (width), NULL);
  GstBuffer *out;
  guint8 pixel;

  gst_buffer_memset (in, 0, GREY, -1);
  if (w > 0)
    overlay_add_region (in, "face", x, 0, w, 1, -1);
  out = overlay_draw (h, in);
  gst_buffer_extract (out, width / 2, &pixel, 1);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  return pixel != GREY;
}

/* Positions far outside the frame, high speeds, long times and a much larger
 * frame do not overflow. */
CUV_TEST (largest_motion)
{
  g_autoptr (GstHarness) h = new_harness ();
  const guint left = G_MAXINT32 + 1u, by = 0x3c000000;

  g_object_set (h->element, "hold-regions", 1000, NULL);
  cuv_harness_caps (h, "GRAY8", 1, 1);
  fail_if (row_is_hidden (h, 1, left, G_MAXINT32));
  fail_if (row_is_hidden (h, 1, left + by, G_MAXINT32 - by));
  for (guint i = 0; i < 990; i++)
    fail_unless (row_is_hidden (h, 1, 0, 0));
  cuv_harness_caps (h, "GRAY8", 12000000, 1);
  fail_unless (row_is_hidden (h, 12000000, 0, 0));
}

/* Detectors miss objects at a gap in the stream, so holding must continue. */
CUV_TEST (discontinuity_does_not_end_holding)
{
  g_autoptr (GstHarness) h = new_harness ();
  GstBuffer *in = grey_frame ();

  g_object_set (h->element, "hold-regions", 10, NULL);
  check_rect (h, frame_with ("face", 20, 60, 30, 40), 20, 60, 30, 40);
  GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT);
  check_rect (h, in, 20, 60, 30, 40);
}
