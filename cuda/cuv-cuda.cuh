/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inside of the CUDA files: checks and memory. */
#ifndef CUV_CUDA_CUH
#define CUV_CUDA_CUH

#include <cuda_runtime.h>
#include "cuv-cuda.h"

/* Records a failure for cuv_cuda_error() and returns -1, or returns 0. */
int cuv_cuda_record (cudaError_t status, const char *call);

/* Leaves the function with -1 if a CUDA call fails. */
#define CUV_CUDA_TRY(call)                                                     \
  do {                                                                         \
    if (cuv_cuda_record ((call), #call) != 0)                                  \
      return -1;                                                               \
  } while (0)

/* The check after a launch. */
#define CUV_CUDA_LAUNCHED(kernel) CUV_CUDA_TRY (cuv_cuda_launched (#kernel))
cudaError_t cuv_cuda_launched (const char *kernel);

/* An attribute of the current device; 0 if it cannot be asked. */
int cuv_cuda_attribute (cudaDeviceAttr attribute);

/* Lets a kernel be launched with so much dynamic shared memory, on the current
 * device. What is allowed only grows: other threads launch it, too. */
int cuv_cuda_allow_shared (const void *kernel, size_t bytes);

/* All the memory of one object, freed at once. Allocations are counted and
 * subject to cuv_cuda_fail_allocation(); they return NULL on failure, which is
 * recorded. */
typedef struct {
  void *device[16], *pinned[4];
  size_t sizes[16];
  int n_device, n_pinned;
} CuvArena;

void *cuv_arena_alloc (CuvArena *arena, size_t size);
void *cuv_arena_zeroed (CuvArena *arena, size_t size);
void *cuv_arena_upload (CuvArena *arena, const void *data, size_t size);
/* host memory that the device reads and writes */
void *cuv_arena_pinned (CuvArena *arena, size_t size);
void cuv_arena_clear (CuvArena *arena);

/* Device memory that only grows; its content is lost when it does. All 0 is an
 * empty one. Counted and made to fail like an arena's. */
typedef struct {
  void *data;
  size_t size;
} CuvBuffer;

int cuv_buffer_reserve (CuvBuffer *self, size_t size);
/* Reserves and fills; no work that reads the buffer may be under way. */
int cuv_buffer_upload (CuvBuffer *self, const void *data, size_t size);
void cuv_buffer_clear (CuvBuffer *self);

static inline int
cuv_div_up (int a, int b)
{
  return (a + b - 1) / b;
}

#endif
