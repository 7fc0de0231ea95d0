// SPDX-License-Identifier: LGPL-2.1-or-later
// Inline host functions that the families share: memory, and the end of a
// submit.
#ifndef CUV_ARENA_CUH
#define CUV_ARENA_CUH

#include "cuv-cuda.cuh"

CUV_BEGIN

/* Waits for the stream, then copies between host and device in either
 * direction. Returns 0 or -1. */
CUV_API int cuv_cuda_copy (
    void *to, const void *from, size_t size, cudaStream_t stream);

CUV_END

/* Returns the status of a submit, 0 or -1. After a failure, first waits for
 * kernels that are already enqueued, because they use the frame. */
static inline int
cuv_end_submit (int status, cudaStream_t stream)
{
  if (status != 0)
    cudaStreamSynchronize (stream);
  return status;
}

/* Allocates n zeroed elements, at least one. Returns whether it succeeded. */
template <typename T>
static inline bool
cuv_arena_new (CuvArena *arena, T **memory, size_t n)
{
  *memory =
      (T *) cuv_arena_zeroed (arena, std::max<size_t> (n, 1) * sizeof (T));
  return *memory != nullptr;
}

#endif
