/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Factorisation of tensors of one size, on the CPU or on the GPU, in jobs that
 * can be cancelled. */
#ifndef CUV_NTF_BACKEND_H
#define CUV_NTF_BACKEND_H

#include "cpu/ntf-cpu.h"
#include "cuvbackend.h"

typedef struct {
  int32_t height, width, depth, rank;
  CuvNtfFactorisation factorisation;
  const int32_t *cancel; /* as for cuv_ntf_cpu_new() */
} CuvNtfConfig;

/* The functions of cpu/ntf-cpu.h, called in this order; STEP is repeated until
 * it returns DONE. */
typedef enum {
  CUV_NTF_SCAN,     /* cube, ignore -> *scan */
  CUV_NTF_LOAD,     /* cube, ignore, z, scale; the scale is that of a run */
  CUV_NTF_START,    /* params */
  CUV_NTF_STEP,     /* -> status, result; factors when DONE */
  CUV_NTF_RESIDUAL, /* -> map */
} CuvNtfTask;

typedef struct {
  CuvNtfTask task;
  const CuvCube *cube;  /* in host or device memory, depending on the
                         * processor */
  const double *ignore; /* value of unmeasured samples; NULL: none */
  int z;
  double scale;
  const CuvNtfParams *params;

  CuvNtfStatus status; /* set by every task; RUNNING unless STEP is done */
  CuvNtfScan *scan;
  /* in host memory, owned by the state */
  const CuvNtfResult *result;
  const CuvNtfFactors *factors;
  const float *map; /* height x width */
} CuvNtfJob;

/* The config is a CuvNtfConfig, jobs are CuvNtfJobs. open() needs no frame; on
 * the device jobs use the stream that it was opened with. */
extern const CuvBackendClasses cuv_ntf_backends;

#endif
