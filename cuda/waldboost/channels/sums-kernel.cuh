// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that divides magnitudes by those of their surroundings, 11 x 11
// pixels, and sums the results in blocks, by direction. A warp walks down a
// strip of columns: each thread keeps the sums of 11 rows for its four columns,
// and gets its neighbours' sums by shuffles.
#ifndef CUV_CHANNELS_SUMS_KERNEL_CUH
#define CUV_CHANNELS_SUMS_KERNEL_CUH

#include "waldboost/channels/channels.cuh"

#define CUV_CHANNELS_SUMS_WARPS 4 // tiles per block
// A tile; only threads with two neighbours on each side in the warp have
// pixels.
#define CUV_CHANNELS_SUMS_COLUMNS (28 * CUV_CHANNELS_LANE_PIXELS)
#define CUV_CHANNELS_SUMS_ROWS 8
#define CUV_CHANNELS_SUMS_STEP 4 // rows that are loaded together

// Four adjacent magnitudes, or sums of 11 magnitudes, 16 bits each.
struct CuvChannelsFour {
  unsigned first, last;
};

// ---- rows of pixels ----

// The pixels of a level that a warp reads.
struct CuvChannelsStrip {
  // addresses of the thread's columns in row 0; the pitch of directions is half
  // that of magnitudes
  const uint8_t *magnitudes, *directions;
  int pitch, height; // pitch: bytes of a row
};

// Returns the offset of row y, or of the nearest row.
static __device__ __forceinline__ int64_t
cuv_channels_nearest_row (const CuvChannelsStrip &strip, int y)
{
  return min (max (y, 0), strip.height - 1);
}

static __device__ __forceinline__ CuvChannelsFour
cuv_channels_magnitudes (const CuvChannelsStrip &strip, int y)
{
  const uint2 four = *(const uint2 *) (strip.magnitudes
      + cuv_channels_nearest_row (strip, y) * strip.pitch);

  return CuvChannelsFour{ four.x, four.y };
}

static __device__ __forceinline__ unsigned
cuv_channels_four_directions (const CuvChannelsStrip &strip, int y)
{
  return *(const unsigned *) (strip.directions
      + cuv_channels_nearest_row (strip, y) * (strip.pitch / 2));
}

static __device__ __forceinline__ void
cuv_channels_add_rows (CuvChannelsFour *sums, const CuvChannelsFour &added,
    const CuvChannelsFour &removed)
{
  sums->first += added.first - removed.first;
  sums->last += added.last - removed.last;
}

// ---- surroundings ----

// bits of 2^23, whose lowest bit counts 1
#define CUV_CHANNELS_FLOAT 0x4b000000u

// Computes the sums of 11 columns around each of a thread's pixels from sums of
// 11 rows, plus CUV_CHANNELS_FLOAT.
static __device__ __forceinline__ void
cuv_channels_surroundings (const CuvChannelsFour &own, unsigned sums[4])
{
  // sums of the next threads to the left and right, and of those beyond
  const unsigned l0 = __shfl_up_sync (~0u, own.first, 1);
  const unsigned l1 = __shfl_up_sync (~0u, own.last, 1);
  const unsigned ll1 = __shfl_up_sync (~0u, own.last, 2);
  const unsigned r0 = __shfl_down_sync (~0u, own.first, 1);
  const unsigned r1 = __shfl_down_sync (~0u, own.last, 1);
  const unsigned rr0 = __shfl_down_sync (~0u, own.first, 2);
  // columns -4 to 3, in two halves of at most 4 * 11 * 360
  const unsigned halves = l0 + l1 + own.first + own.last;
  const unsigned eight =
      (halves & 0xffff) + (halves >> 16) + CUV_CHANNELS_FLOAT;
  const unsigned four = (r0 & 0xffff) + (r0 >> 16); // columns 4 and 5
  const unsigned six = four + (r1 & 0xffff);        // 4 to 6
  const unsigned seven = six + (r1 >> 16);          // 4 to 7

  sums[0] = (ll1 >> 16) + eight + four;
  sums[1] = eight + six;
  sums[2] = eight - (l0 & 0xffff) + seven;
  sums[3] = eight - (l0 & 0xffff) - (l0 >> 16) + seven + (rr0 & 0xffff);
}

// Returns min (255, 128 magnitude / (sum / 121 + 6)), with both divisions
// rounded down, in the low byte of a float's bits. Floats are exact here except
// for two factors. The first is slightly more than 1 / 121: the error is
// positive and below a quarter of 1 / 121. The second is an approximate
// reciprocal: 1/4 is added to the dividend, which is less than the smallest
// step, 1, and more than the error of any quotient up to 256.
// magnitude: the bits of the float 2^15 plus the magnitude; sum: the bits of
// the float 2^23 plus the sum.
static __device__ __forceinline__ unsigned
cuv_channels_relative (unsigned magnitude, unsigned sum)
{
  const float integers = __uint_as_float (CUV_CHANNELS_FLOAT);
  const float area = __uint_as_float (sum) - integers;
  const float mean = __fmaf_rd (area, 0.0082645f, integers);
  const float divisor = mean - (integers - CUV_CHANNELS_FLOOR);
  const float dividend =
      __fmaf_rn (__uint_as_float (magnitude), 128.f, -4194303.75f);
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

// The sums of a row of blocks, for a thread's blocks: of all magnitudes, and of
// each direction's magnitudes times 1 << bin.
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
  const int pitch = level.sums.pitch;
  uint16_t *to = out + level.sums.first
      + ((int64_t) row * CUV_CHANNELS_N + CUV_CHANNELS_MAGNITUDE) * pitch
      + x / shrink;

#pragma unroll
  for (int k = 0; k < sums.n; k++) {
    if (x / shrink + k >= level.columns)
      break;
    to[k] = (uint16_t) sums.all[k];
#pragma unroll
    for (int bin = 0; bin < CUV_CHANNELS_BINS; bin++)
      to[(bin + 1) * pitch + k] = (uint16_t) (sums.by_bin[bin][k] >> bin);
  }
}

// ---- a tile ----

// Returns four relative magnitudes, as bytes.
static __device__ __forceinline__ unsigned
cuv_channels_four_relative (
    const CuvChannelsFour &magnitudes, const CuvChannelsFour &columns)
{
  unsigned around[4], relative[4];

  cuv_channels_surroundings (columns, around);
  // bytes 0, low, high, 0x47
  relative[0] = cuv_channels_relative (
      __byte_perm (magnitudes.first, 0x47000000, 0x7104), around[0]);
  relative[1] = cuv_channels_relative (
      __byte_perm (magnitudes.first, 0x47000000, 0x7324), around[1]);
  relative[2] = cuv_channels_relative (
      __byte_perm (magnitudes.last, 0x47000000, 0x7104), around[2]);
  relative[3] = cuv_channels_relative (
      __byte_perm (magnitudes.last, 0x47000000, 0x7324), around[3]);
  return __byte_perm (__byte_perm (relative[0], relative[1], 0x0040),
      __byte_perm (relative[2], relative[3], 0x0040), 0x5410);
}

// Divides and sums magnitudes, with a warp per tile. x and y of a tile: its
// first pixel, multiples of 4.
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
  const CuvChannelsDeviceLevel level = levels[tile.level];
  const int x = tile.x + CUV_CHANNELS_LANE_PIXELS * (lane - 2);
  const bool writes = lane >= 2 && lane < 30 && x < level.columns * shrink;
  // pixels beyond the surroundings need not be read
  const int64_t first =
      level.pixels.first + min (x, cuv_div_up (level.width, 4) * 4 + 4);
  const CuvChannelsStrip strip = { (const uint8_t *) (magnitudes + first),
    directions + first, level.pixels.pitch * (int) sizeof *magnitudes,
    level.height };
  const int end = min (tile.y + CUV_CHANNELS_SUMS_ROWS, level.rows * shrink);
  CuvChannelsFour columns = {};

  // the rows around the row above the tile
#pragma unroll
  for (int y = -1 - CUV_CHANNELS_RADIUS; y < CUV_CHANNELS_RADIUS; y++)
    cuv_channels_add_rows (&columns,
        cuv_channels_magnitudes (strip, tile.y + y), CuvChannelsFour{});
  for (int y = tile.y; y < end; y += CUV_CHANNELS_SUMS_STEP) {
    CuvChannelsFour own[CUV_CHANNELS_SUMS_STEP];
    CuvChannelsFour added[CUV_CHANNELS_SUMS_STEP];
    CuvChannelsFour removed[CUV_CHANNELS_SUMS_STEP];
    unsigned bins[CUV_CHANNELS_SUMS_STEP];
    CuvChannelsBlockSums<shrink> blocks = {};

#pragma unroll
    for (int i = 0; i < CUV_CHANNELS_SUMS_STEP; i++) {
      own[i] = cuv_channels_magnitudes (strip, y + i);
      added[i] = cuv_channels_magnitudes (strip, y + i + CUV_CHANNELS_RADIUS);
      removed[i] =
          cuv_channels_magnitudes (strip, y + i - CUV_CHANNELS_RADIUS - 1);
      bins[i] = cuv_channels_four_directions (strip, y + i);
    }
#pragma unroll
    for (int i = 0; i < CUV_CHANNELS_SUMS_STEP; i++) {
      cuv_channels_add_rows (&columns, added[i], removed[i]);
      cuv_channels_add_pixels<shrink> (
          &blocks, cuv_channels_four_relative (own[i], columns), bins[i]);
      if ((i + 1) % shrink == 0) {
        if (writes && y + i < end)
          cuv_channels_store_sums<shrink> (
              level, out, x, (y + i) / shrink, blocks);
        blocks = {};
      }
    }
  }
}

#endif
