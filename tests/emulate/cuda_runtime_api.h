/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of CUDA's runtime that the project uses, on the CPU: device memory
 * is host memory, and work on streams is done later, in random order. */
#ifndef CUV_EMULATE_RUNTIME_API_H
#define CUV_EMULATE_RUNTIME_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  cudaSuccess,
  cudaErrorInvalidValue,
  cudaErrorMemoryAllocation,
  cudaErrorNotReady,
  cudaErrorInsufficientDriver,
} cudaError_t;

typedef struct CuvEmulatedEvent *cudaEvent_t;
typedef void *cudaStream_t;
typedef struct CuvEmulatedGraph *cudaGraph_t;
typedef struct CuvEmulatedGraph *cudaGraphExec_t;
typedef struct CuvEmulatedNode *cudaGraphNode_t;
#define CUDART_VERSION 13000
#define cudaStreamPerThread ((cudaStream_t) 2)
#define cudaStreamNonBlocking 1
#define cudaEventDisableTiming 2

typedef enum {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault,
} cudaMemcpyKind;

typedef enum {
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor,
  cudaDevAttrComputeCapabilityMajor,
} cudaDeviceAttr;

typedef enum {
  cudaFuncAttributeMaxDynamicSharedMemorySize,
} cudaFuncAttribute;

typedef enum {
  cudaLaunchAttributeCooperative,
  cudaLaunchAttributeProgrammaticStreamSerialization,
} cudaLaunchAttributeID;

typedef enum {
  cudaStreamCaptureModeThreadLocal,
} cudaStreamCaptureMode;

const char *cudaGetErrorName (cudaError_t status);
const char *cudaGetErrorString (cudaError_t status);
cudaError_t cudaGetLastError (void);
cudaError_t cudaGetDevice (int *device);
cudaError_t cudaGetDeviceCount (int *n);
cudaError_t cudaSetDevice (int device);
cudaError_t cudaDeviceGetAttribute (int *value, cudaDeviceAttr, int device);

cudaError_t cudaMemGetInfo (size_t *available, size_t *total);
cudaError_t cudaDriverGetVersion (int *version);
/* Finds only cuCtxGetCurrent. */
cudaError_t cudaGetDriverEntryPointByVersion (
    const char *name, void **function, unsigned, unsigned long long, void *);
cudaError_t cudaFree (void *memory);
cudaError_t cudaFreeHost (void *memory);
cudaError_t cudaMemcpy (void *to, const void *from, size_t n, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync (
    void *to, const void *from, size_t n, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemcpy2DAsync (void *to, size_t to_pitch, const void *from,
    size_t pitch, size_t width, size_t height, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemsetAsync (void *to, int value, size_t n, cudaStream_t);

cudaError_t cudaStreamCreateWithFlags (cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority (
    cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy (cudaStream_t stream);
cudaError_t cudaStreamSynchronize (cudaStream_t stream);
cudaError_t cudaStreamQuery (cudaStream_t stream);
/* Stream and event queries return cudaErrorNotReady for this time. */
void cuv_emulate_busy (double seconds);
cudaError_t cudaStreamWaitEvent (cudaStream_t, cudaEvent_t, unsigned flags);

/* What is enqueued in a stream in between is recorded, and not done. */
cudaError_t cudaStreamBeginCapture (cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture (cudaStream_t, cudaGraph_t *graph);
/* Finds the first piece of work; *n must be 1. */
cudaError_t cudaGraphGetRootNodes (
    cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n);
cudaError_t cudaGraphInstantiateWithFlags (
    cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch (cudaGraphExec_t exec, cudaStream_t);
cudaError_t cudaGraphDestroy (cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy (cudaGraphExec_t exec);

cudaError_t cudaEventCreate (cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags (cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy (cudaEvent_t event);
cudaError_t cudaEventRecord (cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize (cudaEvent_t event);
cudaError_t cudaEventQuery (cudaEvent_t event);
cudaError_t cudaEventElapsedTime (float *ms, cudaEvent_t a, cudaEvent_t b);

cudaError_t cuv_emulated_alloc (void **memory, size_t size);
/* Enqueues other work in a stream. */
void cuv_emulated_enqueue (
    cudaStream_t stream, void (*run) (void *data), void *data);

#ifdef __cplusplus
}
#endif

/* In C++ these accept the address of any pointer, like the real ones. */
#ifdef __cplusplus
template <typename T>
static inline cudaError_t
cudaMalloc (T **memory, size_t size)
{
  return cuv_emulated_alloc ((void **) memory, size);
}

template <typename T>
static inline cudaError_t
cudaMallocHost (T **memory, size_t size)
{
  return cuv_emulated_alloc ((void **) memory, size);
}
#else
#define cudaMalloc(memory, size) cuv_emulated_alloc (memory, size)
#define cudaMallocHost(memory, size) cuv_emulated_alloc (memory, size)
#endif

#endif
