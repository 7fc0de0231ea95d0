/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The filter of a track: constant velocity with the noise of ByteTrack, which
 * grows with the box's height. Its 8x8 matrices are zero between the axes, so
 * that each axis is a filter of its own. */
#include "mot.h"

#include <math.h>

enum { X, Y, ASPECT, HEIGHT, N_AXES };

/* Standard deviations: relative to the height, except for the aspect. */
static const double value_noise = 1. / 20, velocity_noise = 1. / 160;
static const double aspect_noise = 1e-2, aspect_velocity_noise = 1e-5;
static const double aspect_measured_noise = 1e-1;

static double
square (double x)
{
  return x * x;
}

static void
measure (const CuvMotBox *box, double values[N_AXES])
{
  const double unit = CUV_MOT_UNIT;
  const double width = box->right - box->left;
  const double height = box->bottom - box->top;

  values[X] = (box->left + box->right) / (2 * unit);
  values[Y] = (box->top + box->bottom) / (2 * unit);
  values[ASPECT] = width / height;
  values[HEIGHT] = height / unit;
}

void
cuv_mot_kalman_init (CuvMotKalman *self, const CuvMotBox *box)
{
  double values[N_AXES];

  measure (box, values);
  for (int i = 0; i < N_AXES; i++) {
    const double h = values[HEIGHT];

    self->axis[i].value = values[i];
    self->axis[i].velocity = 0;
    self->axis[i].c = 0;
    self->axis[i].p = square (i == ASPECT ? aspect_noise : 2 * value_noise * h);
    self->axis[i].q =
        square (i == ASPECT ? aspect_velocity_noise : 10 * velocity_noise * h);
  }
}

/* One step of n frames: for whole numbers the same as n steps of one frame with
 * the noise of the first. */
void
cuv_mot_kalman_predict (CuvMotKalman *self, double n)
{
  const double h = self->axis[HEIGHT].value;
  const double more = fmax (n - 1, 0);

  for (int i = 0; i < N_AXES; i++) {
    const double noise = square (i == ASPECT ? aspect_noise : value_noise * h);
    const double drift =
        square (i == ASPECT ? aspect_velocity_noise : velocity_noise * h);
    const double p = self->axis[i].p, c = self->axis[i].c, q = self->axis[i].q;

    self->axis[i].value += n * self->axis[i].velocity;
    self->axis[i].p = p + 2 * n * c + n * n * q + n * noise
        + more * n * (2 * n - 1) / 6 * drift;
    self->axis[i].c = c + n * q + n * more / 2 * drift;
    self->axis[i].q = q + n * drift;
  }
}

void
cuv_mot_kalman_update (CuvMotKalman *self, const CuvMotBox *box)
{
  const double h = self->axis[HEIGHT].value;
  double values[N_AXES];

  measure (box, values);
  for (int i = 0; i < N_AXES; i++) {
    const double noise =
        square (i == ASPECT ? aspect_measured_noise : value_noise * h);
    const double p = self->axis[i].p, c = self->axis[i].c, q = self->axis[i].q;
    const double gain = p / (p + noise), velocity_gain = c / (p + noise);
    const double error = values[i] - self->axis[i].value;

    self->axis[i].value += gain * error;
    self->axis[i].velocity += velocity_gain * error;
    self->axis[i].p = p - gain * p;
    self->axis[i].c = c - gain * c;
    self->axis[i].q = q - velocity_gain * c;
  }
}

static int32_t
from_double (double pixels)
{
  const double units = floor (pixels * CUV_MOT_UNIT + 0.5);

  return (int32_t) fmax (
      -CUV_MOT_MAX_COORDINATE, fmin (units, CUV_MOT_MAX_COORDINATE));
}

CuvMotBox
cuv_mot_kalman_box (const CuvMotKalman *self)
{
  const double height = self->axis[HEIGHT].value;
  const double width = self->axis[ASPECT].value * height;
  const double left = self->axis[X].value - width / 2;
  const double top = self->axis[Y].value - height / 2;

  return (CuvMotBox){ from_double (left), from_double (top),
    from_double (left + width), from_double (top + height) };
}
