/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts frames to B, G, R on the GPU, for JPEG compression; the same bits as
 * elements/web/bgr.c. elements/web/gpu-picture.c calls it. web.cu: the kernel;
 * web-types.h: the conversion of a pixel, for gcc, too. All functions use the
 * current CUDA context. */
#ifndef CUV_WEB_CUDA_H
#define CUV_WEB_CUDA_H

#include "cuv-cuda.h"
#include "web/web-types.h"

CUV_BEGIN

typedef struct _CuvWebCuda CuvWebCuda;

/* Returns NULL on failure, see cuv_cuda_error(). */
CuvWebCuda *cuv_web_cuda_new (void);
/* Frees self, which may be NULL. */
void cuv_web_cuda_free (CuvWebCuda *self);

/* Enqueues the conversion of a frame in device memory, of at least three
 * components; matrix is used for Y, U, V. Returns the picture in device memory,
 * rows of 3 * width bytes, valid until the next call; NULL on failure, see
 * cuv_cuda_error(). Allocates memory if the frame is larger than all previous
 * frames. */
uint8_t *cuv_web_cuda_submit (CuvWebCuda *self, const CuvFrame *frame,
    const CuvRgbMatrix *matrix, CuvCudaStream stream);

CUV_END

#endif
