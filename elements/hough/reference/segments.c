/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments of peaks along edge pixels. */
#include "hough.h"

#include <math.h>
#include <stdlib.h>

/* A line and the axis it is walked along. */
typedef struct {
  const CuvHoughRow *row;
  const uint8_t *edges;
  int n_steps, n_pixels; /* the frame's size along and across the walk */
  ptrdiff_t step, pixel; /* map increments */
  int32_t along, across; /* the row's dx and dy, or dy and dx */
  int r;                 /* cell of the line */
  int first;             /* first pixel across with cell >= r - 1 */
} Walk;

static Walk
walk_of (const CuvHoughLayout *layout, const uint8_t *edges,
    const CuvHoughPeak *peak)
{
  const CuvHoughRow *row = &layout->rows[peak->k];

  return abs (row->dy) >= abs (row->dx)
      ? (Walk){ row, edges, layout->width, layout->height, 1, layout->width,
          row->dx, row->dy, peak->r, 0 }
      : (Walk){ row, edges, layout->height, layout->width, layout->width, 1,
          row->dy, row->dx, peak->r, 0 };
}

/* Returns the signed distance of a pixel from the line in cells, rising with
 * v. */
static int
distance_in_cells (const Walk *walk, int step, int v)
{
  int32_t at = step * walk->along + v * walk->across + walk->row->offset;
  int cells = (at >> 16) - walk->r;

  return walk->across > 0 ? cells : -cells;
}

/* Whether a step has an edge pixel in the line's cell or an adjacent one. From
 * step to step the line moves by at most a pixel. */
static bool
has_edge (Walk *walk, int step)
{
  int v = walk->first;

  while (v > 0 && distance_in_cells (walk, step, v - 1) >= -1)
    v--;
  while (v < walk->n_pixels && distance_in_cells (walk, step, v) < -1)
    v++;
  walk->first = v;
  for (; v < walk->n_pixels && distance_in_cells (walk, step, v) <= 1; v++) {
    if (walk->edges[step * walk->step + v * walk->pixel] != 0)
      return true;
  }
  return false;
}

/* Whether steps first .. last are min_length pixels or more along the line. */
static bool
is_long (const Walk *walk, int first, int last, int min_length)
{
  uint64_t steps = (uint64_t) (last - first), length = (uint64_t) min_length;
  uint64_t a = (uint64_t) llabs (walk->along),
           b = (uint64_t) llabs (walk->across);

  if (min_length > walk->n_steps + walk->n_pixels)
    return false;
  return steps * steps * (a * a + b * b) >= length * length * (b * b);
}

size_t
cuv_hough_segments (const CuvHoughLayout *self, const uint8_t *edges,
    const CuvHoughPeak *peaks, size_t n_peaks, const CuvSegmentParams *params,
    CuvHoughSegment *segments, size_t max)
{
  size_t n = 0;

  for (size_t p = 0; p < n_peaks; p++) {
    Walk walk = walk_of (self, edges, &peaks[p]);
    int first = -1, last = -1; /* steps of the current segment */

    for (int step = 0; step <= walk.n_steps; step++) {
      bool edge = step < walk.n_steps && has_edge (&walk, step);
      bool ends = step == walk.n_steps || step - last - 1 > params->max_gap;

      if (first >= 0 && (edge || step == walk.n_steps) && ends) {
        if (is_long (&walk, first, last, params->min_length)) {
          if (n < max)
            segments[n] = (CuvHoughSegment){ (int32_t) p, first, last };
          n++;
        }
        first = -1;
      }
      if (edge) {
        first = first < 0 ? step : first;
        last = step;
      }
    }
  }
  return n;
}

static double
within (double v, int n)
{
  return fmin (fmax (v, 0), n - 1);
}

void
cuv_hough_segment_ends (const CuvHoughLayout *self, const CuvHoughPeak *peak,
    const CuvHoughSegment *segment, double points[4])
{
  double rho, theta, c, s;
  bool across;

  cuv_hough_line (self, peak->k, peak->r, &rho, &theta);
  c = cos (theta);
  s = sin (theta);
  across = abs (self->rows[peak->k].dy) >= abs (self->rows[peak->k].dx);
  for (int i = 0; i < 2; i++) {
    int step = i == 0 ? segment->first : segment->last;

    points[2 * i] = across ? step : within ((rho - step * s) / c, self->width);
    points[2 * i + 1] =
        across ? within ((rho - step * c) / s, self->height) : step;
  }
}
