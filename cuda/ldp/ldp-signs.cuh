// SPDX-License-Identifier: LGPL-2.1-or-later
// Loads the grey values of a tile to shared memory and computes the signs of
// their derivatives.
#ifndef CUV_LDP_SIGNS_CUH
#define CUV_LDP_SIGNS_CUH

#include "ldp/describe.cuh"

// Pixels loaded on either side of a tile: a multiple of 16 for 16-byte loads.
#define CUV_LDP_TILE_MARGIN 16
#define CUV_LDP_GREY_WORDS ((2 * CUV_LDP_TILE_MARGIN + CUV_LDP_TILE_WIDTH) / 4)
#define CUV_LDP_GREY_ROWS (CUV_LDP_STEP_ROWS + CUV_LDP_MAX_ORDER + 1)
// One word and one row more than the tile on each side.
#define CUV_LDP_SIGN_WORDS (CUV_LDP_TILE_WIDTH / 4 + 2)
#define CUV_LDP_SIGN_ROWS (CUV_LDP_STEP_ROWS + 2)

// Signs of four pixels, one byte each: bit d is set if the derivative in
// direction d is above 0, bit d + 4 if it is below.
typedef unsigned CuvLdpSigns;

// ---- grey values ----

// Returns four pixels from (x, y) to the right; outside the picture its border
// is replicated.
static __device__ __forceinline__ unsigned
load_four (const CuvFrame &picture, int x, int y)
{
  const CuvComponent &c = picture.component[0];
  const int row = min (max (y, 0), picture.height - 1);
  unsigned four = 0;

  if (picture.model != CUV_MODEL_RGB && c.step == 1 && x >= 4
      && x + 8 <= picture.width) { // both words lie inside
    const uint8_t *pixels = c.data + (int64_t) row * c.stride + x;
    const unsigned skip = (unsigned) (uintptr_t) pixels % 4;
    const unsigned *words = (const unsigned *) (pixels - skip);

    return __funnelshift_r (words[0], words[1], 8 * skip);
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    four |= (unsigned) cuv_frame_grey (
                &picture, min (max (x + i, 0), picture.width - 1), row)
        << 8 * i;
  return four;
}

// Whether a tile that begins at x can be loaded in 16-byte units, each entirely
// inside or entirely outside the picture.
static __device__ __forceinline__ bool
can_load_sixteen (const CuvFrame &picture, int x)
{
  const CuvComponent &c = picture.component[0];

  return picture.model != CUV_MODEL_RGB && c.step == 1
      && (((unsigned) (uintptr_t) c.data | c.stride | x) & 15) == 0
      && (picture.width % 16 == 0
          || x + CUV_LDP_TILE_WIDTH + CUV_LDP_TILE_MARGIN <= picture.width);
}

static __device__ __forceinline__ uint4
load_sixteen (const CuvFrame &picture, int x, int y)
{
  const CuvComponent &c = picture.component[0];
  const uint8_t *row =
      c.data + (int64_t) min (max (y, 0), picture.height - 1) * c.stride;

  if (x >= 0 && x < picture.width)
    return *(const uint4 *) (row + x);
  const unsigned border = row[x < 0 ? 0 : picture.width - 1] * 0x01010101u;

  return make_uint4 (border, border, border, border);
}

// Loads rows y - order to y + n of the tile that begins at x, on which the
// signs of rows y - 1 to y + n depend.
static __device__ __forceinline__ void
cuv_ldp_load_grey (
    const CuvLdpDescribeArgs &args, int x, int y, int n, uint4 *grey)
{
  const int rows = n + args.layout.params.order + 1;
  const int words = CUV_LDP_GREY_WORDS;

  x -= CUV_LDP_TILE_MARGIN;
  y -= args.layout.params.order;
  if (can_load_sixteen (args.picture, x + CUV_LDP_TILE_MARGIN)) {
#pragma unroll 1
    for (int i = threadIdx.x; i < rows * words / 4; i += CUV_LDP_THREADS)
      grey[i] = load_sixteen (
          args.picture, x + i % (words / 4) * 16, y + i / (words / 4));
  } else {
#pragma unroll 1
    for (int i = threadIdx.x; i < rows * words; i += CUV_LDP_THREADS)
      ((unsigned *) grey)[i] =
          load_four (args.picture, x + i % words * 4, y + i / words);
  }
}

// ---- signs ----

// Returns four pixels, the first of them `at` pixels after the first of
// words[0]; at may be negative: adding 256 makes / and % round down.
static __device__ __forceinline__ unsigned
four_at (const unsigned *words, int at)
{
  const int word = (at + 256) / 4 - 64, skip = (at + 256) % 4;

  return __funnelshift_r (words[word], words[word + 1], 8 * skip);
}

// Returns pixels `at` and `at` + 2, counted from the first of words[0], as
// 16-bit halves: the even or the odd ones of four.
static __device__ __forceinline__ unsigned
two_at (const unsigned *words, int at)
{
  const int word = (at + 256) / 4 - 64, skip = (at + 256) % 4 / 2 * 2;
  const unsigned four = skip == 0
      ? words[word]
      : __funnelshift_r (words[word], words[word + 1], 16);

  return __byte_perm (four, 0, at % 2 == 0 ? 0x4240 : 0x4341);
}

// Two derivatives are held as 16-bit halves of a word; with this bias the lower
// half never borrows from the upper one.
#define CUV_LDP_BIAS 0x7fff7fffu

// Returns the signed binomial coefficient k over i + 1, given that of k over i.
static __device__ __forceinline__ int
next_coefficient (int coefficient, int k, int i)
{
  return -coefficient * (k - i) / (i + 1);
}

// Returns biased derivatives of two pixels; get (i) returns the pixels i steps
// further.
template <int K, typename Get>
static __device__ __forceinline__ unsigned
derivative (Get get)
{
  unsigned sum = CUV_LDP_BIAS;
  int coefficient = 1;

#pragma unroll
  for (int i = 0; i <= K; i++) {
    sum += (unsigned) coefficient * get (i);
    coefficient = next_coefficient (coefficient, K, i);
  }
  return sum;
}

// Adds the signs of four derivatives in direction d. even, odd: biased
// derivatives of pixels 0 and 2, 1 and 3.
static __device__ __forceinline__ void
add_signs (unsigned even, unsigned odd, int d, CuvLdpSigns *signs)
{
  *signs |= cuv_signs_of_halves (even, odd) & 0x01010101u << d;
  *signs |= cuv_signs_of_halves (0xfffefffeu - even, 0xfffefffeu - odd)
      & 0x10101010u << d;
}

// Returns the signs of four pixels for derivatives of order k; each pixel is
// read from shared memory.
static __device__ __forceinline__ CuvLdpSigns
signs_of_order (const unsigned *grey, int k)
{
  unsigned even[CUV_LDP_DIRECTIONS], odd[CUV_LDP_DIRECTIONS];
  CuvLdpSigns signs = 0;
  int coefficient = 1;

#pragma unroll
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++)
    even[d] = odd[d] = CUV_LDP_BIAS;
#pragma unroll 1
  for (int i = 0; i <= k; i++) {
#pragma unroll
    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
      const unsigned *words = grey + i * cuv_ldp_dy (d) * CUV_LDP_GREY_WORDS;
      const unsigned four = four_at (words, i * cuv_ldp_dx (d));

      even[d] += (unsigned) coefficient * __byte_perm (four, 0, 0x4240);
      odd[d] += (unsigned) coefficient * __byte_perm (four, 0, 0x4341);
    }
    coefficient = next_coefficient (coefficient, k, i);
  }
#pragma unroll
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++)
    add_signs (even[d], odd[d], d, &signs);
  return signs;
}

// The pixels of a row on which the signs of four pixels, in this row or below,
// depend.
template <int K> struct CuvLdpPixels {
  unsigned two[2 * K + 2]; // two[i]: two_at() pixel i - K

  __device__ __forceinline__ void
  load (const unsigned *words)
  {
#pragma unroll
    for (int i = 0; i < 2 * K + 2; i++)
      two[i] = two_at (words, i - K);
  }
};

// Returns the signs of the four pixels of row r; rows is a ring of K + 1 rows.
template <int K>
static __device__ __forceinline__ CuvLdpSigns
signs_of_row (const CuvLdpPixels<K> rows[K + 1], int r)
{
  CuvLdpSigns signs = 0;

#pragma unroll
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    const int dx = cuv_ldp_dx (d), dy = cuv_ldp_dy (d);
    const auto even = [=] (int i) {
      return rows[(r + i * dy) % (K + 1)].two[K + i * dx];
    };
    const auto odd = [=] (int i) {
      return rows[(r + i * dy) % (K + 1)].two[K + i * dx + 1];
    };

    add_signs (derivative<K> (even), derivative<K> (odd), d, &signs);
  }
  return signs;
}

// Computes the signs of rows y - 1 to y + n; grey points to the word before the
// tile's first word. A thread works down a run of rows and keeps the pixels of
// the rows above.
template <int K>
static __device__ __forceinline__ void
find_signs (const unsigned *grey, int n, CuvLdpSigns *signs)
{
  const int run = CUV_LDP_SIGN_ROWS / (CUV_LDP_THREADS / CUV_LDP_SIGN_WORDS);
  const int first = threadIdx.x / CUV_LDP_SIGN_WORDS * run;
  const int column = threadIdx.x % CUV_LDP_SIGN_WORDS;
  CuvLdpPixels<K> rows[K + 1];

  static_assert (CUV_LDP_SIGN_ROWS % run == 0, "runs must cover all rows");
  if (first >= min (n + 2, CUV_LDP_SIGN_ROWS))
    return;
  grey += first * CUV_LDP_GREY_WORDS + column;
  signs += first * CUV_LDP_SIGN_WORDS + column;
#pragma unroll
  for (int r = 0; r < K + run; r++) {
    rows[r % (K + 1)].load (grey + r * CUV_LDP_GREY_WORDS);
    if (r >= K)
      signs[(r - K) * CUV_LDP_SIGN_WORDS] = signs_of_row<K> (rows, r);
  }
}

// Finds the signs for any order of derivatives k. Used for high orders, which
// are rare.
static __device__ __forceinline__ void
find_signs_of_order (const unsigned *grey, int k, int n, CuvLdpSigns *signs)
{
#pragma unroll 1
  for (int i = threadIdx.x; i < (n + 2) * CUV_LDP_SIGN_WORDS;
       i += CUV_LDP_THREADS)
    signs[i] =
        signs_of_order (grey + (i / CUV_LDP_SIGN_WORDS + k) * CUV_LDP_GREY_WORDS
                + i % CUV_LDP_SIGN_WORDS,
            k);
}

#endif
