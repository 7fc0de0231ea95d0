// SPDX-License-Identifier: LGPL-2.1-or-later
// Passes over a cube's pixels: sums of products, counts of bins, pictures.
// Blocks go through tiles; a warp has a part of the sums, 32 x 32 bands, in its
// registers, and some of a tile's pixels.
#include <algorithm>
#include "spectral/pca-sums.cuh"

#define TILE_BYTES (48 << 10)   // so that some blocks fit a multiprocessor
#define FLUSH_PIXELS (32 << 10) // 2 x 255^2 times as much is within 32 bits

// ---- pictures ----

// 0 .. top; what is no number is 0.
static __device__ __forceinline__ int
to_int (double value, const CuvPcaGains &gains)
{
  return (int) (fmin (value > 0.0 ? value : 0.0, gains.top) + gains.bias);
}

// Two pixels' channels; by bands in shared memory, a channel and 4 values each.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
project (const CuvPcaTile<F> &tile, int n, const CuvPcaGains &gains,
    const double *factors, const int *pixels, int values[2][CUV_PCA_SHOWN])
{
  double sums[2][CUV_PCA_SHOWN];

#pragma unroll
  for (int c = 0; c < CUV_PCA_SHOWN; c++)
    sums[0][c] = sums[1][c] = gains.offset[c];
#pragma unroll 4
  for (int b = 0; b < n; b++) {
    const double samples[2] = { tile.get (b, pixels[0]),
      tile.get (b, pixels[1]) };

#pragma unroll
    for (int c = 0; c < CUV_PCA_SHOWN; c++) {
      sums[0][c] = fma (factors[4 * b + c], samples[0], sums[0][c]);
      sums[1][c] = fma (factors[4 * b + c], samples[1], sums[1][c]);
    }
  }
#pragma unroll
  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    values[0][c] = to_int (sums[0][c], gains);
    values[1][c] = to_int (sums[1][c], gains);
  }
}

template <CuvCubeFormat F>
static __device__ __forceinline__ void
paint (const CuvPcaPass &pass, const CuvPcaTile<F> &tile, int pixel,
    const int *values)
{
  const unsigned colour = tile.left[pixel]
      ? 0
      : (unsigned) (values[0] | values[1] << 8 | values[2] << 16);

  ((unsigned *) (pass.picture + tile.y * pass.stride))[tile.first + pixel] =
      colour | 0xff000000u;
}

template <CuvCubeFormat F>
static __device__ __forceinline__ void
show_tile (const CuvPcaPass &pass, const CuvPcaTile<F> &tile,
    const double *factors, int task)
{
  const CuvPcaGains &gains =
      task == CUV_PCA_PAINT ? pass.known->gains : pass.known->bin_gains;
  const int half = pass.pixels / 2;

  for (int p = threadIdx.x; p < half && p < tile.count; p += blockDim.x) {
    const int pixels[2] = { p, p + half };
    int values[2][CUV_PCA_SHOWN];

    project (tile, pass.bands.n, gains, factors, pixels, values);
#pragma unroll
    for (int i = 0; i < 2; i++) {
      if (pixels[i] >= tile.count)
        break;
      if (task == CUV_PCA_PAINT) {
        paint (pass, tile, pixels[i], values[i]);
      } else if (!tile.left[pixels[i]]) {
        for (int c = 0; c < CUV_PCA_SHOWN; c++)
          atomicAdd (&pass.bins[c * CUV_PCA_BINS + values[i][c]], 1ULL);
      }
    }
  }
}

static __device__ __forceinline__ void
load_factors (const CuvPcaGains &gains, int n, double *factors)
{
  for (int i = threadIdx.x; i < 4 * n; i += blockDim.x)
    factors[i] = i % 4 < CUV_PCA_SHOWN ? gains.gain[i % 4][i / 4] : 0.0;
}

// ---- the kernel ----

// After a tile whose pixels were left out: how many it has.
template <CuvCubeFormat F>
static __device__ __forceinline__ int
forget_left (CuvPcaTile<F> &tile)
{
  int n = 0;

  for (int p = threadIdx.x; p < tile.pixels; p += blockDim.x) {
    n += tile.left[p];
    tile.left[p] = 0;
  }
  return n;
}

// Of rows that belong to no band, and of what is left out.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
reset (const CuvPcaPass &pass, CuvPcaTile<F> &tile)
{
  const int first = pass.bands.n * pass.pitch;

  for (int i = threadIdx.x; i < pass.pixels; i += blockDim.x)
    tile.left[i] = 0;
  for (int i = first + threadIdx.x; i < pass.rows * pass.pitch;
       i += blockDim.x) {
    tile.rows[i] = 0;
    if (F == CUV_CUBE_U16)
      tile.rows[tile.plane + i] = 0;
  }
}

template <CuvCubeFormat F, bool MANY, bool IGNORE>
static __global__ void __launch_bounds__ (
    32 * (MANY ? CUV_PCA_MAX_WARPS : CUV_PCA_WARPS),
    MANY                    ? 1
        : F == CUV_CUBE_U16 ? 2
                            : 3)
    pass_kernel (const __grid_constant__ CuvPcaPass pass)
{
  extern __shared__ double shared_of_block[];
  const int n = pass.bands.n, n_factors = 4 * n;
  double *factors = shared_of_block, *bin_factors = factors + n_factors;
  void *shared = bin_factors + (pass.tasks & CUV_PCA_COUNT ? n_factors : 0);
  CuvPcaTile<F> tile (pass, shared);
  const Place place = place_of (pass);
  Sums<F> sums;
  int since = 0, left_out = 0;

  cuv_let_next_kernel_start ();
  reset (pass, tile);
  cuv_wait_for_previous_kernel ();
  if (pass.tasks & CUV_PCA_PAINT)
    load_factors (pass.known->gains, n, factors);
  if (pass.tasks & CUV_PCA_COUNT)
    load_factors (pass.known->bin_gains, n, bin_factors);
  __syncthreads ();
  for (int t = blockIdx.x; t < pass.n_tiles; t += gridDim.x) {
    const bool left = cuv_pca_load<F, IGNORE> (pass, tile, t);

    if (pass.tasks & CUV_PCA_SUM)
      add_tile<F, MANY> (pass, tile, place, &sums);
    if (pass.tasks & CUV_PCA_COUNT)
      show_tile (pass, tile, bin_factors, CUV_PCA_COUNT);
    if (pass.tasks & CUV_PCA_PAINT)
      show_tile (pass, tile, factors, CUV_PCA_PAINT);
    __syncthreads ();
    if (left) {
      left_out += forget_left (tile);
      __syncthreads ();
    }
    since += pass.pixels;
    if (F != CUV_CUBE_F32 && (pass.tasks & CUV_PCA_SUM)
        && since + pass.pixels > FLUSH_PIXELS) {
      flush (pass, place, sums, shared);
      sums = Sums<F>{};
      since = 0;
      reset (pass, tile);
      __syncthreads ();
    }
  }
  if (pass.tasks & CUV_PCA_SUM)
    flush (pass, place, sums, shared);
  else if (left_out > 0 && (pass.tasks & CUV_PCA_PAINT))
    atomicAdd (pass.left_out, (unsigned long long) left_out);
}

// ---- plans ----

static size_t
tile_bytes (const CuvPcaPass &pass)
{
  const size_t samples = (size_t) pass.rows * pass.pitch;

  return samples * cuv_cube_sample_size (pass.cube.format) + pass.pixels;
}

static size_t
shared_bytes (const CuvPcaPass &pass)
{
  const int kinds = pass.cube.format == CUV_CUBE_U16 ? 3 : 1;
  const int value = pass.cube.format == CUV_CUBE_F32 ? 8 : 4;
  const size_t area = (size_t) cuv_pca_parts_here (pass) * kinds * value
      * CUV_PCA_SIDE * CUV_PCA_SIDE;
  const size_t factors =
      4 * sizeof (double) * pass.bands.n * (pass.tasks & CUV_PCA_COUNT ? 2 : 1);

  return factors
      + std::max (tile_bytes (pass), pass.n_shares > 1 ? area : (size_t) 0);
}

typedef void (*Kernel) (const CuvPcaPass);

template <CuvCubeFormat F>
static Kernel
kernel_for (const CuvPcaPass &pass)
{
  if (pass.n_side > 1)
    return pass.has_ignore ? pass_kernel<F, true, true>
                           : pass_kernel<F, true, false>;
  return pass.has_ignore ? pass_kernel<F, false, true>
                         : pass_kernel<F, false, false>;
}

static Kernel
kernel_of (const CuvPcaPass &pass)
{
  return pass.cube.format == CUV_CUBE_U8 ? kernel_for<CUV_CUBE_U8> (pass)
      : pass.cube.format == CUV_CUBE_U16 ? kernel_for<CUV_CUBE_U16> (pass)
                                         : kernel_for<CUV_CUBE_F32> (pass);
}

// Whether an image is one long row, in the picture, too.
static bool
is_one_row (const CuvPcaPass &pass)
{
  const CuvCube &cube = pass.cube;

  return cube.row_step == cube.pixel_step * cube.width
      && (!(pass.tasks & CUV_PCA_PAINT) || pass.stride == 4LL * cube.width)
      && (int64_t) cube.width * cube.height < INT32_MAX - (1 << 20);
}

// Whether the samples of each band are next to each other, in rows of 16 bytes.
static bool
has_fours (const CuvCube &cube)
{
  return cube.pixel_step == cuv_cube_sample_size (cube.format)
      && ((uintptr_t) cube.data | (uintptr_t) cube.row_step
             | (uintptr_t) cube.band_step)
          % 16
      == 0;
}

// Samples of a pixel, if its bands are next to each other and all count; 0:
// they are not, or do not.
static int
packed_samples (const CuvCube &cube, const CuvPcaBands &bands)
{
  const int size = cuv_cube_sample_size (cube.format);

  return bands.n == cube.bands && cube.bands > 1 && cube.band_step == size
          && cube.pixel_step % size == 0 && cube.pixel_step >= cube.bands * size
          && cube.pixel_step <= CUV_CUBE_MAX_BANDS * size
          && (uintptr_t) cube.data % 4 == 0 && cube.row_step % 4 == 0
      ? (int) (cube.pixel_step / size)
      : 0;
}

// The largest tile of which some fit a multiprocessor. A row is some words
// longer than a multiple of 32, so that a pixel's samples are in other banks:
// an odd number where they are next to each other in memory, else 16 bytes.
static void
plan_tile (CuvPcaPass *pass)
{
  const int size = pass->cube.format == CUV_CUBE_F32 ? 4 : 1;
  const int more = (pass->packed > 0 ? 20 : 16) / size;

  pass->rows = (pass->bands.n + 8) / 8 * 8;
  for (pass->pixels = 512;; pass->pixels /= 2) {
    pass->pitch = pass->pixels + more;
    if (tile_bytes (*pass) <= TILE_BYTES || pass->pixels == 128)
      break;
  }
  pass->tiles_across = cuv_div_up (pass->width, pass->pixels);
  pass->n_tiles = pass->tiles_across * pass->height;
}

int
cuv_pca_pass_plan (CuvPcaPass *pass, int *n_blocks)
{
  const bool one = is_one_row (*pass);
  const int n_parts = pass->n_side * (pass->n_side + 1) / 2;
  int fit = 0;

  pass->width = one ? pass->cube.width * pass->cube.height : pass->cube.width;
  pass->height = one ? 1 : pass->cube.height;
  pass->packed = packed_samples (pass->cube, pass->bands);
  pass->fours = has_fours (pass->cube);
  pass->n_shares = std::max (1, 12 / n_parts);
  if (n_parts == 1)
    pass->n_shares = CUV_PCA_WARPS;
  plan_tile (pass);
  if (cuv_cuda_allow_shared (
          (const void *) kernel_of (*pass), shared_bytes (*pass))
      != 0)
    return -1;
  CUV_CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (
      &fit, kernel_of (*pass), cuv_pca_threads (*pass), shared_bytes (*pass)));
  *n_blocks = std::min (pass->n_tiles,
      std::min (
          CUV_PCA_MAX_BLOCKS, std::max (fit, 1) * cuv_cuda_multiprocessors ()));
  return 0;
}

int
cuv_pca_pass_submit (const CuvPcaPass &pass, int n_blocks, cudaStream_t stream)
{
  return cuv_launch_early ("pass_kernel", n_blocks, cuv_pca_threads (pass),
      shared_bytes (pass), stream, kernel_of (pass), pass);
}
