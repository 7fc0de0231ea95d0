/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The filter against the usual one with 8x8 matrices, and the distance of boxes
 * against counted pixels. */
#include "cuvcheck.h"
#include "mot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8 };

/* x, y, aspect, height, and their velocities */
typedef struct {
  double mean[N], p[N][N];
} Dense;

static void
dense_noise (double h, double value, double velocity, double aspect,
    double aspect_velocity, double noise[N])
{
  for (int i = 0; i < 4; i++) {
    const double low = i == 2 ? aspect : value * h / 20;
    const double high = i == 2 ? aspect_velocity : velocity * h / 160;

    noise[i] = low * low;
    noise[i + 4] = high * high;
  }
}

static void
multiply (const double a[N][N], const double b[N][N], double out[N][N])
{
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      out[i][j] = 0;
      for (int k = 0; k < N; k++)
        out[i][j] += a[i][k] * b[k][j];
    }
  }
}

/* One frame. */
static void
dense_predict (Dense *self, double h)
{
  double f[N][N] = { { 0 } }, transposed[N][N], product[N][N], noise[N];

  dense_noise (h, 1, 1, 1e-2, 1e-5, noise);
  for (int i = 0; i < N; i++) {
    f[i][i] = 1;
    if (i < 4)
      f[i][i + 4] = 1;
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++)
      transposed[i][j] = f[j][i];
  }
  multiply (f, self->p, product);
  multiply (product, transposed, self->p);
  for (int i = 0; i < N; i++)
    self->p[i][i] += noise[i];
  for (int i = 0; i < 4; i++)
    self->mean[i] += self->mean[i + 4];
}

/* Measures one value after the other: the noise of each is independent. */
static void
dense_update (Dense *self, const double measured[4])
{
  double noise[N];

  dense_noise (self->mean[3], 1, 1, 1e-1, 0, noise);
  for (int m = 0; m < 4; m++) {
    const double s = self->p[m][m] + noise[m];
    const double error = measured[m] - self->mean[m];
    double gain[N], row[N];

    memcpy (row, self->p[m], sizeof row);
    for (int i = 0; i < N; i++) {
      gain[i] = self->p[i][m] / s;
      self->mean[i] += gain[i] * error;
    }
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++)
        self->p[i][j] -= gain[i] * row[j];
    }
  }
}

static CuvMotBox
random_box (void)
{
  const int32_t left = (int32_t) cuv_check_below (30000) - 2000;
  const int32_t top = (int32_t) cuv_check_below (20000) - 2000;

  return (CuvMotBox){ left, top, left + 16 + (int32_t) cuv_check_below (4000),
    top + 160 + (int32_t) cuv_check_below (4000) };
}

static void
measure (const CuvMotBox *box, double measured[4])
{
  const double width = (box->right - box->left) / 16.;
  const double height = (box->bottom - box->top) / 16.;

  measured[0] = box->left / 16. + width / 2;
  measured[1] = box->top / 16. + height / 2;
  measured[2] = width / height;
  measured[3] = height;
}

static double
worst (const CuvMotKalman *filter, const Dense *dense)
{
  double most = 0;

  for (int i = 0; i < 4; i++) {
    const double pairs[][2] = {
      { filter->axis[i].value, dense->mean[i] },
      { filter->axis[i].velocity, dense->mean[i + 4] },
      { filter->axis[i].p, dense->p[i][i] },
      { filter->axis[i].c, dense->p[i][i + 4] },
      { filter->axis[i].q, dense->p[i + 4][i + 4] },
    };

    for (int j = 0; j < 5; j++) {
      const double scale = fmax (1e-6, fabs (pairs[j][1]));

      most = fmax (most, fabs (pairs[j][0] - pairs[j][1]) / scale);
    }
  }
  return most;
}

static void
start (CuvMotKalman *filter, Dense *dense, const CuvMotBox *box)
{
  double noise[N];

  memset (dense, 0, sizeof *dense);
  measure (box, dense->mean);
  dense_noise (dense->mean[3], 2, 10, 1e-2, 1e-5, noise);
  for (int i = 0; i < N; i++)
    dense->p[i][i] = noise[i];
  cuv_mot_kalman_init (filter, box);
}

CUV_CHECKS_CPU (filter_equals_matrices)
{
  for (int i = 0; i < 200; i++) {
    CuvMotBox box = random_box ();
    CuvMotKalman filter;
    Dense dense;

    start (&filter, &dense, &box);
    for (int frame = 0; frame < 30; frame++) {
      const int n = frame % 7 == 6 ? 3 : 1;
      double measured[4];

      cuv_check_case ("box %d, frame %d", i, frame);
      for (int k = 0; k < n; k++)
        dense_predict (&dense, filter.axis[3].value);
      cuv_mot_kalman_predict (&filter, n);
      CUV_CHECK (worst (&filter, &dense) < 1e-9, ": %g predicted",
          worst (&filter, &dense));
      box.left += (int32_t) cuv_check_below (60);
      box.right += (int32_t) cuv_check_below (60);
      measure (&box, measured);
      dense_update (&dense, measured);
      cuv_mot_kalman_update (&filter, &box);
      CUV_CHECK (worst (&filter, &dense) < 1e-9, ": %g updated",
          worst (&filter, &dense));
    }
  }
}

CUV_CHECKS_CPU (box_of_a_new_filter_is_its_own)
{
  for (int i = 0; i < 1000; i++) {
    const CuvMotBox box = random_box ();
    CuvMotKalman filter;
    CuvMotBox same;

    cuv_mot_kalman_init (&filter, &box);
    same = cuv_mot_kalman_box (&filter);
    CUV_CHECK (abs (same.left - box.left) <= 1 && abs (same.top - box.top) <= 1
        && abs (same.right - box.right) <= 1
        && abs (same.bottom - box.bottom) <= 1);
  }
}

/* ---- distances ---- */

static bool
inside (const CuvMotBox *box, int x, int y)
{
  return x >= box->left && x < box->right && y >= box->top && y < box->bottom;
}

CUV_CHECKS_CPU (distance_counts_pixels)
{
  for (int i = 0; i < 2000; i++) {
    CuvMotBox box[2];
    int64_t both = 0, either = 0;

    for (int k = 0; k < 2; k++) {
      box[k].left = (int32_t) cuv_check_below (20);
      box[k].top = (int32_t) cuv_check_below (20);
      box[k].right = box[k].left + 1 + (int32_t) cuv_check_below (20);
      box[k].bottom = box[k].top + 1 + (int32_t) cuv_check_below (20);
    }
    for (int y = 0; y < 40; y++) {
      for (int x = 0; x < 40; x++) {
        const int n = inside (&box[0], x, y) + inside (&box[1], x, y);

        both += n == 2;
        either += n > 0;
      }
    }
    CUV_CHECK (cuv_mot_distance (&box[0], &box[1])
        == CUV_MOT_ONE - both * CUV_MOT_ONE / either);
  }
}

CUV_CHECKS_CPU (largest_boxes_do_not_overflow)
{
  const int32_t most = CUV_MOT_MAX_COORDINATE;
  const CuvMotBox all = { -most, -most, most, most };
  const CuvMotBox half = { -most, -most, 0, most };

  CUV_CHECK (cuv_mot_distance (&all, &all) == 0);
  CUV_CHECK (cuv_mot_distance (&all, &half) == CUV_MOT_ONE / 2);
}
