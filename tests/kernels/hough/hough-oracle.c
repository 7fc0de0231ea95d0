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

/* Compares angles in degrees: the gradients of 8-bit pixels never lie between
 * 22.5 or 67.5 degrees and the integer limits that approximate these. */
static bool
is_gradient_maximum (const Picture *p, int x, int y)
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

      if (m > params->low && is_gradient_maximum (&p, x, y))
        map[y * w + x] = m > params->high ? 255 : 1;
    }
  }
  while (again) { /* weak pixels beside edges become edges */
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

/* Columns u run from -D to D - 1, and then again with the direction reversed.
 */
static double
degrees_of (const CuvHoughConfig *config, int j)
{
  int d = config->period / 2, u = j % config->period - d;

  if (config->kind == CUV_LINES_RHO_THETA)
    return -90 + 180. * j / config->period;
  return atan2 (u, d - abs (u)) * 180 / pi + (j < config->period ? 0 : 180);
}

static int
first_direction (const CuvHoughConfig *config)
{
  int j = 0;

  while (degrees_of (config, j) < config->theta_min - 1e-9)
    j++;
  return j;
}

double
oracle_degrees (const CuvHoughConfig *config, int k)
{
  return degrees_of (config, first_direction (config) + k);
}

int
oracle_n_rows (const CuvHoughConfig *config)
{
  int n = 0;

  while (n < config->period
      && oracle_degrees (config, n) < config->theta_max - 1e-9)
    n++;
  return n + (config->inclusive ? 1 : 0);
}

static int
rho_of (const CuvHoughConfig *config, int j, int x, int y)
{
  double theta = j * pi / config->period - pi / 2;
  int64_t c = lrint (cos (theta) * 65536 / config->rho_step);
  int64_t s = lrint (sin (theta) * 65536 / config->rho_step);

  return (int) floor ((double) (x * c + y * s) / 65536 + 0.5);
}

/* Coordinates are half pixels from the center. */
double
oracle_pclines_value (const CuvHoughLayout *layout, int k, int x, int y)
{
  const CuvHoughConfig *config = &layout->config;
  int j = first_direction (config) + k;
  int d = config->period / 2, u = j % config->period - d;
  int m = (config->width > config->height ? config->width : config->height) - 1;
  int xx = 2 * x - (config->width - 1), yy = 2 * y - (config->height - 1);
  double v = xx + (double) (u < 0 ? xx + yy : yy - xx) * u / d;

  v *= (double) layout->radius / (m > 0 ? m : 1);
  return j < config->period ? v : -v;
}

bool
oracle_votes_in_row (const CuvHoughConfig *config, int k, int bin)
{
  double theta = oracle_degrees (config, k), size = 180. / config->period;

  if (config->window >= 90)
    return true;
  for (int turn = -2; turn <= 2; turn++) {
    double first = -90 + bin * size + 180 * turn;

    if (first <= theta + config->window + 1e-5
        && first + size > theta - config->window + 1e-5)
      return true;
  }
  return false;
}

uint32_t *
oracle_votes (const CuvHoughLayout *layout, const CuvEdgeList *list)
{
  uint32_t *votes = calloc (
      (size_t) layout->n_rows * (size_t) layout->n_cells, sizeof *votes);
  const int first = first_direction (&layout->config);

  for (int k = 0; k < layout->n_rows; k++) {
    uint32_t *middle = votes + k * layout->n_cells + layout->radius;

    for (size_t i = 0; i < list->n; i++) {
      if (list->bins == NULL
          || oracle_votes_in_row (&layout->config, k, list->bins[i]))
        middle[rho_of (&layout->config, first + k, list->pixels[i] & 0xffff,
            list->pixels[i] >> 16)]++;
    }
  }
  return votes;
}

/* ---- peaks ---- */

/* Reads a cell of row k, which need not exist: row k + i * period has the same
 * lines, with rho negated if i is odd. Reads the nearest of these rows. */
static uint32_t
cell (const CuvHoughLayout *layout, const uint32_t *votes, int k, int r)
{
  for (int i = 0; i < 100; i++) {
    for (int side = -1; side <= 1; side += 2) {
      int row = k + side * i * layout->period, rho = i % 2 ? -r : r;

      if (row >= 0 && row < layout->n_rows)
        return abs (rho) > layout->radius
            ? 0
            : votes[row * layout->n_cells + layout->radius + rho];
    }
  }
  return 0;
}

/* Returns whether the center is the maximum of a square, and the first one if
 * several are equal. */
static bool
is_first_maximum (
    const CuvHoughLayout *layout, const uint32_t *votes, int k, int r, int n)
{
  int best = 0;
  uint32_t most = 0;

  for (int i = 0; i < n * n; i++) {
    uint32_t v = cell (layout, votes, k + i / n - n / 2, r + i % n - n / 2);

    if (i == 0 || v > most) {
      best = i;
      most = v;
    }
  }
  return best == n * n / 2;
}

/* Returns whether the center has at least two thirds of the maximum of 31 x 31
 * cells. */
static bool
is_dominant (const CuvHoughLayout *layout, const uint32_t *votes, int k, int r)
{
  uint32_t most = 0;

  for (int i = 0; i < 31 * 31; i++) {
    uint32_t v = cell (layout, votes, k + i / 31 - 15, r + i % 31 - 15);

    most = v > most ? v : most;
  }
  return cell (layout, votes, k, r) >= 2. / 3 * most;
}

static bool
follows (const CuvHoughPeak *a, const CuvHoughPeak *b)
{
  return a->votes < b->votes
      || (a->votes == b->votes
          && (a->k > b->k || (a->k == b->k && a->r > b->r)));
}

size_t
oracle_peaks (const CuvHoughLayout *layout, const uint32_t *votes,
    const CuvPeakParams *params, CuvHoughPeak *peaks)
{
  size_t n = 0;

  for (int k = 0; k < layout->n_rows; k++) {
    for (int r = -layout->radius; r <= layout->radius; r++) {
      CuvHoughPeak peak = { k, r, cell (layout, votes, k, r) };
      size_t at = n;
      bool ok = peak.votes > params->threshold;

      if (params->rule == CUV_PEAKS_CROSS)
        ok = ok && peak.votes > cell (layout, votes, k, r - 1)
            && peak.votes >= cell (layout, votes, k, r + 1)
            && peak.votes > cell (layout, votes, k - 1, r)
            && peak.votes >= cell (layout, votes, k + 1, r);
      else if (params->rule != CUV_PEAKS_ALL)
        ok = ok && is_first_maximum (layout, votes, k, r, params->neighborhood);
      if (params->rule == CUV_PEAKS_DOMINANT)
        ok = ok && is_dominant (layout, votes, k, r);
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
has_edge_at (const CuvHoughLayout *layout, const uint8_t *map,
    const CuvHoughPeak *peak, bool across, int step)
{
  const CuvHoughRow *row = &layout->rows[peak->k];

  for (int v = 0; v < (across ? layout->height : layout->width); v++) {
    int x = across ? step : v, y = across ? v : step;

    if (map[y * layout->width + x] != 0
        && abs (cuv_hough_cell (row, x, y) - peak->r) <= 1)
      return true;
  }
  return false;
}

size_t
oracle_segments (const CuvHoughLayout *layout, const uint8_t *map,
    const CuvHoughPeak *peak, const CuvSegmentParams *params,
    CuvHoughSegment *segments)
{
  const CuvHoughRow *row = &layout->rows[peak->k];
  bool across = abs (row->dy) >= abs (row->dx);
  double slope =
      across ? (double) row->dx / row->dy : (double) row->dy / row->dx;
  int n_steps = across ? layout->width : layout->height, n_seen = 0;
  int *seen = malloc ((size_t) n_steps * sizeof *seen);
  size_t n = 0;

  for (int step = 0; step < n_steps; step++) {
    if (has_edge_at (layout, map, peak, across, step))
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
