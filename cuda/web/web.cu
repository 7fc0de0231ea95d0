// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that converts frames to B, G, R.
#include "web/web.h"

#include <new>
#include "cuv-cuda.cuh"

#define CUV_WEB_THREADS_X 32
#define CUV_WEB_THREADS_Y 8
// adjacent pixels per thread, which share chroma and a store
#define CUV_WEB_PIXELS 4

struct _CuvWebCuda {
  CuvBuffer picture;
};

// Each thread converts CUV_WEB_PIXELS pixels of a row.
static __global__ void
__launch_bounds__ (CUV_WEB_THREADS_X *CUV_WEB_THREADS_Y)
    bgr_kernel (const __grid_constant__ CuvFrame frame,
        const __grid_constant__ CuvRgbMatrix matrix, uint8_t *picture)
{
  const int x0 =
      CUV_WEB_PIXELS * (blockIdx.x * CUV_WEB_THREADS_X + threadIdx.x);
  const int y = blockIdx.y * CUV_WEB_THREADS_Y + threadIdx.y;

  if (y >= frame.height)
    return;
  for (int x = x0; x < min (x0 + CUV_WEB_PIXELS, frame.width); x++)
    cuv_web_pixel (
        &frame, &matrix, x, y, picture + 3 * ((int64_t) y * frame.width + x));
}

CuvWebCuda *
cuv_web_cuda_new (void)
{
  CuvWebCuda *self = new (std::nothrow) CuvWebCuda ();

  if (self == nullptr)
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
  return self;
}

void
cuv_web_cuda_free (CuvWebCuda *self)
{
  if (self == nullptr)
    return;
  cuv_buffer_clear (&self->picture);
  delete self;
}

static int
cuv_web_launch (uint8_t *picture, const CuvFrame *frame,
    const CuvRgbMatrix *matrix, cudaStream_t stream)
{
  const dim3 grid (
      cuv_div_up (frame->width, CUV_WEB_THREADS_X * CUV_WEB_PIXELS),
      cuv_div_up (frame->height, CUV_WEB_THREADS_Y));

  bgr_kernel<<<grid, dim3 (CUV_WEB_THREADS_X, CUV_WEB_THREADS_Y), 0, stream>>> (
      *frame, *matrix, picture);
  CUV_CUDA_LAUNCHED (bgr_kernel);
  return 0;
}

uint8_t *
cuv_web_cuda_submit (CuvWebCuda *self, const CuvFrame *frame,
    const CuvRgbMatrix *matrix, CuvCudaStream stream)
{
  const size_t size = 3 * (size_t) frame->width * (size_t) frame->height;

  if (cuv_buffer_reserve (&self->picture, size) != 0)
    return nullptr;
  uint8_t *picture = (uint8_t *) self->picture.data;
  return cuv_web_launch (picture, frame, matrix, (cudaStream_t) stream) == 0
      ? picture
      : nullptr;
}
