/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Averages, sums and bits, 16 or 32 pixels at a time. */
#include "cpu/x86/motion-avx2.h"

static void
average (uint16_t *averages, const uint8_t *values, int n,
    const CuvAverageParams *params, uint8_t *mask)
{
  const __m256i rate = _mm256_set1_epi32 (params->rate);
  const __m256i threshold = _mm256_set1_epi32 ((params->threshold << 8) - 1);

  for (int x = 0; x < n; x += 8) {
    const __m256i value = _mm256_slli_epi32 (
        _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *) (values + x))),
        8);
    const __m256i old = _mm256_cvtepu16_epi32 (
        _mm_loadu_si128 ((const __m128i *) (averages + x)));
    const __m256i difference = _mm256_sub_epi32 (value, old);
    const __m256i size = _mm256_abs_epi32 (difference);
    const __m256i step = _mm256_sign_epi32 (
        _mm256_srli_epi32 (_mm256_mullo_epi32 (size, rate), 16), difference);
    const __m256i moving = _mm256_cmpgt_epi32 (size, threshold);
    const __m256i next = _mm256_add_epi32 (old, step);
    const __m128i packed = _mm_packs_epi32 (
        _mm256_castsi256_si128 (moving), _mm256_extracti128_si256 (moving, 1));

    _mm_storeu_si128 ((__m128i *) (averages + x),
        _mm_packus_epi32 (
            _mm256_castsi256_si128 (next), _mm256_extracti128_si256 (next, 1)));
    _mm_storel_epi64 ((__m128i *) (mask + x), _mm_packs_epi16 (packed, packed));
  }
}

static void
motion_add_row (uint16_t *sums, const uint8_t *values, int n)
{
  int x;

  for (x = 0; x + 16 <= n; x += 16)
    store (
        sums + x, _mm256_add_epi16 (load (sums + x), load_bytes (values + x)));
  for (; x < n; x++)
    sums[x] = (uint16_t) (sums[x] + values[x]);
}

/* Returns the sums of 8 groups. */
static __m256i
add_groups (const uint16_t *sums, int across)
{
  const __m256i ones = _mm256_set1_epi16 (1);

  if (across == 2)
    return _mm256_madd_epi16 (load (sums), ones);
  return _mm256_permute4x64_epi64 (
      _mm256_hadd_epi32 (_mm256_madd_epi16 (load (sums), ones),
          _mm256_madd_epi16 (load (sums + 16), ones)),
      0xd8);
}

static void
motion_divide (
    const uint16_t *sums, int n, const CuvMotionSquare *square, uint8_t *out)
{
  const __m256i half = _mm256_set1_epi32 ((int) square->half);
  const __m256i reciprocal = _mm256_set1_epi32 ((int) square->reciprocal);
  const int across = square->across;
  int x;

  for (x = 0; (across == 2 || across == 4) && x + 8 <= n; x += 8) {
    const __m256i sum =
        _mm256_add_epi32 (add_groups (sums + x * across, across), half);
    const __m256i even =
        _mm256_srli_epi64 (_mm256_mul_epu32 (sum, reciprocal), 32);
    const __m256i odd =
        _mm256_mul_epu32 (_mm256_srli_epi64 (sum, 32), reciprocal);
    const __m256i average = _mm256_blend_epi32 (even, odd, 0xaa);
    const __m128i packed = _mm_packus_epi32 (_mm256_castsi256_si128 (average),
        _mm256_extracti128_si256 (average, 1));

    _mm_storel_epi64 ((__m128i *) (out + x), _mm_packus_epi16 (packed, packed));
  }
  cuv_motion_divide_c (sums + x * across, n - x, square, out + x);
}

static void
pack (const uint8_t *mask, int n, uint64_t *bits)
{
  const __m256i moving = _mm256_set1_epi8 ((char) CUV_MOTION_MOVING);

  for (int x = 0; x < n; x += 64) {
    const uint32_t low = (uint32_t) _mm256_movemask_epi8 (
        _mm256_cmpeq_epi8 (load (mask + x), moving));
    const uint32_t high = (uint32_t) _mm256_movemask_epi8 (
        _mm256_cmpeq_epi8 (load (mask + x + 32), moving));

    bits[x / 64] = low | (uint64_t) high << 32;
  }
  if (n % 64 > 0)
    bits[n / 64] &= ~(~UINT64_C (0) << n % 64);
}

void
cuv_motion_dsp_init_avx2 (CuvMotionDsp *self)
{
  self->mog2 = cuv_mog2_avx2;
  self->average = average;
  self->add_row = motion_add_row;
  self->divide = motion_divide;
  self->pack = pack;
}
