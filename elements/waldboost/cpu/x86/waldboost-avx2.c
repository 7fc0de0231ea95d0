/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entry of the AVX2 version, and the resize. */
#include "cpu/x86/waldboost-avx2.h"

/* ---- resize ---- */

#ifdef __x86_64__ /* NEON has no gather: C needs fewer instructions */

/* Vertical pass into column, then horizontal: exact in either order. Values are
 * shifted by 32768 to fit signed 16 bits. */
static void
resize_row (uint8_t *out, int width, const uint8_t *top, const uint8_t *bottom,
    int n_in, int bottom_weight, const CuvTap *taps, uint16_t *column)
{
  const __m256i down = _mm256_set1_epi16 ((short) bottom_weight);
  const __m256i up = _mm256_set1_epi16 ((short) (256 - bottom_weight));
  const __m256i half = _mm256_set1_epi32 ((128 << 16) + 32768);
  const __m256i low_halves = _mm256_set1_epi32 (256);
  const __m256i bytes =
      _mm256_setr_epi8 (0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
          -1, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  int x;

  for (x = 0; x + 16 <= n_in; x += 16) {
    __m256i t = load_bytes (top + x);
    __m256i b = load_bytes (bottom + x);

    t = _mm256_add_epi16 (
        _mm256_mullo_epi16 (t, up), _mm256_mullo_epi16 (b, down));
    store (
        column + x, _mm256_xor_si256 (t, _mm256_set1_epi16 ((short) 0x8000)));
  }
  for (; x < n_in; x++)
    column[x] =
        (uint16_t) ((256 - bottom_weight) * top[x] + bottom_weight * bottom[x])
        ^ 0x8000;
  column[n_in] = 0; /* read with weight 0 */

  for (x = 0; x + 8 <= width; x += 8) {
    const int *tap = (const int *) (taps + x);
    __m256i a = load (tap);
    __m256i b = load (tap + 8);
    /* indices, and weights, of taps 0 1 4 5 2 3 6 7 */
    __m256i index = _mm256_castps_si256 (_mm256_shuffle_ps (
        _mm256_castsi256_ps (a), _mm256_castsi256_ps (b), 0x88));
    __m256i weight = _mm256_castps_si256 (_mm256_shuffle_ps (
        _mm256_castsi256_ps (a), _mm256_castsi256_ps (b), 0xdd));
    __m256i pair = _mm256_i32gather_epi32 ((const int *) column, index, 2);
    __m256i factors = _mm256_or_si256 (
        _mm256_slli_epi32 (weight, 16), _mm256_sub_epi32 (low_halves, weight));
    __m256i value = _mm256_srli_epi32 (
        _mm256_add_epi32 (_mm256_madd_epi16 (pair, factors), half), 16);

    value = _mm256_permute4x64_epi64 (value, 0xd8);
    value = _mm256_shuffle_epi8 (value, bytes);
    _mm_storel_epi64 ((__m128i *) (out + x),
        _mm_unpacklo_epi32 (_mm256_castsi256_si128 (value),
            _mm256_extracti128_si256 (value, 1)));
  }
  if (x < width)
    cuv_resize_row (
        out + x, width - x, top, bottom, n_in, bottom_weight, taps + x, column);
}

#endif

/* ---- entry ---- */

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
