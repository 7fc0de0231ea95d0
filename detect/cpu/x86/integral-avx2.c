/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes rows of integral images, 16 pixels at a time. */
#include "cpu/x86/waldboost-avx2.h"

/* Shuffle masks that broadcast the last element of each half. */
#define LAST_OF_16 _mm256_set1_epi16 (0x0f0e)
#define LAST_OF_32 _mm256_set1_epi32 (0x0f0e0d0c)

/* Returns the last element of the lower half, broadcast to the upper half; the
 * lower half is 0. */
static inline __m256i
lower_total (__m256i sums, __m256i last)
{
  return _mm256_shuffle_epi8 (_mm256_permute2x128_si256 (sums, sums, 8), last);
}

/* Returns the inclusive scan of 16 values of 16 bits. */
static inline __m256i
inclusive_scan_16 (__m256i v, __m256i last)
{
  v = _mm256_add_epi16 (v, _mm256_slli_si256 (v, 2));
  v = _mm256_add_epi16 (v, _mm256_slli_si256 (v, 4));
  v = _mm256_add_epi16 (v, _mm256_slli_si256 (v, 8));
  return _mm256_add_epi16 (v, lower_total (v, last));
}

/* Returns the inclusive scan of 8 values of 32 bits. */
static inline __m256i
inclusive_scan_32 (__m256i v, __m256i last)
{
  v = _mm256_add_epi32 (v, _mm256_slli_si256 (v, 4));
  v = _mm256_add_epi32 (v, _mm256_slli_si256 (v, 8));
  return _mm256_add_epi32 (v, lower_total (v, last));
}

/* ---- 16 bits ---- */

static inline __m128i
add_above_16 (__m128i sums, const uint16_t *above)
{
  return _mm_add_epi16 (sums, _mm_loadu_si128 ((const __m128i *) above));
}

/* Stores even columns, then odd ones. */
CUV_INLINE void
put_16_at_2 (uint16_t *out, const uint16_t *above, ptrdiff_t odd, __m256i sums)
{
  const __m256i apart = _mm256_broadcastsi128_si256 (
      _mm_setr_epi8 (0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  __m256i parts =
      _mm256_permute4x64_epi64 (_mm256_shuffle_epi8 (sums, apart), 0xd8);

  _mm_storeu_si128 ((__m128i *) (out + odd),
      add_above_16 (_mm256_castsi256_si128 (parts), above + odd));
  _mm_storeu_si128 ((__m128i *) (out + 1),
      add_above_16 (_mm256_extracti128_si256 (parts, 1), above + 1));
}

/* Stores columns grouped by their remainder modulo 4. */
CUV_INLINE void
put_16_at_4 (uint16_t *out, const uint16_t *above, ptrdiff_t part, __m256i sums)
{
  const __m256i apart = _mm256_broadcastsi128_si256 (
      _mm_setr_epi8 (0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
  const __m256i by_part = _mm256_setr_epi32 (0, 4, 1, 5, 2, 6, 3, 7);
  uint64_t four[4];

  store (four,
      _mm256_permutevar8x32_epi32 (_mm256_shuffle_epi8 (sums, apart), by_part));
  for (int i = 0; i < 4; i++) {
    ptrdiff_t at = i < 3 ? (i + 1) * part : 1;

    _mm_storel_epi64 ((__m128i *) (out + at),
        _mm_add_epi16 (_mm_loadl_epi64 ((const __m128i *) &four[i]),
            _mm_loadl_epi64 ((const __m128i *) (above + at))));
  }
}

/* Computes a row as far as whole groups of 16 pixels. Returns the number of
 * pixels done; *total is set to their sum. */
CUV_INLINE int
add_row_16 (uint16_t *out, const uint16_t *above, const uint8_t *grey,
    int width, int step, ptrdiff_t part, uint16_t *total)
{
  const __m256i last = LAST_OF_16;
  __m256i before = _mm256_setzero_si256 ();
  int x;

  for (x = 0; x + 16 <= width; x += 16) {
    __m256i scan = inclusive_scan_16 (load_bytes (grey + x), last);
    __m256i sums = _mm256_add_epi16 (scan, before);

    if (step == 1)
      store (out + x + 1, _mm256_add_epi16 (sums, load (above + x + 1)));
    else if (step == 2)
      put_16_at_2 (out + x / 2, above + x / 2, part, sums);
    else
      put_16_at_4 (out + x / 4, above + x / 4, part, sums);
    scan = _mm256_permute4x64_epi64 (scan, 0xff);
    before = _mm256_add_epi16 (before, _mm256_shuffle_epi8 (scan, last));
  }
  *total = (uint16_t) _mm256_extract_epi16 (before, 0);
  return x;
}

void
cuv_avx2_sum_row_16 (void *sums, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride)
{
  uint16_t *out = sums, total = 0;
  const uint16_t *in = above;
  int layout = cuv_avx2_layout (step), x = 0;

  out[0] = 0;
  if (step == 1)
    x = add_row_16 (out, in, grey, width, 1, 0, &total);
  else if (step == 2)
    x = add_row_16 (out, in, grey, width, 2, stride / 2, &total);
  else if (step == 4)
    x = add_row_16 (out, in, grey, width, 4, stride / 4, &total);
  for (; x < width; x++) {
    int at = cuv_avx2_column (x + 1, layout, stride);

    total += grey[x];
    out[at] = in[at] + total;
  }
}

/* ---- 32 bits ---- */

/* The scans of pixels or squares 0 to 7 and 8 to 15. */
typedef struct {
  __m256i first, second;
} Sums;

static inline Sums
scan_pixels (const uint8_t *grey, bool squares)
{
  __m256i v = load_bytes (grey), last = LAST_OF_32;
  Sums sums;

  if (!squares) {
    v = inclusive_scan_16 (v, LAST_OF_16);
    sums.first = _mm256_cvtepu16_epi32 (_mm256_castsi256_si128 (v));
    sums.second = _mm256_cvtepu16_epi32 (_mm256_extracti128_si256 (v, 1));
    return sums;
  }
  v = _mm256_mullo_epi16 (v, v);
  sums.first = _mm256_cvtepu16_epi32 (_mm256_castsi256_si128 (v));
  sums.second = _mm256_cvtepu16_epi32 (_mm256_extracti128_si256 (v, 1));
  sums.first = inclusive_scan_32 (sums.first, last);
  sums.second = _mm256_add_epi32 (inclusive_scan_32 (sums.second, last),
      _mm256_shuffle_epi8 (_mm256_permute4x64_epi64 (sums.first, 0xff), last));
  return sums;
}

static inline void
put_32 (uint32_t *out, const uint32_t *above, __m256i sums, __m256i before)
{
  store (out, _mm256_add_epi32 (_mm256_add_epi32 (sums, load (above)), before));
}

/* Returns every other element, starting with the first or the second. */
static inline __m256i
every_second (Sums sums, int second)
{
  __m256 a = _mm256_castsi256_ps (sums.first);
  __m256 b = _mm256_castsi256_ps (sums.second);

  return _mm256_permute4x64_epi64 (
      _mm256_castps_si256 (second ? _mm256_shuffle_ps (a, b, 0xdd)
                                  : _mm256_shuffle_ps (a, b, 0x88)),
      0xd8);
}

CUV_INLINE int
add_row_32 (uint32_t *out, const uint32_t *above, const uint8_t *grey,
    int width, int step, ptrdiff_t odd, bool squares, uint32_t *total)
{
  __m256i before = _mm256_setzero_si256 ();
  int x;

  for (x = 0; x + 16 <= width; x += 16) {
    Sums sums = scan_pixels (grey + x, squares);

    if (step == 1) {
      put_32 (out + x + 1, above + x + 1, sums.first, before);
      put_32 (out + x + 9, above + x + 9, sums.second, before);
    } else {
      uint32_t *at = out + x / 2;
      const uint32_t *above_at = above + x / 2;

      put_32 (at + odd, above_at + odd, every_second (sums, 0), before);
      put_32 (at + 1, above_at + 1, every_second (sums, 1), before);
    }
    before = _mm256_add_epi32 (before,
        _mm256_permutevar8x32_epi32 (sums.second, _mm256_set1_epi32 (7)));
  }
  *total = (uint32_t) _mm256_cvtsi256_si32 (before);
  return x;
}

static inline void
row_32 (uint32_t *out, const uint32_t *above, const uint8_t *grey, int width,
    int step, ptrdiff_t stride, bool squares)
{
  int layout = cuv_avx2_layout (step), x = 0;
  uint32_t total = 0;

  out[0] = 0;
  if (step == 1)
    x = add_row_32 (out, above, grey, width, 1, 0, squares, &total);
  else if (step == 2)
    x = add_row_32 (out, above, grey, width, 2, stride / 2, squares, &total);
  for (; x < width; x++) {
    int at = cuv_avx2_column (x + 1, layout, stride);

    total += (uint32_t) (squares ? grey[x] * grey[x] : grey[x]);
    out[at] = above[at] + total;
  }
}

void
cuv_avx2_sum_row_32 (void *sums, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride)
{
  row_32 (sums, above, grey, width, step, stride, false);
}

void
cuv_avx2_square_row_32 (void *squares, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride)
{
  row_32 (squares, above, grey, width, step, stride, true);
}

/* ---- tilted ---- */

/* Returns 16 pixels plus the pixels above them. */
static inline __m256i
pixel_pairs (const uint8_t *grey, const uint8_t *grey_above)
{
  return _mm256_add_epi16 (load_bytes (grey), load_bytes (grey_above));
}

/* Writes 8 elements: left and right neighbours in the row above, minus the same
 * columns two rows above, plus pixels. */
static inline void
put_tilted (uint32_t *out, const uint32_t *left, const uint32_t *right,
    const uint32_t *two_up, __m256i pair)
{
  __m256i sum = _mm256_sub_epi32 (
      _mm256_add_epi32 (load (left), load (right)), load (two_up));

  store (out, _mm256_add_epi32 (sum, pair));
}

/* Computes the elements of whole groups of 16 columns; returns the first column
 * that remains. At step 2, odd columns, whose neighbours are in the even half,
 * precede even columns, whose neighbours are in the odd half. */
CUV_INLINE int
add_tilted_row (uint32_t *out, const uint32_t *one_up, const uint32_t *two_up,
    const uint8_t *grey, const uint8_t *grey_above, int width, int step,
    ptrdiff_t odd)
{
  const __m256i low = _mm256_set1_epi32 (0xffff);
  int x;

  for (x = 1; x + 16 <= width; x += 16) {
    __m256i pairs = pixel_pairs (grey + x - 1, grey_above + x - 1);
    int i = x / 2;

    if (step == 1) {
      put_tilted (out + x, one_up + x - 1, one_up + x + 1, two_up + x,
          _mm256_cvtepu16_epi32 (_mm256_castsi256_si128 (pairs)));
      put_tilted (out + x + 8, one_up + x + 7, one_up + x + 9, two_up + x + 8,
          _mm256_cvtepu16_epi32 (_mm256_extracti128_si256 (pairs, 1)));
    } else {
      put_tilted (out + odd + i, one_up + i, one_up + i + 1, two_up + odd + i,
          _mm256_and_si256 (pairs, low));
      put_tilted (out + i + 1, one_up + odd + i, one_up + odd + i + 1,
          two_up + i + 1, _mm256_srli_epi32 (pairs, 16));
    }
  }
  return x;
}

void
cuv_avx2_tilted_row_32 (void *tilted, const void *above, const void *two_above,
    const uint8_t *grey, const uint8_t *grey_above, int width, int step,
    ptrdiff_t stride)
{
  uint32_t *out = tilted;
  const uint32_t *one_up = above, *two_up = two_above;
  int layout = cuv_avx2_layout (step), x = 1, left, at, right;

  out[0] = one_up[cuv_avx2_column (1, layout, stride)];
  if (step == 1)
    x = add_tilted_row (out, one_up, two_up, grey, grey_above, width, 1, 0);
  else if (step == 2)
    x = add_tilted_row (
        out, one_up, two_up, grey, grey_above, width, 2, stride / 2);
  for (; x <= width; x++) {
    left = cuv_avx2_column (x - 1, layout, stride);
    at = cuv_avx2_column (x, layout, stride);
    right = cuv_avx2_column (x + 1, layout, stride);
    out[at] = one_up[left] + grey[x - 1] + grey_above[x - 1];
    if (x < width)
      out[at] += one_up[right] - two_up[at];
  }
}
