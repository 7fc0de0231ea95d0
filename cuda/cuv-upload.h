/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Uploads to the device: pinned memory directly, pageable memory in chunks
 * through pinned staging buffers, so that copying a chunk overlaps with the
 * transfer of earlier ones. All functions use the current CUDA context. */
#ifndef CUV_UPLOAD_H
#define CUV_UPLOAD_H

#include "cuv-cuda.h"

CUV_BEGIN

typedef struct _CuvUpload CuvUpload;

/* Maximum number of threads that copy, and bytes per chunk. */
#define CUV_UPLOAD_WORKERS 4
#define CUV_UPLOAD_CHUNK ((size_t) 2 << 20)

/* Returns NULL on failure, see cuv_cuda_error(). */
CUV_API CuvUpload *cuv_upload_new (void);
/* Waits for pending copies. NULL is allowed. */
CUV_API void cuv_upload_free (CuvUpload *self);

/* Reserves device memory of at least this size, aligned to 256 bytes. Growing
 * the memory invalidates the previous address. Returns NULL on failure. */
CUV_API uint8_t *cuv_upload_reserve (CuvUpload *self, size_t size);

/* Enqueues a copy to the reserved memory. Pinned memory must stay valid until
 * the stream has completed it. Returns 0 or -1. */
CUV_API int cuv_upload_pinned (
    CuvUpload *self, const void *data, size_t size, CuvCudaStream stream);

/* Prepares the staging buffers; call before the first chunk of each upload.
 * Returns 0 or -1. */
CUV_API int cuv_upload_begin_chunks (CuvUpload *self);

/* Copies a chunk of pageable memory, at most CUV_UPLOAD_CHUNK bytes, to offset
 * `at`; the memory may be changed when it returns. Threads may call it
 * concurrently, each with its own worker index, 0 .. CUV_UPLOAD_WORKERS - 1.
 * Returns 0 or -1. */
CUV_API int cuv_upload_chunk (CuvUpload *self, int worker, const void *data,
    size_t at, size_t size, CuvCudaStream stream);

CUV_END

#endif
