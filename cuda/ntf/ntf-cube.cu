// SPDX-License-Identifier: LGPL-2.1-or-later
// Scans a cube for samples that cannot be factorised, and converts it to the
// tensor. Threads run along pixels or bands, whichever have the smaller step,
// so that loads coalesce.
#include <algorithm>
#include <float.h>
#include "ntf/ntf-state.cuh"

#define CUV_NTF_CUBE_THREADS 256
#define CUV_NTF_CUBE_TILE 32 // pixels and bands per block of load_kernel

template <typename T>
static __device__ __forceinline__ float
sample_at (const uint8_t *at, bool aligned)
{
  T value;

  if (aligned)
    return *(const T *) at;
  memcpy (&value, at, sizeof value);
  return value;
}

static bool
is_aligned (const CuvCube &cube)
{
  const uintptr_t bits = (uintptr_t) cube.data | (uintptr_t) cube.pixel_step
      | (uintptr_t) cube.row_step | (uintptr_t) cube.band_step;

  return bits % cuv_cube_sample_size (cube.format) == 0;
}

static __device__ __forceinline__ void
note_bad (const CuvCube &cube, unsigned long long *count, int x, int band,
    CuvNtfFound *found)
{
  const unsigned long long line =
      (unsigned long long) blockIdx.y * cube.bands + band;

  atomicAdd (count, 1ull);
  atomicMax (&found->first, ~(line * cube.width + x));
}

// Grid: blocks of a row x rows.
static __global__ void
__launch_bounds__ (CUV_NTF_CUBE_THREADS)
    scan_kernel (const __grid_constant__ CuvCube cube, bool ignores,
        float ignore, bool aligned, CuvNtfFound *found)
{
  const bool by_bands = cube.band_step < cube.pixel_step;
  const int n_inner = by_bands ? cube.bands : cube.width;
  const uint8_t *row = cube.data + blockIdx.y * cube.row_step;
  float largest = 0;

  cuv_pdl_wait ();
  for (int i = blockIdx.x * CUV_NTF_CUBE_THREADS + threadIdx.x;
       i < cube.width * cube.bands; i += gridDim.x * CUV_NTF_CUBE_THREADS) {
    const int x = by_bands ? i / n_inner : i % n_inner;
    const int band = by_bands ? i % n_inner : i / n_inner;
    const float value = sample_at<float> (
        row + x * cube.pixel_step + band * cube.band_step, aligned);

    if (ignores && value == ignore)
      continue;
    if (!(fabsf (value) <= FLT_MAX))
      note_bad (cube, &found->n_not_finite, x, band, found);
    else if (value < 0)
      note_bad (cube, &found->n_negative, x, band, found);
    else
      largest = max (largest, value);
  }
  for (int d = 16; d > 0; d /= 2)
    largest = max (largest, __shfl_xor_sync (~0u, largest, d));
  if (threadIdx.x % 32 == 0 && largest > 0)
    atomicMax (&found->largest, __float_as_uint (largest));
}

int
cuv_ntf_scan_submit (const CuvCube &cube, const double *ignore,
    CuvNtfFound *found, cudaStream_t stream)
{
  const int n_across = std::min (
      cuv_div_up (cube.width * cube.bands, 8 * CUV_NTF_CUBE_THREADS), 64);

  return cuv_launch_dependent ("scan_kernel", dim3 (n_across, cube.height),
      CUV_NTF_CUBE_THREADS, 0, stream, scan_kernel, cube, ignore != nullptr,
      ignore != nullptr ? (float) *ignore : 0.0f, is_aligned (cube), found);
}

// Transposes a tile of pixels and bands of a row through shared memory. Grid:
// tiles across x down the bands x rows. factor: 1 / scale.
template <typename T>
static __global__ void
__launch_bounds__ (CUV_NTF_CUBE_THREADS)
    load_kernel (const __grid_constant__ CuvCube cube, float left_out,
        double factor, bool aligned, float *g, int depth, int pitch)
{
  __shared__ float tile[CUV_NTF_CUBE_TILE][CUV_NTF_CUBE_TILE + 1];
  const bool by_bands = cube.band_step < cube.pixel_step;
  const int x = blockIdx.x * CUV_NTF_CUBE_TILE,
            z = blockIdx.y * CUV_NTF_CUBE_TILE;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint8_t *from = cube.data + blockIdx.z * cube.row_step
      + x * cube.pixel_step + z * cube.band_step;
  float *to = &g[((size_t) blockIdx.z * depth + z) * pitch + x];

  cuv_pdl_wait ();
  for (int i = warp; i < CUV_NTF_CUBE_TILE; i += CUV_NTF_CUBE_THREADS / 32) {
    const int column = by_bands ? i : lane, band = by_bands ? lane : i;

    if (x + column < cube.width && z + band < cube.bands) {
      const float value = sample_at<T> (
          from + column * cube.pixel_step + band * cube.band_step, aligned);

      tile[band][column] = value > 0 && value <= FLT_MAX && value != left_out
          ? (float) (value * factor)
          : 0;
    }
  }
  __syncthreads ();
  for (int i = warp; i < CUV_NTF_CUBE_TILE; i += CUV_NTF_CUBE_THREADS / 32) {
    if (x + lane < cube.width && z + i < cube.bands)
      to[(size_t) i * pitch + lane] = tile[i][lane];
  }
}

int
cuv_ntf_load_submit (const CuvNtfState &self, const CuvCube &cube,
    const double *ignore, int z, cudaStream_t stream)
{
  const dim3 grid (cuv_div_up (cube.width, CUV_NTF_CUBE_TILE),
      cuv_div_up (cube.bands, CUV_NTF_CUBE_TILE), cube.height);
  const auto kernel = cube.format == CUV_CUBE_U8 ? load_kernel<uint8_t>
      : cube.format == CUV_CUBE_U16              ? load_kernel<uint16_t>
                                                 : load_kernel<float>;

  // -1 matches no sample
  return cuv_launch_dependent ("load_kernel", grid, CUV_NTF_CUBE_THREADS, 0,
      stream, kernel, cube, ignore != nullptr ? (float) *ignore : -1.0f,
      1 / self.scale, is_aligned (cube), &self.g[(size_t) z * self.pitch],
      self.depth, self.pitch);
}
