/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts the samples of a cube to a tensor of floats. */
#include "ntf.h"

#include <math.h>
#include <string.h>

static const uint8_t *
cube_row (const CuvCube *cube, int y, int band)
{
  return cube->data + y * cube->row_step + band * cube->band_step;
}

static float
float_at (const uint8_t *at)
{
  float value;

  memcpy (&value, at, sizeof value);
  return value;
}

static uint16_t
u16_at (const uint8_t *at)
{
  uint16_t value;

  memcpy (&value, at, sizeof value);
  return value;
}

static void
note_bad (CuvNtfScan *scan, int64_t *count, int x, int y, int band)
{
  if (scan->n_negative + scan->n_not_finite == 0) {
    scan->x = x;
    scan->y = y;
    scan->band = band;
  }
  ++*count;
}

static void
ntf_scan_row (const CuvCube *cube, const double *ignore, int y, int band,
    CuvNtfScan *scan)
{
  const uint8_t *row = cube_row (cube, y, band);

  for (int x = 0; x < cube->width; x++) {
    float value = float_at (row + x * cube->pixel_step);

    if (ignore != NULL && value == (float) *ignore)
      continue;
    if (!isfinite (value))
      note_bad (scan, &scan->n_not_finite, x, y, band);
    else if (value < 0)
      note_bad (scan, &scan->n_negative, x, y, band);
    else if (value > scan->largest)
      scan->largest = value;
  }
}

void
cuv_ntf_scan_rows (const CuvCube *cube, const double *ignore, int first,
    int end, CuvNtfScan *scan)
{
  if (cube->format != CUV_CUBE_F32)
    return;
  for (int y = first; y < end; y++) {
    for (int band = 0; band < cube->bands; band++)
      ntf_scan_row (cube, ignore, y, band, scan);
  }
}

void
cuv_ntf_scan_merge (CuvNtfScan *scan, const CuvNtfScan *later)
{
  if (scan->n_negative + scan->n_not_finite == 0) {
    scan->x = later->x;
    scan->y = later->y;
    scan->band = later->band;
  }
  scan->largest = fmaxf (scan->largest, later->largest);
  scan->n_negative += later->n_negative;
  scan->n_not_finite += later->n_not_finite;
}

double
cuv_ntf_scale (CuvCubeFormat format, float largest)
{
  int exponent = 0;

  if (format != CUV_CUBE_F32)
    return format == CUV_CUBE_U8 ? 256 : 65536;
  frexpf (largest, &exponent); /* 0 for 0 */
  return ldexp (1, exponent);
}

static float
sample_at (const uint8_t *at, CuvCubeFormat format)
{
  return format == CUV_CUBE_U8 ? *at
      : format == CUV_CUBE_U16 ? u16_at (at)
                               : float_at (at);
}

static void
ntf_load_row (const uint8_t *row, const CuvCube *cube, const double *ignore,
    double factor, float *out)
{
  /* -1 is not a valid sample */
  const float left_out = ignore != NULL ? (float) *ignore : -1;

  for (int x = 0; x < cube->width; x++, row += cube->pixel_step) {
    float value = sample_at (row, cube->format);

    out[x] = isfinite (value) && value > 0 && value != left_out
        ? (float) (value * factor)
        : 0;
  }
}

void
cuv_ntf_load_rows (CuvNtfTensor *self, const CuvCube *cube,
    const double *ignore, int z, int first, int end)
{
  for (int y = first; y < end; y++) {
    for (int band = 0; band < cube->bands; band++)
      ntf_load_row (cube_row (cube, y, band), cube, ignore, 1 / self->scale,
          &self->values[((size_t) y * (size_t) self->depth + (size_t) z
                            + (size_t) band)
              * (size_t) self->width]);
  }
}
