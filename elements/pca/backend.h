/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components of a sequence of cubes, on the CPU or on the GPU. */
#ifndef CUV_PCA_BACKEND_H
#define CUV_PCA_BACKEND_H

#include "cpu/pca-cpu.h"
#include "cuvbackend.h"

/* One cube, in host memory, or in device memory if the processor is the device.
 */
typedef struct {
  const CuvCube *cube;
  const CuvPcaBands *bands; /* as many as the backend was opened for */
  const CuvPcaParams *params;
  bool reset;               /* discards what was learned before */
  const CuvPcaBasis *start; /* NULL, or replaces what was learned before */
  uint8_t *picture;         /* as for cuv_pca_cpu_run() */
  ptrdiff_t stride;
  const CuvPcaScores *scores; /* instead of a picture, CPU only; or NULL */
  CuvPcaResult *result;
  CuvPcaBasis *basis; /* receives the new basis; may be start */
} CuvPcaJob;

/* The config is an int, the number of bands that are selected; jobs are
 * CuvPcaJobs. open() needs no frame. */
extern const CuvBackendClasses cuv_pca_backends;

/* Whether the device, whose context is current, can process n bands. */
bool cuv_pca_fits_device (int n, CuvCubeFormat format);

#endif
