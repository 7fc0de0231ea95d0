/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures of terms and of residuals. */
#include "ntf.h"

#include <math.h>

static float
largest (const CuvNtfFactors *self, int mode, int k)
{
  float maximum = 0;

  for (int i = 0; i < self->size[mode]; i++)
    maximum = fmaxf (maximum, *cuv_ntf_at (self, mode, i, k));
  return maximum;
}

static void
paint_term (const CuvNtfFactors *f, int width, int height, int k,
    uint8_t *channel, size_t stride)
{
  const float maximum = largest (f, CUV_NTF_U, k) * largest (f, CUV_NTF_V, k);
  const float gain = maximum > 0 ? 255 / maximum : 0;
  const bool is_matrix = f->size[CUV_NTF_V] != width;

  for (int y = 0; y < height; y++) {
    const float u = *cuv_ntf_at (f, CUV_NTF_U, is_matrix ? 0 : y, k) * gain;
    const float *v = cuv_ntf_at (f, CUV_NTF_V, is_matrix ? y * width : 0, k);
    uint8_t *row = channel + (size_t) y * stride;

    for (int x = 0; x < width; x++, v += f->stride)
      row[4 * x] = (uint8_t) fminf (u * *v + 0.5f, 255);
  }
}

static void
ntf_fill_pixels (
    uint8_t *channel, int width, int height, size_t stride, uint8_t value)
{
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++)
      channel[(size_t) y * stride + 4 * (size_t) x] = value;
  }
}

void
cuv_ntf_paint_terms (const CuvNtfFactors *factors, int width, int height,
    const int32_t terms[CUV_NTF_SHOWN], uint8_t *pixels, size_t stride)
{
  for (int i = 0; i < CUV_NTF_SHOWN; i++) {
    if (terms[i] >= 1 && terms[i] <= factors->rank)
      paint_term (factors, width, height, terms[i] - 1, pixels + i, stride);
    else
      ntf_fill_pixels (pixels + i, width, height, stride, 0);
  }
  ntf_fill_pixels (pixels + 3, width, height, stride, 255);
}

void
cuv_ntf_paint_residual (
    const float *map, int width, int height, uint8_t *pixels, size_t stride)
{
  const size_t n = (size_t) width * (size_t) height;
  double squares = 0, gain;

  for (size_t i = 0; i < n; i++)
    squares += (double) map[i] * map[i];
  gain = squares > 0 ? 255 / (3 * sqrt (squares / (double) n)) : 0;
  for (int y = 0; y < height; y++) {
    uint8_t *pixel = pixels + (size_t) y * stride;

    for (int x = 0; x < width; x++, pixel += 4) {
      double grey = map[(size_t) y * (size_t) width + (size_t) x] * gain + 0.5;

      pixel[0] = pixel[1] = pixel[2] = (uint8_t) fmin (grey, 255);
      pixel[3] = 255;
    }
  }
}
