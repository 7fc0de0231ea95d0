// SPDX-License-Identifier: LGPL-2.1-or-later
// Sobel gradients of a tile and non-maximum suppression.
//
// Gradients and L1 norms are integers up to 2040, exact in half precision: a
// thread computes pixels in pairs (__half2), four pixels in all.
#ifndef CUV_HOUGH_CANNY_GRADIENTS_CUH
#define CUV_HOUGH_CANNY_GRADIENTS_CUH

#include <cuda_fp16.h>
#include "hough/canny-grey.cuh"

#define CUV_HOUGH_WARP_ROWS (CUV_HOUGH_TILE_HEIGHT / CUV_HOUGH_CANNY_WARPS)

static __device__ __forceinline__ __half2
as_halves (unsigned bits)
{
  return *(__half2 *) &bits;
}

static __device__ __forceinline__ unsigned
as_bits (__half2 pair)
{
  return *(unsigned *) &pair;
}

// Returns the pair that straddles a and b: a's second element, b's first.
static __device__ __forceinline__ __half2
between (__half2 a, __half2 b)
{
  return as_halves (__byte_perm (as_bits (a), as_bits (b), 0x5432));
}

static __device__ __forceinline__ float2
between (float2 a, float2 b)
{
  return make_float2 (a.y, b.x);
}

// Comparisons return masks: 0xffff in each half where they hold.
static __device__ __forceinline__ unsigned
is_greater (__half2 a, __half2 b)
{
  return __hgt2_mask (a, b);
}

static __device__ __forceinline__ unsigned
is_no_less (__half2 a, __half2 b)
{
  return __hge2_mask (a, b);
}

static __device__ __forceinline__ unsigned
is_greater (float2 a, float2 b)
{
  return (a.x > b.x ? 0xffff : 0) | (a.y > b.y ? 0xffff0000 : 0);
}

static __device__ __forceinline__ unsigned
is_no_less (float2 a, float2 b)
{
  return (a.x >= b.x ? 0xffff : 0) | (a.y >= b.y ? 0xffff0000 : 0);
}

static __device__ __forceinline__ __half2
cuv_canny_choose (unsigned mask, __half2 a, __half2 b)
{
  return as_halves ((as_bits (a) & mask) | (as_bits (b) & ~mask));
}

static __device__ __forceinline__ float2
cuv_canny_choose (unsigned mask, float2 a, float2 b)
{
  return make_float2 (mask & 1 ? a.x : b.x, mask >> 31 ? a.y : b.y);
}

// Computes the L1 norm, or the squared L2 norm.
static __device__ __forceinline__ void
find_norm (__half2 gx, __half2 gy, __half2 *norm)
{
  *norm = __hadd2 (__habs2 (gx), __habs2 (gy));
}

static __device__ __forceinline__ void
find_norm (__half2 gx, __half2 gy, float2 *norm)
{
  const float2 x = __half22float2 (gx), y = __half22float2 (gy);

  *norm = make_float2 (x.x * x.x + y.x * y.x, x.y * x.y + y.y * y.y);
}

static __device__ __forceinline__ void
broadcast (float limit, __half2 *pair)
{
  *pair = __float2half2_rn (limit);
}

static __device__ __forceinline__ void
broadcast (float limit, float2 *pair)
{
  *pair = make_float2 (limit, limit);
}

// A thread has pixels 0 .. 3 of a row and the ones beside them, -1 and 4: pair
// i holds pixels 2 * i - 1 and 2 * i.
struct CuvHoughRowSums { // horizontal [-1 0 1] and [1 2 1] of a row
  __half2 difference[3], sum[3];
};

template <typename Norm> struct CuvHoughGradients {
  __half2 gx[3], gy[3];
  Norm norm[3];
};

// Converts two bytes to half2: 0x6400 | v is 1024 + v in half precision.
static __device__ __forceinline__ __half2
cuv_canny_unpack (unsigned four, unsigned selector)
{
  return __hsub2 (as_halves (__byte_perm (four, 0x64646464, selector)),
      __float2half2_rn (1024));
}

static __device__ __forceinline__ CuvHoughRowSums
sobel_sums (const unsigned *row)
{
  const __half2 two = __float2half2_rn (2);
  const __half2 even[] = { cuv_canny_unpack (row[0], 0x4342),
    cuv_canny_unpack (row[1], 0x4140), cuv_canny_unpack (row[1], 0x4342),
    cuv_canny_unpack (row[2], 0x4140) };
  CuvHoughRowSums sums;

  for (int i = 0; i < 3; i++) {
    sums.difference[i] = __hsub2 (even[i + 1], even[i]);
    sums.sum[i] = __hfma2 (
        two, between (even[i], even[i + 1]), __hadd2 (even[i], even[i + 1]));
  }
  return sums;
}

template <typename Norm>
static __device__ __forceinline__ CuvHoughGradients<Norm>
cuv_canny_find_gradients (const CuvHoughRowSums &above,
    const CuvHoughRowSums &here, const CuvHoughRowSums &below)
{
  const __half2 two = __float2half2_rn (2);
  CuvHoughGradients<Norm> g;

  for (int i = 0; i < 3; i++) {
    g.gx[i] = __hfma2 (two, here.difference[i],
        __hadd2 (above.difference[i], below.difference[i]));
    g.gy[i] = __hsub2 (below.sum[i], above.sum[i]);
    find_norm (g.gx[i], g.gy[i], &g.norm[i]);
  }
  return g;
}

// Returns |gy| - |gx| * tan, where tan = high + 5 / 32768 is the tangent of
// 22.5 or 67.5 degrees in 15 fraction bits. The sign is correct, and 0 is
// exactly 0, for all integers up to 1020.
static __device__ __forceinline__ __half2
compare_slope (__half2 ax, __half2 ay, float high)
{
  const __half2 coarse = __hfma2 (ax, __float2half2_rn (-high), ay);

  return __hfma2 (ax, __float2half2_rn (-5.f / 32768), coarse);
}

// Suppresses non-maxima: returns a mask of pixels 2 * i and 2 * i + 1, those
// that are maxima across the edge. Of equal norms the first wins.
template <typename Norm>
static __device__ __forceinline__ unsigned
cuv_canny_is_ridge (const CuvHoughGradients<Norm> &above,
    const CuvHoughGradients<Norm> &here, const CuvHoughGradients<Norm> &below,
    int i, Norm norm)
{
  const __half2 zero = __float2half2_rn (0);
  const __half2 gx = between (here.gx[i], here.gx[i + 1]);
  const __half2 gy = between (here.gy[i], here.gy[i + 1]);
  const __half2 ax = __habs2 (gx), ay = __habs2 (gy);
  const unsigned across =
      __hlt2_mask (compare_slope (ax, ay, 53.f / 128), zero);
  const unsigned down = __hgt2_mask (compare_slope (ax, ay, 309.f / 128), zero);
  const __half2 product_sign =
      as_halves (((as_bits (gx) ^ as_bits (gy)) & 0x80008000)
          | as_bits (__float2half2_rn (1)));
  const unsigned falls = __hlt2_mask (product_sign, zero);
  const Norm up = between (above.norm[i], above.norm[i + 1]);
  const Norm low = between (below.norm[i], below.norm[i + 1]);
  Norm first = cuv_canny_choose (falls, above.norm[i + 1], above.norm[i]);
  Norm second = cuv_canny_choose (falls, below.norm[i], below.norm[i + 1]);

  first = cuv_canny_choose (
      across, here.norm[i], cuv_canny_choose (down, up, first));
  second = cuv_canny_choose (
      across, here.norm[i + 1], cuv_canny_choose (down, low, second));
  return is_greater (norm, first) & is_no_less (norm, second);
}

// Returns bits 0 .. 3 for local maxima above the low threshold, and bits 4 .. 7
// for those above the high one.
template <typename Norm>
static __device__ __forceinline__ unsigned
find_candidates (const CuvHoughGradients<Norm> &above,
    const CuvHoughGradients<Norm> &here, const CuvHoughGradients<Norm> &below,
    Norm low, Norm high)
{
  unsigned bits = 0;

  for (int i = 0; i < 2; i++) {
    const Norm norm = between (here.norm[i], here.norm[i + 1]);
    const unsigned weak = cuv_canny_is_ridge (above, here, below, i, norm)
        & is_greater (norm, low);

    bits |= (weak & 0x00020001 << 2 * i)
        | (weak & is_greater (norm, high) & 0x00200010 << 2 * i);
  }
  return (bits | bits >> 16) & 255;
}

// Each warp handles CUV_HOUGH_WARP_ROWS rows, each lane four pixels.
// found[y][lane]: see find_candidates(). The last three rows of sums and
// gradients are kept in ring buffers.
template <typename Norm>
static __device__ __forceinline__ void
cuv_scan_rows (const unsigned (*grey)[CUV_HOUGH_GREY_WORDS],
    uint8_t (*found)[32], Norm low, Norm high)
{
  const int lane = threadIdx.x % 32,
            first = cuv_warp_of_thread () * CUV_HOUGH_WARP_ROWS;
  CuvHoughRowSums sums[3];
  CuvHoughGradients<Norm> gradients[3];

#pragma unroll
  for (int j = 0; j < CUV_HOUGH_WARP_ROWS + 4; j++) {
    sums[j % 3] = sobel_sums (&grey[first + j][lane]);
    if (j >= 2)
      gradients[j % 3] = cuv_canny_find_gradients<Norm> (
          sums[(j + 1) % 3], sums[(j + 2) % 3], sums[j % 3]);
    if (j >= 4)
      found[first + j - 4][lane] = find_candidates (gradients[(j + 1) % 3],
          gradients[(j + 2) % 3], gradients[j % 3], low, high);
  }
}

#endif
