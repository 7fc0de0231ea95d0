// SPDX-License-Identifier: LGPL-2.1-or-later
// Sums of products over a tile: a warp has a part of them, 32 x 32 bands, in
// its registers, and some of the pixels; a block adds up its warps'.
#ifndef CUV_PCA_SUMS_CUH
#define CUV_PCA_SUMS_CUH

#include "spectral/pca-mma.cuh"
#include "spectral/pca-tile.cuh"

#define GROUPS (CUV_PCA_SIDE / 8) // of bands, in a part

// ---- a warp's part of the sums ----

// Where a part is: bands from row and from column on.
struct Place {
  int row, column, share; // of the pixels
  bool works, diagonal;
};

static __device__ __forceinline__ Place
place_of (const CuvPcaPass &pass)
{
  const int warp = cuv_warp_of_thread ();
  const int here = cuv_pca_parts_here (pass);
  int part = pass.first_part + warp % here, row = 0;
  Place place;

  while (part >= pass.n_side - row)
    part -= pass.n_side - row++;
  place.row = row * CUV_PCA_SIDE;
  place.column = (row + part) * CUV_PCA_SIDE;
  place.diagonal = part == 0;
  place.share = warp / here;
  place.works = place.share < pass.n_shares;
  return place;
}

// Products of bytes: of one plane of the rows, and one of the columns.
struct Products {
  unsigned sums[GROUPS / 2][GROUPS][4];
};

// Calls with each of a warp's sums: where it is in the part, and its value.
template <typename T>
static __device__ __forceinline__ void
each_product (const Products &products, T call)
{
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int i = 0; i < GROUPS / 2; i++) {
#pragma unroll
    for (int j = 0; j < GROUPS; j++) {
#pragma unroll
      for (int k = 0; k < 4; k++)
        call (16 * i + k / 2 * 8 + lane / 4, 8 * j + lane % 4 * 2 + k % 2,
            products.sums[i][j][k]);
    }
  }
}

struct Words {
  unsigned half[GROUPS][2];
};

static __device__ __forceinline__ Words
load_words (const uint8_t *rows, int pitch, int row, int n_rows, int pixel)
{
  const int lane = threadIdx.x % 32;
  Words words;

#pragma unroll
  for (int g = 0; g < GROUPS; g++) {
    const unsigned *at = (const unsigned *) (rows
        + (row + 8 * g + lane / 4) * pitch + pixel + lane % 4 * 4);
    const bool is = row + 8 * g < n_rows;

    words.half[g][0] = is ? at[0] : 0;
    words.half[g][1] = is ? at[4] : 0;
  }
  return words;
}

template <bool DIAGONAL>
static __device__ __forceinline__ void
add_words (const Words &a, const Words &b, Products *to)
{
#pragma unroll
  for (int i = 0; i < GROUPS / 2; i++) {
    const unsigned upper[4] = { a.half[2 * i][0], a.half[2 * i + 1][0],
      a.half[2 * i][1], a.half[2 * i + 1][1] };

#pragma unroll
    for (int j = DIAGONAL ? 2 * i : 0; j < GROUPS; j++)
      cuv_pca_mma (to->sums[i][j], upper, b.half[j]);
  }
}

// What a warp adds up: its own kind for each format.
template <CuvCubeFormat F> struct Sums;

template <> struct Sums<CUV_CUBE_U8> {
  typedef unsigned Value;
  static constexpr int kinds = 1, step = 32; // pixels at once

  Products low = {};

  template <bool DIAGONAL>
  __device__ __forceinline__ void
  add (
      const CuvPcaTile<CUV_CUBE_U8> &tile, const Place &place, int pixel, int n)
  {
    const Words a = load_words (tile.rows, tile.pitch, place.row, n, pixel);
    const Words b = DIAGONAL
        ? a
        : load_words (tile.rows, tile.pitch, place.column, n, pixel);

    add_words<DIAGONAL> (a, b, &low);
  }
  template <typename T>
  __device__ __forceinline__ void
  each (T call) const
  {
    each_product (
        low, [&] (int y, int x, unsigned value) { call (0, y, x, value); });
  }
};

// S = 256 high + low: products of each with each.
template <> struct Sums<CUV_CUBE_U16> {
  typedef unsigned Value;
  static constexpr int kinds = 3, step = 32;

  Products low = {}, mixed = {}, high = {};

  template <bool DIAGONAL>
  __device__ __forceinline__ void
  add (const CuvPcaTile<CUV_CUBE_U16> &tile, const Place &place, int pixel,
      int n)
  {
    const uint8_t *upper = tile.rows + tile.plane;
    const Words a = load_words (tile.rows, tile.pitch, place.row, n, pixel);
    const Words a_high = load_words (upper, tile.pitch, place.row, n, pixel);
    const Words b = DIAGONAL
        ? a
        : load_words (tile.rows, tile.pitch, place.column, n, pixel);
    const Words b_high = DIAGONAL
        ? a_high
        : load_words (upper, tile.pitch, place.column, n, pixel);

    add_words<DIAGONAL> (a, b, &low);
    add_words<DIAGONAL> (a, b_high, &mixed);
    add_words<DIAGONAL> (a_high, b, &mixed);
    add_words<DIAGONAL> (a_high, b_high, &high);
  }
  template <typename T>
  __device__ __forceinline__ void
  each (T call) const
  {
    each_product (
        low, [&] (int y, int x, unsigned value) { call (0, y, x, value); });
    each_product (
        mixed, [&] (int y, int x, unsigned value) { call (1, y, x, value); });
    each_product (
        high, [&] (int y, int x, unsigned value) { call (2, y, x, value); });
  }
};

template <> struct Sums<CUV_CUBE_F32> {
  typedef double Value;
  static constexpr int kinds = 1, step = 4;

  double sums[GROUPS][GROUPS][2] = {};

  template <bool DIAGONAL>
  __device__ __forceinline__ void
  add (const CuvPcaTile<CUV_CUBE_F32> &tile, const Place &place, int pixel,
      int n)
  {
    const int lane = threadIdx.x % 32;
    const float *at = tile.rows + lane / 4 * tile.pitch + pixel + lane % 4;
    double a[GROUPS], b[GROUPS];

#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
      const int row = place.row + 8 * g, column = place.column + 8 * g;

      a[g] = row < n ? at[row * tile.pitch] : 0.0f;
      b[g] = DIAGONAL ? a[g] : column < n ? at[column * tile.pitch] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < GROUPS; i++) {
#pragma unroll
      for (int j = DIAGONAL ? i : 0; j < GROUPS; j++)
        cuv_pca_mma (sums[i][j], a[i], b[j]);
    }
  }
  template <typename T>
  __device__ __forceinline__ void
  each (T call) const
  {
    const int lane = threadIdx.x % 32;

#pragma unroll
    for (int i = 0; i < GROUPS; i++) {
#pragma unroll
      for (int j = 0; j < GROUPS; j++) {
#pragma unroll
        for (int k = 0; k < 2; k++)
          call (0, 8 * i + lane / 4, 8 * j + lane % 4 * 2 + k, sums[i][j][k]);
      }
    }
  }
};

template <CuvCubeFormat F, bool MANY>
static __device__ __forceinline__ void
add_tile (const CuvPcaPass &pass, const CuvPcaTile<F> &tile, const Place &place,
    Sums<F> *sums)
{
  const int step = Sums<F>::step * pass.n_shares;

  if (!place.works)
    return;
  for (int p = place.share * Sums<F>::step; p < tile.pixels; p += step) {
    if (!MANY || place.diagonal)
      sums->template add<true> (tile, place, p, pass.rows);
    else
      sums->template add<false> (tile, place, p, pass.rows);
  }
}

// ---- from warps to memory ----

// Adds what a part of a block has found; of floats each block has its own sums,
// for they depend on their order.
static __device__ __forceinline__ void
add_value (const CuvPcaPass &pass, int kind, int y, int x, unsigned value)
{
  atomicAdd (
      (unsigned long long *) &pass.sums[y * CUV_PCA_STRIDE (pass.bands.n) + x],
      (unsigned long long) value << 8 * kind);
}

static __device__ __forceinline__ void
add_value (const CuvPcaPass &pass, int, int y, int x, double value)
{
  const size_t block = (size_t) blockIdx.x * CUV_PCA_SUMS (pass.bands.n);

  pass.sums[block + y * CUV_PCA_STRIDE (pass.bands.n) + x].d = value;
}

// A block's sums, share after share through shared memory, where they have
// `area`. By all threads.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
flush (const CuvPcaPass &pass, const Place &place, const Sums<F> &sums,
    void *shared)
{
  typedef typename Sums<F>::Value Value;
  constexpr int side = CUV_PCA_SIDE, kinds = Sums<F>::kinds;
  const int n = pass.bands.n, here = cuv_pca_parts_here (pass);
  Value *area =
      (Value *) shared + cuv_warp_of_thread () % here * kinds * side * side;

  for (int share = 0; share < pass.n_shares; share++) {
    const bool first = share == 0, last = share == pass.n_shares - 1;

    if (place.works && place.share == share) {
      sums.each ([&] (int kind, int y, int x, Value value) {
        Value *at = &area[(kind * side + y) * side + x];
        const int row = place.row + y, column = place.column + x;

        if (!first)
          value += *at;
        if (!last)
          *at = value;
        else if (row <= column && column <= n)
          add_value (pass, kind, row, column, value);
      });
    }
    __syncthreads ();
  }
}

#endif
