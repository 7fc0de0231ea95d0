/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "correlation/correlation.h"
#include "cpu/crop.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Chosen on real sequences: docs/accuracy.md. */
enum { SCALES = 5 };
/* 2 % apart; not pow(), which may differ in its last bit */
static const double scales[SCALES] = { 1.0 / 1.0404, 1.0 / 1.02, 1.0, 1.02,
  1.0404 };
/* A change of size has to raise the response by this factor. */
static const float scale_penalty = 0.99f;
/* Sides of the region: relative to the geometric mean of the box's sides; at
 * least relative to its longer side. */
static const double region_factor = 3.2, least_region = 1.5;
/* Sides of the mask, relative to the box's. */
static const double mask_factor = 1.4;
/* Standard deviation of the label, relative to the box's mean side. */
static const double label_width = 0.06;
static const double least_scale = 0.1, greatest_scale = 10.0;

void
cuv_correlation_work_init (CuvCorrelationWork *self)
{
  cuv_fourier_init (&self->fourier);
}

/* ---- places ---- */

static double
clamp (double v, double least, double greatest)
{
  return fmin (fmax (v, least), greatest);
}

void
cuv_correlation_move (CuvCorrelation *self, const CuvRcdBox *box)
{
  self->place.x = box->x + box->width * 0.5;
  self->place.y = box->y + box->height * 0.5;
  self->place.scale = clamp (
      sqrt ((double) box->width * box->height / (self->width * self->height)),
      least_scale, greatest_scale);
}

CuvRcdBox
cuv_correlation_box (const CuvCorrelation *self)
{
  const CuvPlace *place = &self->place;
  const double width = fmax (self->width * place->scale, 1.0);
  const double height = fmax (self->height * place->scale, 1.0);

  return (CuvRcdBox){ (int32_t) lrint (place->x - width * 0.5),
    (int32_t) lrint (place->y - height * 0.5), (int32_t) lrint (width),
    (int32_t) lrint (height) };
}

/* side pixels across, with distance pixels between them, around (x, y). */
static CuvRcdCrop
crop_around (double x, double y, double distance, int side)
{
  const int samples = distance < 1.5 ? 1 : 2;
  const int64_t step = llrint (distance * 65536.0 / samples);
  const int64_t half = step * (side * samples - 1) / 2;

  return (CuvRcdCrop){ llrint ((x - 0.5) * 65536.0) - half,
    llrint ((y - 0.5) * 65536.0) - half, step, samples };
}

static double
pixel_distance (const CuvCorrelation *self, double scale)
{
  return self->side * scale / CUV_HOG_SIDE;
}

CuvRcdCrop
cuv_correlation_crop (CuvCorrelation *self)
{
  self->crop = self->place;
  return crop_around (self->crop.x, self->crop.y,
      pixel_distance (self, self->crop.scale), CUV_RCD_CROP);
}

/* ---- samples ---- */

/* The spectrum of the region around a place. */
static void
take_sample (const CuvCorrelation *self, CuvCorrelationWork *work,
    const uint8_t *pixels, const CuvPlace *place)
{
  const double unit = pixel_distance (self, self->crop.scale);
  const CuvRcdCrop part =
      crop_around ((place->x - self->crop.x) / unit + CUV_RCD_CROP * 0.5,
          (place->y - self->crop.y) / unit + CUV_RCD_CROP * 0.5,
          pixel_distance (self, place->scale) / unit, CUV_HOG_SIDE);
  const CuvFrame crop = { CUV_MODEL_GREY, CUV_RCD_CROP, CUV_RCD_CROP, 1,
    { { (uint8_t *) pixels, CUV_RCD_CROP, 1, 0, 0 } } };

  cuv_rcd_cpu_crop (&crop, &part, CUV_HOG_SIDE, work->picture);
  cuv_hog_compute (&work->hog, work->picture, &work->grid);
  for (int i = 0; i < CUV_GRID_CELLS; i++) {
    for (int k = 0; k < CUV_CHANNELS; k++)
      work->grid.value[i * CUV_CHANNELS + k] *= self->window[i];
  }
  cuv_fourier_forward (&work->fourier, &work->grid, 0, CUV_GRID, &work->sample);
}

/* ---- a new target ---- */

/* Part of cell i that is within half of the grid's middle. */
static float
coverage (int i, double half)
{
  return (float) clamp (half + 0.5 - fabs (i + 0.5 - CUV_GRID * 0.5), 0.0, 1.0);
}

static float
hann (int i)
{
  return (float) (0.5 - 0.5 * cos (2.0 * PI * (i + 0.5) / CUV_GRID));
}

static void
set_windows (CuvCorrelation *self)
{
  const double cells = mask_factor * CUV_GRID / self->side;

  self->first = CUV_GRID;
  self->end = 0;
  for (int y = 0; y < CUV_GRID; y++) {
    const float rows = coverage (y, self->height * cells * 0.5);

    if (rows > 0.0f) {
      self->first = y < self->first ? y : self->first;
      self->end = y + 1;
    }
    for (int x = 0; x < CUV_GRID; x++) {
      self->mask[y * CUV_GRID + x] =
          rows * coverage (x, self->width * cells * 0.5);
      self->window[y * CUV_GRID + x] = hann (y) * hann (x);
    }
  }
}

/* Signed distance of cell or frequency i from 0. */
static int
from_zero (int i)
{
  return i < CUV_GRID / 2 ? i : i - CUV_GRID;
}

static void
set_label (CuvCorrelation *self, CuvCorrelationWork *work)
{
  const double width =
      label_width * CUV_GRID * sqrt (self->width * self->height) / self->side;

  memset (&work->grid, 0, sizeof work->grid);
  for (int i = 0; i < CUV_GRID_CELLS; i++) {
    const int x = from_zero (i % CUV_GRID), y = from_zero (i / CUV_GRID);

    work->grid.value[i * CUV_CHANNELS] =
        (float) exp (-0.5 * (x * x + y * y) / (width * width));
  }
  cuv_fourier_forward (&work->fourier, &work->grid, 0, CUV_GRID, &work->sample);
  for (int i = 0; i < CUV_SPECTRUM_BINS; i++)
    self->label[i] = work->sample.re[i * CUV_CHANNELS];
}

void
cuv_correlation_init (CuvCorrelation *self, const CuvRcdBox *box)
{
  const double longer = box->width > box->height ? box->width : box->height;

  self->width = box->width;
  self->height = box->height;
  self->side = fmax (
      region_factor * sqrt (self->width * self->height), least_region * longer);
  self->peak = 0.0;
  cuv_correlation_move (self, box);
}

void
cuv_correlation_learn (CuvCorrelation *self, CuvCorrelationWork *work,
    const uint8_t *crop, float rate)
{
  take_sample (self, work, crop, &self->place);
  for (int i = 0; i < CUV_SPECTRUM_BINS * CUV_CHANNELS; i++) {
    self->model.re[i] =
        (1.0f - rate) * self->model.re[i] + rate * work->sample.re[i];
    self->model.im[i] =
        (1.0f - rate) * self->model.im[i] + rate * work->sample.im[i];
  }
  cuv_correlation_solve (self, work);
}

/* ---- responses ---- */

/* The response's spectrum, as the channel of work->response. */
static void
respond (const CuvCorrelation *self, CuvCorrelationWork *work, int channel)
{
  for (int i = 0; i < CUV_SPECTRUM_BINS; i++) {
    const float *h_re = self->filter.re + i * CUV_CHANNELS;
    const float *h_im = self->filter.im + i * CUV_CHANNELS;
    const float *z_re = work->sample.re + i * CUV_CHANNELS;
    const float *z_im = work->sample.im + i * CUV_CHANNELS;
    float re = 0.0f, im = 0.0f;

    for (int k = 0; k < CUV_CHANNELS; k++) {
      re += h_re[k] * z_re[k] + h_im[k] * z_im[k];
      im += h_re[k] * z_im[k] - h_im[k] * z_re[k];
    }
    work->response.re[i * CUV_CHANNELS + channel] = re;
    work->response.im[i * CUV_CHANNELS + channel] = im;
  }
}

/* Value and derivatives of a response between cells. */
typedef struct {
  double value, x, y, xx, xy, yy;
} Slope;

static Slope
slope_at (const CuvSpectrum *response, int channel, double x, double y)
{
  double cos_x[CUV_SPECTRUM_COLUMNS], sin_x[CUV_SPECTRUM_COLUMNS];
  Slope s = { 0 };

  for (int i = 0; i < CUV_SPECTRUM_COLUMNS; i++) {
    cos_x[i] = cos (2.0 * PI * i * x / CUV_GRID);
    sin_x[i] = sin (2.0 * PI * i * x / CUV_GRID);
  }
  for (int j = 0; j < CUV_GRID; j++) {
    /* the highest frequency has no direction */
    const double v =
        j == CUV_GRID / 2 ? 0.0 : 2.0 * PI * from_zero (j) / CUV_GRID;
    const double cos_y = cos (v * y), sin_y = sin (v * y);

    for (int i = 0; i < CUV_GRID / 2; i++) {
      const int at = (j * CUV_SPECTRUM_COLUMNS + i) * CUV_CHANNELS + channel;
      const double u = 2.0 * PI * i / CUV_GRID;
      const double c = cos_x[i] * cos_y - sin_x[i] * sin_y;
      const double d = sin_x[i] * cos_y + cos_x[i] * sin_y;
      const double weight = (i == 0 ? 1.0 : 2.0) / CUV_GRID_CELLS;
      const double re = response->re[at] * weight,
                   im = response->im[at] * weight;
      const double value = re * c - im * d, change = -re * d - im * c;

      s.value += value;
      s.x += u * change;
      s.y += v * change;
      s.xx -= u * u * value;
      s.xy -= u * v * value;
      s.yy -= v * v * value;
    }
  }
  return s;
}

/* The maximum near a cell, by Newton's method; the response there. */
static double
refine_peak (const CuvSpectrum *response, int channel, double *x, double *y)
{
  enum { STEPS = 3 };
  Slope s = slope_at (response, channel, *x, *y);

  for (int i = 0; i < STEPS; i++) {
    const double det = s.xx * s.yy - s.xy * s.xy;
    const double dx = (s.yy * s.x - s.xy * s.y) / det;
    const double dy = (s.xx * s.y - s.xy * s.x) / det;

    if (!(det > 0.0) || s.xx >= 0.0 || fabs (dx) > 1.0 || fabs (dy) > 1.0)
      break;
    *x -= dx;
    *y -= dy;
    s = slope_at (response, channel, *x, *y);
  }
  return s.value;
}

static int
greatest_cell (const CuvGrid *grid, int channel)
{
  int best = 0;

  for (int i = 1; i < CUV_GRID_CELLS; i++) {
    if (grid->value[i * CUV_CHANNELS + channel]
        > grid->value[best * CUV_CHANNELS + channel])
      best = i;
  }
  return best;
}

/* ---- entry ---- */

void
cuv_correlation_start (
    CuvCorrelation *self, CuvCorrelationWork *work, const uint8_t *crop)
{
  set_windows (self);
  set_label (self, work);
  cuv_correlation_learn (self, work, crop, 1.0f);
  memset (&work->response, 0, sizeof work->response);
  respond (self, work, 0);
  cuv_fourier_inverse (&work->fourier, &work->response, 0, 1, &work->grid);
  self->peak = work->grid.value[0];
}

void
cuv_correlation_find (
    CuvCorrelation *self, CuvCorrelationWork *work, const uint8_t *crop)
{
  const CuvPlace before = self->place;
  double best = -HUGE_VAL;

  memset (&work->response, 0, sizeof work->response);
  for (int i = 0; i < SCALES; i++) {
    const CuvPlace place = { before.x, before.y, before.scale * scales[i] };

    take_sample (self, work, crop, &place);
    respond (self, work, i);
  }
  cuv_fourier_inverse (
      &work->fourier, &work->response, 0, CUV_GRID, &work->grid);
  for (int i = 0; i < SCALES; i++) {
    const int cell = greatest_cell (&work->grid, i);
    double x = from_zero (cell % CUV_GRID), y = from_zero (cell / CUV_GRID);
    const double peak = refine_peak (&work->response, i, &x, &y);
    const double unit = self->side * before.scale * scales[i] / CUV_GRID;

    if (peak * (i == SCALES / 2 ? 1.0 : (double) scale_penalty) <= best)
      continue;
    best = peak * (i == SCALES / 2 ? 1.0 : (double) scale_penalty);
    self->peak = peak;
    self->place = (CuvPlace){ before.x + x * unit, before.y + y * unit,
      clamp (before.scale * scales[i], least_scale, greatest_scale) };
  }
}
