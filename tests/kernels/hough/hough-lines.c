/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines and segments that belong to peaks. */
#include "hough-inputs.h"
#include "hough-oracle.h"
#include "cuvcheck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- lines ---- */

/* Checks that a pixel is near the line of the cell that it votes for. */
static void
check_cell_line (const CuvHoughLayout *layout, int k, int x, int y)
{
  double step = layout->rows[k].scale / 65536, rho, theta, degrees;
  int r = cuv_hough_cell (&layout->rows[k], x, y);

  cuv_hough_line (layout, k, r, &rho, &theta);
  CUV_CHECK (theta >= -pi / 2 - 1e-9 && theta < pi / 2, ": %g", theta);
  CUV_CHECK (fabs (x * cos (theta) + y * sin (theta) - rho) * step < .51 + .001,
      ": row %d, %d %d, %g off", k, x, y,
      x * cos (theta) + y * sin (theta) - rho);
  degrees = oracle_degrees (&layout->config, k) - theta * 180 / pi;
  CUV_CHECK (
      fabs (degrees) < 1e-6 || fabs (degrees - 180) < 1e-6, ": %g", degrees);
}

CUV_CHECKS_CPU (check_cell_lines)
{
  for (int i = 0; i < HOUGH_N_CONFIGS; i++) {
    CuvHoughConfig config = hough_config (i, 300, 200);
    CuvHoughLayout layout;

    cuv_check_case ("lines of config %d", i);
    CUV_CHECK (cuv_hough_layout_init (&layout, &config) == NULL);
    for (int n = 0; n < 300; n++)
      check_cell_line (&layout,
          (int) cuv_check_below ((uint32_t) layout.n_rows),
          (int) cuv_check_below (300), (int) cuv_check_below (200));
    cuv_hough_layout_clear (&layout);
  }
}

/* Finds the first and the last point where a line crosses the four sides. */
static int
cross_sides (
    double rho, double theta, double right, double bottom, double ends[4])
{
  const double c = cos (theta), s = sin (theta);
  double first = INFINITY, last = -INFINITY;

  for (int side = 0; side < 4; side++) {
    double x = side == 1 ? right : 0, y = side == 3 ? bottom : 0, t;

    if (fabs (side < 2 ? s : c) < 1e-9)
      continue;
    if (side < 2)
      y = (rho - x * c) / s;
    else
      x = (rho - y * s) / c;
    if (x < -1e-6 || x > right + 1e-6 || y < -1e-6 || y > bottom + 1e-6)
      continue;
    t = y * c - x * s;
    if (t < first)
      first = t, ends[0] = x, ends[1] = y;
    if (t > last)
      last = t, ends[2] = x, ends[3] = y;
  }
  return first <= last;
}

static void
check_clipped (double rho, double theta, int width, int height)
{
  double found[4], expected[4];
  bool meets = cross_sides (rho, theta, width - 1, height - 1, expected);

  cuv_check_case ("clip %g, %g to %dx%d", rho, theta, width, height);
  if (!CUV_CHECK (cuv_hough_clip (rho, theta, width, height, found) == meets)
      || !meets)
    return;
  for (int i = 0; i < 4; i++) {
    int last = (i == 0 || i == 2 ? width : height) - 1;

    CUV_CHECK (fabs (found[i] - expected[i]) < 1e-3, ": %g, not %g", found[i],
        expected[i]);
    CUV_CHECK (found[i] >= 0 && found[i] <= last, ": %g", found[i]);
  }
}

CUV_CHECKS_CPU (check_clip)
{
  check_clipped (0, -pi / 2, 20, 10); /* along the borders */
  check_clipped (-9, -pi / 2, 20, 10);
  check_clipped (-9.01, -pi / 2, 20, 10);
  check_clipped (0, 0, 20, 10);
  check_clipped (19, 0, 20, 10);
  check_clipped (19.01, 0, 20, 10);
  check_clipped (0, 0, 1, 1);
  check_clipped (0, pi / 4, 20, 10); /* touches a corner */
  check_clipped (.1, 0, 1, 5);
  for (int i = 0; i < 3000; i++) {
    int width = 1 + (int) cuv_check_below (30);
    int height = 1 + (int) cuv_check_below (30);

    check_clipped ((int) cuv_check_below (6000) / 100. - 30,
        ((int) cuv_check_below (180) - 90) * pi / 180, width, height);
  }
}

/* ---- segments ---- */

static void
check_ends (const CuvHoughLayout *layout, const CuvHoughPeak *peak,
    const CuvHoughSegment *segment)
{
  const CuvHoughRow *row = &layout->rows[peak->k];
  bool across = abs (row->dy) >= abs (row->dx);
  double ends[4], rho, theta;

  cuv_hough_segment_ends (layout, peak, segment, ends);
  cuv_hough_line (layout, peak->k, peak->r, &rho, &theta);
  CUV_CHECK (ends[across ? 0 : 1] == segment->first);
  CUV_CHECK (ends[across ? 2 : 3] == segment->last);
  for (int i = 0; i < 4; i += 2) {
    double x = ends[i], y = ends[i + 1];
    bool inside = across ? y > 0 && y < layout->height - 1
                         : x > 0 && x < layout->width - 1;

    CUV_CHECK (
        x >= 0 && x <= layout->width - 1 && y >= 0 && y <= layout->height - 1,
        ": %g %g", x, y);
    CUV_CHECK (
        !inside || fabs (x * cos (theta) + y * sin (theta) - rho) < 1e-6);
  }
}

static void
check_segments_of (const HoughInput *input, const CuvSegmentParams *params)
{
  enum { N_PEAKS = 40 };
  const CuvHoughLayout *layout = &input->layout;
  const CuvPeakParams rule = { 2, CUV_PEAKS_CROSS, 1 };
  size_t room = (size_t) layout->width * (size_t) layout->height * N_PEAKS + 1;
  CuvHoughPeak peaks[N_PEAKS];
  CuvPeakList list = { peaks, N_PEAKS, 0 };
  CuvHoughSegment *found = malloc (room * sizeof *found);
  CuvHoughSegment *expected = malloc (room * sizeof *expected);
  uint32_t *votes = hough_input_vote (input);
  size_t n = 0, n_peaks, n_found, few;

  cuv_hough_peaks (layout, votes, &rule, &list);
  n_peaks = list.n < N_PEAKS ? list.n : N_PEAKS;
  for (size_t p = 0; p < n_peaks; p++) {
    size_t first = n;

    n += oracle_segments (layout, input->map, &peaks[p], params, expected + n);
    for (; first < n; first++)
      expected[first].peak = (int32_t) p;
  }
  n_found = cuv_hough_segments (
      layout, input->map, peaks, n_peaks, params, found, room);
  CUV_CHECK (n_found == n, ": %zu, not %zu", n_found, n);
  CUV_CHECK (memcmp (found, expected, n * sizeof *found) == 0);
  for (size_t i = 0; i < n; i++)
    check_ends (layout, &peaks[expected[i].peak], &expected[i]);
  few = cuv_check_below ((uint32_t) n + 1);
  memset (found, 0xff, room * sizeof *found);
  CUV_CHECK (cuv_hough_segments (
                 layout, input->map, peaks, n_peaks, params, found, few)
      == n);
  CUV_CHECK (memcmp (found, expected, few * sizeof *found) == 0);
  CUV_CHECK (found[few].last == -1, ": wrote more than %zu segments", few);
  free (votes);
  free (expected);
  free (found);
}

CUV_CHECKS_CPU (check_segments)
{
  static const HoughSize sizes[] = { { 1, 1 }, { 1, 30 }, { 40, 1 }, { 17, 33 },
    { 80, 60 } };
  static const CuvSegmentParams params[] = { { 0, 0 }, { 5, 2 }, { 20, 6 },
    { 1, 100000 }, { INT32_MAX, 3 } };

  for (int i = 0; i < 5 * HOUGH_N_CONFIGS; i++) {
    const HoughSize size = sizes[i / HOUGH_N_CONFIGS];
    CuvHoughConfig config =
        hough_config (i % HOUGH_N_CONFIGS, size.width, size.height);
    HoughInput input;

    for (int p = 0; p < 5; p++) {
      cuv_check_case ("segments, %dx%d, config %d, params %d", size.width,
          size.height, i % HOUGH_N_CONFIGS, p);
      if (!hough_input_init (&input, &config, 3 + p))
        continue;
      check_segments_of (&input, &params[p]);
      hough_input_clear (&input);
    }
  }
}
