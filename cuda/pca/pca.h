/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components of frame after frame on the GPU. All functions act on
 * the current CUDA context. */
#ifndef CUV_PCA_CUDA_H
#define CUV_PCA_CUDA_H

#include "cuv-cuda.h"
#include "pca/pca-types.h"

CUV_BEGIN

typedef struct _CuvPcaCuda CuvPcaCuda;

/* Allocates all that cubes of n bands that count need, of any size; NULL on
 * failure, see cuv_cuda_error(). */
CuvPcaCuda *cuv_pca_cuda_new (int n);
void cuv_pca_cuda_free (CuvPcaCuda *self); /* NULL is allowed */

/* Whether the device has enough shared memory per block for n bands. */
int cuv_pca_cuda_fits (int n, CuvCubeFormat format);

/* Enqueues learning from a cube in device memory, and painting it: width x
 * height pixels of R, G, B, 255 in device memory, rows of stride bytes, both
 * multiples of 4. As many bands count as it was made for. Pixels
 * of bytes that are four apart are read as a whole, the last one, too. Does not
 * wait. The cube is read at once: a kernel on this stream that writes it must
 * not let those of this start early. Returns 0 or -1. */
int cuv_pca_cuda_submit (CuvPcaCuda *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params, uint8_t *picture,
    ptrdiff_t stride, CuvCudaStream stream);

/* Waits for the stream of the last submit; once for each. What it taught: times
 * are 0; basis may be NULL, and has room for n bands. Returns 0 or -1. */
int cuv_pca_cuda_collect (
    CuvPcaCuda *self, CuvPcaResult *result, CuvPcaBasis *basis);

/* Between frames, after collect. Has the next frame begin with a basis, or with
 * nothing. Both wait. Return 0 or -1. */
int cuv_pca_cuda_set_basis (CuvPcaCuda *self, const CuvPcaBasis *basis);
int cuv_pca_cuda_forget (CuvPcaCuda *self);

/* Copies the sums of the last submit that learned, as cuv_pca_sums() has them,
 * after collect; for tests. Returns 0 or -1. */
int cuv_pca_cuda_get_sums (CuvPcaCuda *self, CuvPcaSum *sums);

CUV_END

#endif
