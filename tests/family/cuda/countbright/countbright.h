/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts bright pixels on the GPU, as elements/countbright/reference/ does. All
 * functions act on the current CUDA context; those that can fail leave a text
 * for cuv_cuda_error(). */
#ifndef CUV_COUNTBRIGHT_CUDA_H
#define CUV_COUNTBRIGHT_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"

CUV_BEGIN

typedef struct _CuvCountbrightCuda CuvCountbrightCuda;

/* Returns NULL on failure. */
CuvCountbrightCuda *cuv_countbright_cuda_new (void);
void cuv_countbright_cuda_free (CuvCountbrightCuda *self);

/* Enqueues the count of a frame in device memory. Returns 0 or -1; after -1 no
 * enqueued work reads the frame. */
int cuv_countbright_cuda_submit (CuvCountbrightCuda *self,
    const CuvFrame *frame, int threshold, CuvCudaStream stream);

/* Waits for the last submit. Returns 0 or -1. */
int cuv_countbright_cuda_collect (CuvCountbrightCuda *self, uint64_t *count);

CUV_END

#endif
