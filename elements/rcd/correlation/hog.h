/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Histograms of oriented gradients, normalised as by Felzenszwalb, Girshick,
 * McAllester, Ramanan, PAMI 2010: 18 signed and 9 unsigned orientations, 4 sums
 * over the normalisations; and as the last channel the mean grey value. */
#ifndef CUV_RCD_HOG_H
#define CUV_RCD_HOG_H

#include <stdint.h>
#include "correlation/fourier.h"

enum {
  CUV_HOG_CELL = 4, /* pixels */
  CUV_HOG_SIDE = CUV_GRID * CUV_HOG_CELL,
  CUV_HOG_SIGNED = 18,
  CUV_HOG_UNSIGNED = 9,
  CUV_HOG_SUMS = 4,
  CUV_HOG_LANES = 20 /* signed orientations, padded with 0 */
};

typedef struct {
  float cell[CUV_GRID + 2][CUV_HOG_LANES];
} CuvHogRow;

typedef struct {
  CuvHogRow row;
  float histogram[CUV_GRID_CELLS][CUV_HOG_LANES];
  float energy[CUV_GRID_CELLS];
} CuvHog;

/* picture: CUV_HOG_SIDE pixels across and down. */
void cuv_hog_compute (CuvHog *self, const uint8_t *picture, CuvGrid *grid);

#endif
