// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels of an iteration on pixels x depth (MATRIX): new values of the pixels,
// v, then with these the numerators of w. Symbols: see ntf-state.cuh.
#include <algorithm>
#include "ntf/ntf-sum-to-one.cuh"
#include "ntf/ntf-products.cuh"

#define CUV_NTF_MATRIX_THREADS 256
#define CUV_NTF_MATRIX_WARPS (CUV_NTF_MATRIX_THREADS / 32)
#define CUV_NTF_TILE_PIXELS 32        // adjacent pixels of a row
#define CUV_NTF_MATRIX_MAX_BLOCKS 512 // maximum for pixels_kernel

// ---- tiles ----

static __host__ __device__ inline int
tiles_across (const CuvNtfState &self)
{
  return (self.width + CUV_NTF_TILE_PIXELS - 1) / CUV_NTF_TILE_PIXELS;
}

static __host__ __device__ inline int
count_tiles (const CuvNtfState &self)
{
  return self.height * tiles_across (self);
}

// The number of bands that a warp of bands_kernel sums.
template <int STRIDE> struct Bands {
  static constexpr int n = STRIDE < 32 ? 32 / STRIDE : 1;
};

static int
bands_per_block (int stride)
{
  return CUV_NTF_MATRIX_WARPS * (stride < 32 ? 32 / stride : 1);
}

void
cuv_ntf_init_matrix (CuvNtfState *self)
{
  const int n_tiles = count_tiles (*self);
  const int n_groups = cuv_div_up (self->depth, bands_per_block (self->stride));

  self->n_parts[CUV_NTF_V] = std::min (n_tiles, CUV_NTF_MATRIX_MAX_BLOCKS);
  self->n_sums[CUV_NTF_W] = std::clamp (512 / n_groups, 1, n_tiles);
}

// A lane's pixel.
typedef struct {
  int x, y;
  bool is_idle; // the pixel is beyond the row
} Pixel;

static __device__ __forceinline__ Pixel
pixel_of (const CuvNtfState &self, int tile)
{
  const int across = tiles_across (self);
  const int x = tile % across * CUV_NTF_TILE_PIXELS + threadIdx.x % 32;

  return { x, tile / across, x >= self.width };
}

// ---- pixels ----

// pitch of tiles in shared memory, which avoids bank conflicts
#define CUV_NTF_TILE_ROW (STRIDE + 1)

template <int STRIDE> struct PixelsShared {
  CuvNtfRule<STRIDE> rule;
  union {
    float rows[CUV_NTF_SHARED_VALUES]; // rows of w
    float values[CUV_NTF_TILE_PIXELS
        * CUV_NTF_TILE_ROW]; // numerators, then new values
  };
};

// Computes the numerators of a tile: a pixel per lane, some columns per warp.
template <int STRIDE>
static __device__ __forceinline__ void
find_numerators (
    const CuvNtfState &self, const Pixel &pixel, PixelsShared<STRIDE> *shared)
{
  constexpr int n = STRIDE / CUV_NTF_MATRIX_WARPS,
                bands = CUV_NTF_SHARED_VALUES / STRIDE;
  const int lane = threadIdx.x % 32, column = cuv_warp_of_thread () * n;
  const float *g =
      &self.g[(size_t) pixel.y * self.depth * self.pitch + pixel.x];
  float sums[n] = {};

  for (int z0 = 0; z0 < self.depth; z0 += bands) {
    const int end = min (bands, self.depth - z0);

    cuv_ntf_load_rows<STRIDE> (self, CUV_NTF_W, z0, end, shared->rows);
#pragma unroll 8
    for (int z = 0; z < (pixel.is_idle ? 0 : end); z++, g += self.pitch) {
      const float value = *g;

#pragma unroll
      for (int k = 0; k < n; k++)
        sums[k] = fmaf (value, shared->rows[z * STRIDE + column + k], sums[k]);
    }
  }
  __syncthreads ();
#pragma unroll
  for (int k = 0; k < n; k++)
    shared->values[lane * CUV_NTF_TILE_ROW + column + k] = sums[k];
  __syncthreads ();
}

// Computes new values of a pixel, by a warp; they replace its numerators.
template <int STRIDE>
static __device__ __forceinline__ void
update_pixel (const CuvNtfState &self, const CuvNtfRule<STRIDE> &rule, int i,
    float *values)
{
  const CuvNtfMatrix &v = self.factors[CUV_NTF_V];
  CuvNtfRow<STRIDE> row;

  cuv_ntf_load_row<STRIDE> (self, CUV_NTF_V, i, &row);
#pragma unroll
  for (int c = 0; c < row.n; c++)
    row.numerators[c] = values[cuv_ntf_column<STRIDE> (c)];
  if (self.params.sum_to_one)
    cuv_ntf_sum_to_one<STRIDE> (rule, self.rank, &row);
  else if (self.params.algorithm == CUV_NTF_HALS)
    cuv_ntf_solve (rule, self.rank, &row);
  else
    cuv_ntf_multiply (rule, false, &row);
  __syncwarp (); // all have read their numerators
#pragma unroll
  for (int c = 0; c < row.n; c++) {
    const int k = threadIdx.x % 32 + 32 * c;

    if (k < STRIDE)
      values[k] = k < self.rank ? row.x[c] : 0;
    if (k < self.rank)
      v.values[i + k * v.k_step] = row.x[c];
  }
}

// A warp updates every eighth pixel of the tile.
template <int STRIDE>
static __device__ __forceinline__ void
update_tile (const CuvNtfState &self, int tile, PixelsShared<STRIDE> *shared)
{
  const int across = tiles_across (self);
  const int x = tile % across * CUV_NTF_TILE_PIXELS, y = tile / across;

  for (int i = cuv_warp_of_thread ();
       i < min (CUV_NTF_TILE_PIXELS, self.width - x); i += CUV_NTF_MATRIX_WARPS)
    update_pixel<STRIDE> (self, shared->rule, y * self.pitch + x + i,
        &shared->values[i * CUV_NTF_TILE_ROW]);
  __syncthreads ();
}

// Values of M per thread.
template <int STRIDE> struct Gram {
  static constexpr int n =
      (STRIDE * STRIDE + CUV_NTF_MATRIX_THREADS - 1) / CUV_NTF_MATRIX_THREADS;
  double sums[n];
};

// Adds a tile; idle pixels have numerators of 0.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_add_tile (const float *values, Gram<STRIDE> *gram)
{
  for (int i = 0; i < CUV_NTF_TILE_PIXELS; i++, values += CUV_NTF_TILE_ROW) {
#pragma unroll
    for (int j = 0; j < gram->n; j++) {
      const int at = threadIdx.x + j * CUV_NTF_MATRIX_THREADS;

      if (at < STRIDE * STRIDE)
        gram->sums[j] = fma ((double) values[at / STRIDE],
            (double) values[at % STRIDE], gram->sums[j]);
    }
  }
}

// Grid: blocks that take tiles in turn, each with a part of v's Gram matrix.
template <int STRIDE>
static __global__ void
__launch_bounds__ (CUV_NTF_MATRIX_THREADS)
    pixels_kernel (const __grid_constant__ CuvNtfState self)
{
  __shared__ __align__ (16) PixelsShared<STRIDE> shared;
  double *part =
      &self.gram_parts[CUV_NTF_V][(size_t) blockIdx.x * STRIDE * STRIDE];
  Gram<STRIDE> gram = {};

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if (__ldcg (&self.progress->stop))
    return;
  cuv_ntf_prepare (self, CUV_NTF_V, &shared.rule);
  for (int tile = blockIdx.x; tile < count_tiles (self); tile += gridDim.x) {
    find_numerators<STRIDE> (self, pixel_of (self, tile), &shared);
    update_tile<STRIDE> (self, tile, &shared);
    cuv_ntf_add_tile<STRIDE> (shared.values, &gram);
  }
  for (int j = 0; j < gram.n; j++) {
    const int at = threadIdx.x + j * CUV_NTF_MATRIX_THREADS;

    if (at < STRIDE * STRIDE)
      part[at] = gram.sums[j];
  }
  cuv_ntf_add_gram_parts<STRIDE> (self, CUV_NTF_V);
}

// ---- numerators of w ----

// Loads v of a tile, column by column; 0 for idle pixels.
template <int STRIDE>
static __device__ __forceinline__ void
load_tile (const CuvNtfState &self, const Pixel &pixel, float *tile)
{
  const CuvNtfMatrix &v = self.factors[CUV_NTF_V];
  const float *from = &v.values[pixel.y * self.pitch + pixel.x];

  __syncthreads ();
  for (int k = cuv_warp_of_thread (); k < STRIDE; k += CUV_NTF_MATRIX_WARPS)
    tile[k * CUV_NTF_TILE_PIXELS + threadIdx.x % 32] =
        pixel.is_idle || k >= self.rank ? 0 : from[k * v.k_step];
  __syncthreads ();
}

// Adds a tile's pixels in a warp's bands, times v.
template <int STRIDE>
static __device__ __forceinline__ void
add_bands (const CuvNtfState &self, const Pixel &pixel, int z,
    const float *tile, float (*sums)[STRIDE])
{
  constexpr int n = Bands<STRIDE>::n;
  const float *g =
      &self.g[((size_t) pixel.y * self.depth + z) * self.pitch + pixel.x];
  float values[n];

#pragma unroll
  for (int i = 0; i < n; i++)
    values[i] =
        !pixel.is_idle && z + i < self.depth ? g[(size_t) i * self.pitch] : 0;
#pragma unroll
  for (int k = 0; k < STRIDE; k++) {
    const float factor = tile[k * CUV_NTF_TILE_PIXELS + threadIdx.x % 32];

#pragma unroll
    for (int i = 0; i < n; i++)
      sums[i][k] = fmaf (values[i], factor, sums[i][k]);
  }
}

// Grid: groups of bands x slots, which take tiles in turn.
template <int STRIDE>
static __global__ void
__launch_bounds__ (CUV_NTF_MATRIX_THREADS)
    bands_kernel (const __grid_constant__ CuvNtfState self)
{
  __shared__ float tile[STRIDE * CUV_NTF_TILE_PIXELS];
  constexpr int n = Bands<STRIDE>::n, values = STRIDE / 32 + (STRIDE < 32);
  const int z = (blockIdx.x * CUV_NTF_MATRIX_WARPS + cuv_warp_of_thread ()) * n;
  const int lane = threadIdx.x % 32;
  float sums[n][STRIDE] = {};

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  if (__ldcg (&self.progress->stop))
    return;
  for (int i = blockIdx.y; i < count_tiles (self); i += gridDim.y) {
    const Pixel pixel = pixel_of (self, i);

    load_tile<STRIDE> (self, pixel, tile);
    add_bands<STRIDE> (self, pixel, z, tile, sums);
  }
#pragma unroll
  for (int i = 0; i < n; i++) {
    float *to = &self.sums[CUV_NTF_W]
                          [((size_t) blockIdx.y * self.depth + z + i) * STRIDE];

    cuv_ntf_fold<32, 1, STRIDE> (sums[i]);
    if (z + i >= self.depth || (STRIDE < 32 && lane % (32 / STRIDE) != 0))
      continue;
#pragma unroll
    for (int j = 0; j < values; j++)
      to[lane * STRIDE / 32 + j] = sums[i][j];
  }
}

int
cuv_ntf_pixels_submit (const CuvNtfState &self, cudaStream_t stream)
{
  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    return cuv_launch_dependent ("pixels_kernel", self.n_parts[CUV_NTF_V],
        CUV_NTF_MATRIX_THREADS, 0, stream, pixels_kernel<stride ()>, self);
  });
}

int
cuv_ntf_bands_submit (const CuvNtfState &self, cudaStream_t stream)
{
  const dim3 grid (cuv_div_up (self.depth, bands_per_block (self.stride)),
      self.n_sums[CUV_NTF_W]);

  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    return cuv_launch_dependent ("bands_kernel", grid, CUV_NTF_MATRIX_THREADS,
        0, stream, bands_kernel<stride ()>, self);
  });
}
