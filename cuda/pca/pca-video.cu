// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel for video frames: up to three 8-bit bands in four bytes per pixel.
// A thread processes four pixels at a time.
#include <algorithm>
#include "pca/pca-byte-matrix.cuh"
#include "pca/pca-fixed-point.cuh"

#define CUV_PCA_VIDEO_THREADS 256
#define CUV_PCA_VIDEO_BLOCKS 4 // blocks per multiprocessor
#define CUV_PCA_VIDEO_BANDS 3
#define CUV_PCA_VIDEO_SUMS                                                     \
  (CUV_PCA_VIDEO_BANDS * (CUV_PCA_VIDEO_BANDS + 1) / 2                         \
      + CUV_PCA_VIDEO_BANDS)       // of products, of bands
#define CUV_PCA_VIDEO_GAIN_BITS 30 // bits of a fixed-point gain

// Bytes of four pixels by band; 0 for missing bands.
struct PixelQuad {
  unsigned band[CUV_PCA_VIDEO_BANDS];

  __device__ __forceinline__
  PixelQuad (uint4 pixels, const int slots[CUV_PCA_VIDEO_BANDS], int n)
  {
#pragma unroll
    for (int b = 0; b < CUV_PCA_VIDEO_BANDS; b++) {
      const unsigned two = 0x40 + 0x11 * (unsigned) slots[b];
      const unsigned low = __byte_perm (pixels.x, pixels.y, two);
      const unsigned high = __byte_perm (pixels.z, pixels.w, two);

      band[b] = b < n ? __byte_perm (low, high, 0x5410) : 0;
    }
  }
};

// Adds four pixels to the sums: for each band i, its products with bands i ..
// 2, then the band itself.
static __device__ __forceinline__ void
cuv_pca_video_add (const PixelQuad &four, unsigned sums[CUV_PCA_VIDEO_SUMS])
{
  int at = 0;

#pragma unroll
  for (int i = 0; i < CUV_PCA_VIDEO_BANDS; i++) {
#pragma unroll
    for (int j = i; j < CUV_PCA_VIDEO_BANDS; j++, at++)
      sums[at] = __dp4a (four.band[i], four.band[j], sums[at]);
    sums[at] = __dp4a (four.band[i], 0x01010101u, sums[at]);
    at++;
  }
}

// Adds a block's sums to global memory; all pixels count. Called by all
// threads.
static __device__ __forceinline__ void
add_block_sums (const CuvPcaPass &pass, const unsigned sums[CUV_PCA_VIDEO_SUMS])
{
  __shared__ unsigned of_warps[CUV_PCA_VIDEO_THREADS / 32][CUV_PCA_VIDEO_SUMS];
  const int n = pass.bands.n, stride = CUV_PCA_STRIDE (n);

#pragma unroll
  for (int k = 0; k < CUV_PCA_VIDEO_SUMS; k++) {
    const unsigned sum = cuv_warp_sum (sums[k]);

    if (threadIdx.x % 32 == 0)
      of_warps[threadIdx.x / 32][k] = sum;
  }
  __syncthreads ();
  if (threadIdx.x < CUV_PCA_VIDEO_SUMS) {
    const int k = threadIdx.x, i = k < 4 ? 0 : k < 7 ? 1 : 2;
    const int j = k - i * (9 - i) / 2 + i; // a band, or the counts after them
    unsigned long long sum = 0;

    for (int w = 0; w < CUV_PCA_VIDEO_THREADS / 32; w++)
      sum += of_warps[w][k];
    if (i < n && (j < n || j == CUV_PCA_VIDEO_BANDS))
      atomicAdd (
          (unsigned long long *) &pass.sums[i * stride + min (j, n)], sum);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0)
    atomicAdd ((unsigned long long *) &pass.sums[n * stride + n],
        (unsigned long long) pass.width * pass.height);
}

// Projects pixels in fixed point.
struct Painter {
  int gain[CUV_PCA_SHOWN][CUV_PCA_VIDEO_BANDS];
  CuvPcaFixedChannel fixed[CUV_PCA_SHOWN];

  __device__ __forceinline__ void
  load (const CuvPcaGains &gains, int n)
  {
#pragma unroll
    for (int c = 0; c < CUV_PCA_SHOWN; c++) {
      double of_bands[CUV_PCA_VIDEO_BANDS];
      float largest = 0.0f;

#pragma unroll
      for (int b = 0; b < CUV_PCA_VIDEO_BANDS; b++) {
        of_bands[b] = b < n ? gains.gain[c][b] : 0.0;
        largest = fmaxf (largest, fabsf ((float) of_bands[b]));
      }
      const int fraction = cuv_pca_fraction (largest, CUV_PCA_VIDEO_GAIN_BITS);

#pragma unroll
      for (int b = 0; b < CUV_PCA_VIDEO_BANDS; b++)
        gain[c][b] = (int) cuv_pca_fixed (
            of_bands[b], fraction, 1 << CUV_PCA_VIDEO_GAIN_BITS);
      fixed[c] = cuv_pca_fixed_channel (
          cuv_pca_fixed_offset (gains.offset[c] + gains.bias, fraction),
          fraction);
    }
  }

  // Returns pixel i of four as R, G, B, 255.
  __device__ __forceinline__ unsigned
  colour (const PixelQuad &four, int i) const
  {
    int values[4] = { 0, 0, 0, 255 };

#pragma unroll
    for (int c = 0; c < CUV_PCA_SHOWN; c++) {
      int64_t sum = fixed[c].offset;

#pragma unroll
      for (int b = 0; b < CUV_PCA_VIDEO_BANDS; b++)
        sum += (int64_t) gain[c][b] * (int) (four.band[b] >> 8 * i & 255);
      values[c] = fixed[c].value (sum);
    }
    return cuv_pca_pack_bytes (values);
  }
};

// Loads the last four pixels, where memory may end with the last band.
static __device__ uint4
load_last (const uint8_t *at, int span)
{
  const unsigned *words = (const unsigned *) at;
  unsigned last = 0;

  for (int i = 0; i < span; i++)
    last |= (unsigned) at[12 + i] << 8 * i;
  return make_uint4 (words[0], words[1], words[2], last);
}

// Thread i of the grid processes the i-th group of four pixels, then every
// n-th, n threads in all; there are n_tiles groups.
static __global__ void
__launch_bounds__ (CUV_PCA_VIDEO_THREADS)
    video_kernel (const __grid_constant__ CuvPcaPass pass)
{
  const int n = pass.bands.n, across = pass.tiles_across;
  const bool paints = pass.tasks & CUV_PCA_PAINT;
  unsigned sums[CUV_PCA_VIDEO_SUMS] = {};
  int slots[CUV_PCA_VIDEO_BANDS]; // byte index of bands in a pixel
  Painter painter = {};
  int i = blockIdx.x * CUV_PCA_VIDEO_THREADS + threadIdx.x;

  cuv_pdl_wait ();
  cuv_pdl_trigger ();
#pragma unroll
  for (int b = 0; b < CUV_PCA_VIDEO_BANDS; b++)
    slots[b] = b < n
        ? (int) (pass.bands.index[b] * pass.cube.band_step - pass.low)
        : 0;
  if (paints)
    painter.load (pass.state->gains, n);
  const auto row = [&] (int y) {
    return pass.cube.data + pass.low + y * pass.cube.row_step;
  };
  const auto process = [&] (uint4 pixels, int x, int y) {
    const PixelQuad four (pixels, slots, n);

    if (pass.tasks & CUV_PCA_SUM)
      cuv_pca_video_add (four, sums);
    if (paints)
      ((uint4 *) (pass.picture + y * pass.stride))[x] =
          make_uint4 (painter.colour (four, 0), painter.colour (four, 1),
              painter.colour (four, 2), painter.colour (four, 3));
  };
#pragma unroll 2
  for (; i < pass.n_tiles - 1; i += gridDim.x * CUV_PCA_VIDEO_THREADS) {
    const int y = pass.height == 1 ? 0 : i / across, x = i - y * across;

    process (((const uint4 *) row (y))[x], x, y);
  }
  if (i == pass.n_tiles - 1)
    process (load_last (row (pass.height - 1) + 16 * (across - 1), pass.span),
        across - 1, pass.height - 1);
  if (pass.tasks & CUV_PCA_SUM)
    add_block_sums (pass, sums);
}

bool
cuv_pca_video_plan (CuvPcaPass *pass, int *n_blocks)
{
  const int pixels = pass->width * pass->height;

  if (pass->cube.format != CUV_CUBE_U8 || pass->bands.n > CUV_PCA_VIDEO_BANDS
      || !pass->packed || pass->cube.pixel_step != 4 || pass->unit != 16
      || pass->width % 4 != 0 || !pass->paints_uint4 || pass->has_ignore
      || (pass->tasks & CUV_PCA_COUNT))
    return false;
  pass->video = true;
  pass->tiles_across = pass->width / 4;
  pass->n_tiles = pass->tiles_across * pass->height;
  *n_blocks = CUV_PCA_VIDEO_BLOCKS * cuv_cuda_multiprocessors ();
  *n_blocks =
      std::max (*n_blocks, cuv_div_up (pixels, CUV_PCA_BLOCK_PIXELS / 2));
  *n_blocks =
      std::min (*n_blocks, cuv_div_up (pass->n_tiles, CUV_PCA_VIDEO_THREADS));
  return true;
}

int
cuv_pca_video_submit (const CuvPcaPass &pass, int n_blocks, cudaStream_t stream)
{
  return cuv_launch_dependent ("video_kernel", n_blocks, CUV_PCA_VIDEO_THREADS,
      0, stream, video_kernel, pass);
}
