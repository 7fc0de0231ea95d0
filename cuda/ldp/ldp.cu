// SPDX-License-Identifier: LGPL-2.1-or-later
// Local derivative patterns on the GPU: memory, resizing, drawing, and the
// order of the kernels.
#include "ldp/ldp.h"

#include <memory>
#include <new>
#include "cuv-arena.cuh"
#include "cuv-wait.h"
#include "ldp/ldp-code.h"
#include "ldp/ldp-resize.h"
#include "ldp/describe.cuh"

// Describes one scale of a layout.
struct _CuvLdpCuda {
  std::unique_ptr<_CuvLdpCuda> next; // the smaller scales, or none
  // only in the first scale: the layout of all scales, the number of their
  // counts, and the descriptor of the turned picture
  CuvLdpLayout whole = {};
  size_t n_all = 0;
  std::unique_ptr<_CuvLdpCuda> turned;
  CuvArena arena = {};
  CuvLdpDescribeArgs args = {};
  size_t n_counts = 0;         // counts of this scale
  uint8_t *picture = nullptr;  // the picture, resized to the layout's size
  void *host_counts = nullptr; // pinned
  CuvFrame frame = {};         // frame of the last submit
  CuvLdpRect rect = {};
  cudaStream_t stream = nullptr;
  CuvWait wait = {};

  ~_CuvLdpCuda ()
  {
    cuv_arena_clear (&arena);
  }
};

// ---- resizing ----

#define CUV_LDP_PIXEL_THREADS 256

// One thread per pixel, here and below.
static __global__ void
__launch_bounds__ (CUV_LDP_PIXEL_THREADS)
    resize_kernel (const __grid_constant__ CuvFrame frame, CuvLdpRect rect,
        int width, int height, uint8_t *picture)
{
  const int at = blockIdx.x * CUV_LDP_PIXEL_THREADS + threadIdx.x;

  if (at < width * height)
    picture[at] = cuv_ldp_resized_pixel (
        &frame, &rect, width, height, at % width, at / width);
}

// A warp per pixel, each lane with a part of the sum, where many pixels are
// averaged to one.
#define CUV_LDP_PARTS_ACROSS 4
#define CUV_LDP_PARTS_DOWN 8

static __global__ void
__launch_bounds__ (CUV_LDP_PIXEL_THREADS)
    reduce_kernel (const __grid_constant__ CuvFrame frame, CuvLdpRect rect,
        int width, int height, uint8_t *picture)
{
  const int at = (blockIdx.x * CUV_LDP_PIXEL_THREADS + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  int64_t sum = 0;

  if (at < width * height)
    sum = cuv_ldp_weighted_sum (&frame, &rect, width, height, at % width,
        at / width, CUV_LDP_PARTS_ACROSS, CUV_LDP_PARTS_DOWN, lane);
  sum = cuv_warp_sum (sum);
  if (at < width * height && lane == 0)
    picture[at] = cuv_ldp_rounded_mean (&rect, width, height, sum);
}

static int
resize_picture (const CuvLdpCuda *self)
{
  const int width = self->args.layout.width, height = self->args.layout.height;
  const int64_t pixels = (int64_t) self->rect.width * self->rect.height;

  if (pixels / (width * height) >= 16) {
    reduce_kernel<<<cuv_div_up (width * height, CUV_LDP_PIXEL_THREADS / 32),
        CUV_LDP_PIXEL_THREADS, 0, self->stream>>> (
        self->frame, self->rect, width, height, self->picture);
    CUV_CUDA_LAUNCHED (reduce_kernel);
    return 0;
  }
  resize_kernel<<<cuv_div_up (width * height, CUV_LDP_PIXEL_THREADS),
      CUV_LDP_PIXEL_THREADS, 0, self->stream>>> (
      self->frame, self->rect, width, height, self->picture);
  CUV_CUDA_LAUNCHED (resize_kernel);
  return 0;
}

// Sets the picture to the rectangle itself if it has the layout's size,
// otherwise to a resized copy.
static int
cuv_ldp_set_picture (CuvLdpCuda *self)
{
  const int width = self->args.layout.width, height = self->args.layout.height;

  if (self->rect.width == width && self->rect.height == height) {
    self->args.picture = cuv_ldp_crop (&self->frame, &self->rect);
    return 0;
  }
  self->args.picture = CuvFrame{ CUV_MODEL_GREY, width, height, 1,
    { { self->picture, width, 1, 0, 0 } } };
  return resize_picture (self);
}

// ---- drawing ----

static __global__ void
__launch_bounds__ (CUV_LDP_PIXEL_THREADS)
    draw_kernel (const __grid_constant__ CuvFrame frame, CuvLdpRect rect,
        const __grid_constant__ CuvLdpLayout layout, const uint8_t *picture,
        int direction)
{
  const int at = blockIdx.x * CUV_LDP_PIXEL_THREADS + threadIdx.x;
  const int x = at % rect.width, y = at / rect.width;

  if (y < rect.height)
    cuv_frame_set_grey (&frame, rect.x + x, rect.y + y,
        cuv_ldp_drawn_pixel (&layout, picture, direction,
            (int) ((int64_t) x * layout.width / rect.width),
            (int) ((int64_t) y * layout.height / rect.height)));
}

// Reads a copy of the picture, because the frame is written to.
static int
submit_drawing (CuvLdpCuda *self, int direction)
{
  const int n = self->rect.width * self->rect.height;

  if (resize_picture (self) != 0)
    return -1;
  draw_kernel<<<cuv_div_up (n, CUV_LDP_PIXEL_THREADS), CUV_LDP_PIXEL_THREADS, 0,
      self->stream>>> (
      self->frame, self->rect, self->args.layout, self->picture, direction);
  CUV_CUDA_LAUNCHED (draw_kernel);
  return 0;
}

extern "C" int
cuv_ldp_cuda_draw (CuvLdpCuda *self, int direction)
{
  return cuv_end_submit (submit_drawing (self, direction), self->stream);
}

// ---- the entry points ----

// Initialises one scale of `whole`. counts: where its counts are; nullptr for
// the first scale, which allocates the counts of all scales.
static bool
cuv_ldp_init (
    CuvLdpCuda *self, const CuvLdpLayout *whole, int scale, uint8_t *counts)
{
  CuvLdpDescribeArgs *args = &self->args;
  const CuvLdpLayout *layout = &args->layout;
  const size_t n_all =
      (size_t) whole->n_blocks * whole->n_histograms * whole->n_bins;
  int n = 0;

  args->layout = cuv_ldp_scale (whole, scale);
  if (cuv_ldp_plan (&args->plan, *layout, &self->arena) != 0)
    return false;
  args->plan.count_size = cuv_ldp_count_size (whole);
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    const bool wanted = layout->params.directions >> d & 1;

    args->histogram_of_direction[d] = (int8_t) (!wanted ? -1
            : layout->params.is_merged                  ? 0
                                                        : n++);
  }
  self->n_counts =
      (size_t) layout->n_blocks * layout->n_histograms * layout->n_bins;
  args->counts = counts != nullptr
      ? counts
      : cuv_arena_alloc (&self->arena, (n_all + 1) * args->plan.count_size);
  self->picture = (uint8_t *) cuv_arena_alloc (
      &self->arena, (size_t) layout->width * layout->height);
  return args->counts != nullptr && self->picture != nullptr;
}

static std::unique_ptr<CuvLdpCuda>
new_scales (const CuvLdpLayout *layout, int scale, uint8_t *counts)
{
  std::unique_ptr<CuvLdpCuda> self (new (std::nothrow) _CuvLdpCuda);

  if (self == nullptr) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  if (!cuv_ldp_init (self.get (), layout, scale, counts))
    return nullptr;
  if (scale + 1 == layout->params.scales)
    return self;
  counts = (uint8_t *) self->args.counts
      + self->n_counts * self->args.plan.count_size;
  self->next = new_scales (layout, scale + 1, counts);
  return self->next != nullptr ? std::move (self) : nullptr;
}

extern "C" CuvLdpCuda *
cuv_ldp_cuda_new (const CuvLdpLayout *layout)
{
  std::unique_ptr<CuvLdpCuda> self = new_scales (layout, 0, nullptr);

  if (self == nullptr)
    return nullptr;
  self->whole = *layout;
  self->n_all =
      (size_t) layout->n_blocks * layout->n_histograms * layout->n_bins;
  return self.release ();
}

extern "C" void
cuv_ldp_cuda_free (CuvLdpCuda *self)
{
  delete self;
}

static int submit_counts (CuvLdpCuda *self);

// Describes this scale's picture at the smaller scales.
static int
submit_next (const CuvLdpCuda *self)
{
  CuvLdpCuda *next = self->next.get ();

  next->stream = self->stream;
  next->frame = self->args.picture;
  next->rect = { 0, 0, next->frame.width, next->frame.height };
  return submit_counts (next);
}

static int
submit_counts (CuvLdpCuda *self)
{
  if (self->args.plan.needs_atomic_add)
    CUV_CUDA_TRY (cudaMemsetAsync (self->args.counts, 0,
        (self->n_counts + 1) * self->args.plan.count_size, self->stream));
  if (cuv_ldp_set_picture (self) != 0
      || cuv_ldp_describe_submit (self->args, self->stream) != 0)
    return -1;
  return self->next != nullptr ? submit_next (self) : 0;
}

extern "C" int
cuv_ldp_cuda_submit (CuvLdpCuda *self, const CuvFrame *frame,
    const CuvLdpRect *rect, CuvCudaStream stream)
{
  self->stream = (cudaStream_t) stream;
  self->frame = *frame;
  self->rect = *rect;
  return cuv_end_submit (submit_counts (self), self->stream);
}

extern "C" CuvLdpCuda *
cuv_ldp_cuda_submit_turned (CuvLdpCuda *self, int orientation)
{
  const CuvFrame turned = cuv_ldp_turn (&self->args.picture, orientation);
  const CuvLdpRect whole = { 0, 0, turned.width, turned.height };

  if (self->turned == nullptr)
    self->turned.reset (cuv_ldp_cuda_new (&self->whole));
  return self->turned != nullptr
          && cuv_ldp_cuda_submit (
                 self->turned.get (), &turned, &whole, self->stream)
              == 0
      ? self->turned.get ()
      : nullptr;
}

extern "C" const void *
cuv_ldp_cuda_counts (const CuvLdpCuda *self)
{
  return self->args.counts;
}

extern "C" int
cuv_ldp_cuda_wait (CuvLdpCuda *self)
{
  return cuv_wait_stream (&self->wait, self->stream);
}

static int
copy_counts (CuvLdpCuda *self)
{
  CUV_CUDA_TRY (cudaMemcpyAsync (self->host_counts, self->args.counts,
      self->n_all * self->args.plan.count_size, cudaMemcpyDeviceToHost,
      self->stream));
  return cuv_ldp_cuda_wait (self);
}

// Host memory is allocated on first use; comparing on the device needs none.
extern "C" const void *
cuv_ldp_cuda_collect (CuvLdpCuda *self)
{
  if (self->host_counts == nullptr)
    self->host_counts = cuv_arena_pinned (
        &self->arena, self->n_all * self->args.plan.count_size);
  return self->host_counts != nullptr && copy_counts (self) == 0
      ? self->host_counts
      : nullptr;
}
