/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tensor factorisation on the GPU, in steps that can be cancelled, and a map
 * of this folder. After up to ten iterations of MU factors are within 1e-5 of
 * those of the C reference in elements/ntf/reference/; docs/spectralntf.md has
 * the other tolerances. Sums are added in a fixed order, so that every run on
 * the GPU returns the same bits.
 *
 * elements/ntf/backend.c calls the functions below. cuv_ntf_cuda_load()
 * converts a cube to the tensor G; cuv_ntf_cuda_step() enqueues iterations up
 * to a test of the error and waits. Work between two waits is limited, so that
 * a run can be cancelled. An iteration, cuv_ntf_iterate() in ntf-run.cu:
 *
 *   factorisation, schedule   kernels (file), in this order
 *   tensor, GS                map_kernel (ntf-u-and-v.cu): u, numerators of v;
 *                               twice if a block cannot hold a row of G;
 *                             update_kernel (ntf-update.cu): v;
 *                             sum_w_kernel (ntf-w.cu): w
 *   tensor, Jacobi            map_kernel: numerators of u and v;
 *                             sum_w_kernel: w; update_kernel: u, v;
 *                             grams_kernel (ntf-update.cu): Gram matrices
 *   matrix                    pixels_kernel (ntf-matrix.cu): v;
 *                             bands_kernel (ntf-matrix.cu): numerators of w;
 *                             update_kernel: w; grams_kernel
 *   every tenth iteration     test_kernel (ntf-residual.cu)
 *
 * With GS a block updates u while it holds the row of G, so that one pass over
 * G serves u and v. With Jacobi all modes use the old factors. A matrix has a
 * row of v for each pixel, which is updated where the pixel is read. All
 * kernels are templates of the rank, rounded up to 8, 16, 32 or 64.
 *
 *   ntf.cu              memory; the tensor and the factors in and out
 *   ntf-run.cu          a run: the order of the kernels, and waiting
 *   ntf-object.cuh      CuvNtfCuda, for these two
 *   ntf-state.cuh       arguments and launchers of the kernels
 *   ntf-cube.cu         scans a cube, converts it to the tensor
 *   ntf-products.cuh    inner loops of map_kernel and sum_w_kernel
 *   ntf-update.cuh      numerators -> new values of a row; Gram matrices
 *   ntf-sum-to-one.cuh  the same for a row that sums to 1
 *   ntf-factors.h       initial factors, test, normalisation; for gcc, too
 *
 * All functions use the current CUDA context and wait for their work. */
#ifndef CUV_NTF_CUDA_H
#define CUV_NTF_CUDA_H

#include "cuv-cuda.h"
#include "ntf/ntf-factors.h"

CUV_BEGIN

typedef struct _CuvNtfCuda CuvNtfCuda;

/* Allocates memory for a tensor of this size, depth at most CUV_CUBE_MAX_BANDS,
 * rank at most CUV_NTF_MAX_RANK. Returns NULL on failure, see cuv_cuda_error().
 * An atomic store of a nonzero value to *cancel, by any thread, cancels a
 * running call within about 20 ms; the factors are then invalid. */
CuvNtfCuda *cuv_ntf_cuda_new (int height, int width, int depth, int rank,
    CuvNtfFactorisation factorisation, const int32_t *cancel,
    CuvCudaStream stream);
void cuv_ntf_cuda_free (CuvNtfCuda *self); /* NULL is allowed */

/* Scans a cube in device memory, of the tensor's height and width, except
 * samples equal to *ignore; ignore may be NULL. Returns 0 or -1. */
int cuv_ntf_cuda_scan (CuvNtfCuda *self, const CuvCube *cube,
    const double *ignore, CuvNtfScan *scan);

/* Loads the bands of a cube as depths z, z + 1, ..., divided by scale, a power
 * of two, the same for a whole tensor. Samples that are negative, not finite or
 * *ignore become 0. Returns 0 or -1. */
int cuv_ntf_cuda_load (CuvNtfCuda *self, const CuvCube *cube,
    const double *ignore, int z, double scale);

/* Starts a run on the loaded tensor with random factors or, with init =
 * PREVIOUS, with the current ones or those set. With NNDSVD and NFINDR the
 * caller computes and sets them, in the scale of the tensor; the run is as with
 * PREVIOUS, except that terms are sorted at the end. HALS and MATRIX imply
 * schedule GS. Returns 0 or -1.
 */
int cuv_ntf_cuda_start (CuvNtfCuda *self, const CuvNtfParams *params);

/* Iterates up to the next test, or over several tests, evaluated by the GPU.
 * *status becomes CUV_NTF_RUNNING, DONE or CANCELLED. Returns 0 or -1. */
int cuv_ntf_cuda_step (CuvNtfCuda *self, CuvNtfStatus *status);

const CuvNtfResult *cuv_ntf_cuda_result (const CuvNtfCuda *self);

/* Returns the factors in host memory, valid after DONE, in the scale of the
 * cube's samples; factors that the caller sets have that scale, too. */
const CuvNtfFactors *cuv_ntf_cuda_factors (const CuvNtfCuda *self);
void cuv_ntf_cuda_set_factors (CuvNtfCuda *self, const CuvNtfFactors *factors);

/* Copies the loaded tensor, for NNDSVD on the host: values[(y * depth + z) *
 * width + x], divided by the scale. Returns 0 or -1. */
int cuv_ntf_cuda_get_tensor (CuvNtfCuda *self, float *values);

/* After DONE: copies the residual's root mean square over the depth, height x
 * width, to host memory. Returns 0 or -1. */
int cuv_ntf_cuda_residual (CuvNtfCuda *self, float *map);

/* For tests: sets the number of multiplications enqueued between two checks
 * of *cancel. 1 splits the work as for huge tensors. */
void cuv_ntf_cuda_set_max_work (CuvNtfCuda *self, double max_work);

CUV_END

#endif
