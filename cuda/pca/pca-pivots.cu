// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that finds the pivots of a float cube's bands from some of its
// pixels, by one block, in the order of the CPU.
#include "pca/pca-state.cuh"

#define CUV_PCA_PIVOT_THREADS 512
// bands whose samples are in shared memory at once
#define CUV_PCA_PIVOT_BANDS 128

struct Shared {
  const uint8_t *pixels[CUV_PCA_PIVOT_PIXELS];
  bool counts[CUV_PCA_PIVOT_PIXELS]; // pixels without a sample to exclude
  float samples[CUV_PCA_PIVOT_PIXELS][CUV_PCA_PIVOT_BANDS];
};

static __device__ __forceinline__ bool
is_good (const CuvPcaPass &pass, float value)
{
  return value - value == 0.0f
      && !(pass.has_ignore && (double) value == pass.ignore);
}

// Calls call (pixel, band, sample) for n pixels and bands first .. end - 1, all
// threads' loads at once.
template <typename Call>
static __device__ __forceinline__ void
each_sample (const CuvPcaPass &pass, const Shared &shared, int n, int first,
    int end, Call call)
{
  const int bands = end - first;

#pragma unroll 4
  for (int i = threadIdx.x; i < n * bands; i += CUV_PCA_PIVOT_THREADS) {
    const int pixel = i / bands, band = first + i % bands;

    call (pixel, band,
        *(const float *) (shared.pixels[pixel]
            + pass.bands.index[band] * pass.cube.band_step));
  }
}

// Returns the pivot of a band whose samples are in a column, summed in the
// order of the CPU.
static __device__ __forceinline__ double
find_pivot (const Shared &shared, int n, int column)
{
  float minimum = 0, maximum = 0;
  double sum = 0.0;
  int count = 0;

#pragma unroll 8
  for (int i = 0; i < n; i++) {
    const float value = shared.samples[i][column];

    if (!shared.counts[i])
      continue;
    minimum = count == 0 ? value : fminf (minimum, value);
    maximum = count == 0 ? value : fmaxf (maximum, value);
    sum += value;
    count++;
  }
  return cuv_pca_pivot (minimum, maximum, sum, count);
}

// Launched with one block.
static __global__ void
__launch_bounds__ (CUV_PCA_PIVOT_THREADS)
    pivots_kernel (const __grid_constant__ CuvPcaPass pass)
{
  __shared__ Shared shared;
  const CuvCube &cube = pass.cube;
  const int n = cuv_pca_pivot_pixels (&cube), i = threadIdx.x;

  if (i < n) {
    const int64_t at = cuv_pca_pivot_pixel (&cube, i);

    shared.pixels[i] = cube.data + at / cube.width * cube.row_step
        + at % cube.width * cube.pixel_step;
    shared.counts[i] = true;
  }
  cuv_pdl_wait ();
  cuv_pdl_trigger (); // not earlier, because this is the first kernel of a
                      // frame
  __syncthreads ();
  each_sample (
      pass, shared, n, 0, pass.bands.n, [&] (int pixel, int, float sample) {
        if (!is_good (pass, sample))
          shared.counts[pixel] = false;
      });
  for (int first = 0; first < pass.bands.n; first += CUV_PCA_PIVOT_BANDS) {
    const int end = min (first + CUV_PCA_PIVOT_BANDS, pass.bands.n);

    __syncthreads ();
    each_sample (
        pass, shared, n, first, end, [&] (int pixel, int band, float sample) {
          shared.samples[pixel][band - first] = sample;
        });
    __syncthreads ();
    if (i < end - first)
      pass.pivots[first + i].d = find_pivot (shared, n, i);
  }
}

int
cuv_pca_pivots_submit (const CuvPcaPass &pass, cudaStream_t stream)
{
  return cuv_launch_dependent ("pivots_kernel", 1, CUV_PCA_PIVOT_THREADS, 0,
      stream, pivots_kernel, pass);
}
