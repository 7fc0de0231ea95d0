// SPDX-License-Identifier: LGPL-2.1-or-later
#include <new>
#include "cuv-arena.cuh"
#include "cuv-wait.h"
#include "countbright/countbright.h"

#define BLOCK_WIDTH 32 // a warp reads pixels of one row
#define BLOCK_HEIGHT 8
#define MAX_GRID_HEIGHT 16 // each warp costs an atomic addition

struct _CuvCountbrightCuda {
  CuvArena arena;
  unsigned long long *device, *pinned; // the count
  cudaEvent_t done;
  CuvWait wait;
};

// ---- kernel ----

static __global__ void
count_kernel (CuvFrame frame, int threshold, unsigned long long *count)
{
  const int x = blockIdx.x * BLOCK_WIDTH + threadIdx.x;
  unsigned bright = 0;

  if (x < frame.width) {
    for (int y = blockIdx.y * BLOCK_HEIGHT + threadIdx.y; y < frame.height;
         y += gridDim.y * BLOCK_HEIGHT)
      bright += cuv_frame_grey (&frame, x, y) > threshold;
  }
  bright = cuv_warp_sum (bright);
  if (threadIdx.x == 0 && bright > 0)
    atomicAdd (count, (unsigned long long) bright);
}

// ---- launcher ----

static int
enqueue (CuvCountbrightCuda *self, const CuvFrame *frame, int threshold,
    cudaStream_t stream)
{
  const dim3 block (BLOCK_WIDTH, BLOCK_HEIGHT);
  const dim3 grid (cuv_div_up (frame->width, BLOCK_WIDTH),
      std::min (cuv_div_up (frame->height, BLOCK_HEIGHT), MAX_GRID_HEIGHT));

  CUV_CUDA_TRY (
      cudaMemsetAsync (self->device, 0, sizeof *self->device, stream));
  count_kernel<<<grid, block, 0, stream>>> (*frame, threshold, self->device);
  CUV_CUDA_LAUNCHED (count_kernel);
  CUV_CUDA_TRY (cudaMemcpyAsync (self->pinned, self->device,
      sizeof *self->device, cudaMemcpyDeviceToHost, stream));
  CUV_CUDA_TRY (cudaEventRecord (self->done, stream));
  return 0;
}

// ---- entries ----

static int
init (CuvCountbrightCuda *self)
{
  const size_t size = sizeof *self->device;

  self->device = (unsigned long long *) cuv_arena_alloc (&self->arena, size);
  self->pinned = (unsigned long long *) cuv_arena_pinned (&self->arena, size);
  if (self->device == nullptr || self->pinned == nullptr)
    return -1;
  CUV_CUDA_TRY (cudaEventCreateWithFlags (&self->done, cudaEventDisableTiming));
  return 0;
}

extern "C" CuvCountbrightCuda *
cuv_countbright_cuda_new (void)
{
  CuvCountbrightCuda *self = new (std::nothrow) CuvCountbrightCuda ();

  if (self == nullptr)
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
  else if (init (self) == 0)
    return self;
  cuv_countbright_cuda_free (self);
  return nullptr;
}

extern "C" void
cuv_countbright_cuda_free (CuvCountbrightCuda *self)
{
  if (self == nullptr)
    return;
  if (self->done != nullptr)
    cuv_cuda_record (cudaEventDestroy (self->done), "cudaEventDestroy");
  cuv_arena_clear (&self->arena);
  delete self;
}

extern "C" int
cuv_countbright_cuda_submit (CuvCountbrightCuda *self, const CuvFrame *frame,
    int threshold, CuvCudaStream stream)
{
  const cudaStream_t on = (cudaStream_t) stream;

  return cuv_end_submit (enqueue (self, frame, threshold, on), on);
}

extern "C" int
cuv_countbright_cuda_collect (CuvCountbrightCuda *self, uint64_t *count)
{
  if (cuv_wait_event (&self->wait, self->done) != 0)
    return -1;
  *count = *self->pinned;
  return 0;
}
