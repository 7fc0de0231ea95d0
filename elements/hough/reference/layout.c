/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layout of lines: rows of the accumulator and the lines of its cells.
 *
 * PClines: M. Dubska, A. Herout, J. Havel, PClines: Line Detection Using
 * Parallel Coordinates, CVPR 2011. A line is a point between two of three
 * parallel axes, -y, x and y, at u = -D, 0 and D. In column u a pixel has the
 * value x (1 - |u| / D) + y u / D: the distance of the line through it with
 * normal (D - |u|, u). Columns are thus rows of unevenly spaced angles. */
#include "hough.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/* Makes row j, counted from -90 degrees. */
static CuvHoughRow
rho_theta_row (const CuvHoughConfig *config, int j)
{
  double theta = j * PI / config->period - PI / 2;
  double scale = 65536 / config->rho_step;

  return (CuvHoughRow){ .dx = (int32_t) lrint (cos (theta) * scale),
    .dy = (int32_t) lrint (sin (theta) * scale),
    .offset = 32768,
    .theta = theta,
    .scale = scale };
}

/* Makes row j, which is a column in parallel coordinates. Values range over -m
 * .. m in half pixels from the frame's centre, where m + 1 is its longer
 * side. */
static CuvHoughRow
pclines_row (const CuvHoughConfig *config, int radius, int j)
{
  int d = config->period / 2, u = j - d;
  int m = cuv_max (1, cuv_max (config->width, config->height) - 1);
  double scale = 65536. * 2 * radius / m;
  double nx = 1 - (double) abs (u) / d, ny = (double) u / d;
  CuvHoughRow row = { .dx = (int32_t) lrint (nx * scale),
    .dy = (int32_t) lrint (ny * scale),
    .theta = atan2 (ny, nx),
    .scale = scale * hypot (nx, ny) };

  row.offset = 32768
      - (((config->width - 1) * row.dx + (config->height - 1) * row.dy) >> 1);
  return row;
}

static int32_t
radius_of (const CuvHoughConfig *config)
{
  double length = hypot (config->width - 1, config->height - 1);

  if (config->kind == CUV_LINES_PCLINES)
    length = .71 * cuv_max (config->width, config->height);
  return (int32_t) ceil (length / config->rho_step)
      + (config->kind == CUV_LINES_RHO_THETA);
}

/* Finds the range of a row's cells: all lie between those of the frame's
 * corners. */
static void
find_row_cells (const CuvHoughConfig *config, CuvHoughRow *row)
{
  for (int i = 0; i < 4; i++) {
    int r = cuv_hough_cell (
        row, i & 1 ? config->width - 1 : 0, i & 2 ? config->height - 1 : 0);

    row->first_cell = i == 0 ? r : cuv_min (row->first_cell, r);
    row->last_cell = i == 0 ? r : cuv_max (row->last_cell, r);
  }
}

/* Finds the bins that overlap theta - window .. theta + window; `same`
 * tolerates rounding errors. */
static void
find_bins (const CuvHoughLayout *self, CuvHoughRow *row)
{
  const double per_radian = self->n_bins / PI, same = 1e-6;
  double middle = (row->theta + PI / 2) * per_radian;
  double window = fmin (self->config.window, 90) * PI / 180 * per_radian;
  int first = (int) floor (middle - window + same);
  int last = (int) floor (middle + window + same);

  row->first_bin = (first % self->n_bins + self->n_bins) % self->n_bins;
  row->n_bins = cuv_min (last - first + 1, self->n_bins);
}

static CuvHoughRow
hough_layout_row (const CuvHoughLayout *self, int j)
{
  const CuvHoughConfig *config = &self->config;
  int i = j % config->period;
  CuvHoughRow row = config->kind == CUV_LINES_RHO_THETA
      ? rho_theta_row (config, j)
      : pclines_row (config, self->radius, i);

  if (config->kind == CUV_LINES_PCLINES && i != j) {
    row.dx = -row.dx; /* wrapped: rho is negated */
    row.dy = -row.dy;
    row.offset = 65536 - row.offset;
    row.theta += PI;
  }
  find_row_cells (config, &row);
  find_bins (self, &row);
  return row;
}

static const char *
problem_of (const CuvHoughConfig *config)
{
  if (config->width < 1 || config->width > CUV_HOUGH_MAX_SIZE
      || config->height < 1 || config->height > CUV_HOUGH_MAX_SIZE)
    return "the frame size is outside 1 to 16384 pixels";
  if (config->period < 1 || config->period > CUV_HOUGH_MAX_PERIOD)
    return "the number of directions in 180 degrees is outside 1 to 4096";
  if (config->kind == CUV_LINES_PCLINES && config->period % 2 != 0)
    return "PClines need an even number of directions";
  if (!(config->rho_step >= 1 && config->rho_step <= CUV_HOUGH_MAX_SIZE))
    return "the step of rho is outside 1 to 16384 pixels";
  if (!(config->theta_min >= -90 && config->theta_min < 90
          && config->theta_max <= config->theta_min + 180))
    return "theta-min is outside -90 to 90 degrees, or theta-max is more than "
           "180 degrees above it";
  if (!(config->window > 0))
    return "the orientation window must be above 0 degrees";
  return NULL;
}

static void
make_boundaries (CuvHoughLayout *self)
{
  self->boundaries =
      malloc (2 * (size_t) self->n_bins * sizeof *self->boundaries);
  for (int g = 0; self->boundaries != NULL && g < self->n_bins; g++) {
    double theta = g * PI / self->n_bins - PI / 2;

    self->boundaries[2 * g] = (int16_t) lrint (cos (theta) * 16384);
    self->boundaries[2 * g + 1] = (int16_t) lrint (sin (theta) * 16384);
  }
}

static CuvThetaRange
range_of (const CuvHoughConfig *config)
{
  double from = config->theta_min * PI / 180, to = config->theta_max * PI / 180;

  return (CuvThetaRange){
    .all = config->theta_max >= config->theta_min + 180,
    .from_x = (int32_t) lrint (cos (from) * 16384),
    .from_y = (int32_t) lrint (sin (from) * 16384),
    .to_x = (int32_t) lrint (cos (to) * 16384),
    .to_y = (int32_t) lrint (sin (to) * 16384),
  };
}

/* Returns the angle of row j in degrees; it is monotonic in j. */
static double
angle_of (const CuvHoughConfig *config, int j)
{
  int d = config->period / 2, u = j % config->period - d;

  if (config->kind == CUV_LINES_RHO_THETA)
    return j * 180. / config->period - 90;
  return (j >= config->period ? 180 : 0) + atan2 (u, d - abs (u)) * 180 / PI;
}

const char *
cuv_hough_layout_init (CuvHoughLayout *self, const CuvHoughConfig *config)
{
  const double same = 1e-9;
  int first = 0, end;

  *self = (CuvHoughLayout){ 0 };
  if (problem_of (config) != NULL)
    return problem_of (config);
  while (angle_of (config, first) < config->theta_min - same)
    first++;
  end = first;
  while (end < first + config->period
      && angle_of (config, end) < config->theta_max - same)
    end++;
  if (end == first)
    return "no direction lies between theta-min and theta-max";
  *self = (CuvHoughLayout){ .config = *config,
    .width = config->width,
    .height = config->height,
    .n_rows = end - first + (config->inclusive != 0),
    .period = config->period,
    .radius = radius_of (config),
    .n_bins = config->period,
    .range = range_of (config) };
  self->n_cells = 2 * self->radius + 1;
  self->rows = malloc ((size_t) self->n_rows * sizeof *self->rows);
  make_boundaries (self);
  if (self->rows == NULL || self->boundaries == NULL) {
    cuv_hough_layout_clear (self);
    return "out of memory";
  }
  for (int k = 0; k < self->n_rows; k++)
    self->rows[k] = hough_layout_row (self, first + k);
  return NULL;
}

void
cuv_hough_layout_clear (CuvHoughLayout *self)
{
  free (self->rows);
  free (self->boundaries);
  *self = (CuvHoughLayout){ 0 };
}

int
cuv_hough_wrap (const CuvHoughLayout *self, int k, int *sign)
{
  int end = cuv_max (self->n_rows, self->period);

  for (*sign = 1; k < 0; k += self->period)
    *sign = -*sign;
  for (; k >= end; k -= self->period)
    *sign = -*sign;
  return k < self->n_rows ? k : -1;
}

int
cuv_hough_orientation_bin (const CuvHoughLayout *self, int gx, int gy)
{
  const int16_t *boundaries = self->boundaries;
  /* normalise to -90 <= angle < 90 degrees */
  bool turn = cuv_hough_is_turned (gx, gy);
  int x = turn ? -gx : gx, y = turn ? -gy : gy;
  int first = 0, end = self->n_bins;

  while (end - first > 1) { /* the last bin that does not begin after it */
    int g = (first + end) / 2;

    if (boundaries[2 * g] * y - boundaries[2 * g + 1] * x >= 0)
      first = g;
    else
      end = g;
  }
  return first;
}

void
cuv_hough_line (
    const CuvHoughLayout *self, int k, int r, double *rho, double *theta)
{
  const CuvHoughRow *row = &self->rows[k];

  *theta = row->theta;
  *rho = ((double) r * 65536 + 32768 - row->offset) / row->scale;
  if (*theta > PI / 2 - 1e-9) {
    *theta -= PI;
    *rho = -*rho;
  }
}

bool
cuv_hough_clip (
    double rho, double theta, int width, int height, double points[4])
{
  const double c = cos (theta), s = sin (theta), same = 1e-6;
  const double x0 = rho * c, y0 = rho * s; /* points (x0, y0) + t (-s, c) */
  const double from[] = { x0, y0 }, by[] = { -s, c };
  const double ends[] = { width - 1, height - 1 };
  double first = -INFINITY, last = INFINITY;

  for (int i = 0; i < 2; i++) {
    if (fabs (by[i]) < 1e-9) {
      if (from[i] < -same || from[i] > ends[i] + same)
        return false;
      continue;
    }
    double a = -from[i] / by[i], b = (ends[i] - from[i]) / by[i];

    first = fmax (first, fmin (a, b));
    last = fmin (last, fmax (a, b));
  }
  if (!(first <= last + same))
    return false;
  for (int i = 0; i < 2; i++) {
    points[i] = fmin (fmax (from[i] + first * by[i], 0), ends[i]);
    points[2 + i] = fmin (fmax (from[i] + last * by[i], 0), ends[i]);
  }
  return true;
}
