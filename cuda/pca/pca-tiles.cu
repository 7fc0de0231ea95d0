// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel for all cubes that neither pca-video.cu nor pca-31-bands.cu can
// process: blocks process tiles of the image and prefetch the next one.
#include <algorithm>
#include "pca/pca.h"
#include "pca/pca-tile-picture.cuh"
#include "pca/pca-tile-sums.cuh"

// maximum; six such tiles fit in a multiprocessor
#define CUV_PCA_TILE_BYTES (36 << 10)
#define CUV_PCA_TILE_PIXELS 2048 // most

// Waits until a tile is loaded and all threads are done with the previous one.
// With checks, returns whether pixels may have to be excluded.
template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ bool
cuv_pca_await_tile (
    const CuvPcaTile<F, PACKED> &tile, bool fetched, bool checks)
{
  __pipeline_wait_prior (0);
  if (checks)
    return __syncthreads_or (fetched && tile.may_exclude ()) != 0;
  __syncthreads ();
  return false;
}

template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ void
load_band_gains (const CuvPcaPass &pass, CuvPcaBandGains *band_gains,
    CuvPcaBandGains *bin_gains)
{
  if (pass.tasks & CUV_PCA_PAINT)
    cuv_pca_load_band_gains<F, PACKED> (pass, pass.state->gains, band_gains);
  if (pass.tasks & CUV_PCA_COUNT)
    cuv_pca_load_band_gains<F, PACKED> (pass, pass.state->bin_gains, bin_gains);
}

// Processes a loaded tile. bad: pixels may have to be excluded; stale: the
// counts in its buffer are not all 1.
template <bool MANY, CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ void
cuv_pca_tiles_work_on (const CuvPcaTile<F, PACKED> &tile, bool bad, bool stale,
    const CuvPcaPlace &place, CuvPcaTileSums<F> *sums,
    const CuvPcaBandGains *band_gains, const CuvPcaBandGains *bin_gains)
{
  if (bad || stale || tile.is_partial ()) {
    tile.write_counts (bad);
    __syncthreads ();
  }
  if (tile.pass.tasks & CUV_PCA_SUM)
    cuv_pca_add_tile<MANY> (tile, place, sums);
#pragma unroll 1
  for (int task = CUV_PCA_COUNT; task <= CUV_PCA_PAINT; task *= 2) {
    if (tile.pass.tasks & task)
      cuv_pca_show (tile, task == CUV_PCA_PAINT ? band_gains : bin_gains, task);
  }
}

// Block b processes tiles b, b + gridDim.x and so on. MANY: more than
// CUV_PCA_SIDE rows of sums, thus several parts. Dynamic shared memory: gains
// of all bands, then buffers of tiles, reused by the final reduction.
template <CuvCubeFormat F, bool PACKED, bool MANY>
static __global__ void __launch_bounds__ (
    32 * (MANY ? CUV_PCA_MAX_WARPS : CUV_PCA_WARPS), MANY ? 1 : 3)
    tile_kernel (const __grid_constant__ CuvPcaPass pass)
{
  extern __shared__ uint4 shared_of_block[];
  const int n_gains = CUV_PCA_BAND_GAINS (pass.bands.n);
  CuvPcaBandGains *band_gains = (CuvPcaBandGains *) shared_of_block;
  CuvPcaBandGains *bin_gains = band_gains + n_gains;
  uint8_t *buffers =
      (uint8_t *) (band_gains + (pass.tasks & CUV_PCA_COUNT ? 2 : 1) * n_gains);
  const CuvPcaPlace place = cuv_pca_place_of<MANY> (pass);
  CuvPcaTileSums<F> sums;
  unsigned stale = 3;   // buffers whose counts are not all 1; bit 0: this one
  bool fetched = false; // the tile at t has been fetched
  bool checks = F == CUV_CUBE_F32 || pass.has_ignore;

  // The first kernel of a frame waits before it triggers, because the next one
  // reads before it waits itself: the cube (cube_is_ready), or, if it is
  // learn_kernel(), the state.
  if (!pass.cube_is_ready)
    cuv_pdl_wait ();
  cuv_pdl_trigger ();
  for (int t = blockIdx.x, buffer = 0; t < pass.n_tiles;) {
    const CuvPcaTile<F, PACKED> tile = { pass,
      buffers + buffer * pass.tile_bytes, cuv_pca_extent (pass, t) };
    const bool bad = cuv_pca_await_tile (tile, fetched, checks),
               works = fetched;

    if (works) {
      t += gridDim.x;
      buffer ^= pass.n_buffers - 1;
    }
    fetched = t < pass.n_tiles && (!works || pass.n_buffers > 1);
    if (fetched)
      CuvPcaTile<F, PACKED>{ pass, buffers + buffer * pass.tile_bytes,
        cuv_pca_extent (pass, t) }
          .fetch ();
    __pipeline_commit ();
    if (!works) { // overlaps with the copies
      if (pass.cube_is_ready)
        cuv_pdl_wait ();
      checks = checks && !(pass.is_summed && pass.state->left_out == 0);
      load_band_gains<F, PACKED> (pass, band_gains, bin_gains);
      continue;
    }
    cuv_pca_tiles_work_on<MANY> (
        tile, bad, stale & 1, place, &sums, band_gains, bin_gains);
    stale = stale >> 1
        | (unsigned) (bad || tile.is_partial ()) << (pass.n_buffers - 1);
  }
  if (pass.tasks & CUV_PCA_SUM) {
    __syncthreads (); // tiles' memory is reused
    cuv_pca_flush_sums<MANY> (pass, place, &sums, buffers);
  }
}

static size_t
band_gain_bytes (const CuvPcaPass &pass)
{
  return sizeof (CuvPcaBandGains) * CUV_PCA_BAND_GAINS (pass.bands.n)
      * (pass.tasks & CUV_PCA_COUNT ? 2 : 1);
}

// Returns the bytes of shared memory for a block's reduction: half of each
// part's warps at once.
static size_t
area_bytes (const CuvPcaPass &pass)
{
  const size_t value = pass.cube.format == CUV_CUBE_F32 ? 8 : 4;

  return value * CUV_PCA_SIDE * CUV_PCA_SIDE * cuv_pca_parts_here (pass)
      * (cuv_pca_shares (pass) / 2);
}

static size_t
cuv_pca_tiles_shared_bytes (const CuvPcaPass &pass)
{
  const size_t tiles = (size_t) pass.n_buffers * pass.tile_bytes;

  return band_gain_bytes (pass)
      + (pass.tasks & CUV_PCA_SUM ? std::max (tiles, area_bytes (pass))
                                  : tiles);
}

typedef void (*Kernel) (const CuvPcaPass);

template <CuvCubeFormat F, bool PACKED>
static Kernel
kernel_for (const CuvPcaPass &pass)
{
  return pass.n_side > 1 ? tile_kernel<F, PACKED, true>
                         : tile_kernel<F, PACKED, false>;
}

template <CuvCubeFormat F>
static Kernel
kernel_for (const CuvPcaPass &pass)
{
  return pass.packed ? kernel_for<F, true> (pass) : kernel_for<F, false> (pass);
}

static Kernel
tiles_kernel_of (const CuvPcaPass &pass)
{
  return pass.cube.format == CUV_CUBE_U8 ? kernel_for<CUV_CUBE_U8> (pass)
      : pass.cube.format == CUV_CUBE_U16 ? kernel_for<CUV_CUBE_U16> (pass)
                                         : kernel_for<CUV_CUBE_F32> (pass);
}

static int
allow_shared (const CuvPcaPass &pass)
{
  return cuv_cuda_allow_shared (
      (const void *) tiles_kernel_of (pass), cuv_pca_tiles_shared_bytes (pass));
}

static int
cuv_pca_round_up (int n, int to)
{
  return cuv_div_up (n, to) * to;
}

// Lays out tiles of this number of pixels. Pitches are some words more than a
// multiple of 32, so that rows start in different banks.
static void
cuv_pca_lay_out_tile (CuvPcaPass *pass, int pixels)
{
  const int size = cuv_cube_sample_size (pass->cube.format);
  const int row = pixels * size;

  pass->pixels = pixels;
  pass->pitch = cuv_pca_round_up (row, 128) + (size == 1 ? 16 : 32);
  pass->counts_at = pass->packed
      ? cuv_pca_round_up (pixels * (int) pass->cube.pixel_step, 16)
      : pass->bands.n * pass->pitch;
  pass->tile_bytes = pass->counts_at + cuv_pca_round_up (row, 16);
  pass->tiles_across = cuv_div_up (pass->width, pixels);
  pass->n_tiles = pass->tiles_across * pass->height;
}

// Plans two buffers for the largest tiles with which several blocks fit in a
// multiprocessor, or smaller tiles if otherwise some blocks would get none.
// Tiles of a row have equal size.
static void
plan_tile (CuvPcaPass *pass)
{
  const int max_shared =
      cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int room = (max_shared - (int) band_gain_bytes (*pass)) / 2;
  const int fits =
      pass->n_side > 1 ? room : std::min (room, CUV_PCA_TILE_BYTES);
  const int many = 6 * cuv_cuda_multiprocessors ();
  int pixels = CUV_PCA_TILE_PIXELS;

  for (cuv_pca_lay_out_tile (pass, pixels); pixels > CUV_PCA_STEP
       && (pass->tile_bytes > fits || (pixels > 128 && pass->n_tiles < many));
       cuv_pca_lay_out_tile (pass, pixels))
    pixels -= pixels > 256 ? pixels / 2 : CUV_PCA_STEP;
  pass->n_buffers = pass->tile_bytes > room ? 1 : 2;
  cuv_pca_lay_out_tile (pass,
      cuv_pca_round_up (
          cuv_div_up (pass->width, pass->tiles_across), CUV_PCA_STEP));
}

extern "C" int
cuv_pca_cuda_fits (int n, CuvCubeFormat format)
{
  const size_t max_shared =
      (size_t) cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  CuvPcaPass pass{};
  size_t bytes;

  pass.cube.format = format;
  pass.cube.pixel_step = (int64_t) n * cuv_cube_sample_size (format);
  pass.bands.n = n;
  pass.tasks = CUV_PCA_SUM | CUV_PCA_COUNT | CUV_PCA_PAINT;
  pass.n_side = cuv_div_up (n + 1, CUV_PCA_SIDE);
  pass.n_buffers = 1;
  cuv_pca_lay_out_tile (&pass, CUV_PCA_STEP);
  bytes = cuv_pca_tiles_shared_bytes (pass);
  pass.packed = true;
  cuv_pca_lay_out_tile (&pass, CUV_PCA_STEP);
  return std::max (bytes, cuv_pca_tiles_shared_bytes (pass)) <= max_shared;
}

// Returns the bank conflicts of a warp that reads packed samples of 8 bands of
// pixels `apart` from each other: the maximum number of words in one bank.
static int
bank_conflicts (const CuvCube &cube, int apart)
{
  int64_t words[32][32];
  int n[32] = {}, maximum = 0;

  for (int lane = 0; lane < 32; lane++) {
    const int64_t word =
        (lane % 4 * apart * cube.pixel_step + lane / 4 * cube.band_step) >> 2;
    const int bank = (int) (word & 31);
    int64_t *end = words[bank] + n[bank];

    if (std::find (words[bank], end, word) == end)
      words[bank][n[bank]++] = word;
    maximum = std::max (maximum, n[bank]);
  }
  return maximum;
}

int
cuv_pca_tiles_plan (CuvPcaPass *pass, int *n_blocks)
{
  int fit = 0;

  plan_tile (pass);
  pass->apart =
      bank_conflicts (pass->cube, 8) < bank_conflicts (pass->cube, 1) ? 8 : 1;
  if (allow_shared (*pass) != 0)
    return -1;
  CUV_CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&fit,
      tiles_kernel_of (*pass), cuv_pca_threads (*pass),
      cuv_pca_tiles_shared_bytes (*pass)));
  *n_blocks = std::max (fit, 1) * cuv_cuda_multiprocessors ();
  if (pass->cube.format == CUV_CUBE_F32) // each block has its own sums
    *n_blocks = std::min (*n_blocks, CUV_PCA_MAX_BLOCKS);
  else
    *n_blocks = std::max (*n_blocks,
        cuv_div_up (pass->n_tiles, CUV_PCA_BLOCK_PIXELS / pass->pixels));
  *n_blocks = std::min (*n_blocks, pass->n_tiles);
  return 0;
}

int
cuv_pca_tiles_submit (const CuvPcaPass &pass, int n_blocks, cudaStream_t stream)
{
  if (pass.first_part > 0 && allow_shared (pass) != 0)
    return -1;
  return cuv_launch_dependent ("tile_kernel", n_blocks, cuv_pca_threads (pass),
      cuv_pca_tiles_shared_bytes (pass), stream, tiles_kernel_of (pass), pass);
}
