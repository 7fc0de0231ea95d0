/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tensor factorisation on the GPU, which returns the CPU's result up to
 * rounding, in steps that can be cancelled. All functions act on the current
 * CUDA context and are synchronous. */
#ifndef CUV_NTF_CUDA_H
#define CUV_NTF_CUDA_H

#include "cuv-cuda.h"
#include "ntf/ntf-factors.h"

CUV_BEGIN

typedef struct _CuvNtfCuda CuvNtfCuda;

/* Allocates the memory for a tensor of this size, depth at most
 * CUV_CUBE_MAX_BANDS, rank at most CUV_NTF_MAX_RANK; NULL on failure, see
 * cuv_cuda_error(). Any thread cancels a running call by an atomic store of a
 * value other than 0 to *cancel: it returns soon, and the factors are invalid.
 */
CuvNtfCuda *cuv_ntf_cuda_new (int height, int width, int depth, int rank,
    CuvNtfFactorisation factorisation, const int32_t *cancel,
    CuvCudaStream stream);
void cuv_ntf_cuda_free (CuvNtfCuda *self); /* NULL is allowed */

/* Scans a cube in device memory, of the tensor's height and width, without
 * samples equal to *ignore; ignore may be NULL. Returns 0 or -1. */
int cuv_ntf_cuda_scan (CuvNtfCuda *self, const CuvCube *cube,
    const double *ignore, CuvNtfScan *scan);

/* Loads the bands of a cube as depths z, z + 1, ..., divided by scale, a power
 * of two, the same for a whole tensor. Samples that are negative, not finite or
 * *ignore become 0. Returns 0 or -1. */
int cuv_ntf_cuda_load (CuvNtfCuda *self, const CuvCube *cube,
    const double *ignore, int z, double scale);

/* Initialises a run on the loaded tensor with random factors or, with init =
 * PREVIOUS, with the current ones or those set. For NNDSVD and NFINDR the
 * caller computes and sets them, in the scale of the tensor; the run is as with
 * PREVIOUS, but the terms are sorted at the end. HALS and MATRIX imply schedule
 * GS. Returns 0 or -1.
 */
int cuv_ntf_cuda_start (CuvNtfCuda *self, const CuvNtfParams *params);

/* Iterates up to the next test, or over several tests, whose outcome the GPU
 * decides. status: CUV_NTF_RUNNING, DONE or CANCELLED. Returns 0 or -1. */
int cuv_ntf_cuda_step (CuvNtfCuda *self, CuvNtfStatus *status);

const CuvNtfResult *cuv_ntf_cuda_result (const CuvNtfCuda *self);

/* The factors in host memory, valid after DONE. In the scale of the cube's
 * samples, also when set. */
const CuvNtfFactors *cuv_ntf_cuda_factors (const CuvNtfCuda *self);
void cuv_ntf_cuda_set_factors (CuvNtfCuda *self, const CuvNtfFactors *factors);

/* The loaded tensor, for NNDSVD on the host: values[(y * depth + z) * width +
 * x], divided by the scale. Returns 0 or -1. */
int cuv_ntf_cuda_get_tensor (CuvNtfCuda *self, float *values);

/* After DONE: the residual's root mean square over the depth, height x width,
 * in host memory. Returns 0 or -1. */
int cuv_ntf_cuda_residual (CuvNtfCuda *self, float *map);

/* For tests: the number of multiplications enqueued between two checks of
 * *cancel; 1 splits all work as that of huge tensors. */
void cuv_ntf_cuda_set_max_work (CuvNtfCuda *self, double max_work);

CUV_END

#endif
