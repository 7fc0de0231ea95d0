// SPDX-License-Identifier: LGPL-2.1-or-later
// The features of four pixels as planes, packed in words for SIMD instructions.
// A colour is a word of four bytes. A gradient is two words of two 16-bit
// halves (pixels 0 and 2, 1 and 3). The instructions dp4a and dp2a compute sums
// of planes and of their products.
#ifndef CUV_RCD_PLANES_CUH
#define CUV_RCD_PLANES_CUH

#include "rcd/search.cuh"

// Added to signed gradients to make them unsigned; cuv_rcd_remove_bias()
// corrects the sums.
#define CUV_RCD_BIAS 1024u

// Planes of four pixels: all features but x and y.
template <CuvRcdFeatures F> struct CuvRcdPlanes {
  static constexpr bool has_xy = F == CUV_RCD_TUZEL9; // x and y are features
  static constexpr int n_bytes = F == CUV_RCD_GREY_GRAD ? 1 : 3;
  static constexpr int n_halves = F == CUV_RCD_TUZEL9 ? 4 : 2;
  static constexpr int n = n_bytes + n_halves;
  static constexpr int n_sums = CUV_RCD_SUMS (n);
  // n_sums, then sums of x and of y times each plane
  static constexpr int n_all = n_sums + (has_xy ? 2 * n : 0);

  unsigned bytes[n_bytes];
  unsigned halves[n_halves][2];
};

// The grey values of a row around four pixels, in 16-bit halves.
struct CuvRcdGreys {
  unsigned even, odd;     // pixels 0 and 2, 1 and 3
  unsigned before, after; // pixels -1 and 1, 2 and 4
};

static __device__ __forceinline__ CuvRcdGreys
cuv_rcd_greys (const unsigned *words) // words[-1] .. words[1], 4 pixels each
{
  CuvRcdGreys g;

  g.even = words[0] & 0x00ff00ff;
  g.odd = words[0] >> 8 & 0x00ff00ff;
  g.before = __byte_perm (words[-1], g.odd, 0x5453);
  g.after = __byte_perm (words[1], g.even, 0x5056);
  return g;
}

// Returns |a - b|, or a - b + CUV_RCD_BIAS, in each half.
template <bool ABSOLUTE>
static __device__ __forceinline__ unsigned
cuv_rcd_difference (unsigned a, unsigned b)
{
  return ABSOLUTE ? __vmaxu2 (a, b) - __vminu2 (a, b)
                  : a + CUV_RCD_BIAS * 0x10001u - b;
}

// Sets the gradients of four pixels. g: the rows above, at and below them.
template <CuvRcdFeatures F>
static __device__ __forceinline__ void
cuv_rcd_gradients (const CuvRcdGreys g[3], CuvRcdPlanes<F> *planes)
{
  constexpr bool absolute = F == CUV_RCD_TUZEL9;
  unsigned (*h)[2] = planes->halves;

  h[0][0] = cuv_rcd_difference<absolute> (g[0].odd + 2 * g[1].odd + g[2].odd,
      g[0].before + 2 * g[1].before + g[2].before);
  h[0][1] =
      cuv_rcd_difference<absolute> (g[0].after + 2 * g[1].after + g[2].after,
          g[0].even + 2 * g[1].even + g[2].even);
  h[1][0] =
      cuv_rcd_difference<absolute> (g[2].before + 2 * g[2].even + g[2].odd,
          g[0].before + 2 * g[0].even + g[0].odd);
  h[1][1] = cuv_rcd_difference<absolute> (g[2].even + 2 * g[2].odd + g[2].after,
      g[0].even + 2 * g[0].odd + g[0].after);
  if constexpr (F == CUV_RCD_TUZEL9) {
    h[2][0] = cuv_rcd_difference<true> (g[1].before + g[1].odd, 2 * g[1].even);
    h[2][1] = cuv_rcd_difference<true> (g[1].even + g[1].after, 2 * g[1].odd);
    h[3][0] = cuv_rcd_difference<true> (g[0].even + g[2].even, 2 * g[1].even);
    h[3][1] = cuv_rcd_difference<true> (g[0].odd + g[2].odd, 2 * g[1].odd);
  }
}

// Masks that select some of four pixels.
struct CuvRcdMask {
  unsigned bytes, even, odd;
};

// Returns a mask that selects pixels first .. end - 1.
static __device__ __forceinline__ CuvRcdMask
cuv_rcd_mask (int first, int end)
{
  const unsigned upto = end < 4 ? (1u << 8 * end) - 1 : ~0u;
  const unsigned mask = first < 4 ? upto & ~((1u << 8 * first) - 1) : 0;

  return CuvRcdMask{ __byte_perm (mask, 0, 0x3120),
    __byte_perm (mask, 0, 0x2200), __byte_perm (mask, 0, 0x3311) };
}

template <CuvRcdFeatures F>
static __device__ __forceinline__ void
cuv_rcd_apply_mask (CuvRcdPlanes<F> *planes, const CuvRcdMask &mask)
{
  for (int i = 0; i < planes->n_bytes; i++)
    planes->bytes[i] &= mask.bytes;
  for (int i = 0; i < planes->n_halves; i++) {
    planes->halves[i][0] &= mask.even;
    planes->halves[i][1] &= mask.odd;
  }
}

// ---- sums ----

// Adds plane i, or the product of planes i <= j, to sum.
template <CuvRcdFeatures F>
static __device__ __forceinline__ unsigned
cuv_rcd_plane_sum (const CuvRcdPlanes<F> &planes, int i, unsigned sum)
{
  if (i < planes.n_bytes)
    return __dp4a (planes.bytes[i], 0x01010101u, sum);
  const unsigned *h = planes.halves[i - planes.n_bytes];

  return __dp2a_lo (h[1], 0x0101u, __dp2a_lo (h[0], 0x0101u, sum));
}

template <CuvRcdFeatures F>
static __device__ __forceinline__ unsigned
cuv_rcd_plane_product (
    const CuvRcdPlanes<F> &planes, int i, int j, unsigned sum)
{
  if (j < planes.n_bytes)
    return __dp4a (planes.bytes[i], planes.bytes[j], sum);
  const unsigned *b = planes.halves[j - planes.n_bytes];

  if (i < planes.n_bytes)
    return __dp2a_hi (
        b[1], planes.bytes[i], __dp2a_lo (b[0], planes.bytes[i], sum));
  const unsigned *a = planes.halves[i - planes.n_bytes];

#pragma unroll
  for (int k = 0; k < 2; k++)
    sum += (a[k] & 0xffff) * (b[k] & 0xffff) + (a[k] >> 16) * (b[k] >> 16);
  return sum;
}

// Returns the sum of a plane's four values, from the left, times 0 .. 3.
template <CuvRcdFeatures F>
static __device__ __forceinline__ unsigned
cuv_rcd_plane_slope (const CuvRcdPlanes<F> &planes, int i)
{
  if (i < planes.n_bytes)
    return __dp4a (planes.bytes[i], 0x03010200u, 0u);
  const unsigned *h = planes.halves[i - planes.n_bytes];

  return __dp2a_lo (h[1], 0x0301u, __dp2a_lo (h[0], 0x0200u, 0u));
}

// Adds four pixels. x, y: position of the first pixel in its cell. x may be
// negative, because arithmetic is modulo 2^32.
template <CuvRcdFeatures F>
static __device__ __forceinline__ void
cuv_rcd_add (
    const CuvRcdPlanes<F> &planes, unsigned x, unsigned y, unsigned *sums)
{
  constexpr int n = CuvRcdPlanes<F>::n;
  int k = n;

#pragma unroll
  for (int i = 0; i < n; i++) {
    const unsigned sum = cuv_rcd_plane_sum (planes, i, 0);

    sums[i] += sum;
    if constexpr (CuvRcdPlanes<F>::has_xy) {
      sums[CUV_RCD_SUMS (n) + i] += x * sum + cuv_rcd_plane_slope (planes, i);
      sums[CUV_RCD_SUMS (n) + n + i] += y * sum;
    }
#pragma unroll
    for (int j = i; j < n; j++, k++)
      sums[k] = cuv_rcd_plane_product (planes, i, j, sums[k]);
  }
}

// Corrects sums over `pixels` pixels for CUV_RCD_BIAS.
template <CuvRcdFeatures F>
static __device__ __forceinline__ void
cuv_rcd_remove_bias (unsigned *sums, unsigned pixels)
{
  constexpr int n = CuvRcdPlanes<F>::n, first = CuvRcdPlanes<F>::n_bytes;
  int k = n;

#pragma unroll
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int j = i; j < n; j++, k++) {
      if (j >= first)
        sums[k] -= CUV_RCD_BIAS * sums[i];
      if (i >= first)
        sums[k] -= CUV_RCD_BIAS * (sums[j] - CUV_RCD_BIAS * pixels);
    }
  }
#pragma unroll
  for (int i = first; i < n; i++)
    sums[i] -= CUV_RCD_BIAS * pixels;
}

#endif
