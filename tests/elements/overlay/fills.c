/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionoverlay: which regions are hidden, and how much of the frame.
 * tests/kernels/overlay tests the values of hidden samples. */
#include "config.h"
#include "hidden.h"

#include <string.h>

/* ---- formats ---- */

static gint
spread (const guint8 *samples, gint width, gint x, gint y, gint w, gint h)
{
  gint low = 255, high = 0;

  for (gint row = y; row < y + h; row++) {
    for (gint column = x; column < x + w; column++) {
      low = MIN (low, samples[row * width + column]);
      high = MAX (high, samples[row * width + column]);
    }
  }
  return high - low;
}

static gdouble
mean (const guint8 *samples, gint width, gint x, gint y, gint w, gint h)
{
  guint sum = 0;

  for (gint row = y; row < y + h; row++) {
    for (gint column = x; column < x + w; column++)
      sum += samples[row * width + column];
  }
  return (gdouble) sum / (w * h);
}

/* A hidden region of noise gets a single value: black, or its mean. Pixels
 * outside stay unchanged; chroma samples that a hidden pixel shares are
 * hidden, too. */
static void
check_format (const gchar *format, const gchar *fill)
{
  g_autoptr (GstHarness) h = overlay_new (format, 99, 76, NULL);
  g_autoptr (GstBuffer) in = cuv_frame_new (format, 99, 76);
  g_autoptr (GstBuffer) out = NULL;
  GstVideoInfo info = overlay_info (h);

  g_object_set (h->element, "draw-boxes", FALSE, "fill-margin", 0.1, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "fill", fill);
  overlay_add_region (in, "face", 21, 23, 40, 30, -1);
  out = overlay_draw (h, in);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++) {
    guint8 *before = overlay_samples (h, in, c);
    guint8 *after = overlay_samples (h, out, c);
    gdouble expected = mean (before, 99, 16, 20, 50, 36);

    if (g_str_equal (fill, "solid"))
      expected = c == 3                    ? 255
          : !GST_VIDEO_INFO_IS_YUV (&info) ? 0
          : c == 0                         ? 16
                                           : 128;
    fail_unless (spread (before, 99, 17, 20, 48, 36) > 200);
    fail_unless (spread (after, 99, 17, 20, 48, 36) == 0,
        "%s, %s: component %u is not hidden", format, fill, c);
    fail_unless (ABS (after[30 * 99 + 30] - expected)
            <= (g_str_equal (fill, "solid") ? 0 : 8),
        "%s, %s: component %u is %u, not %f", format, fill, c,
        after[30 * 99 + 30], expected);
    for (gint i = 0; i < 99 * 76; i++) {
      gint x = i % 99, y = i / 99;

      if ((x < 16 || x >= 66 || y < 20 || y >= 56) && before[i] != after[i])
        fail ("%s: %d,%d", format, x, y);
    }
    g_free (before);
    g_free (after);
  }
}

CUV_TEST (every_format_is_hidden)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    check_format (formats[i], "solid");
    check_format (formats[i], "blur");
    check_format (formats[i], "pixelate");
  }
}

/* ---- which regions, and where ---- */

CUV_TEST (labels_and_label_fills_select)
{
  g_autoptr (GstHarness) h = new_harness ();
  GObject *overlay = G_OBJECT (h->element);

  check_rect (h, frame_with ("face", 10, 20, 30, 40), 10, 20, 30, 40);
  g_object_set (overlay, "labels", "car", NULL);
  check_none (h, frame_with ("face", 10, 20, 30, 40));
  check_rect (h, frame_with ("car", 10, 20, 30, 40), 10, 20, 30, 40);
  gst_util_set_object_arg (
      overlay, "label-fills", "fills, face=solid, car=none");
  check_rect (h, frame_with ("face", 10, 20, 30, 40), 10, 20, 30, 40);
  check_none (h, frame_with ("car", 10, 20, 30, 40));
  g_object_set (overlay, "labels", NULL, NULL);
  gst_util_set_object_arg (overlay, "fill", "none");
  check_none (h, frame_with ("dog", 10, 20, 30, 40));
  check_rect (h, frame_with ("face", 10, 20, 30, 40), 10, 20, 30, 40);
  gst_util_set_object_arg (overlay, "label-fills", "fills");
  check_none (h, frame_with ("face", 10, 20, 30, 40));
}

/* What is drawn, and how transparent it is, does not affect hiding. */
CUV_TEST (opacity_does_not_matter)
{
  g_autoptr (GstHarness) h = new_harness ();

  g_object_set (h->element, "opacity", 0.0, "draw-shapes", FALSE, NULL);
  check_rect (h, frame_with ("face", 10, 20, 30, 40), 10, 20, 30, 40);
  g_object_set (h->element, "fill-color", 0x01ffffffu, NULL);
  check_rect (h, frame_with ("face", 10, 20, 30, 40), 10, 20, 30, 40);
}

/* Boxes are drawn over the fill. */
CUV_TEST (boxes_are_drawn_over_fills)
{
  g_autoptr (GstHarness) h = new_harness ();
  g_autoptr (GstBuffer) in = frame_with ("face", 10, 20, 30, 40);
  g_autoptr (GstBuffer) out = NULL;

  g_object_set (h->element, "draw-boxes", TRUE, NULL);
  out = overlay_draw (h, in);
  fail_unless_equals_int (overlay_sample (h, out, 1, 10, 20), 0);
  fail_unless_equals_int (overlay_sample (h, out, 1, 12, 22), 0xff);
}

CUV_TEST (regions_may_leave_the_frame)
{
  g_autoptr (GstHarness) h = new_harness ();

  check_rect (h, frame_with ("face", 150, 100, 30, 40), 150, 100, 10, 20);
  check_rect (h, frame_with ("face", 0, 0, G_MAXUINT, G_MAXUINT), 0, 0, W, H);
  check_rect (h, frame_with ("face", 159, 119, 1, 1), 159, 119, 1, 1);
  check_none (h, frame_with ("face", 10, 10, 0, 40));
  check_none (h, frame_with ("face", W, H, 30, 40));
  /* negative coordinates, as unsigned numbers */
  check_rect (
      h, frame_with ("face", (guint) -4, (guint) -9, 30, 40), 0, 0, 26, 31);
  /* the region is outside the frame, its margin is not */
  g_object_set (h->element, "fill-margin", 0.5, NULL);
  check_rect (h, frame_with ("face", W, 20, 20, 20), 150, 10, 10, 40);
}

CUV_TEST (margin_is_a_fraction)
{
  g_autoptr (GstHarness) h = new_harness ();

  g_object_set (h->element, "fill-margin", 0.25, NULL);
  check_rect (h, frame_with ("face", 40, 40, 40, 21), 30, 34, 60, 33);
  g_object_set (h->element, "fill-margin", 1.0, NULL);
  check_rect (h, frame_with ("face", 40, 40, 20, 10), 20, 30, 60, 30);
}

static void
check_contained (GstHarness *h, gint x0, gint y0, gint w, gint height)
{
  g_autoptr (GstBuffer) in =
      frame_with ("face", (guint) x0, (guint) y0, (guint) w, (guint) height);
  g_autoptr (GstBuffer) out = overlay_draw (h, in);
  g_autofree gboolean *hidden = hidden_pixels (h, out);

  for (gint y = y0; y < y0 + height; y++) {
    for (gint x = x0; x < x0 + w; x++) {
      if (!hidden[y * W + x])
        fail ("%d,%d of %dx%d", x, y, w, height);
    }
  }
}

/* The ellipse contains the region at any margin. */
CUV_TEST (ellipse_contains_the_region)
{
  static const gdouble margins[] = { 0, 0.1, 0.2072, 0.25, 0.5 };
  g_autoptr (GstHarness) h = new_harness ();

  gst_util_set_object_arg (G_OBJECT (h->element), "fill-shape", "ellipse");
  for (gint w = 1; w <= 61; w += 6) {
    g_object_set (h->element, "fill-margin", margins[w % 5], NULL);
    check_contained (h, 50, 40, w, 62 - w);
  }
  /* where rounding cannot make up for a margin that is too small */
  g_object_set (h->element, "fill-margin", 0.0, NULL);
  check_contained (h, 30, 10, 100, 100);
}

CUV_TEST (ellipse_spares_corners)
{
  g_autoptr (GstHarness) h = new_harness ();
  g_autoptr (GstBuffer) in = frame_with ("face", 60, 40, 40, 40);
  g_autoptr (GstBuffer) out = NULL;
  g_autofree gboolean *hidden = NULL;
  gint n = 0;

  gst_util_set_object_arg (G_OBJECT (h->element), "fill-shape", "ellipse");
  g_object_set (h->element, "fill-margin", 0.5, NULL);
  out = overlay_draw (h, in);
  fail_unless (is_hidden (h, out, 40, 60) && is_hidden (h, out, 119, 60));
  fail_unless (is_hidden (h, out, 80, 20) && is_hidden (h, out, 80, 99));
  fail_if (is_hidden (h, out, 40, 20) || is_hidden (h, out, 119, 99));
  hidden = hidden_pixels (h, out);
  for (gint i = 0; i < W * H; i++)
    n += hidden[i];
  fail_unless (ABS (n - G_PI / 4 * 80 * 80) < 30, "%d pixels", n);
}

/* ---- regions that overlap ---- */

/* The pixels are the same for every order of the regions. */
CUV_TEST (stronger_fill_wins)
{
  g_autoptr (GstHarness) h = new_harness ();
  GObject *overlay = G_OBJECT (h->element);

  gst_util_set_object_arg (overlay, "fill", "none");
  for (guint order = 0; order < 4; order++) {
    const gboolean inside = order < 2; /* else the larger one is solid */
    GstBuffer *in = cuv_frame_new ("RGB", W, H), *out;
    gint x = inside ? 50 : 10, w = inside ? 40 : 100;

    gst_util_set_object_arg (overlay, "label-fills",
        inside ? "fills, face=solid, person=blur"
               : "fills, face=blur, person=solid");
    if (order % 2 == 0)
      overlay_add_region (in, "face", 50, 20, 40, 40, -1);
    overlay_add_region (in, "person", 10, 10, 100, 100, -1);
    if (order % 2 == 1)
      overlay_add_region (in, "face", 50, 20, 40, 40, -1);
    out = overlay_draw (h, in);
    for (gint i = 0; i < 40 * w; i++) {
      if (!is_hidden (h, out, x + i % w, 20 + i / w))
        fail ("order %u: %d,%d", order, x + i % w, 20 + i / w);
    }
    gst_buffer_unref (out);
    gst_buffer_unref (in);
  }
}

/* A region found inside another one does not reveal more of it. */
static void
check_small_regions (const gchar *fill, gboolean large_first)
{
  g_autoptr (GstHarness) h = new_harness ();
  g_autoptr (GstBuffer) in = cuv_frame_new ("RGB", W, H);
  g_autoptr (GstBuffer) one = gst_buffer_copy_deep (in);
  g_autoptr (GstBuffer) out = NULL;
  g_autoptr (GstBuffer) expected = NULL;

  gst_util_set_object_arg (G_OBJECT (h->element), "fill", fill);
  overlay_add_region (one, "face", 20, 10, 96, 96, -1);
  expected = overlay_draw (h, one);
  if (large_first)
    overlay_add_region (in, "face", 20, 10, 96, 96, -1);
  for (guint i = 0; i < 10; i++)
    overlay_add_region (in, "face", 22 + 7 * i, 80 - 7 * i, 24, 24, -1);
  if (!large_first)
    overlay_add_region (in, "face", 20, 10, 96, 96, -1);
  out = overlay_draw (h, in);
  fail_unless (overlay_changed (h, out, in, 0, 0, W, H) > 9000);
  fail_unless_equals_int (overlay_changed (h, out, expected, 0, 0, W, H), 0);
}

CUV_TEST (smaller_regions_add_nothing)
{
  check_small_regions ("blur", FALSE);
  check_small_regions ("blur", TRUE);
  check_small_regions ("pixelate", FALSE);
  check_small_regions ("pixelate", TRUE);
}

CUV_TEST (fills_change_while_playing)
{
  g_autoptr (GstHarness) h = overlay_new ("GRAY8", W, H, NULL);
  GObject *overlay = G_OBJECT (h->element);
  g_autoptr (GstBuffer) in = cuv_frame_new ("GRAY8", W, H);
  GstBuffer *out;
  gint last = 256;

  g_object_set (h->element, "draw-boxes", FALSE, NULL);
  overlay_add_region (in, "face", 40, 40, 40, 40, -1);
  out = overlay_draw (h, in);
  fail_unless_equals_int (overlay_changed (h, in, out, 0, 0, W, H), 0);
  gst_buffer_unref (out);
  gst_util_set_object_arg (overlay, "fill", "blur");
  for (guint cells = 8; cells > 0; cells /= 2) { /* fewer cells hide more */
    guint8 *samples;
    gint now;

    g_object_set (overlay, "fill-cells", cells, NULL);
    out = overlay_draw (h, in);
    samples = overlay_samples (h, out, 0);
    now = spread (samples, W, 40, 40, 40, 40);
    fail_unless (now < last,
        "values differ by %d with %u cells, by %d with more cells", now, cells,
        last);
    last = now;
    g_free (samples);
    gst_buffer_unref (out);
  }
  fail_unless_equals_int (last, 0); /* one cell */
}

CUV_TEST (unknown_fill_is_refused)
{
  g_autoptr (GstHarness) h = new_harness ();
  GstBus *bus = cuv_harness_watch (h);
  GstMessage *message;
  GError *error = NULL;
  gchar *debug = NULL;

  check_none (h, grey_frame ());
  gst_util_set_object_arg (G_OBJECT (h->element), "fill", "none");
  gst_util_set_object_arg (
      G_OBJECT (h->element), "label-fills", "fills, face=solid");
  gst_util_set_object_arg (
      G_OBJECT (h->element), "label-fills", "fills, face=mosaic, dog=solid");
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_parse_warning (message, &error, &debug);
  fail_unless (strstr (error->message, "face") != NULL
          && strstr (error->message, "none, solid, blur or pixelate") != NULL
          && strstr (error->message, "previous value stays in force") != NULL,
      "%s", error->message);
  g_error_free (error);
  g_free (debug);
  gst_message_unref (message);
  check_rect (h, frame_with ("face", 10, 20, 30, 40), 10, 20, 30, 40);
  check_none (h, frame_with ("Face", 10, 20, 30, 40)); /* another label */
  cuv_harness_unwatch (h, bus);
}

/* ---- shared frames, limits ---- */

CUV_TEST (other_branch_is_not_hidden)
{
  g_autoptr (GstHarness) h = gst_harness_new_parse (
      "tee name=t ! queue ! visionoverlay fill=blur ! fakesink sync=false "
      "async=false t. ! queue");
  GstBuffer *out;
  g_autoptr (GstBuffer) in = cuv_frame_new ("NV12", W, H);

  cuv_harness_caps (h, "NV12", W, H);
  for (guint i = 0; i < 20; i++) {
    GstBuffer *copy = gst_buffer_copy_deep (in);

    overlay_add_region (copy, "face", 10, 20, 30, 20, -1);
    gst_harness_push (h, copy);
    out = gst_harness_pull (h);
    fail_unless (cuv_frames_equal ("NV12", W, H, in, out), "frame %u", i);
    gst_buffer_unref (out);
  }
}

CUV_TEST (shared_frame_is_hidden_in_a_copy)
{
  GstHarness *h = new_harness ();
  GstBuffer *in = frame_with ("face", 10, 20, 30, 40), *out;

  for (guint i = 0; i < 2; i++) {
    gst_harness_push (h, gst_buffer_ref (in));
    out = gst_harness_pull (h);
    fail_unless (is_hidden (h, out, 10, 20));
    fail_if (is_hidden (h, in, 10, 20));
    gst_buffer_unref (out);
  }
  fail_unless_equals_int (cuv_stat (h->element, "copied"), 2);
  fail_unless_equals_int (cuv_stat (h->element, "hidden"), 2);
  /* without other owners the frame is hidden in place */
  fail_unless_equals_int (gst_harness_push (h, in), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (is_hidden (h, out, 10, 20));
  fail_unless_equals_int (cuv_stat (h->element, "copied"), 2);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

CUV_TEST (too_many_regions_hide_everything)
{
  g_autoptr (GstHarness) h = new_harness ();
  GstBuffer *in = grey_frame ();

  g_object_set (h->element, "hold-regions", 1, NULL);
  for (guint i = 0; i < 4097; i++)
    overlay_add_region (in, "face", i % 100, i / 100, 1, 1, -1);
  check_rect (h, in, 0, 0, W, H);
  check_rect (h, grey_frame (), 0, 0, W, H);
  check_none (h, grey_frame ());
  /* lines beyond the limit of primitives do not displace fills */
  in = grey_frame ();
  for (guint i = 0; i < 4096; i++)
    overlay_add_region (in, "face", i % 64, i / 64, 1, 1, -1);
  check_rect (h, in, 0, 0, 64, 64);
}

/* A frame that cannot be hidden is not passed on: this one has no pixels. */
CUV_TEST (frame_that_cannot_be_hidden_is_an_error)
{
  g_autoptr (GstHarness) h = new_harness ();
  GstBus *bus = cuv_harness_watch (h);
  GstBuffer *in = gst_buffer_new_allocate (NULL, 10, NULL);
  GstMessage *message;

  check_none (h, grey_frame ());
  overlay_add_region (in, "face", 10, 20, 30, 40, -1);
  fail_unless_equals_int (gst_harness_push (h, in), GST_FLOW_ERROR);
  fail_unless (gst_harness_try_pull (h) == NULL);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);
  cuv_harness_unwatch (h, bus);
}
