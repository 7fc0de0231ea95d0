// SPDX-License-Identifier: LGPL-2.1-or-later
// Errors, attributes of devices, arenas and buffers.
#include "cuv-arena.cuh"

#include <atomic>
#include <stdio.h>

static thread_local char error_text[512] = "no error";
static std::atomic<size_t> allocated;
static std::atomic<size_t (*) ()> allocated_elsewhere;

void
cuv_cuda_set_error (const char *call, const char *name, const char *text)
{
  snprintf (error_text, sizeof error_text, "%s: %s (%s)", call, name, text);
}

extern "C" const char *
cuv_cuda_error (void)
{
  return error_text;
}

static __global__ void
probe_kernel ()
{
}

extern "C" int
cuv_cuda_probe (void)
{
  cudaFuncAttributes attributes;

  // Loads the module; fails if it was not compiled for this device.
  const cudaError_t status = cudaFuncGetAttributes (&attributes, probe_kernel);
  int version = 0;

  if (status != cudaErrorInsufficientDriver)
    return cuv_cuda_record (status, "cudaFuncGetAttributes");
  if (cudaDriverGetVersion (&version) == cudaSuccess && version == 0) {
    snprintf (error_text, sizeof error_text, "no NVIDIA driver is installed");
    return -1;
  }
  snprintf (error_text, sizeof error_text,
      "the driver is too old for kernels built with CUDA %d: version %d or "
      "later is needed",
      CUDART_VERSION / 1000, CUDART_VERSION >= 13000 ? 580 : 525);
  return -1;
}

// Without a device, records the error of cuv_cuda_probe().
extern "C" int
cuv_cuda_set_device (int number)
{
  int n = 0;

  if (cudaGetDeviceCount (&n) != cudaSuccess || n == 0) {
    cudaGetLastError ();
    cuv_cuda_probe ();
    return -1;
  }
  CUV_CUDA_TRY (cudaSetDevice (number % n));
  return n;
}

extern "C" size_t
cuv_cuda_free_memory (void)
{
  size_t available = 0, total = 0;

  return cuv_cuda_record (cudaMemGetInfo (&available, &total), "cudaMemGetInfo")
          == 0
      ? available
      : 0;
}

void *
cuv_cuda_context (void)
{
  // the runtime has opened the driver library, which defines this
  int (*get_current) (void **context) = nullptr;
  void *context = nullptr;
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion (
      "cuCtxGetCurrent", (void **) &get_current, 4000, 0, nullptr);
#else
  const cudaError_t status = cudaGetDriverEntryPoint (
      "cuCtxGetCurrent", (void **) &get_current, 0, nullptr);
#endif

  if (cuv_cuda_record (status, "cudaGetDriverEntryPoint") != 0
      || cuv_cuda_record (cudaFree (nullptr), "cudaFree") != 0)
    return nullptr;
  if (get_current == nullptr || get_current (&context) != 0
      || context == nullptr)
    cuv_cuda_record (cudaErrorInvalidValue, "cuCtxGetCurrent");
  return context;
}

int
cuv_cuda_attribute (cudaDeviceAttr attribute)
{
  static std::mutex mutex;
  static std::map<std::pair<int, cudaDeviceAttr>, int> known;
  const std::lock_guard<std::mutex> lock (mutex);
  int device = 0, value = 0;

  if (cuv_cuda_record (cudaGetDevice (&device), "cudaGetDevice") != 0)
    return 0;
  const auto found = known.find ({ device, attribute });
  if (found != known.end ())
    return found->second;
  if (cuv_cuda_record (cudaDeviceGetAttribute (&value, attribute, device),
          "cudaDeviceGetAttribute")
      == 0)
    known[{ device, attribute }] = value;
  return value;
}

int
cuv_cuda_multiprocessors (void)
{
  const int n = cuv_cuda_attribute (cudaDevAttrMultiProcessorCount);

  return n > 0 ? n : 1;
}

extern "C" size_t
cuv_cuda_allocated (void)
{
  size_t (*elsewhere) () = allocated_elsewhere;

  return allocated + (elsewhere != nullptr ? elsewhere () : 0);
}

extern "C" void
cuv_cuda_count (size_t (*function) (void))
{
  allocated_elsewhere = function;
}

bool
cuv_cuda_has_pdl (void)
{
  static thread_local int known = -1; // the device that has_pdl describes
  static thread_local bool has_pdl;
  cudaFuncAttributes attributes;
  int device = -1;

  if (cuv_cuda_record (cudaGetDevice (&device), "cudaGetDevice") != 0)
    return false;
  if (device != known) {
    if (cuv_cuda_record (cudaFuncGetAttributes (&attributes, probe_kernel),
            "cudaFuncGetAttributes")
        != 0)
      return false;
    // kernels compiled for earlier GPUs would not wait
    has_pdl = attributes.ptxVersion >= 90;
    known = device;
  }
  return has_pdl;
}

// A test program may define this to simulate allocation failures.
extern "C" CUV_API int cuv_test_allocation_fails (void) __attribute__ ((weak));

static bool
may_allocate ()
{
  return cuv_test_allocation_fails == nullptr
      || cuv_test_allocation_fails () == 0;
}

// Records a failed allocation, with the text that elements report when the
// GPU's memory runs out.
static int
record_allocation (cudaError_t status, const char *call, size_t size)
{
  if (status != cudaErrorMemoryAllocation)
    return cuv_cuda_record (status, call);
  cudaGetLastError (); // clears the error, which the next launch would report
                       // otherwise
  snprintf (error_text, sizeof error_text,
      "%s of %zu bytes: %s (out of memory: use smaller frames, or fewer "
      "elements "
      "or processes on the GPU)",
      call, size, cudaGetErrorName (status));
  return -1;
}

static void *
arena_is_full (const CuvArena *arena)
{
  snprintf (error_text, sizeof error_text,
      "CuvArena: no entry left after %d device and %d pinned allocations "
      "(enlarge its arrays in cuv-cuda.cuh)",
      arena->n_device, arena->n_pinned);
  return nullptr;
}

static cudaError_t
cuv_cuda_allocate (void **memory, size_t size)
{
  return may_allocate () ? cudaMalloc (memory, size)
                         : cudaErrorMemoryAllocation;
}

void *
cuv_arena_alloc (CuvArena *arena, size_t size)
{
  void *memory = nullptr;

  if (arena->n_device == sizeof arena->device / sizeof *arena->device)
    return arena_is_full (arena);
  if (record_allocation (cuv_cuda_allocate (&memory, size), "cudaMalloc", size)
      != 0)
    return nullptr;
  arena->device[arena->n_device] = memory;
  arena->sizes[arena->n_device++] = size;
  allocated += size;
  return memory;
}

// Zeroes memory on the thread's own stream, not the NULL stream, and waits, so
// that any stream may use the memory afterwards.
static int
cuv_cuda_zero (void *memory, size_t size)
{
  CUV_CUDA_TRY (cudaMemsetAsync (memory, 0, size, cudaStreamPerThread));
  CUV_CUDA_TRY (cudaStreamSynchronize (cudaStreamPerThread));
  return 0;
}

static int
cuv_cuda_upload (void *memory, const void *data, size_t size)
{
  CUV_CUDA_TRY (cudaMemcpyAsync (
      memory, data, size, cudaMemcpyHostToDevice, cudaStreamPerThread));
  CUV_CUDA_TRY (cudaStreamSynchronize (cudaStreamPerThread));
  return 0;
}

void *
cuv_arena_zeroed (CuvArena *arena, size_t size)
{
  void *memory = cuv_arena_alloc (arena, size);

  return memory != nullptr && cuv_cuda_zero (memory, size) == 0 ? memory
                                                                : nullptr;
}

void *
cuv_arena_upload (CuvArena *arena, const void *data, size_t size)
{
  void *memory = cuv_arena_alloc (arena, size);

  return memory != nullptr && cuv_cuda_upload (memory, data, size) == 0
      ? memory
      : nullptr;
}

void *
cuv_arena_pinned (CuvArena *arena, size_t size)
{
  cudaError_t status = cudaErrorMemoryAllocation;
  void *memory = nullptr;

  if (arena->n_pinned == sizeof arena->pinned / sizeof *arena->pinned)
    return arena_is_full (arena);
  if (may_allocate ())
    status = cudaMallocHost (&memory, size);
  if (record_allocation (status, "cudaMallocHost", size) != 0)
    return nullptr;
  arena->pinned[arena->n_pinned++] = memory;
  return memory;
}

int
cuv_cuda_copy (void *to, const void *from, size_t size, cudaStream_t stream)
{
  CUV_CUDA_TRY (cudaMemcpyAsync (to, from, size, cudaMemcpyDefault, stream));
  CUV_CUDA_TRY (cudaStreamSynchronize (stream));
  return 0;
}

void
cuv_arena_clear (CuvArena *arena)
{
  while (arena->n_device > 0) {
    allocated -= arena->sizes[--arena->n_device];
    cuv_cuda_record (cudaFree (arena->device[arena->n_device]), "cudaFree");
  }
  while (arena->n_pinned > 0)
    cuv_cuda_record (
        cudaFreeHost (arena->pinned[--arena->n_pinned]), "cudaFreeHost");
}

int
cuv_buffer_reserve (CuvBuffer *self, size_t size)
{
  if (size <= self->size)
    return 0;
  cuv_buffer_clear (self);
  if (record_allocation (
          cuv_cuda_allocate (&self->data, size), "cudaMalloc", size)
      != 0) {
    self->data = nullptr;
    return -1;
  }
  self->size = size;
  allocated += size;
  return 0;
}

int
cuv_buffer_upload (CuvBuffer *self, const void *data, size_t size)
{
  return cuv_buffer_reserve (self, size) == 0
      ? cuv_cuda_upload (self->data, data, size)
      : -1;
}

void
cuv_buffer_clear (CuvBuffer *self)
{
  if (self->data != nullptr)
    cuv_cuda_record (cudaFree (self->data), "cudaFree");
  allocated -= self->size;
  *self = CuvBuffer{};
}
