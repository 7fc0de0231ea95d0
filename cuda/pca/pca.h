/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components of a sequence of cubes on the GPU. All functions act on
 * the current CUDA context. */
#ifndef CUV_PCA_CUDA_H
#define CUV_PCA_CUDA_H

#include "cuv-cuda.h"
#include "pca/pca-types.h"

CUV_BEGIN

typedef struct _CuvPcaCuda CuvPcaCuda;

/* Allocates the memory for cubes of n selected bands and any size; NULL on
 * failure, see cuv_cuda_error(). */
CuvPcaCuda *cuv_pca_cuda_new (int n);
void cuv_pca_cuda_free (CuvPcaCuda *self); /* NULL is allowed */

/* Whether the smallest tiles of n bands fit into the device's shared memory. */
int cuv_pca_cuda_fits (int n, CuvCubeFormat format);

/* Enqueues the update of the basis by a cube in device memory and the drawing
 * of its picture: width x height pixels of R, G, B, 255, in device memory, in
 * rows of stride bytes; picture and stride are multiples of 4. bands->n is the
 * n of cuv_pca_cuda_new(). 8-bit pixels that are four bytes apart are read as
 * 32-bit words, including the last one. Waits only after a failure. A kernel on
 * this stream that writes the cube must not trigger programmatic dependent
 * launch before it has done so. Returns 0 or -1. */
int cuv_pca_cuda_submit (CuvPcaCuda *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params, uint8_t *picture,
    ptrdiff_t stride, CuvCudaStream stream);

/* Waits for the last submit, to be called once after each, and returns its
 * result, with all times 0, and the basis (of n bands; may be NULL). Returns 0
 * or -1. */
int cuv_pca_cuda_collect (
    CuvPcaCuda *self, CuvPcaResult *result, CuvPcaBasis *basis);

/* Between frames, after collect: replaces the basis, or discards all state.
 * Both wait for the GPU. Return 0 or -1. */
int cuv_pca_cuda_set_basis (CuvPcaCuda *self, const CuvPcaBasis *basis);
int cuv_pca_cuda_reset (CuvPcaCuda *self);

/* For tests, after collect: the sums of the last submit that updated the basis,
 * laid out as by cuv_pca_sums(). Returns 0 or -1. */
int cuv_pca_cuda_get_sums (CuvPcaCuda *self, CuvPcaSum *sums);

CUV_END

#endif
