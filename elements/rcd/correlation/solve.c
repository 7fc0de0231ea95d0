/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The filter whose response to the model is the label, and which is 0 outside
 * the mask: by the alternating direction method of multipliers, between the
 * solution without a mask, one frequency at a time, and the masked filter. */
#include "correlation/correlation.h"

#include <string.h>

enum { ITERATIONS = 2 };

/* The weight of the constraint that both are equal, its growth from one
 * iteration to the next, and that of the filter's energy. */
static const float first_penalty = 1.0f, penalty_growth = 10.0f;
static const float regularisation = 0.01f;

/* One frequency: arrays of CUV_CHANNELS. */
typedef struct {
  const float *x_re, *x_im; /* the model */
  const float *h_re, *h_im; /* the masked filter */
  const float *l_re, *l_im; /* the multiplier */
} Bin;

typedef struct {
  float re, im;
} Complex;

/* sum conj (x) y. */
static Complex
product (
    const float *x_re, const float *x_im, const float *y_re, const float *y_im)
{
  Complex sum = { 0.0f, 0.0f };

  for (int k = 0; k < CUV_CHANNELS; k++) {
    sum.re += x_re[k] * y_re[k] + x_im[k] * y_im[k];
    sum.im += x_re[k] * y_im[k] - x_im[k] * y_re[k];
  }
  return sum;
}

/* The solution of (x x^H + n mu) g = x y + n (mu h - l), n cells, by the
 * Sherman-Morrison formula. */
static void
solve_bin (const Bin *bin, float label, float mu, float *restrict g_re,
    float *restrict g_im)
{
  const float n_mu = CUV_GRID_CELLS * mu, inv_mu = 1.0f / mu;
  const float energy = product (bin->x_re, bin->x_im, bin->x_re, bin->x_im).re;
  const float inv = 1.0f / (energy + n_mu);
  const Complex xh = product (bin->x_re, bin->x_im, bin->h_re, bin->h_im);
  const Complex xl = product (bin->x_re, bin->x_im, bin->l_re, bin->l_im);
  const float re = (label - xh.re + xl.re * inv_mu) * inv;
  const float im = (xl.im * inv_mu - xh.im) * inv;

  for (int k = 0; k < CUV_CHANNELS; k++) {
    g_re[k] = bin->h_re[k] - bin->l_re[k] * inv_mu + bin->x_re[k] * re
        - bin->x_im[k] * im;
    g_im[k] = bin->h_im[k] - bin->l_im[k] * inv_mu + bin->x_re[k] * im
        + bin->x_im[k] * re;
  }
}

static void
solve_all (const CuvCorrelation *self, CuvCorrelationWork *work, float mu)
{
  for (int i = 0; i < CUV_SPECTRUM_BINS; i++) {
    const int at = i * CUV_CHANNELS;
    const Bin bin = { self->model.re + at, self->model.im + at,
      self->filter.re + at, self->filter.im + at, work->multiplier.re + at,
      work->multiplier.im + at };

    solve_bin (&bin, self->label[i], mu, work->solution.re + at,
        work->solution.im + at);
  }
}

/* a = (b + c / mu) * factor */
static void
add_scaled (float *restrict a, const float *restrict b, const float *restrict c,
    float factor_b, float factor_c)
{
  for (int i = 0; i < CUV_SPECTRUM_BINS * CUV_CHANNELS; i++)
    a[i] = factor_b * b[i] + factor_c * c[i];
}

/* The masked filter nearest to the solution. */
static void
mask_filter (CuvCorrelation *self, CuvCorrelationWork *work, float mu)
{
  const float n = CUV_GRID_CELLS, factor = n / (mu * n + regularisation);

  add_scaled (self->filter.re, work->solution.re, work->multiplier.re,
      mu * factor, factor);
  add_scaled (self->filter.im, work->solution.im, work->multiplier.im,
      mu * factor, factor);
  cuv_fourier_inverse (
      &work->fourier, &self->filter, self->first, self->end, &work->grid);
  for (int i = self->first * CUV_GRID; i < self->end * CUV_GRID; i++) {
    for (int k = 0; k < CUV_CHANNELS; k++)
      work->grid.value[i * CUV_CHANNELS + k] *= self->mask[i];
  }
  cuv_fourier_forward (
      &work->fourier, &work->grid, self->first, self->end, &self->filter);
}

static void
update_multiplier (CuvCorrelation *self, CuvCorrelationWork *work, float mu)
{
  for (int i = 0; i < CUV_SPECTRUM_BINS * CUV_CHANNELS; i++) {
    work->multiplier.re[i] += mu * (work->solution.re[i] - self->filter.re[i]);
    work->multiplier.im[i] += mu * (work->solution.im[i] - self->filter.im[i]);
  }
}

void
cuv_correlation_solve (CuvCorrelation *self, CuvCorrelationWork *work)
{
  float mu = first_penalty;

  memset (&work->multiplier, 0, sizeof work->multiplier);
  memset (&self->filter, 0, sizeof self->filter);
  for (int i = 0; i < ITERATIONS; i++) {
    solve_all (self, work, mu);
    mask_filter (self, work, mu);
    if (i + 1 < ITERATIONS)
      update_multiplier (self, work, mu);
    mu *= penalty_growth;
  }
}
