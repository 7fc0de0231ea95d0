// SPDX-License-Identifier: LGPL-2.1-or-later
// Sums of blocks, smoothed by 1 2 1 in both directions: channels, with the
// blocks of the edge repeated as far as windows exceed the level. Smoothed sums
// have 16 bits: a word holds two.
#ifndef CUV_CHANNELS_SMOOTH_KERNEL_CUH
#define CUV_CHANNELS_SMOOTH_KERNEL_CUH

#include "waldboost/channels/channels.cuh"

// A tile: a warp per channel, four adjacent columns per thread; the first and
// last thread only know those of their neighbours.
#define CUV_CHANNELS_SMOOTH_COLUMNS (30 * 4)
#define CUV_CHANNELS_SMOOTH_ROWS 8

// Four adjacent sums.
struct CuvChannelsSums {
  unsigned first, last;
};

// The thread's place in a channel of a level.
struct CuvChannelsSmoothPlace {
  const uint16_t *sums; // row 0, column x
  uint8_t *channel;     // the same
  int x, n;             // n: columns from x to the right edge
  int rows;
  int row_sums, row_bytes; // from row to row
  int overhang, shift;     // shift: log2 of 16 shrink^2
};

// The same four sums, with the last of n in all after it.
static __device__ __forceinline__ uint2
cuv_channels_repeat_last_sum (uint2 sums, int n)
{
  const unsigned last = (n > 2          ? sums.y
                                : n > 1 ? sums.x >> 16
                                        : sums.x)
      & 0xffff;

  return make_uint2 (n > 1 ? sums.x : last * 0x10001u, last * 0x10001u);
}

// The sums of a row, or of the nearest row, smoothed across. Columns outside of
// the level are those of the edge. Called by whole warps.
static __device__ __forceinline__ CuvChannelsSums
cuv_channels_smooth_row (const CuvChannelsSmoothPlace &place, int y)
{
  uint2 own = *(const uint2 *) (place.sums
      + (int64_t) min (max (y, 0), place.rows - 1) * place.row_sums);

  if (place.n < 4)
    own = cuv_channels_repeat_last_sum (own, place.n);
  unsigned before = __shfl_up_sync (~0u, own.y, 1);
  unsigned after = __shfl_down_sync (~0u, own.x, 1);

  before = place.x == 0 ? own.x << 16 : before;
  after = place.n <= 4 ? own.y >> 16 : after;
  const unsigned from_left = __byte_perm (before, own.x, 0x5432);
  const unsigned middle = __byte_perm (own.x, own.y, 0x5432);
  const unsigned from_right = __byte_perm (own.y, after, 0x5432);

  return CuvChannelsSums{ from_left + 2 * own.x + middle,
    middle + 2 * own.y + from_right };
}

static __device__ __forceinline__ unsigned
cuv_channels_smooth_bytes (const CuvChannelsSums &above,
    const CuvChannelsSums &row, const CuvChannelsSums &below, int shift)
{
  const unsigned first = above.first + 2 * row.first + below.first;
  const unsigned last = above.last + 2 * row.last + below.last;

  return __byte_perm (first >> shift, last >> shift, 0x6420);
}

// Repeats the last of n bytes in those after it.
static __device__ unsigned
cuv_channels_repeat_last_byte (unsigned bytes, int n)
{
  const unsigned inside = n < 4 ? (1u << 8 * n) - 1 : ~0u;
  const unsigned last = bytes >> 8 * (min (n, 4) - 1) & 255;

  return (bytes & inside) | (last * 0x01010101u & ~inside);
}

// Stores the bytes of row y at an edge, and the first or last ones beyond it.
static __device__ __noinline__ void
cuv_channels_store_edges (
    const CuvChannelsSmoothPlace &place, int y, unsigned bytes)
{
  const int first = y == 0 ? -place.overhang : y;
  const int last = y == place.rows - 1 ? y + place.overhang : y;
  const int n_words = cuv_div_up (place.overhang, 4);
  const int left = place.x == 0 ? n_words : 0;
  const int right = place.n <= 4 ? n_words : 0;

  bytes = cuv_channels_repeat_last_byte (bytes, place.n);
  for (int row = first; row <= last; row++) {
    unsigned *to =
        (unsigned *) (place.channel + (int64_t) row * place.row_bytes);

    *to = bytes;
    for (int i = 1; i <= left; i++)
      to[-i] = (bytes & 255) * 0x01010101u;
    for (int i = 1; i <= right; i++)
      to[i] = (bytes >> 24) * 0x01010101u;
  }
}

// x and y of a tile: its first column and row, multiples of 4. Block: 32 x
// CUV_CHANNELS_N threads.
static __global__ void __launch_bounds__ (32 * CUV_CHANNELS_N)
    cuv_channels_smooth_kernel (const CuvChannelsTile *tiles,
        const CuvChannelsDeviceLevel *levels, int overhang, int shift,
        const uint16_t *sums, uint8_t *channels)
{
  cuv_pdl_wait ();
  const CuvChannelsTile tile = tiles[blockIdx.x];
  const CuvChannelsDeviceLevel level = levels[tile.level];
  const int lane = threadIdx.x, channel = threadIdx.y;
  const int x = tile.x + 4 * (lane - 1);
  // threads outside of the level read the nearest word
  const int nearest = min (max (x, 0), (level.columns - 1) / 4 * 4);
  const CuvChannelsSmoothPlace place = { sums + level.sums.first
        + channel * level.sums.pitch + nearest,
    channels + level.channels.first + channel * level.channels.pitch + nearest,
    nearest, level.columns - nearest, level.rows,
    CUV_CHANNELS_N * level.sums.pitch, CUV_CHANNELS_N * level.channels.pitch,
    overhang, shift };
  const bool writes = lane > 0 && lane < 31 && x == nearest;
  const bool at_side = nearest == 0 || place.n <= 4;
  const int end = min (tile.y + CUV_CHANNELS_SMOOTH_ROWS, level.rows);
  CuvChannelsSums above = cuv_channels_smooth_row (place, tile.y - 1);
  CuvChannelsSums row = cuv_channels_smooth_row (place, tile.y);

#pragma unroll 2
  for (int y = tile.y; y < end; y++) {
    const CuvChannelsSums below = cuv_channels_smooth_row (place, y + 1);
    const unsigned bytes = cuv_channels_smooth_bytes (above, row, below, shift);

    above = row;
    row = below;
    if (!writes)
      continue;
    if (at_side || y == 0 || y == level.rows - 1)
      cuv_channels_store_edges (place, y, bytes);
    else
      *(unsigned *) (place.channel + (int64_t) y * place.row_bytes) = bytes;
  }
}

#endif
