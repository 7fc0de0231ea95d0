/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A factorisation on the GPU: what the CPU's finds, but for rounding, in steps
 * that can be stopped. All functions act on the current CUDA context, and wait
 * for what they started. */
#ifndef CUV_NTF_CUDA_H
#define CUV_NTF_CUDA_H

#include "cuv-cuda.h"
#include "ntf/ntf-types.h"

CUV_BEGIN

typedef struct _CuvNtfCuda CuvNtfCuda;

/* Allocates all that a tensor of this size needs, depth at most
 * CUV_CUBE_MAX_BANDS and rank CUV_NTF_MAX_RANK; NULL on failure, see
 * cuv_cuda_error(). Whoever makes *cancel not 0, atomically from any thread,
 * has what is running return soon; the factors are then of no use. */
CuvNtfCuda *cuv_ntf_cuda_new (int height, int width, int depth, int rank,
    const int32_t *cancel, CuvCudaStream stream);
void cuv_ntf_cuda_free (CuvNtfCuda *self); /* NULL is allowed */

/* What a cube in device memory, of the tensor's height and width, has in it,
 * apart from samples that are *ignore, which may be NULL. Returns 0 or -1. */
int cuv_ntf_cuda_scan (CuvNtfCuda *self, const CuvCube *cube,
    const double *ignore, CuvNtfScan *scan);

/* Loads its bands as those from z on, divided by scale, a power of two, the
 * same for all of a tensor; what is negative, not finite or *ignore becomes 0.
 * Returns 0 or -1. */
int cuv_ntf_cuda_load (CuvNtfCuda *self, const CuvCube *cube,
    const double *ignore, int z, double scale);

/* Begins to factorise what was loaded, from random factors or, with init =
 * PREVIOUS, those that are there or were set; NNDSVD is the caller's to find
 * and set, and counts as PREVIOUS, but HALS then still begins with one of MU
 * and the terms are put in order. HALS with JACOBI counts as GS. Returns 0 or
 * -1. */
int cuv_ntf_cuda_start (CuvNtfCuda *self, const CuvNtfParams *params);

/* Goes on to the next test, whose decision is made on the GPU, or by some of
 * them at once. status: CUV_NTF_RUNNING, DONE or CANCELLED. Returns 0 or -1. */
int cuv_ntf_cuda_step (CuvNtfCuda *self, CuvNtfStatus *status);

/* Of the run so far. */
const CuvNtfResult *cuv_ntf_cuda_result (const CuvNtfCuda *self);

/* Factors, mode after mode: rows of rank values; in G's scale once a run is
 * DONE. Set ones are in G's scale. Return 0 or -1. */
int cuv_ntf_cuda_get_factors (CuvNtfCuda *self, float *u, float *v, float *w);
int cuv_ntf_cuda_set_factors (
    CuvNtfCuda *self, const float *u, const float *v, const float *w);

/* The tensor as it was loaded, for a start from its singular vectors: values
 * [(y * depth + z) * width + x], divided by the scale. Returns 0 or -1. */
int cuv_ntf_cuda_get_tensor (CuvNtfCuda *self, float *values);

/* After it is DONE: of each pixel the root mean square, over the depth, of what
 * the terms leave of G; height x width, in host memory. Returns 0 or -1. */
int cuv_ntf_cuda_residual (CuvNtfCuda *self, float *map);

/* How many multiplications are enqueued before the host looks whether it has
 * been cancelled, for tests: 1 divides all work as that of huge tensors. */
void cuv_ntf_cuda_set_max_work (CuvNtfCuda *self, double max_work);

CUV_END

#endif
