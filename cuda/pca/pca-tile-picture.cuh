// SPDX-License-Identifier: LGPL-2.1-or-later
// Projects a tile's pixels and paints them or counts them in histograms.
#ifndef CUV_PCA_TILE_PICTURE_CUH
#define CUV_PCA_TILE_PICTURE_CUH

#include "pca/pca-tile.cuh"

// Integer samples become the high word of a double without a conversion: a
// denormal, 2^-1042 times as large. Scaled gains make up for most of that
// factor.
#define CUV_PCA_GAIN_SCALE 0x1p900
#define CUV_PCA_SUM_SCALE 0x1p-142

// A band's gain for each channel, in shared memory. After the bands follow two
// entries: the offsets, then top and bias of CuvPcaGains.
struct __align__ (16) CuvPcaBandGains
{
  double channel[CUV_PCA_SHOWN];
  int64_t at; // offset of the band in a tile
};

#define CUV_PCA_BAND_GAINS(n) ((n) + 2)

template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ void
cuv_pca_load_band_gains (const CuvPcaPass &pass, const CuvPcaGains &gains,
    CuvPcaBandGains *band_gains)
{
  const CuvPcaTile<F, PACKED> tile = { pass, nullptr, {} };
  constexpr bool scales = F != CUV_CUBE_F32;
  const int n = pass.bands.n;

  for (int i = threadIdx.x; i <= n; i += blockDim.x) {
    for (int c = 0; c < CUV_PCA_SHOWN; c++)
      band_gains[i].channel[c] = i < n
          ? gains.gain[c][i] * (scales ? CUV_PCA_GAIN_SCALE : 1.0)
          : gains.offset[c] * (scales ? CUV_PCA_SUM_SCALE : 1.0);
    band_gains[i].at = i < n ? tile.band_at (i) : 0;
  }
  if (threadIdx.x == 0) {
    band_gains[n + 1].channel[0] = gains.top;
    band_gains[n + 1].channel[1] = gains.bias;
  }
}

// A thread's N pixels. Planar: adjacent ones. Packed: pixels 1/N of the tile
// apart, so that a warp's pixels are adjacent.
template <CuvCubeFormat F, bool PACKED, int N> struct CuvPcaPixels {
  static constexpr int n = N;
  static constexpr int size = CuvPcaTile<F, PACKED>::size;

  const CuvPcaTile<F, PACKED> &tile;
  int first;

  __device__ __forceinline__ int
  pixel (int i) const
  {
    return PACKED ? first + i * (tile.pass.pixels / n) : n * first + i;
  }

  static __device__ __forceinline__ double
  of_integer (unsigned value)
  {
    return __hiloint2double ((int) value, 0);
  }

  // Returns the offset of a pixel's first sample in the tile.
  __device__ __forceinline__ int
  at (int i) const
  {
    return pixel (i) * (PACKED ? tile.step () : size);
  }

  // Loads samples of a band as doubles; integers are scaled, see
  // CUV_PCA_GAIN_SCALE. from: first sample of each pixel; only from[0] is used
  // in planar cubes.
  __device__ __forceinline__ void
  load (const uint8_t *const from[n], int band_at, double samples[n]) const
  {
    if constexpr (PACKED) {
#pragma unroll
      for (int i = 0; i < n; i++) {
        const auto value = *(
            const typename CuvPcaTile<F, PACKED>::Sample *) (from[i] + band_at);

        samples[i] =
            F == CUV_CUBE_F32 ? (double) value : of_integer ((unsigned) value);
      }
    } else if constexpr (F == CUV_CUBE_U8) {
      const unsigned four = *(const unsigned *) (from[0] + band_at);

#pragma unroll
      for (int i = 0; i < n; i++)
        samples[i] = of_integer (__byte_perm (four, 0, 0x4440 + i));
    } else if constexpr (F == CUV_CUBE_U16) {
      const uint2 four = *(const uint2 *) (from[0] + band_at);

      samples[0] = of_integer (four.x & 0xffff);
      samples[1] = of_integer (four.x >> 16);
      samples[2] = of_integer (four.y & 0xffff);
      samples[3] = of_integer (four.y >> 16);
    } else {
      const float2 two = *(const float2 *) (from[0] + band_at);

      samples[0] = two.x;
      samples[1] = two.y;
    }
  }
};

// Converts a sum to an integer 0 .. top; NaN becomes 0.
template <CuvCubeFormat F>
static __device__ __forceinline__ int
cuv_pca_to_int (double sum, double top, double bias)
{
  const double value =
      F == CUV_CUBE_F32 ? sum : sum * (1.0 / CUV_PCA_SUM_SCALE);

  return (int) (fmin (value > 0.0 ? value : 0.0, top) + bias);
}

// Computes the channels of a thread's pixels.
template <CuvCubeFormat F, bool PACKED, int n>
static __device__ __forceinline__ void
cuv_pca_project (const CuvPcaPixels<F, PACKED, n> &pixels,
    const CuvPcaBandGains *band_gains, int values[][CUV_PCA_SHOWN])
{
  const CuvPcaPass &pass = pixels.tile.pass;
  const int n_bands = pass.bands.n;
  const uint8_t *from[n];
  double sums[n][CUV_PCA_SHOWN];

#pragma unroll
  for (int i = 0; i < n; i++) {
    from[i] = pixels.tile.bytes + pixels.at (i);
#pragma unroll
    for (int c = 0; c < CUV_PCA_SHOWN; c++)
      sums[i][c] = band_gains[n_bands].channel[c];
  }
#pragma unroll(n == 1 ? 8 : n == 4 && PACKED ? 2 : 4)
  for (int b = 0; b < n_bands; b++) {
    const CuvPcaBandGains gains = band_gains[b];
    double samples[n];

    pixels.load (from, PACKED ? (int) gains.at : b * pass.pitch, samples);
#pragma unroll
    for (int i = 0; i < n; i++) {
#pragma unroll
      for (int c = 0; c < CUV_PCA_SHOWN; c++)
        sums[i][c] = fma (gains.channel[c], samples[i], sums[i][c]);
    }
  }
#pragma unroll
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int c = 0; c < CUV_PCA_SHOWN; c++)
      values[i][c] =
          cuv_pca_to_int<F> (sums[i][c], band_gains[n_bands + 1].channel[0],
              band_gains[n_bands + 1].channel[1]);
  }
}

template <CuvCubeFormat F, bool PACKED, int n>
static __device__ __forceinline__ void
cuv_pca_count (
    const CuvPcaPixels<F, PACKED, n> &pixels, const int values[][CUV_PCA_SHOWN])
{
  const CuvPcaTile<F, PACKED> &tile = pixels.tile;

#pragma unroll
  for (int i = 0; i < n; i++) {
    const int p = pixels.pixel (i);

    for (int c = 0; c < CUV_PCA_SHOWN; c++) {
      if (p < tile.extent.count && tile.counts ()[p] != 0)
        atomicAdd (&tile.pass.bins[c * CUV_PCA_BINS + values[i][c]], 1ULL);
    }
  }
}

template <CuvCubeFormat F, bool PACKED, int n>
static __device__ __forceinline__ void
cuv_pca_paint (
    const CuvPcaPixels<F, PACKED, n> &pixels, const int values[][CUV_PCA_SHOWN])
{
  const CuvPcaTile<F, PACKED> &tile = pixels.tile;
  unsigned *row =
      (unsigned *) (tile.pass.picture + tile.extent.y * tile.pass.stride)
      + tile.extent.first;
  unsigned colours[n];

#pragma unroll
  for (int i = 0; i < n; i++) {
    const int p = pixels.pixel (i);
    const bool is = p < tile.extent.count && tile.counts ()[p] != 0;

    colours[i] = 0xff000000u
        | (is ? values[i][0] | values[i][1] << 8 | values[i][2] << 16 : 0);
  }
  if (!PACKED && n == 4 && tile.pass.paints_uint4
      && pixels.pixel (n - 1) < tile.extent.count) {
    *(uint4 *) (row + pixels.pixel (0)) =
        make_uint4 (colours[0], colours[1], colours[n - 2], colours[n - 1]);
    return;
  }
#pragma unroll
  for (int i = 0; i < n; i++) {
    if (pixels.pixel (i) < tile.extent.count)
      row[pixels.pixel (i)] = colours[i];
  }
}

template <int n, CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ void
cuv_pca_show_by (const CuvPcaTile<F, PACKED> &tile,
    const CuvPcaBandGains *band_gains, int task)
{
  for (int i = threadIdx.x; i < tile.pass.pixels / n; i += blockDim.x) {
    const CuvPcaPixels<F, PACKED, n> pixels = { tile, i };
    int values[n][CUV_PCA_SHOWN];

    if (pixels.pixel (0) >= tile.extent.count)
      break;
    cuv_pca_project (pixels, band_gains, values);
    if (task == CUV_PCA_PAINT)
      cuv_pca_paint (pixels, values);
    else
      cuv_pca_count (pixels, values);
  }
}

// Paints or counts the pixels of a tile. task: CUV_PCA_PAINT or CUV_PCA_COUNT.
// Called by all threads. Packed floats: a thread's two pixels share the reads
// of gains, if there are enough pixels for all threads.
template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ void
cuv_pca_show (const CuvPcaTile<F, PACKED> &tile,
    const CuvPcaBandGains *band_gains, int task)
{
  constexpr int most = F == CUV_CUBE_F32 ? 2 : 4;

  if constexpr (F == CUV_CUBE_F32 && PACKED) {
    if (tile.pass.pixels < most * (int) blockDim.x)
      return cuv_pca_show_by<1> (tile, band_gains, task);
  }
  cuv_pca_show_by<most> (tile, band_gains, task);
}

#endif
