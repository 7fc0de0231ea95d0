/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Host memory to the device: pinned memory as a whole, pageable memory in
 * pieces by way of pinned ones, so that one is copied while those before it go
 * up. Acts on the current CUDA context. */
#ifndef CUV_UPLOAD_H
#define CUV_UPLOAD_H

#include "cuv-cuda.h"

CUV_BEGIN

typedef struct _CuvUpload CuvUpload;

/* Threads that may copy pieces at a time, and bytes of a piece. */
#define CUV_UPLOAD_WORKERS 4
#define CUV_UPLOAD_PIECE ((size_t) 2 << 20)

/* NULL on failure, see cuv_cuda_error(). */
CUV_API CuvUpload *cuv_upload_new (void);
/* Waits for copies under way. NULL is allowed. */
CUV_API void cuv_upload_free (CuvUpload *self);

/* Device memory of at least so many bytes, aligned to 256, the same until more
 * is asked for: then nothing may use the one before any more. NULL on failure.
 */
CUV_API uint8_t *cuv_upload_reserve (CuvUpload *self, size_t size);

/* Enqueues a copy to the memory reserved. Pinned memory has to stay until the
 * stream has come that far. Returns 0 or -1. */
CUV_API int cuv_upload_pinned (
    CuvUpload *self, const void *data, size_t size, CuvCudaStream stream);

/* Before the first piece. Returns 0 or -1. */
CUV_API int cuv_upload_begin_pieces (CuvUpload *self);

/* Copies one piece, from at on, of pageable memory, which may then go. Threads
 * may do so at the same time, each as another worker, from 0 on. Returns 0 or
 * -1. */
CUV_API int cuv_upload_piece (CuvUpload *self, int worker, const void *data,
    size_t at, size_t size, CuvCudaStream stream);

CUV_END

#endif
