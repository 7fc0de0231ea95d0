// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that make pictures in colour, with a word per pixel of bytes R, G, B,
// 0.
#ifndef CUV_CHANNELS_FRAME_KERNELS_CUH
#define CUV_CHANNELS_FRAME_KERNELS_CUH

#include "cuv-rgb.h"
#include "waldboost/channels/channels.cuh"
#include "waldboost/turn.h"

// Threads of a block, and the square of pixels that it makes of the frame.
#define CUV_CHANNELS_FRAME_X 32
#define CUV_CHANNELS_FRAME_Y 8
#define CUV_CHANNELS_SQUARE 32  // CUV_CHANNELS_FRAME_X
#define CUV_CHANNELS_HALVINGS 5 // halvings until the square is one pixel

// The picture of a frame, and successively halved pictures.
struct CuvChannelsChain {
  unsigned *words; // words of all pictures
  int32_t n;       // number of pictures: 1 plus up to CUV_CHANNELS_HALVINGS
  struct {
    int64_t first;
    int32_t pitch, width, height;
  } picture[1 + CUV_CHANNELS_HALVINGS];
};

// The part of a frame that is scanned.
struct CuvChannelsPart {
  CuvComponent component[3]; // grey: the same component three times
  int32_t left, top, width, height;
  int32_t is_yuv;
  CuvRgbMatrix matrix; // converts YUV to RGB
};

static __device__ __forceinline__ unsigned
cuv_channels_word (int red, int green, int blue)
{
  return (unsigned) (red | green << 8 | blue << 16);
}

// Positions of a column's samples in a row.
struct CuvChannelsColumn {
  int at[3];
};

static __device__ __forceinline__ CuvChannelsColumn
cuv_channels_column (const CuvChannelsPart &part, int x)
{
  CuvChannelsColumn self;

#pragma unroll
  for (int i = 0; i < 3; i++) {
    const CuvComponent &c = part.component[i];

    self.at[i] = ((part.left + x) >> c.xsub) * c.step;
  }
  return self;
}

// Returns the pixel of a column in row y of the part.
static __device__ __forceinline__ unsigned
cuv_channels_frame_pixel (
    const CuvChannelsPart &part, const CuvChannelsColumn &column, int y)
{
  int value[3];

#pragma unroll
  for (int i = 0; i < 3; i++) {
    const CuvComponent &c = part.component[i];

    value[i] =
        c.data[(int64_t) ((part.top + y) >> c.ysub) * c.stride + column.at[i]];
  }
  if (!part.is_yuv)
    return cuv_channels_word (value[0], value[1], value[2]);
  return cuv_channels_word (
      cuv_rgb_of_yuv (part.matrix.m[0], value[0], value[1], value[2]),
      cuv_rgb_of_yuv (part.matrix.m[1], value[0], value[1], value[2]),
      cuv_rgb_of_yuv (part.matrix.m[2], value[0], value[1], value[2]));
}

// ---- turned frames ----

// Returns pixel (x, y) of the turned part, which equals cuv_turned_grey() for
// each colour.
static __device__ unsigned
cuv_channels_turned_pixel (
    const CuvChannelsPart &part, const CuvTurn &turn, int x, int y)
{
  const CuvTurnPlace place =
      cuv_turn_place (&turn, part.width, part.height, x, y);
  const int left = (int) (place.x >> 17), top = (int) (place.y >> 17);
  unsigned corner[4], mixed[3];

  if (place.x < 0 || place.x > (int64_t) (part.width - 1) << 17 || place.y < 0
      || place.y > (int64_t) (part.height - 1) << 17)
    return cuv_channels_word (CUV_WALDBOOST_TURN_OUTSIDE,
        CUV_WALDBOOST_TURN_OUTSIDE, CUV_WALDBOOST_TURN_OUTSIDE);
  for (int i = 0; i < 4; i++)
    corner[i] = cuv_channels_frame_pixel (part,
        cuv_channels_column (part, min (left + i % 2, part.width - 1)),
        min (top + i / 2, part.height - 1));
  for (int i = 0; i < 3; i++)
    mixed[i] = cuv_turn_mix (corner[0] >> 8 * i & 255, corner[1] >> 8 * i & 255,
        corner[2] >> 8 * i & 255, corner[3] >> 8 * i & 255,
        (int) (place.x >> 9 & 255), (int) (place.y >> 9 & 255));
  return cuv_channels_word (mixed[0], mixed[1], mixed[2]);
}

// ---- the frame ----

// Returns the mean of four pixels, rounded; a byte each for R, G, B.
static __device__ __forceinline__ unsigned
cuv_channels_mean (unsigned a, unsigned b, unsigned c, unsigned d)
{
  const unsigned rb = 0xff00ff, g = 0xff00;
  const unsigned sum_rb = (a & rb) + (b & rb) + (c & rb) + (d & rb);
  const unsigned sum_g = (a & g) + (b & g) + (c & g) + (d & g);

  return ((sum_rb + 0x20002) >> 2 & rb) | ((sum_g + 0x200) >> 2 & g);
}

// Makes a block's square of the frame's picture, and a copy in shared memory.
template <bool turned>
static __device__ __forceinline__ void
cuv_channels_frame_square (const CuvChannelsPart &part, const CuvTurn &turn,
    const CuvChannelsChain &chain, unsigned *square)
{
  const auto &picture = chain.picture[0];
  const int x = blockIdx.x * CUV_CHANNELS_SQUARE + threadIdx.x;
  const CuvChannelsColumn column =
      cuv_channels_column (part, min (x, part.width - 1));

#pragma unroll
  for (int i = 0; i < CUV_CHANNELS_SQUARE; i += CUV_CHANNELS_FRAME_Y) {
    const int row = i + threadIdx.y, y = blockIdx.y * CUV_CHANNELS_SQUARE + row;
    unsigned pixel;

    if (x >= picture.width || y >= picture.height)
      continue;
    if constexpr (turned)
      pixel = cuv_channels_turned_pixel (part, turn, x, y);
    else
      pixel = cuv_channels_frame_pixel (part, column, y);
    chain.words[picture.first + (int64_t) y * picture.pitch + x] = pixel;
    square[row * CUV_CHANNELS_SQUARE + threadIdx.x] = pixel;
  }
}

// Makes half of a square, the n-th halving of the frame.
template <int n>
static __device__ __forceinline__ void
cuv_channels_half_square (
    const CuvChannelsChain &chain, const unsigned *square, unsigned *half)
{
  constexpr int side = CUV_CHANNELS_SQUARE >> n;
  const auto &picture = chain.picture[n];
  const int thread = threadIdx.y * CUV_CHANNELS_FRAME_X + threadIdx.x;
  const int column = thread % side, row = thread / side;
  const int x = blockIdx.x * side + column, y = blockIdx.y * side + row;
  const unsigned *four = square + 4 * row * side + 2 * column;

  if (row >= side || x >= picture.width || y >= picture.height)
    return;
  half[thread] =
      cuv_channels_mean (four[0], four[1], four[2 * side], four[2 * side + 1]);
  chain.words[picture.first + (int64_t) y * picture.pitch + x] = half[thread];
}

// Makes a block's squares of picture n and of the pictures after it.
template <int n>
static __device__ __forceinline__ void
cuv_channels_halves (
    const CuvChannelsChain &chain, unsigned *square, unsigned *half)
{
  if constexpr (n <= CUV_CHANNELS_HALVINGS) {
    if (n >= chain.n)
      return;
    __syncthreads ();
    cuv_channels_half_square<n> (chain, square, half);
    cuv_channels_halves<n + 1> (chain, half, square);
  }
}

// Makes the picture of the frame and its halves, a square per block.
template <bool turned>
static __global__ void
__launch_bounds__ (CUV_CHANNELS_FRAME_X *CUV_CHANNELS_FRAME_Y)
    cuv_channels_frame_kernel (const __grid_constant__ CuvChannelsPart part,
        const __grid_constant__ CuvTurn turn,
        const __grid_constant__ CuvChannelsChain chain,
        unsigned long long *began)
{
  // a picture's square is read while its half is written
  __shared__ unsigned squares[2][CUV_CHANNELS_SQUARE * CUV_CHANNELS_SQUARE];

  cuv_record_start (began);
  cuv_channels_frame_square<turned> (part, turn, chain, squares[0]);
  cuv_channels_halves<1> (chain, squares[0], squares[1]);
}

// ---- resizing ----

// Interpolates a pixel between two columns, each of which has been interpolated
// vertically: values times 256, red and blue in the halves of x, green in y.
static __device__ __forceinline__ unsigned
cuv_channels_interpolate (uint2 left, uint2 right, unsigned weights)
{
  const unsigned half = 1 << 15;
  const unsigned red =
      __dp2a_lo (__byte_perm (left.x, right.x, 0x5410), weights, half);
  const unsigned green =
      __dp2a_lo (__byte_perm (left.y, right.y, 0x5410), weights, half);
  const unsigned blue =
      __dp2a_lo (__byte_perm (left.x, right.x, 0x7632), weights, half);

  return __byte_perm (__byte_perm (red, green, 0x7762), blue, 0x7610);
}

// Interpolates a pixel of a column vertically.
static __device__ __forceinline__ uint2
cuv_channels_interpolate_column (
    unsigned above, unsigned below, unsigned weights)
{
  // bytes: red of both rows, green of both; then blue of both, unused
  const unsigned rg = __byte_perm (above, below, 0x5140);
  const unsigned b = __byte_perm (above, below, 0x3362);

  return make_uint2 (
      __byte_perm (__dp4a (rg, weights, 0u), __dp4a (b, weights, 0u), 0x5410),
      __dp4a (rg, weights << 16, 0u));
}

// Levels are resized in tiles of 32 x CUV_CHANNELS_RESIZE_ROWS pixels, by
// blocks of CUV_CHANNELS_FRAME_X x CUV_CHANNELS_FRAME_Y threads.
#define CUV_CHANNELS_RESIZE_ROWS 32

// Makes the pictures of levels.
static __global__ void
__launch_bounds__ (CUV_CHANNELS_FRAME_X *CUV_CHANNELS_FRAME_Y)
    cuv_channels_resize_kernel (const CuvChannelsTile *tiles,
        const CuvChannelsDeviceLevel *levels, const CuvChannelsTap *taps,
        unsigned *pictures)
{
  cuv_pdl_wait ();
  const CuvChannelsTile tile = tiles[blockIdx.x];
  const CuvChannelsDeviceLevel level = levels[tile.level];
  const int x = tile.x + threadIdx.x;
  const CuvChannelsTap column =
      taps[level.first_x_tap + min (x, level.width - 1)];
  const unsigned *source = pictures + level.source.first + column.index;
  unsigned *to = pictures + level.picture.first + x;

#pragma unroll
  for (int i = 0; i < CUV_CHANNELS_RESIZE_ROWS; i += CUV_CHANNELS_FRAME_Y) {
    const int y = min (tile.y + i + (int) threadIdx.y, level.height - 1);
    const CuvChannelsTap row = taps[level.first_y_tap + y];
    const unsigned *above = source + (int64_t) row.index * level.source.pitch;
    const unsigned *below = above + row.next * level.source.pitch;
    const unsigned pixel = cuv_channels_interpolate (
        cuv_channels_interpolate_column (*above, *below, row.weights),
        cuv_channels_interpolate_column (
            above[column.next], below[column.next], row.weights),
        column.weights);

    if (x < level.width)
      to[(int64_t) y * level.picture.pitch] = pixel;
  }
}

#endif
