/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hough-oracle.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

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
  angle = atan2 (abs (gy), abs (gx)) * 180 / pi;
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

/* Columns go from u = -D to below D, and on, turned round. */
static double
degrees_of (const CuvHoughShape *shape, int j)
{
  int d = shape->period / 2, u = j % shape->period - d;

  if (shape->kind == CUV_LINES_RHO_THETA)
    return -90 + 180. * j / shape->period;
  return atan2 (u, d - abs (u)) * 180 / pi + (j < shape->period ? 0 : 180);
}

static int
first_direction (const CuvHoughShape *shape)
{
  int j = 0;

  while (degrees_of (shape, j) < shape->theta_min - 1e-9)
    j++;
  return j;
}

double
oracle_degrees (const CuvHoughShape *shape, int k)
{
  return degrees_of (shape, first_direction (shape) + k);
}

int
oracle_n_rows (const CuvHoughShape *shape)
{
  int n = 0;

  while (
      n < shape->period && oracle_degrees (shape, n) < shape->theta_max - 1e-9)
    n++;
  return n + (shape->inclusive ? 1 : 0);
}

static int
rho_of (const CuvHoughShape *shape, int j, int x, int y)
{
  double theta = j * pi / shape->period - pi / 2;
  int64_t c = lrint (cos (theta) * 65536 / shape->rho_step);
  int64_t s = lrint (sin (theta) * 65536 / shape->rho_step);

  return (int) floor ((double) (x * c + y * s) / 65536 + 0.5);
}

/* In half pixels from the middle. */
double
oracle_pclines_value (const CuvHoughSpace *space, int k, int x, int y)
{
  const CuvHoughShape *shape = &space->shape;
  int j = first_direction (shape) + k;
  int d = shape->period / 2, u = j % shape->period - d;
  int m = (shape->width > shape->height ? shape->width : shape->height) - 1;
  int xx = 2 * x - (shape->width - 1), yy = 2 * y - (shape->height - 1);
  double v = xx + (double) (u < 0 ? xx + yy : yy - xx) * u / d;

  v *= (double) space->radius / (m > 0 ? m : 1);
  return j < shape->period ? v : -v;
}

bool
oracle_takes_group (const CuvHoughShape *shape, int k, int group)
{
  double theta = oracle_degrees (shape, k), size = 180. / shape->period;

  if (shape->window >= 90)
    return true;
  for (int turn = -2; turn <= 2; turn++) {
    double first = -90 + group * size + 180 * turn;

    if (first <= theta + shape->window + 1e-5
        && first + size > theta - shape->window + 1e-5)
      return true;
  }
  return false;
}

uint32_t *
oracle_votes (const CuvHoughSpace *space, const CuvEdgeList *list)
{
  uint32_t *votes =
      calloc ((size_t) space->n_rows * (size_t) space->n_cells, sizeof *votes);
  const int first = first_direction (&space->shape);

  for (int k = 0; k < space->n_rows; k++) {
    uint32_t *middle = votes + k * space->n_cells + space->radius;

    for (size_t i = 0; i < list->n; i++) {
      if (list->groups == NULL
          || oracle_takes_group (&space->shape, k, list->groups[i]))
        middle[rho_of (&space->shape, first + k, list->pixels[i] & 0xffff,
            list->pixels[i] >> 16)]++;
    }
  }
  return votes;
}

/* ---- peaks ---- */

/* A line is in row k + i * period, turned round i times; in the first of these
 * rows that there is. */
static uint32_t
cell (const CuvHoughSpace *space, const uint32_t *votes, int k, int r)
{
  for (int i = 0; i < 100; i++) {
    for (int side = -1; side <= 1; side += 2) {
      int row = k + side * i * space->period, rho = i % 2 ? -r : r;

      if (row >= 0 && row < space->n_rows)
        return abs (rho) > space->radius
            ? 0
            : votes[row * space->n_cells + space->radius + rho];
    }
  }
  return 0;
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

/* ---- segments ---- */

static bool
sees_edge (const CuvHoughSpace *space, const uint8_t *map,
    const CuvHoughPeak *peak, bool across, int step)
{
  const CuvHoughRow *row = &space->rows[peak->k];

  for (int v = 0; v < (across ? space->height : space->width); v++) {
    int x = across ? step : v, y = across ? v : step;

    if (map[y * space->width + x] != 0
        && abs (cuv_hough_cell (row, x, y) - peak->r) <= 1)
      return true;
  }
  return false;
}

size_t
oracle_segments (const CuvHoughSpace *space, const uint8_t *map,
    const CuvHoughPeak *peak, const CuvSegmentParams *params,
    CuvHoughSegment *segments)
{
  const CuvHoughRow *row = &space->rows[peak->k];
  bool across = abs (row->dy) >= abs (row->dx);
  double slope =
      across ? (double) row->dx / row->dy : (double) row->dy / row->dx;
  int n_steps = across ? space->width : space->height, n_seen = 0;
  int *seen = malloc ((size_t) n_steps * sizeof *seen);
  size_t n = 0;

  for (int step = 0; step < n_steps; step++) {
    if (sees_edge (space, map, peak, across, step))
      seen[n_seen++] = step;
  }
  for (int i = 0, j; i < n_seen; i = j) {
    for (j = i + 1; j < n_seen && seen[j] - seen[j - 1] <= params->max_gap + 1;)
      j++;
    if (hypot (1, slope) * (seen[j - 1] - seen[i]) > params->min_length - 1e-9)
      segments[n++] = (CuvHoughSegment){ 0, seen[i], seen[j - 1] };
  }
  free (seen);
  return n;
}
