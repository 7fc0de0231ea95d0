// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures in colour: a word per pixel with the bytes R, G, B, 0.
#ifndef CUV_CHANNELS_FRAME_KERNELS_CUH
#define CUV_CHANNELS_FRAME_KERNELS_CUH

#include "cuv-rgb.h"
#include "waldboost/channels/channels.cuh"
#include "waldboost/turn.h"

// Block of the kernels: 32 x 8 pixels.
#define CUV_CHANNELS_FRAME_X 32
#define CUV_CHANNELS_FRAME_Y 8

// The part of a frame that is scanned.
struct CuvChannelsPart {
  CuvFrame frame;
  int32_t left, top, width, height;
  CuvRgbMatrix matrix; // of YUV frames
};

static __device__ __forceinline__ unsigned
cuv_channels_word (int red, int green, int blue)
{
  return (unsigned) (red | green << 8 | blue << 16);
}

// Pixel (x, y) of the part.
static __device__ __forceinline__ unsigned
cuv_channels_frame_pixel (const CuvChannelsPart &part, int x, int y)
{
  const CuvFrame &frame = part.frame;
  int value[3];

  for (int i = 0; i < 3; i++)
    value[i] = cuv_rgb_sample (&frame.component[frame.n_components < 3 ? 0 : i],
        part.left + x, part.top + y);
  if (frame.model != CUV_MODEL_YUV)
    return cuv_channels_word (value[0], value[1], value[2]);
  return cuv_channels_word (
      cuv_rgb_of_yuv (part.matrix.m[0], value[0], value[1], value[2]),
      cuv_rgb_of_yuv (part.matrix.m[1], value[0], value[1], value[2]),
      cuv_rgb_of_yuv (part.matrix.m[2], value[0], value[1], value[2]));
}

static __global__ void
cuv_channels_frame_kernel (
    const __grid_constant__ CuvChannelsPart part, unsigned *picture, int pitch)
{
  const int x = blockIdx.x * CUV_CHANNELS_FRAME_X + threadIdx.x;
  const int y = blockIdx.y * CUV_CHANNELS_FRAME_Y + threadIdx.y;

  if (x < part.width && y < part.height)
    picture[(int64_t) y * pitch + x] = cuv_channels_frame_pixel (part, x, y);
}

// ---- turned frames ----

// Pixel (x, y) of the turned part; the same as cuv_turned_grey() for each
// colour.
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
        min (left + i % 2, part.width - 1), min (top + i / 2, part.height - 1));
  for (int i = 0; i < 3; i++)
    mixed[i] = cuv_turn_mix (corner[0] >> 8 * i & 255, corner[1] >> 8 * i & 255,
        corner[2] >> 8 * i & 255, corner[3] >> 8 * i & 255,
        (int) (place.x >> 9 & 255), (int) (place.y >> 9 & 255));
  return cuv_channels_word (mixed[0], mixed[1], mixed[2]);
}

static __global__ void
cuv_channels_turn_kernel (const __grid_constant__ CuvChannelsPart part,
    const __grid_constant__ CuvTurn turn, unsigned *picture, int pitch)
{
  const int x = blockIdx.x * CUV_CHANNELS_FRAME_X + threadIdx.x;
  const int y = blockIdx.y * CUV_CHANNELS_FRAME_Y + threadIdx.y;

  if (x < turn.width && y < turn.height)
    picture[(int64_t) y * pitch + x] =
        cuv_channels_turned_pixel (part, turn, x, y);
}

// ---- resizing ----

// A pixel between four: of the rows above and below, at a column's tap. Sums
// have 16 fraction bits; bytes are interpolated downwards two at a time, in the
// halves of a word.
static __device__ __forceinline__ unsigned
cuv_channels_resize (const unsigned *above, const unsigned *below,
    unsigned weights, const CuvChannelsTap &tap)
{
  const unsigned upper = weights & 255, lower = weights >> 8;
  const int right = tap.index + tap.next;
  const unsigned corner[4] = { above[tap.index], above[right], below[tap.index],
    below[right] };
  const unsigned rb = 0xff00ff; // red and blue
  const unsigned left_rb = (corner[0] & rb) * upper + (corner[2] & rb) * lower;
  const unsigned right_rb = (corner[1] & rb) * upper + (corner[3] & rb) * lower;
  // green of left and right
  const unsigned green = __byte_perm (corner[0], corner[1], 0x3531) * upper
      + __byte_perm (corner[2], corner[3], 0x3531) * lower;
  const unsigned half = 1 << 15;
  const unsigned sums[3] = { __dp2a_lo (__byte_perm (left_rb, right_rb, 0x5410),
                                 tap.weights, half),
    __dp2a_lo (green, tap.weights, half),
    __dp2a_lo (__byte_perm (left_rb, right_rb, 0x7632), tap.weights, half) };

  return __byte_perm (__byte_perm (sums[0], sums[1], 0x7762), sums[2], 0x7610);
}

// Makes a picture of width x height pixels, from a source with another pitch.
static __global__ void
cuv_channels_picture_kernel (const unsigned *source, int source_pitch,
    const CuvChannelsTap *x_taps, const CuvChannelsTap *y_taps, int width,
    int height, unsigned *picture, int pitch)
{
  const int x = blockIdx.x * CUV_CHANNELS_FRAME_X + threadIdx.x;
  const int y = blockIdx.y * CUV_CHANNELS_FRAME_Y + threadIdx.y;

  cuv_pdl_wait ();
  if (x < width && y < height) {
    const CuvChannelsTap row = y_taps[y];
    const unsigned *above = source + (int64_t) row.index * source_pitch;

    picture[(int64_t) y * pitch + x] = cuv_channels_resize (
        above, above + row.next * source_pitch, row.weights, x_taps[x]);
  }
}

#endif
