/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "correlation/correlation.h"

#include <math.h>

/* These constants were chosen on real sequences: see docs/accuracy.md. */

/* Sizes that a search tries, 2 % apart. Not computed by pow(), whose last bit
 * may differ between C libraries. */
static const double scales[CUV_RCD_FILTER_SCALES] = { 1.0 / 1.0404, 1.0 / 1.02,
  1.0, 1.02, 1.0404 };
/* Responses to sizes other than the present one are multiplied by this. */
static const float scale_penalty = 0.99f;
/* Side of the region, relative to the geometric mean of the box's sides, and
 * its minimum, relative to the box's longer side. */
static const double region_factor = 3.2, least_region = 1.5;
/* Sides of the mask, relative to the box's. */
static const double mask_factor = 1.4;
/* Standard deviation of the label, relative to the box's mean side. */
static const double label_width = 0.06;
static const double least_scale = 0.1, greatest_scale = 10.0;

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

/* ---- crops ---- */

/* Returns a crop of side x side samples around (x, y), distance pixels
 * apart. */
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
  return self->side * scale / CUV_RCD_HOG_SIDE;
}

CuvRcdCrop
cuv_correlation_crop (CuvCorrelation *self)
{
  self->crop = self->place;
  return crop_around (self->crop.x, self->crop.y,
      pixel_distance (self, self->crop.scale), CUV_RCD_CROP);
}

CuvRcdCrop
cuv_correlation_sample (const CuvCorrelation *self, int scale)
{
  const double unit = pixel_distance (self, self->crop.scale);

  return crop_around (
      (self->place.x - self->crop.x) / unit + CUV_RCD_CROP * 0.5,
      (self->place.y - self->crop.y) / unit + CUV_RCD_CROP * 0.5,
      pixel_distance (self, self->place.scale * scales[scale]) / unit,
      CUV_RCD_HOG_SIDE);
}

/* ---- responses ---- */

void
cuv_correlation_choose (
    CuvCorrelation *self, const CuvRcdFilterPeak peaks[CUV_RCD_FILTER_SCALES])
{
  const CuvPlace before = self->place;
  double best = -HUGE_VAL;

  for (int i = 0; i < CUV_RCD_FILTER_SCALES; i++) {
    const CuvRcdFilterPeak *peak = &peaks[i];
    const double unit = self->side * before.scale * scales[i] / CUV_RCD_GRID;
    const double value = peak->value
        * (i == CUV_RCD_FILTER_SCALES / 2 ? 1.0 : (double) scale_penalty);

    if (value <= best)
      continue;
    best = value;
    self->peak = peak->value;
    self->place =
        (CuvPlace){ before.x + peak->x * unit, before.y + peak->y * unit,
          clamp (before.scale * scales[i], least_scale, greatest_scale) };
  }
}

/* ---- weights of cells ---- */

/* Returns the fraction of cell i that lies within half cells of the grid's
 * middle. */
static float
coverage (int i, double half)
{
  return (float) clamp (
      half + 0.5 - fabs (i + 0.5 - CUV_RCD_GRID * 0.5), 0.0, 1.0);
}

void
cuv_correlation_set_mask (CuvCorrelation *self)
{
  const double cells = mask_factor * CUV_RCD_GRID / self->side;
  CuvRcdFilterGoal *goal = &self->goal;

  goal->first = CUV_RCD_GRID;
  goal->end = 0;
  for (int y = 0; y < CUV_RCD_GRID; y++) {
    const float rows = coverage (y, self->height * cells * 0.5);

    if (rows > 0.0f) {
      goal->first = y < goal->first ? y : goal->first;
      goal->end = y + 1;
    }
    for (int x = 0; x < CUV_RCD_GRID; x++)
      goal->mask[y * CUV_RCD_GRID + x] =
          rows * coverage (x, self->width * cells * 0.5);
  }
}

float
cuv_correlation_label (const CuvCorrelation *self, int x, int y)
{
  const double width = label_width * CUV_RCD_GRID
      * sqrt (self->width * self->height) / self->side;
  const int dx = cuv_filter_from_zero (x), dy = cuv_filter_from_zero (y);

  return (float) exp (-0.5 * (dx * dx + dy * dy) / (width * width));
}
