/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs of several frames, and their results by the C reference. */
#ifndef PCA_RUNS_H
#define PCA_RUNS_H

#include "cpu/pca-cpu.h"
#include "pca-inputs.h"

enum { PCA_RUN_FRAMES = 4 };

typedef struct {
  PcaInput frames[PCA_RUN_FRAMES];
  CuvPcaParams params;
  int n, width, height, stride;
  uint8_t *pictures[PCA_RUN_FRAMES];
} PcaRun;

/* Makes frames of a random size, and random parameters. */
void pca_run_init (PcaRun *self, CuvCubeFormat format, PcaLayout layout, int n);
void pca_run_clear (PcaRun *self);

/* State of the C reference. If `given` is not NULL, it replaces the basis that
 * would be learnt, and `cut` says whether the frame was a cut. */
typedef struct {
  CuvPcaTrack track;
  CuvPcaSum *sums;
  CuvPcaTile tile;
  int64_t bins[CUV_PCA_SHOWN * CUV_PCA_BINS];
  int32_t values[CUV_PCA_SHOWN * CUV_PCA_TILE];
  const CuvPcaBasis *given;
  bool cut;
} PcaReference;

void pca_reference_init (PcaReference *self, int n);
void pca_reference_clear (PcaReference *self);
void pca_reference_frame (PcaReference *self, const PcaInput *input,
    const CuvPcaParams *params, uint8_t *picture, int stride);

/* Initialises the reference, and makes the pictures of all frames. */
void pca_reference_run (PcaRun *run, PcaReference *self);

/* Checks all frames on the GPU. Defined in pca-cuda.c. */
void pca_check_run_cuda (PcaRun *run);

#endif
