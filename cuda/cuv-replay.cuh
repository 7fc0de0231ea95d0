// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that are the same for each frame are enqueued by one call of the
// driver, for whose lock the threads of many streams wait.
#ifndef CUV_REPLAY_CUH
#define CUV_REPLAY_CUH

#include "cuv-cuda.cuh"

class CuvReplay
{
public:
  ~CuvReplay ()
  {
    forget ();
  }

  // Enqueues in *stream what enqueue () does, which must be the same in all
  // calls up to forget(): it enqueues kernels, and no other work, in *stream,
  // and returns 0 or -1. Returns 0 or -1.
  template <typename Enqueue>
  int
  submit (cudaStream_t *stream, Enqueue enqueue)
  {
    if (graph == nullptr && record (stream, enqueue) != 0)
      return -1;
    CUV_CUDA_TRY (cudaGraphLaunch (graph, *stream));
    return 0;
  }

  // The next submit() enqueues other work.
  void
  forget ()
  {
    if (graph != nullptr)
      cuv_cuda_record (cudaGraphExecDestroy (graph), "cudaGraphExecDestroy");
    graph = nullptr;
  }

private:
  // The stream of a frame may have a priority, or be the default stream, which
  // cannot be recorded.
  template <typename Enqueue>
  int
  record (cudaStream_t *stream, Enqueue enqueue)
  {
    const cudaStream_t of_frame = *stream;
    cudaStream_t recorder;

    CUV_CUDA_TRY (cudaStreamCreateWithFlags (&recorder, cudaStreamNonBlocking));
    *stream = recorder;
    const int status = record_here (recorder, enqueue);
    *stream = of_frame;
    CUV_CUDA_TRY (cudaStreamDestroy (recorder));
    return status;
  }

  template <typename Enqueue>
  int
  record_here (cudaStream_t recorder, Enqueue enqueue)
  {
    cudaGraph_t recorded = nullptr;

    // other threads may allocate memory
    CUV_CUDA_TRY (
        cudaStreamBeginCapture (recorder, cudaStreamCaptureModeThreadLocal));
    int status = enqueue ();
    const cudaError_t ended = cudaStreamEndCapture (recorder, &recorded);

    if (status == 0) // otherwise that failure is the cause
      status = cuv_cuda_record (ended, "cudaStreamEndCapture");
    if (status == 0)
      status =
          cuv_cuda_record (cudaGraphInstantiateWithFlags (&graph, recorded, 0),
              "cudaGraphInstantiateWithFlags");
    if (recorded != nullptr)
      CUV_CUDA_TRY (cudaGraphDestroy (recorded));
    return status;
  }

  cudaGraphExec_t graph = nullptr; // NULL = nothing is recorded
};

#endif
