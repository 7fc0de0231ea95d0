/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums over a tile: 16 pixels at a time, with the sums of one feature's
 * products in registers. */
#include "cpu/rcd-dsp.h"
#include "cuvavx2.h"

/* A feature's sum, and the sums of its products with itself and with the
 * features after it. */
enum { MAX_SUMS = CUV_RCD_MAX_FEATURES + 1 };

/* Returns a mask of the first n of 16 samples, n < 16. */
CUV_INLINE __m256i
first_samples (int n)
{
  static const int16_t mask[32] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1 };

  return load (mask + 16 - n);
}

/* Adds 16 pixels: z, the samples of planes[0], and the products of z with the
 * samples of n planes. */
CUV_INLINE void
add_samples (
    __m256i *sums, __m256i z, const int16_t *const *planes, int n, int x)
{
  const __m256i ones = _mm256_set1_epi16 (1);

  sums[0] = _mm256_add_epi32 (sums[0], _mm256_madd_epi16 (z, ones));
  sums[1] = _mm256_add_epi32 (sums[1], _mm256_madd_epi16 (z, z));
  for (int j = 1; j < n; j++)
    sums[j + 1] = _mm256_add_epi32 (
        sums[j + 1], _mm256_madd_epi16 (z, load (planes[j] + x)));
}

/* Returns the horizontal sums of four vectors. */
CUV_INLINE __m128i
totals (const __m256i *sums)
{
  __m256i low = _mm256_hadd_epi32 (sums[0], sums[1]);
  __m256i high = _mm256_hadd_epi32 (sums[2], sums[3]);
  __m256i quads = _mm256_hadd_epi32 (low, high);

  return _mm_add_epi32 (
      _mm256_castsi256_si128 (quads), _mm256_extracti128_si256 (quads, 1));
}

/* Computes the sum of plane i of a tile with i + n planes, then the n sums of
 * its products. n is a constant after inlining. */
CUV_INLINE void
sum_plane (const CuvRcdTile *tile, int i, int n, int32_t *out)
{
  const int x_rest = tile->width & ~15;
  const __m256i rest = first_samples (tile->width & 15);
  const int16_t *planes[CUV_RCD_MAX_FEATURES];
  __m256i sums[MAX_SUMS + 2];

  for (int j = 0; j < n; j++)
    planes[j] = tile->z[i + j];
  for (int j = 0; j < MAX_SUMS + 2; j++)
    sums[j] = _mm256_setzero_si256 ();
  for (int y = 0; y < tile->height; y++) {
    for (int x = 0; x < x_rest; x += 16)
      add_samples (sums, load (planes[0] + x), planes, n, x);
    if (x_rest < tile->width)
      add_samples (sums, _mm256_and_si256 (rest, load (planes[0] + x_rest)),
          planes, n, x_rest);
    for (int j = 0; j < n; j++)
      planes[j] += tile->pitch[i + j];
  }
  for (int j = 0; j <= n; j += 4)
    _mm_storeu_si128 ((__m128i *) (out + j), totals (sums + j));
}

#define CASE(n)                                                                \
  case n:                                                                      \
    sum_plane (tile, i, n, out);                                               \
    break

void
cuv_rcd_sums_avx2 (const CuvRcdTile *tile, int32_t *sums)
{
  int32_t *products = sums + tile->n;

  for (int i = 0; i < tile->n; i++) {
    const int n = tile->n - i;
    int32_t out[MAX_SUMS + 2];

    switch (n) {
      CASE (1);
      CASE (2);
      CASE (3);
      CASE (4);
      CASE (5);
      CASE (6);
      CASE (7);
      CASE (8);
      default:
        sum_plane (tile, i, 9, out);
    }
    sums[i] = out[0];
    for (int j = 0; j < n; j++)
      *products++ = out[1 + j];
  }
}
