/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Region covariance search on the GPU. All functions act on the current CUDA
 * context. Those that return int return 0, or -1 and set cuv_cuda_error(). */
#ifndef CUV_RCD_CUDA_H
#define CUV_RCD_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "rcd/rcd-types.h"

CUV_BEGIN

typedef struct _CuvRcdCuda CuvRcdCuda;

/* Allocates all memory that searches with this configuration need. NULL on
 * failure, see cuv_cuda_error(). */
CuvRcdCuda *cuv_rcd_cuda_new (const CuvRcdConfig *config);
void cuv_rcd_cuda_free (CuvRcdCuda *self); /* NULL is allowed */

/* Enqueues the search of one frame of the configured size in device memory.
 * Waits only after a failure; search may be changed after the call. */
int cuv_rcd_cuda_submit (CuvRcdCuda *self, const CuvFrame *frame,
    const CuvRcdSearch *search, CuvCudaStream stream);

/* Waits for the last submit, and for a draw after it; to be called once for
 * each submit. One match per target. */
int cuv_rcd_cuda_collect (CuvRcdCuda *self, CuvRcdMatch *matches);

/* Enqueues drawing the distance map of a target over a frame of the same size
 * in device memory: the windows of the size that matched best, see
 * cuv_rcd_draw_map(); nothing if no window matched. To be called between submit
 * and collect, on the same stream. */
int cuv_rcd_cuda_draw (CuvRcdCuda *self, const CuvFrame *frame, int target,
    double half, CuvCudaStream stream);

/* Computes the sums (CUV_RCD_SUMS) over a box inside the frame; the features x
 * and y count from the box. Waits. */
int cuv_rcd_cuda_measure (CuvRcdCuda *self, const CuvFrame *frame,
    const CuvRcdBox *box, CuvCudaStream stream, int64_t *sums);

/* For tests, after collect: the last submit's integrals, laid out as
 * cuv_rcd_integrate() has them, and the scores of all windows. */
int cuv_rcd_cuda_get_integrals (CuvRcdCuda *self, int64_t *integrals);
int cuv_rcd_cuda_get_scores (CuvRcdCuda *self, double *scores);

CUV_END

#endif
