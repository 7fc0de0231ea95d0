// SPDX-License-Identifier: LGPL-2.1-or-later
// Features in integral images: computes offsets of block corners on the host,
// for both layouts of columns (split or not, see CuvPyramidLevel), and with
// them block sums and LBP codes.
#ifndef CUV_WALDBOOST_FEATURES_CUH
#define CUV_WALDBOOST_FEATURES_CUH

#include "waldboost/pyramid.cuh"

// Computes byte offsets from a window's top left corner in an integral image.
struct CuvFeatureLayout {
  bool split;
  int half, pitch; // elements of half a split row, and of a row
  int size;        // bytes per element

  int
  at (int x, int y) const
  {
    return (y * pitch + cuv_integral_column (split, half, x)) * size;
  }
};

// Offsets of the 4 x 4 corners of 3 x 3 blocks: row[j] + column[i].
struct alignas (16) CuvGridCorners {
  int32_t row[4];
  int32_t column[4]; // the first is 0
};

// Offsets of the corners of three rectangles; a rectangle's sum is corners 0 -
// 1 - 2 + 3.
struct alignas (16) CuvHaarCorners {
  int32_t corner[3][4];
  float weight[3];
  int32_t tilted;
};

static inline CuvGridCorners
cuv_lay_out_grid (const CuvGridNode &node, const CuvFeatureLayout &layout)
{
  CuvGridCorners corners = {};

  for (int i = 0; i < 4; i++) {
    corners.row[i] = layout.at (node.x, node.y + i * node.height);
    corners.column[i] =
        layout.at (node.x + i * node.width, 0) - layout.at (node.x, 0);
  }
  return corners;
}

static inline CuvHaarCorners
cuv_lay_out_haar (const CuvHaarNode &node, const CuvFeatureLayout &layout)
{
  CuvHaarCorners corners = {};

  corners.tilted = node.tilted;
  for (int k = 0; k < 3; k++) {
    const CuvHaarRect &r = node.rect[k];
    int32_t *corner = corners.corner[k];

    corners.weight[k] = r.weight;
    if (r.weight == 0) // unused rectangle; its coordinates are unchecked
      continue;
    corner[0] = layout.at (r.x, r.y);
    if (node.tilted) {
      corner[1] = layout.at (r.x - r.height, r.y + r.height);
      corner[2] = layout.at (r.x + r.width, r.y + r.width);
      corner[3] =
          layout.at (r.x + r.width - r.height, r.y + r.width + r.height);
    } else {
      corner[1] = layout.at (r.x + r.width, r.y);
      corner[2] = layout.at (r.x, r.y + r.height);
      corner[3] = layout.at (r.x + r.width, r.y + r.height);
    }
  }
  return corners;
}

// ---- device code ----

// Returns the element at an offset in bytes, so that an address costs one
// addition.
template <typename Sum>
static __device__ __forceinline__ const Sum *
cuv_from (const Sum *at, int bytes)
{
  return (const Sum *) ((const uint8_t *) at + bytes);
}

template <typename Sum>
static __device__ __forceinline__ unsigned
cuv_element (Sum sum)
{
  return sum;
}

// An element of an integral image for pairs of windows: the sum at (x, y) plus
// 2^16 times the sum a fixed number of positions to the right, modulo 2^32. If
// block sums fit 16 bits, the halves of a word are the block sums of both
// windows, which then take one read and one subtraction.
struct CuvPairSum {
  uint32_t sums;
};

static __device__ __forceinline__ unsigned
cuv_element (CuvPairSum pair)
{
  return pair.sums;
}

// Computes the sums of the 3x3 blocks of a window; the given element is its top
// left corner. 32-bit arithmetic costs half as much as 16-bit; with 16-bit
// elements the lower half of each result is the sum.
template <typename Sum>
static __device__ __forceinline__ void
cuv_packed_sums (
    const Sum *window, const CuvGridCorners &corners, unsigned sums[9])
{
  unsigned differences[4][3];

#pragma unroll
  for (int j = 0; j < 4; j++) {
    const Sum *row = cuv_from (window, corners.row[j]);
    const unsigned a = cuv_element (row[0]);
    const unsigned b = cuv_element (*cuv_from (row, corners.column[1]));
    const unsigned c = cuv_element (*cuv_from (row, corners.column[2]));
    const unsigned d = cuv_element (*cuv_from (row, corners.column[3]));

    differences[j][0] = b - a;
    differences[j][1] = c - b;
    differences[j][2] = d - c;
  }
#pragma unroll
  for (int k = 0; k < 9; k++)
    sums[k] = differences[k / 3 + 1][k % 3] - differences[k / 3][k % 3];
}

// Computes the sums of nine blocks of a single window.
template <typename Sum>
static __device__ __forceinline__ void
cuv_block_sums (const Sum *window, const CuvGridCorners &corners, int block[9])
{
  unsigned sums[9];

  cuv_packed_sums (window, corners, sums);
#pragma unroll
  for (int k = 0; k < 9; k++)
    block[k] = (Sum) sums[k];
}

// Sets the bits of the neighbours whose value is below the centre's, which is
// the complement of the inclusive local binary pattern. Shifts in the sign bits
// of the differences.
static __device__ __forceinline__ unsigned
cuv_below (const int block[9])
{
  const int order[8] = { 0, 1, 2, 5, 8, 7, 6, 3 };
  unsigned below = 0;

#pragma unroll
  for (int k = 0; k < 8; k++)
    below = __funnelshift_l (block[order[k]] - block[4], below, 1);
  return below;
}

// ---- pairs of windows (CuvPairSum) ----

#define CUV_WALDBOOST_SMALL_BLOCK 128      // pixels: 128 * 255 < 2^15
#define CUV_WALDBOOST_TOP_BITS 0x80008000u // the top bits of both halves

// Returns the inclusive patterns of a pair's windows, in bytes 0 and 2.
// not_below[k]: in each half, the top bit is set if neighbour k is not below
// the centre.
static __device__ __forceinline__ unsigned
cuv_gather_patterns (const unsigned not_below[9])
{
  const int order[8] = { 0, 1, 2, 5, 8, 7, 6, 3 };
  unsigned patterns = 0;

#pragma unroll
  for (int k = 0; k < 8; k += 2)
    patterns |=
        cuv_signs_of_halves (not_below[order[k]], not_below[order[k + 1]])
        & (0x40804080u >> k);
  return patterns | patterns >> 8;
}

// Returns the patterns for blocks of at most CUV_WALDBOOST_SMALL_BLOCK pixels,
// where 2^15 + neighbour - centre causes no borrow or carry between the halves.
static __device__ __forceinline__ unsigned
cuv_small_patterns (const unsigned sums[9])
{
  unsigned not_below[9];

#pragma unroll
  for (int k = 0; k < 9; k++)
    not_below[k] = sums[k] + (CUV_WALDBOOST_TOP_BITS - sums[4]);
  return cuv_gather_patterns (not_below);
}

// Returns the patterns for blocks of at most 257 pixels, whose sums fit 16
// bits: compares the lower 15 bits in the same way, and uses that result only
// where the top bits are equal.
static __device__ __forceinline__ unsigned
cuv_large_patterns (const unsigned sums[9])
{
  unsigned not_below[9];

#pragma unroll
  for (int k = 0; k < 9; k++) {
    const unsigned lower = (sums[k] | CUV_WALDBOOST_TOP_BITS)
        - (sums[4] & ~CUV_WALDBOOST_TOP_BITS);

    not_below[k] = (sums[k] & ~sums[4]) | (lower & (sums[k] | ~sums[4]));
  }
  return cuv_gather_patterns (not_below);
}

// Returns the pattern of the neighbours whose value is above the centre's or,
// if inclusive, not below it. As values are integers, v > centre is v >= centre
// + 1.
static __device__ __forceinline__ int
cuv_pattern (int block[9], bool inclusive)
{
  block[4] += !inclusive;
  return ~cuv_below (block) & 255;
}

// Returns the sum of a rectangle.
template <typename Sum>
static __device__ __forceinline__ Sum
cuv_rectangle (const Sum *window, const int32_t corner[4])
{
  auto at = [=] (int k) { return *cuv_from (window, corner[k]); };

  return at (0) - at (1) - at (2) + at (3);
}

#endif
