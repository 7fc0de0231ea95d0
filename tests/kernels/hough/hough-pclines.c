/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PClines: synthetic lines are found where parallel coordinates predict them.
 */
#include "hough-inputs.h"
#include "hough-oracle.h"
#include "cuvcheck.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

typedef struct {
  int x, y, dx, dy, n; /* n pixels from x, y in steps of dx, dy */
  double theta, rho;   /* relative to the frame's center */
} Planted;

/* Returns a line across the frame with at least 20 pixels exactly on it. */
static Planted
random_line (int width, int height)
{
  Planted line;

  do {
    line.dx = (int) cuv_check_below (15) - 7;
    line.dy = (int) cuv_check_below (8);
    line.x = (int) cuv_check_below ((uint32_t) width);
    line.y = (int) cuv_check_below ((uint32_t) height);
    line.n = 0;
    if (line.dx == 0 && line.dy == 0)
      continue;
    while (line.x - line.dx >= 0 && line.x - line.dx < width
        && line.y >= line.dy) {
      line.x -= line.dx;
      line.y -= line.dy;
    }
    while (line.x + line.n * line.dx >= 0 && line.x + line.n * line.dx < width
        && line.y + line.n * line.dy < height)
      line.n++;
  } while (line.n < 20);
  line.theta = atan2 (line.dx, -line.dy);
  line.rho = (line.x - (width - 1) / 2.) * cos (line.theta)
      + (line.y - (height - 1) / 2.) * sin (line.theta);
  return line;
}

/* Returns the column of a direction: u = D sin / (|sin| + |cos|). */
static double
column_of (double theta, int d)
{
  double c = cos (theta), s = sin (theta);

  return d * (c < 0 ? -s : s) / (fabs (c) + fabs (s));
}

/* Checks that the cell with the most votes is within two columns and two cells
 * of the line, and has enough votes: the columns beside the line's spread its
 * votes over a few cells. */
static void
check_planted (const CuvHoughLayout *layout, const Planted *line)
{
  const int d = layout->period / 2;
  const double cell = 65536 / layout->rows[d].scale;
  const CuvPeakParams params = { 0, CUV_PEAKS_SQUARE, 3 };
  const bool exact =
      fabs (column_of (line->theta, d) - rint (column_of (line->theta, d)))
      < 1e-9;
  /* number of cells over which a column spreads the votes */
  const int spread = exact ? 2 : layout->n_cells / (2 * d) + 2;
  uint32_t *pixels = malloc ((size_t) line->n * sizeof *pixels);
  uint32_t *votes = malloc (cuv_hough_n_cells (layout) * sizeof *votes);
  CuvHoughPeak peak = { 0 };
  CuvPeakList peaks = { &peak, 1, 0 };
  double rho, theta, u = column_of (line->theta, d), off, per_column;

  for (int i = 0; i < line->n; i++)
    pixels[i] = (uint32_t) (line->y + i * line->dy) << 16
        | (uint32_t) (line->x + i * line->dx);
  cuv_hough_vote (
      layout, &(CuvEdgeList){ pixels, NULL, (size_t) line->n }, votes);
  cuv_hough_peaks (layout, votes, &params, &peaks);
  CUV_CHECK (peaks.n > 0 && (int) peak.votes * spread >= line->n,
      ": %u votes, %d pixels", peak.votes, line->n);
  cuv_hough_line (layout, peak.k, peak.r, &rho, &theta);
  rho -= (layout->width - 1) / 2. * cos (theta)
      + (layout->height - 1) / 2. * sin (theta);
  off = remainder (theta - line->theta, pi);
  per_column = d / ((d - fabs (u)) * (d - fabs (u)) + u * u);
  CUV_CHECK (
      fabs (off) < 2.01 * per_column, ": %g columns off", off / per_column);
  /* theta turned by 180 degrees negates rho */
  rho = cos (theta - line->theta) < 0 ? -rho : rho;
  CUV_CHECK (fabs (rho - line->rho) < 2 * 1.42 * cell, ": %g pixels off",
      rho - line->rho);
  free (votes);
  free (pixels);
}

CUV_CHECKS_CPU (check_pclines)
{
  static const HoughSize sizes[] = { { 200, 150 }, { 120, 260 }, { 101, 101 } };

  for (int i = 0; i < (cuv_check_options.few ? 6 : 60); i++) {
    HoughSize size = sizes[i % 3];
    CuvHoughConfig config = { CUV_LINES_PCLINES, size.width, size.height,
      i % 2 ? 256 : 128, 0, -90, 90, 1, 90, 0 };
    Planted line = random_line (size.width, size.height);
    CuvHoughLayout layout;

    cuv_check_case ("PClines, %dx%d, %d columns: %d from %d %d by %d %d",
        size.width, size.height, config.period, line.n, line.x, line.y, line.dx,
        line.dy);
    CUV_CHECK (cuv_hough_layout_init (&layout, &config) == NULL);
    check_planted (&layout, &line);
    cuv_hough_layout_clear (&layout);
  }
}
