// SPDX-License-Identifier: LGPL-2.1-or-later
// Sums of blocks, smoothed by 1 2 1 in both directions: channels, with the
// blocks of the edge repeated as far as windows exceed the level.
#ifndef CUV_CHANNELS_SMOOTH_KERNEL_CUH
#define CUV_CHANNELS_SMOOTH_KERNEL_CUH

#include "waldboost/channels/channels.cuh"

// A tile: a warp per channel, four adjacent columns per thread.
#define CUV_CHANNELS_SMOOTH_COLUMNS 128
#define CUV_CHANNELS_SMOOTH_ROWS 8

// What a thread reads of each row: for each of its columns the nearest in the
// level, and the one before and after it.
struct CuvChannelsSmoothColumns {
  int before[4], at[4], after[4];
};

// A row of a channel, smoothed across.
struct CuvChannelsSmoothRow {
  unsigned at[4];
};

static __device__ __forceinline__ CuvChannelsSmoothColumns
cuv_channels_smooth_columns (int first, int n)
{
  CuvChannelsSmoothColumns self;

#pragma unroll
  for (int i = 0; i < 4; i++) {
    self.at[i] = min (max (first + i, 0), n - 1);
    self.before[i] = max (self.at[i] - 1, 0);
    self.after[i] = min (self.at[i] + 1, n - 1);
  }
  return self;
}

// channel: row 0 of the channel's sums.
static __device__ __forceinline__ CuvChannelsSmoothRow
cuv_channels_smooth_row (const CuvChannelsDeviceLevel &level,
    const uint16_t *channel, const CuvChannelsSmoothColumns &columns, int y)
{
  const uint16_t *row = channel
      + (int64_t) min (max (y, 0), level.rows - 1) * CUV_CHANNELS_N
          * level.sums.pitch;
  CuvChannelsSmoothRow self;

#pragma unroll
  for (int i = 0; i < 4; i++)
    self.at[i] =
        row[columns.before[i]] + 2 * row[columns.at[i]] + row[columns.after[i]];
  return self;
}

// shift: log2 of 16 shrink^2.
static __device__ __forceinline__ unsigned
cuv_channels_smooth_bytes (const CuvChannelsSmoothRow &above,
    const CuvChannelsSmoothRow &row, const CuvChannelsSmoothRow &below,
    int shift)
{
  unsigned bytes = 0;

#pragma unroll
  for (int i = 0; i < 4; i++)
    bytes |= (above.at[i] + 2 * row.at[i] + below.at[i]) >> shift << 8 * i;
  return bytes;
}

// x and y of a tile: columns and rows of the level's channels, overhang
// included. Block: 32 x CUV_CHANNELS_N threads.
static __global__ void __launch_bounds__ (32 * CUV_CHANNELS_N)
    cuv_channels_smooth_kernel (const CuvChannelsTile *tiles,
        const CuvChannelsDeviceLevel *levels, int overhang, int shift,
        const uint16_t *sums, uint8_t *channels)
{
  cuv_pdl_wait ();
  const CuvChannelsTile tile = tiles[blockIdx.x];
  const CuvChannelsDeviceLevel &level = levels[tile.level];
  const int channel = threadIdx.y, x = tile.x + 4 * threadIdx.x;
  const int end =
      min (tile.y + CUV_CHANNELS_SMOOTH_ROWS, level.rows + 2 * overhang);
  const uint16_t *from = sums + level.sums.first + channel * level.sums.pitch;
  uint8_t *to =
      channels + level.channels.first + channel * level.channels.pitch + x;
  const CuvChannelsSmoothColumns columns =
      cuv_channels_smooth_columns (x - overhang, level.columns);
  CuvChannelsSmoothRow above, row, below;
  int at = -2; // row of the level; none yet

  if (x >= level.columns + 2 * overhang)
    return;
  for (int y = tile.y; y < end; y++) {
    const int next = min (max (y - overhang, 0), level.rows - 1);

    if (next == at + 1) {
      above = row;
      row = below;
      below = cuv_channels_smooth_row (level, from, columns, next + 1);
    } else if (next != at) {
      above = cuv_channels_smooth_row (level, from, columns, next - 1);
      row = cuv_channels_smooth_row (level, from, columns, next);
      below = cuv_channels_smooth_row (level, from, columns, next + 1);
    }
    at = next;
    *(unsigned *) (to + (int64_t) y * CUV_CHANNELS_N * level.channels.pitch) =
        cuv_channels_smooth_bytes (above, row, below, shift);
  }
}

#endif
