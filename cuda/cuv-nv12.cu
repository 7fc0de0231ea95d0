// SPDX-License-Identifier: LGPL-2.1-or-later
// RGB to NV12 conversion.
#include "cuv-nv12.h"
#include "cuv-cuda.cuh"

#define CUV_NV12_THREADS_X 32
#define CUV_NV12_THREADS_Y 8

// Arguments of the kernel; strides in bytes.
struct Picture {
  const uint8_t *rgbx;
  ptrdiff_t stride;
  int width, height;
  CuvYuvColours colours;
  uint8_t *y, *uv;
  ptrdiff_t y_stride, uv_stride;
};

struct Pixel {
  float r, g, b;

  __device__ __forceinline__ void
  add (const Pixel &other, float weight)
  {
    r += weight * other.r;
    g += weight * other.g;
    b += weight * other.b;
  }
};

// Replicates the left and right edge.
static __device__ __forceinline__ Pixel
pixel_at (const Picture &picture, int x, int y)
{
  const unsigned *row =
      (const unsigned *) (picture.rgbx + y * (int64_t) picture.stride);
  const unsigned p = row[max (0, min (x, picture.width - 1))];

  return Pixel{ (float) (p & 255), (float) (p >> 8 & 255),
    (float) (p >> 16 & 255) };
}

static __device__ __forceinline__ uint8_t
component (const CuvYuvColours &colours, int c, const Pixel &p)
{
  const float *factor = colours.factor[c];
  const float value =
      colours.offset[c] + factor[0] * p.r + factor[1] * p.g + factor[2] * p.b;

  return (uint8_t) (fminf (fmaxf (value, 0.0f), 255.0f) + 0.5f);
}

// One thread per chroma sample and the 2 x 2 pixels that share it.
static __global__ void
__launch_bounds__ (CUV_NV12_THREADS_X *CUV_NV12_THREADS_Y)
    nv12_kernel (const __grid_constant__ Picture picture)
{
  const int x = 2 * (blockIdx.x * CUV_NV12_THREADS_X + threadIdx.x);
  const int y = 2 * (blockIdx.y * CUV_NV12_THREADS_Y + threadIdx.y);
  const CuvYuvColours &colours = picture.colours;
  Pixel sum = {};

  if (x >= picture.width || y >= picture.height)
    return;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int row = min (y + i, picture.height - 1);
    const Pixel left = pixel_at (picture, x, row);
    const Pixel right = pixel_at (picture, x + 1, row);
    uint8_t *to = picture.y + row * (int64_t) picture.y_stride + x;

    to[0] = component (colours, 0, left);
    if (x + 1 < picture.width)
      to[1] = component (colours, 0, right);
    sum.add (left, 0.25f);
    sum.add (right, colours.is_cosited ? 0.125f : 0.25f);
    if (colours.is_cosited)
      sum.add (pixel_at (picture, x - 1, row), 0.125f);
  }
  uint8_t *to = picture.uv + y / 2 * (int64_t) picture.uv_stride + x;

  to[0] = component (colours, 1, sum);
  to[1] = component (colours, 2, sum);
}

extern "C" int
cuv_nv12_submit (const uint8_t *rgbx, ptrdiff_t stride, int width, int height,
    const CuvYuvColours *colours, uint8_t *y, ptrdiff_t y_stride, uint8_t *uv,
    ptrdiff_t uv_stride, CuvCudaStream stream)
{
  const Picture picture = { rgbx, stride, width, height, *colours, y, uv,
    y_stride, uv_stride };
  const dim3 grid (cuv_div_up (cuv_div_up (width, 2), CUV_NV12_THREADS_X),
      cuv_div_up (cuv_div_up (height, 2), CUV_NV12_THREADS_Y));
  const dim3 block (CUV_NV12_THREADS_X, CUV_NV12_THREADS_Y);

  nv12_kernel<<<grid, block, 0, (cudaStream_t) stream>>> (picture);
  CUV_CUDA_LAUNCHED (nv12_kernel);
  return 0;
}
