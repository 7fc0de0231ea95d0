/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionoverlay: tables of pictures are drawn as strips at the lower edge. */
#include "config.h"
#include "scene.h"

#include <math.h>
#include <string.h>
#include "gstcuvmeta.h"

typedef struct {
  gint32 region;
  gdouble similarity;
  guint32 name;
} __attribute__ ((packed)) Row;

static const GstCuvColumn columns[] = { { "region_id", GST_CUV_TYPE_I32 },
  { "similarity", GST_CUV_TYPE_F64 }, { "name", GST_CUV_TYPE_TEXT } };

/* Returns a sample of a picture; never 0, which is the colour of the frame. */
static guint8
pixel (guint picture, guint x, guint y, guint c)
{
  return (guint8) (picture * 50 + x * 6 + y * 14 + c * 30) | 1;
}

static void
set_pictures (
    GstStructure *table, guint8 *pixels, gsize size, guint width, guint height)
{
  GBytes *bytes = g_bytes_new_take (pixels, size);

  gst_structure_set (table, "pictures", G_TYPE_BYTES, bytes, "picture_width",
      G_TYPE_UINT, width, "picture_height", G_TYPE_UINT, height, NULL);
  g_bytes_unref (bytes);
}

static GstStructure *
add_pictures (
    GstBuffer *buffer, const Row *rows, guint n, guint width, guint height)
{
  GstStructure *table = gst_cuv_meta_add_table (
      buffer, "wibble", 1, 5, 7, "pictures", columns, 3, rows, n);
  gsize size = (gsize) 3 * width * height * n;
  guint8 *pixels = g_malloc (size);

  for (gsize i = 0; i < size; i++)
    pixels[i] = pixel ((guint) (i / 3 / width / height), i / 3 % width,
        i / 3 / width % height, i % 3);
  set_pictures (table, pixels, size, width, height);
  return table;
}

static GstBuffer *
black_frame (const gchar *format, gint width, gint height)
{
  GstBuffer *buffer = cuv_frame_new (format, width, height);

  gst_buffer_memset (buffer, 0, 0, -1);
  return buffer;
}

/* ---- positions ---- */

/* Default cell in a frame of 320 x 240: an 8 x 6 picture, scaled by six, with a
 * border of 2. */
#define CELL_WIDTH 52
#define CELL_HEIGHT 40
#define GAP 2

static void
check_cell (GstHarness *h, GstBuffer *out, guint picture, gint x0, gint y0,
    guint border)
{
  for (guint c = 0; c < 3; c++) {
    guint8 *samples = overlay_samples (h, out, c);

    for (gint y = 0; y < CELL_HEIGHT; y++) {
      for (gint x = 0; x < CELL_WIDTH; x++) {
        gboolean inside =
            x >= 2 && y >= 2 && x < CELL_WIDTH - 2 && y < CELL_HEIGHT - 2;
        guint expected = inside
            ? pixel (picture, (guint) (x - 2) / 6, (guint) (y - 2) / 6, c)
            : border >> (16 - 8 * c) & 255;
        guint found = samples[(y0 + y) * 320 + x0 + x];

        fail_unless (found == expected, "picture %u at %d,%d, %u: %u, not %u",
            picture, x, y, c, found, expected);
      }
    }
    g_free (samples);
  }
}

static void
check_n_cells (GstHarness *h, GstBuffer *in, GstBuffer *out, guint n)
{
  fail_unless_equals_int (overlay_changed (h, in, out, 0, 0, 320, 240),
      n * CELL_WIDTH * CELL_HEIGHT);
}

static const Row whole_frame[7] = { { -1, 1, 0 }, { -1, 1, 0 }, { -1, 1, 0 },
  { -1, 1, 0 }, { -1, 1, 0 }, { -1, 1, 0 }, { -1, 1, 0 } };

CUV_TEST (strip_is_at_the_bottom)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *in = black_frame ("RGB", 320, 240), *out;

  add_pictures (in, whole_frame, 3, 8, 6);
  out = overlay_draw (h, in);
  for (guint i = 0; i < 3; i++)
    check_cell (
        h, out, i, (gint) i * (CELL_WIDTH + GAP), 240 - CELL_HEIGHT, 0xff0000);
  check_n_cells (h, in, out, 3);
  gst_buffer_unref (out);
  g_object_set (h->element, "draw-shapes", FALSE, NULL);
  out = overlay_draw (h, in);
  check_n_cells (h, in, out, 0);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

CUV_TEST (cells_that_do_not_fit_are_omitted)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *in = black_frame ("RGB", 320, 240), *out;
  Row rows[10];

  add_pictures (in, whole_frame, 7, 8, 6); /* 5 * 54 + 52 > 320 */
  out = overlay_draw (h, in);
  check_cell (h, out, 4, 4 * (CELL_WIDTH + GAP), 200, 0xff0000);
  check_n_cells (h, in, out, 5);
  gst_buffer_unref (out);
  gst_buffer_unref (in);

  in = black_frame ("RGB", 320, 240);
  for (gint i = 0; i < 10; i++) /* 5 * 42 + 40 > 240 */
    rows[i] = (Row){ i, 1, 0 };
  add_pictures (in, rows, 10, 8, 6);
  out = overlay_draw (h, in);
  check_cell (h, out, 4, 0, 200 - 4 * (CELL_HEIGHT + GAP), 0xff0000);
  check_n_cells (h, in, out, 5);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

CUV_TEST (picture_larger_than_the_frame_is_clipped)
{
  g_autoptr (GstHarness) h = overlay_new ("RGB", 64, 48, NULL);
  g_autoptr (GstBuffer) in = black_frame ("RGB", 64, 48);
  g_autoptr (GstBuffer) out = NULL;
  static const gint places[][2] = { { 2, 0 }, { 63, 0 }, { 40, 45 } };

  add_pictures (in, whole_frame, 2, 100, 60);
  out = overlay_draw (h, in); /* begins in row 48 - 64 */
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    gint x = places[i][0], y = places[i][1];

    fail_unless_equals_int (overlay_sample (h, out, 1, x, y),
        pixel (0, (guint) x - 2, (guint) y + 14, 1));
  }
  fail_unless_equals_int (overlay_sample (h, out, 0, 1, 0), 255);
  fail_unless_equals_int (overlay_sample (h, out, 0, 63, 46), 255);
}

CUV_TEST (strips_are_stacked_by_region_and_table)
{
  static const Row rows[] = { { -1, 1, 0 }, { 7, 1, 0 }, { -1, 1, 0 },
    { 8, 1, 0 }, { 7, 1, 0 } };
  g_autoptr (GstHarness) h = overlay_new ("RGB", 320, 240, NULL);
  g_autoptr (GstBuffer) in = black_frame ("RGB", 320, 240);
  g_autoptr (GstBuffer) out = NULL;
  const gint across = CELL_WIDTH + GAP, up = CELL_HEIGHT + GAP;

  gst_util_set_object_arg (
      G_OBJECT (h->element), "label-colors", "c, face=(string)\"#00ff00\"");
  g_object_set (h->element, "draw-boxes", FALSE, NULL);
  overlay_add_region (in, "face", 10, 8, 30, 20, 0.9)->id = 7;
  add_pictures (in, rows, 5, 8, 6);
  add_pictures (in, whole_frame, 1, 8, 6);
  out = overlay_draw (h, in);
  check_cell (h, out, 0, 0, 200, 0xff0000);
  check_cell (h, out, 2, across, 200, 0xff0000);
  /* green borders: overlay_changed() compares red only */
  check_cell (h, out, 1, 0, 200 - up, 0x00ff00);
  check_cell (h, out, 4, across, 200 - up, 0x00ff00);
  check_cell (h, out, 3, 0, 200 - 2 * up, 0xff0000); /* unknown region */
  check_cell (h, out, 0, 0, 200 - 3 * up, 0xff0000);
  fail_unless_equals_int (overlay_changed (h, in, out, 0, 0, 320, 240),
      4 * CELL_WIDTH * CELL_HEIGHT + 2 * 48 * 36);
}

/* ---- formats ---- */

static void
check_format (const gchar *format)
{
  g_autoptr (GstHarness) h = overlay_new (format, 320, 240, NULL);
  GstVideoInfo info = overlay_info (h);
  g_autoptr (GstBuffer) in = black_frame (format, 320, 240);
  g_autoptr (GstBuffer) out = NULL;
  guint8 *grey = g_malloc (3 * 8 * 6);

  memset (grey, 200, 3 * 8 * 6);
  set_pictures (add_pictures (in, whole_frame, 1, 8, 6), grey, 3 * 8 * 6, 8, 6);
  out = overlay_draw (h, in);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++) {
    guint expected = c == 3              ? 255
        : !GST_VIDEO_INFO_IS_YUV (&info) ? 200
        : c > 0                          ? 128
                                         : 188; /* 16 + 219 * 200 / 255 */

    for (gint y = 202; y < 238; y++) {
      for (gint x = 2; x < 50; x++)
        fail_unless (overlay_sample (h, out, c, x, y) == expected,
            "%s component %u at %d,%d is %u", format, c, x, y,
            overlay_sample (h, out, c, x, y));
    }
  }
}

CUV_TEST (grey_is_grey_in_every_format)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    check_format (formats[i]);
}

/* ---- texts ---- */

/* Draws one 80 x 40 picture with the i-th text. */
static GstBuffer *
draw_text (GstHarness *h, const gchar *const *texts, guint n, guint i,
    gdouble similarity)
{
  const Row row = { -1, similarity, i };
  GstBuffer *in = black_frame ("RGB", 320, 240), *out;

  gst_cuv_meta_set_texts (add_pictures (in, &row, 1, 80, 40), texts, n);
  out = overlay_draw (h, in);
  /* nothing is drawn beside or above the cell */
  fail_unless_equals_int (overlay_changed (h, in, out, 84, 0, 236, 240), 0);
  fail_unless_equals_int (overlay_changed (h, in, out, 0, 0, 84, 160), 0);
  gst_buffer_unref (in);
  return out;
}

/* Returns the number of pixels in the last rows that differ from the red
 * background. */
static guint
count_text (GstHarness *h, GstBuffer *out)
{
  g_autofree guint8 *green = overlay_samples (h, out, 1);
  guint n = 0;

  for (gint y = 232; y < 240; y++) {
    for (gint x = 0; x < 84; x++)
      n += green[y * 320 + x] != 0;
  }
  return n;
}

/* Pictures are not drawn, because they may show what is hidden. */
CUV_TEST (no_pictures_where_regions_are_hidden)
{
  static const struct {
    const gchar *fill, *label_fills;
    gboolean drawn;
  } cases[] = { { "none", "fills", TRUE }, { "none", "fills, car=none", TRUE },
    { "blur", "fills", FALSE }, { "none", "fills, face=solid", FALSE } };
  g_autoptr (GstHarness) h = overlay_new ("RGB", 320, 240, NULL);
  g_autoptr (GstBuffer) in = black_frame ("RGB", 320, 240);
  GstBuffer *out;

  add_pictures (in, whole_frame, 3, 8, 6);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GObject *overlay = G_OBJECT (h->element);

    gst_util_set_object_arg (overlay, "fill", cases[i].fill);
    gst_util_set_object_arg (overlay, "label-fills", cases[i].label_fills);
    out = overlay_draw (h, in);
    fail_unless_equals_int (
        overlay_changed (h, in, out, 0, 0, 320, 240) > 0, cases[i].drawn);
    gst_buffer_unref (out);
  }
}

CUV_TEST (names_are_below_pictures)
{
  static const gchar *const texts[] = { "beech", "wood/bark/beech", "birch",
    "a name much longer than its picture is wide", "\xff/", "" };
  g_autoptr (GstHarness) h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *out[7];

  g_object_set (h->element, "draw-labels", TRUE, NULL);
  for (guint i = 0; i < 7; i++) {
    out[i] = draw_text (h, texts, 6, i, 1);
    fail_unless_equals_int (overlay_sample (h, out[i], 0, 0, 239), 255);
    /* a missing text leaves the background */
    fail_unless ((count_text (h, out[i]) > 0) == (i < 5), "text %u", i);
  }
  fail_unless_equals_int (
      overlay_changed (h, out[0], out[1], 0, 0, 320, 240), 0);
  fail_unless (cuv_frames_equal ("RGB", 320, 240, out[0], out[1]),
      "the folders of a path are written");
  fail_unless (!cuv_frames_equal ("RGB", 320, 240, out[0], out[2]));
  for (guint i = 0; i < 7; i++)
    gst_buffer_unref (out[i]);
}

/* Returns whether the names below two pictures, side by side, are drawn
 * alike. */
static gboolean
look_alike (GstHarness *h, const gchar *const *texts)
{
  const Row rows[] = { { -1, 1, 0 }, { -1, 1, 1 } };
  g_autoptr (GstBuffer) in = black_frame ("RGB", 320, 240);
  g_autoptr (GstBuffer) out = NULL;
  g_autofree guint8 *green = NULL;
  gboolean alike = TRUE;

  gst_cuv_meta_set_texts (add_pictures (in, rows, 2, 80, 40), texts, 2);
  out = overlay_draw (h, in);
  green = overlay_samples (h, out, 1);
  for (gint y = 228; y < 240; y++)
    alike &= memcmp (green + y * 320, green + y * 320 + 84 + GAP, 84) == 0;
  return alike;
}

CUV_TEST (long_names_do_not_look_alike)
{
  static const gchar *const pairs[][2] = {
    { "duplicates-of-0017-at-the-house.jpg",
        "duplicates-of-0018-at-the-house.jpg" },
    { "duplicates-of-1-at-the-house.jpg", "duplicates-of-12-at-the-house.jpg" },
    { "the-house-at-the-door-picture.jpg",
        "the-house-at-the-yard-picture.jpg" },
    { "one/caf\303\251-and-more-\303\251-picture.jpg",
        "two/caf\303\251-and-more-\303\250-picture.jpg" },
    { "picture-of-the-house", "picture-of-the-house-as-the-house" },
  };
  static const gchar *const same[] = { "duplicates-0017.jpg",
    "duplicates-0017.jpg" };
  g_autoptr (GstHarness) h = overlay_new ("RGB", 320, 240, NULL);

  g_object_set (h->element, "draw-labels", TRUE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    fail_unless (!look_alike (h, pairs[i]), "pair %u", i);
  fail_unless (look_alike (h, same));
}

static GstBuffer *
draw_named (GstHarness *h, guint height)
{
  static const gchar *const texts[] = { "elm" };
  GstBuffer *in = black_frame ("RGB", 320, 720), *out;

  gst_cuv_meta_set_texts (
      add_pictures (in, whole_frame, 1, 64, height), texts, 1);
  out = overlay_draw (h, in);
  gst_buffer_unref (in);
  return out;
}

/* Text cached in a small size is rendered again in a large one. */
CUV_TEST (name_size_follows_picture_size)
{
  GstHarness *h[2];
  GstBuffer *small, *out[2];

  for (guint i = 0; i < 2; i++) {
    h[i] = overlay_new ("RGB", 320, 720, NULL);
    g_object_set (h[i]->element, "draw-labels", TRUE, NULL);
  }
  small = draw_named (h[0], 61); /* caches text of 11 pixels; 13 follow */
  for (guint i = 0; i < 2; i++)
    out[i] = draw_named (h[i], 120);
  fail_unless (cuv_frames_equal ("RGB", 320, 720, out[0], out[1]));
  for (guint i = 0; i < 2; i++) {
    gst_buffer_unref (out[i]);
    gst_harness_teardown (h[i]);
  }
  gst_buffer_unref (small);
}

CUV_TEST (similarity_is_in_the_corner)
{
  static const gdouble none[] = { NAN, INFINITY, -INFINITY, 1e300 };
  g_autoptr (GstHarness) h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *out, *other;

  g_object_set (h->element, "draw-confidence", TRUE, NULL);
  out = draw_text (h, NULL, 0, 0, 0.874);
  fail_unless_equals_int (overlay_sample (h, out, 0, 2, 198), 255);
  fail_unless_equals_int (overlay_sample (h, out, 1, 2, 198), 0);
  other = draw_text (h, NULL, 0, 0, 0.866);
  fail_unless (cuv_frames_equal ("RGB", 320, 240, out, other),
      "0.874 and 0.866 are not both shown as 87%%");
  gst_buffer_unref (other);
  other = draw_text (h, NULL, 0, 0, 0.88);
  fail_unless (!cuv_frames_equal ("RGB", 320, 240, out, other));
  gst_buffer_unref (other);
  gst_buffer_unref (out);
  for (guint i = 0; i < G_N_ELEMENTS (none); i++) {
    out = draw_text (h, NULL, 0, 0, none[i]);
    fail_unless_equals_int (
        overlay_sample (h, out, 1, 2, 198), pixel (0, 0, 0, 1));
    gst_buffer_unref (out);
  }
}

/* ---- malformed tables ---- */

static void
break_table (GstBuffer *buffer, guint how)
{
  GstStructure *table =
      add_pictures (buffer, whole_frame, how == 0 ? 0 : 2, 8, 6);

  switch (how) {
    case 1:
      gst_structure_remove_field (table, "pictures");
      break;
    case 2:
      set_pictures (table, g_malloc0 (287), 287, 8, 6);
      break;
    case 3:
      set_pictures (table, g_malloc0 (289), 289, 8, 6);
      break;
    case 4:
      set_pictures (table, g_malloc0 (288), 288, 0, 6);
      break;
    case 5:
      set_pictures (table, NULL, 0, 8, 0);
      break;
    case 6:
      set_pictures (table, g_malloc0 (288), 288, G_MAXUINT, G_MAXUINT);
      break;
    case 7:
      gst_structure_set (table, "pictures", G_TYPE_STRING, "wobble", NULL);
      break;
    case 8:
      gst_structure_set (table, "picture_width", G_TYPE_INT, 8, NULL);
      break;
    case 9:
      gst_structure_set (table, "shape", G_TYPE_STRING, "none", NULL);
      break;
    default:
      break;
  }
}

CUV_TEST (malformed_tables_are_ignored)
{
  g_autoptr (GstHarness) h = overlay_new ("RGB", 320, 240, NULL);

  g_object_set (h->element, "draw-labels", TRUE, "draw-confidence", TRUE, NULL);
  for (guint how = 0; how < 10; how++) {
    GstBuffer *in = black_frame ("RGB", 320, 240), *out;

    break_table (in, how);
    out = overlay_draw (h, in);
    fail_unless (overlay_changed (h, in, out, 0, 0, 320, 240) == 0,
        "malformed table %u is drawn", how);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
}

/* Pictures may have no such columns, or columns of other types. */
CUV_TEST (columns_are_optional)
{
  static const GstCuvColumn others[] = { { "name", GST_CUV_TYPE_U8 },
    { "similarity", GST_CUV_TYPE_TEXT }, { "region_id", GST_CUV_TYPE_F32 } };
  static const guint8 rows[2 * 9] = { 0 };
  g_autoptr (GstHarness) h = overlay_new ("RGB", 320, 240, NULL);

  for (guint n = 0; n <= 3; n += 3) {
    GstBuffer *in = black_frame ("RGB", 320, 240), *out;
    guint8 *pixels = g_malloc (3 * 8 * 6 * 2);

    memset (pixels, 77, 3 * 8 * 6 * 2);
    set_pictures (gst_cuv_meta_add_table (
                      in, "wibble", 1, 0, 0, "pictures", others, n, rows, 2),
        pixels, 3 * 8 * 6 * 2, 8, 6);
    out = overlay_draw (h, in);
    check_n_cells (h, in, out, 2);
    fail_unless_equals_int (overlay_sample (h, out, 2, 2, 202), 77);
    gst_buffer_unref (out);
    g_object_set (
        h->element, "draw-labels", TRUE, "draw-confidence", TRUE, NULL);
    gst_buffer_unref (overlay_draw (h, in));
    gst_buffer_unref (in);
    g_object_set (
        h->element, "draw-labels", FALSE, "draw-confidence", FALSE, NULL);
  }
}
