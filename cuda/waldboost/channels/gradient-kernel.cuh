// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that computes the gradients of a level's pixels, and the sums of
// its blocks' colours. A warp walks down a strip of columns; each thread has
// four adjacent pixels of a row and gets their neighbours by shuffles.
#ifndef CUV_CHANNELS_GRADIENT_KERNEL_CUH
#define CUV_CHANNELS_GRADIENT_KERNEL_CUH

#include "waldboost/channels/bytes.cuh"
#include "waldboost/channels/channels.cuh"

#define CUV_CHANNELS_GRADIENT_WARPS 4 // tiles per block
// A tile; the first and the last thread of a warp only provide neighbours.
#define CUV_CHANNELS_GRADIENT_COLUMNS (30 * CUV_CHANNELS_LANE_PIXELS)
#define CUV_CHANNELS_GRADIENT_ROWS 8

// The outputs.
struct CuvChannelsPixels {
  uint16_t *magnitudes; // 0 to 360; those at the edges are repeated beyond
  uint8_t *directions;  // 1 << bin
  uint16_t *sums;       // sums of blocks
};

// Four adjacent pixels: four bytes each of red, green and blue. Also those of
// the pixels one to the left and one to the right.
struct CuvChannelsRow {
  unsigned at[3], left[3], right[3];
};

// ---- a row ----

// A thread's place in the picture of a level. Threads outside of the picture
// read the nearest word.
struct CuvChannelsPlace {
  const unsigned *at; // in row 0
  int pitch, height;
  int x, n; // n: columns from x to the right edge
};

static __device__ __forceinline__ uint4
cuv_channels_load_row (const CuvChannelsPlace &place, int y)
{
  return *(const uint4 *) (place.at
      + (int64_t) min (max (y, 0), place.height - 1) * place.pitch);
}

// Returns the pixels of a row; pixels at the edges are repeated beyond them.
// Call from whole warps.
static __device__ __forceinline__ CuvChannelsRow
cuv_channels_row (const CuvChannelsPlace &place, uint4 pixels)
{
  pixels.y = place.n > 1 ? pixels.y : pixels.x;
  pixels.z = place.n > 2 ? pixels.z : pixels.y;
  pixels.w = place.n > 3 ? pixels.w : pixels.z;
  const unsigned before = __shfl_up_sync (~0u, pixels.w, 1);
  const unsigned after = __shfl_down_sync (~0u, pixels.x, 1);
  const unsigned left = place.x > 0 ? before : pixels.x;
  const unsigned right = place.n > 4 ? after : pixels.w;
  const unsigned rg01 = __byte_perm (pixels.x, pixels.y, 0x5140);
  const unsigned rg23 = __byte_perm (pixels.z, pixels.w, 0x5140);
  const unsigned b01 = __byte_perm (pixels.x, pixels.y, 0x0062);
  const unsigned b23 = __byte_perm (pixels.z, pixels.w, 0x0062);
  CuvChannelsRow row;

  row.at[0] = __byte_perm (rg01, rg23, 0x5410);
  row.at[1] = __byte_perm (rg01, rg23, 0x7632);
  row.at[2] = __byte_perm (b01, b23, 0x5410);
#pragma unroll
  for (int i = 0; i < 3; i++) {
    row.left[i] = __byte_perm (row.at[i], left, 0x2104 + i);
    row.right[i] = __byte_perm (row.at[i], right, 0x4321 + (i << 12));
  }
  return row;
}

// ---- gradients ----

// Four pixels and their neighbours in one colour.
struct CuvChannelsCross {
  unsigned left, right, above, below;
};

// Computes twice dx^2 + dy^2 of each pixel.
static __device__ __forceinline__ void
cuv_channels_squares (const CuvChannelsCross &cross, int squares[4])
{
  const unsigned dx = cuv_bytes_difference (cross.left, cross.right);
  const unsigned dy = cuv_bytes_difference (cross.above, cross.below);

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const unsigned pair = __byte_perm (dx, dy, 0x4040 + 0x1111 * i);

    squares[i] = (int) __dp4a (pair, pair, 0u);
  }
}

// Replaces the pixels whose gradient is weaker than that of another colour.
static __device__ __forceinline__ void
cuv_channels_take_stronger (CuvChannelsCross *cross, int squares[4],
    const CuvChannelsCross &other, const int other_squares[4])
{
  int less[4];
  unsigned mask;

#pragma unroll
  for (int i = 0; i < 4; i++) {
    less[i] = squares[i] - other_squares[i];
    squares[i] = max (squares[i], other_squares[i]);
  }
  mask = cuv_bytes_of_signs (less);
  cross->left = cuv_bytes_select (mask, other.left, cross->left);
  cross->right = cuv_bytes_select (mask, other.right, cross->right);
  cross->above = cuv_bytes_select (mask, other.above, cross->above);
  cross->below = cuv_bytes_select (mask, other.below, cross->below);
}

// Returns floor (sqrt (twice / 2)) in the low 16 bits. Uses the approximate
// root of twice / 2 + 0.5, which is on the right side of each integer: exact
// roots up to 361 are at least 0.0006 away from integers, and the error is
// below 0.0001.
static __device__ __forceinline__ unsigned
cuv_channels_root (int twice)
{
  // 2^23 + twice as a float; then twice / 2 + 0.5, exactly
  const float square = __fmaf_rn (
      __uint_as_float (0x4b000000u | (unsigned) twice), 0.5f, -4194303.5f);
  float root;

#ifdef __CUDA_ARCH__
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square));
#else
  root = sqrtf (square);
#endif
  return __float_as_uint (__fadd_rd (root, 8388608.f));
}

// Returns 1 << bin in each byte, see cuv_channels_direction() in C. a = |dx|, b
// = |dy|.
static __device__ __forceinline__ unsigned
cuv_channels_directions (const CuvChannelsCross &cross)
{
  const unsigned dx = cuv_bytes_difference (cross.left, cross.right);
  const unsigned dy = cuv_bytes_difference (cross.above, cross.below);
  // exactly one of dx and dy is negative
  const unsigned falls =
      cuv_bytes_of_bit_7 (cuv_bytes_below (cross.right, cross.left)
          ^ cuv_bytes_below (cross.below, cross.above));
  int past_15[4], past_45[4], past_75[4];
  unsigned bins;

#pragma unroll
  for (int i = 0; i < 4; i++) {
    // bytes a, b, a, b; weights are bytes, too: 209 = 127 + 82
    const unsigned pair = __byte_perm (dx, dy, 0x4040 + 0x1111 * i);

    past_15[i] = cuv_bytes_dot (pair, 0xae008138u, 0);  // 56 a - 209 b
    past_45[i] = cuv_bytes_dot (pair, 0x0000ff01u, 0);  // a - b
    past_75[i] = cuv_bytes_dot (pair, 0x0052c87fu, -1); // 209 a - 56 b - 1
  }
  bins = cuv_bytes_select (cuv_bytes_of_signs (past_75), 0x08080808u,
      0x04040404u ^ (falls & 0x14141414u));
  bins = cuv_bytes_select (
      cuv_bytes_of_signs (past_45), bins, 0x02020202u ^ (falls & 0x22222222u));
  return cuv_bytes_select (cuv_bytes_of_signs (past_15), bins, 0x01010101u);
}

static __device__ __forceinline__ CuvChannelsCross
cuv_channels_cross (const CuvChannelsRow &row, const CuvChannelsRow &above,
    const CuvChannelsRow &below, int color)
{
  return CuvChannelsCross{ row.left[color], row.right[color], above.at[color],
    below.at[color] };
}

// Stores a thread's magnitudes in a row, and repeats those at the edges as far
// as surroundings extend beyond them. n: pixels from the first one to the right
// edge.
static __device__ __forceinline__ void
cuv_channels_store_magnitudes (
    uint16_t *to, bool at_left, int n, unsigned roots[4])
{
  uint2 *words = (uint2 *) to;

#pragma unroll
  for (int i = 1; i < 4; i++)
    roots[i] = i < n ? roots[i] : roots[i - 1];
  *words = make_uint2 (__byte_perm (roots[0], roots[1], 0x5410),
      __byte_perm (roots[2], roots[3], 0x5410));
  if (at_left) {
    const unsigned first = __byte_perm (roots[0], roots[0], 0x5410);

    words[-1] = words[-2] = make_uint2 (first, first);
  }
  if (n <= 4) {
    const unsigned last = __byte_perm (roots[3], roots[3], 0x5410);

    words[1] = words[2] = make_uint2 (last, last);
  }
}

static __device__ __forceinline__ void
cuv_channels_store_gradients (const CuvChannelsPixels &out, int64_t at, int x,
    int n, const CuvChannelsRow &row, const CuvChannelsRow &above,
    const CuvChannelsRow &below)
{
  CuvChannelsCross strongest = cuv_channels_cross (row, above, below, 0);
  int squares[4];
  unsigned roots[4];

  cuv_channels_squares (strongest, squares);
#pragma unroll
  for (int i = 1; i < CUV_CHANNELS_COLORS; i++) {
    const CuvChannelsCross cross = cuv_channels_cross (row, above, below, i);
    int others[4];

    cuv_channels_squares (cross, others);
    cuv_channels_take_stronger (&strongest, squares, cross, others);
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    roots[i] = cuv_channels_root (squares[i]);
  cuv_channels_store_magnitudes (out.magnitudes + at, x == 0, n, roots);
  *(unsigned *) (out.directions + at) = cuv_channels_directions (strongest);
}

// ---- colours ----

// Adds the colours of a row to the sums of the blocks of a thread's pixels.
template <int shrink>
static __device__ __forceinline__ void
cuv_channels_add_colors (const CuvChannelsRow &row,
    unsigned sums[CUV_CHANNELS_COLORS][CUV_CHANNELS_LANE_PIXELS / shrink])
{
  const unsigned red = row.at[0], green = row.at[1], blue = row.at[2];
  // means of two means, rounded down and up, equal the mean of four pixels
  const unsigned colors[CUV_CHANNELS_COLORS] = {
    cuv_bytes_mean_up (green, cuv_bytes_mean_down (red, blue)),
    cuv_bytes_mean_up (red, ~blue),
    cuv_bytes_mean_up (green, cuv_bytes_mean_down (~red, ~blue)),
  };

#pragma unroll
  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
#pragma unroll
    for (int k = 0; k < CUV_CHANNELS_LANE_PIXELS / shrink; k++)
      sums[i][k] = __dp4a (
          colors[i], shrink == 4 ? 0x01010101u : 0x0101u << 16 * k, sums[i][k]);
  }
}

template <int shrink>
static __device__ __forceinline__ void
cuv_channels_store_colors (const CuvChannelsDeviceLevel &level, uint16_t *out,
    int x, int y,
    unsigned sums[CUV_CHANNELS_COLORS][CUV_CHANNELS_LANE_PIXELS / shrink])
{
  const int row = y / shrink;

#pragma unroll
  for (int k = 0; k < CUV_CHANNELS_LANE_PIXELS / shrink; k++) {
    const int column = x / shrink + k;

#pragma unroll
    for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
      if (column < level.columns && row < level.rows)
        out[level.sums.first
            + ((int64_t) row * CUV_CHANNELS_N + i) * level.sums.pitch
            + column] = (uint16_t) sums[i][k];
      sums[i][k] = 0;
    }
  }
}

// ---- a tile ----

// The tile of a warp, and its outputs.
template <int shrink> struct CuvChannelsGradientTile {
  CuvChannelsDeviceLevel level;
  CuvChannelsPixels out;
  CuvChannelsPlace place;
  uint4 next; // the row that is being loaded
  int end;    // end of the rows
  bool writes;
  unsigned sums[CUV_CHANNELS_COLORS][CUV_CHANNELS_LANE_PIXELS / shrink];

  // Returns row y, which `next` contains, and starts to load the row below it
  // into `next`.
  __device__ __forceinline__ CuvChannelsRow
  read (int y)
  {
    const uint4 now = next;

    next = cuv_channels_load_row (place, y + 1);
    return cuv_channels_row (place, now);
  }

  // Makes row y and reads the row below it.
  __device__ __forceinline__ void
  step (int y, const CuvChannelsRow &above, const CuvChannelsRow &row,
      CuvChannelsRow *below)
  {
    if (y >= end)
      return;
    *below = read (y + 1);
    cuv_channels_add_colors<shrink> (row, sums);
    if (!writes)
      return;
    cuv_channels_store_gradients (out,
        level.pixels.first + (int64_t) y * level.pixels.pitch + place.x,
        place.x, place.n, row, above, *below);
    if ((y + 1) % shrink == 0)
      cuv_channels_store_colors<shrink> (level, out.sums, place.x, y, sums);
  }
};

// Computes gradients and colours, with a warp per tile. x and y of a tile: its
// first pixel, multiples of 4.
template <int shrink>
static __global__ void __launch_bounds__ (32 * CUV_CHANNELS_GRADIENT_WARPS)
    cuv_channels_gradient_kernel (const CuvChannelsTile *tiles, int n_tiles,
        const CuvChannelsDeviceLevel *levels, const unsigned *pictures,
        const __grid_constant__ CuvChannelsPixels out)
{
  const int warp = cuv_warp_of_thread (), lane = threadIdx.x & 31;
  const int index = blockIdx.x * CUV_CHANNELS_GRADIENT_WARPS + warp;

  cuv_pdl_wait ();
  if (index >= n_tiles)
    return;
  const CuvChannelsTile at = tiles[index];
  CuvChannelsGradientTile<shrink> tile = { levels[at.level], out };
  const CuvChannelsDeviceLevel &level = tile.level;
  const int x = at.x + CUV_CHANNELS_LANE_PIXELS * (lane - 1);
  const int nearest = min (max (x, 0), (level.width - 1) / 4 * 4);
  CuvChannelsRow rows[3];

  tile.place = CuvChannelsPlace{ pictures + level.picture.first + nearest,
    level.picture.pitch, level.height, nearest, level.width - nearest };
  tile.end = min (at.y + CUV_CHANNELS_GRADIENT_ROWS, level.height);
  tile.writes = lane > 0 && lane < 31 && x == nearest;
  tile.next = cuv_channels_load_row (tile.place, at.y - 1);
  rows[0] = tile.read (at.y - 1);
  rows[1] = tile.read (at.y);
  // three rows at a time, so that no row has to be moved
  for (int y = at.y; y < tile.end; y += 3) {
    tile.step (y, rows[0], rows[1], &rows[2]);
    tile.step (y + 1, rows[1], rows[2], &rows[0]);
    tile.step (y + 2, rows[2], rows[0], &rows[1]);
  }
}

#endif
