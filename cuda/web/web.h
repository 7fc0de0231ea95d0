/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames as B, G, R on the GPU: the same bits as those of
 * elements/web/bgr.c. Acts on the current CUDA context. */
#ifndef CUV_WEB_CUDA_H
#define CUV_WEB_CUDA_H

#include "cuv-cuda.h"
#include "web/web-types.h"

CUV_BEGIN

typedef struct _CuvWebCuda CuvWebCuda;

/* NULL on failure. */
CuvWebCuda *cuv_web_cuda_new (void);
/* NULL is allowed. */
void cuv_web_cuda_free (CuvWebCuda *self);

/* Enqueues the conversion of a frame of three components or more in device
 * memory. Returns the picture in device memory, rows of 3 * width bytes, which
 * is valid until the next call; NULL, with a text for cuv_cuda_error(), on
 * failure. Allocates if the frame is larger than any before. */
uint8_t *cuv_web_cuda_submit (CuvWebCuda *self, const CuvFrame *frame,
    const CuvRgbMatrix *matrix, CuvCudaStream stream);

CUV_END

#endif
