/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of the shared CUDA code that plain C may use: the last error, a test
 * of the device, the memory in use.
 *
 * All functions use the CUDA context that is current to the thread. Those that
 * can fail return 0 or -1 and set cuv_cuda_error(). */
#ifndef CUV_CUDA_H
#define CUV_CUDA_H

#include <stddef.h>
#include <stdint.h>
#include "cuv-api.h"

CUV_BEGIN

/* A CUDA stream handle: cudaStream_t and CUstream are the same thing. */
typedef void *CuvCudaStream;

/* Returns the last failure of this thread: the call, the name of the error and
 * its text. */
CUV_API const char *cuv_cuda_error (void);

/* Returns 0 if this library's kernels run on the device of the current context;
 * -1 if the driver or the device is too old, or the library was not compiled
 * for the device. */
CUV_API int cuv_cuda_probe (void);

/* For programs; elements use the context of their frames. Makes device
 * `number`, modulo the number of devices, current to the thread. Returns the
 * number of devices, or -1. */
CUV_API int cuv_cuda_set_device (int number);

/* Returns the bytes of device memory that are free; 0 on failure. */
CUV_API size_t cuv_cuda_free_memory (void);

/* Returns the bytes of device memory that arenas and buffers of this process
 * hold. */
CUV_API size_t cuv_cuda_allocated (void);

/* Adds to cuv_cuda_allocated() what another copy of this code holds: that of
 * libcuvdetect. */
CUV_API void cuv_cuda_count (size_t (*allocated) (void));

CUV_END

#endif
