/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Levels of references, and reflectances. */
#include "reflectance.h"

#include <math.h>
#include <string.h>

void
cuv_levels_add_line (
    const CuvCube *line, const double *ignore, CuvLevelSum *sums)
{
  for (int b = 0; b < line->bands; b++) {
    const uint8_t *at = line->data + b * line->band_step;

    for (int x = 0; x < line->width; x++, at += line->pixel_step, sums++) {
      const double sample = cuv_cube_sample (line, at);

      if (!isfinite (sample) || (ignore != NULL && sample == *ignore))
        continue;
      sums->sum += sample;
      sums->n++;
    }
  }
}

void
cuv_levels_set_line (CuvLevels *self, int y, const CuvLevelSum *sums)
{
  for (int b = 0; b < self->bands; b++) {
    float *to = self->values + y * self->row_step + b * self->band_step;

    for (int x = 0; x < self->width; x++, to += self->pixel_step, sums++)
      *to = sums->n > 0 ? (float) (sums->sum / (double) sums->n) : NAN;
  }
}

#define DEFINE_RUN(name, type, is_valid)                                       \
  static void name (const uint8_t *in, size_t n, const double *ignore,         \
      const float *dark, const float *range, float *out)                       \
  {                                                                            \
    const float ignored = ignore != NULL ? (float) *ignore : NAN;              \
                                                                               \
    for (size_t i = 0; i < n; i++) {                                           \
      type sample;                                                             \
      float value;                                                             \
                                                                               \
      memcpy (&sample, in + i * sizeof sample, sizeof sample);                 \
      value = (float) sample;                                                  \
      out[i] =                                                                 \
          (is_valid) && value != ignored ? (value - dark[i]) / range[i] : NAN; \
    }                                                                          \
  }

DEFINE_RUN (run_u8, uint8_t, 1)
DEFINE_RUN (run_u16, uint16_t, 1)
DEFINE_RUN (run_f32, float, value - value == 0.0f)

void
cuv_reflectance (CuvCubeFormat format, const void *in, size_t n,
    const double *ignore, const float *dark, const float *range, float *out)
{
  const uint8_t *bytes = in;

  if (format == CUV_CUBE_U8)
    run_u8 (bytes, n, ignore, dark, range, out);
  else if (format == CUV_CUBE_U16)
    run_u16 (bytes, n, ignore, dark, range, out);
  else
    run_f32 (bytes, n, ignore, dark, range, out);
}
