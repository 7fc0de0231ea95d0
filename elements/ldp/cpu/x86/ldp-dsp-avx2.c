/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AVX2: signs and codes of 32 pixels at a time, signs computed in 16 bits;
 * intersections of 32 bytes. */
#include "cpu/ldp-dsp.h"
#include "cuvavx2.h"
#include "index/ldpindex-format.h"

/* ---- signs ---- */

CUV_INLINE __m256i
derivative (const uint8_t *const *rows, int k, int direction, int x)
{
  const int dx = cuv_ldp_dx (direction), up = -cuv_ldp_dy (direction);
  __m256i values[CUV_LDP_MAX_ORDER];

  for (int i = 0; i <= k; i++)
    values[i] = load_bytes (rows[i * up] + x + i * dx);
  for (int n = k; n > 0; n--) {
    for (int i = 0; i < n; i++)
      values[i] = _mm256_sub_epi16 (values[i], values[i + 1]);
  }
  return values[0];
}

/* Returns the signs of 16 pixels, in 16 bits each. */
CUV_INLINE __m256i
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

CUV_INLINE void
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

/* A constant order lets the compiler unroll derivative(). */
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

/* Returns a mask: bit 2 d is set if both derivatives in direction d are above
 * 0, or both below. */
static inline __m256i
matches_avx2 (__m256i here, __m256i other)
{
  const __m256i same = _mm256_and_si256 (here, other);

  return _mm256_and_si256 (_mm256_or_si256 (same, _mm256_srli_epi16 (same, 1)),
      _mm256_set1_epi8 (0x55));
}

/* Compares with two neighbours: the result for the first is in bits 2 d + 1,
 * for the second in bits 2 d. */
static inline __m256i
match_two (__m256i here, const uint8_t *first, const uint8_t *second)
{
  const __m256i one = matches_avx2 (here, load (first));

  return _mm256_or_si256 (
      _mm256_add_epi8 (one, one), matches_avx2 (here, load (second)));
}

/* Returns bits 2 d and 2 d + 1 of each byte, moved to bits `to` and `to` +
 * 1. */
CUV_INLINE __m256i
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
    const __m256i pairs[4] = { match_two (here, above - 1, above),
      match_two (here, above + 1, at + 1), match_two (here, below + 1, below),
      match_two (here, below - 1, at - 1) };

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

/* ---- intersections ---- */

static inline uint64_t
sum_64 (__m256i sums)
{
  const __m128i two = _mm_add_epi64 (
      _mm256_castsi256_si128 (sums), _mm256_extracti128_si256 (sums, 1));

  return (uint64_t) (_mm_cvtsi128_si64 (two) + _mm_extract_epi64 (two, 1));
}

/* Returns the sum of eight signed integers, modulo 2^64. */
static inline uint64_t
sum_signed_32 (__m256i sums)
{
  const __m256i low = _mm256_cvtepi32_epi64 (_mm256_castsi256_si128 (sums));
  const __m256i high =
      _mm256_cvtepi32_epi64 (_mm256_extracti128_si256 (sums, 1));

  return sum_64 (_mm256_add_epi64 (low, high));
}

static uint64_t
intersect_1 (const uint8_t *a, const uint8_t *b, int n_histograms, int n_bins,
    bool has_256)
{
  const __m256i zero = _mm256_setzero_si256 ();
  uint64_t sum = 0;

  for (int h = 0; h < n_histograms; h++, a += n_bins, b += n_bins) {
    __m256i sums = zero;
    uint64_t part;
    int i;

    for (i = 0; i + 32 <= n_bins; i += 32)
      sums = _mm256_add_epi64 (sums,
          _mm256_sad_epu8 (_mm256_min_epu8 (load (a + i), load (b + i)), zero));
    part = sum_64 (sums);
    for (; i < n_bins; i++)
      part += a[i] < b[i] ? a[i] : b[i];
    sum += has_256 && part == 255 ? cuv_ldp_intersect_256 (a, b, n_bins) : part;
  }
  return sum;
}

/* The multiply-add takes signed integers, so 32768 is subtracted from counts.
 * Its sums do not overflow, as a block has at most 4 x 256 counts. */
static uint64_t
intersect_2 (const uint8_t *a, const uint8_t *b, int n_histograms, int n_bins,
    bool has_256)
{
  const __m256i middle = _mm256_set1_epi16 (INT16_MIN);
  const __m256i one = _mm256_set1_epi16 (1);
  const int n = 2 * n_histograms * n_bins;
  __m256i sums = _mm256_setzero_si256 ();
  uint64_t sum;
  int i;

  for (i = 0; i + 32 <= n; i += 32) {
    const __m256i both = _mm256_min_epu16 (load (a + i), load (b + i));

    sums = _mm256_add_epi32 (
        sums, _mm256_madd_epi16 (_mm256_xor_si256 (both, middle), one));
  }
  sum = sum_signed_32 (sums) + (uint64_t) i / 2 * 32768;
  for (; i < n; i += 2) {
    const unsigned x = cuv_ldp_get16 (a + i), y = cuv_ldp_get16 (b + i);

    sum += x < y ? x : y;
  }
  return sum;
}

void
cuv_ldp_dsp_init_avx2 (CuvLdpDsp *self)
{
  self->signs = signs_avx2;
  self->codes = codes_avx2;
  self->intersect[1] = intersect_1;
  self->intersect[2] = intersect_2;
}
