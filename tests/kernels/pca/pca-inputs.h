/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cubes of all formats, layouts and contents. */
#ifndef PCA_INPUTS_H
#define PCA_INPUTS_H

#include "cuvcheck.h"
#include "pca.h"

typedef enum {
  PCA_BIP,
  PCA_BIL,
  PCA_BSQ,
  PCA_BGRX,
  PCA_SPARSE,
  PCA_N_LAYOUTS
} PcaLayout;

typedef enum {
  PCA_NOISE,    /* independent samples */
  PCA_MIXTURE,  /* a few spectra in changing proportions, and a little noise */
  PCA_EXTREMES, /* 0 and the largest value */
  PCA_CONSTANT, /* one value per band */
  PCA_FAR,      /* noise; floats are far from 0 except in every third band */
  PCA_N_FILLS,
} PcaFill;

typedef struct {
  CuvCube cube;
  CuvPcaBands bands;
  void *memory;
  size_t size;
} PcaInput;

/* Makes a cube. Rows are padded unless their width is a multiple of 16, and
 * memory ends with the last sample. PCA_BGRX has bands in descending order, in
 * pixels with one more sample; PCA_SPARSE has planes in which every third
 * sample is used. */
void pca_input_init (PcaInput *self, CuvCubeFormat format, PcaLayout layout,
    int width, int height, int n, PcaFill fill);
void pca_input_clear (PcaInput *self);

/* Copies an input to another layout. */
void pca_input_copy (PcaInput *self, const PcaInput *from, PcaLayout layout);

double pca_input_get (const PcaInput *self, int x, int y, int band);
void pca_input_set (PcaInput *self, int x, int y, int band, double value);

/* Excludes some bands and, by NaN or an ignored value, some pixels. */
void pca_input_exclude_some (PcaInput *self);

/* Returns whether a pixel counts, by the definition. */
bool pca_input_is_counted (const PcaInput *self, int x, int y);

void pca_input_name (const PcaInput *self, PcaLayout layout, PcaFill fill);

/* Returns a random number between -1 and 1. */
double pca_random (void);

#endif
