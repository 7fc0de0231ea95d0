/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sliding-window detection on the GPU. All functions use the current CUDA
 * context.
 */
#ifndef CUV_WALDBOOST_CUDA_H
#define CUV_WALDBOOST_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "waldboost/waldboost-types.h"

CUV_BEGIN

typedef struct _CuvWaldboostCuda CuvWaldboostCuda;

/* Uploads model and plan and allocates memory; both may be freed afterwards.
 * The detectors of a context share the memory of the frames that are submitted
 * but not collected, one of which can be once this returns. NULL on failure,
 * see cuv_cuda_error(). */
CuvWaldboostCuda *cuv_waldboost_cuda_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan);
void cuv_waldboost_cuda_free (CuvWaldboostCuda *self); /* NULL is allowed */

/* Changes to another plan of the same model. Memory only grows. Ends a frame
 * that was submitted and not collected, which must not be collected any more.
 * Returns 0 or -1; after -1 only cuv_waldboost_cuda_free() is allowed. */
int cuv_waldboost_cuda_set_plan (
    CuvWaldboostCuda *self, const CuvWaldboostPlan *plan);

/* Enqueues the scan of one frame of the plan's size in device memory; the same
 * thread collects it. Waits after a failure, and while other threads have four
 * frames submitted but not collected, or the memory of fewer is all there is.
 * Returns 0 or -1. */
int cuv_waldboost_cuda_submit (
    CuvWaldboostCuda *self, const CuvFrame *frame, CuvCudaStream stream);

/* Waits for the last submit, exactly once per submit. Returns 0 or -1. */
int cuv_waldboost_cuda_collect (
    CuvWaldboostCuda *self, CuvWaldboostResult *result);

CUV_END

#endif
