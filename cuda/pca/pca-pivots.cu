// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the pivots of a float cube's bands from some of its pixels, by one
// block, as on the CPU.
#include "pca/pca-state.cuh"

#define THREADS_PER_PIXEL 4 // threads per pixel
#define THREADS (THREADS_PER_PIXEL * CUV_PCA_PIVOT_PIXELS)

// Sample of a band in the pixel-th of the pixels that pivots come from.
static __device__ __forceinline__ float
load (const CuvPcaPass &pass, int pixel, int band)
{
  const CuvCube &cube = pass.cube;
  const int64_t at = cuv_pca_pivot_pixel (&cube, pixel);

  return *(const float *) (cube.data + at / cube.width * cube.row_step
      + at % cube.width * cube.pixel_step
      + pass.bands.index[band] * cube.band_step);
}

static __device__ __forceinline__ bool
is_good (const CuvPcaPass &pass, float value)
{
  return value - value == 0.0f
      && !(pass.has_ignore && (double) value == pass.ignore);
}

// One block. counts: pixels without a sample to exclude.
static __global__ void
__launch_bounds__ (THREADS)
    pivots_kernel (const __grid_constant__ CuvPcaPass pass)
{
  __shared__ bool counts[CUV_PCA_PIVOT_PIXELS];
  const int n = cuv_pca_pivot_pixels (&pass.cube);
  const int own = threadIdx.x / THREADS_PER_PIXEL;

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if ((int) threadIdx.x < n)
    counts[threadIdx.x] = true;
  __syncthreads ();
  for (int b = threadIdx.x % THREADS_PER_PIXEL; b < pass.bands.n && own < n;
       b += THREADS_PER_PIXEL) {
    if (!is_good (pass, load (pass, own, b)))
      counts[own] = false;
  }
  __syncthreads ();
  for (int b = threadIdx.x; b < pass.bands.n; b += THREADS) {
    float minimum = 0, maximum = 0;
    double sum = 0.0;
    int count = 0;

#pragma unroll 8
    for (int i = 0; i < n; i++) {
      const float value = load (pass, i, b);

      if (!counts[i])
        continue;
      minimum = count == 0 ? value : fminf (minimum, value);
      maximum = count == 0 ? value : fmaxf (maximum, value);
      sum += value;
      count++;
    }
    pass.pivots[b].d = cuv_pca_pivot (minimum, maximum, sum, count);
  }
}

int
cuv_pca_pivots_submit (const CuvPcaPass &pass, cudaStream_t stream)
{
  return cuv_launch_dependent (
      "pivots_kernel", 1, THREADS, 0, stream, pivots_kernel, pass);
}
