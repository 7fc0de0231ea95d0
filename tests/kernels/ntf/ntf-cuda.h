/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A factorisation on the GPU with its own stream. */
#ifndef NTF_CUDA_H
#define NTF_CUDA_H

#include "ntf-inputs.h"
#include "ntf/ntf.h"

typedef struct {
  CuvNtfCuda *cuda; /* NULL and a failed check if out of memory */
  int32_t cancel;
  void *stream;
} NtfCuda;

void ntf_cuda_init (NtfCuda *self, int height, int width, int depth, int rank,
    CuvNtfFactorisation factorisation);
void ntf_cuda_clear (NtfCuda *self);

/* Fails a check and returns false on errors. */
bool ntf_cuda_load (NtfCuda *self, const CuvNtfTensor *tensor);
bool ntf_cuda_load_cube (NtfCuda *self, const CuvCube *cube, size_t size,
    const double *ignore, int z, double scale);

/* Runs to the end. Starts from factors unless init is RANDOM; stores the found
 * ones in factors. */
CuvNtfResult ntf_cuda_run (
    NtfCuda *self, const CuvNtfParams *params, CuvNtfFactors *factors);

#endif
