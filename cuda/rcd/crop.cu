// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes crops: the same pixels as elements/rcd/reference/crop.c.
#include "rcd/rcd-crop.h"
#include "rcd/search.cuh"

#define BLOCK dim3 (32, 8)

// One thread per pixel; z is the number of the crop.
static __global__ void
crop_kernel (
    CuvFrame frame, const __grid_constant__ CuvRcdCrops crops, uint8_t *pixels)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int i = blockIdx.z;

  if (x < CUV_RCD_CROP && y < CUV_RCD_CROP)
    pixels[i * CUV_RCD_CROP_PIXELS + y * CUV_RCD_CROP + x] =
        cuv_rcd_crop_pixel (&frame, &crops.crop[i], x, y);
}

int
cuv_rcd_crop_submit (const CuvFrame &frame, const CuvRcdCrops &crops, int n,
    uint8_t *pixels, cudaStream_t stream)
{
  const dim3 grid (cuv_div_up (CUV_RCD_CROP, BLOCK.x),
      cuv_div_up (CUV_RCD_CROP, BLOCK.y), n);

  crop_kernel<<<grid, BLOCK, 0, stream>>> (frame, crops, pixels);
  CUV_CUDA_LAUNCHED (crop_kernel);
  return 0;
}
