// SPDX-License-Identifier: LGPL-2.1-or-later
// Passes over a cube's pixels: sums of products, histograms, pictures. Plans a
// pass, and runs those that neither pca-few.cu nor pca-video.cu can: blocks
// process tiles of the image and prefetch the next one.
#include <algorithm>
#include "pca/pca.h"
#include "pca/pca-picture.cuh"
#include "pca/pca-sums.cuh"

#define TILE_BYTES (36 << 10) // at most; six fit into a multiprocessor
#define TILE_PIXELS 2048      // at most

// Waits until a tile is loaded and the previous one is no longer used. Returns
// whether pixels may have to be excluded, if that is to be checked.
template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ bool
await (const CuvPcaTile<F, PACKED> &tile, bool fetched, bool checks)
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
work_on (const CuvPcaTile<F, PACKED> &tile, bool bad, bool stale,
    const Place &place, Sums<F> *sums, const CuvPcaBandGains *band_gains,
    const CuvPcaBandGains *bin_gains)
{
  if (bad || stale || tile.is_partial ()) {
    tile.write_counts (bad);
    __syncthreads ();
  }
  if (tile.pass.tasks & CUV_PCA_SUM)
    add_tile<MANY> (tile, place, sums);
#pragma unroll 1
  for (int task = CUV_PCA_COUNT; task <= CUV_PCA_PAINT; task *= 2) {
    if (tile.pass.tasks & task)
      cuv_pca_show (tile, task == CUV_PCA_PAINT ? band_gains : bin_gains, task);
  }
}

// Tiles in turn over all blocks. MANY: more than CUV_PCA_SIDE rows of sums, in
// several parts. Dynamic shared memory: gains of all bands, then the tiles'
// buffers, which the final reduction reuses.
template <CuvCubeFormat F, bool PACKED, bool MANY>
static __global__ void __launch_bounds__ (
    32 * (MANY ? CUV_PCA_MAX_WARPS : CUV_PCA_WARPS), MANY ? 1 : 3)
    pass_kernel (const __grid_constant__ CuvPcaPass pass)
{
  extern __shared__ uint4 shared_of_block[];
  const int n_gains = CUV_PCA_BAND_GAINS (pass.bands.n);
  CuvPcaBandGains *band_gains = (CuvPcaBandGains *) shared_of_block;
  CuvPcaBandGains *bin_gains = band_gains + n_gains;
  uint8_t *buffers =
      (uint8_t *) (band_gains + (pass.tasks & CUV_PCA_COUNT ? 2 : 1) * n_gains);
  const Place place = place_of<MANY> (pass);
  Sums<F> sums;
  unsigned stale = 3;   // buffers whose counts are not all 1; bit 0: this one
  bool fetched = false; // the tile at t has been fetched
  bool checks = F == CUV_CUBE_F32 || pass.has_ignore;

  // The frame's first kernel waits before it triggers: the next one may read
  // the cube (cube_is_ready) or, if it is learn_kernel(), the previous frame's
  // state before it waits itself.
  if (!pass.cube_is_ready)
    cuv_pdl_wait ();
  cuv_pdl_trigger ();
  for (int t = blockIdx.x, buffer = 0; t < pass.n_tiles;) {
    const CuvPcaTile<F, PACKED> tile = { pass,
      buffers + buffer * pass.tile_bytes, cuv_pca_extent (pass, t) };
    const bool bad = await (tile, fetched, checks), works = fetched;

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
    work_on<MANY> (tile, bad, stale & 1, place, &sums, band_gains, bin_gains);
    stale = stale >> 1
        | (unsigned) (bad || tile.is_partial ()) << (pass.n_buffers - 1);
  }
  if (pass.tasks & CUV_PCA_SUM) {
    __syncthreads (); // tiles' memory is reused
    flush<MANY> (pass, place, &sums, buffers);
  }
}

static size_t
band_gain_bytes (const CuvPcaPass &pass)
{
  return sizeof (CuvPcaBandGains) * CUV_PCA_BAND_GAINS (pass.bands.n)
      * (pass.tasks & CUV_PCA_COUNT ? 2 : 1);
}

// Shared memory for a block's reduction: half of each part's warps at once.
static size_t
area_bytes (const CuvPcaPass &pass)
{
  const size_t value = pass.cube.format == CUV_CUBE_F32 ? 8 : 4;

  return value * CUV_PCA_SIDE * CUV_PCA_SIDE * cuv_pca_parts_here (pass)
      * (cuv_pca_shares (pass) / 2);
}

static size_t
shared_bytes (const CuvPcaPass &pass)
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
  return pass.n_side > 1 ? pass_kernel<F, PACKED, true>
                         : pass_kernel<F, PACKED, false>;
}

template <CuvCubeFormat F>
static Kernel
kernel_for (const CuvPcaPass &pass)
{
  return pass.packed ? kernel_for<F, true> (pass) : kernel_for<F, false> (pass);
}

static Kernel
kernel_of (const CuvPcaPass &pass)
{
  return pass.cube.format == CUV_CUBE_U8 ? kernel_for<CUV_CUBE_U8> (pass)
      : pass.cube.format == CUV_CUBE_U16 ? kernel_for<CUV_CUBE_U16> (pass)
                                         : kernel_for<CUV_CUBE_F32> (pass);
}

static int
allow_shared (const CuvPcaPass &pass)
{
  return cuv_cuda_allow_shared (
      (const void *) kernel_of (pass), shared_bytes (pass));
}

// Whether the image and the picture have no gaps between rows.
static bool
is_one_row (const CuvPcaPass &pass)
{
  const CuvCube &cube = pass.cube;

  return cube.row_step == cube.pixel_step * cube.width
      && (!(pass.tasks & CUV_PCA_PAINT) || pass.stride == 4LL * cube.width)
      && (int64_t) cube.width * cube.height < INT32_MAX - (1 << 20);
}

// Chooses packed tiles, which hold whole pixels, if bands are not far apart:
// memory is read in sectors of 32 bytes, so that single samples would cost as
// much.
static void
plan_bands (CuvPcaPass *pass)
{
  const CuvCube &cube = pass->cube;
  const int64_t size = cuv_cube_sample_size (cube.format);
  const int64_t first = pass->bands.index[0] * cube.band_step;
  const int64_t last = pass->bands.index[pass->bands.n - 1] * cube.band_step;
  const int64_t span = std::max (first, last) - std::min (first, last) + size;

  pass->packed = cube.pixel_step > size && span <= cube.pixel_step
      && cube.pixel_step <= 32 * pass->bands.n
      && cube.pixel_step <= CUV_CUBE_MAX_BANDS * size;
  pass->low = std::min (first, last);
  pass->span = (int) span;
}

// Chooses the number of bytes per copy.
static void
plan_units (CuvPcaPass *pass)
{
  const CuvCube &cube = pass->cube;
  const int size = cuv_cube_sample_size (cube.format);
  const bool is_row = pass->packed || pass->bands.n == 1;
  const uint64_t steps =
      (uint64_t) (uintptr_t) (cube.data + (is_row ? pass->low : 0))
      | (uint64_t) (pass->height > 1 ? cube.row_step : 0)
      | (uint64_t) (is_row ? 0 : cube.band_step);
  const bool scattered = !pass->packed && cube.pixel_step != size;

  pass->unit = scattered ? size
      : steps % 16 == 0  ? 16
      : steps % 4 == 0   ? 4
                         : size;
  pass->sample_step = pass->packed ? size : cube.pixel_step;
}

static int
round_up (int n, int to)
{
  return cuv_div_up (n, to) * to;
}

// Lays out a tile of so many pixels. Pitches are some words more than a
// multiple of 32, so that rows start in different banks.
static void
lay_out (CuvPcaPass *pass, int pixels)
{
  const int size = cuv_cube_sample_size (pass->cube.format);
  const int row = pixels * size;

  pass->pixels = pixels;
  pass->pitch = round_up (row, 128) + (size == 1 ? 16 : 32);
  pass->counts_at = pass->packed
      ? round_up (pixels * (int) pass->cube.pixel_step, 16)
      : pass->bands.n * pass->pitch;
  pass->tile_bytes = pass->counts_at + round_up (row, 16);
  pass->tiles_across = cuv_div_up (pass->width, pixels);
  pass->n_tiles = pass->tiles_across * pass->height;
}

// Double buffering with the largest tiles that let several blocks fit into a
// multiprocessor; smaller ones if blocks would get no tile. Tiles of a row have
// equal size.
static void
plan_tile (CuvPcaPass *pass)
{
  const int max_shared =
      cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int room = (max_shared - (int) band_gain_bytes (*pass)) / 2;
  const int fits = pass->n_side > 1 ? room : std::min (room, TILE_BYTES);
  const int many = 6 * cuv_cuda_multiprocessors ();
  int pixels = TILE_PIXELS;

  for (lay_out (pass, pixels); pixels > CUV_PCA_STEP
       && (pass->tile_bytes > fits || (pixels > 128 && pass->n_tiles < many));
       lay_out (pass, pixels))
    pixels -= pixels > 256 ? pixels / 2 : CUV_PCA_STEP;
  pass->n_buffers = pass->tile_bytes > room ? 1 : 2;
  lay_out (pass,
      round_up (cuv_div_up (pass->width, pass->tiles_across), CUV_PCA_STEP));
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
  lay_out (&pass, CUV_PCA_STEP);
  bytes = shared_bytes (pass);
  pass.packed = true;
  lay_out (&pass, CUV_PCA_STEP);
  return std::max (bytes, shared_bytes (pass)) <= max_shared;
}

// Bank conflicts of a warp reading packed samples of 8 bands of pixels `apart`
// apart: the most words of one bank.
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
cuv_pca_pass_plan (CuvPcaPass *pass, int *n_blocks)
{
  const bool one = is_one_row (*pass);
  int fit = 0;

  pass->width = one ? pass->cube.width * pass->cube.height : pass->cube.width;
  pass->height = one ? 1 : pass->cube.height;
  pass->paints_uint4 =
      ((uintptr_t) pass->picture | (uintptr_t) (one ? 0 : pass->stride)) % 16
      == 0;
  plan_bands (pass);
  plan_units (pass);
  if (cuv_pca_video_plan (pass, n_blocks) || cuv_pca_few_plan (pass, n_blocks))
    return 0;
  plan_tile (pass);
  pass->apart =
      bank_conflicts (pass->cube, 8) < bank_conflicts (pass->cube, 1) ? 8 : 1;
  if (allow_shared (*pass) != 0)
    return -1;
  CUV_CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (
      &fit, kernel_of (*pass), cuv_pca_threads (*pass), shared_bytes (*pass)));
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
cuv_pca_pass_submit (const CuvPcaPass &pass, int n_blocks, cudaStream_t stream)
{
  if (pass.video)
    return cuv_pca_video_submit (pass, n_blocks, stream);
  if (pass.few)
    return cuv_pca_few_submit (pass, n_blocks, stream);
  if (pass.first_part > 0 && allow_shared (pass) != 0)
    return -1;
  return cuv_launch_dependent ("pass_kernel", n_blocks, cuv_pca_threads (pass),
      shared_bytes (pass), stream, kernel_of (pass), pass);
}
