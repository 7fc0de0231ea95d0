// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that makes channels: it smooths sums of blocks by 1 2 1 in both
// directions, and repeats the blocks at the edges as far as windows extend
// beyond the level. Smoothed sums fit 16 bits, so a word holds two.
#ifndef CUV_CHANNELS_SMOOTH_KERNEL_CUH
#define CUV_CHANNELS_SMOOTH_KERNEL_CUH

#include "waldboost/channels/channels.cuh"

// A tile, with a warp per channel and four adjacent columns per thread; the
// first and last thread of a warp only provide neighbours.
#define CUV_CHANNELS_SMOOTH_COLUMNS (30 * 4)
#define CUV_CHANNELS_SMOOTH_ROWS 4

// Four adjacent sums.
struct CuvChannelsSums {
  unsigned first, last;
};

// A thread's columns in a channel of a level.
struct CuvChannelsSmoothPlace {
  int x, n; // n: columns from x to the right edge
  int overhang;
};

// Returns four sums, smoothed horizontally. Columns outside of the level repeat
// those at the edges; in a word at the right edge, columns beyond the edge are
// undefined. Call from whole warps.
static __device__ __forceinline__ CuvChannelsSums
cuv_channels_smooth_row (const CuvChannelsSmoothPlace &place, uint2 own)
{
  unsigned before = __shfl_up_sync (~0u, own.y, 1);
  unsigned after = __shfl_down_sync (~0u, own.x, 1);

  // the last sum is repeated beyond the edge
  own.x = place.n == 1 ? (own.x & 0xffff) | own.x << 16 : own.x;
  own.y = place.n == 2 ? own.x >> 16
      : place.n == 3   ? (own.y & 0xffff) | own.y << 16
                       : own.y;
  after = place.n == 4 ? own.y >> 16 : after;
  before = place.x == 0 ? own.x << 16 : before;
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

// Repeats the last of n bytes in the bytes after it.
static __device__ __forceinline__ unsigned
cuv_channels_repeat_last_byte (unsigned bytes, int n)
{
  const int unused = 32 - 8 * min (n, 4); // number of bits
  const unsigned last = bytes << unused >> 24;

  return (bytes & ~0u >> unused)
      | (unused > 0 ? last * 0x01010101u << (32 - unused) : 0);
}

// Stores the bytes of a row, and repeats the first and the last one beyond the
// row's ends.
static __device__ __forceinline__ void
cuv_channels_store_row (
    const CuvChannelsSmoothPlace &place, uint8_t *to, unsigned bytes)
{
  unsigned *words = (unsigned *) to;

  *words = bytes;
  if (place.x == 0) {
#pragma unroll 1
    for (int i = 1; 4 * i < place.overhang + 4; i++)
      words[-i] = (bytes & 255) * 0x01010101u;
  }
  if (place.n <= 4) {
#pragma unroll 1
    for (int i = 1; 4 * i < place.overhang + 4; i++)
      words[i] = (bytes >> 24) * 0x01010101u;
  }
}

// Makes channels. x and y of a tile: its first column and row, multiples of 4.
// Block: 32 x CUV_CHANNELS_N threads.
static __global__ void __launch_bounds__ (32 * CUV_CHANNELS_N)
    cuv_channels_smooth_kernel (const CuvChannelsTile *tiles,
        const CuvChannelsDeviceLevel *levels, int overhang, int shift,
        const uint16_t *sums, uint8_t *channels)
{
  cuv_pdl_wait ();
  const CuvChannelsTile tile = tiles[blockIdx.x];
  const CuvChannelsDeviceLevel level = levels[tile.level];
  const int lane = threadIdx.x, channel = threadIdx.y;
  const int x = tile.x + 4 * (lane - 1), last = level.rows - 1;
  // threads outside of the level read the nearest word
  const int nearest = min (max (x, 0), (level.columns - 1) / 4 * 4);
  const CuvChannelsSmoothPlace place = { nearest, level.columns - nearest,
    overhang };
  const bool writes = lane > 0 && lane < 31 && x == nearest;
  const int row_sums = CUV_CHANNELS_N * level.sums.pitch;
  const int row_bytes = CUV_CHANNELS_N * level.channels.pitch;
  const uint16_t *from = sums + level.sums.first + channel * level.sums.pitch
      + nearest + (int64_t) tile.y * row_sums;
  uint8_t *to = channels + level.channels.first + channel * level.channels.pitch
      + nearest + (int64_t) tile.y * row_bytes;
  const int end = min (tile.y + CUV_CHANNELS_SMOOTH_ROWS, level.rows);
  uint2 next = *(const uint2 *) from;
  CuvChannelsSums row = cuv_channels_smooth_row (place, next);
  CuvChannelsSums above = tile.y == 0
      ? row
      : cuv_channels_smooth_row (place, *(const uint2 *) (from - row_sums));

  // a row is loaded while the previous one is smoothed
  from += tile.y < last ? row_sums : 0;
  next = *(const uint2 *) from;
#pragma unroll 1
  for (int y = tile.y; y < end; y++, to += row_bytes) {
    const uint2 now = next;

    from += y + 1 < last ? row_sums : 0;
    next = *(const uint2 *) from;
    const CuvChannelsSums below = cuv_channels_smooth_row (place, now);
    unsigned bytes = cuv_channels_smooth_bytes (above, row, below, shift);

    above = row;
    row = below;
    if (!writes)
      continue;
    if (place.n < 4)
      bytes = cuv_channels_repeat_last_byte (bytes, place.n);
    cuv_channels_store_row (place, to, bytes);
    if (y == 0 || y == last) {
#pragma unroll 1
      for (int i = 1; i <= overhang; i++) {
        if (y == 0)
          cuv_channels_store_row (place, to - (int64_t) i * row_bytes, bytes);
        if (y == last)
          cuv_channels_store_row (place, to + (int64_t) i * row_bytes, bytes);
      }
    }
  }
}

#endif
