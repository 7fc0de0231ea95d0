// SPDX-License-Identifier: LGPL-2.1-or-later
// A stream of an object's own: its kernels run beside those that others enqueue
// for the same frame, even if all get the same stream from their callers.
#ifndef CUV_OWN_STREAM_CUH
#define CUV_OWN_STREAM_CUH

#include "cuv-cuda.cuh"
#include "cuv-wait.h"

class CuvOwnStream
{
public:
  ~CuvOwnStream ()
  {
    if (before != nullptr)
      cuv_cuda_record (cudaEventDestroy (before), "cudaEventDestroy");
    if (stream != nullptr)
      cuv_cuda_record (cudaStreamDestroy (stream), "cudaStreamDestroy");
  }

  // urgent: its blocks start before those of other streams that wait for a
  // multiprocessor. Short kernels then need not wait for all blocks of long
  // ones. Returns 0 or -1.
  int
  open (bool urgent)
  {
    CUV_CUDA_TRY (cudaStreamCreateWithPriority (
        &stream, cudaStreamNonBlocking, urgent ? -1 : 0));
    CUV_CUDA_TRY (cudaEventCreateWithFlags (&before, cudaEventDisableTiming));
    return 0;
  }

  // What is enqueued from now on waits for the work in another stream. Returns
  // 0 or -1.
  int
  follow (cudaStream_t other)
  {
    CUV_CUDA_TRY (cudaEventRecord (before, other));
    CUV_CUDA_TRY (cudaStreamWaitEvent (stream, before, 0));
    return 0;
  }

  // Chooses the stream for a frame: this one, which then follows the caller's,
  // or the caller's if the GPU is busy: overlap with other frames is enough
  // then, and kernels that go before others would only delay them. *chosen was
  // that of the frame before, whose work ends with `done`. Returns 0 or -1.
  int
  choose (cudaStream_t of_caller, cudaEvent_t done, cudaStream_t *chosen)
  {
    const cudaStream_t last = *chosen;

    *chosen = cuv_gpu_is_busy () ? of_caller : stream;
    if (*chosen != of_caller && follow (of_caller) != 0)
      return -1;
    if (*chosen != last)
      CUV_CUDA_TRY (cudaStreamWaitEvent (*chosen, done, 0));
    return 0;
  }

  cudaStream_t stream = nullptr;

private:
  cudaEvent_t before = nullptr;
};

#endif
