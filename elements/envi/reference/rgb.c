/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits of three bands by exact percentiles, and their pixels. */
#include "rgb.h"

#include <string.h>

/* Reads the samples of a pixel; returns whether all are valid. */
static bool
read_pixel (const CuvCube *cube, const CuvRgbBands *bands, const uint8_t *at,
    float samples[CUV_RGB_CHANNELS])
{
  bool is_valid = true;

  for (int c = 0; c < CUV_RGB_CHANNELS; c++) {
    /* exact: floats represent all 16-bit integers */
    const float s =
        (float) cuv_cube_sample (cube, at + bands->band[c] * cube->band_step);

    samples[c] = s;
    is_valid &=
        s - s == 0.0f && !(bands->has_ignore && s == (float) bands->ignore);
  }
  return is_valid;
}

/* Maps floats to unsigned integers of the same order. */
static uint32_t
to_key (float value)
{
  uint32_t bits;

  memcpy (&bits, &value, sizeof bits);
  return bits >> 31 != 0 ? ~bits : bits | UINT32_C (1) << 31;
}

static float
from_key (uint32_t key)
{
  const uint32_t bits = key >> 31 != 0 ? key ^ UINT32_C (1) << 31 : ~key;
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

/* Computes the histogram of the upper halves of a channel's keys or, given two
 * upper halves, of the lower halves of the keys that start with each. */
static void
rgb_count (const CuvCube *cube, const CuvRgbBands *bands, int channel,
    const uint32_t *upper, uint32_t *bins)
{
  memset (bins, 0, (upper != NULL ? 2 : 1) * CUV_RGB_BINS * sizeof *bins);
  for (int y = 0; y < cube->height; y++) {
    const uint8_t *at = cube->data + y * cube->row_step;

    for (int x = 0; x < cube->width; x++, at += cube->pixel_step) {
      float samples[CUV_RGB_CHANNELS];
      uint32_t key;

      if (!read_pixel (cube, bands, at, samples))
        continue;
      key = to_key (samples[channel]);
      if (upper == NULL)
        bins[key >> 16]++;
      for (int i = 0; upper != NULL && i < 2; i++)
        if (key >> 16 == upper[i])
          bins[i * CUV_RGB_BINS + (key & 0xffff)]++;
    }
  }
}

/* Finds the bin of a rank; *rank becomes the rank within the bin. */
static uint32_t
bin_of (const uint32_t *bins, uint32_t *rank)
{
  uint32_t i = 0;

  while (*rank >= bins[i])
    *rank -= bins[i++];
  return i;
}

/* Two-pass radix selection: exact whatever the outliers. */
static bool
find_channel (const CuvCube *cube, const CuvRgbBands *bands, int channel,
    double percentile, uint32_t *bins, float limits[2])
{
  uint32_t n = 0, ranks[2], upper[2];

  rgb_count (cube, bands, channel, NULL, bins);
  for (int i = 0; i < CUV_RGB_BINS; i++)
    n += bins[i];
  if (n == 0)
    return false;
  ranks[0] = (uint32_t) (percentile / 100 * (n - 1));
  ranks[1] = n - 1 - ranks[0];
  for (int i = 0; i < 2; i++)
    upper[i] = bin_of (bins, &ranks[i]);
  rgb_count (cube, bands, channel, upper, bins);
  for (int i = 0; i < 2; i++)
    limits[i] =
        from_key (upper[i] << 16 | bin_of (bins + i * CUV_RGB_BINS, &ranks[i]));
  return true;
}

bool
cuv_rgb_limits_find (CuvRgbLimits *self, const CuvCube *cube,
    const CuvRgbBands *bands, double percentile, uint32_t *bins)
{
  for (int c = 0; c < CUV_RGB_CHANNELS; c++) {
    float limits[2];

    if (!find_channel (cube, bands, c, percentile, bins, limits))
      return false;
    self->low[c] = limits[0];
    self->high[c] = limits[1];
  }
  return true;
}

static uint8_t
to_byte (float value, float low, float high)
{
  const double ratio =
      ((double) value - (double) low) / ((double) high - (double) low);

  return low == high   ? 128
      : ratio >= 1     ? 255
      : !(ratio > 0.0) ? 0
                       : (uint8_t) (ratio * 255 + 0.5);
}

void
cuv_rgb_paint (const CuvRgbLimits *self, const CuvCube *cube,
    const CuvRgbBands *bands, uint8_t *out, int64_t stride)
{
  for (int y = 0; y < cube->height; y++) {
    const uint8_t *at = cube->data + y * cube->row_step;
    uint8_t *pixel = out + y * stride;

    for (int x = 0; x < cube->width; x++, at += cube->pixel_step, pixel += 4) {
      float samples[CUV_RGB_CHANNELS];
      const bool is_valid = read_pixel (cube, bands, at, samples);

      for (int c = 0; c < CUV_RGB_CHANNELS; c++)
        pixel[c] =
            is_valid ? to_byte (samples[c], self->low[c], self->high[c]) : 0;
      pixel[3] = 255;
    }
  }
}
