/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionoverlay: which pixels are drawn in which colour, and which frames are
 * not changed. */
#include "config.h"
#include "scene.h"

#include <math.h>
#include "gstcuvmeta.h"

/* ---- boxes ---- */

/* Computes the 8-bit sample of component c for red, by the formulas of the
 * standards. */
static gdouble
red (const GstVideoInfo *info, guint c, gdouble kr, gdouble kb, gboolean full)
{
  gdouble y = kr, u = -kr / (2 * (1 - kb)), v = 0.5;

  if (GST_VIDEO_INFO_IS_RGB (info))
    return c == 0 || c == 3 ? 255 : 0;
  if (c == 0)
    return full ? 255 * y : 16 + 219 * y;
  return fmin (128 + (full ? 255 : 224) * (c == 1 ? u : v), 255);
}

static gboolean
on_outline (gint x, gint y, gint w, gint h, gint t)
{
  return x >= 0 && y >= 0 && x < w && y < h
      && (x < t || y < t || x >= w - t || y >= h - t);
}

static void
check_component (
    GstHarness *h, GstBuffer *in, GstBuffer *out, guint c, gdouble colour)
{
  g_autofree guint8 *before = overlay_samples (h, in, c);
  g_autofree guint8 *after = overlay_samples (h, out, c);
  GstVideoInfo info = overlay_info (h);

  for (gint y = 0; y < info.height; y++) {
    for (gint x = 0; x < info.width; x++) {
      gboolean drawn = on_outline (x - 10, y - 8, 30, 20, 2);
      gint i = y * info.width + x;

      if (drawn ? fabs (after[i] - colour) > 1 : after[i] != before[i])
        fail ("%s component %u at %d,%d: %u was %u, colour is %g",
            GST_VIDEO_INFO_NAME (&info), c, x, y, after[i], before[i], colour);
    }
  }
}

/* Checks a box with even coordinates and even thickness, which covers no chroma
 * sample in part. */
static void
check_box (const gchar *format, gint height, const gchar *colorimetry,
    gdouble kr, gdouble kb, gboolean full)
{
  g_autoptr (GstHarness) h = overlay_new (format, 64, height, colorimetry);
  GstVideoInfo info = overlay_info (h);
  g_autoptr (GstBuffer) in = cuv_frame_new (format, 64, height);
  g_autoptr (GstBuffer) out = NULL;

  overlay_add_region (in, "face", 10, 8, 30, 20, 0.9);
  out = overlay_draw (h, in);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++)
    check_component (h, in, out, c, red (&info, c, kr, kb, full));
}

CUV_TEST (box_is_red_in_every_format)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    check_box (formats[i], 48, NULL, 0.299, 0.114, FALSE);
  check_box ("GRAY8", 48, NULL, 0.299, 0.114, TRUE);
}

CUV_TEST (colours_follow_colorimetry)
{
  check_box ("NV12", 48, "bt601", 0.299, 0.114, FALSE);
  check_box ("NV12", 48, "bt709", 0.2126, 0.0722, FALSE);
  check_box ("YUY2", 48, "bt2020", 0.2627, 0.0593, FALSE);
  check_box ("I420", 48, "1:3:5:1", 0.2126, 0.0722, TRUE);
  check_box ("NV12", 720, NULL, 0.2126, 0.0722, FALSE);
}

CUV_TEST (box_is_clipped_at_the_border)
{
  g_autoptr (GstHarness) h = overlay_new ("RGB", 63, 47, NULL);
  g_autoptr (GstBuffer) in = cuv_frame_new ("RGB", 63, 47);
  g_autoptr (GstBuffer) out = NULL;

  overlay_add_region (in, "face", 50, 40, 100, 100, 0.9);
  overlay_add_region (in, "face", 63, 0, 10, 10, 0.9);
  overlay_add_region (in, "face", 0, 47, G_MAXUINT, G_MAXUINT, 0.9);
  overlay_add_region (in, "face", G_MAXUINT, 3, 10, 10, 0.9);
  overlay_add_region (in, "face", 3, 3, 0, 10, 0.9);
  out = overlay_draw (h, in);
  for (gint y = 0; y < 47; y++) {
    for (gint x = 0; x < 63; x++) {
      gboolean drawn = on_outline (x - 50, y - 40, 100, 100, 2);

      fail_unless_equals_int (overlay_sample (h, out, 0, x, y),
          drawn ? 255 : overlay_sample (h, in, 0, x, y));
    }
  }
}

/* ---- shared frames ---- */

CUV_TEST (shared_frame_is_copied)
{
  g_autoptr (GstHarness) h = overlay_new ("NV12", 64, 48, NULL);
  g_autoptr (GstBuffer) in = cuv_frame_new ("NV12", 64, 48);
  g_autoptr (GstBuffer) before = gst_buffer_copy_deep (in);
  g_autoptr (GstBuffer) out = NULL;
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  overlay_add_region (in, "face", 10, 8, 30, 20, 0.9);
  gst_buffer_ref (in); /* as after tee and imagefreeze */
  fail_unless_equals_int (gst_harness_push (h, in), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (cuv_frames_equal ("NV12", 64, 48, in, before));
  fail_unless (!cuv_frames_equal ("NV12", 64, 48, out, before));
  fail_unless_equals_int (cuv_stat (h->element, "copied"), 1);
  roi = cuv_next_region (out, &state);
  fail_unless (roi != NULL && roi->w == 30, "the copy has no ROI of width 30");
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), GST_BUFFER_PTS (in));
}

CUV_TEST (unshared_frame_is_drawn_on_in_place)
{
  g_autoptr (GstHarness) h = overlay_new ("NV12", 64, 48, NULL);
  GstBuffer *in = cuv_frame_new ("NV12", 64, 48);
  g_autoptr (GstBuffer) out = NULL;
  GstMemory *memory = gst_buffer_peek_memory (in, 0);

  overlay_add_region (in, "face", 10, 8, 30, 20, 0.9);
  fail_unless_equals_int (gst_harness_push (h, in), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (gst_buffer_peek_memory (out, 0) == memory);
  fail_unless_equals_int (cuv_stat (h->element, "copied"), 0);
  fail_unless_equals_int (cuv_stat (h->element, "drawn"), 1);
}

CUV_TEST (frame_without_drawings_is_not_copied)
{
  g_autoptr (GstHarness) h = overlay_new ("NV12", 64, 48, NULL);
  g_autoptr (GstBuffer) in = cuv_frame_new ("NV12", 64, 48);
  GstBuffer *out;

  for (guint i = 0; i < 3; i++) {
    if (i == 1) { /* regions, but none visible */
      overlay_add_region (in, "face", 100, 8, 30, 20, 0.9);
      overlay_add_region (in, "face", 10, 8, 30, 20, 0.9);
      g_object_set (h->element, "opacity", 0.0, NULL);
    }
    if (i == 2)
      g_object_set (h->element, "opacity", 1.0, "draw-boxes", FALSE, NULL);
    gst_harness_push (h, gst_buffer_ref (in));
    out = gst_harness_pull (h);
    fail_unless (out == in, "the frame was copied");
    gst_buffer_unref (out);
  }
  fail_unless_equals_int (cuv_stat (h->element, "copied"), 0);
  fail_unless_equals_int (cuv_stat (h->element, "drawn"), 0);
  fail_unless_equals_int (cuv_stat (h->element, "frames"), 3);
}

CUV_TEST (branch_without_overlay_is_unchanged)
{
  g_autoptr (GstHarness) h = gst_harness_new_parse (
      "tee name=t ! queue ! visionoverlay color=4294901760 ! fakesink "
      "sync=false async=false t. ! queue");
  GstBuffer *out;
  g_autoptr (GstBuffer) in = cuv_frame_new ("I420", 64, 48);

  cuv_harness_caps (h, "I420", 64, 48);
  for (guint i = 0; i < 20; i++) {
    GstBuffer *copy = gst_buffer_copy_deep (in);

    overlay_add_region (copy, "face", 10, 20, 30, 20, 0.9);
    gst_harness_push (h, copy);
    out = gst_harness_pull (h);
    fail_unless (cuv_frames_equal ("I420", 64, 48, in, out), "frame %u", i);
    gst_buffer_unref (out);
  }
}

/* ---- tables ---- */

static guint
draw_table (const gchar *shape, const GstCuvColumn *columns, guint n_columns,
    gconstpointer rows, guint n_rows, const gint (*lit)[2], guint n_lit)
{
  GstHarness *h = overlay_new ("RGB", 64, 48, NULL);
  GstBuffer *in = cuv_frame_new ("RGB", 64, 48), *out;
  guint changed;

  gst_buffer_memset (in, 0, 0, -1);
  g_object_set (h->element, "thickness", 1, NULL);
  gst_cuv_meta_add_table (
      in, "wibble", 7, 32, 24, shape, columns, n_columns, rows, n_rows);
  out = overlay_draw (h, in);
  for (guint i = 0; i < n_lit; i++)
    fail_unless (overlay_sample (h, out, 0, lit[i][0], lit[i][1]) == 255,
        "%s: %d,%d is not drawn", shape, lit[i][0], lit[i][1]);
  changed = overlay_changed (h, in, out, 0, 0, 64, 48);
  g_object_set (h->element, "draw-shapes", FALSE, NULL);
  gst_buffer_unref (out);
  out = overlay_draw (h, in);
  fail_unless (overlay_changed (h, in, out, 0, 0, 64, 48) == 0);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  return changed;
}

/* The reference frame is half as large: pixel centres at 2 p + 0.5. */
CUV_TEST (segments_of_an_unknown_type_are_drawn)
{
  static const GstCuvColumn floats[] = { { "x1", GST_CUV_TYPE_F32 },
    { "y1", GST_CUV_TYPE_F32 }, { "x2", GST_CUV_TYPE_F32 },
    { "y2", GST_CUV_TYPE_F32 } };
  static const gfloat rows[] = { 4.75f, 4.75f, 24.75f, 4.75f, /* row 10 */
    NAN, 1, 2, 3, 7.75f, -1e30f, 7.75f, 1e30f,                /* column 16 */
    -INFINITY, 1, 2, 3 };
  static const gint lit[][2] = { { 10, 10 }, { 30, 10 }, { 50, 10 }, { 16, 0 },
    { 16, 47 } };

  fail_unless_equals_int (
      draw_table ("segments", floats, 4, rows, 4, lit, 5), 41 + 48 - 1);
}

/* Returns how many pixels change in the upper half of a frame whose table has
 * three rows with these captions. */
static guint
draw_captions (const gchar *const *captions, gboolean labels)
{
  static const GstCuvColumn columns[] = { { "caption", GST_CUV_TYPE_TEXT },
    { "x", GST_CUV_TYPE_U32 }, { "y", GST_CUV_TYPE_U32 } };
  const guint32 rows[3][3] = { { 0, 10, 100 }, { 1, 110, 100 },
    { 2, 210, 100 } };
  GstHarness *h = overlay_new ("RGB", 320, 120, NULL);
  GstBuffer *in = cuv_frame_new ("RGB", 320, 120), *out;
  guint changed;

  gst_buffer_memset (in, 0, 0, -1);
  g_object_set (h->element, "thickness", 1, "draw-labels", labels, NULL);
  gst_cuv_meta_set_texts (gst_cuv_meta_add_table (in, "wibble", 1, 320, 120,
                              "points", columns, 3, rows, 3),
      captions, 3);
  out = overlay_draw (h, in);
  changed = overlay_changed (h, in, out, 0, 0, 320, 98);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  return changed;
}

CUV_TEST (captions_are_written_once)
{
  static const gchar *const one[] = { "gate", "gate", "gate" };
  static const gchar *const three[] = { "gate", "door", "gate" };
  static const gchar *const none[] = { "", "", "" };
  const guint n = draw_captions (one, TRUE);

  fail_unless (n > 100, "%u pixels", n);
  fail_unless (draw_captions (three, TRUE) > 2 * n);
  fail_unless_equals_int (draw_captions (none, TRUE), 0);
  fail_unless_equals_int (draw_captions (one, FALSE), 0);
}

CUV_TEST (columns_are_found_by_name)
{
  static const GstCuvColumn columns[] = { { "id", GST_CUV_TYPE_U8 },
    { "y", GST_CUV_TYPE_F64 }, { "score", GST_CUV_TYPE_U16 },
    { "x", GST_CUV_TYPE_I64 } };
  struct {
    guint8 id;
    gdouble y;
    guint16 score;
    gint64 x;
  } __attribute__ ((packed)) row = { 9, 9.75, 3, 10 };
  static const gint lit[][2] = { { 20, 20 }, { 20, 19 }, { 21, 21 } };
  guint n;

  n = draw_table ("points", columns, 4, &row, 1, lit, 3);
  fail_unless (n >= 4 && n <= 10, "a dot of thickness 3 has %u pixels", n);
  fail_unless_equals_int (draw_table ("none", columns, 4, &row, 1, lit, 0), 0);
  fail_unless_equals_int (
      draw_table ("segments", columns, 4, &row, 1, lit, 0), 0);
  fail_unless_equals_int (
      draw_table ("spirals", columns, 4, &row, 1, lit, 0), 0);
}
