/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The correlation filter: its transforms against direct sums, SIMD against C,
 * and where it finds pictures that moved and grew. */
#include "correlation/correlation.h"
#include "cuvcheck.h"
#include "cuvcpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- transforms ---- */

static void
check_bin (
    const CuvGrid *grid, const CuvSpectrum *spectrum, int x, int y, int channel)
{
  const int at =
      (y * CUV_RCD_SPECTRUM_COLUMNS + x) * CUV_RCD_CHANNELS + channel;
  double re = 0.0, im = 0.0;

  for (int i = 0; i < CUV_RCD_GRID_CELLS; i++) {
    const double turn = -2.0 * PI
        * (x * (i % CUV_RCD_GRID) + y * (i / CUV_RCD_GRID)) / CUV_RCD_GRID;
    const double value = (double) grid->value[i * CUV_RCD_CHANNELS + channel];

    re += value * cos (turn);
    im += value * sin (turn);
  }
  CUV_CHECK (fabs ((double) spectrum->re[at] - re) < 1e-3
          && fabs ((double) spectrum->im[at] - im) < 1e-3,
      ": bin %d, %d, channel %d: %g %g, not %g %g", x, y, channel,
      (double) spectrum->re[at], (double) spectrum->im[at], re, im);
}

static float
random_value (void)
{
  return (float) cuv_check_below (2001) / 1000.0f - 1.0f;
}

static void
fill_random (float *values, int n)
{
  for (int i = 0; i < n; i++)
    values[i] = random_value ();
}

/* A transform with a mask of ones, after the inverse transform, must return the
 * spectrum. */
CUV_CHECKS_CPU (check_transforms)
{
  static CuvFourier fourier;
  static CuvGrid grid;
  static CuvSpectrum spectrum, again;
  static CuvRcdFilterGoal goal = { .end = CUV_RCD_GRID };
  CuvFilterDsp dsp;
  float worst = 0.0f;

  cuv_check_case ("transforms");
  cuv_filter_dsp_init (&dsp);
  fill_random (grid.value, CUV_RCD_GRID_CELLS * CUV_RCD_CHANNELS);
  for (int i = 0; i < CUV_RCD_GRID_CELLS; i++)
    goal.mask[i] = 1.0f;
  dsp.forward (&fourier, &grid, goal.mask, &spectrum);
  for (int i = 0; i < 300; i++)
    check_bin (&grid, &spectrum,
        (int) cuv_check_below (CUV_RCD_SPECTRUM_COLUMNS),
        (int) cuv_check_below (CUV_RCD_GRID),
        (int) cuv_check_below (CUV_RCD_CHANNELS));
  again = spectrum;
  dsp.mask (&fourier, &goal, &again);
  for (int i = 0; i < CUV_RCD_SPECTRUM_BINS * CUV_RCD_CHANNELS; i++)
    worst = fmaxf (worst,
        fmaxf (fabsf (again.re[i] - spectrum.re[i]),
            fabsf (again.im[i] - spectrum.im[i])));
  CUV_CHECK (worst < 1e-4f, ": %g", (double) worst);
}

/* ---- C and SIMD ---- */

/* Results of all functions of a function table. */
typedef struct {
  CuvGrid grid;
  CuvSpectrum sample, model, filter;
  CuvResponse response;
  CuvRcdFilterPeak peaks[CUV_RCD_FILTER_SCALES];
} Results;

static void
compute (unsigned mask, const uint8_t *picture, const CuvRcdFilterGoal *goal,
    Results *r)
{
  static CuvFourier fourier;
  CuvFilterDsp dsp;

  cuv_cpu_set_mask (mask);
  cuv_filter_dsp_init (&dsp);
  cuv_cpu_set_mask (~0u);
  memset (r, 0, sizeof *r);
  dsp.features (picture, &r->grid);
  dsp.forward (&fourier, &r->grid, goal->mask, &r->sample);
  dsp.blend (&r->model, &r->sample, 0.3f);
  dsp.solve (&fourier, goal, &r->model, &r->filter);
  for (int i = 0; i < CUV_RCD_FILTER_SCALES; i++) {
    r->peaks[i] = (CuvRcdFilterPeak){ 0.0, i - 1.0, 2.0 - i };
    dsp.respond (&r->filter, &r->sample, &r->response, i);
  }
  dsp.inverse (&r->response);
  for (int i = 0; i < CUV_RCD_FILTER_SCALES; i++)
    dsp.peak (&r->response, i, &r->peaks[i]);
}

CUV_CHECKS_CPU (check_versions)
{
  static CuvRcdFilterGoal goal;
  static uint8_t picture[CUV_RCD_HOG_PIXELS];
  Results *c = malloc (sizeof *c), *simd = malloc (sizeof *simd);

  for (int round = 0; round < 4; round++) {
    const uint32_t range = round == 0 ? 1 : round == 1 ? 4 : 256;

    cuv_check_case ("C and SIMD, %u grey values", range);
    goal.first = round;
    goal.end = CUV_RCD_GRID - 2 * round;
    for (int i = 0; i < CUV_RCD_HOG_PIXELS; i++)
      picture[i] = (uint8_t) cuv_check_below (range);
    memset (goal.mask, 0, sizeof goal.mask);
    fill_random (goal.mask + goal.first * CUV_RCD_GRID,
        (goal.end - goal.first) * CUV_RCD_GRID);
    fill_random (goal.label, CUV_RCD_SPECTRUM_BINS);
    compute (0, picture, &goal, c);
    compute (~0u, picture, &goal, simd);
    CUV_CHECK (memcmp (&c->grid, &simd->grid, sizeof c->grid) == 0);
    CUV_CHECK (memcmp (&c->sample, &simd->sample, sizeof c->sample) == 0);
    CUV_CHECK (memcmp (&c->filter, &simd->filter, sizeof c->filter) == 0);
    CUV_CHECK (memcmp (&c->response, &simd->response, sizeof c->response) == 0);
    CUV_CHECK (memcmp (c->peaks, simd->peaks, sizeof c->peaks) == 0);
  }
  free (c);
  free (simd);
}

/* ---- histograms ---- */

/* All gradients of a ramp have the same direction. */
CUV_CHECKS_CPU (check_directions)
{
  static uint8_t picture[CUV_RCD_HOG_PIXELS];
  static CuvGrid grid;
  CuvFilterDsp dsp;

  cuv_check_case ("directions of gradients");
  cuv_filter_dsp_init (&dsp);
  for (int d = 0; d < CUV_RCD_HOG_SIGNED; d++) {
    const double turn = d * PI / CUV_RCD_HOG_UNSIGNED;
    const float *value = grid.value
        + (CUV_RCD_GRID / 2 * CUV_RCD_GRID + CUV_RCD_GRID / 2)
            * CUV_RCD_CHANNELS;

    for (int i = 0; i < CUV_RCD_HOG_SIDE * CUV_RCD_HOG_SIDE; i++) {
      const double x = i % CUV_RCD_HOG_SIDE - CUV_RCD_HOG_SIDE / 2;
      const double y = i / CUV_RCD_HOG_SIDE - CUV_RCD_HOG_SIDE / 2;
      const double v = 128.0 + 12.0 * (x * cos (turn) + y * sin (turn));

      picture[i] = (uint8_t) fmin (fmax (v, 0.0), 255.0);
    }
    dsp.features (picture, &grid);
    for (int k = 0; k < CUV_RCD_HOG_SIGNED; k++)
      CUV_CHECK (k == d ? value[k] > 0.3f : value[k] < 0.1f,
          ": direction %d, channel %d: %g", d, k, (double) value[k]);
  }
}

/* ---- places ---- */

enum { WIDTH = 240, HEIGHT = 180 };

enum { WAVES = 10 };

/* A picture that is not periodic and has no edges. */
typedef struct {
  double x[WAVES], y[WAVES], phase[WAVES];
} Waves;

static Waves
waves_of (double seed)
{
  Waves self;

  for (int i = 0; i < WAVES; i++) {
    const int k = i + 1;

    self.x[i] = 0.12 * k * cos (k * seed);
    self.y[i] = 0.12 * k * sin (k * seed);
    self.phase[i] = k * k;
  }
  return self;
}

static double
value_at (const Waves *self, double x, double y)
{
  double v = 0.0;

  for (int i = 0; i < WAVES; i++)
    v += sin (self->x[i] * x + self->y[i] * y + self->phase[i]);
  return v;
}

/* Shows one picture, moved and enlarged, in a Gaussian window over another. */
static void
paint (uint8_t *data, double x, double y, double scale, double light)
{
  static double background[WIDTH * HEIGHT];
  static bool is_painted;
  const Waves front = waves_of (1.0), back = waves_of (2.3);

  for (int i = 0; i < WIDTH * HEIGHT && !is_painted; i++)
    background[i] = value_at (&back, i % WIDTH, i / WIDTH);
  is_painted = true;
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    const double dx = (i % WIDTH + 0.5 - x) / scale;
    const double dy = (i / WIDTH + 0.5 - y) / scale;
    const double inside = exp (-pow (dx / 24.0, 6.0) - pow (dy / 18.0, 6.0));
    const double v =
        inside * value_at (&front, dx, dy) + (1.0 - inside) * background[i];

    data[i] = (uint8_t) fmin (fmax (light * (128.0 + 14.0 * v), 0.0), 255.0);
  }
}

static void
take_crop (CuvCorrelation *self, uint8_t *data, uint8_t *pixels)
{
  const CuvFrame frame = { CUV_MODEL_GREY, WIDTH, HEIGHT, 1,
    { { data, WIDTH, 1, 0, 0 } } };
  const CuvRcdCrop crop = cuv_correlation_crop (self);

  cuv_rcd_crop (&frame, &crop, CUV_RCD_CROP, pixels);
}

static void
start (CuvCorrelation *self, CuvCorrelationWork *work)
{
  static uint8_t data[WIDTH * HEIGHT], pixels[CUV_RCD_CROP_PIXELS];

  cuv_correlation_init (self, &(CuvRcdBox){ 96, 72, 48, 36 });
  paint (data, 120.0, 90.0, 1.0, 1.0);
  take_crop (self, data, pixels);
  cuv_correlation_start (self, work, pixels);
}

/* Checks the place within 2.5 pixels, as a cell of features has 4.2, and the
 * size within 10 %, as it follows slowly. */
static void
check_place (const CuvCorrelation *self, double x, double y, double scale)
{
  CUV_CHECK (fabs (self->place.x - x) < 2.5 && fabs (self->place.y - y) < 2.5,
      ": at %g, %g", self->place.x, self->place.y);
  CUV_CHECK (fabs (self->place.scale - scale) < 0.1 * scale, ": %g",
      self->place.scale);
}

/* Checks that a moved picture is found. light: factor on its brightness. */
static void
check_found (CuvCorrelation *self, CuvCorrelationWork *work, double dx,
    double dy, double light)
{
  static uint8_t data[WIDTH * HEIGHT], pixels[CUV_RCD_CROP_PIXELS];
  double peak;

  cuv_check_case ("moved by %g, %g, light %g", dx, dy, light);
  start (self, work);
  peak = self->peak;
  paint (data, 120.0 + dx, 90.0 + dy, 1.0, light);
  take_crop (self, data, pixels);
  cuv_correlation_find (self, work, pixels);
  check_place (self, 120.0 + dx, 90.0 + dy, 1.0);
  CUV_CHECK (self->peak > 0.3 * peak && self->peak < 1.1 * peak, ": %g of %g",
      self->peak, peak);
}

static void
check_growing (CuvCorrelation *self, CuvCorrelationWork *work, double growth)
{
  enum { FRAMES = 20 };
  static uint8_t data[WIDTH * HEIGHT], pixels[CUV_RCD_CROP_PIXELS];

  cuv_check_case ("grown to %g", growth);
  start (self, work);
  for (int i = 1; i <= FRAMES; i++) {
    const double scale = pow (growth, (double) i / FRAMES);

    paint (data, 120.0 + i * 0.5, 90.0, scale, 1.0);
    take_crop (self, data, pixels);
    cuv_correlation_find (self, work, pixels);
    cuv_correlation_learn (self, work, pixels, 0.015f);
    check_place (self, 120.0 + i * 0.5, 90.0, scale);
  }
}

CUV_CHECKS_CPU (check_places)
{
  CuvCorrelation *self = calloc (1, sizeof *self);
  CuvCorrelationWork *work = calloc (1, sizeof *work);

  cuv_correlation_work_init (work);
  check_found (self, work, 0.0, 0.0, 1.0);
  check_found (self, work, 5.5, -3.25, 1.0);
  check_found (self, work, -17.0, 12.5, 1.0);
  check_found (self, work, 4.0, 3.0, 0.4);
  check_growing (self, work, 1.2);
  check_growing (self, work, 0.9);
  free (self);
  free (work);
}

/* Transforms a spectrum back to a grid, one channel after another. */
static void
inverse (const CuvSpectrum *spectrum, CuvGrid *grid)
{
  static CuvResponse response;
  CuvFilterDsp dsp;

  cuv_filter_dsp_init (&dsp);
  for (int k = 0; k < CUV_RCD_CHANNELS; k++) {
    for (int i = 0; i < CUV_RCD_SPECTRUM_BINS; i++) {
      const int to = (i % CUV_RCD_SPECTRUM_COLUMNS * CUV_RCD_GRID
                         + i / CUV_RCD_SPECTRUM_COLUMNS)
          * CUV_RCD_FILTER_LANES;

      response.re[to] = spectrum->re[i * CUV_RCD_CHANNELS + k];
      response.im[to] = spectrum->im[i * CUV_RCD_CHANNELS + k];
    }
    dsp.inverse (&response);
    for (int i = 0; i < CUV_RCD_GRID_CELLS; i++)
      grid->value[i * CUV_RCD_CHANNELS + k] =
          response.value[i * CUV_RCD_FILTER_LANES];
  }
}

/* The filter is 0 outside the box and a margin around it. */
CUV_CHECKS_CPU (check_mask)
{
  CuvCorrelation *self = calloc (1, sizeof *self);
  CuvCorrelationWork *work = calloc (1, sizeof *work);
  static uint8_t data[WIDTH * HEIGHT], pixels[CUV_RCD_CROP_PIXELS];
  float inside = 0.0f, outside = 0.0f;

  cuv_check_case ("the filter's mask");
  cuv_correlation_work_init (work);
  cuv_correlation_init (self, &(CuvRcdBox){ 96, 72, 48, 36 });
  paint (data, 120.0, 90.0, 1.0, 1.0);
  take_crop (self, data, pixels);
  cuv_correlation_start (self, work, pixels);
  inverse (&self->filter, &work->grid);
  for (int i = 0; i < CUV_RCD_GRID_CELLS * CUV_RCD_CHANNELS; i++) {
    const float value = fabsf (work->grid.value[i]);
    const double unit = self->side / CUV_RCD_GRID;
    const double x =
        (i / CUV_RCD_CHANNELS % CUV_RCD_GRID + 0.5 - CUV_RCD_GRID / 2) * unit;
    const double y =
        (i / CUV_RCD_CHANNELS / CUV_RCD_GRID + 0.5 - CUV_RCD_GRID / 2) * unit;

    if (fabs (x) < 36.0 + unit && fabs (y) < 27.0 + unit)
      inside = fmaxf (inside, value);
    else
      outside = fmaxf (outside, value);
  }
  CUV_CHECK (outside < 1e-4f * inside, ": %g, inside %g", (double) outside,
      (double) inside);
  free (self);
  free (work);
}
