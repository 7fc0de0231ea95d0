/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* houghlines: settings apply to the next frame; errors name invalid ones, and
 * the previous settings stay in force. */
#include "config.h"
#include "live.h"
#include "planted.h"

#include <math.h>
#include <string.h>

#define WIDTH 160
#define HEIGHT 120

/* Returns a frame with edges, strokes, a dashed line and noise, so that every
 * setting matters. */
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

static GstBuffer *
next_frame (CuvLive *self)
{
  return rich_frame (self->format, self->width, self->height);
}

/* Takes the frame. */
static GArray *
take_lines (CuvLive *self, GstBuffer *frame)
{
  GArray *lines = lines_in (self->h, frame);

  gst_buffer_unref (frame);
  return lines;
}

static GArray *
next_lines (CuvLive *self)
{
  return take_lines (self, next_frame (self));
}

static gchar *
look (CuvLive *self)
{
  g_autoptr (GArray) lines = next_lines (self);
  gchar *text = text_of (lines);

  fail_unless (lines->len > 0, "no line found: nothing to compare");
  return text;
}

static CuvLive
open_lines (const gchar *properties)
{
  return cuv_live_new ("houghlines", properties, "NV12", WIDTH, HEIGHT);
}

/* ---- live ---- */

CUV_TEST (test_live_changes)
{
  static const CuvLiveStep steps[] = { { "canny-high=300", TRUE },
    { "canny-low=290", TRUE }, { "blur=false", TRUE }, { "norm=l2", TRUE },
    { "canny-low=50", TRUE }, { "canny-high=100", TRUE },
    { "threshold=25", TRUE }, { "neighborhood=5", TRUE },
    { "neighborhood=4", FALSE }, { "nms=cross", TRUE },
    { "max-lines=11", TRUE }, { "nms=none", TRUE }, { "nms=square", TRUE },
    { "theta-resolution=2.5", TRUE }, { "rho-resolution=2", TRUE },
    { "orientation-window=10", TRUE }, { "theta-min=-45", TRUE },
    { "theta-max=120", TRUE }, { "pclines-d=36", FALSE },
    { "method=pclines", TRUE }, { "pclines-d=200", TRUE },
    { "method=ring", TRUE }, { "method=global", FALSE },
    { "roi=10,10,150,110", TRUE }, { "orientation-window=90", TRUE },
    { "edges=input", TRUE }, { "segments=true", TRUE },
    { "min-length=5", TRUE }, { "max-gap=1", TRUE }, { "roi=", TRUE } };
  CuvLive live =
      open_lines ("threshold=40 theta-resolution=1 orientation-window=90");

  cuv_live_steps (&live, steps, G_N_ELEMENTS (steps), look);
  cuv_live_clear (&live);
}

CUV_TEST (test_caps_change)
{
  static const gint sizes[][2] = { { 321, 243 }, { 64, 48 }, { 640, 360 } };
  CuvLive live = open_lines ("threshold=20");

  cuv_live_check (&live, "start", look (&live), TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    cuv_live_caps (&live, "RGB", sizes[i][0], sizes[i][1]);
    cuv_live_check (&live, "caps", look (&live), TRUE);
  }
  expect_no_warning (live.bus);
  cuv_live_clear (&live);
}

/* ---- contradictions ---- */

static const CuvContradiction contradictions[] = {
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

static CuvLive
open_settings (const gchar *bad)
{
  return open_lines (bad != NULL ? bad : "threshold=20");
}

CUV_TEST (test_contradictions_at_start)
{
  cuv_contradictions_at_start (
      contradictions, G_N_ELEMENTS (contradictions), open_settings, next_frame);
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
    CuvLive live = open_lines (cases[i].set);

    g_array_unref (next_lines (&live));
    if (cases[i].hint != NULL)
      expect_problem (live.bus, GST_MESSAGE_WARNING, cases[i].hint);
    expect_no_warning (live.bus);
    cuv_live_clear (&live);
  }
}

static void
show (CuvLive *self, gboolean is_free)
{
  if (is_free)
    g_array_unref (next_lines (self));
  else
    cuv_live_check (self, "settings", look (self), self->shown == NULL);
}

static void
halve (CuvLive *self)
{
  cuv_live_caps (self, "NV12", WIDTH / 2, HEIGHT / 2);
}

CUV_TEST (test_live_contradictions)
{
  cuv_contradictions_live (contradictions, G_N_ELEMENTS (contradictions),
      open_settings, show, halve);
}

/* A restart does not keep the previous settings. */
CUV_TEST (test_contradiction_at_second_start)
{
  CuvLive live = open_settings (NULL);

  show (&live, FALSE);
  cuv_live_restart (&live, "canny-low=101");
  cuv_live_push_error (&live, next_frame (&live), "canny-low 101");
  cuv_live_clear (&live);
}

/* ---- invalid values ---- */

CUV_TEST (test_out_of_range)
{
  cuv_expect_refused ("houghlines",
      "theta-resolution=0 theta-resolution=0.01 theta-min=-91 theta-max=271 "
      "rho-resolution=0.5 orientation-window=-0.1 orientation-window=91 "
      "canny-high=2041 neighborhood=1 neighborhood=33 max-lines=4097 "
      "pclines-d=0");
}

CUV_TEST (test_invalid_names)
{
  cuv_expect_parse_errors (
      "houghlines", "method=fast edges=sobel norm=l3 nms=disc draw=lines");
}

CUV_TEST (test_invalid_roi)
{
  GstElement *d = gst_element_factory_make ("houghlines", NULL);
  g_autofree gchar *value = NULL;
  CuvLive live;

  g_object_set (d, "roi", "1,2,3", NULL);
  cuv_expect_no_start (
      d, "roi '1,2,3' is invalid: expected left,top,right,bottom in pixels");

  live = open_lines ("threshold=20 roi=8,8,150,110");
  show (&live, FALSE);
  g_object_set (live.element, "roi", "10,10,5,5", NULL);
  expect_problem (live.bus, GST_MESSAGE_WARNING, "roi '10,10,5,5' is invalid");
  g_object_get (live.element, "roi", &value, NULL);
  fail_unless_equals_string (value, "8,8,150,110");
  show (&live, FALSE);
  cuv_live_clear (&live);
}

CUV_TEST (test_roi_outside)
{
  CuvLive live = open_lines ("roi=500,500,600,600");
  GArray *lines = next_lines (&live);

  fail_unless_equals_int (lines->len, 0);
  expect_problem (live.bus, GST_MESSAGE_WARNING, "outside the frame");
  g_array_unref (lines);
  g_array_unref (next_lines (&live));
  expect_no_warning (live.bus);
  cuv_live_clear (&live);
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
  const gchar *grey = grey_format ();
  CuvLive live = cuv_live_new ("houghlines", "", grey, 16385, 4);

  cuv_live_push_error (
      &live, black_frame (grey, 16385, 4), "set roi to a part");
  cuv_live_clear (&live);

  live = cuv_live_new ("houghlines", "", grey, 16384, 4); /* then frames grow */
  g_array_unref (take_lines (&live, black_frame (grey, 16384, 4)));
  cuv_live_caps (&live, grey, 16385, 4);
  cuv_live_push_error (
      &live, black_frame (grey, 16385, 4), "set roi to a part");
  cuv_live_clear (&live);

  live = cuv_live_new ("houghlines", "roi=1,0,16385,4", grey, 16385, 4);
  g_array_unref (take_lines (&live, black_frame (grey, 16385, 4)));
  cuv_live_clear (&live);
}
