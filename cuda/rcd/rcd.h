/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Region covariance search on the GPU, and a map of this folder. Sums are the
 * same integers as those of the C reference in elements/rcd/reference/. Scores
 * are computed in the same order as there, so that both find the same windows.
 *
 * elements/rcd/backend.c calls the functions below. cuv_rcd_cuda_submit()
 * enqueues the kernels of a search in the order below. The last one writes
 * matches to pinned memory, and cuv_rcd_cuda_collect() waits for that.
 *
 *   cells_kernel (cells.cu)             sums of features and of their products
 *                                         over the cells of the search area; a
 *                                         variant per feature set and pixel
 *                                         format, see load.cuh
 *   integrate_kernel (integrals.cu)     their integral images
 *   windows_kernel (windows.cu)         scores of all windows; a variant per
 *                                         feature set and metric
 *   conclude_kernel (windows.cu)        the best and second-best window
 *   fine_..._kernel (fine.cu)           refinement: each round compares windows
 *                                         around the match, through integral
 *                                         images over an uneven grid
 *   next_window_kernel, candidate_kernel, best_candidate_kernel
 *     (candidates.cu)                   with n_candidates > 1: refines several
 *                                         windows and keeps the best
 *
 *   rcd.cu              memory, the order of the kernels
 *   search.cuh          state and launchers of the kernels; device functions
 *   load.cuh            four pixels of a row, by format
 *   planes.cuh          features of four pixels, and their sums, by dp4a, dp2a
 *   filter.h, filter.cu correlation filters; filter.cuh lists their kernels
 *   crop.cu             crops for the filters; pixels in rcd-crop.h
 *   draw.cu             distance maps
 *   rcd-pixel.h         features of a pixel; also compiled by gcc
 *   rcd-distance.h      covariance, metrics, scores; also compiled by gcc
 *
 * All functions use the current CUDA context. Those that return int return 0,
 * or -1 and set cuv_cuda_error(). */
#ifndef CUV_RCD_CUDA_H
#define CUV_RCD_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "rcd/rcd-types.h"

CUV_BEGIN

typedef struct _CuvRcdCuda CuvRcdCuda;

/* Allocates the memory for searches with this configuration. Returns NULL on
 * failure; see cuv_cuda_error(). */
CuvRcdCuda *cuv_rcd_cuda_new (const CuvRcdConfig *config);
void cuv_rcd_cuda_free (CuvRcdCuda *self); /* NULL is allowed */

/* Enqueues the search of a frame of the configured size, in device memory.
 * Waits only after a failure; *search may be changed after the call. */
int cuv_rcd_cuda_submit (CuvRcdCuda *self, const CuvFrame *frame,
    const CuvRcdSearch *search, CuvCudaStream stream);

/* Waits for the last submit, and for a draw after it; call it once for each
 * submit. matches: one per target. */
int cuv_rcd_cuda_collect (CuvRcdCuda *self, CuvRcdMatch *matches);

/* Enqueues drawing the distance map of a target over a frame of the same size
 * in device memory. The map shows the windows of the size that matched best,
 * see cuv_rcd_draw_map(). If no window matched, nothing is drawn. Call this
 * between submit and collect, with the same stream. */
int cuv_rcd_cuda_draw (CuvRcdCuda *self, const CuvFrame *frame, int target,
    double half, CuvCudaStream stream);

/* Computes the sums (CUV_RCD_SUMS) over a box inside the frame, and waits for
 * them; the features x and y count from the box. */
int cuv_rcd_cuda_measure (CuvRcdCuda *self, const CuvFrame *frame,
    const CuvRcdBox *box, CuvCudaStream stream, int64_t *sums);

/* For tests, after collect: copies the integrals of the last submit, laid out
 * as by cuv_rcd_integrate(), and the scores of all windows. */
int cuv_rcd_cuda_get_integrals (CuvRcdCuda *self, int64_t *integrals);
int cuv_rcd_cuda_get_scores (CuvRcdCuda *self, double *scores);

CUV_END

#endif
