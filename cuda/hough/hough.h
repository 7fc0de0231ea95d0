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

/* Allocates all that frames of the layout's size need; NULL on failure, see
 * cuv_cuda_error(). The layout may be freed afterwards. */
CuvHoughCuda *cuv_hough_cuda_new (const CuvHoughLayout *layout);
void cuv_hough_cuda_free (CuvHoughCuda *self); /* NULL is allowed */

/* Enqueues the work on one frame, of the layout's size, in device memory. Does
 * not wait. Returns 0 or -1. */
int cuv_hough_cuda_submit (CuvHoughCuda *self, const CuvFrame *frame,
    const CuvHoughParams *params, CuvCudaStream stream);

/* Waits for the last submit; once for each. Returns 0 or -1. */
int cuv_hough_cuda_collect (CuvHoughCuda *self, CuvHoughResult *result);

/* Enqueues drawing over a frame in device memory, of the same size: edges, or
 * the accumulator with cells of more votes than the threshold in white. Between
 * submit and collect, which waits for it, too; once, on the same stream.
 * Returns 0 or -1. */
int cuv_hough_cuda_draw (CuvHoughCuda *self, const CuvFrame *frame,
    CuvHoughDraw draw, CuvCudaStream stream);

/* Copy what the last submit found, after collect, for tests: the edge map, 255
 * or 0, of width x height; the votes of n_rows x n_cells, not after a ring.
 * Return 0 or -1. */
int cuv_hough_cuda_get_edges (CuvHoughCuda *self, uint8_t *map);
int cuv_hough_cuda_get_votes (CuvHoughCuda *self, uint32_t *accumulator);

CUV_END

#endif
