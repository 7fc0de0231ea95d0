/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* houghlines: drawn edges and accumulators, and its lines in visionoverlay and
 * visionpublish. */
#include "config.h"
#include "planted.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 180
#define HEIGHT 120

static GstBuffer *
one_stroke (const gchar *format)
{
  GstBuffer *frame = black_frame (format, WIDTH, HEIGHT);

  stroke (frame, 37, 0, 37, HEIGHT - 1);
  return frame;
}

static GstHarness *
new_stroke (const gchar *properties)
{
  g_autofree gchar *all =
      g_strdup_printf ("edges=input threshold=90 %s", properties);
  GstHarness *h = new_harness (all, grey_format (), WIDTH, HEIGHT);

  return h;
}

/* ---- drawing ---- */

/* Checks that inside the roi edges are white and all other pixels are black. */
static void
check_edges (GstBuffer *frame, gint left, gint right)
{
  for (gint y = 0; y < HEIGHT; y += 7)
    for (gint x = left; x < right; x++)
      fail_unless (grey_at (frame, x, y) == (x == 37 ? 255 : 0), "%d,%d is %u",
          x, y, grey_at (frame, x, y));
}

CUV_TEST (test_draw_edges)
{
  GstHarness *h = new_stroke ("draw=edges");
  GstBuffer *frame = one_stroke (grey_format ()), *out;
  GstElement *d = detector (h);
  GstCuvTable table;

  out = push (h, frame);
  check_edges (out, 0, WIDTH);
  g_array_unref (lines_of (out, &table));
  gst_buffer_unref (out);
  stroke (frame, 100, 5, 100, 5);
  g_object_set (d, "roi", "20,0,90,120", NULL);
  out = push (h, frame);
  check_edges (out, 20, 90);
  fail_unless_equals_int (grey_at (out, 100, 5), 200); /* outside the roi */
  gst_buffer_unref (out);
  g_object_set (d, "roi", NULL, "draw", 0, NULL);
  out = push (h, frame);
  fail_unless (cuv_frames_equal (grey_format (), WIDTH, HEIGHT, frame, out));
  gst_buffer_unref (out);
  gst_object_unref (d);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}

/* A frame with another owner is not changed; its timestamp is copied. */
CUV_TEST (test_draws_on_a_copy)
{
  g_autoptr (GstHarness) h = new_stroke ("draw=edges");
  g_autoptr (GstBuffer) frame = one_stroke (grey_format ());
  GstBuffer *out;

  GST_BUFFER_PTS (frame) = 77;
  for (guint i = 0; i < 3; i++) {
    out = gst_harness_push_and_pull (h, gst_buffer_ref (frame));
    fail_unless_equals_int (grey_at (frame, 37, 10), 200);
    fail_unless_equals_int (grey_at (out, 37, 10), 255);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 77);
    fail_unless (use_cuda || out->pool != NULL); /* from a pool */
    gst_buffer_unref (out);
  }
}

CUV_TEST (test_draws_only_on_analysed_frames)
{
  g_autoptr (GstHarness) h = new_stroke ("draw=edges inference-interval=2");
  g_autoptr (GstBuffer) frame = one_stroke (grey_format ());

  for (guint i = 0; i < 4; i++) {
    GstBuffer *out = push (h, frame);

    fail_unless_equals_int (grey_at (out, 37, 10), i % 2 == 0 ? 255 : 200);
    gst_buffer_unref (out);
  }
}

/* The picture has a column per degree and rows for rho from -216 to 216. Only
 * the peak is white, at theta 0 and rho 37. */
CUV_TEST (test_draw_accumulator)
{
  static const gchar *const methods[] = { "auto", "global", "gather", "ring",
    "pclines" };
  g_autoptr (GstBuffer) frame = one_stroke (grey_format ());

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    gchar *text =
        g_strdup_printf ("draw=accumulator method=%s pclines-d=90", methods[i]);
    GstHarness *h = new_stroke (text);
    GstBuffer *out = push (h, frame);
    guint white = 0;

    for (gint y = 0; y < HEIGHT; y++)
      for (gint x = 0; x < WIDTH; x++)
        if (grey_at (out, x, y) == 255) {
          fail_unless (ABS (x - 90) <= 1, "%s: %d,%d", methods[i], x, y);
          white++;
        }
    fail_unless (white > 0 && white <= 3, "%s: %u", methods[i], white);
    if (i < 4)
      fail_unless_equals_int (
          grey_at (out, 90, (37 + 216) * HEIGHT / 433), 255);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
    g_free (text);
  }
}

/* ---- other elements ---- */

/* Only the pixels along the line are red. */
CUV_TEST (test_overlay_draws)
{
  g_autoptr (GstHarness) h =
      new_line ("houghlines edges=input threshold=90 "
                "! visionoverlay thickness=1 color=0xffff0000",
          "RGB", WIDTH, HEIGHT);
  g_autoptr (GstBuffer) frame = one_stroke ("RGB");
  g_autoptr (GstBuffer) out = push (h, frame);

  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      fail_unless (grey_at (out, x, y) == (x == 37 ? 255 : 0), "%d,%d", x, y);
}

/* Returns the records that visionpublish writes for one frame. */
static gchar *
publish (const gchar *format)
{
  g_autofree gchar *path =
      g_build_filename (g_get_tmp_dir (), "cuv-XXXXXX", NULL);
  g_autoptr (GstBuffer) frame = one_stroke (grey_format ());
  g_autofree gchar *line = NULL;
  gchar *text;
  GstHarness *h;

  close (g_mkstemp (path));
  line = g_strdup_printf ("houghlines edges=input threshold=90 segments=true "
                          "! visionpublish file-path=%s file-format=%s",
      path, format);
  h = new_line (line, grey_format (), WIDTH, HEIGHT);
  gst_buffer_unref (push (h, frame));
  gst_harness_push_event (h, gst_event_new_eos ());
  gst_harness_teardown (h);
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  g_remove (path);
  return text;
}

CUV_TEST (test_json)
{
  g_autofree gchar *text = publish ("json-lines");
  JsonParser *parser = json_parser_new ();
  JsonObject *record, *line, *info;
  JsonArray *lines;

  fail_unless (json_parser_load_from_data (parser, text, -1, NULL), "%s", text);
  record = json_node_get_object (json_parser_get_root (parser));
  lines = json_object_get_array_member (record, "lines");
  fail_unless_equals_int (json_array_get_length (lines), 1);
  line = json_array_get_object_element (lines, 0);
  fail_unless_equals_int (json_object_get_size (line), 7);
  fail_unless (json_object_get_double_member (line, "rho") == 37);
  fail_unless (json_object_get_double_member (line, "theta") == 0);
  fail_unless_equals_int (json_object_get_int_member (line, "votes"), HEIGHT);
  fail_unless (json_object_get_double_member (line, "x1") == 37);
  fail_unless (fabs (json_object_get_double_member (line, "y2")
                   - json_object_get_double_member (line, "y1"))
      == HEIGHT - 1);
  info = json_object_get_object_member (record, "lines_info");
  fail_unless_equals_int (json_object_get_int_member (info, "edges"), HEIGHT);
  fail_unless_equals_int (json_object_get_int_member (info, "lines_found"), 1);
  fail_unless_equals_int (
      json_object_get_int_member (info, "segments_found"), 1);
  g_object_unref (parser);
}

CUV_TEST (test_csv)
{
  g_autofree gchar *text = publish ("csv");
  gchar **rows = g_strsplit (text, "\n", -1);

  fail_unless (g_str_has_prefix (rows[0], "kind,"), "%s", text);
  fail_unless (g_str_has_prefix (rows[1], "lines,0,"), "%s", text);
  fail_unless (strstr (rows[1], "\"\"rho\"\":37") != NULL, "%s", text);
  fail_unless (strstr (rows[1], "\"\"votes\"\":120") != NULL, "%s", text);
  fail_unless_equals_string (rows[2], "");
  g_strfreev (rows);
}

/* ---- a real picture ---- */

#define PUZZLE                                                                 \
  "filesrc location=%s ! pngdec ! videoconvert "                               \
  "! video/x-raw,format=NV12 ! %s houghlines roi=30,70,540,530 "               \
  "canny-low=15 canny-high=30 neighborhood=15 threshold=130 "                  \
  "! appsink name=sink sync=false"

static GstBuffer *
puzzle (void)
{
  g_autofree gchar *path = cuv_test_file ("sudoku.png");
  g_autofree gchar *line =
      g_strdup_printf (PUZZLE, path, use_cuda ? "cuvcudaupload !" : "");
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, NULL);
  GstSample *sample;
  GstBuffer *buffer;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sample = cuv_pull_sample (pipeline);
  buffer = gst_buffer_ref (gst_sample_get_buffer (sample));
  gst_sample_unref (sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return buffer;
}

/* Centres of the grid's lines, measured in the picture. */
static const gint grid_x[] = { 57, 104, 155, 202, 255, 302, 354, 404, 456,
  506 };
static const gint grid_y[] = { 86, 127, 172, 216, 261, 309, 361, 410, 464,
  519 };

CUV_TEST (test_grid)
{
  g_autoptr (GstBuffer) buffer = puzzle ();
  gboolean seen[2][10] = { 0 };
  GstCuvTable table;
  g_autoptr (GArray) lines = lines_of (buffer, &table);

  fail_unless_equals_int (lines->len, 20);
  for (guint i = 0; i < lines->len; i++) {
    const Line *l = &g_array_index (lines, Line, i);
    gboolean across = fabs (l->theta) > 0.8;
    gdouble at = across ? (l->y1 + l->y2) / 2 : (l->x1 + l->x2) / 2;

    for (guint k = 0; k < 10; k++)
      seen[across][k] |= fabs (at - (across ? grid_y[k] : grid_x[k])) <= 5;
  }
  for (guint k = 0; k < 10; k++)
    fail_unless (seen[0][k] && seen[1][k], "grid line %u is missing", k);
}
