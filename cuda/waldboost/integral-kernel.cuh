// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that computes upright integral images, of pixels and of squares.
//
// A block processes a strip of CUV_PYRAMID_STRIP rows, each warp some of its
// rows. The sum of a column down to a row is the sum over the strips above,
// from cuv_picture_kernel(), plus the rows of other warps, plus the rows of
// this warp. The inclusive scan of these column sums along the row is a row of
// the integral image.
#ifndef CUV_WALDBOOST_INTEGRAL_KERNEL_CUH
#define CUV_WALDBOOST_INTEGRAL_KERNEL_CUH

#include <string.h>
#include <type_traits>
#include "waldboost/pyramid.cuh"

#define CUV_PYRAMID_WARPS 8 // warps per block of the integral kernel
// four rows per warp, because pictures are padded to multiples of four
#define CUV_PYRAMID_WARP_ROWS (CUV_PYRAMID_STRIP / CUV_PYRAMID_WARPS)
#define CUV_PYRAMID_CHUNK 128 // columns at a time, 4 per lane

// Column sums that W = CUV_PYRAMID_WARPS warps exchange: slot w is the sum of
// every W-th strip above, starting with strip w; slot W + w also includes the
// rows of warp w. So the W slots from w on add up to everything above the rows
// of warp w.
using CuvPyramidColumns = uint4[2 * CUV_PYRAMID_WARPS][32];

static __device__ uint4
cuv_pyramid_add_columns (uint4 a, uint4 b)
{
  return make_uint4 (a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// Computes the exclusive scan of four columns per lane; carry: sum of the
// previous chunks.
static __device__ uint4
scan_columns (uint4 p, unsigned *carry)
{
  const unsigned total = p.x + p.y + p.z + p.w,
                 sum = cuv_inclusive_scan (total);
  uint4 out;

  out.x = *carry + sum - total;
  out.y = out.x + p.x;
  out.z = out.y + p.y;
  out.w = out.z + p.z;
  *carry += __shfl_sync (~0u, sum, 31);
  return out;
}

static __device__ void
store_two (uint16_t *to, uint32_t a, uint32_t b)
{
  *(uint32_t *) to = __byte_perm (a, b, 0x5410);
}

template <typename Sum>
static __device__ void
store_two (Sum *to, uint32_t a, uint32_t b)
{
  static_assert (sizeof (Sum) == sizeof a, "a word");
  *(uint2 *) to = make_uint2 (a, b);
}

// Returns four pixels of a row, a byte each.
static __device__ __forceinline__ uint4
four_pixels (uint32_t pixels)
{
  return make_uint4 (__byte_perm (pixels, 0, 0x4440),
      __byte_perm (pixels, 0, 0x4441), __byte_perm (pixels, 0, 0x4442),
      __byte_perm (pixels, 0, 0x4443));
}

// Computes a warp's rows of an integral image.
template <typename Sum, bool squared> struct CuvPyramidWarpRows {
  const bool split, top; // columns are split; the first row is the picture's
  const int warp, lane, pitch, width;
  const uint32_t
      *strips; // sums of the level's first strip in the lane's columns
  Sum *image;  // element above the first row in the lane's columns
  unsigned carry[CUV_PYRAMID_WARP_ROWS] = {};

  __device__
  CuvPyramidWarpRows (const CuvPyramidLevel &level, int first_row,
      const uint32_t *all_strips, Sum *images)
      : split (cuv_is_split (level)), top (first_row == 0),
        warp (cuv_warp_of_thread ()), lane (threadIdx.x % 32),
        pitch (level.pitch), width (level.plan.width),
        strips (all_strips + cuv_strip_sums_at (level, 0) + 4 * lane),
        image (images + level.first + (int64_t) first_row * pitch
            + (split ? 2 : 4) * lane)
  {
  }

  static __device__ uint4
  values (uint32_t four)
  {
    const uint4 v = four_pixels (four);

    return squared ? make_uint4 (v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w)
                   : v;
  }

  // Reads four columns of the warp's rows; pixels to the right of the picture
  // are 0.
  __device__ void
  read (uint32_t pixels[CUV_PYRAMID_WARP_ROWS], const uint8_t *picture,
      int picture_pitch, int x) const
  {
#pragma unroll
    for (int i = 0; i < CUV_PYRAMID_WARP_ROWS; i++)
      pixels[i] = x < width
          ? __ldg ((const uint32_t *) (picture + i * picture_pitch + x))
          : 0;
  }

  // Sums n strips, reading two at a time.
  __device__ uint4
  sum_of_strips (int n) const
  {
    uint4 sum = make_uint4 (0, 0, 0, 0);

#pragma unroll 1
    for (int s = warp; s < n; s += 2 * CUV_PYRAMID_WARPS) {
      const uint32_t *strip = strips + (int64_t) s * pitch;
      const uint32_t *other = strip + (int64_t) CUV_PYRAMID_WARPS * pitch;
      const bool has_other = s + CUV_PYRAMID_WARPS < n;
      uint4 v[2] = {};

      v[0] = __ldg ((const uint4 *) strip);
      if (has_other)
        v[1] = __ldg ((const uint4 *) other);
      sum = cuv_pyramid_add_columns (sum, cuv_pyramid_add_columns (v[0], v[1]));
    }
    return sum;
  }

  // Writes the warp's two slots: its part of the sum over the n_strips strips
  // above, without and with its own rows.
  __device__ void
  publish (const uint32_t pixels[CUV_PYRAMID_WARP_ROWS], int n_strips,
      CuvPyramidColumns columns)
  {
    uint4 sum = sum_of_strips (n_strips);

    columns[warp][lane] = sum;
#pragma unroll
    for (int i = 0; i < CUV_PYRAMID_WARP_ROWS; i++)
      sum = cuv_pyramid_add_columns (sum, values (pixels[i]));
    columns[CUV_PYRAMID_WARPS + warp][lane] = sum;
    strips += CUV_PYRAMID_CHUNK;
  }

  // Stores the lane's columns of a row; if split, even columns precede odd
  // ones.
  __device__ void
  store (int row, uint4 v) const
  {
    Sum *to = image + row * pitch;

    store_two (to, v.x, split ? v.z : v.y);
    store_two (to + (split ? pitch / 2 : 2), split ? v.y : v.z, v.w);
  }

  // Writes n_rows rows, after all warps have called publish().
  __device__ void
  write (const uint32_t pixels[CUV_PYRAMID_WARP_ROWS], int n_rows,
      const CuvPyramidColumns columns)
  {
    uint4 sum = make_uint4 (0, 0, 0, 0), out[CUV_PYRAMID_WARP_ROWS];

    if (top && n_rows > 0)
      store (0, sum); // row 0 of an integral image
#pragma unroll
    for (int w = 0; w < CUV_PYRAMID_WARPS; w++)
      sum = cuv_pyramid_add_columns (sum, columns[warp + w][lane]);
#pragma unroll
    for (int i = 0; i < CUV_PYRAMID_WARP_ROWS; i++) {
      sum = cuv_pyramid_add_columns (sum, values (pixels[i]));
      out[i] = scan_columns (sum, &carry[i]);
    }
#pragma unroll
    for (int i = 0; i < CUV_PYRAMID_WARP_ROWS; i++) {
      if (i < n_rows)
        store (i + 1, out[i]);
    }
    image += split ? CUV_PYRAMID_CHUNK / 2 : CUV_PYRAMID_CHUNK;
  }
};

// Computes a strip of an integral image, one chunk of columns after the other.
template <typename Sum, bool squared>
static __device__ __forceinline__ void
make_strip (const CuvPyramidLevel &level, int strip, const uint8_t *pictures,
    const uint32_t *strip_sums, Sum *images, CuvPyramidColumns columns[2])
{
  const int width = level.plan.width, pitch = level.picture_pitch;
  const int first =
      strip * CUV_PYRAMID_STRIP + cuv_warp_of_thread () * CUV_PYRAMID_WARP_ROWS;
  const int n_rows = level.plan.height - first; // may exceed the warp's rows
  const uint8_t *picture = pictures + level.picture + (int64_t) first * pitch;
  CuvPyramidWarpRows<Sum, squared> rows (level, first, strip_sums, images);

  uint32_t pixels[CUV_PYRAMID_WARP_ROWS] = {}, next[CUV_PYRAMID_WARP_ROWS] = {};
  int x = 4 * (threadIdx.x % 32);

  if (n_rows > 0)
    rows.read (pixels, picture, pitch, x);
  for (int base = 0; base <= width;
       base += CUV_PYRAMID_CHUNK, x += CUV_PYRAMID_CHUNK) {
    rows.publish (
        pixels, x < width ? strip : 0, columns[base / CUV_PYRAMID_CHUNK % 2]);
    // start to read the next ones: this takes as long as the rest of the loop
    if (n_rows > 0)
      rows.read (next, picture, pitch, x + CUV_PYRAMID_CHUNK);
    __syncthreads ();
    rows.write (
        pixels, x <= width ? n_rows : 0, columns[base / CUV_PYRAMID_CHUNK % 2]);
    memcpy (pixels, next, sizeof next);
  }
}

// Computes integral images. Grid: strips; with squares two blocks per strip, of
// which the second computes the squares. Shared memory: column sums exchanged
// between warps.
template <typename Sum, bool with_squares>
static __global__ void __launch_bounds__ (32 * CUV_PYRAMID_WARPS, 3)
    integral_kernel (const CuvPyramidTile *tiles, const CuvPyramidLevel *levels,
        const uint8_t *pictures, const uint32_t *strip_sums,
        const uint32_t *strip_squares, Sum *sums, uint32_t *squares)
{
  // double buffer: one part is written while the other may still be read
  __shared__ CuvPyramidColumns columns[2];
  const CuvPyramidTile tile = tiles[blockIdx.x / (1 + with_squares)];
  const CuvPyramidLevel level = levels[tile.level];

  if (with_squares && blockIdx.x % 2 != 0)
    make_strip<uint32_t, true> (
        level, tile.y, pictures, strip_squares, squares, columns);
  else
    make_strip<Sum, false> (level, tile.y, pictures, strip_sums, sums, columns);
}

#endif
