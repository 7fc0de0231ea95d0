// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that are the same for each frame, but for what the first of them
// reads, are enqueued by one call of the driver, for whose lock the threads of
// many streams wait.
#ifndef CUV_REPLAY_CUH
#define CUV_REPLAY_CUH

#include <tuple>
#include "cuv-cuda.cuh"

class CuvReplay
{
public:
  ~CuvReplay ()
  {
    forget ();
  }

  // Enqueues in *stream what `first` and then `rest` enqueue, kernels one after
  // another and no other work; if `replays`, by one call. `rest` must do the
  // same as in the calls before, up to forget(). first (nullptr) enqueues one
  // kernel, first (this) calls change_first() with that kernel instead. All
  // return 0 or -1.
  template <typename First, typename Rest>
  int
  submit (cudaStream_t *stream, bool replays, First first, Rest rest)
  {
    const auto enqueue = [&] { return first (nullptr) != 0 ? -1 : rest (); };

    if (!replays)
      return enqueue ();
    if ((exec != nullptr ? first (this) : record (stream, enqueue)) != 0)
      return -1;
    CUV_CUDA_TRY (cudaGraphLaunch (exec, *stream));
    return 0;
  }

  // What was recorded begins with this from now on. Returns 0 or -1.
  template <typename... Parameters, typename... Arguments>
  int
  change_first (void (*kernel) (Parameters...), dim3 grid, dim3 block,
      const Arguments &...arguments)
  {
    std::tuple<Parameters...> values (arguments...);
    void *addresses[sizeof...(Parameters)];
    cudaKernelNodeParams params = {};
    int n = 0;

    std::apply (
        [&] (Parameters &...value) { ((addresses[n++] = &value), ...); },
        values);
    params.func = (void *) kernel;
    params.gridDim = grid;
    params.blockDim = block;
    params.kernelParams = addresses;
    CUV_CUDA_TRY (cudaGraphExecKernelNodeSetParams (exec, root, &params));
    return 0;
  }

  void
  forget ()
  {
    if (exec != nullptr)
      cuv_cuda_record (cudaGraphExecDestroy (exec), "cudaGraphExecDestroy");
    if (graph != nullptr)
      cuv_cuda_record (cudaGraphDestroy (graph), "cudaGraphDestroy");
    exec = nullptr;
    graph = nullptr;
  }

private:
  template <typename Enqueue>
  int
  record (cudaStream_t *stream, Enqueue enqueue)
  {
    const cudaStream_t of_frame = *stream;
    cudaStream_t recorder;

    forget ();
    // that of the frame may be the default stream, which cannot be recorded
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
    size_t n_roots = 1;

    // other threads may allocate memory
    CUV_CUDA_TRY (
        cudaStreamBeginCapture (recorder, cudaStreamCaptureModeThreadLocal));
    cuv_is_recording = true;
    const int status = enqueue ();
    cuv_is_recording = false;
    const cudaError_t ended = cudaStreamEndCapture (recorder, &graph);

    if (status != 0)
      return status; // rather than `ended`, which is a consequence
    CUV_CUDA_TRY (ended);
    CUV_CUDA_TRY (cudaGraphGetRootNodes (graph, &root, &n_roots));
    CUV_CUDA_TRY (cudaGraphInstantiateWithFlags (&exec, graph, 0));
    return 0;
  }

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr; // NULL = nothing is recorded
  cudaGraphNode_t root = nullptr; // the first kernel
};

#endif
