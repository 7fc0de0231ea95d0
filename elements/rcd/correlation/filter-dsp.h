/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loops of a correlation filter as a function table: C, or AVX2 where the
 * CPU supports it. All versions return the same bits. */
#ifndef CUV_RCD_FILTER_DSP_H
#define CUV_RCD_FILTER_DSP_H

#include "rcd/rcd-filter.h"

/* The features of a grid of cells, row by row; the channels of a cell follow
 * each other. */
typedef struct {
  float value[CUV_RCD_GRID_CELLS * CUV_RCD_CHANNELS];
} CuvGrid;

/* The spectrum of a grid, row by row; the channels of a frequency follow each
 * other. */
typedef struct {
  float re[CUV_RCD_SPECTRUM_BINS * CUV_RCD_CHANNELS];
  float im[CUV_RCD_SPECTRUM_BINS * CUV_RCD_CHANNELS];
} CuvSpectrum;

/* Memory of a transform, which treats two real channels as a complex one. */
typedef struct {
  float re[CUV_RCD_GRID_CELLS * CUV_RCD_CHANNEL_PAIRS];
  float im[CUV_RCD_GRID_CELLS * CUV_RCD_CHANNEL_PAIRS];
} CuvFourier;

/* Responses to several sizes, one per lane: their spectra (re, im), column by
 * column, and their values, cell by cell. */
enum { CUV_RCD_FILTER_LANES = 8 };

typedef struct {
  float re[CUV_RCD_SPECTRUM_BINS * CUV_RCD_FILTER_LANES];
  float im[CUV_RCD_SPECTRUM_BINS * CUV_RCD_FILTER_LANES];
  float value[CUV_RCD_GRID_CELLS * CUV_RCD_FILTER_LANES];
} CuvResponse;

typedef struct {
  /* Computes the features of a picture of CUV_RCD_HOG_SIDE pixels across and
   * down. */
  void (*features) (const uint8_t *picture, CuvGrid *grid);
  /* Multiplies each cell of a grid by its weight and computes the spectrum. */
  void (*forward) (CuvFourier *fourier, const CuvGrid *grid,
      const float *weights, CuvSpectrum *spectrum);
  /* Multiplies each cell of a spectrum's grid by the cell's weight in
   * goal->mask. */
  void (*mask) (
      CuvFourier *fourier, const CuvRcdFilterGoal *goal, CuvSpectrum *spectrum);
  /* Computes a = (1 - rate) a + rate b. */
  void (*blend) (CuvSpectrum *a, const CuvSpectrum *b, float rate);
  /* Computes the filter of a model. */
  void (*solve) (CuvFourier *fourier, const CuvRcdFilterGoal *goal,
      const CuvSpectrum *model, CuvSpectrum *filter);
  /* Computes the spectrum of a filter's response to a sample, in one lane. */
  void (*respond) (const CuvSpectrum *filter, const CuvSpectrum *sample,
      CuvResponse *response, int lane);
  /* Computes a response's values from its spectrum. */
  void (*inverse) (CuvResponse *response);
  /* Refines the position of a lane's greatest cell to the nearby maximum, by
   * Newton's method. */
  void (*peak) (const CuvResponse *response, int lane, CuvRcdFilterPeak *peak);
} CuvFilterDsp;

void cuv_filter_dsp_init (CuvFilterDsp *self);

/* defined in cpu/x86 */
void cuv_filter_dsp_init_avx2 (CuvFilterDsp *self);

#endif
