/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cubes of any kind. */
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
  PCA_MIXTURE,  /* a few spectra in changing shares, and a little noise */
  PCA_EXTREMES, /* 0 and the largest */
  PCA_CONSTANT, /* each band one value */
  PCA_FAR,      /* noise, of floats far from 0, but for every third band */
  PCA_N_FILLS,
} PcaFill;

typedef struct {
  CuvCube cube;
  CuvPcaBands bands;
  void *memory;
  size_t size;
} PcaInput;

/* Rows are padded if their width is no multiple of 16, and memory ends with the
 * last sample. PCA_BGRX: bands in falling order within pixels that have one
 * more sample; PCA_SPARSE: planes that have a third of their samples. */
void pca_input_init (PcaInput *self, CuvCubeFormat format, PcaLayout layout,
    int width, int height, int n, PcaFill fill);
void pca_input_clear (PcaInput *self);

/* The same samples in another layout. */
void pca_input_copy (PcaInput *self, const PcaInput *from, PcaLayout layout);

double pca_input_get (const PcaInput *self, int x, int y, int band);
void pca_input_set (PcaInput *self, int x, int y, int band, double value);

/* Leaves out some bands and, with NaN or a value to ignore, some pixels. */
void pca_input_spoil (PcaInput *self);

/* Whether a pixel counts, by the definition. */
bool pca_input_counts (const PcaInput *self, int x, int y);

void pca_input_name (const PcaInput *self, PcaLayout layout, PcaFill fill);

/* -1 .. 1 */
double pca_random (void);

#endif
