/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entry point of the AVX2 version, which selects the code for a model. Also
 * resizes rows. */
#include "cpu/x86/waldboost-avx2.h"

/* ---- resize ---- */

#ifdef __x86_64__ /* NEON has no gather, so C needs fewer instructions */

/* Makes the vertical pass. Values are shifted by -32768 to fit signed 16
 * bits. */
static void
blend_rows (uint16_t *column, const uint8_t *top, const uint8_t *bottom, int n,
    int bottom_weight)
{
  const __m256i down = _mm256_set1_epi16 ((short) bottom_weight);
  const __m256i up = _mm256_set1_epi16 ((short) (256 - bottom_weight));
  int x;

  for (x = 0; x + 16 <= n; x += 16) {
    __m256i t = load_bytes (top + x);
    __m256i b = load_bytes (bottom + x);

    t = _mm256_add_epi16 (
        _mm256_mullo_epi16 (t, up), _mm256_mullo_epi16 (b, down));
    store (
        column + x, _mm256_xor_si256 (t, _mm256_set1_epi16 ((short) 0x8000)));
  }
  for (; x < n; x++)
    column[x] =
        (uint16_t) ((256 - bottom_weight) * top[x] + bottom_weight * bottom[x])
        ^ 0x8000;
  column[n] = 0; /* read with weight 0 */
}

/* Gathers pairs of elements faster than the gather instruction; the ascending
 * indices of each half must be less than 7 apart. */
CUV_INLINE __m256i
near_pairs (const uint16_t *column, __m256i index)
{
  const __m256i spread = _mm256_broadcastsi128_si256 (
      _mm_setr_epi8 (0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
  const __m256i bytes = _mm256_set1_epi32 (0x03020100);
  __m256i first = _mm256_shuffle_epi32 (index, 0);
  __m256i data = load_halves (column + _mm256_extract_epi32 (index, 0),
      column + _mm256_extract_epi32 (index, 4));
  __m256i at = _mm256_shuffle_epi8 (_mm256_sub_epi32 (index, first), spread);

  return _mm256_shuffle_epi8 (
      data, _mm256_add_epi8 (_mm256_add_epi8 (at, at), bytes));
}

/* Makes the horizontal pass, 8 pixels at a time. Returns the number of pixels
 * done. */
CUV_INLINE int
blend_columns (uint8_t *out, int width, const uint16_t *column,
    const CuvTap *taps, bool are_near)
{
  const __m256i half = _mm256_set1_epi32 ((128 << 16) + 32768);
  const __m256i low_halves = _mm256_set1_epi32 (256);
  int x;

  for (x = 0; x + 8 <= width; x += 8) {
    __m256 a = _mm256_castsi256_ps (load_halves (taps + x, taps + x + 4));
    __m256 b = _mm256_castsi256_ps (load_halves (taps + x + 2, taps + x + 6));
    __m256i index = _mm256_castps_si256 (_mm256_shuffle_ps (a, b, 0x88));
    __m256i weight = _mm256_castps_si256 (_mm256_shuffle_ps (a, b, 0xdd));
    __m256i pairs = are_near
        ? near_pairs (column, index)
        : _mm256_i32gather_epi32 ((const int *) column, index, 2);
    __m256i factors = _mm256_or_si256 (
        _mm256_slli_epi32 (weight, 16), _mm256_sub_epi32 (low_halves, weight));
    __m256i value = _mm256_srli_epi32 (
        _mm256_add_epi32 (_mm256_madd_epi16 (pairs, factors), half), 16);
    __m128i words = _mm_packs_epi32 (
        _mm256_castsi256_si128 (value), _mm256_extracti128_si256 (value, 1));

    _mm_storel_epi64 ((__m128i *) (out + x), _mm_packus_epi16 (words, words));
  }
  return x;
}

/* Rounds only once, at the end: the order of the two passes does not matter,
 * and the result equals that of cuv_resize_row(). Only columns that the taps
 * read are blended. */
static void
resize_row (uint8_t *out, int width, const uint8_t *top, const uint8_t *bottom,
    int n_in, int bottom_weight, const CuvTap *taps, uint16_t *column)
{
  const int first = taps[0].index, last = taps[width - 1].index;
  const int end = last + 2 < n_in ? last + 2 : n_in;
  int x;

  blend_rows (
      column + first, top + first, bottom + first, end - first, bottom_weight);
  /* the indices of four pixels are at most 6 apart */
  if (last - first <= 2 * (width - 1))
    x = blend_columns (out, width, column, taps, true);
  else
    x = blend_columns (out, width, column, taps, false);
  if (x < width)
    cuv_resize_row (
        out + x, width - x, top, bottom, n_in, bottom_weight, taps + x, column);
}

#endif

/* ---- entry point ---- */

CuvResizeRow
cuv_waldboost_resize_row_avx2 (void)
{
#ifdef __x86_64__
  return resize_row;
#else
  return cuv_resize_row;
#endif
}

void
cuv_waldboost_dsp_init_avx2 (
    CuvWaldboostDsp *self, const CuvWaldboostModel *model, ptrdiff_t stride)
{
  const CuvAvx2Version *version = model->arithmetic != CUV_SUM_STAGES
      ? &cuv_avx2_boost
      : model->feature == CUV_FEATURE_HAAR ? &cuv_avx2_haar
                                           : &cuv_avx2_lbp;
  CuvWaldboostTables *tables = version->tables_new (model, stride);

  if (tables != NULL) {
    *self = version->dsp;
    self->resize_row = cuv_waldboost_resize_row_avx2 ();
  }
  self->tables = tables;
}
