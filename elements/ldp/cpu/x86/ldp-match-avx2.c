/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of one byte 32 at a time, of two 16. */
#include <immintrin.h>
#include "cpu/ldp-match.h"

#if !defined __AVX2__ && !defined __clang__
#pragma GCC target("avx2") /* a file that is compiled alone */
#endif

static inline __m256i
smaller_bytes (const uint8_t *a, const uint8_t *b)
{
  return _mm256_min_epu8 (_mm256_loadu_si256 ((const __m256i *) a),
      _mm256_loadu_si256 ((const __m256i *) b));
}

static inline uint64_t
sum_64 (__m256i sums)
{
  const __m128i two = _mm_add_epi64 (
      _mm256_castsi256_si128 (sums), _mm256_extracti128_si256 (sums, 1));

  return (uint64_t) (_mm_cvtsi128_si64 (two) + _mm_extract_epi64 (two, 1));
}

static uint64_t
common_1 (const uint8_t *a, const uint8_t *b, int n_histograms, int n_bins,
    bool whole)
{
  const __m256i zero = _mm256_setzero_si256 ();
  uint64_t sum = 0;

  for (int h = 0; h < n_histograms; h++, a += n_bins, b += n_bins) {
    __m256i sums = zero;
    uint64_t part;
    int i;

    for (i = 0; i + 32 <= n_bins; i += 32)
      sums = _mm256_add_epi64 (
          sums, _mm256_sad_epu8 (smaller_bytes (a + i, b + i), zero));
    part = sum_64 (sums);
    for (; i < n_bins; i++)
      part += a[i] < b[i] ? a[i] : b[i];
    sum += whole && part == 255 ? cuv_ldp_common_whole (a, b, n_bins) : part;
  }
  return sum;
}

static uint64_t
common_2 (const uint8_t *a, const uint8_t *b, int n_histograms, int n_bins,
    bool whole)
{
  const __m256i low = _mm256_set1_epi64x (0xffff);
  const int n = 2 * n_histograms * n_bins;
  __m256i sums = _mm256_setzero_si256 ();
  uint64_t sum;
  int i;

  for (i = 0; i + 32 <= n; i += 32) {
    const __m256i both =
        _mm256_min_epu16 (_mm256_loadu_si256 ((const __m256i *) (a + i)),
            _mm256_loadu_si256 ((const __m256i *) (b + i)));

    for (int shift = 0; shift < 64; shift += 16)
      sums = _mm256_add_epi64 (
          sums, _mm256_and_si256 (_mm256_srli_epi64 (both, shift), low));
  }
  sum = sum_64 (sums);
  for (; i < n; i += 2) {
    const unsigned x = (unsigned) (a[i] | a[i + 1] << 8);
    const unsigned y = (unsigned) (b[i] | b[i + 1] << 8);

    sum += x < y ? x : y;
  }
  return sum;
}

void
cuv_ldp_match_avx2_init (CuvLdpMatchSteps *self)
{
  self->common[1] = common_1;
  self->common[2] = common_2;
}
