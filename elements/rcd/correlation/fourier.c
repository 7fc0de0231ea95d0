/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "correlation/fourier.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define PI 3.14159265358979323846

void
cuv_fourier_init (CuvFourier *self)
{
  for (int i = 0; i < CUV_GRID / 2; i++) {
    self->twiddle_re[i] = (float) cos (2.0 * PI * i / CUV_GRID);
    self->twiddle_im[i] = (float) -sin (2.0 * PI * i / CUV_GRID);
  }
}

/* ---- one line ---- */

static void
swap (float *a, float *b)
{
  for (int k = 0; k < CUV_PAIRS; k++) {
    const float v = a[k];

    a[k] = b[k];
    b[k] = v;
  }
}

/* Puts elements in the order of their reversed indices. */
static void
reverse_bits (float *re, float *im, int stride)
{
  for (int i = 1, j = 0; i < CUV_GRID; i++) {
    int bit = CUV_GRID / 2;

    for (; j & bit; bit /= 2)
      j ^= bit;
    j ^= bit;
    if (i < j) {
      swap (re + i * stride, re + j * stride);
      swap (im + i * stride, im + j * stride);
    }
  }
}

/* a, b = a + w b, a - w b, for all channels. */
static void
butterfly (float *restrict a_re, float *restrict a_im, float *restrict b_re,
    float *restrict b_im, float w_re, float w_im)
{
  for (int k = 0; k < CUV_PAIRS; k++) {
    const float re = b_re[k] * w_re - b_im[k] * w_im;
    const float im = b_re[k] * w_im + b_im[k] * w_re;

    b_re[k] = a_re[k] - re;
    b_im[k] = a_im[k] - im;
    a_re[k] += re;
    a_im[k] += im;
  }
}

/* A line of CUV_GRID elements, stride floats apart. sign: 1 forward, -1 inverse
 * without its factor. */
static void
transform_line (
    const CuvFourier *self, float *re, float *im, int stride, float sign)
{
  reverse_bits (re, im, stride);
  for (int half = 1; half < CUV_GRID; half *= 2) {
    for (int i = 0; i < CUV_GRID; i += 2 * half) {
      for (int j = 0; j < half; j++) {
        const int a = (i + j) * stride, b = a + half * stride;
        const int w = j * (CUV_GRID / 2 / half);

        butterfly (re + a, im + a, re + b, im + b, self->twiddle_re[w],
            sign * self->twiddle_im[w]);
      }
    }
  }
}

static void
transform_rows (CuvFourier *self, int first, int end, float sign)
{
  for (int y = first; y < end; y++)
    transform_line (self, self->re + y * CUV_GRID * CUV_PAIRS,
        self->im + y * CUV_GRID * CUV_PAIRS, CUV_PAIRS, sign);
}

static void
transform_columns (CuvFourier *self, float sign)
{
  for (int x = 0; x < CUV_GRID; x++)
    transform_line (self, self->re + x * CUV_PAIRS, self->im + x * CUV_PAIRS,
        CUV_GRID * CUV_PAIRS, sign);
}

/* ---- pairs of real channels as complex ones ---- */

/* Offset of the frequency with the opposite sign of (x, y). */
static int
opposite (int x, int y, int columns)
{
  return (CUV_GRID - y) % CUV_GRID * columns + (CUV_GRID - x) % CUV_GRID;
}

static void
unpack (const CuvFourier *self, int at, int against, float *re, float *im)
{
  const float *z_re = self->re + at * CUV_PAIRS;
  const float *z_im = self->im + at * CUV_PAIRS;
  const float *o_re = self->re + against * CUV_PAIRS;
  const float *o_im = self->im + against * CUV_PAIRS;

  for (int k = 0; k < CUV_PAIRS; k++) {
    re[k] = 0.5f * (z_re[k] + o_re[k]);
    im[k] = 0.5f * (z_im[k] - o_im[k]);
    re[k + CUV_PAIRS] = 0.5f * (z_im[k] + o_im[k]);
    im[k + CUV_PAIRS] = 0.5f * (o_re[k] - z_re[k]);
  }
}

/* sign: 1, or -1 for the conjugates of re and im. */
static void
pack (CuvFourier *self, int at, const float *re, const float *im, float sign)
{
  float *z_re = self->re + at * CUV_PAIRS;
  float *z_im = self->im + at * CUV_PAIRS;

  for (int k = 0; k < CUV_PAIRS; k++) {
    z_re[k] = re[k] - sign * im[k + CUV_PAIRS];
    z_im[k] = sign * im[k] + re[k + CUV_PAIRS];
  }
}

/* ---- transforms ---- */

static void
load_rows (CuvFourier *self, const CuvGrid *grid, int first, int end)
{
  memset (self->re, 0, sizeof self->re);
  memset (self->im, 0, sizeof self->im);
  for (int i = first * CUV_GRID; i < end * CUV_GRID; i++) {
    const float *value = grid->value + i * CUV_CHANNELS;

    memcpy (self->re + i * CUV_PAIRS, value, CUV_PAIRS * sizeof *value);
    memcpy (
        self->im + i * CUV_PAIRS, value + CUV_PAIRS, CUV_PAIRS * sizeof *value);
  }
}

void
cuv_fourier_forward (CuvFourier *self, const CuvGrid *grid, int first, int end,
    CuvSpectrum *spectrum)
{
  load_rows (self, grid, first, end);
  transform_rows (self, first, end, 1.0f);
  transform_columns (self, 1.0f);
  for (int y = 0; y < CUV_GRID; y++) {
    for (int x = 0; x < CUV_SPECTRUM_COLUMNS; x++) {
      const int at = (y * CUV_SPECTRUM_COLUMNS + x) * CUV_CHANNELS;

      unpack (self, y * CUV_GRID + x, opposite (x, y, CUV_GRID),
          spectrum->re + at, spectrum->im + at);
    }
  }
}

void
cuv_fourier_inverse (CuvFourier *self, const CuvSpectrum *spectrum, int first,
    int end, CuvGrid *grid)
{
  const float factor = 1.0f / CUV_GRID_CELLS;

  for (int y = 0; y < CUV_GRID; y++) {
    for (int x = 0; x < CUV_GRID; x++) {
      const bool stored = x < CUV_SPECTRUM_COLUMNS;
      const int bin = stored ? y * CUV_SPECTRUM_COLUMNS + x
                             : opposite (x, y, CUV_SPECTRUM_COLUMNS);

      pack (self, y * CUV_GRID + x, spectrum->re + bin * CUV_CHANNELS,
          spectrum->im + bin * CUV_CHANNELS, stored ? 1.0f : -1.0f);
    }
  }
  transform_columns (self, -1.0f);
  transform_rows (self, first, end, -1.0f);
  for (int i = first * CUV_GRID; i < end * CUV_GRID; i++) {
    for (int k = 0; k < CUV_PAIRS; k++) {
      grid->value[i * CUV_CHANNELS + k] = factor * self->re[i * CUV_PAIRS + k];
      grid->value[i * CUV_CHANNELS + CUV_PAIRS + k] =
          factor * self->im[i * CUV_PAIRS + k];
    }
  }
}
