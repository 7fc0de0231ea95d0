/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Region covariance on the GPU. All functions act on the current CUDA context.
 */
#ifndef CUV_RCD_CUDA_H
#define CUV_RCD_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "rcd/rcd-types.h"

CUV_BEGIN

typedef struct _CuvRcdCuda CuvRcdCuda;

/* Allocates all that frames of the shape's size need; NULL on failure, see
 * cuv_cuda_error(). */
CuvRcdCuda *cuv_rcd_cuda_new (const CuvRcdShape *shape);
void cuv_rcd_cuda_free (CuvRcdCuda *self); /* NULL is allowed */

/* Enqueues the search of one frame, of the shape's size, in device memory. Does
 * not wait; the search may change afterwards. Returns 0 or -1. */
int cuv_rcd_cuda_submit (CuvRcdCuda *self, const CuvFrame *frame,
    const CuvRcdSearch *search, CuvCudaStream stream);

/* Waits for the last submit; once for each. A match for each target. Returns 0
 * or -1. */
int cuv_rcd_cuda_collect (CuvRcdCuda *self, CuvRcdMatch *matches);

/* Enqueues drawing the distance map of a target's best size over a frame in
 * device memory, of the same size; nothing if it was not found. Between submit
 * and collect, which waits for it, too; on the same stream. Returns 0 or -1. */
int cuv_rcd_cuda_draw (CuvRcdCuda *self, const CuvFrame *frame, int target,
    double half, CuvCudaStream stream);

/* The sums over a box inside the frame; x and y count from the box. Waits.
 * Returns 0 or -1. */
int cuv_rcd_cuda_measure (CuvRcdCuda *self, const CuvFrame *frame,
    const CuvRcdBox *box, CuvCudaStream stream, int64_t *sums);

/* Copy what the last submit found, after collect, for tests: integrals of the
 * area, (n_rows + 1) x (n_columns + 1) x sums; scores of all windows. Return 0
 * or -1. */
int cuv_rcd_cuda_get_integrals (CuvRcdCuda *self, int64_t *integrals);
int cuv_rcd_cuda_get_scores (CuvRcdCuda *self, double *scores);

CUV_END

#endif
