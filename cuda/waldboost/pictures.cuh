// SPDX-License-Identifier: LGPL-2.1-or-later
// The pictures of a pyramid's levels, and the sums of their strips' columns.
#ifndef CUV_WALDBOOST_PICTURES_CUH
#define CUV_WALDBOOST_PICTURES_CUH

#include "waldboost/pyramid.cuh"

// Where a level is resized from. Rows are read as aligned words of four pixels,
// and have three or more.
struct CuvSource {
  const uint8_t *data;
  int stride, width; // whole words
};

// Block: 32 x 8 pixels. Frames whose grey is not already such a plane.
static __global__ void
cuv_grey_kernel (CuvFrame frame, uint8_t *grey, int pitch)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;

  if (x < frame.width && y < frame.height)
    grey[(size_t) y * pitch + x] = cuv_frame_grey (&frame, x, y);
}

// Block: a square of the first half, a pixel a thread, and what comes of it in
// the others.
static __global__ void
__launch_bounds__ (CUV_HALVES *CUV_HALVES)
    cuv_halves_kernel (const __grid_constant__ CuvHalves halves,
        const CuvPyramidLevel *levels, CuvSource frame, uint8_t *pictures)
{
  // of two levels: one is read while the next is written
  __shared__ uint8_t squares[2][CUV_HALVES * CUV_HALVES];
  const uint8_t *from = frame.data
      + (int64_t) (2 * CUV_HALVES * blockIdx.y) * frame.stride
      + 2 * CUV_HALVES * blockIdx.x;
  int stride = frame.stride;

  for (int n = 0; n < halves.n; n++) {
    const CuvPyramidLevel &level = levels[halves.level[n]];
    const int shift = CUV_HALVINGS - 1 - n, size = 1 << shift;
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

// ---- columns: their pixels in a row of a level, a byte each ----

// The vertical step from 8.8 to 8.16, which is then to be cut.
static __device__ unsigned
cuv_between (unsigned upper, unsigned lower, unsigned weight)
{
  return (256 - weight) * upper + weight * lower + 32768;
}

// Not resized.
struct CuvCopiedColumns {
  static constexpr int N = 4;
  const uint8_t *column;
  int stride;

  __device__
  CuvCopiedColumns (const CuvSource &from, const uint32_t *, int x)
      : column (from.data + x), stride (from.stride)
  {
  }

  __device__ unsigned
  row (uint32_t tap) const
  {
    const int y = (int) ((tap + 256) >> 9); // its weight is 0 or 256

    return __ldg ((const uint32_t *) (column + y * stride));
  }
};

// Whose source pixels are eight in a row at most.
struct CuvNearColumns {
  static constexpr int N = 4;
  const uint8_t *words; // the first of three that have the eight
  int stride;
  unsigned shift;      // to these
  unsigned pairs[2];   // where two columns' are
  unsigned weights[N]; // of a column's two, in halves

  // Selects each one's pixel and the next.
  static __device__ unsigned
  pair (int a, int b)
  {
    return a * 0x11 + b * 0x1100 + 0x1010;
  }

  __device__
  CuvNearColumns (const CuvSource &from, const uint32_t *taps, int x)
      : stride (from.stride)
  {
    const uint4 tap = __ldg ((const uint4 *) (taps + x));
    const unsigned tap_of[N] = { tap.x, tap.y, tap.z, tap.w };
    const int first = tap.x >> 9, word = min (first / 4, from.width / 4 - 3);
    const int eight = min (first, 4 * word + 4); // fewer at the right end
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

  // The horizontal step, to 8.8.
  __device__ void
  across (const uint8_t *row, unsigned values[N]) const
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

    across (above, upper);
    across (above + stride, lower);
    for (int i = 0; i < N; i++)
      v[i] = cuv_between (upper[i], lower[i], tap & 511);
    return __byte_perm (
        __byte_perm (v[0], v[1], 0x62), __byte_perm (v[2], v[3], 0x62), 0x5410);
  }
};

// One column, whose source pixels are far from the next one's.
struct CuvFarColumn {
  static constexpr int N = 1;
  const uint8_t *left;
  int stride;
  unsigned weight; // of the right one

  __device__
  CuvFarColumn (const CuvSource &from, const uint32_t *taps, int x)
      : left (from.data + (taps[x] >> 9)), stride (from.stride),
        weight (taps[x] & 511)
  {
  }

  // Both rows' horizontal steps at once, in the halves of a word.
  __device__ unsigned
  row (uint32_t tap) const
  {
    const uint8_t *above = left + (int) (tap >> 9) * stride;
    const uint8_t *below = above + stride;
    const unsigned lefts = __ldg (above) | (unsigned) __ldg (below) << 16;
    const unsigned rights =
        __ldg (above + 1) | (unsigned) __ldg (below + 1) << 16;
    const unsigned both = (256 - weight) * lefts + weight * rights;

    return cuv_between (both & 0xffff, both >> 16, tap & 511) >> 16;
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

struct CuvPictures {
  const CuvPyramidLevel *levels;
  const uint32_t *taps;
  CuvSource frame;
  int rows; // of a tile, whole fours
  uint8_t *pictures;
  uint32_t *strip_sums, *strip_squares;

  __device__ CuvSource
  source_of (const CuvPyramidLevel &level) const
  {
    if (level.plan.source < 0)
      return frame;
    const CuvPyramidLevel &source = levels[level.plan.source];
    return CuvSource{ pictures + source.picture, source.picture_pitch,
      source.picture_pitch };
  }

  // Four rows at a time: there is room for whole fours. A level's last strip
  // may count rows below it; its sums are not needed.
  template <typename Columns, int powers>
  __device__ void
  make (const CuvPyramidLevel &level, const CuvTile &tile) const
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
    const int64_t at = cuv_strip_sums_at (level, tile.y / CUV_STRIP) + x;
    if (powers > 0)
      cuv_store_columns<N> (strip_sums + at, sums);
    if (powers > 1)
      cuv_store_columns<N> (strip_squares + at, squares);
  }
};

// Block: a tile. Finds the sums of so many powers of its columns' pixels too;
// then it is as high as a strip.
template <int powers>
static __global__ void
__launch_bounds__ (CUV_PICTURE_THREADS, 16)
    cuv_picture_kernel (const CuvTile *tiles, CuvPictures pictures)
{
  const CuvTile tile = tiles[blockIdx.x];
  const CuvPyramidLevel &level = pictures.levels[tile.level];

  cuv_let_next_kernel_start ();
  if (level.resize == CUV_RESIZE_COPY)
    pictures.make<CuvCopiedColumns, powers> (level, tile);
  else if (level.resize == CUV_RESIZE_NEAR)
    pictures.make<CuvNearColumns, powers> (level, tile);
  else
    pictures.make<CuvFarColumn, powers> (level, tile);
}

#endif
