// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA C++ as the project uses it, compiled for the CPU: keywords, vector
// types, intrinsics and launches.
#ifndef CUV_EMULATE_RUNTIME_H
#define CUV_EMULATE_RUNTIME_H

#include <functional>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <tuple>
#include <type_traits>
#include <utility>
#include "cuda_runtime_api.h"

#define __global__
#define __device__
#define __host__
#define __shared__ static // blocks run one after another
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__ ((aligned (n)))

// ---- vectors ----

struct short2 {
  short x, y;
};
struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
} __attribute__ ((aligned (16)));
struct uint2 {
  unsigned x, y;
} __attribute__ ((aligned (8)));
struct uint3 {
  unsigned x, y, z;
};
struct int4 {
  int x, y, z, w;
};

struct uint4 {
  unsigned x, y, z, w;
} __attribute__ ((aligned (16)));
struct dim3 {
  unsigned x, y, z;
  dim3 (unsigned x = 1, unsigned y = 1, unsigned z = 1) : x (x), y (y), z (z)
  {
  }
};

static inline uint2
make_uint2 (unsigned x, unsigned y)
{
  return { x, y };
}

static inline float2
make_float2 (float x, float y)
{
  return { x, y };
}

static inline float4
make_float4 (float x, float y, float z, float w)
{
  return { x, y, z, w };
}

static inline uint4
make_uint4 (unsigned x, unsigned y, unsigned z, unsigned w)
{
  return { x, y, z, w };
}

// ---- thread indices and launches ----

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
extern void *cuv_emulated_shared; // the block's dynamic shared memory

// Enqueues a kernel: body will be run in every thread of the grid.
void cuv_emulated_launch (dim3 grid, dim3 block, size_t shared,
    cudaStream_t stream, std::function<void ()> body);

// Remembers how to run a kernel with arguments that are given by address.
void cuv_emulated_remember (
    void *kernel, std::function<std::function<void ()> (void **)> bind);

template <typename... Parameters, size_t... I>
static inline std::function<void ()>
cuv_emulated_bind (
    void (*kernel) (Parameters...), void **arguments, std::index_sequence<I...>)
{
  return [=,
             values = std::tuple<Parameters...> (
                 *(std::decay_t<Parameters> *) arguments[I]...)] {
    std::apply (kernel, values);
  };
}

template <typename... Parameters>
static inline void
cuv_emulated_remember (void (*kernel) (Parameters...))
{
  cuv_emulated_remember ((void *) kernel, [=] (void **arguments) {
    return cuv_emulated_bind (
        kernel, arguments, std::index_sequence_for<Parameters...> ());
  });
}

struct CuvEmulatedLaunch {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;

  template <typename... Parameters, typename... Arguments>
  void
  operator() (
      void (*kernel) (Parameters...), const Arguments &...arguments) const
  {
    cuv_emulated_remember (kernel);
    cuv_emulated_launch (
        grid, block, shared, stream, [=] { kernel (arguments...); });
  }
};

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
    int cooperative;
  } val;
};

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};

template <typename... Parameters, typename... Arguments>
static inline cudaError_t
cudaLaunchKernelEx (const cudaLaunchConfig_t *config,
    void (*kernel) (Parameters...), const Arguments &...arguments)
{
  const bool together = config->numAttrs > 0
      && config->attrs->id == cudaLaunchAttributeCooperative;

  // blocks run one after another, so one that waited for others would hang
  cuv_emulated_launch (together ? dim3 (1) : config->gridDim, config->blockDim,
      config->dynamicSmemBytes, config->stream, [=] { kernel (arguments...); });
  return cudaSuccess;
}

struct cudaKernelNodeParams {
  void *func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};

// Changes the first piece of work; the kernel must have been launched before.
extern "C" cudaError_t cudaGraphExecKernelNodeSetParams (
    cudaGraphExec_t exec, cudaGraphNode_t, const cudaKernelNodeParams *params);

template <typename T>
static inline cudaError_t
cudaFuncSetAttribute (T *, cudaFuncAttribute, int)
{
  return cudaSuccess;
}

template <typename T>
static inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor (int *blocks, T *, int, size_t)
{
  *blocks = 2;
  return cudaSuccess;
}

struct cudaFuncAttributes {
  int maxDynamicSharedSizeBytes, ptxVersion;
};

template <typename T>
static inline cudaError_t
cudaFuncGetAttributes (cudaFuncAttributes *attributes, T *)
{
  *attributes = {};
  return cudaSuccess;
}

// ---- warp and block operations ----

enum CuvMeeting { CUV_MEET, CUV_BALLOT, CUV_SHUFFLE };

// Synchronises the threads of a warp in mask; source is the lane to read from.
// Returns the ballot, or the value `brings` of that lane.
uint64_t cuv_emulated_meet (
    CuvMeeting what, unsigned mask, uint64_t brings, int source);
void __syncthreads ();

static inline void
__syncwarp (unsigned mask = ~0u)
{
  cuv_emulated_meet (CUV_MEET, mask, 0, 0);
}

static inline unsigned
__ballot_sync (unsigned mask, int yes)
{
  return (unsigned) cuv_emulated_meet (CUV_BALLOT, mask, yes != 0, 0);
}

static inline int
__any_sync (unsigned mask, int yes)
{
  return __ballot_sync (mask, yes) != 0;
}

static inline int
cuv_emulated_lane ()
{
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
      % 32;
}

template <typename T>
static inline T
cuv_emulated_shuffle (unsigned mask, T value, int source)
{
  uint64_t bits = 0;

  static_assert (sizeof value <= sizeof bits, "a shuffle moves up to 8 bytes");
  memcpy (&bits, &value, sizeof value);
  bits = cuv_emulated_meet (CUV_SHUFFLE, mask, bits, source);
  memcpy (&value, &bits, sizeof value);
  return value;
}

// Reads are within sections of `width` lanes; beyond them lanes read
// themselves.
template <typename T>
static inline T
__shfl_sync (unsigned mask, T value, int source, int width = 32)
{
  const int lane = cuv_emulated_lane ();

  return cuv_emulated_shuffle (
      mask, value, lane / width * width + source % width);
}

template <typename T>
static inline T
__shfl_up_sync (unsigned mask, T value, int delta, int width = 32)
{
  const int lane = cuv_emulated_lane ();

  return cuv_emulated_shuffle (
      mask, value, lane % width >= delta ? lane - delta : lane);
}

template <typename T>
static inline T
__shfl_down_sync (unsigned mask, T value, int delta, int width = 32)
{
  const int lane = cuv_emulated_lane ();

  return cuv_emulated_shuffle (
      mask, value, lane % width + delta < width ? lane + delta : lane);
}

template <typename T>
static inline T
__shfl_xor_sync (unsigned mask, T value, int bits, int width = 32)
{
  const int lane = cuv_emulated_lane (), from = lane ^ bits;

  return cuv_emulated_shuffle (
      mask, value, from / width <= lane / width ? from : lane);
}

// All 32 lanes must take part.
template <typename T>
static inline unsigned
__match_any_sync (unsigned mask, T value)
{
  unsigned mates = 0;

  for (int lane = 0; lane < 32; lane++)
    mates |= (unsigned) (__shfl_sync (mask, value, lane) == value) << lane;
  return mates;
}

// All 32 lanes must take part.
static inline unsigned
__reduce_add_sync (unsigned mask, unsigned value)
{
  for (int bit = 16; bit > 0; bit /= 2)
    value += __shfl_xor_sync (mask, value, bit);
  return value;
}

static inline unsigned
__reduce_max_sync (unsigned mask, unsigned value)
{
  for (int bit = 16; bit > 0; bit /= 2) {
    const unsigned other = __shfl_xor_sync (mask, value, bit);

    value = other > value ? other : value;
  }
  return value;
}

template <typename T, typename U>
static inline T
atomicAdd (T *at, U value)
{
  T before = *at;

  *at = before + value;
  return before;
}

template <typename T, typename U>
static inline T
atomicOr (T *at, U value)
{
  T before = *at;

  *at = before | value;
  return before;
}

template <typename T, typename U>
static inline T
atomicMin (T *at, U value)
{
  T before = *at;

  *at = value < before ? value : before;
  return before;
}

template <typename T, typename U>
static inline T
atomicMax (T *at, U value)
{
  T before = *at;

  *at = value > before ? value : before;
  return before;
}

template <typename T, typename U>
static inline T
atomicExch (T *at, U value)
{
  T before = *at;

  *at = value;
  return before;
}

static inline void
__threadfence ()
{
}

static inline int
__syncthreads_count (int yes)
{
  static int n;

  __syncthreads ();
  n = 0;
  __syncthreads ();
  n += yes != 0;
  __syncthreads ();
  return n;
}

static inline int
__syncthreads_or (int yes)
{
  return __syncthreads_count (yes) != 0;
}

#include "emulated-arithmetic.h"

#endif
