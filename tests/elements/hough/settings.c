/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* houghlines: settings apply to the next frame; errors name invalid ones, and
 * the previous settings stay in force. */
#include "config.h"
#include "planted.h"

#include <math.h>
#include <string.h>

#define WIDTH 160
#define HEIGHT 120

typedef struct {
  GstHarness *h;
  GstElement *d;
  GstBus *bus;
  GstBuffer *frame;
  gchar *before; /* the lines of the last check */
} Run;

/* Edges, strokes, a dashed line and noise, so that every setting matters. */
static GstBuffer *
rich_frame (const gchar *format, gint width, gint height)
{
  GstBuffer *frame = black_frame (format, width, height);
  GRand *dice = g_rand_new_with_seed (7);

  fill (frame, width / 8, height / 8, width / 2, height / 2);
  stroke (frame, 0, height * 3 / 4, width - 1, height * 3 / 4);
  for (gint x = 0; x + 4 < width; x += 6)
    stroke (frame, x, height * 7 / 8, x + 3, height * 7 / 8);
  stroke (frame, width / 2, 0, width - 1, width - 1 - width / 2);
  for (gint i = 0; i < width * height / 60; i++) {
    gint x = g_rand_int_range (dice, 0, width);
    gint y = g_rand_int_range (dice, 0, height);

    stroke (frame, x, y, x, y);
  }
  g_rand_free (dice);
  return frame;
}

static gchar *
look (Run *self)
{
  GArray *lines = lines_in (self->h, self->frame);
  gchar *text = text_of (lines);

  fail_unless (lines->len > 0, "no line found: nothing to compare");
  g_array_unref (lines);
  return text;
}

static void
run_init (Run *self, const gchar *properties)
{
  self->h = new_harness (properties, "NV12", WIDTH, HEIGHT);
  self->d = detector (self->h);
  self->bus = cuv_harness_watch (self->h);
  self->frame = rich_frame ("NV12", WIDTH, HEIGHT);
  self->before = look (self);
}

static void
run_clear (Run *self)
{
  cuv_harness_unwatch (self->h, self->bus);
  gst_object_unref (self->d);
  gst_buffer_unref (self->frame);
  gst_harness_teardown (self->h);
  g_free (self->before);
}

static void
check_next (Run *self, const gchar *what, gboolean differs)
{
  gchar *now = look (self);

  fail_unless ((strcmp (now, self->before) != 0) == differs,
      "%s: the lines %s:\n%s", what, differs ? "did not change" : "changed",
      now);
  g_free (self->before);
  self->before = now;
}

/* ---- live ---- */

CUV_TEST (test_live_changes)
{
  static const struct {
    const gchar *name, *value;
    gboolean differs;
  } steps[] = { { "canny-high", "300", TRUE }, { "canny-low", "290", TRUE },
    { "blur", "false", TRUE }, { "norm", "l2", TRUE },
    { "canny-low", "50", TRUE }, { "canny-high", "100", TRUE },
    { "threshold", "25", TRUE }, { "neighborhood", "5", TRUE },
    { "neighborhood", "4", FALSE }, { "nms", "cross", TRUE },
    { "max-lines", "11", TRUE }, { "nms", "none", TRUE },
    { "nms", "square", TRUE }, { "theta-resolution", "2.5", TRUE },
    { "rho-resolution", "2", TRUE }, { "orientation-window", "10", TRUE },
    { "theta-min", "-45", TRUE }, { "theta-max", "120", TRUE },
    { "pclines-d", "36", FALSE }, { "method", "pclines", TRUE },
    { "pclines-d", "200", TRUE }, { "method", "ring", TRUE },
    { "method", "global", FALSE }, { "roi", "10,10,150,110", TRUE },
    { "orientation-window", "90", TRUE }, { "edges", "input", TRUE },
    { "segments", "true", TRUE }, { "min-length", "5", TRUE },
    { "max-gap", "1", TRUE }, { "roi", "", TRUE } };
  Run run;

  run_init (&run, "threshold=40 theta-resolution=1 orientation-window=90");
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    gchar *what = g_strdup_printf ("%s=%s", steps[i].name, steps[i].value);

    gst_util_set_object_arg (G_OBJECT (run.d), steps[i].name, steps[i].value);
    check_next (&run, what, steps[i].differs);
    g_free (what);
  }
  expect_no_warning (run.bus);
  run_clear (&run);
}

CUV_TEST (test_caps_change)
{
  static const gint sizes[][2] = { { 321, 243 }, { 64, 48 }, { 640, 360 } };
  Run run;

  run_init (&run, "threshold=20");
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    gst_buffer_unref (run.frame);
    run.frame = rich_frame ("RGB", sizes[i][0], sizes[i][1]);
    cuv_harness_caps (run.h, "RGB", sizes[i][0], sizes[i][1]);
    check_next (&run, "caps", TRUE);
  }
  expect_no_warning (run.bus);
  run_clear (&run);
}

/* ---- contradictions ---- */

static const struct {
  const gchar *bad, *problem, *fix;
} contradictions[] = {
  { "canny-low=41", "canny-low 41 is above canny-high 40", "canny-low=30" },
  { "canny-high=19", "canny-low 20 is above canny-high 19", "canny-high=30" },
  { "edges=input orientation-window=20", "but edges=input",
      "orientation-window=90" },
  { "method=gather orientation-window=20", "but method=gather",
      "method=shared" },
  { "theta-min=20 theta-max=20", "theta-max 20 is not above theta-min 20",
      "theta-max=90" },
  { "theta-min=20 theta-max=-20", "theta-max -20 is not above theta-min 20",
      "theta-max=90" },
  { "theta-min=20 theta-max=201", "more than 180 degrees above theta-min 20",
      "theta-max=200" },
  { "theta-min=20.1 theta-max=20.4", "no direction", "theta-resolution=0.25" },
  { "theta-min=20.2 theta-max=20.3 method=pclines", "no direction",
      "pclines-d=2000" },
};

CUV_TEST (test_contradictions_at_start)
{
  for (guint i = 0; i < G_N_ELEMENTS (contradictions); i++) {
    GstHarness *h = new_harness (contradictions[i].bad, "NV12", WIDTH, HEIGHT);
    GstBus *bus = cuv_harness_watch (h);

    fail_unless_equals_int (
        gst_harness_push (h, rich_frame ("NV12", WIDTH, HEIGHT)),
        GST_FLOW_ERROR);
    expect_problem (bus, GST_MESSAGE_ERROR, contradictions[i].problem);
    cuv_harness_unwatch (h, bus);
    gst_harness_teardown (h);
  }
}

CUV_TEST (test_radians)
{
  static const struct {
    const gchar *set, *hint; /* NULL = none */
  } cases[] = { { "theta-min=0 theta-max=3.1415926",
                    "theta-min=0 theta-max=180 if radians were meant" },
    { "theta-min=0.785 theta-max=2.356", "theta-min=45 theta-max=135" },
    { "theta-min=-1.57 theta-max=1.57", "theta-min=-90 theta-max=90" },
    { "theta-min=-2 theta-max=2", NULL }, { "theta-min=0 theta-max=90", NULL },
    { "theta-min=-5 theta-max=6", NULL },
    { "theta-min=0 theta-max=0.5", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = new_harness (cases[i].set, "NV12", WIDTH, HEIGHT);
    GstBuffer *frame = rich_frame ("NV12", WIDTH, HEIGHT);
    GstBus *bus = cuv_harness_watch (h);

    g_array_unref (lines_in (h, frame));
    if (cases[i].hint != NULL)
      expect_problem (bus, GST_MESSAGE_WARNING, cases[i].hint);
    expect_no_warning (bus);
    gst_buffer_unref (frame);
    cuv_harness_unwatch (h, bus);
    gst_harness_teardown (h);
  }
}

/* One warning; the previous settings stay in force, also for frames of another
 * size, until the contradiction is resolved. */
CUV_TEST (test_live_contradictions)
{
  for (guint i = 0; i < G_N_ELEMENTS (contradictions); i++) {
    GstBuffer *small = rich_frame ("NV12", WIDTH / 2, HEIGHT / 2);
    Run run;

    run_init (&run, "threshold=20");
    cuv_element_set (run.d, contradictions[i].bad);
    check_next (&run, contradictions[i].bad, FALSE);
    expect_problem (run.bus, GST_MESSAGE_WARNING, contradictions[i].problem);
    check_next (&run, contradictions[i].bad, FALSE);
    expect_no_warning (run.bus);
    cuv_harness_caps (run.h, "NV12", WIDTH / 2, HEIGHT / 2);
    g_array_unref (lines_in (run.h, small));
    expect_problem (run.bus, GST_MESSAGE_WARNING, contradictions[i].problem);
    cuv_element_set (run.d, contradictions[i].fix);
    g_array_unref (lines_in (run.h, small));
    expect_no_warning (run.bus);
    gst_buffer_unref (small);
    run_clear (&run);
  }
}

/* A restart does not keep the previous settings. */
CUV_TEST (test_contradiction_at_second_start)
{
  Run run;

  run_init (&run, "threshold=20");
  gst_element_set_state (run.d, GST_STATE_NULL);
  g_object_set (run.d, "canny-low", 101, NULL);
  gst_element_set_state (run.d, GST_STATE_PLAYING);
  cuv_harness_caps (run.h, "NV12", WIDTH, HEIGHT);
  fail_unless_equals_int (
      gst_harness_push (run.h, gst_buffer_copy_deep (run.frame)),
      GST_FLOW_ERROR);
  expect_problem (run.bus, GST_MESSAGE_ERROR, "canny-low 101");
  run_clear (&run);
}

/* ---- invalid values ---- */

CUV_TEST (test_out_of_range)
{
  GstElement *d = gst_element_factory_make ("houghlines", NULL);

  CUV_ASSERT_REFUSED (g_object_set (d, "theta-resolution", 0.0, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "theta-resolution", 0.01, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "theta-min", -91.0, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "theta-max", 271.0, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "rho-resolution", 0.5, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "orientation-window", -0.1, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "orientation-window", 91.0, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "canny-high", 2041, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "neighborhood", 1, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "neighborhood", 33, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "max-lines", 4097, NULL));
  CUV_ASSERT_REFUSED (g_object_set (d, "pclines-d", 0, NULL));
  gst_object_unref (d);
}

CUV_TEST (test_invalid_names)
{
  static const gchar *const bad[] = { "method=fast", "edges=sobel", "norm=l3",
    "nms=disc", "draw=lines" };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    cuv_expect_parse_error ("houghlines", bad[i]);
}

CUV_TEST (test_invalid_roi)
{
  GstElement *d = gst_element_factory_make ("houghlines", NULL);
  gchar *value;
  Run run;

  g_object_set (d, "roi", "1,2,3", NULL);
  cuv_expect_no_start (
      d, "roi '1,2,3' is invalid: expected left,top,right,bottom in pixels");

  run_init (&run, "threshold=20 roi=8,8,150,110");
  g_object_set (run.d, "roi", "10,10,5,5", NULL);
  expect_problem (run.bus, GST_MESSAGE_WARNING, "roi '10,10,5,5' is invalid");
  g_object_get (run.d, "roi", &value, NULL);
  fail_unless_equals_string (value, "8,8,150,110");
  g_free (value);
  check_next (&run, "after an invalid roi", FALSE);
  run_clear (&run);
}

CUV_TEST (test_roi_outside)
{
  GstHarness *h = new_harness ("roi=500,500,600,600", "NV12", WIDTH, HEIGHT);
  GstBuffer *frame = rich_frame ("NV12", WIDTH, HEIGHT);
  GstBus *bus = cuv_harness_watch (h);
  GArray *lines = lines_in (h, frame);

  fail_unless_equals_int (lines->len, 0);
  expect_problem (bus, GST_MESSAGE_WARNING, "outside the frame");
  g_array_unref (lines);
  lines = lines_in (h, frame);
  expect_no_warning (bus);
  g_array_unref (lines);
  gst_buffer_unref (frame);
  cuv_harness_unwatch (h, bus);
  gst_harness_teardown (h);
}

/* ---- sizes ---- */

CUV_TEST (test_small_frames)
{
  static const gint sizes[][2] = { { 1, 1 }, { 1, 40 }, { 40, 1 }, { 2, 2 },
    { 3, 17 } };
  static const gchar *const properties[] = { "", "method=pclines",
    "method=ring", "method=gather", "edges=input", "orientation-window=5",
    "segments=true", "draw=edges", "draw=accumulator", "theta-resolution=0.05",
    "rho-resolution=100" };

  for (guint p = 0; p < G_N_ELEMENTS (properties); p++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
      gchar *all = g_strdup_printf ("threshold=1 %s", properties[p]);
      gint width = sizes[i][0], height = sizes[i][1];
      GstHarness *h = new_harness (all, grey_format (), width, height);
      GstBuffer *frame = black_frame (grey_format (), width, height);
      GArray *lines;

      stroke (frame, 0, 0, width - 1, 0);
      stroke (frame, 0, 0, 0, height - 1);
      lines = lines_in (h, frame);
      fail_unless (lines->len <= 100);
      for (guint k = 0; k < lines->len; k++) {
        const Line *l = &g_array_index (lines, Line, k);

        fail_unless (l->x1 > -1 && l->x1 < width && l->y1 > -1 && l->y1 < height
            && l->x2 > -1 && l->x2 < width && l->y2 > -1 && l->y2 < height);
      }
      g_array_unref (lines);
      gst_buffer_unref (frame);
      gst_harness_teardown (h);
      g_free (all);
    }
}

CUV_TEST (test_large_frames)
{
  GstHarness *h = new_harness ("", grey_format (), 16385, 4);
  GstBuffer *frame = black_frame (grey_format (), 16385, 4), *small;
  GstBus *bus = cuv_harness_watch (h);

  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_ref (frame)), GST_FLOW_ERROR);
  expect_problem (bus, GST_MESSAGE_ERROR, "set roi to a part");
  cuv_harness_unwatch (h, bus);
  gst_harness_teardown (h);

  h = new_harness ("", grey_format (), 16384, 4); /* then frames grow */
  bus = cuv_harness_watch (h);
  small = black_frame (grey_format (), 16384, 4);
  g_array_unref (lines_in (h, small));
  gst_buffer_unref (small);
  cuv_harness_caps (h, grey_format (), 16385, 4);
  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_ref (frame)), GST_FLOW_ERROR);
  expect_problem (bus, GST_MESSAGE_ERROR, "set roi to a part");
  cuv_harness_unwatch (h, bus);
  gst_harness_teardown (h);

  h = new_harness ("roi=1,0,16385,4", grey_format (), 16385, 4);
  g_array_unref (lines_in (h, frame));
  gst_harness_teardown (h);
  gst_buffer_unref (frame);
}
