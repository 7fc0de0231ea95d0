/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hough-oracle.h"

#include <math.h>
#include <stdlib.h>

/* ---- edges ---- */

typedef struct {
  const CuvFrame *frame;
  const CuvCannyParams *params;
} Picture;

static int
near (int v, int n)
{
  return v < 0 ? 0 : v >= n ? n - 1 : v;
}

static int
grey (const Picture *p, int x, int y)
{
  static const int binomial[] = { 1, 4, 6, 4, 1 };
  int w = p->frame->width, h = p->frame->height, sum = 128;

  if (!p->params->blur)
    return cuv_frame_grey (p->frame, near (x, w), near (y, h));
  for (int j = 0; j < 5; j++) {
    for (int i = 0; i < 5; i++)
      sum += binomial[i] * binomial[j]
          * cuv_frame_grey (p->frame, near (near (x, w) + i - 2, w),
              near (near (y, h) + j - 2, h));
  }
  return sum / 256;
}

static void
sobel (const Picture *p, int x, int y, int *gx, int *gy)
{
  *gx = *gy = 0;
  for (int d = -1; d <= 1; d++) {
    int weight = d == 0 ? 2 : 1;

    *gx += weight * (grey (p, x + 1, y + d) - grey (p, x - 1, y + d));
    *gy += weight * (grey (p, x + d, y + 1) - grey (p, x + d, y - 1));
  }
}

static double
norm (const Picture *p, int x, int y)
{
  int gx, gy;

  sobel (p, x, y, &gx, &gy);
  return p->params->norm == CUV_CANNY_L1 ? abs (gx) + abs (gy)
                                         : sqrt (gx * gx + gy * gy);
}

/* By angles. No gradient of 8-bit pixels lies between the limits of 22.5
 * and 67.5 degrees and those that integers stand for. */
static bool
stands_out (const Picture *p, int x, int y)
{
  int gx, gy, dx, dy;
  double angle, m = norm (p, x, y);

  sobel (p, x, y, &gx, &gy);
  angle = atan2 (abs (gy), abs (gx)) * 180 / 3.14159265358979323846;
  dx = angle > 67.5 ? 0 : 1;
  dy = angle < 22.5 ? 0 : 1;
  if (dy == 1 && dx == 1 && (gx < 0) != (gy < 0))
    dx = -1;
  return m > norm (p, x - dx, y - dy) && m >= norm (p, x + dx, y + dy);
}

uint8_t *
oracle_canny (const CuvFrame *frame, const CuvCannyParams *params)
{
  const Picture p = { frame, params };
  const int w = frame->width, h = frame->height;
  uint8_t *map = calloc ((size_t) w * (size_t) h, 1);
  bool again = true;

  for (int y = 1; y < h - 1; y++) {
    for (int x = 1; x < w - 1; x++) {
      double m = norm (&p, x, y);

      if (m > params->low && stands_out (&p, x, y))
        map[y * w + x] = m > params->high ? 255 : 1;
    }
  }
  while (again) { /* weak ones beside edges, until there are no more */
    again = false;
    for (int y = 1; y < h - 1; y++) {
      for (int x = 1; x < w - 1; x++) {
        for (int i = 0; map[y * w + x] == 1 && i < 9; i++) {
          if (map[(y + i / 3 - 1) * w + x + i % 3 - 1] == 255)
            map[y * w + x] = again = true, map[y * w + x] = 255;
        }
      }
    }
  }
  for (int at = 0; at < w * h; at++)
    map[at] = map[at] == 255 ? 255 : 0;
  return map;
}

/* ---- votes ---- */

static long
sixteenths (double v, double step)
{
  return lrint (v * 65536 / step);
}

uint32_t *
oracle_votes (const CuvHoughSpace *space, const uint8_t *map)
{
  const double pi = 3.14159265358979323846;
  uint32_t *votes =
      calloc ((size_t) space->n_rows * (size_t) space->n_cells, sizeof *votes);

  for (int at = 0; at < space->width * space->height; at++) {
    for (int k = 0; map[at] != 0 && k < space->n_rows; k++) {
      double theta = k * pi / space->period - pi / 2;
      int64_t x = at % space->width, y = at / space->width;
      int64_t rho = x * sixteenths (cos (theta), space->shape.rho_step)
          + y * sixteenths (sin (theta), space->shape.rho_step);
      int r = (int) floor ((double) rho / 65536 + 0.5);

      votes[(size_t) k * (size_t) space->n_cells
          + (size_t) (space->radius + r)]++;
    }
  }
  return votes;
}

/* ---- peaks ---- */

static uint32_t
cell (const CuvHoughSpace *space, const uint32_t *votes, int k, int r)
{
  int row = k, rho = r;

  for (; row < 0; row += space->period)
    rho = -rho;
  for (; row >= space->n_rows; row -= space->period)
    rho = -rho;
  if (abs (rho) > space->radius)
    return 0;
  return votes[row * space->n_cells + space->radius + rho];
}

/* Whether the first of a square's greatest cells is in its middle. */
static bool
is_first_greatest (
    const CuvHoughSpace *space, const uint32_t *votes, int k, int r, int n)
{
  int best = 0;
  uint32_t most = 0;

  for (int i = 0; i < n * n; i++) {
    uint32_t v = cell (space, votes, k + i / n - n / 2, r + i % n - n / 2);

    if (i == 0 || v > most) {
      best = i;
      most = v;
    }
  }
  return best == n * n / 2;
}

static bool
follows (const CuvHoughPeak *a, const CuvHoughPeak *b)
{
  return a->votes < b->votes
      || (a->votes == b->votes
          && (a->k > b->k || (a->k == b->k && a->r > b->r)));
}

size_t
oracle_peaks (const CuvHoughSpace *space, const uint32_t *votes,
    const CuvPeakParams *params, CuvHoughPeak *peaks)
{
  size_t n = 0;

  for (int k = 0; k < space->n_rows; k++) {
    for (int r = -space->radius; r <= space->radius; r++) {
      CuvHoughPeak peak = { k, r, cell (space, votes, k, r) };
      size_t at = n;
      bool ok = peak.votes > params->threshold;

      if (params->rule == CUV_PEAKS_CROSS)
        ok = ok && peak.votes > cell (space, votes, k, r - 1)
            && peak.votes >= cell (space, votes, k, r + 1)
            && peak.votes > cell (space, votes, k - 1, r)
            && peak.votes >= cell (space, votes, k + 1, r);
      else if (params->rule == CUV_PEAKS_SQUARE)
        ok = ok && is_first_greatest (space, votes, k, r, params->neighborhood);
      if (!ok)
        continue;
      for (; at > 0 && follows (&peaks[at - 1], &peak); at--)
        peaks[at] = peaks[at - 1];
      peaks[at] = peak;
      n++;
    }
  }
  return n;
}
