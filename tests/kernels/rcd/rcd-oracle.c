/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The C reference against literal implementations of features, sums and
 * distances. */
#include "rcd-inputs.h"
#include "cuvcheck.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- features ---- */

static int
sample (const CuvFrame *frame, int i, int x, int y)
{
  const CuvComponent *c = &frame->component[i];

  return c->data[(size_t) (y / (1 << c->ysub)) * (size_t) c->stride
      + (size_t) (x / (1 << c->xsub)) * (size_t) c->step];
}

/* Returns grey with the weights of BT.2020, rounded to 2^-16; the weight of
 * green is 1 minus the others. */
static int
grey (const CuvFrame *frame, int x, int y)
{
  const int xx = x < 0 ? 0 : x >= frame->width ? frame->width - 1 : x;
  const int yy = y < 0 ? 0 : y >= frame->height ? frame->height - 1 : y;
  const double red = round (0.2627 * 65536) / 65536;
  const double blue = round (0.0593 * 65536) / 65536;

  if (frame->model != CUV_MODEL_RGB)
    return sample (frame, 0, xx, yy);
  return (int) floor (red * sample (frame, 0, xx, yy)
      + (1 - red - blue) * sample (frame, 1, xx, yy)
      + blue * sample (frame, 2, xx, yy) + 0.5);
}

static int
convolve (const CuvFrame *frame, int x, int y, const int kernel[3][3])
{
  int sum = 0;

  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++)
      sum += kernel[i][j] * grey (frame, x + j - 1, y + i - 1);
  }
  return sum;
}

static int
features_of (
    const CuvFrame *frame, CuvRcdFeatures features, int x, int y, int *z)
{
  static const int kx[3][3] = { { -1, 0, 1 }, { -2, 0, 2 }, { -1, 0, 1 } };
  static const int ky[3][3] = { { -1, -2, -1 }, { 0, 0, 0 }, { 1, 2, 1 } };
  static const int kxx[3][3] = { { 0, 0, 0 }, { 1, -2, 1 }, { 0, 0, 0 } };
  static const int kyy[3][3] = { { 0, 1, 0 }, { 0, -2, 0 }, { 0, 1, 0 } };
  int r = sample (frame, 0, x, y), g = r, b = r;
  int ix = convolve (frame, x, y, kx), iy = convolve (frame, x, y, ky);
  int ixx = convolve (frame, x, y, kxx), iyy = convolve (frame, x, y, kyy);

  if (frame->n_components > 1) {
    g = sample (frame, 1, x, y);
    b = sample (frame, 2, x, y);
  }
  if (features == CUV_RCD_GREY_GRAD) {
    memcpy (z, (int[]){ grey (frame, x, y), ix, iy }, 3 * sizeof *z);
    return 3;
  }
  if (features == CUV_RCD_RGB_GRAD) {
    memcpy (z, (int[]){ r, g, b, ix, iy }, 5 * sizeof *z);
    return 5;
  }
  memcpy (z, (int[]){ x, y, r, g, b, abs (ix), abs (iy), abs (ixx), abs (iyy) },
      9 * sizeof *z);
  return 9;
}

static void
check_pixels (const CuvFrame *frame, CuvRcdFeatures features)
{
  size_t wrong = 0;

  for (int y = 0; y < frame->height; y++) {
    for (int x = 0; x < frame->width; x++) {
      int32_t z[CUV_RCD_MAX_FEATURES];
      int expected[CUV_RCD_MAX_FEATURES];
      int n = features_of (frame, features, x, y, expected);

      cuv_rcd_pixel (frame, features, x, y, z);
      for (int i = 0; i < n; i++)
        wrong += z[i] != expected[i];
    }
  }
  CUV_CHECK (wrong == 0, ": %zu features", wrong);
}

CUV_CHECKS_CPU (check_features)
{
  for (int f = 0; cuv_check_formats[f] != NULL; f++) {
    for (int s = 0; s < RCD_N_SIZES; s++) {
      for (int features = 0; features < 3; features++) {
        CuvCheckFrame frame = cuv_check_frame_new (cuv_check_formats[f],
            rcd_sizes[s].width, rcd_sizes[s].height,
            s % 2 ? CUV_CHECK_NOISE : CUV_CHECK_TEXTURE);

        cuv_check_case ("%s %dx%d, features %d", cuv_check_formats[f],
            rcd_sizes[s].width, rcd_sizes[s].height, features);
        check_pixels (&frame.frame, (CuvRcdFeatures) features);
        cuv_check_frame_free (&frame);
      }
    }
  }
}

/* ---- sums ---- */

/* Computes the sums of a box. As in integral images, x and y are relative to
 * the frame. */
static int
sums_of (const CuvFrame *frame, CuvRcdFeatures features, const CuvRcdBox *box,
    int64_t *sums)
{
  int n = 0;

  memset (sums, 0, CUV_RCD_MAX_SUMS * sizeof *sums);
  for (int y = box->y; y < box->y + box->height; y++) {
    for (int x = box->x; x < box->x + box->width; x++) {
      int z[CUV_RCD_MAX_FEATURES], k;

      k = n = features_of (frame, features, x, y, z);
      for (int i = 0; i < n; i++) {
        sums[i] += z[i];
        for (int j = i; j < n; j++)
          sums[k++] += (int64_t) z[i] * z[j];
      }
    }
  }
  return n;
}

/* Makes random sorted grid lines, some of which may be equal. */
static void
random_lines (int32_t *lines, int n, int size)
{
  for (int i = 0; i <= n; i++) {
    int at = i;

    lines[i] = (int32_t) cuv_check_below ((uint32_t) size + 1);
    for (; at > 0 && lines[at - 1] > lines[at]; at--) {
      int32_t v = lines[at];

      lines[at] = lines[at - 1];
      lines[at - 1] = v;
    }
  }
}

enum { COLUMNS = 5, ROWS = 4 };

static void
check_grid (const CuvFrame *frame, CuvRcdFeatures features)
{
  int32_t x[COLUMNS + 1], y[ROWS + 1];
  const CuvRcdGrid grid = { COLUMNS, ROWS, x, y };
  int64_t cells[COLUMNS * ROWS * CUV_RCD_MAX_SUMS];
  int64_t integrals[(COLUMNS + 1) * (ROWS + 1) * CUV_RCD_MAX_SUMS];
  const int n_sums = CUV_RCD_SUMS (cuv_rcd_n_features (features));

  random_lines (x, COLUMNS, frame->width);
  random_lines (y, ROWS, frame->height);
  cuv_rcd_cell_sums (frame, features, &grid, cells);
  cuv_rcd_integrate (cells, n_sums, &grid, integrals);
  for (int i = 0; i < 10; i++) {
    int left = (int) cuv_check_below (COLUMNS + 1);
    int right = left + (int) cuv_check_below ((uint32_t) (COLUMNS + 1 - left));
    int top = (int) cuv_check_below (ROWS + 1);
    int bottom = top + (int) cuv_check_below ((uint32_t) (ROWS + 1 - top));
    CuvRcdBox box = { x[left], y[top], x[right] - x[left], y[bottom] - y[top] };
    int64_t found[CUV_RCD_MAX_SUMS], expected[CUV_RCD_MAX_SUMS];

    cuv_rcd_window_sums (
        integrals, n_sums, &grid, left, top, right, bottom, found);
    sums_of (frame, features, &box, expected);
    CUV_CHECK (memcmp (found, expected, (size_t) n_sums * sizeof *found) == 0);
  }
}

/* Checks the sums of a box in which x and y are relative to the box. */
static void
check_moved (const CuvFrame *frame, CuvRcdFeatures features)
{
  CuvFrame part = *frame;
  CuvRcdBox box = { 6, 4, 9, 11 };
  int64_t found[CUV_RCD_MAX_SUMS], expected[CUV_RCD_MAX_SUMS];
  int n = sums_of (frame, features, &box, expected);

  cuv_rcd_box_sums (&part, features, &box, found);
  for (int i = 0; features == CUV_RCD_TUZEL9 && i < 2; i++) {
    int64_t first = i == 0 ? box.x : box.y, pixels = 99;
    int64_t sum = 0;

    CUV_CHECK (found[i] == expected[i] - first * pixels);
    for (int v = 0; v < 99; v++)
      sum += (i == 0 ? v % 9 : v / 9) * (i == 0 ? v % 9 : v / 9);
    CUV_CHECK (found[n + cuv_rcd_packed_index (n, i, i)] == sum);
    for (int j = 2; j < n; j++)
      CUV_CHECK (found[n + cuv_rcd_packed_index (n, i, j)]
          == expected[n + cuv_rcd_packed_index (n, i, j)]
              - first * expected[j]);
  }
  for (int i = features == CUV_RCD_TUZEL9 ? 2 : 0; i < n; i++)
    CUV_CHECK (found[i] == expected[i]);
}

CUV_CHECKS_CPU (check_sums)
{
  for (int f = 0; cuv_check_formats[f] != NULL; f++) {
    CuvCheckFrame frame =
        cuv_check_frame_new (cuv_check_formats[f], 47, 31, CUV_CHECK_NOISE);

    for (int features = 0; features < 3; features++) {
      cuv_check_case ("%s, features %d", cuv_check_formats[f], features);
      check_grid (&frame.frame, (CuvRcdFeatures) features);
      check_moved (&frame.frame, (CuvRcdFeatures) features);
    }
    cuv_check_frame_free (&frame);
  }
}

/* ---- distances ---- */

/* Returns the logarithm of a determinant by Gaussian elimination. */
static long double
log_det (const long double *matrix, int n)
{
  long double a[CUV_RCD_MAX_FEATURES][CUV_RCD_MAX_FEATURES], sum = 0.0L;

  for (int i = 0; i < n * n; i++)
    a[i / n][i % n] = matrix[i];
  for (int k = 0; k < n; k++) {
    int pivot = k;

    for (int i = k + 1; i < n; i++)
      pivot = fabsl (a[i][k]) > fabsl (a[pivot][k]) ? i : pivot;
    for (int j = 0; j < n; j++) {
      long double v = a[k][j];

      a[k][j] = a[pivot][j];
      a[pivot][j] = v;
    }
    sum += logl (fabsl (a[k][k]));
    for (int i = k + 1; i < n; i++) {
      for (int j = n - 1; j >= k; j--)
        a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
  }
  return sum;
}

/* Computes the covariance of a box, with x and y scaled to a size. */
static void
covariance_of (const CuvFrame *frame, CuvRcdFeatures features,
    const CuvRcdBox *box, double lambda, double width, double height,
    long double *c)
{
  int64_t sums[CUV_RCD_MAX_SUMS];
  const int n = sums_of (frame, features, box, sums);
  const __int128 pixels = (__int128) box->width * box->height;

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const int k = i < j ? cuv_rcd_packed_index (n, i, j)
                          : cuv_rcd_packed_index (n, j, i);
      const __int128 v = pixels * sums[n + k] - (__int128) sums[i] * sums[j];
      long double f = 1.0L;

      for (int side = 0; n == 9 && side < 2; side++)
        f *= (side == 0 ? i : j) == 0  ? (long double) width / box->width
            : (side == 0 ? i : j) == 1 ? (long double) height / box->height
                                       : 1.0L;
      c[i * n + j] = (long double) v
              / ((long double) pixels * (long double) (pixels - 1)) * f
          + (i == j ? (long double) lambda : 0.0L);
    }
  }
}

static double
distance_of (
    const RcdInput *self, const CuvRcdBox *target, const CuvRcdBox *window)
{
  const CuvRcdFeatures features = self->config.features;
  const int n = cuv_rcd_n_features (features);
  long double a[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES];
  long double b[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES];
  long double middle[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES];

  covariance_of (&self->frame.frame, features, target, self->config.lambda,
      target->width, target->height, a);
  covariance_of (&self->frame.frame, features, window, self->config.lambda,
      target->width, target->height, b);
  for (int i = 0; i < n * n; i++)
    middle[i] = (a[i] + b[i]) / 2;
  return (double) (log_det (middle, n) - (log_det (a, n) + log_det (b, n)) / 2);
}

/* Compares the distances of all windows of a search for one target. */
static void
check_windows (RcdInput *self, const CuvRcdBox *target)
{
  const CuvRcdLevel *level = self->targets[0].levels;
  double most = 0.0;

  rcd_input_search (self);
  for (int l = 0; l < self->targets[0].n_levels; l++, level++) {
    for (int i = 0; i < cuv_rcd_level_windows (level); i++) {
      CuvRcdBox box =
          cuv_rcd_level_box (&self->search.area, level, self->config.cell, i);
      double found = cuv_rcd_distance (
          self->scores[level->first + i], self->config.metric);

      if (box.width * box.height > 9)
        most = fmax (most, fabs (found - distance_of (self, target, &box)));
    }
  }
  CUV_CHECK (most < 1e-9, ": %g", most);
}

CUV_CHECKS_CPU (check_distances)
{
  static const double scales[] = { 0.4, 1.0, 1.7 };

  for (int f = 0; cuv_check_formats[f] != NULL; f++) {
    const int cell = 3 + (int) cuv_check_below (6);
    CuvRcdConfig config = rcd_random_config (64, 48, cell);
    CuvRcdBox target = { 7, 5, 21, 18 };
    RcdInput input;

    config.features = (CuvRcdFeatures) (f % 3);
    config.metric = CUV_RCD_JBLD;
    config.lambda = 1.0 / 12.0;
    cuv_check_case (
        "%s, features %d, cell %d", cuv_check_formats[f], f % 3, cell);
    rcd_input_init (&input, &config, cuv_check_formats[f], CUV_CHECK_TEXTURE);
    CUV_CHECK (rcd_input_add (&input, &target));
    rcd_input_add_scales (&input, target.width, target.height, 1, scales, 3);
    CUV_CHECK (input.config.max_windows > 9);
    check_windows (&input, &target);
    rcd_input_clear (&input);
  }
}
