/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Factorisations of tensors of one size in one place: the CPU's or the GPU's
 * half behind the same calls. */
#ifndef CUV_NTF_MAKER_H
#define CUV_NTF_MAKER_H

#include "cpu/ntf-cpu.h"

typedef struct {
  int32_t height, width, depth, rank;
  bool on_device;
  void *stream; /* of the device */
} CuvNtfShape;

typedef struct {
  CuvNtfShape shape;
  const int32_t *cancel;
  const char *problem;
  double scale;   /* of the tensor */
  CuvNtfCpu *cpu; /* on the device: what finds a start there, if any */
  struct _CuvNtfCuda *cuda;
  CuvNtfFactors factors;        /* the device's */
  float *packed[CUV_NTF_MODES]; /* the same without padding */
  float *values;                /* a tensor that came from the device */
  float *map;                   /* of residuals */
} CuvNtfMaker;

/* NULL, and *problem says what went wrong. Of cancel see cuv_ntf_cpu_new(). */
CuvNtfMaker *cuv_ntf_maker_new (
    const CuvNtfShape *shape, const int32_t *cancel, const char **problem);

/* NULL is allowed. Of one on the device the context that it was made in must be
 * current, here and below. */
void cuv_ntf_maker_free (CuvNtfMaker *self);

bool cuv_ntf_maker_is_for (const CuvNtfMaker *self, const CuvNtfShape *shape);

/* As the functions of cuv_ntf_cpu_new(), of cubes in host or in device memory.
 * Those that return FALSE were cancelled or have failed: then problem is not
 * NULL. */
bool cuv_ntf_maker_scan (CuvNtfMaker *self, const CuvCube *cube,
    const double *ignore, int n_threads, CuvNtfScan *scan);
bool cuv_ntf_maker_load (CuvNtfMaker *self, const CuvCube *cube,
    const double *ignore, int z, double scale, int n_threads);
bool cuv_ntf_maker_start (
    CuvNtfMaker *self, const CuvNtfParams *params, int n_threads);
/* RUNNING or DONE. */
bool cuv_ntf_maker_step (
    CuvNtfMaker *self, int n_threads, CuvNtfStatus *status);
const CuvNtfResult *cuv_ntf_maker_result (const CuvNtfMaker *self);
const CuvNtfFactors *cuv_ntf_maker_factors (const CuvNtfMaker *self);
/* The map, in host memory; NULL counts as FALSE. */
const float *cuv_ntf_maker_residual (CuvNtfMaker *self, int n_threads);

#endif
