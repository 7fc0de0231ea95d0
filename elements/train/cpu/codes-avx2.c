/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the codes of eight samples at a time, in one lane for each
 * sample. */
#include "cuvavx2.h"
#include "cpu/codes.h"

/* Computes the integral images of an area in all samples: each element is a
 * vector of lanes. */
static void
sum_pixels (const uint8_t *pixels, int width, int height, CuvTrainArea area,
    uint32_t *sums)
{
  const ptrdiff_t size = (ptrdiff_t) width * height;
  const ptrdiff_t row = (ptrdiff_t) (width + 1) * CUV_TRAIN_LANES;

  for (int x = area.left; x <= area.right; x++)
    store (
        sums + area.top * row + x * CUV_TRAIN_LANES, _mm256_setzero_si256 ());
  for (int y = area.top; y < area.bottom; y++) {
    uint32_t *out = sums + (y + 1) * row + area.left * CUV_TRAIN_LANES;
    __m256i total = _mm256_setzero_si256 ();

    store (out, total);
    for (int x = area.left; x < area.right; x++) {
      const uint8_t *at = pixels + (ptrdiff_t) y * width + x;

      total = _mm256_add_epi32 (total,
          _mm256_setr_epi32 (at[0], at[size], at[2 * size], at[3 * size],
              at[4 * size], at[5 * size], at[6 * size], at[7 * size]));
      out += CUV_TRAIN_LANES;
      store (out, _mm256_add_epi32 (load (out - row), total));
    }
  }
}

/* Computes the sums of 3x3 blocks. */
static inline void
sum_blocks (
    const uint32_t *sums, int width, const CuvGridNode *node, __m256i values[9])
{
  const ptrdiff_t row = (ptrdiff_t) (width + 1) * CUV_TRAIN_LANES;
  const ptrdiff_t across = (ptrdiff_t) node->width * CUV_TRAIN_LANES;
  const uint32_t *at = sums + node->y * row + node->x * CUV_TRAIN_LANES;

  for (int y = 0; y < 3; y++) {
    const uint32_t *below = at + node->height * row;
    __m256i left = _mm256_sub_epi32 (load (below), load (at));

    for (int x = 0; x < 3; x++) {
      const ptrdiff_t right_of = (x + 1) * across;
      __m256i right =
          _mm256_sub_epi32 (load (below + right_of), load (at + right_of));

      values[3 * y + x] = _mm256_sub_epi32 (right, left);
      left = right;
    }
    at = below;
  }
}

/* Computes local binary patterns. The result of a true comparison is -1. */
static inline __m256i
binary_pattern (const __m256i values[9], bool inclusive)
{
  static const int clockwise[8] = { 0, 1, 2, 5, 8, 7, 6, 3 };
  __m256i code = _mm256_setzero_si256 ();

  for (int i = 0; i < 8; i++) {
    __m256i neighbour = values[clockwise[i]];
    __m256i set = inclusive ? _mm256_xor_si256 (_mm256_set1_epi32 (-1),
                      _mm256_cmpgt_epi32 (values[4], neighbour))
                            : _mm256_cmpgt_epi32 (neighbour, values[4]);

    code = _mm256_sub_epi32 (_mm256_add_epi32 (code, code), set);
  }
  return code;
}

static inline __m256i
rank (const __m256i values[9], int k)
{
  __m256i n = _mm256_setzero_si256 ();

  for (int i = 0; i < 9; i++)
    n = _mm256_sub_epi32 (n, _mm256_cmpgt_epi32 (values[k], values[i]));
  return n;
}

static inline __m256i
code_of (const CuvTrainFeatures *features, const CuvGridNode *node,
    const __m256i values[9])
{
  if (features->feature == CUV_FEATURE_LBP)
    return binary_pattern (values, features->cascade);
  if (features->feature == CUV_FEATURE_LRD)
    return _mm256_add_epi32 (_mm256_set1_epi32 (8),
        _mm256_sub_epi32 (rank (values, node->a), rank (values, node->b)));
  return _mm256_add_epi32 (rank (values, node->a),
      _mm256_mullo_epi32 (rank (values, node->b), _mm256_set1_epi32 (10)));
}

/* Stores the lowest byte of each lane. */
static inline void
store_bytes (uint8_t *to, __m256i codes)
{
  __m128i words = _mm_packus_epi32 (
      _mm256_castsi256_si128 (codes), _mm256_extracti128_si256 (codes, 1));

  _mm_storel_epi64 ((__m128i *) to, _mm_packus_epi16 (words, words));
}

void
cuv_train_codes_avx2 (const CuvTrainFeatures *features, CuvTrainArea area,
    const uint8_t *pixels, uint32_t *sums, uint8_t *codes, size_t pitch)
{
  sum_pixels (
      pixels, features->window_width, features->window_height, area, sums);
  for (int32_t f = 0; f < features->n; f++) {
    const CuvGridNode *node = &features->nodes[f];
    __m256i values[9];

    sum_blocks (sums, features->window_width, node, values);
    store_bytes (codes + (size_t) f * pitch, code_of (features, node, values));
  }
}
