// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel for integer cubes of up to 31 bands. Each warp holds all sums in
// registers and processes steps of the image on its own, prefetching the next
// ones, so that warps synchronise only at the end. Sums and projections are
// integer matrix products.
#include <algorithm>
#include "pca/pca-31-bands-picture.cuh"

// Adds the products of the bands of 32 pixels.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
cuv_pca_add_products (
    const typename CuvPcaStepFormat<F>::Bytes &bytes, CuvPcaTileSums<F> *to)
{
#pragma unroll
  for (int k = 0; k < 2 * CuvPcaStepFormat<F>::size * CuvPcaStepFormat<F>::size;
       k++) {
    const int rows = k / 2 / CuvPcaStepFormat<F>::size,
              columns = k / 2 % CuvPcaStepFormat<F>::size;
    const unsigned *a = &bytes.words[rows][k % 2 * 4];
    const unsigned *b = &bytes.words[columns][k % 2 * 4];

    each_pair<true, CUV_PCA_GROUPS> (
        &to->products[rows + columns], [&] (int i, int j, unsigned *sums) {
          cuv_pca_mma (sums, a[i], a[i + 1], b[j]);
        });
  }
}

// Returns the bytes of shared memory for a block's reduction.
template <CuvCubeFormat F>
static __host__ __device__ constexpr int
area_bytes ()
{
  return CuvPcaTileSums<F>::kinds * CuvPcaProducts<unsigned>::n * 32
      * sizeof (unsigned);
}

// Reduces the warps' sums and adds them to global memory. Called by all threads
// after their last step; area must be zero.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
add_block_sums (
    const CuvPcaPass &pass, const CuvPcaTileSums<F> &sums, unsigned *area)
{
  typedef unsigned long long Sum;
  constexpr int n = CuvPcaProducts<unsigned>::n;
  const int stride = CUV_PCA_STRIDE (pass.bands.n);
  Sum *sums_here = (Sum *) pass.sums
      + blockIdx.x % CUV_PCA_SUM_COPIES * CUV_PCA_SUMS (pass.bands.n);

#pragma unroll
  for (int i = 0; i < CuvPcaTileSums<F>::kinds * n; i++) {
    if (is_used<false> (i % n))
      atomicAdd (&area[32 * i + threadIdx.x % 32],
          sums.products[i / n].sums[i % n / 4][i % 4]);
  }
  __syncthreads ();
#pragma unroll 1
  for (int at = threadIdx.x; at < 32 * n; at += blockDim.x) {
    const int i = at / 32, row = at % 32 / 4, column = at % 4 * 2 + i % 2;
    const int g = i / 4 / CUV_PCA_GROUPS * 2 + i % 4 / 2,
              h = i / 4 % CUV_PCA_GROUPS;
    const int a = pass.band_of_slot[cuv_pca_band_of_row (g, row)];
    const int b = pass.band_of_slot[cuv_pca_band_of_row (h, column)];
    Sum sum = 0;

#pragma unroll
    for (int kind = 0; kind < CuvPcaTileSums<F>::kinds; kind++)
      sum += (Sum) area[32 * n * kind + at] << 8 * kind;
    if (g <= h && (g < h || row <= column) && a >= 0 && b >= 0)
      atomicAdd (&sums_here[min (a, b) * stride + max (a, b)], sum);
  }
}

// Planar: zeroes the rows without a band in all stages.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
clear_missing (const CuvPcaPass &pass, uint8_t *stages)
{
  const int lane = threadIdx.x % 32;

  for (int i = 0; i < CuvPcaStepFormat<F>::stages * CUV_PCA_GROUPS; i++) {
    if (cuv_pca_band_of_row (i % CUV_PCA_GROUPS, lane / 4) >= pass.bands.n)
      ((uint4 *) stages)[i * 32 + lane] = make_uint4 (0, 0, 0, 0);
  }
}

// Processes a step that has been fetched to a stage, 32 pixels at a time.
template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ void
cuv_pca_31_bands_work_on (const CuvPcaPass &pass, const CuvPcaExtent &extent,
    const uint8_t *stage, const CuvPcaPackedLane<F> &lane,
    const CuvPcaPainter<F> &painter, CuvPcaTileSums<F> *sums,
    unsigned *left_out)
{
  const int pixel = pixel_of_lane<F, PACKED> (threadIdx.x % 32);
  unsigned *out =
      (unsigned *) (pass.picture + (int64_t) extent.y * (int) pass.stride)
      + (extent.first + pixel);

#pragma unroll
  for (int half = 0; half < CuvPcaStepFormat<F>::step / 32; half++) {
    constexpr int apart = PACKED ? 32 : 8; // pixels between halves
    typename CuvPcaStepFormat<F>::Bytes bytes;

    if constexpr (PACKED)
      bytes = load_packed (pass, lane, stage, half, extent.count);
    else
      bytes = load_planar<F> (pass, stage, half, extent.count);
    if (pass.tasks & CUV_PCA_SUM)
      cuv_pca_add_products<F> (PACKED ? cuv_pca_by_bands (bytes) : bytes, sums);
    if (pass.tasks & CUV_PCA_PAINT) {
      const auto by_pixels = PACKED ? bytes : cuv_pca_by_pixels (bytes);
      const unsigned word = cuv_pca_31_bands_paint (by_pixels, painter);
      const bool counts = word >= 1u << 24;

      if (pixel + apart * half < extent.count) {
        out[apart * half] = (counts ? word : 0) | 0xff000000u;
        if (pass.left_out != nullptr && !counts)
          *left_out += 1;
      }
    }
  }
}

// Warp w of the grid processes every n-th step from w on, n warps in all.
// Dynamic shared memory: CuvPcaDigitGains, the block's sums for the reduction,
// then the stages of each warp.
template <CuvCubeFormat F, bool PACKED>
static __global__ void __launch_bounds__ (32 * CuvPcaStepFormat<F>::warps, 1)
    bands_31_kernel (const __grid_constant__ CuvPcaPass pass)
{
  extern __shared__ uint4 shared_of_block[];
  constexpr int n_sums = area_bytes<F> () / (int) sizeof (unsigned);
  constexpr int n_stages = CuvPcaStepFormat<F>::stages;
  const int warp = cuv_warp_of_thread (), warps = blockDim.x / 32;
  const bool paints = pass.tasks & CUV_PCA_PAINT;
  CuvPcaDigitGains *gains = (CuvPcaDigitGains *) shared_of_block;
  unsigned *area = (unsigned *) (gains + 1);
  uint8_t *stages =
      (uint8_t *) (area + n_sums) + warp * n_stages * pass.tile_bytes;
  const CuvPcaStepSource<F, PACKED> source (pass);
  const CuvPcaStepStride stride (pass, gridDim.x * warps);
  CuvPcaStepPosition here (pass, blockIdx.x * warps + warp), ahead = here;
  const CuvPcaPackedLane<F> lane (pass);
  unsigned left_out = 0;
  CuvPcaGainReader reader (pass);
  CuvPcaPainter<F> painter = {};
  CuvPcaTileSums<F> sums;

  for (int i = threadIdx.x; (pass.tasks & CUV_PCA_SUM) && i < n_sums;
       i += blockDim.x)
    area[i] = 0;
  if (!PACKED)
    clear_missing<F> (pass, stages);
  __syncthreads ();
  cuv_pdl_wait ();
  // not earlier: if learn_kernel() is next, it reads the state before it waits
  cuv_pdl_trigger ();
  if (paints) // before loads of pixels, which would delay these
    reader.load ();
#pragma unroll 1
  for (int i = 0; i < n_stages - 1; i++) {
    if (ahead.left > 0)
      source.fetch (pass, ahead.extent (pass), stages + i * pass.tile_bytes);
    __pipeline_commit ();
    stride.advance (pass, &ahead);
  }
  if (paints) {
    reader.store<F> (gains);
    __syncthreads ();
    painter.load (*gains);
  }
  for (int stage = 0; here.left > 0; stage = (stage + 1) % n_stages) {
    __syncwarp (); // the stage to refill is no longer read
    if (ahead.left > 0)
      source.fetch (pass, ahead.extent (pass),
          stages + (stage + n_stages - 1) % n_stages * pass.tile_bytes);
    __pipeline_commit ();
    __pipeline_wait_prior (n_stages - 1);
    __syncwarp ();
    cuv_pca_31_bands_work_on<F, PACKED> (pass, here.extent (pass),
        stages + stage * pass.tile_bytes, lane, painter, &sums, &left_out);
    stride.advance (pass, &here);
    stride.advance (pass, &ahead);
  }
  if (pass.left_out != nullptr && left_out > 0)
    atomicAdd (pass.left_out, (unsigned long long) left_out);
  if (pass.tasks & CUV_PCA_SUM)
    add_block_sums<F> (pass, sums, area);
}

template <CuvCubeFormat F>
static size_t
shared_bytes_of (const CuvPcaPass &pass)
{
  return sizeof (CuvPcaDigitGains) + area_bytes<F> ()
      + (size_t) pass.warps * CuvPcaStepFormat<F>::stages * pass.tile_bytes;
}

static size_t
cuv_pca_31_bands_shared_bytes (const CuvPcaPass &pass)
{
  return pass.cube.format == CUV_CUBE_U8 ? shared_bytes_of<CUV_CUBE_U8> (pass)
                                         : shared_bytes_of<CUV_CUBE_U16> (pass);
}

typedef void (*Kernel) (const CuvPcaPass);

static Kernel
kernel_of (const CuvPcaPass &pass)
{
  if (pass.cube.format == CUV_CUBE_U8)
    return pass.packed ? bands_31_kernel<CUV_CUBE_U8, true>
                       : bands_31_kernel<CUV_CUBE_U8, false>;
  return pass.packed ? bands_31_kernel<CUV_CUBE_U16, true>
                     : bands_31_kernel<CUV_CUBE_U16, false>;
}

static bool
cuv_pca_31_bands_fits (const CuvPcaPass &pass)
{
  const int size = cuv_cube_sample_size (pass.cube.format);

  if (pass.cube.format == CUV_CUBE_F32 || pass.bands.n > CUV_PCA_COUNTS_SLOT
      || (pass.tasks & CUV_PCA_COUNT) || pass.unit != 16)
    return false;
  return cuv_cuda_attribute (cudaDevAttrComputeCapabilityMajor)
      >= 8 // integer mma
      && (!pass.packed || pass.span <= CUV_PCA_COUNTS_SLOT * size)
      && std::abs (pass.cube.row_step) <= INT32_MAX
      && std::abs (pass.stride) <= INT32_MAX;
}

// Sets the slots. Planar: one slot per band. Packed: one slot per sample of the
// pixel.
static void
set_slots (CuvPcaPass *pass)
{
  const int size = cuv_cube_sample_size (pass->cube.format);

  std::fill_n (pass->band_of_slot, 32, (int8_t) -1);
  for (int b = 0; b < pass->bands.n; b++) {
    const int64_t at = pass->bands.index[b] * pass->cube.band_step - pass->low;

    pass->band_of_slot[pass->packed ? (int) at / size : b] = (int8_t) b;
  }
  pass->band_of_slot[CUV_PCA_COUNTS_SLOT] = (int8_t) pass->bands.n;
}

bool
cuv_pca_31_bands_plan (CuvPcaPass *pass, int *n_blocks)
{
  const int size = cuv_cube_sample_size (pass->cube.format);
  const size_t room =
      cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  CuvPcaPass plan = *pass;

  if (!cuv_pca_31_bands_fits (plan))
    return false;
  set_slots (&plan);
  plan.pixels = 64 / size;
  plan.tile_bytes = plan.packed ? plan.pixels * (int) plan.cube.pixel_step
          + 64 // load() reads beyond the end
                                : 2048;
  plan.tiles_across = cuv_div_up (plan.width, plan.pixels);
  plan.n_tiles = plan.tiles_across * plan.height;
  plan.warps = size == 1 ? CuvPcaStepFormat<CUV_CUBE_U8>::warps
                         : CuvPcaStepFormat<CUV_CUBE_U16>::warps;
  while (plan.warps > 0 && cuv_pca_31_bands_shared_bytes (plan) > room)
    plan.warps -= 4;
  if (plan.warps == 0
      || cuv_cuda_allow_shared ((const void *) kernel_of (plan),
             cuv_pca_31_bands_shared_bytes (plan))
          != 0)
    return false;
  *n_blocks = std::max (cuv_cuda_multiprocessors (),
      cuv_div_up (
          plan.n_tiles, CUV_PCA_BLOCK_PIXELS / plan.pixels - plan.warps));
  *n_blocks = std::min (*n_blocks, cuv_div_up (plan.n_tiles, plan.warps));
  *pass = plan;
  pass->up_to_31 = true;
  return true;
}

int
cuv_pca_31_bands_submit (
    const CuvPcaPass &pass, int n_blocks, cudaStream_t stream)
{
  return cuv_launch_dependent ("bands_31_kernel", n_blocks, 32 * pass.warps,
      cuv_pca_31_bands_shared_bytes (pass), stream, kernel_of (pass), pass);
}
