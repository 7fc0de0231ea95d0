/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The filter of a model and its responses, frequency by frequency; for the
 * method see rcd-filter.h. */
#ifndef CUV_RCD_SOLVE_TEMPLATE_H
#define CUV_RCD_SOLVE_TEMPLATE_H

#include "correlation/four.h"
#include "correlation/fourier-template.h"

/* Number of frequencies that are processed side by side. The channels of each
 * are added in order. */
enum { CUV_BINS = 4 };

/* One term for each channel and frequency. */
typedef struct {
  float v[CUV_BINS][CUV_RCD_CHANNELS];
} CuvTerms;

CUV_ALWAYS_INLINE void
cuv_terms_sum (const CuvTerms *terms, float *sums)
{
  CuvFour sum = { 0.0f };

  for (int k = 0; k < CUV_RCD_CHANNELS; k += 4) {
    const CuvFour a = *(const CuvFour *) (terms->v[0] + k);
    const CuvFour b = *(const CuvFour *) (terms->v[1] + k);
    const CuvFour c = *(const CuvFour *) (terms->v[2] + k);
    const CuvFour d = *(const CuvFour *) (terms->v[3] + k);
    const CuvFour ab = CUV_SHUFFLE (a, b, 0, 1, 0, 1);
    const CuvFour cd = CUV_SHUFFLE (c, d, 0, 1, 0, 1);
    const CuvFour ab2 = CUV_SHUFFLE (a, b, 2, 3, 2, 3);
    const CuvFour cd2 = CUV_SHUFFLE (c, d, 2, 3, 2, 3);

    sum += CUV_SHUFFLE (ab, cd, 0, 2, 0, 2);
    sum += CUV_SHUFFLE (ab, cd, 1, 3, 1, 3);
    sum += CUV_SHUFFLE (ab2, cd2, 0, 2, 0, 2);
    sum += CUV_SHUFFLE (ab2, cd2, 1, 3, 1, 3);
  }
  *(CuvFour *) sums = sum;
}

/* Computes the sum of conj (x) y over the channels of four frequencies. */
CUV_ALWAYS_INLINE void
cuv_products (const float *x_re, const float *x_im, const float *y_re,
    const float *y_im, float *sums_re, float *sums_im)
{
  CuvTerms re, im;

  for (int i = 0; i < CUV_BINS * CUV_RCD_CHANNELS; i += CUV_VECTOR) {
    const CuvComplex x = cuv_complex_load (x_re + i, x_im + i);
    const CuvComplex y = cuv_complex_load (y_re + i, y_im + i);

    cuv_complex_store (re.v[0] + i, im.v[0] + i,
        (CuvComplex){ x.re * y.re + x.im * y.im, x.re * y.im - x.im * y.re });
  }
  cuv_terms_sum (&re, sums_re);
  cuv_terms_sum (&im, sums_im);
}

CUV_ALWAYS_INLINE void
cuv_energies (const float *re, const float *im, float *sums)
{
  CuvTerms terms;

  for (int i = 0; i < CUV_BINS * CUV_RCD_CHANNELS; i += CUV_VECTOR) {
    const CuvComplex x = cuv_complex_load (re + i, im + i);

    *(CuvFloats *) (terms.v[0] + i) = x.re * x.re + x.im * x.im;
  }
  cuv_terms_sum (&terms, sums);
}

static void
cuv_spectrum_blend (CuvSpectrum *a, const CuvSpectrum *b, float rate)
{
  for (int i = 0; i < CUV_RCD_SPECTRUM_BINS * CUV_RCD_CHANNELS;
       i += CUV_VECTOR) {
    const CuvComplex old = cuv_complex_load (a->re + i, a->im + i);
    const CuvComplex new = cuv_complex_load (b->re + i, b->im + i);

    cuv_complex_store (a->re + i, a->im + i,
        (CuvComplex){ (1.0f - rate) * old.re + rate * new.re,
            (1.0f - rate) * old.im + rate *new.im });
  }
}

/* ---- the filter of a model ---- */

/* Both iterations solve (x x^H + n mu) g = x label + n (mu h - l) for g at each
 * frequency, by the Sherman-Morrison formula. x is the model, h the masked
 * filter, l the multiplier, n the number of cells and mu the penalty. In the
 * first iteration h and l are 0, so g is a multiple of x. In the second, l is
 * g - h of the first. */

/* Computes the first iteration; ratio receives g / x of each frequency. */
static void
cuv_solve_first (const CuvRcdFilterGoal *goal, const CuvSpectrum *model,
    float *ratio, CuvSpectrum *filter)
{
  const float mu = CUV_RCD_FILTER_PENALTY1,
              factor = mu * cuv_filter_factor (mu);

  for (int i = 0; i < CUV_RCD_SPECTRUM_BINS; i++) {
    const int at = i * CUV_RCD_CHANNELS;

    if (i % CUV_BINS == 0)
      cuv_energies (model->re + at, model->im + at, ratio + i);
    ratio[i] = goal->label[i] * (1.0f / (ratio[i] + CUV_RCD_GRID_CELLS * mu));
    for (int k = at; k < at + CUV_RCD_CHANNELS; k += CUV_VECTOR) {
      const CuvComplex x = cuv_complex_load (model->re + k, model->im + k);

      cuv_complex_store (filter->re + k, filter->im + k,
          (CuvComplex){
              factor * (x.re * ratio[i]), factor * (x.im * ratio[i]) });
    }
  }
}

/* Four frequencies of the model x, the masked filter h and the multiplier l. */
typedef struct {
  const float *x_re, *x_im;
  float *h_re, *h_im;
  float l_re[CUV_BINS * CUV_RCD_CHANNELS], l_im[CUV_BINS * CUV_RCD_CHANNELS];
} CuvBins;

/* Replaces h by the filter of the second iteration, before masking. */
CUV_ALWAYS_INLINE void
cuv_solve_second (CuvBins *bins, int i, float re, float im)
{
  const float mu = CUV_RCD_FILTER_PENALTY2,
              inv_mu = 1.0f / CUV_RCD_FILTER_PENALTY2;
  const float factor = cuv_filter_factor (CUV_RCD_FILTER_PENALTY2);

  for (int k = i * CUV_RCD_CHANNELS; k < (i + 1) * CUV_RCD_CHANNELS;
       k += CUV_VECTOR) {
    const CuvComplex x = cuv_complex_load (bins->x_re + k, bins->x_im + k);
    const CuvComplex h = cuv_complex_load (bins->h_re + k, bins->h_im + k);
    const CuvComplex l = cuv_complex_load (bins->l_re + k, bins->l_im + k);
    const CuvComplex g = { h.re - l.re * inv_mu + x.re * re - x.im * im,
      h.im - l.im * inv_mu + x.re * im + x.im * re };

    cuv_complex_store (bins->h_re + k, bins->h_im + k,
        (CuvComplex){ (mu * factor) * g.re + factor * l.re,
            (mu * factor) * g.im + factor * l.im });
  }
}

CUV_ALWAYS_INLINE void
cuv_solve_bins (CuvBins *bins, const float *label, const float *ratio)
{
  const float mu = CUV_RCD_FILTER_PENALTY2,
              inv_mu = 1.0f / CUV_RCD_FILTER_PENALTY2;
  float energy[CUV_BINS], xh_re[CUV_BINS], xh_im[CUV_BINS], xl_re[CUV_BINS],
      xl_im[CUV_BINS];

  for (int k = 0; k < CUV_BINS * CUV_RCD_CHANNELS; k += CUV_VECTOR) {
    const CuvComplex x = cuv_complex_load (bins->x_re + k, bins->x_im + k);
    const CuvComplex h = cuv_complex_load (bins->h_re + k, bins->h_im + k);
    const float r = ratio[k / CUV_RCD_CHANNELS];

    cuv_complex_store (bins->l_re + k, bins->l_im + k,
        (CuvComplex){ x.re * r - h.re, x.im * r - h.im });
  }
  cuv_energies (bins->x_re, bins->x_im, energy);
  cuv_products (bins->x_re, bins->x_im, bins->h_re, bins->h_im, xh_re, xh_im);
  cuv_products (bins->x_re, bins->x_im, bins->l_re, bins->l_im, xl_re, xl_im);
  for (int i = 0; i < CUV_BINS; i++) {
    const float inv = 1.0f / (energy[i] + CUV_RCD_GRID_CELLS * mu);

    cuv_solve_second (bins, i, (label[i] - xh_re[i] + xl_re[i] * inv_mu) * inv,
        (xl_im[i] * inv_mu - xh_im[i]) * inv);
  }
}

static void
cuv_solve (CuvFourier *fourier, const CuvRcdFilterGoal *goal,
    const CuvSpectrum *model, CuvSpectrum *filter)
{
  float ratio[CUV_RCD_SPECTRUM_BINS];

  cuv_solve_first (goal, model, ratio, filter);
  cuv_fourier_mask (fourier, goal, filter);
  for (int i = 0; i < CUV_RCD_SPECTRUM_BINS; i += CUV_BINS) {
    const int at = i * CUV_RCD_CHANNELS;
    CuvBins bins;

    bins.x_re = model->re + at;
    bins.x_im = model->im + at;
    bins.h_re = filter->re + at;
    bins.h_im = filter->im + at;
    cuv_solve_bins (&bins, goal->label + i, ratio + i);
  }
  cuv_fourier_mask (fourier, goal, filter);
}

/* ---- responses ---- */

static void
cuv_respond (const CuvSpectrum *filter, const CuvSpectrum *sample,
    CuvResponse *response, int lane)
{
  for (int i = 0; i < CUV_RCD_SPECTRUM_BINS; i += CUV_BINS) {
    const int at = i * CUV_RCD_CHANNELS;
    float re[CUV_BINS], im[CUV_BINS];

    cuv_products (filter->re + at, filter->im + at, sample->re + at,
        sample->im + at, re, im);
    for (int j = 0; j < CUV_BINS; j++) {
      const int x = (i + j) % CUV_RCD_SPECTRUM_COLUMNS;
      const int y = (i + j) / CUV_RCD_SPECTRUM_COLUMNS;
      const int to = (x * CUV_RCD_GRID + y) * CUV_RCD_FILTER_LANES + lane;

      response->re[to] = re[j];
      response->im[to] = im[j];
    }
  }
}

enum { CUV_ROW_VECTOR = CUV_VECTOR / 2 };

typedef float CuvRowFloats __attribute__ ((vector_size (4 * CUV_ROW_VECTOR)));
typedef double CuvDoubles __attribute__ ((vector_size (8 * CUV_ROW_VECTOR)));

/* A response's spectrum: for each column, its rows. */
typedef struct {
  CuvRowFloats re[CUV_RCD_GRID / 2][CUV_RCD_GRID / CUV_ROW_VECTOR];
  CuvRowFloats im[CUV_RCD_GRID / 2][CUV_RCD_GRID / CUV_ROW_VECTOR];
} CuvRows;

/* For each row, sums of frequency^n times the row's values, n = 0 .. 2. */
typedef struct {
  double re[3][CUV_RCD_GRID], im[3][CUV_RCD_GRID];
} CuvRowSums;

/* Powers of e^(2 pi j turns); j is the imaginary unit. */
typedef struct {
  double re[CUV_RCD_GRID / 2 + 1], im[CUV_RCD_GRID / 2 + 1];
} CuvPowers;

CUV_ALWAYS_INLINE void
cuv_powers_init (CuvPowers *self, double turns)
{
  double re, im;

  cuv_filter_turn (turns, &re, &im);
  self->re[0] = 1.0;
  self->im[0] = 0.0;
  for (int i = 0; i < CUV_RCD_GRID / 2; i++) {
    self->re[i + 1] = self->re[i] * re - self->im[i] * im;
    self->im[i + 1] = self->re[i] * im + self->im[i] * re;
  }
}

CUV_ALWAYS_INLINE void
cuv_rows_init (CuvRows *self, const CuvResponse *response, int lane)
{
  for (int i = 0; i < CUV_RCD_GRID / 2; i++) {
    for (int j = 0; j < CUV_RCD_GRID; j++) {
      const int at = (i * CUV_RCD_GRID + j) * CUV_RCD_FILTER_LANES + lane;

      ((float *) self->re[i])[j] = response->re[at];
      ((float *) self->im[i])[j] = response->im[at];
    }
  }
}

CUV_ALWAYS_INLINE void
cuv_rows_sum (const CuvRows *rows, double x, CuvRowSums *sums)
{
  CuvPowers powers;

  cuv_powers_init (&powers, x / CUV_RCD_GRID);
  for (int j = 0; j < CUV_RCD_GRID / CUV_ROW_VECTOR; j++) {
    CuvDoubles re[3] = { { 0.0 } }, im[3] = { { 0.0 } };

    for (int i = 0; i < CUV_RCD_GRID / 2; i++) {
      const double weight = (i == 0 ? 1.0 : 2.0) / CUV_RCD_GRID_CELLS;
      const double c = powers.re[i] * weight, d = powers.im[i] * weight;
      const CuvDoubles z_re =
          __builtin_convertvector(rows->re[i][j], CuvDoubles);
      const CuvDoubles z_im =
          __builtin_convertvector(rows->im[i][j], CuvDoubles);
      const CuvDoubles w_re = z_re * c - z_im * d, w_im = z_re * d + z_im * c;

      re[0] += w_re;
      im[0] += w_im;
      re[1] += (double) i * w_re;
      im[1] += (double) i * w_im;
      re[2] += (double) (i * i) * w_re;
      im[2] += (double) (i * i) * w_im;
    }
    for (int n = 0; n < 3; n++) {
      memcpy (sums->re[n] + j * CUV_ROW_VECTOR, &re[n], sizeof re[n]);
      memcpy (sums->im[n] + j * CUV_ROW_VECTOR, &im[n], sizeof im[n]);
    }
  }
}

/* Returns the sum of a term of each row, added as a binary tree. */
CUV_ALWAYS_INLINE double
cuv_rows_total (double *terms)
{
  for (int half = CUV_RCD_GRID / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; j++)
      terms[j] += terms[j + half];
  }
  return terms[0];
}

CUV_ALWAYS_INLINE void
cuv_rows_slope (const CuvRowSums *sums, double y, CuvRcdFilterSlope *slope)
{
  const double unit = 6.283185307179586 / CUV_RCD_GRID;
  double value[CUV_RCD_GRID], x[CUV_RCD_GRID], dy[CUV_RCD_GRID],
      xx[CUV_RCD_GRID], xy[CUV_RCD_GRID], yy[CUV_RCD_GRID];
  CuvPowers powers;

  cuv_powers_init (&powers, y / CUV_RCD_GRID);
  for (int j = 0; j < CUV_RCD_GRID; j++) {
    /* the highest frequency equals its negative, so its slope is 0 */
    const int n = j == CUV_RCD_GRID / 2 ? 0 : cuv_filter_from_zero (j);
    const double c = powers.re[n < 0 ? -n : n];
    const double d = n < 0 ? -powers.im[-n] : powers.im[n];
    const double re0 = sums->re[0][j] * c - sums->im[0][j] * d;
    const double im0 = sums->re[0][j] * d + sums->im[0][j] * c;

    value[j] = re0;
    x[j] = sums->re[1][j] * d + sums->im[1][j] * c;
    dy[j] = n * im0;
    xx[j] = sums->re[2][j] * c - sums->im[2][j] * d;
    xy[j] = n * (sums->re[1][j] * c - sums->im[1][j] * d);
    yy[j] = n * n * re0;
  }
  *slope = (CuvRcdFilterSlope){ cuv_rows_total (value),
    -unit * cuv_rows_total (x), -unit * cuv_rows_total (dy),
    -(unit * unit) * cuv_rows_total (xx), -(unit * unit) * cuv_rows_total (xy),
    -(unit * unit) * cuv_rows_total (yy) };
}

static void
cuv_response_peak (
    const CuvResponse *response, int lane, CuvRcdFilterPeak *peak)
{
  CuvRows rows;
  CuvRowSums sums;
  CuvRcdFilterSlope slope;

  cuv_rows_init (&rows, response, lane);
  for (int i = 0;; i++) {
    cuv_rows_sum (&rows, peak->x, &sums);
    cuv_rows_slope (&sums, peak->y, &slope);
    if (i == CUV_RCD_FILTER_STEPS
        || !cuv_filter_step (&slope, &peak->x, &peak->y))
      break;
  }
  peak->value = slope.value;
}

#endif
