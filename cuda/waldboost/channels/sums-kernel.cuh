// SPDX-License-Identifier: LGPL-2.1-or-later
// Magnitudes relative to their surroundings, 11 x 11 pixels, and their sums in
// blocks, by direction. A warp walks down a strip of columns: each thread keeps
// the sums of 11 rows for its four columns, and gets those of its neighbours by
// shuffles.
#ifndef CUV_CHANNELS_SUMS_KERNEL_CUH
#define CUV_CHANNELS_SUMS_KERNEL_CUH

#include "waldboost/channels/channels.cuh"

#define CUV_CHANNELS_SUMS_WARPS 4 // tiles of a block
// A tile: threads whose neighbours' neighbours are in the warp have pixels.
#define CUV_CHANNELS_SUMS_COLUMNS (28 * CUV_CHANNELS_LANE_PIXELS)
#define CUV_CHANNELS_SUMS_ROWS 32

// Four adjacent magnitudes, or sums of 11 of them, 16 bits each.
struct CuvChannelsFour {
  unsigned first, last;
};

// ---- rows of pixels ----

// The pixels of a level that a warp reads.
struct CuvChannelsStrip {
  const uint16_t *magnitudes; // row 0
  const uint8_t *directions;
  int pitch, width, height;
  int x; // of the thread, may be outside of the level
};

// A thread's magnitudes in row y, or in the nearest row; columns outside of the
// level are those of the edge.
static __device__ __forceinline__ CuvChannelsFour
cuv_channels_magnitudes (const CuvChannelsStrip &strip, int y)
{
  const uint16_t *row = strip.magnitudes
      + (int64_t) min (max (y, 0), strip.height - 1) * strip.pitch;
  const int x = strip.x, last = strip.width - 1;

  if (x >= 0 && x + 3 <= last) {
    const uint2 four = *(const uint2 *) (row + x);

    return CuvChannelsFour{ four.x, four.y };
  }
  const unsigned at[4] = { row[min (max (x, 0), last)],
    row[min (max (x + 1, 0), last)], row[min (max (x + 2, 0), last)],
    row[min (max (x + 3, 0), last)] };

  return CuvChannelsFour{ at[0] | at[1] << 16, at[2] | at[3] << 16 };
}

static __device__ __forceinline__ void
cuv_channels_add_rows (CuvChannelsFour *sums, const CuvChannelsFour &added,
    const CuvChannelsFour &removed)
{
  sums->first += added.first - removed.first;
  sums->last += added.last - removed.last;
}

// ---- surroundings ----

// The sums of 11 columns around each of a thread's pixels, from those of 11
// rows.
static __device__ __forceinline__ void
cuv_channels_surroundings (const CuvChannelsFour &own, unsigned sums[4])
{
  // those of the threads to the left and right, and beyond
  const unsigned l0 = __shfl_up_sync (~0u, own.first, 1);
  const unsigned l1 = __shfl_up_sync (~0u, own.last, 1);
  const unsigned ll1 = __shfl_up_sync (~0u, own.last, 2);
  const unsigned r0 = __shfl_down_sync (~0u, own.first, 1);
  const unsigned r1 = __shfl_down_sync (~0u, own.last, 1);
  const unsigned rr0 = __shfl_down_sync (~0u, own.first, 2);
  // columns -4 .. 3, in two halves of at most 4 * 11 * 360
  const unsigned halves = l0 + l1 + own.first + own.last;
  const unsigned eight = (halves & 0xffff) + (halves >> 16);
  const unsigned four = (r0 & 0xffff) + (r0 >> 16); // columns 4 and 5
  const unsigned six = four + (r1 & 0xffff);        // 4 .. 6
  const unsigned seven = six + (r1 >> 16);          // 4 .. 7

  sums[0] = (ll1 >> 16) + eight + four;
  sums[1] = eight + six;
  sums[2] = eight - (l0 & 0xffff) + seven;
  sums[3] = eight - (l0 & 0xffff) - (l0 >> 16) + seven + (rr0 & 0xffff);
}

// min (255, 128 magnitude / (sum / 121 + 6)), both divisions rounded down, in
// the low byte of a float's bits. Floats are exact here but for two factors.
// The first is a little more than 1 / 121: the error is positive and below a
// quarter of 1 / 121. The second is an approximate reciprocal: 1/4 is added to
// the dividend, less than the smallest step, 1, and more than the error of any
// quotient up to 256.
static __device__ __forceinline__ unsigned
cuv_channels_relative (unsigned magnitude, unsigned sum)
{
  const float integers = 8388608.f; // 2^23: the low bits are an integer
  const float area = __uint_as_float (0x4b000000u | sum) - integers;
  const float mean = __fmaf_rd (area, 0.0082645f, integers);
  const float divisor = mean - (integers - CUV_CHANNELS_FLOOR);
  const float dividend = __fmaf_rn (
      __uint_as_float (0x47000000u | magnitude << 8), 128.f, -4194303.75f);
  float reciprocal, quotient;

#ifdef __CUDA_ARCH__
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(divisor));
#else
  reciprocal = 1 / divisor;
#endif
  quotient = fminf (dividend * reciprocal, 255.f);
  return __float_as_uint (__fadd_rd (quotient, integers));
}

// ---- blocks ----

// The sums of a row of blocks, for a thread's blocks: magnitudes, then those of
// each direction, times 1 << bin.
template <int shrink> struct CuvChannelsBlockSums {
  static constexpr int n = CUV_CHANNELS_LANE_PIXELS / shrink;
  unsigned all[n], by_bin[CUV_CHANNELS_BINS][n];
};

template <int shrink>
static __device__ __forceinline__ void
cuv_channels_add_pixels (
    CuvChannelsBlockSums<shrink> *sums, unsigned relative, unsigned directions)
{
#pragma unroll
  for (int k = 0; k < sums->n; k++) {
    const unsigned ones = shrink == 4 ? 0x01010101u : 0x0101u << 16 * k;

    sums->all[k] = __dp4a (relative, ones, sums->all[k]);
#pragma unroll
    for (int bin = 0; bin < CUV_CHANNELS_BINS; bin++)
      sums->by_bin[bin][k] =
          __dp4a (relative, directions & ones << bin, sums->by_bin[bin][k]);
  }
}

template <int shrink>
static __device__ __forceinline__ void
cuv_channels_store_sums (const CuvChannelsDeviceLevel &level, uint16_t *out,
    int x, int row, const CuvChannelsBlockSums<shrink> &sums)
{
#pragma unroll
  for (int k = 0; k < sums.n; k++) {
    const int column = x / shrink + k;
    uint16_t *to = out + level.sums.first
        + ((int64_t) row * CUV_CHANNELS_N + CUV_CHANNELS_MAGNITUDE)
            * level.sums.pitch
        + column;

    if (column >= level.columns)
      break;
    *to = (uint16_t) sums.all[k];
#pragma unroll
    for (int bin = 0; bin < CUV_CHANNELS_BINS; bin++)
      to[(bin + 1) * level.sums.pitch] =
          (uint16_t) (sums.by_bin[bin][k] >> bin);
  }
}

// ---- a tile ----

// A warp per tile; x and y of a tile: its first pixel, multiples of 4.
template <int shrink>
static __global__ void __launch_bounds__ (32 * CUV_CHANNELS_SUMS_WARPS)
    cuv_channels_sums_kernel (const CuvChannelsTile *tiles, int n_tiles,
        const CuvChannelsDeviceLevel *levels, const uint16_t *magnitudes,
        const uint8_t *directions, uint16_t *out)
{
  const int warp = cuv_warp_of_thread (), lane = threadIdx.x & 31;
  const int index = blockIdx.x * CUV_CHANNELS_SUMS_WARPS + warp;

  cuv_pdl_wait ();
  if (index >= n_tiles)
    return;
  const CuvChannelsTile tile = tiles[index];
  const CuvChannelsDeviceLevel &level = levels[tile.level];
  const CuvChannelsStrip strip = { magnitudes + level.pixels.first,
    directions + level.pixels.first, level.pixels.pitch, level.width,
    level.height, tile.x + CUV_CHANNELS_LANE_PIXELS * (lane - 2) };
  const int end = min (tile.y + CUV_CHANNELS_SUMS_ROWS, level.rows * shrink);
  const bool writes =
      lane >= 2 && lane < 30 && strip.x < level.columns * shrink;
  CuvChannelsBlockSums<shrink> blocks = {};
  CuvChannelsFour columns = {};

  // the rows around the one above the tile
  for (int y = -1 - CUV_CHANNELS_RADIUS; y < CUV_CHANNELS_RADIUS; y++)
    cuv_channels_add_rows (&columns,
        cuv_channels_magnitudes (strip, tile.y + y), CuvChannelsFour{});
  for (int y = tile.y; y < end; y++) {
    const CuvChannelsFour own = cuv_channels_magnitudes (strip, y);
    unsigned around[4], relative[4];

    cuv_channels_add_rows (&columns,
        cuv_channels_magnitudes (strip, y + CUV_CHANNELS_RADIUS),
        cuv_channels_magnitudes (strip, y - CUV_CHANNELS_RADIUS - 1));
    cuv_channels_surroundings (columns, around);
    if (!writes)
      continue;
    relative[0] = cuv_channels_relative (own.first & 0xffff, around[0]);
    relative[1] = cuv_channels_relative (own.first >> 16, around[1]);
    relative[2] = cuv_channels_relative (own.last & 0xffff, around[2]);
    relative[3] = cuv_channels_relative (own.last >> 16, around[3]);
    cuv_channels_add_pixels<shrink> (&blocks,
        __byte_perm (__byte_perm (relative[0], relative[1], 0x0040),
            __byte_perm (relative[2], relative[3], 0x0040), 0x5410),
        *(const unsigned *) (strip.directions + (int64_t) y * strip.pitch
            + strip.x));
    if ((y + 1) % shrink == 0) {
      cuv_channels_store_sums<shrink> (level, out, strip.x, y / shrink, blocks);
      blocks = {};
    }
  }
}

#endif
