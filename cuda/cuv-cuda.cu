// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuv-cuda.cuh"

#include <atomic>
#include <stdio.h>

static thread_local char error_text[512] = "no error";
static std::atomic<size_t> allocated;
static std::atomic<int> allocations_left{ -1 };

int
cuv_cuda_record (cudaError_t status, const char *call)
{
  if (status == cudaSuccess)
    return 0;
  snprintf (error_text, sizeof error_text, "%s: %s (%s)", call,
      cudaGetErrorName (status), cudaGetErrorString (status));
  cudaGetLastError (); // or a later launch check would report this one again
  return -1;
}

cudaError_t
cuv_cuda_launched (const char *kernel)
{
  return cudaGetLastError ();
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

  // Loads the module: says whether there is code for this device.
  CUV_CUDA_TRY (cudaFuncGetAttributes (&attributes, probe_kernel));
  return 0;
}

extern "C" size_t
cuv_cuda_allocated (void)
{
  return allocated;
}

extern "C" void
cuv_cuda_fail_allocation (int n)
{
  allocations_left = n;
}

static bool
may_allocate ()
{
  int left = allocations_left;

  while (left > 0 && !allocations_left.compare_exchange_weak (left, left - 1))
    ;
  return left != 0;
}

void *
cuv_cuda_alloc (size_t size)
{
  void *memory = nullptr;
  cudaError_t status =
      may_allocate () ? cudaMalloc (&memory, size) : cudaErrorMemoryAllocation;

  if (cuv_cuda_record (status, "cudaMalloc") != 0)
    return nullptr;
  allocated += size;
  return memory;
}

void
cuv_cuda_free (void *memory, size_t size)
{
  if (memory == nullptr)
    return;
  cuv_cuda_record (cudaFree (memory), "cudaFree");
  allocated -= size;
}

void *
cuv_cuda_alloc_pinned (size_t size)
{
  void *memory = nullptr;
  cudaError_t status = may_allocate () ? cudaMallocHost (&memory, size)
                                       : cudaErrorMemoryAllocation;

  return cuv_cuda_record (status, "cudaMallocHost") == 0 ? memory : nullptr;
}

void
cuv_cuda_free_pinned (void *memory)
{
  if (memory != nullptr)
    cuv_cuda_record (cudaFreeHost (memory), "cudaFreeHost");
}
