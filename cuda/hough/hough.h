/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector on the GPU. All functions act on the current CUDA context.
 */
#ifndef CUV_HOUGH_CUDA_H
#define CUV_HOUGH_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "hough/hough-types.h"

CUV_BEGIN

typedef struct _CuvHoughCuda CuvHoughCuda;

/* Allocates the memory for frames of the layout's size; NULL on failure, see
 * cuv_cuda_error(). The layout may be freed afterwards. */
CuvHoughCuda *cuv_hough_cuda_new (const CuvHoughLayout *layout);
void cuv_hough_cuda_free (CuvHoughCuda *self); /* NULL is allowed */

/* Enqueues the work on one frame of the layout's size in device memory; waits
 * only after a failure. Returns 0 or -1. */
int cuv_hough_cuda_submit (CuvHoughCuda *self, const CuvFrame *frame,
    const CuvHoughParams *params, CuvCudaStream stream);

/* Waits for the last submit; call it once for each. Returns 0 or -1. */
int cuv_hough_cuda_collect (CuvHoughCuda *self, CuvHoughResult *result);

/* Enqueues drawing over a frame of the same size in device memory: its edges,
 * or the accumulator with cells above the threshold in white. Call it between
 * submit and collect, at most once and on the same stream; collect waits for
 * it, too. Returns 0 or -1. */
int cuv_hough_cuda_draw (CuvHoughCuda *self, const CuvFrame *frame,
    CuvHoughDraw draw, CuvCudaStream stream);

/* For tests, after collect: the edge map (255 or 0, width x height), or the
 * votes (n_rows x n_cells; not after RING). Return 0 or -1. */
int cuv_hough_cuda_get_edges (CuvHoughCuda *self, uint8_t *map);
int cuv_hough_cuda_get_votes (CuvHoughCuda *self, uint32_t *accumulator);

CUV_END

#endif
