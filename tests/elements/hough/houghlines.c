/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* houghlines on frames with known lines: metadata, messages and statistics.
 * With CUV_TEST_CUDA=1 the GPU must give the same results. */
#include "config.h"
#include "planted.h"

#include <math.h>
#include <string.h>

#define WIDTH 200
#define HEIGHT 150

/* Returns a frame with a horizontal, a vertical and a diagonal stroke, whose
 * pixels each vote for their line. */
static GstBuffer *
three_strokes (const gchar *format)
{
  GstBuffer *frame = black_frame (format, WIDTH, HEIGHT);

  stroke (frame, 0, 101, WIDTH - 1, 101);
  stroke (frame, 37, 0, 37, HEIGHT - 1);
  stroke (frame, 0, 0, HEIGHT - 1, HEIGHT - 1);
  return frame;
}

static const Line horizontal = { -101, -PI / 2, WIDTH, 0, 101, WIDTH - 1, 101 };
static const Line vertical = { 37, 0, HEIGHT, 37, 0, 37, HEIGHT - 1 };
static const Line diagonal = { 0, -PI / 4, HEIGHT, 0, 0, HEIGHT - 1,
  HEIGHT - 1 };

static GstHarness *
new_strokes (const gchar *properties)
{
  g_autofree gchar *all =
      g_strdup_printf ("edges=input threshold=140 %s", properties);
  GstHarness *h = new_harness (all, grey_format (), WIDTH, HEIGHT);

  return h;
}

CUV_TEST (test_known_lines)
{
  g_autoptr (GstHarness) h = new_strokes ("");
  g_autoptr (GstBuffer) frame = three_strokes (grey_format ());
  g_autoptr (GstBuffer) buffer = push (h, frame);
  GstCuvTable table;
  g_autoptr (GArray) lines = lines_of (buffer, &table);

  fail_unless_equals_int (lines->len, 3);
  check_line (lines, 0, horizontal);
  check_line (lines, 1, diagonal);
  check_line (lines, 2, vertical);
  fail_unless_equals_int (table.width, WIDTH);
  fail_unless_equals_int (table.height, HEIGHT);
  fail_unless_equals_int (scalar_of (&table, "edges"),
      WIDTH + 2 * HEIGHT - 3); /* pixels at crossings count once */
  fail_unless_equals_int (scalar_of (&table, "lines_found"), 3);
  fail_if (gst_structure_has_field (table.structure, "age"));
}

/* Canny finds the same four edges of a filled rectangle in every format. */
CUV_TEST (test_formats)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };
  gchar *first = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (formats) - use_cuda; i++) {
    GstHarness *h = new_harness ("threshold=60", formats[i], WIDTH, HEIGHT);
    GstBuffer *frame = black_frame (formats[i], WIDTH, HEIGHT);
    GArray *lines;
    gchar *text;

    fill (frame, 40, 30, 160, 120);
    lines = lines_in (h, frame);
    text = text_of (lines);
    fail_unless (lines->len == 4, "%s: %s", formats[i], text);
    for (guint k = 0; k < 4; k++) {
      const Line *l = &g_array_index (lines, Line, k);
      gdouble side = l->theta == 0 ? 40 : 30, rho = fabs (l->rho) + 0.5;

      fail_unless (fabs (sin (2 * l->theta)) < 1e-6, "%s", text);
      fail_unless (fabs (rho - side) <= 2
              || fabs (rho - (l->theta == 0 ? 160 : 120)) <= 2,
          "%s: %s", formats[i], text);
    }
    if (first == NULL)
      first = g_strdup (text);
    fail_unless (strcmp (text, first) == 0, "%s: %s", formats[i], text);
    g_free (text);
    g_array_unref (lines);
    gst_buffer_unref (frame);
    gst_harness_teardown (h);
  }
  g_free (first);
}

CUV_TEST (test_methods)
{
  static const gchar *const names[] = { "auto", "global", "shared", "gather",
    "ring" };
  g_autoptr (GstBuffer) frame = three_strokes (grey_format ());

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gchar *method = g_strdup_printf ("method=%s", names[i]);
    GstHarness *h = new_strokes (method);
    GArray *lines = lines_in (h, frame);

    fail_unless_equals_int (lines->len, 3);
    check_line (lines, 0, horizontal);
    check_line (lines, 1, diagonal);
    check_line (lines, 2, vertical);
    g_array_unref (lines);
    gst_harness_teardown (h);
    g_free (method);
  }
}

/* The accumulator's cells are at most a pixel wide, so lines and votes are the
 * same as by rho and theta. */
CUV_TEST (test_pclines)
{
  const Line *const wanted[] = { &horizontal, &diagonal, &vertical };
  g_autoptr (GstHarness) h =
      new_strokes ("method=pclines neighborhood=31 max-lines=3");
  g_autoptr (GstBuffer) frame = three_strokes (grey_format ());
  g_autoptr (GArray) lines = lines_in (h, frame);

  fail_unless_equals_int (lines->len, 3);
  for (guint i = 0; i < 3; i++) {
    gboolean found = FALSE;

    for (guint k = 0; k < 3; k++) {
      const Line *l = &g_array_index (lines, Line, k);

      found |= l->votes == wanted[i]->votes
          && fabs (l->theta - wanted[i]->theta) < 0.01
          && fabs (l->rho - wanted[i]->rho) < 1;
    }
    fail_unless (found, "line %u is not found", i);
  }
}

static void
check_only (GstBuffer *frame, const gchar *properties, const Line *wanted)
{
  g_autoptr (GstHarness) h = new_strokes (properties);
  g_autoptr (GArray) lines = lines_in (h, frame);

  fail_unless (lines->len == 1, "%s: %u lines", properties, lines->len);
  check_line (lines, 0, *wanted);
}

CUV_TEST (test_theta_ranges)
{
  g_autoptr (GstBuffer) frame = three_strokes (grey_format ());

  check_only (frame, "theta-min=-10 theta-max=10", &vertical);
  check_only (frame, "theta-min=80 theta-max=100", &horizontal);
  check_only (frame, "theta-min=90 theta-max=91", &horizontal);
  check_only (frame, "theta-min=-90 theta-max=-89", &horizontal);
  check_only (frame, "theta-min=-60 theta-max=-30", &diagonal);
  check_only (frame, "theta-min=0 theta-max=90", &vertical);
}

/* Coordinates refer to the frame; lines end at the border of the roi. */
CUV_TEST (test_roi)
{
  g_autoptr (GstBuffer) frame = three_strokes (grey_format ());
  g_autoptr (GstHarness) h = new_strokes ("roi=31,31,121,131 threshold=80");
  g_autoptr (GArray) lines = lines_in (h, frame);
  const Line inside[] = { { 37, 0, 100, 37, 31, 37, 130 },
    { -101, -PI / 2, 90, 31, 101, 120, 101 },
    { 0, -PI / 4, 90, 31, 31, 120, 120 } };

  fail_unless_equals_int (lines->len, 3);
  check_line (lines, 0, inside[0]);
  check_line (lines, 1, inside[1]);
  check_line (lines, 2, inside[2]);
}

static void
check_segments (GstElement *d, GstHarness *h, GstBuffer *frame,
    guint min_length, guint max_gap, const Line *wanted, guint n)
{
  g_autoptr (GstBuffer) buffer = NULL;
  GstCuvTable table;
  g_autoptr (GArray) lines = NULL;

  g_object_set (d, "min-length", min_length, "max-gap", max_gap, NULL);
  buffer = push (h, frame);
  lines = lines_of (buffer, &table);
  fail_unless_equals_int (lines->len, n);
  for (guint i = 0; i < n; i++)
    check_line (lines, i, wanted[i]);
  fail_unless_equals_int (scalar_of (&table, "lines_found"), 1);
  if (n > 0)
    fail_unless_equals_int (scalar_of (&table, "segments_found"), n);
}

/* A line of pixels 10 to 50 and 80 to 140, with a gap of 29. */
CUV_TEST (test_segments)
{
  g_autoptr (GstBuffer) frame = black_frame (grey_format (), WIDTH, HEIGHT);
  g_autoptr (GstHarness) h = new_strokes ("segments=true threshold=90");
  g_autoptr (GstElement) d = detector (h);
  const Line both[] = { { 37, 0, 102, 37, 10, 37, 50 },
    { 37, 0, 102, 37, 80, 37, 140 } };
  const Line one = { 37, 0, 102, 37, 10, 37, 140 };

  stroke (frame, 37, 10, 37, 50);
  stroke (frame, 37, 80, 37, 140);
  check_segments (d, h, frame, 30, 5, both, 2);
  check_segments (d, h, frame, 40, 28, both, 2);
  check_segments (d, h, frame, 41, 28, both + 1, 1);
  check_segments (d, h, frame, 30, 29, &one, 1);
  check_segments (d, h, frame, 131, 29, NULL, 0);
}

/* lines_found also counts lines beyond max-lines. */
CUV_TEST (test_max_lines)
{
  GstHarness *h = new_strokes ("max-lines=1");
  GstBuffer *frame = three_strokes (grey_format ()), *buffer = push (h, frame);
  GstElement *d = detector (h);
  GstCuvTable table;
  GArray *lines = lines_of (buffer, &table);

  fail_unless_equals_int (lines->len, 1);
  check_line (lines, 0, horizontal);
  fail_unless_equals_int (scalar_of (&table, "lines_found"), 3);
  g_array_unref (lines);
  gst_buffer_unref (buffer);
  g_object_set (d, "max-lines", 0, "nms", 0, "threshold", 1, NULL);
  buffer = push (h, frame);
  lines = lines_of (buffer, &table);
  fail_unless_equals_int (lines->len, 4096);
  fail_unless (scalar_of (&table, "lines_found") > 4096);
  g_array_unref (lines);
  gst_buffer_unref (buffer);
  gst_object_unref (d);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}

/* The centre of a cell of 100 pixels may be outside the frame. */
CUV_TEST (test_wide_cells_end_in_the_frame)
{
  GstBuffer *frame = black_frame (grey_format (), WIDTH, HEIGHT);
  GstHarness *h = new_strokes ("rho-resolution=64 theta-min=0 theta-max=1");
  GArray *lines;
  const Line last = { 192, 0, HEIGHT, 192, 0, 192, HEIGHT - 1 };
  const Line beyond = { 200, 0, HEIGHT, 199, 0, 199, HEIGHT - 1 };

  stroke (frame, WIDTH - 1, 0, WIDTH - 1, HEIGHT - 1);
  lines = lines_in (h, frame);
  check_line (lines, 0, last);
  g_array_unref (lines);
  gst_harness_teardown (h);
  h = new_strokes ("rho-resolution=100 theta-min=0 theta-max=1");
  lines = lines_in (h, frame);
  check_line (lines, 0, beyond);
  g_array_unref (lines);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}

static void
check_message (GstBus *bus)
{
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  const GstStructure *structure, *line;
  gdouble rho = 0, x2 = 0;
  const GValue *list;
  guint votes = 0;

  fail_unless (message != NULL);
  structure = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (structure, "houghlines"));
  fail_unless (
      gst_structure_has_field_typed (structure, "timestamp", G_TYPE_UINT64));
  list = gst_structure_get_value (structure, "lines");
  fail_unless_equals_int (gst_value_list_get_size (list), 3);
  line = gst_value_get_structure (gst_value_list_get_value (list, 0));
  fail_unless (gst_structure_get (line, "rho", G_TYPE_DOUBLE, &rho, "votes",
      G_TYPE_UINT, &votes, "x2", G_TYPE_DOUBLE, &x2, NULL));
  fail_unless (rho == -101 && votes == WIDTH && (x2 == WIDTH - 1 || x2 == 0));
}

CUV_TEST (test_message_and_stats)
{
  g_autoptr (GstHarness) h =
      new_strokes ("message=every-frame max-lines=3 segments=true");
  g_autoptr (GstElement) d = detector (h);
  GstBus *bus = cuv_harness_watch (h);
  g_autoptr (GstBuffer) frame = three_strokes (grey_format ());
  guint lines = 0, found = 0, segments = 0;
  gdouble edges_us = -1, votes_us = -1, peaks_us = -1;
  const gchar *method;
  GstStructure *stats;

  gst_buffer_unref (push (h, frame));
  check_message (bus);
  fail_unless_equals_uint64 (cuv_stat (d, "edges"), WIDTH + 2 * HEIGHT - 3);
  fail_unless_equals_uint64 (
      cuv_stat (d, "votes"), 360 * (WIDTH + 2 * HEIGHT - 3));
  g_object_get (d, "stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "lines", G_TYPE_UINT, &lines,
      "lines-found", G_TYPE_UINT, &found, "segments", G_TYPE_UINT, &segments,
      "microseconds-edges", G_TYPE_DOUBLE, &edges_us, "microseconds-votes",
      G_TYPE_DOUBLE, &votes_us, "microseconds-peaks", G_TYPE_DOUBLE, &peaks_us,
      NULL));
  fail_unless (lines == 3 && found == 3 && segments == 3);
  fail_unless (edges_us >= 0 && votes_us >= 0 && peaks_us >= 0);
  method = gst_structure_get_string (stats, "method");
  fail_unless (method != NULL && strcmp (method, "auto") != 0);
  gst_structure_free (stats);
  g_object_set (d, "method", 5, NULL);
  gst_buffer_unref (push (h, frame));
  g_object_get (d, "stats", &stats, NULL);
  fail_unless_equals_string (
      gst_structure_get_string (stats, "method"), "pclines");
  gst_structure_free (stats);
  cuv_harness_unwatch (h, bus);
}

CUV_TEST (test_hold_results)
{
  g_autoptr (GstHarness) h =
      new_strokes ("inference-interval=2 hold-results=true");
  g_autoptr (GstBuffer) frame = three_strokes (grey_format ());
  g_autoptr (GstBuffer) buffer = NULL;
  guint64 age = 0;
  GstCuvTable table;
  g_autoptr (GArray) lines = NULL;

  GST_BUFFER_PTS (frame) = 0;
  gst_buffer_unref (push (h, frame));
  fill (frame, 0, 0, 0, 0);
  GST_BUFFER_PTS (frame) = 40 * GST_MSECOND;
  buffer = push (h, frame);
  lines = lines_of (buffer, &table);
  fail_unless_equals_int (lines->len, 3);
  check_line (lines, 2, vertical);
  fail_unless (gst_structure_get_uint64 (table.structure, "age", &age));
  fail_unless_equals_uint64 (age, 40 * GST_MSECOND);
}
