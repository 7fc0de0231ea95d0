/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signs 32 pixels at a time, in 16 bits, and codes in 8. */
#include <immintrin.h>
#include "cpu/ldp-dsp.h"

#if !defined __AVX2__ && !defined __clang__
#pragma GCC target("avx2") /* a file that is compiled alone */
#endif

static inline __m256i
load (const uint8_t *at)
{
  return _mm256_loadu_si256 ((const __m256i *) at);
}

static inline void
store (uint8_t *at, __m256i value)
{
  _mm256_storeu_si256 ((__m256i *) at, value);
}

/* ---- signs ---- */

static inline __attribute__ ((always_inline)) __m256i
derivative (const uint8_t *const *rows, int k, int direction, int x)
{
  const int dx = cuv_ldp_dx (direction), up = -cuv_ldp_dy (direction);
  __m256i values[CUV_LDP_MAX_ORDER];

  for (int i = 0; i <= k; i++)
    values[i] = _mm256_cvtepu8_epi16 (
        _mm_loadu_si128 ((const __m128i *) (rows[i * up] + x + i * dx)));
  for (int n = k; n > 0; n--) {
    for (int i = 0; i < n; i++)
      values[i] = _mm256_sub_epi16 (values[i], values[i + 1]);
  }
  return values[0];
}

/* Of 16 pixels, in 16 bits each. */
static inline __attribute__ ((always_inline)) __m256i
signs_of_16 (const uint8_t *const *rows, int k, int x)
{
  const __m256i zero = _mm256_setzero_si256 ();
  __m256i signs = zero;

  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    const __m256i value = derivative (rows, k, d, x);
    const __m256i above = _mm256_cmpgt_epi16 (value, zero);
    const __m256i below = _mm256_cmpgt_epi16 (zero, value);

    signs = _mm256_or_si256 (signs,
        _mm256_or_si256 (
            _mm256_and_si256 (above, _mm256_set1_epi16 ((short) (1 << 2 * d))),
            _mm256_and_si256 (
                below, _mm256_set1_epi16 ((short) (2 << 2 * d)))));
  }
  return signs;
}

static inline __attribute__ ((always_inline)) void
signs_of_order (const uint8_t *const *rows, int k, int n, uint8_t *signs)
{
  int x;

  for (x = 0; x + 32 <= n; x += 32) {
    const __m256i both = _mm256_packus_epi16 (
        signs_of_16 (rows, k, x), signs_of_16 (rows, k, x + 16));

    store (signs + x, _mm256_permute4x64_epi64 (both, 0xd8));
  }
  cuv_ldp_signs_from (rows, k, x, n, signs);
}

/* The compiler knows what to do where it knows the order. */
static void
signs_avx2 (const uint8_t *const *rows, int k, int n, uint8_t *signs)
{
  if (k == 1)
    signs_of_order (rows, 1, n, signs);
  else if (k == 2)
    signs_of_order (rows, 2, n, signs);
  else if (k == 3)
    signs_of_order (rows, 3, n, signs);
  else
    signs_of_order (rows, k, n, signs);
}

/* ---- codes ---- */

/* Bit 2 d: alike in direction d. */
static inline __m256i
alike (__m256i here, __m256i other)
{
  const __m256i same = _mm256_and_si256 (here, other);

  return _mm256_and_si256 (_mm256_or_si256 (same, _mm256_srli_epi16 (same, 1)),
      _mm256_set1_epi8 (0x55));
}

/* The same of two neighbours, one after the other: bits 2 d + 1 and 2 d. */
static inline __m256i
alike_two (__m256i here, const uint8_t *first, const uint8_t *second)
{
  const __m256i one = alike (here, load (first));

  return _mm256_or_si256 (
      _mm256_add_epi8 (one, one), alike (here, load (second)));
}

/* Bits 2 d and 2 d + 1 of each byte, moved up to bit `to` and the next. */
static inline __attribute__ ((always_inline)) __m256i
move_bits (__m256i from, int d, int to)
{
  const int up = to - 2 * d;

  return _mm256_and_si256 (
      up >= 0 ? _mm256_slli_epi16 (from, up) : _mm256_srli_epi16 (from, -up),
      _mm256_set1_epi8 ((char) (3 << to)));
}

static void
codes_avx2 (const uint8_t *const rows[3], int n,
    uint8_t *const codes[CUV_LDP_DIRECTIONS])
{
  for (int x = 0; x < n; x += 32) {
    const uint8_t *above = rows[0] + x, *at = rows[1] + x, *below = rows[2] + x;
    const __m256i here = load (at);
    const __m256i pairs[4] = { alike_two (here, above - 1, above),
      alike_two (here, above + 1, at + 1), alike_two (here, below + 1, below),
      alike_two (here, below - 1, at - 1) };

    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
      const __m256i same =
          _mm256_or_si256 (_mm256_or_si256 (move_bits (pairs[0], d, 6),
                               move_bits (pairs[1], d, 4)),
              _mm256_or_si256 (
                  move_bits (pairs[2], d, 2), move_bits (pairs[3], d, 0)));

      store (codes[d] + x, _mm256_xor_si256 (same, _mm256_set1_epi8 (-1)));
    }
  }
}

void
cuv_ldp_avx2_init (CuvLdpSteps *self)
{
  *self = (CuvLdpSteps){ signs_avx2, codes_avx2 };
}
