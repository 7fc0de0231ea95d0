// SPDX-License-Identifier: LGPL-2.1-or-later
// A block's tile of the integral image for pairs of windows, which the block
// makes from the level's picture: reading the tile of a finished integral image
// would take longer, and such images would have to be written first.
#ifndef CUV_WALDBOOST_CASCADE_PAIR_TILE_CUH
#define CUV_WALDBOOST_CASCADE_PAIR_TILE_CUH

#include "waldboost/cascade/tile.cuh"

// maximum number of columns of a tile, four per lane
#define CUV_CASCADE_PAIR_COLUMNS 128

// What warps exchange: the columns of each warp's last row.
using CuvCascadePairEnds = uint4[CUV_CASCADE_WARPS][32];

static __device__ __forceinline__ uint4
add_four (uint4 a, uint4 b)
{
  return make_uint4 (a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// The columns of a warp's rows. A lane has four columns; those of split rows
// are stored in pairs, even columns before odd ones.
struct CuvCascadePairColumns {
  const bool split;
  const int pitch, half;
  uint32_t *const at; // the lane's first column in row 0

  __device__
  CuvCascadePairColumns (
      const CuvCascadeTileShape &shape, bool split, uint32_t *sums)
      : split (split), pitch (shape.pitch_of (split)), half (shape.half),
        at (sums + (split ? 2 : 4) * (threadIdx.x % 32))
  {
  }

  // Whether the lane's columns are part of the tile.
  __device__ bool
  are_inside () const
  {
    return 4 * ((int) threadIdx.x % 32) < (split ? 2 * half : pitch);
  }

  __device__ void
  store (int row, uint4 v) const
  {
    uint32_t *to = at + row * pitch;

    if (split) {
      *(uint2 *) to = make_uint2 (v.x, v.z);
      *(uint2 *) (to + half) = make_uint2 (v.y, v.w);
    } else {
      *(uint4 *) to = v;
    }
  }

  __device__ uint4
  load (int row) const
  {
    const uint32_t *from = at + row * pitch;

    if (!split)
      return *(const uint4 *) from;
    const uint2 even = *(const uint2 *) from;
    const uint2 odd = *(const uint2 *) (from + half);
    return make_uint4 (even.x, odd.x, even.y, odd.y);
  }
};

// Four pixels of a row, each with the pixel of the pair's second window in its
// upper half.
static __device__ __forceinline__ uint4
pair_pixels (uint32_t first, uint32_t second)
{
  const uint32_t mask = 0xff00ff;

  return make_uint4 (__byte_perm (first, second, 0x0400) & mask,
      __byte_perm (first, second, 0x0501) & mask,
      __byte_perm (first, second, 0x0602) & mask,
      __byte_perm (first, second, 0x0703) & mask);
}

// Returns the sums of the columns to the left of each column.
static __device__ __forceinline__ uint4
scan_four (uint4 v)
{
  const uint32_t total = v.x + v.y + v.z + v.w;
  uint4 sums;

  sums.x = cuv_inclusive_scan (total) - total;
  sums.y = sums.x + v.x;
  sums.z = sums.y + v.y;
  sums.w = sums.z + v.z;
  return sums;
}

// Makes a tile: each warp sums some of its rows, then adds what is above them.
// Element (x, y) is the sum of the pixels above and left of it, as in other
// integral images, but from the tile's corner on. Afterwards, call
// __syncthreads(). Right of the picture and below it the sums repeat its
// pixels; windows of the level do not read them.
static __device__ __forceinline__ void
make_pair_tile (const CuvPyramidLevel &level, const CuvPyramidTile &tile,
    const CuvCascadeTileShape &shape, const uint8_t *pictures, uint32_t *sums,
    CuvCascadePairEnds ends)
{
  const int lane = threadIdx.x % 32, warp = cuv_warp_of_thread ();
  const int step = level.plan.step, pitch = level.picture_pitch;
  const int n_rows = (shape.rows - 1) * step + shape.window_height;
  const int each = cuv_div_up (n_rows, CUV_CASCADE_WARPS);
  const int first = warp * each, end = min (first + each, n_rows);
  const int last_row = level.plan.height - 1 - tile.y * step;
  const int x = tile.x * step + 4 * lane;
  const uint8_t *picture =
      pictures + level.picture + (int64_t) (tile.y * step) * pitch;
  const uint8_t *firsts = picture + min (x, pitch - 4);
  const uint8_t *seconds =
      picture + min (x + CUV_CASCADE_PAIR_X * step, pitch - 4);
  const CuvCascadePairColumns columns (shape, cuv_is_split (level), sums);
  const bool inside = columns.are_inside ();
  uint4 above = {}, row_sums = {};

  if (warp == 0 && inside)
    columns.store (0, uint4{});
#pragma unroll 4
  for (int row = first; row < end; row++) {
    const int at = min (row, last_row) * pitch;

    above = add_four (above,
        pair_pixels (__ldg ((const uint32_t *) (firsts + at)),
            __ldg ((const uint32_t *) (seconds + at))));
    row_sums = scan_four (above);
    if (inside)
      columns.store (row + 1, row_sums);
  }
  ends[warp][lane] = row_sums;
  __syncthreads ();
  above = {};
  for (int w = 0; w < warp; w++)
    above = add_four (above, ends[w][lane]);
#pragma unroll 4
  for (int row = first; inside && warp > 0 && row < end; row++)
    columns.store (row + 1, add_four (columns.load (row + 1), above));
}

#endif
