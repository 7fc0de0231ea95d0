// SPDX-License-Identifier: LGPL-2.1-or-later
// Local derivative patterns on the GPU: resizing, drawing and the entry points.
#include "ldp/ldp.h"

#include <memory>
#include <new>
#include "cuv-wait.h"
#include "ldp/ldp-code.h"
#include "ldp/ldp-resize.h"
#include "ldp/describe.cuh"

struct _CuvLdpCuda {
  CuvArena arena = {};
  CuvLdpPass pass = {};
  size_t n_counts = 0;
  uint8_t *picture = nullptr;  // resized to the layout's size
  void *host_counts = nullptr; // pinned
  CuvFrame frame = {};         // of the last submit
  CuvLdpRect rect = {};
  cudaStream_t stream = nullptr;
  CuvWait wait = {};

  ~_CuvLdpCuda ()
  {
    cuv_arena_clear (&arena);
  }
};

// ---- resizing ----

#define PIXEL_THREADS 256

static __global__ void
__launch_bounds__ (PIXEL_THREADS)
    resize_kernel (const __grid_constant__ CuvFrame frame, CuvLdpRect rect,
        int width, int height, uint8_t *picture)
{
  const int at = blockIdx.x * PIXEL_THREADS + threadIdx.x;

  if (at < width * height)
    picture[at] =
        cuv_ldp_pixel (&frame, &rect, width, height, at % width, at / width);
}

static int
resize_picture (const CuvLdpCuda *self)
{
  const int width = self->pass.layout.width, height = self->pass.layout.height;

  resize_kernel<<<cuv_div_up (width * height, PIXEL_THREADS), PIXEL_THREADS, 0,
      self->stream>>> (self->frame, self->rect, width, height, self->picture);
  CUV_CUDA_LAUNCHED (resize_kernel);
  return 0;
}

static int
set_picture (CuvLdpCuda *self)
{
  const int width = self->pass.layout.width, height = self->pass.layout.height;

  if (self->rect.width == width && self->rect.height == height) {
    self->pass.picture = cuv_ldp_cut (&self->frame, &self->rect);
    return 0;
  }
  self->pass.picture = CuvFrame{ CUV_MODEL_GREY, width, height, 1,
    { { self->picture, width, 1, 0, 0 } } };
  return resize_picture (self);
}

// ---- drawing ----

static __global__ void
__launch_bounds__ (PIXEL_THREADS)
    draw_kernel (const __grid_constant__ CuvFrame frame, CuvLdpRect rect,
        const __grid_constant__ CuvLdpLayout layout, const uint8_t *picture,
        int direction)
{
  const int at = blockIdx.x * PIXEL_THREADS + threadIdx.x;
  const int x = at % rect.width, y = at / rect.width;

  if (y < rect.height)
    cuv_frame_set_grey (&frame, rect.x + x, rect.y + y,
        cuv_ldp_drawn (&layout, picture, direction,
            (int) ((int64_t) x * layout.width / rect.width),
            (int) ((int64_t) y * layout.height / rect.height)));
}

// From a copy of the picture, for the frame is written to.
extern "C" int
cuv_ldp_cuda_draw (CuvLdpCuda *self, int direction)
{
  const int n = self->rect.width * self->rect.height;

  if (resize_picture (self) != 0)
    return -1;
  draw_kernel<<<cuv_div_up (n, PIXEL_THREADS), PIXEL_THREADS, 0,
      self->stream>>> (
      self->frame, self->rect, self->pass.layout, self->picture, direction);
  CUV_CUDA_LAUNCHED (draw_kernel);
  return 0;
}

// ---- the entry points ----

static bool
init (CuvLdpCuda *self, const CuvLdpLayout *layout)
{
  CuvLdpPass *pass = &self->pass;
  int n = 0;

  pass->layout = *layout;
  if (cuv_ldp_plan (&pass->plan, *layout, &self->arena) != 0)
    return false;
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    const bool wanted = layout->params.directions >> d & 1;

    pass->histogram_of[d] = (int8_t) (!wanted ? -1
            : layout->params.is_merged        ? 0
                                              : n++);
  }
  self->n_counts = (size_t) layout->columns * layout->rows
      * layout->n_histograms * layout->n_bins;
  pass->counts = cuv_arena_alloc (
      &self->arena, (self->n_counts + 1) * pass->plan.count_size);
  self->picture = (uint8_t *) cuv_arena_alloc (
      &self->arena, (size_t) layout->width * layout->height);
  return pass->counts != nullptr && self->picture != nullptr;
}

extern "C" CuvLdpCuda *
cuv_ldp_cuda_new (const CuvLdpLayout *layout)
{
  std::unique_ptr<CuvLdpCuda> self (new (std::nothrow) _CuvLdpCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  return init (self.get (), layout) ? self.release () : nullptr;
}

extern "C" void
cuv_ldp_cuda_free (CuvLdpCuda *self)
{
  delete self;
}

extern "C" int
cuv_ldp_cuda_submit (CuvLdpCuda *self, const CuvFrame *frame,
    const CuvLdpRect *rect, CuvCudaStream stream)
{
  self->stream = (cudaStream_t) stream;
  self->frame = *frame;
  self->rect = *rect;
  if (self->pass.plan.adds)
    CUV_CUDA_TRY (cudaMemsetAsync (self->pass.counts, 0,
        (self->n_counts + 1) * self->pass.plan.count_size, self->stream));
  if (set_picture (self) != 0)
    return -1;
  return cuv_ldp_describe_submit (self->pass, self->stream);
}

extern "C" const void *
cuv_ldp_cuda_counts (const CuvLdpCuda *self)
{
  return self->pass.counts;
}

extern "C" int
cuv_ldp_cuda_wait (CuvLdpCuda *self)
{
  return cuv_wait_stream (&self->wait, self->stream);
}

static int
copy_counts (CuvLdpCuda *self)
{
  CUV_CUDA_TRY (cudaMemcpyAsync (self->host_counts, self->pass.counts,
      self->n_counts * self->pass.plan.count_size, cudaMemcpyDeviceToHost,
      self->stream));
  return cuv_ldp_cuda_wait (self);
}

// Pinned on first use: who compares on the device never needs it.
extern "C" const void *
cuv_ldp_cuda_collect (CuvLdpCuda *self)
{
  if (self->host_counts == nullptr)
    self->host_counts = cuv_arena_pinned (
        &self->arena, self->n_counts * self->pass.plan.count_size);
  return self->host_counts != nullptr && copy_counts (self) == 0
      ? self->host_counts
      : nullptr;
}
