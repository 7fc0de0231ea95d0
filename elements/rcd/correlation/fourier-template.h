/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fourier transforms of CUV_RCD_GRID x CUV_RCD_GRID elements. Several channels
 * are transformed side by side: a vector holds an element of each channel. */
#ifndef CUV_RCD_FOURIER_TEMPLATE_H
#define CUV_RCD_FOURIER_TEMPLATE_H

#include "correlation/filter-dsp.h"

#include <string.h>

#define CUV_ALWAYS_INLINE static inline __attribute__ ((always_inline))

#ifdef __AVX__
enum { CUV_VECTOR = 8 };
#else
enum { CUV_VECTOR = 4 };
#endif

/* May be anywhere in an array of floats: need not be aligned. */
typedef float CuvFloats
    __attribute__ ((vector_size (4 * CUV_VECTOR), aligned (4), may_alias));

typedef struct {
  CuvFloats re, im;
} CuvComplex;

static const float cuv_fourier_cos[CUV_RCD_GRID / 2] = CUV_RCD_FILTER_COSINES;
static const float cuv_fourier_sin[CUV_RCD_GRID / 2] = CUV_RCD_FILTER_SINES;

/* ---- transform of one line ---- */

/* A row or column; an element has CUV_RCD_CHANNEL_PAIRS channels, or
 * CUV_RCD_FILTER_LANES. */
typedef struct {
  float re[CUV_RCD_GRID * CUV_RCD_CHANNEL_PAIRS],
      im[CUV_RCD_GRID * CUV_RCD_CHANNEL_PAIRS];
} CuvLine;

CUV_ALWAYS_INLINE CuvComplex
cuv_complex_load (const float *re, const float *im)
{
  return (CuvComplex){ *(const CuvFloats *) re, *(const CuvFloats *) im };
}

CUV_ALWAYS_INLINE void
cuv_complex_store (float *re, float *im, CuvComplex value)
{
  *(CuvFloats *) re = value.re;
  *(CuvFloats *) im = value.im;
}

/* Computes a, b = a + w b, a - w b with w = exp (-2 pi j i / CUV_RCD_GRID), or
 * its conjugate if inverse; j is the imaginary unit. */
CUV_ALWAYS_INLINE void
cuv_butterfly (CuvComplex *a, CuvComplex *b, int i, bool inverse)
{
  const float w_re = cuv_fourier_cos[i];
  const float w_im = inverse ? cuv_fourier_sin[i] : -cuv_fourier_sin[i];
  CuvComplex v = { b->re * w_re - b->im * w_im, b->re * w_im + b->im * w_re };

  if (i == 0)
    v = *b;
  b->re = a->re - v.re;
  b->im = a->im - v.im;
  a->re += v.re;
  a->im += v.im;
}

/* Computes two stages of a line's transform, those with groups of 2 x half and
 * 4 x half elements. */
CUV_ALWAYS_INLINE void
cuv_two_stages (CuvLine *line, int n, int half, bool inverse)
{
  for (int i = 0; i < CUV_RCD_GRID; i += 4 * half) {
    for (int j = 0; j < half; j++) {
      const int w = j * (CUV_RCD_GRID / 4 / half);

      for (int k = 0; k < n; k += CUV_VECTOR) {
        float *re = line->re + (i + j) * n + k;
        float *im = line->im + (i + j) * n + k;
        const int step = half * n;
        CuvComplex a = cuv_complex_load (re, im);
        CuvComplex b = cuv_complex_load (re + step, im + step);
        CuvComplex c = cuv_complex_load (re + 2 * step, im + 2 * step);
        CuvComplex d = cuv_complex_load (re + 3 * step, im + 3 * step);

        cuv_butterfly (&a, &b, 2 * w, inverse);
        cuv_butterfly (&c, &d, 2 * w, inverse);
        cuv_butterfly (&a, &c, w, inverse);
        cuv_butterfly (&b, &d, w + CUV_RCD_GRID / 4, inverse);
        cuv_complex_store (re, im, a);
        cuv_complex_store (re + step, im + step, b);
        cuv_complex_store (re + 2 * step, im + 2 * step, c);
        cuv_complex_store (re + 3 * step, im + 3 * step, d);
      }
    }
  }
}

/* Transforms a line whose elements are in bit-reversed order. n is the number
 * of channels; results are stride floats apart. The inverse transform is not
 * divided by the number of elements. */
CUV_ALWAYS_INLINE void
cuv_transform (
    CuvLine *line, int n, bool inverse, float *to_re, float *to_im, int stride)
{
  enum { HALF = CUV_RCD_GRID / 2 };

  cuv_two_stages (line, n, 1, inverse);
  cuv_two_stages (line, n, 4, inverse);
  for (int i = 0; i < HALF; i++) {
    for (int k = 0; k < n; k += CUV_VECTOR) {
      const float *re = line->re + i * n + k, *im = line->im + i * n + k;
      CuvComplex a = cuv_complex_load (re, im);
      CuvComplex b = cuv_complex_load (re + HALF * n, im + HALF * n);

      cuv_butterfly (&a, &b, i, inverse);
      cuv_complex_store (to_re + i * stride + k, to_im + i * stride + k, a);
      cuv_complex_store (
          to_re + (i + HALF) * stride + k, to_im + (i + HALF) * stride + k, b);
    }
  }
}

CUV_ALWAYS_INLINE void
cuv_transform_pairs (
    CuvLine *line, bool inverse, float *to_re, float *to_im, int stride)
{
  cuv_transform (line, CUV_RCD_CHANNEL_PAIRS, inverse, to_re, to_im, stride);
}

/* ---- rows and columns of pairs ---- */

/* Sets element i of a line from its channels times a weight: the first half of
 * the channels becomes the real parts, the second the imaginary parts. */
CUV_ALWAYS_INLINE void
cuv_set_element (CuvLine *line, int i, const float *channels, float weight)
{
  float *re = line->re + cuv_filter_reversed (i) * CUV_RCD_CHANNEL_PAIRS;
  float *im = line->im + cuv_filter_reversed (i) * CUV_RCD_CHANNEL_PAIRS;

  for (int k = 0; k < CUV_RCD_CHANNEL_PAIRS; k++) {
    re[k] = channels[k] * weight;
    im[k] = channels[k + CUV_RCD_CHANNEL_PAIRS] * weight;
  }
}

CUV_ALWAYS_INLINE void
cuv_load_column (
    const CuvFourier *self, int x, int first, int end, CuvLine *line)
{
  if (first > 0 || end < CUV_RCD_GRID)
    memset (line, 0, sizeof *line);
  for (int y = first; y < end; y++) {
    const int to = cuv_filter_reversed (y) * CUV_RCD_CHANNEL_PAIRS;
    const int from = (y * CUV_RCD_GRID + x) * CUV_RCD_CHANNEL_PAIRS;

    memcpy (
        line->re + to, self->re + from, CUV_RCD_CHANNEL_PAIRS * sizeof (float));
    memcpy (
        line->im + to, self->im + from, CUV_RCD_CHANNEL_PAIRS * sizeof (float));
  }
}

/* Computes the channels of a frequency from the pairs at this frequency (z) and
 * at the opposite one (o). */
CUV_ALWAYS_INLINE void
cuv_unpack (const float *z_re, const float *z_im, const float *o_re,
    const float *o_im, float *re, float *im)
{
  for (int k = 0; k < CUV_RCD_CHANNEL_PAIRS; k += CUV_VECTOR) {
    const CuvComplex z = cuv_complex_load (z_re + k, z_im + k);
    const CuvComplex o = cuv_complex_load (o_re + k, o_im + k);

    cuv_complex_store (re + k, im + k,
        (CuvComplex){ 0.5f * (z.re + o.re), 0.5f * (z.im - o.im) });
    cuv_complex_store (re + CUV_RCD_CHANNEL_PAIRS + k,
        im + CUV_RCD_CHANNEL_PAIRS + k,
        (CuvComplex){ 0.5f * (z.im + o.im), 0.5f * (o.re - z.re) });
  }
}

/* Computes the pairs at a frequency (z) and at the opposite one (o) from the
 * frequency's channels. */
CUV_ALWAYS_INLINE void
cuv_pack (const float *re, const float *im, float *z_re, float *z_im,
    float *o_re, float *o_im)
{
  for (int k = 0; k < CUV_RCD_CHANNEL_PAIRS; k += CUV_VECTOR) {
    const CuvComplex a = cuv_complex_load (re + k, im + k);
    const CuvComplex b = cuv_complex_load (
        re + CUV_RCD_CHANNEL_PAIRS + k, im + CUV_RCD_CHANNEL_PAIRS + k);

    cuv_complex_store (
        z_re + k, z_im + k, (CuvComplex){ a.re - b.im, a.im + b.re });
    cuv_complex_store (
        o_re + k, o_im + k, (CuvComplex){ a.re + b.im, b.re - a.im });
  }
}

/* Transforms the columns. Only rows first .. end - 1 are not 0. */
CUV_ALWAYS_INLINE void
cuv_forward_columns (
    CuvFourier *self, int first, int end, CuvSpectrum *spectrum)
{
  CuvLine line, a, b;

  for (int x = 0; x < CUV_RCD_SPECTRUM_COLUMNS; x++) {
    const bool twice = x > 0 && x < CUV_RCD_GRID / 2;
    const CuvLine *other = twice ? &b : &a;

    cuv_load_column (self, x, first, end, &line);
    cuv_transform_pairs (&line, false, a.re, a.im, CUV_RCD_CHANNEL_PAIRS);
    if (twice) {
      cuv_load_column (self, CUV_RCD_GRID - x, first, end, &line);
      cuv_transform_pairs (&line, false, b.re, b.im, CUV_RCD_CHANNEL_PAIRS);
    }
    for (int y = 0; y < CUV_RCD_GRID; y++) {
      const int at = (y * CUV_RCD_SPECTRUM_COLUMNS + x) * CUV_RCD_CHANNELS;
      const int against =
          (CUV_RCD_GRID - y) % CUV_RCD_GRID * CUV_RCD_CHANNEL_PAIRS;

      cuv_unpack (a.re + y * CUV_RCD_CHANNEL_PAIRS,
          a.im + y * CUV_RCD_CHANNEL_PAIRS, other->re + against,
          other->im + against, spectrum->re + at, spectrum->im + at);
    }
  }
}

static void
cuv_fourier_forward (CuvFourier *self, const CuvGrid *grid,
    const float *weights, CuvSpectrum *spectrum)
{
  CuvLine line;

  for (int y = 0; y < CUV_RCD_GRID; y++) {
    const int row = y * CUV_RCD_GRID;

    for (int x = 0; x < CUV_RCD_GRID; x++)
      cuv_set_element (&line, x, grid->value + (row + x) * CUV_RCD_CHANNELS,
          weights[row + x]);
    cuv_transform_pairs (&line, false, self->re + row * CUV_RCD_CHANNEL_PAIRS,
        self->im + row * CUV_RCD_CHANNEL_PAIRS, CUV_RCD_CHANNEL_PAIRS);
  }
  cuv_forward_columns (self, 0, CUV_RCD_GRID, spectrum);
}

CUV_ALWAYS_INLINE void
cuv_inverse_columns (CuvFourier *self, const CuvSpectrum *spectrum)
{
  enum { STRIDE = CUV_RCD_GRID * CUV_RCD_CHANNEL_PAIRS };
  CuvLine a, b;

  for (int x = 0; x < CUV_RCD_SPECTRUM_COLUMNS; x++) {
    const int other = CUV_RCD_GRID - x;

    for (int y = 0; y < CUV_RCD_GRID; y++) {
      const int at = (y * CUV_RCD_SPECTRUM_COLUMNS + x) * CUV_RCD_CHANNELS;
      const int to = cuv_filter_reversed (y) * CUV_RCD_CHANNEL_PAIRS;
      const int against =
          cuv_filter_reversed ((CUV_RCD_GRID - y) % CUV_RCD_GRID)
          * CUV_RCD_CHANNEL_PAIRS;

      cuv_pack (spectrum->re + at, spectrum->im + at, a.re + to, a.im + to,
          b.re + against, b.im + against);
    }
    cuv_transform_pairs (&a, true, self->re + x * CUV_RCD_CHANNEL_PAIRS,
        self->im + x * CUV_RCD_CHANNEL_PAIRS, STRIDE);
    if (x > 0 && x < CUV_RCD_GRID / 2)
      cuv_transform_pairs (&b, true, self->re + other * CUV_RCD_CHANNEL_PAIRS,
          self->im + other * CUV_RCD_CHANNEL_PAIRS, STRIDE);
  }
}

/* Transforms a row to cells, masks these, and transforms them back. */
CUV_ALWAYS_INLINE void
cuv_mask_row (CuvFourier *self, const float *mask, int y)
{
  const int row = y * CUV_RCD_GRID * CUV_RCD_CHANNEL_PAIRS;
  CuvLine line, cells;

  for (int x = 0; x < CUV_RCD_GRID; x++) {
    const int to = cuv_filter_reversed (x) * CUV_RCD_CHANNEL_PAIRS,
              from = row + x * CUV_RCD_CHANNEL_PAIRS;

    memcpy (
        line.re + to, self->re + from, CUV_RCD_CHANNEL_PAIRS * sizeof (float));
    memcpy (
        line.im + to, self->im + from, CUV_RCD_CHANNEL_PAIRS * sizeof (float));
  }
  cuv_transform_pairs (&line, true, cells.re, cells.im, CUV_RCD_CHANNEL_PAIRS);
  for (int x = 0; x < CUV_RCD_GRID; x++) {
    const int to = cuv_filter_reversed (x) * CUV_RCD_CHANNEL_PAIRS,
              from = x * CUV_RCD_CHANNEL_PAIRS;
    const float weight =
        mask[y * CUV_RCD_GRID + x] * (1.0f / CUV_RCD_GRID_CELLS);

    for (int k = 0; k < CUV_RCD_CHANNEL_PAIRS; k++) {
      line.re[to + k] = cells.re[from + k] * weight;
      line.im[to + k] = cells.im[from + k] * weight;
    }
  }
  cuv_transform_pairs (
      &line, false, self->re + row, self->im + row, CUV_RCD_CHANNEL_PAIRS);
}

static void
cuv_fourier_mask (
    CuvFourier *self, const CuvRcdFilterGoal *goal, CuvSpectrum *spectrum)
{
  cuv_inverse_columns (self, spectrum);
  for (int y = goal->first; y < goal->end; y++)
    cuv_mask_row (self, goal->mask, y);
  cuv_forward_columns (self, goal->first, goal->end, spectrum);
}

/* ---- responses ---- */

/* Sets a line's element from frequency (x, y), which may be in the half of the
 * spectrum that is not stored. */
CUV_ALWAYS_INLINE void
cuv_set_frequency (const CuvResponse *self, int x, int y, CuvLine *line)
{
  enum { N = CUV_RCD_FILTER_LANES };
  const bool stored = x < CUV_RCD_SPECTRUM_COLUMNS;
  const int column = stored ? x : CUV_RCD_GRID - x;
  const int row = stored ? y : (CUV_RCD_GRID - y) % CUV_RCD_GRID;
  const int from = (column * CUV_RCD_GRID + row) * N,
            to = cuv_filter_reversed (y) * N;

  for (int k = 0; k < N; k++) {
    line->re[to + k] = self->re[from + k];
    line->im[to + k] = stored ? self->im[from + k] : -self->im[from + k];
  }
}

/* The values of cells are real; their imaginary parts are discarded. */
static void
cuv_response_inverse (CuvResponse *self)
{
  enum {
    N = CUV_RCD_FILTER_LANES,
    ROW = CUV_RCD_GRID * N,
    BYTES = N * sizeof (float)
  };
  float rows_re[CUV_RCD_GRID * ROW], rows_im[CUV_RCD_GRID * ROW], unused[ROW];
  CuvLine line;

  for (int x = 0; x < CUV_RCD_GRID; x++) {
    for (int y = 0; y < CUV_RCD_GRID; y++)
      cuv_set_frequency (self, x, y, &line);
    cuv_transform (&line, N, true, rows_re + x * N, rows_im + x * N, ROW);
  }
  for (int y = 0; y < CUV_RCD_GRID; y++) {
    for (int x = 0; x < CUV_RCD_GRID; x++) {
      memcpy (line.re + cuv_filter_reversed (x) * N, rows_re + y * ROW + x * N,
          BYTES);
      memcpy (line.im + cuv_filter_reversed (x) * N, rows_im + y * ROW + x * N,
          BYTES);
    }
    cuv_transform (&line, N, true, self->value + y * ROW, unused, N);
  }
  for (int i = 0; i < CUV_RCD_GRID_CELLS * N; i++)
    self->value[i] *= 1.0f / CUV_RCD_GRID_CELLS;
}

#endif
