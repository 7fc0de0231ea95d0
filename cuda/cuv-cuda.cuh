/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by all CUDA files: error checks, launches, warp functions, memory; and
 * a map of the top of cuda/, which is part of libgstcuvision. Each folder has
 * the kernels of a family and a map of its own, in <family>/<family>.h.
 *
 *   cuv-api.h         export, extern "C" and host-and-device macros
 *   cuv-cuda.h        what plain C may use: errors, the device, memory in use
 *   cuv-cuda.cuh, cuv-cuda.cu   errors, launches, device functions, arenas and
 *                     buffers of device memory
 *   cuv-arena.cuh     inline functions on top of these, for host code
 *   cuv-frame.h       a raw video frame, as kernels and C see it
 *   cuv-cube.h        a spectral cube, likewise
 *   cuv-own-stream.cuh   a stream of an object's own
 *   cuv-replay.cuh    kernels that are the same for each frame, in one call
 *   cuv-wait.*        waits for the GPU without spinning
 *   cuv-upload.*      uploads of cubes, called by gst/spectral/
 *   cuv-nv12.*        RGB to NV12, called by gst/spectral/
 *   trial.cu          compiled by Meson, to see whether nvcc works
 *
 * A family's plain-C header is included by elements/<family>/backend.c, its
 * -types.h headers by gcc and nvcc. */
#ifndef CUV_CUDA_CUH
#define CUV_CUDA_CUH

#include <algorithm>
#include <cuda_runtime.h>
#include <map>
#include <mutex>
#include <type_traits>
#include "cuv-cuda.h"
#include "cuv-wait.h"

// Every library that contains kernels links its own CUDA runtime statically.
// The inline functions below call the runtime of the library that includes
// them, the exported ones that of libgstcuvision.

/* Sets the text of cuv_cuda_error(). */
CUV_BEGIN
CUV_API void cuv_cuda_set_error (
    const char *call, const char *name, const char *text);
CUV_END

/* Records a failure for cuv_cuda_error() and returns -1, or returns 0. */
static inline int
cuv_cuda_record (cudaError_t status, const char *call)
{
  if (status == cudaSuccess)
    return 0;
  cuv_cuda_set_error (
      call, cudaGetErrorName (status), cudaGetErrorString (status));
  cudaGetLastError (); // clears the error, which a later launch check would
                       // report otherwise
  return -1;
}

/* Returns -1 from the function if a CUDA call fails. */
#define CUV_CUDA_TRY(call)                                                     \
  do {                                                                         \
    if (cuv_cuda_record ((call), #call) != 0)                                  \
      return -1;                                                               \
  } while (0)

/* Returns -1 from the function if the launch before it failed. */
#define CUV_CUDA_LAUNCHED(kernel)                                              \
  do {                                                                         \
    if (cuv_cuda_record (cudaGetLastError (), #kernel) != 0)                   \
      return -1;                                                               \
  } while (0)

/* Allows launches of a kernel with this many bytes of dynamic shared memory on
 * the current device. The limit only grows, because other threads may launch
 * the kernel, too. */
inline int
cuv_cuda_allow_shared (const void *kernel, size_t bytes)
{
  static std::mutex mutex;
  // the limits so far, by kernel and device
  static std::map<std::pair<const void *, int>, size_t> allowed;
  const std::lock_guard<std::mutex> lock (mutex);
  int device;

  CUV_CUDA_TRY (cudaGetDevice (&device));
  size_t &limit = allowed[{ kernel, device }];
  const size_t wanted = std::max (bytes, limit);
  // before CUDA 13 the limit may belong to a context
  if (wanted == limit && CUDART_VERSION >= 13000)
    return 0;
  CUV_CUDA_TRY (cudaFuncSetAttribute (
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) wanted));
  limit = wanted;
  return 0;
}

CUV_BEGIN

/* Returns the current context; creates one if there is none. Returns NULL on
 * failure, which is recorded. */
CUV_API void *cuv_cuda_context (void);

/* Returns an attribute of the current device, 0 if the query fails. */
CUV_API int cuv_cuda_attribute (cudaDeviceAttr attribute);

/* Returns the number of multiprocessors of the current device, 1 if the query
 * fails. */
CUV_API int cuv_cuda_multiprocessors (void);

/* Whether launches may use programmatic dependent launch: the code for the
 * current device must have been compiled for compute capability 9.0 or later,
 * where cuv_pdl_wait() does wait. */
CUV_API bool cuv_cuda_has_pdl (void);

CUV_END

/* The thread records kernels, see CuvReplay. */
inline thread_local bool cuv_is_recording = false;

/* Launches a kernel with programmatic dependent launch (PDL): its blocks may
 * start before the previous kernel of the stream has ended, once all blocks of
 * that kernel have called cuv_pdl_trigger(). While the GPU is busy, they do
 * not: they would wait in the place of other work; nor if they are recorded.
 * The kernel must call cuv_pdl_wait() before it reads memory that an earlier
 * kernel of the stream writes, or writes memory that an earlier one uses. The
 * previous kernel must call cuv_pdl_wait(), too, or have been launched
 * normally. Returns 0, or records a failure and returns -1. */
template <typename... Parameters, typename... Arguments>
static inline int
cuv_launch_dependent (const char *name, dim3 grid, dim3 block, size_t shared,
    cudaStream_t stream, void (*kernel) (Parameters...),
    const Arguments &...arguments)
{
  cudaLaunchAttribute early = {};
  cudaLaunchConfig_t config = {};

  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs =
      cuv_cuda_has_pdl () && !cuv_is_recording && !cuv_gpu_is_busy () ? 1 : 0;
  return cuv_cuda_record (
      cudaLaunchKernelEx (&config, kernel, Parameters (arguments)...), name);
}

/* Launches one block per multiprocessor, all of which run at the same time, so
 * that the kernel may synchronise its grid. Records a failure and returns -1,
 * or returns 0. */
template <typename... Parameters, typename... Arguments>
static inline int
cuv_launch_cooperative (const char *name, dim3 block, cudaStream_t stream,
    void (*kernel) (Parameters...), const Arguments &...arguments)
{
  cudaLaunchAttribute together = {};
  cudaLaunchConfig_t config = {};

  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  config.gridDim = dim3 ((unsigned) cuv_cuda_multiprocessors ());
  config.blockDim = block;
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = 1;
  return cuv_cuda_record (
      cudaLaunchKernelEx (&config, kernel, Parameters (arguments)...), name);
}

/* Waits until all earlier work of the stream is done. */
static __device__ __forceinline__ void
cuv_pdl_wait ()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize ();
#endif
}

/* Allows blocks of the next kernel to start once all blocks of this one have
 * called it. */
static __device__ __forceinline__ void
cuv_pdl_trigger ()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion ();
#endif
}

/* Makes a value known to the compiler as uniform across a warp, so that it can
 * use uniform registers, addresses and branches. Call from whole warps. */
template <typename T>
static __device__ __forceinline__ T
cuv_uniform (T value)
{
  return __shfl_sync (~0u, value, 0);
}

/* Returns the index of the thread's warp in a one-dimensional block. Call from
 * whole warps. */
static __device__ __forceinline__ int
cuv_warp_of_thread ()
{
  return cuv_uniform ((int) threadIdx.x / 32);
}

/* Whether __reduce_add_sync() and similar functions exist. */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
#define CUV_CUDA_HAS_REDUCE 1
#else
#define CUV_CUDA_HAS_REDUCE 0
#endif

/* Returns a byte mask: 255 for each negative half-word, otherwise 0. Bytes 0,
 * 1: the low halves of a, b; bytes 2, 3: the high halves. */
static __device__ __forceinline__ unsigned
cuv_signs_of_halves (unsigned a, unsigned b)
{
#ifdef __CUDA_ARCH__
  unsigned result; // __byte_perm() cannot replicate signs

  asm("prmt.b32 %0, %1, %2, 0xfbd9;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return (__byte_perm (a, b, 0x7351) >> 7 & 0x01010101u) * 255;
#endif
}

/* Returns the sum over a warp to each of its threads. Call from whole warps. */
template <typename T>
static __device__ __forceinline__ T
cuv_warp_sum (T value)
{
#if CUV_CUDA_HAS_REDUCE
  if constexpr (std::is_same<T, unsigned>::value) {
    return __reduce_add_sync (~0u, value);
  } else
#endif
  {
#pragma unroll
    for (int bit = 16; bit > 0; bit /= 2)
      value += __shfl_xor_sync (~0u, value, bit);
    return value;
  }
}

/* Returns the maximum over a warp to each of its threads. Call from whole
 * warps. */
static __device__ __forceinline__ unsigned
cuv_warp_max (unsigned value)
{
#if CUV_CUDA_HAS_REDUCE
  return __reduce_max_sync (~0u, value);
#else
  for (int bit = 16; bit > 0; bit /= 2)
    value = max (value, __shfl_xor_sync (~0u, value, bit));
  return value;
#endif
}

/* Computes an inclusive scan over groups of threads, whose size is a power of
 * two up to 32. Call from whole warps of one-dimensional blocks. */
static __device__ __forceinline__ unsigned
cuv_inclusive_scan (unsigned value, int group = 32)
{
#pragma unroll
  for (int d = 1; d < 32; d *= 2) { // no effect for d >= group
#ifdef __CUDA_ARCH__
    // the shuffle's predicate says whether the source lane exists; CUDA C has
    // no access to it
    asm volatile("{ .reg .pred there; .reg .u32 before;\n"
                 "shfl.sync.up.b32 before|there, %0, %1, %2, -1;\n"
                 "@there add.u32 %0, %0, before; }"
                 : "+r"(value)
                 : "r"(d), "r"((32 - group) << 8));
#else
    const unsigned before = __shfl_up_sync (~0u, value, d, group);

    value += (int) threadIdx.x % group >= d ? before : 0;
#endif
  }
  return value;
}

/* Returns the time of the device's global clock. */
static __device__ __forceinline__ unsigned long long
cuv_nanoseconds ()
{
  unsigned long long now = 0;

#ifdef __CUDA_ARCH__
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
#endif
  return now;
}

/* Records when the first of some kernels starts, in nanoseconds; *began is 0
 * before. Call from all threads of each kernel that may be the first. */
static __device__ __forceinline__ void
cuv_record_start (unsigned long long *began)
{
  if ((blockIdx.x | blockIdx.y | threadIdx.x | threadIdx.y) == 0 && *began == 0)
    *began = cuv_nanoseconds ();
}

/* Returns the microseconds between two times in nanoseconds, 0 if one of them
 * was not recorded. Events with times take more of the processor. */
static inline float
cuv_microseconds (unsigned long long from, unsigned long long to)
{
  return from != 0 && from < to ? (to - from) * 1e-3f : 0;
}

CUV_BEGIN

/* The allocations of an object, freed together. Device memory is counted in
 * cuv_cuda_allocated(). Functions return NULL on failure, which is recorded. */
typedef struct {
  void *device[32], *pinned[8];
  size_t sizes[32]; // bytes of device[i]
  int n_device, n_pinned;
} CuvArena;

CUV_API void *cuv_arena_alloc (CuvArena *arena, size_t size);
CUV_API void *cuv_arena_zeroed (CuvArena *arena, size_t size);
CUV_API void *cuv_arena_upload (CuvArena *arena, const void *data, size_t size);
/* Allocates pinned host memory, which the device can read and write. */
CUV_API void *cuv_arena_pinned (CuvArena *arena, size_t size);
CUV_API void cuv_arena_clear (CuvArena *arena);

/* Device memory that only grows; growing discards its content. All zeros is an
 * empty buffer. Counted in cuv_cuda_allocated(). */
typedef struct {
  void *data;
  size_t size;
} CuvBuffer;

CUV_API int cuv_buffer_reserve (CuvBuffer *self, size_t size);
/* Reserves memory and copies data to it; no pending work may read the
 * buffer. */
CUV_API int cuv_buffer_upload (CuvBuffer *self, const void *data, size_t size);
CUV_API void cuv_buffer_clear (CuvBuffer *self);

CUV_END

CUV_HOST_DEVICE int
cuv_div_up (int a, int b)
{
  return (a + b - 1) / b;
}

#endif
