// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that convert a frame to grey and resize it to the pictures of the
// levels; they also sum the columns of each strip, for integral_kernel().
#ifndef CUV_WALDBOOST_RESIZE_CUH
#define CUV_WALDBOOST_RESIZE_CUH

#include "waldboost/pyramid.cuh"
#include "waldboost/turn.h"

// The source of a resize. Rows are read as aligned words of four pixels and
// have at least three words.
struct CuvPyramidSource {
  const uint8_t *data;
  int stride, width; // multiples of 4
};

// Writes the grey plane of a frame. Block: 32 x 8 pixels.
static __global__ void
cuv_grey_kernel (
    CuvFrame frame, uint8_t *grey, int pitch, unsigned long long *began)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;

  cuv_record_start (began);
  if (x < frame.width && y < frame.height)
    grey[(size_t) y * pitch + x] = cuv_frame_grey (&frame, x, y);
}

// Writes the grey plane of the turned frame.
static __global__ void
cuv_turned_grey_kernel (CuvFrame frame, CuvTurn turn, uint8_t *grey, int pitch,
    unsigned long long *began)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;

  cuv_record_start (began);
  if (x < turn.width && y < turn.height)
    grey[(size_t) y * pitch + x] = cuv_turned_grey (&turn, &frame, x, y);
}

// Makes a chain of halved levels: each block makes a square of the first level,
// one pixel per thread, and halves it for each level that follows.
static __global__ void
__launch_bounds__ (CUV_PYRAMID_HALVES *CUV_PYRAMID_HALVES)
    cuv_halves_kernel (const __grid_constant__ CuvPyramidHalves halves,
        const CuvPyramidLevel *levels, CuvPyramidSource frame,
        uint8_t *pictures, unsigned long long *began)
{
  // double buffer: one level is read, the other written
  __shared__ uint8_t squares[2][CUV_PYRAMID_HALVES * CUV_PYRAMID_HALVES];
  const uint8_t *from = frame.data
      + (int64_t) (2 * CUV_PYRAMID_HALVES * blockIdx.y) * frame.stride
      + 2 * CUV_PYRAMID_HALVES * blockIdx.x;
  int stride = frame.stride;

  cuv_record_start (began);
  for (int n = 0; n < halves.n; n++) {
    const CuvPyramidLevel &level = levels[halves.level[n]];
    const int shift = CUV_PYRAMID_HALVINGS - 1 - n, size = 1 << shift;
    const int i = threadIdx.x, x = i & (size - 1), y = i >> shift;
    const int left = blockIdx.x * size + x, top = blockIdx.y * size + y;

    if (y < size && left < level.plan.width && top < level.plan.height) {
      const uint8_t *two = from + 2 * y * stride + 2 * x, *below = two + stride;
      const uint8_t mean = (two[0] + two[1] + below[0] + below[1] + 2) >> 2;

      squares[n % 2][i] = mean;
      pictures[level.picture + (int64_t) top * level.picture_pitch + left] =
          mean;
    }
    __syncthreads ();
    from = squares[n % 2];
    stride = size;
  }
}

// ---- resizing ----
//
// Each CuvPyramidResize has a class, with N adjacent columns of a level per
// thread. row() returns a row of their pixels, a byte each.

// Interpolates vertically from 8.8 to 8.16 fixed point and adds 0.5 for
// rounding. Taps are packed as index << 9 | weight, see pack_tap().
static __device__ unsigned
cuv_interpolate (unsigned upper, unsigned lower, unsigned weight)
{
  return (256 - weight) * upper + weight * lower + 32768;
}

// CUV_PYRAMID_RESIZE_COPY
struct CuvPyramidCopiedColumns {
  static constexpr int N = 4;
  const uint8_t *column;
  int stride;

  __device__
  CuvPyramidCopiedColumns (
      const CuvPyramidSource &from, const uint32_t *, int x)
      : column (from.data + x), stride (from.stride)
  {
  }

  __device__ unsigned
  row (uint32_t tap) const
  {
    // either weight, 0 or 256, selects one row
    const int y = (int) ((tap + 256) >> 9);

    return __ldg ((const uint32_t *) (column + y * stride));
  }
};

// CUV_PYRAMID_RESIZE_NEAR: all source pixels are among eight adjacent ones.
struct CuvPyramidNearColumns {
  static constexpr int N = 4;
  const uint8_t *words; // the first of the three words that contain them
  int stride;
  unsigned shift;      // bits before the eight pixels in the first word
  unsigned pairs[2];   // byte selectors of two columns each
  unsigned weights[N]; // of a column's two pixels, one in each half

  // Returns the selector of pixels a, a + 1, b, b + 1.
  static __device__ unsigned
  pair (int a, int b)
  {
    return a * 0x11 + b * 0x1100 + 0x1010;
  }

  __device__
  CuvPyramidNearColumns (
      const CuvPyramidSource &from, const uint32_t *taps, int x)
      : stride (from.stride)
  {
    const uint4 tap = __ldg ((const uint4 *) (taps + x));
    const unsigned tap_of[N] = { tap.x, tap.y, tap.z, tap.w };
    const int first = tap.x >> 9, word = min (first / 4, from.width / 4 - 3);
    const int eight =
        // at the right edge, the eight pixels end with the last word
        min (first, 4 * word + 4);
    int at[N];

    words = from.data + 4 * word;
    shift = 8 * (eight - 4 * word);
    for (int i = 0; i < N; i++) {
      at[i] = (int) (tap_of[i] >> 9) - eight;
      weights[i] = (256 - (tap_of[i] & 511)) | (tap_of[i] & 511) << 16;
    }
    pairs[0] = pair (at[0], at[1]);
    pairs[1] = pair (at[2], at[3]);
  }

  // Interpolates horizontally to 8.8 fixed point.
  __device__ void
  interpolate_row (const uint8_t *row, unsigned values[N]) const
  {
    const uint32_t *word = (const uint32_t *) row;
    const uint32_t a = __ldg (word), b = __ldg (word + 1), c = __ldg (word + 2);
    const unsigned four = __funnelshift_rc (a, b, shift);
    const unsigned others = __funnelshift_rc (b, c, shift);
    const unsigned left = __byte_perm (four, others, pairs[0]);
    const unsigned right = __byte_perm (four, others, pairs[1]);

    values[0] = __dp2a_lo (weights[0], left, 0u);
    values[1] = __dp2a_hi (weights[1], left, 0u);
    values[2] = __dp2a_lo (weights[2], right, 0u);
    values[3] = __dp2a_hi (weights[3], right, 0u);
  }

  __device__ unsigned
  row (uint32_t tap) const
  {
    const uint8_t *above = words + (int) (tap >> 9) * stride;
    unsigned upper[N], lower[N], v[N];

    interpolate_row (above, upper);
    interpolate_row (above + stride, lower);
    for (int i = 0; i < N; i++)
      v[i] = cuv_interpolate (upper[i], lower[i], tap & 511);
    return __byte_perm (
        __byte_perm (v[0], v[1], 0x62), __byte_perm (v[2], v[3], 0x62), 0x5410);
  }
};

// CUV_PYRAMID_RESIZE_FAR: one column per thread.
struct CuvPyramidFarColumn {
  static constexpr int N = 1;
  const uint8_t *left;
  int stride;
  unsigned weight; // of the right pixel

  __device__
  CuvPyramidFarColumn (
      const CuvPyramidSource &from, const uint32_t *taps, int x)
      : left (from.data + (taps[x] >> 9)), stride (from.stride),
        weight (taps[x] & 511)
  {
  }

  // Interpolates both rows horizontally at the same time, in the halves of a
  // word.
  __device__ unsigned
  row (uint32_t tap) const
  {
    const uint8_t *above = left + (int) (tap >> 9) * stride;
    const uint8_t *below = above + stride;
    const unsigned lefts = __ldg (above) | (unsigned) __ldg (below) << 16;
    const unsigned rights =
        __ldg (above + 1) | (unsigned) __ldg (below + 1) << 16;
    const unsigned rows = (256 - weight) * lefts + weight * rights;

    return cuv_interpolate (rows & 0xffff, rows >> 16, tap & 511) >> 16;
  }
};

template <int n, typename T>
static __device__ void
cuv_store_columns (T *to, const unsigned values[n])
{
  if constexpr (n == 4)
    *(uint4 *) to = make_uint4 (values[0], values[1], values[2], values[3]);
  else
    *to = values[0];
}

// ---- pictures ----

struct CuvPyramidPictures {
  const CuvPyramidLevel *levels;
  const uint32_t *taps;
  CuvPyramidSource frame;
  int rows; // rows of a tile, a multiple of 4
  uint8_t *pictures;
  uint32_t *strip_sums, *strip_squares;

  __device__ CuvPyramidSource
  source_of (const CuvPyramidLevel &level) const
  {
    if (level.plan.source < 0)
      return frame;
    const CuvPyramidLevel &source = levels[level.plan.source];
    return CuvPyramidSource{ pictures + source.picture, source.picture_pitch,
      source.picture_pitch };
  }

  // Makes a tile, four rows at a time; pictures are padded to multiples of four
  // rows. Column sums of a level's last strip may include padding, but are not
  // used.
  template <typename Columns, int powers>
  __device__ void
  make (const CuvPyramidLevel &level, const CuvPyramidTile &tile) const
  {
    constexpr int N = Columns::N;
    const int x = tile.x + N * threadIdx.x, pitch = level.picture_pitch;
    const int columns = cuv_whole_fours (level.plan.width);
    const int end = min (tile.y + rows, level.plan.height);
    const uint32_t *x_taps = taps + level.first_tap, *y_taps = x_taps + columns;
    uint8_t *to = pictures + level.picture + (int64_t) tile.y * pitch + x;
    unsigned sums[N] = {}, squares[N] = {};

    if (x >= columns)
      return;
    const Columns from (source_of (level), x_taps, x);
    for (int y = tile.y; y < end; y += 4) {
      const uint4 tap = __ldg ((const uint4 *) (y_taps + y));
      const unsigned made[] = { from.row (tap.x), from.row (tap.y),
        from.row (tap.z), from.row (tap.w) };

      for (unsigned pixels : made) {
        if constexpr (N == 4)
          *(uint32_t *) to = pixels;
        else
          *to = (uint8_t) pixels;
        to += pitch;
        for (int i = 0; i < N; i++) {
          if (powers > 0)
            sums[i] = __dp4a (pixels, 1u << 8 * i, sums[i]);
          if (powers > 1)
            squares[i] = __dp4a (pixels, pixels & 255u << 8 * i, squares[i]);
        }
      }
    }
    const int64_t at =
        cuv_strip_sums_at (level, tile.y / CUV_PYRAMID_STRIP) + x;
    if (powers > 0)
      cuv_store_columns<N> (strip_sums + at, sums);
    if (powers > 1)
      cuv_store_columns<N> (strip_squares + at, squares);
  }
};

// Makes pictures. Grid: tiles; with sums, a tile is a strip. powers: 0: only
// pictures; 1: also the sum of pixels in each column of a strip; 2: also the
// sum of their squares.
template <int powers>
static __global__ void
__launch_bounds__ (CUV_PYRAMID_PICTURE_THREADS, 16)
    cuv_picture_kernel (const CuvPyramidTile *tiles,
        CuvPyramidPictures pictures, unsigned long long *began)
{
  const CuvPyramidTile tile = tiles[blockIdx.x];
  const CuvPyramidLevel &level = pictures.levels[tile.level];

  cuv_pdl_trigger ();
  cuv_record_start (began);
  if (level.resize == CUV_PYRAMID_RESIZE_COPY)
    pictures.make<CuvPyramidCopiedColumns, powers> (level, tile);
  else if (level.resize == CUV_PYRAMID_RESIZE_NEAR)
    pictures.make<CuvPyramidNearColumns, powers> (level, tile);
  else
    pictures.make<CuvPyramidFarColumn, powers> (level, tile);
}

#endif
