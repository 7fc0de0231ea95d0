/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components of a sequence of cubes on the GPU, and a map of this
 * folder.
 *
 * Compared with the CPU, as docs/spectralpca.md states: sums of integers are
 * the same bits; sums of floats, which are added in another order, differ by up
 * to 1e-12 of the product of both bands' norms. Components solve the CPU's
 * eigenvalue problem with residuals of up to 1e-11 of the sum of all
 * eigenvalues, 1e-9 for floats. Of the n values of a picture up to 2 + n /
 * 10000 differ, by one grey level.
 *
 * elements/pca/backend.c calls the functions below. cuv_pca_cuda_submit()
 * enqueues, with timing exact: a pass that sums, learn_kernel, which turns sums
 * into a basis and gains, and a pass that paints; with timing lagged: one pass
 * that does both with the previous basis, then learn_kernel. Percentiles need
 * another pass, which fills histograms, and limits_kernel.
 * cuv_pca_cuda_collect() waits for the report of learn_kernel.
 *
 *   pca.cu                the passes and kernels of a frame
 *   pca-state.cuh         state between frames; arguments and launchers of all
 *                         kernels
 *   pca-pass.cu           plans a pass: cuv_pca_pass_plan() chooses its kernel
 *   pca-learn.cu          sums -> basis, gains, report: one block
 *   pca-pivots.cu         pivots of float bands, before the sums: one block
 *
 * Kernels of a pass, the first that fits:
 *
 *   cube                          kernel (file), why
 *   8 bits, up to 3 bands in      video_kernel (pca-video.cu): four pixels per
 *   pixels of 4 bytes, widths       thread, sums in registers
 *   and rows aligned, no ignore
 *   value, no histogram
 *   8 or 16 bits, up to 31        bands_31_kernel (pca-31-bands.cu): each warp
 *   bands, aligned to 16 bytes,     holds all sums in registers; integer
 *   no histogram; compute           products in tensor cores; no barriers
 *   capability 8.0 or later
 *   all others: floats, more      tile_kernel (pca-tiles.cu): tiles in shared
 *   bands, histograms               memory; each warp holds a part of 32 x 32
 *                                   bands of the sums
 *
 *   pca-31-bands-load.cuh     samples -> registers
 *   pca-31-bands-picture.cuh  the projection, with gains in digits
 *   pca-byte-matrix.cuh       layouts of samples' bytes as matrix operands
 *   pca-tile.cuh              a tile: its copy, pixels to exclude
 *   pca-tile-sums.cuh         its sums of products
 *   pca-tile-picture.cuh      its projection, painted or counted
 *   pca-fixed-point.cuh       fixed-point gains of video and 31-bands
 *   pca-mma.cuh               small matrix products by a warp
 *
 * Variants of learn_kernel: for up to 8 bands, one warp without barriers; for
 * more, a block with all of its memory in shared memory, or only the scratch,
 * or nothing, whichever fits.
 *
 *   eigen/moments.h           sums -> mean and covariance, averaged over frames
 *   eigen/jacobi.h            eigenvectors
 *   eigen/order-and-signs.h   their order and signs
 *   eigen/basis.h             all of it, and the gains of a picture; the CPU
 *                             uses these files, too, compiled by gcc
 *   eigen/thread-group.h      the threads that share this work: a block, or one
 *   eigen/reductions.cuh      their barriers and reductions
 *   eigen/matrix-product.cuh  their matrix products
 *
 * All functions use the current CUDA context. */
#ifndef CUV_PCA_CUDA_H
#define CUV_PCA_CUDA_H

#include "cuv-cuda.h"
#include "pca/pca-types.h"

CUV_BEGIN

typedef struct _CuvPcaCuda CuvPcaCuda;

/* Allocates memory for cubes of any size with n selected bands, 1 ..
 * CUV_CUBE_MAX_BANDS; NULL on failure, see cuv_cuda_error(). */
CuvPcaCuda *cuv_pca_cuda_new (int n);
void cuv_pca_cuda_free (CuvPcaCuda *self); /* NULL is allowed */

/* Whether cubes of n bands can be processed: the smallest tile fits the shared
 * memory of the device. */
int cuv_pca_cuda_fits (int n, CuvCubeFormat format);

/* Enqueues the update of the basis by a cube in device memory, and its picture:
 * width x height pixels of R, G, B, 255, in device memory, in rows of stride
 * bytes; the address and stride are multiples of 4. bands->n is the n of
 * cuv_pca_cuda_new(). Waits only after a failure. A kernel on this stream that
 * writes the cube must not trigger programmatic dependent launch before it has
 * written it. Returns 0 or -1. */
int cuv_pca_cuda_submit (CuvPcaCuda *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params, uint8_t *picture,
    ptrdiff_t stride, CuvCudaStream stream);

/* Waits for the last submit; call it once after each. Sets *result, with all
 * times 0, and *basis (memory for n bands; may be NULL). Returns 0 or -1. */
int cuv_pca_cuda_collect (
    CuvPcaCuda *self, CuvPcaResult *result, CuvPcaBasis *basis);

/* Replace the basis, or discard all state; call them after collect. Both wait
 * for the GPU. Return 0 or -1. */
int cuv_pca_cuda_set_basis (CuvPcaCuda *self, const CuvPcaBasis *basis);
int cuv_pca_cuda_reset (CuvPcaCuda *self);

/* For tests, after collect: copies the sums of the last submit that updated the
 * basis, laid out as by cuv_pca_sums(). Returns 0 or -1. */
int cuv_pca_cuda_get_sums (CuvPcaCuda *self, CuvPcaSum *sums);

CUV_END

#endif
