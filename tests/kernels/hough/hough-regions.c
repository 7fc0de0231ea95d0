/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments of regions, in shapes whose sides are known. */
#include "cuvcheck.h"
#include "hough-expected.h"
#include "hough/regions.h"

#include <math.h>
#include <stdlib.h>

enum { SIZE = 240, FINER = 4 };

static const double pi = 3.14159265358979323846;

/* A bar with round ends around the frame's centre; a disc if half is 0. */
typedef struct {
  double angle;        /* of its axis, radians */
  double half, radius; /* half the length of its axis, half its width */
  double gap;          /* in the middle of its axis */
} Bar;

static bool
is_inside (const Bar *bar, double x, double y)
{
  const double c = cos (bar->angle), s = sin (bar->angle);
  const double u = (x - SIZE / 2.) * c + (y - SIZE / 2.) * s;
  const double v = (y - SIZE / 2.) * c - (x - SIZE / 2.) * s;

  return hypot (fmax (fabs (u) - bar->half, 0), v) <= bar->radius
      && fabs (u) >= bar->gap / 2;
}

static CuvCheckFrame
draw (const Bar *bar)
{
  CuvCheckFrame self =
      cuv_check_frame_new ("GRAY8", SIZE, SIZE, CUV_CHECK_BLACK);
  const CuvComponent *grey = &self.frame.component[0];

  for (int at = 0; at < SIZE * SIZE; at++) {
    const int x = at % SIZE, y = at / SIZE;
    int n = 0;

    for (int i = 0; i < FINER * FINER; i++)
      n += is_inside (bar, x + (i % FINER + .5) / FINER - .5,
          y + (i / FINER + .5) / FINER - .5);
    grey->data[y * grey->stride + x] = (uint8_t) (50 + 9 * n);
  }
  return self;
}

CuvCheckFrame
hough_bar_frame (int degrees, int radius)
{
  return draw (&(Bar){ (degrees + .7) * pi / 180, 75, radius, 0 });
}

const CuvHoughConfig hough_bar_config = { CUV_LINES_RHO_THETA, SIZE, SIZE, 360,
  0, -90, 90, 1, 10, 0 };
const CuvHoughParams hough_bar_params = { .canny = { 1, CUV_CANNY_L1, 20, 40 },
  .max_lines = 100,
  .segments = 1,
  .segment = { 40, 0 } };

/* Finds the segments of a bar. Returns false if the config is rejected. */
static bool
find (HoughExpected *found, const Bar *bar, const CuvHoughConfig *layout)
{
  CuvCheckFrame frame = draw (bar);
  const bool ok = hough_expected_init (found, layout);

  if (ok)
    hough_expected_run (found, &frame.frame, &hough_bar_params);
  cuv_check_frame_free (&frame);
  return ok;
}

/* Returns the signed distance of a point from the bar's axis. */
static double
from_axis (const Bar *bar, int x, int y)
{
  return (y / 256. - SIZE / 2.) * cos (bar->angle)
      - (x / 256. - SIZE / 2.) * sin (bar->angle);
}

/* Checks that each side is found once, with at least four fifths of its length,
 * and mostly in one piece. */
static void
check_bar (const Bar *bar)
{
  HoughExpected found = { 0 };
  double length[2] = { 0, 0 };

  if (!find (&found, bar, &hough_bar_config))
    return;
  cuv_check_case (
      "a bar at %.0f degrees, %g wide", bar->angle * 180 / pi, 2 * bar->radius);
  CUV_CHECK (
      found.result.n_segments <= 3, ": %d segments", found.result.n_segments);
  for (int i = 0; i < found.result.n_segments; i++) {
    const CuvLineSegment *s = &found.line_segments[i];
    const double a = from_axis (bar, s->x1, s->y1);
    const double b = from_axis (bar, s->x2, s->y2);

    length[a > 0] += hypot (s->x2 - s->x1, s->y2 - s->y1) / 256;
    CUV_CHECK (fabs (fabs (a) - bar->radius) < 1, ": %g away", a);
    CUV_CHECK (fabs (fabs (b) - bar->radius) < 1, ": %g away", b);
  }
  for (int i = 0; i < 2; i++)
    CUV_CHECK (fabs (length[i] / bar->half - 2) < .4, ": %g", length[i]);
  hough_expected_clear (&found);
}

/* Checks the segments of two bars end to end, which share a side if the gap
 * between them is small enough; their round ends widen the gap. */
static void
check_gap (int max_gap, int n)
{
  const Bar bar = { 0.3, 95, 12, 4 };
  CuvHoughParams gap = hough_bar_params;
  CuvCheckFrame frame = draw (&bar);
  HoughExpected found = { 0 };

  gap.segment.max_gap = max_gap;
  cuv_check_case ("a bar with a gap, up to %d", max_gap);
  if (hough_expected_init (&found, &hough_bar_config)) {
    hough_expected_run (&found, &frame.frame, &gap);
    CUV_CHECK (
        found.result.n_segments == n, ": %d segments", found.result.n_segments);
    hough_expected_clear (&found);
  }
  cuv_check_frame_free (&frame);
}

static void
check_disc (void)
{
  const Bar bar = { 0, 0, 60, 0 };
  HoughExpected found = { 0 };

  cuv_check_case ("a disc");
  if (!find (&found, &bar, &hough_bar_config))
    return;
  for (int i = 0; i < found.result.n_segments; i++) {
    const CuvLineSegment *s = &found.line_segments[i];

    CUV_CHECK (hypot (s->x2 - s->x1, s->y2 - s->y1) / 256 < 50);
  }
  hough_expected_clear (&found);
}

/* Checks how many segments of a bar a range of theta accepts. The bar's normal
 * is at 90 degrees to its axis. */
static void
check_range (double from, double to, double axis, int n)
{
  const Bar bar = { axis * pi / 180, 80, 10, 0 };
  CuvHoughConfig limited = hough_bar_config;
  HoughExpected found = { 0 };

  limited.theta_min = from;
  limited.theta_max = to;
  cuv_check_case ("theta from %g to %g, %g", from, to, axis - 90);
  if (!find (&found, &bar, &limited))
    return;
  CUV_CHECK (
      found.result.n_segments == n, ": %d segments", found.result.n_segments);
  hough_expected_clear (&found);
}

/* Checks that the best segments come first, and at most max_lines of them. */
static void
check_best (void)
{
  const Bar bar = { 0.3, 95, 12, 8 };
  HoughExpected found = { 0 };
  CuvCheckFrame frame = draw (&bar);
  CuvHoughParams few = hough_bar_params;

  few.max_lines = 3;
  few.segment.min_length = 5;
  cuv_check_case ("the best segments");
  if (hough_expected_init (&found, &hough_bar_config)) {
    found.line_segments[3].votes = 12345;
    hough_expected_run (&found, &frame.frame, &few);
    CUV_CHECK (found.result.n_segments == 3);
    CUV_CHECK (found.result.n_segments_found > 4);
    CUV_CHECK (found.line_segments[3].votes == 12345);
    for (int i = 1; i < 3; i++)
      CUV_CHECK (
          found.line_segments[i].votes <= found.line_segments[i - 1].votes);
    hough_expected_clear (&found);
  }
  cuv_check_frame_free (&frame);
}

/* Checks that a segment needs edges at three quarters of its steps, in any
 * direction. */
static void
check_density (void)
{
  static const int ends[][2] = { { 100, 3 }, { 3, 100 }, { 100, -100 },
    { 99, -100 }, { -3, 100 }, { 3, -100 }, { -100, 3 } };
  const CuvThetaRange all = { .all = 1 };
  const CuvSegmentParams params = { .min_length = 10 };

  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    CuvLineSegment segment = { 0, 0, 256 * ends[i][0], 256 * ends[i][1], 74 };

    cuv_check_case ("density of %d, %d", ends[i][0], ends[i][1]);
    CUV_CHECK (!cuv_region_is_wanted (&segment, &all, &params, 0));
    segment.votes = 75;
    CUV_CHECK (cuv_region_is_wanted (&segment, &all, &params, 0));
  }
}

CUV_CHECKS_CPU (check_regions)
{
  for (int degrees = 0; degrees < 180;
       degrees += cuv_check_options.few ? 30 : 10) {
    for (int radius = 3; radius <= 13; radius += 5)
      check_bar (&(Bar){ (degrees + .7) * pi / 180, 75, radius, 0 });
  }
  check_gap (0, 4);
  check_gap (3, 4);
  check_gap (8, 2);
  check_disc ();
  check_range (-90, -45, 20, 2);
  check_range (-45, 90, 20, 0);
  check_range (80, 120, 20, 2);
  check_range (20, 90, 20, 0);
  check_range (-45, 45, 95, 2);
  check_best ();
  check_density ();
}
