/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fourier transforms of a grid of cells with several real values each. */
#ifndef CUV_RCD_FOURIER_H
#define CUV_RCD_FOURIER_H

enum {
  CUV_GRID = 32,     /* cells across and down, a power of two */
  CUV_CHANNELS = 32, /* values of a cell, even */
  CUV_GRID_CELLS = CUV_GRID * CUV_GRID,
  /* columns of a spectrum: the others follow, for values are real */
  CUV_SPECTRUM_COLUMNS = CUV_GRID / 2 + 1,
  CUV_SPECTRUM_BINS = CUV_GRID * CUV_SPECTRUM_COLUMNS,
  CUV_PAIRS = CUV_CHANNELS / 2
};

/* By cell, row by row, then channel. */
typedef struct {
  float value[CUV_GRID_CELLS * CUV_CHANNELS];
} CuvGrid;

/* By frequency, row by row, then channel. */
typedef struct {
  float re[CUV_SPECTRUM_BINS * CUV_CHANNELS];
  float im[CUV_SPECTRUM_BINS * CUV_CHANNELS];
} CuvSpectrum;

/* Memory of a transform: two real channels make a complex one. */
typedef struct {
  float re[CUV_GRID_CELLS * CUV_PAIRS];
  float im[CUV_GRID_CELLS * CUV_PAIRS];
  float twiddle_re[CUV_GRID / 2], twiddle_im[CUV_GRID / 2];
} CuvFourier;

void cuv_fourier_init (CuvFourier *self);

/* Rows outside first .. end - 1 count as 0. */
void cuv_fourier_forward (CuvFourier *self, const CuvGrid *grid, int first,
    int end, CuvSpectrum *spectrum);

/* Sets rows first .. end - 1 only. */
void cuv_fourier_inverse (CuvFourier *self, const CuvSpectrum *spectrum,
    int first, int end, CuvGrid *grid);

#endif
