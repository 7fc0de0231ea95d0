/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inner loops over rows of pixels in AVX2. The loops over windows are in
 * scan-avx2.c. */
#include "channels/cpu/x86/channels-avx2.h"

#include "channels/cpu/channels-rows.h"
#include "cuvavx2.h"

/* ---- gradients ---- */

/* Gradients of 16 pixels, and the squares of their lengths: low: squares of
 * pixels 0 to 3 and 8 to 11, high: squares of the others. */
typedef struct {
  __m256i dx, dy, low, high;
} Gradients;

CUV_INLINE Gradients
gradients_of (const CuvChannelsRows *rows, int x)
{
  Gradients self;
  __m256i a, b;

  self.dx = _mm256_sub_epi16 (
      load_bytes (rows->at + x + 1), load_bytes (rows->at + x - 1));
  self.dy = _mm256_sub_epi16 (
      load_bytes (rows->below + x), load_bytes (rows->above + x));
  a = _mm256_unpacklo_epi16 (self.dx, self.dy);
  b = _mm256_unpackhi_epi16 (self.dx, self.dy);
  self.low = _mm256_madd_epi16 (a, a);
  self.high = _mm256_madd_epi16 (b, b);
  return self;
}

/* Returns the longer of two gradients of each pixel, or a's if both are equally
 * long. */
CUV_INLINE Gradients
longer_of (Gradients a, Gradients b)
{
  const __m256i low = _mm256_cmpgt_epi32 (b.low, a.low);
  const __m256i high = _mm256_cmpgt_epi32 (b.high, a.high);
  const __m256i both = _mm256_packs_epi32 (low, high);

  return (Gradients){ _mm256_blendv_epi8 (a.dx, b.dx, both),
    _mm256_blendv_epi8 (a.dy, b.dy, both),
    _mm256_blendv_epi8 (a.low, b.low, low),
    _mm256_blendv_epi8 (a.high, b.high, high) };
}

CUV_INLINE __m256i
roots_of (__m256i squares)
{
  return _mm256_cvttps_epi32 (_mm256_sqrt_ps (_mm256_cvtepi32_ps (squares)));
}

/* Returns all ones in each unsigned 16-bit element where a <= b. */
CUV_INLINE __m256i
is_at_most (__m256i a, __m256i b)
{
  return _mm256_cmpeq_epi16 (_mm256_subs_epu16 (a, b), _mm256_setzero_si256 ());
}

/* Computes cuv_channels_direction() with products of at most 209 x 255,
 * which fit in 16 bits. An angle whose tangent is exactly 209 / 56 belongs
 * to step 3. */
CUV_INLINE __m256i
directions_of (const Gradients *self)
{
  const __m256i across = _mm256_abs_epi16 (self->dx);
  const __m256i down = _mm256_abs_epi16 (self->dy);
  const __m256i times_56 = _mm256_set1_epi16 (56);
  const __m256i times_209 = _mm256_set1_epi16 (209);
  const __m256i to_15 = is_at_most (_mm256_mullo_epi16 (down, times_209),
      _mm256_mullo_epi16 (across, times_56));
  const __m256i to_45 = is_at_most (down, across);
  const __m256i from_75 = is_at_most (_mm256_mullo_epi16 (across, times_209),
      _mm256_mullo_epi16 (down, times_56));
  const __m256i steps = _mm256_andnot_si256 (to_15,
      _mm256_sub_epi16 (
          _mm256_add_epi16 (_mm256_set1_epi16 (2), to_45), from_75));
  const __m256i falls = _mm256_and_si256 (
      _mm256_srai_epi16 (_mm256_xor_si256 (self->dx, self->dy), 15),
      _mm256_cmpgt_epi16 (steps, _mm256_setzero_si256 ()));

  return _mm256_blendv_epi8 (steps,
      _mm256_sub_epi16 (_mm256_set1_epi16 (CUV_CHANNELS_BINS), steps), falls);
}

static void
gradient_row (const CuvChannelsRows planes[CUV_CHANNELS_COLORS], int width,
    uint16_t *magnitudes, uint8_t *bins)
{
  for (int x = 0; x < width; x += 16) {
    const Gradients two =
        longer_of (gradients_of (&planes[0], x), gradients_of (&planes[1], x));
    const Gradients all = longer_of (two, gradients_of (&planes[2], x));
    const __m256i steps = directions_of (&all);

    store (magnitudes + x,
        _mm256_packs_epi32 (roots_of (all.low), roots_of (all.high)));
    _mm_storeu_si128 ((__m128i *) (bins + x),
        _mm_packus_epi16 (_mm256_castsi256_si128 (steps),
            _mm256_extracti128_si256 (steps, 1)));
  }
}

/* ---- surroundings ---- */

CUV_INLINE __m256i
sum_of_11 (const uint16_t *sums)
{
  __m256i sum = load (sums - CUV_CHANNELS_RADIUS);

  for (int i = 1 - CUV_CHANNELS_RADIUS; i <= CUV_CHANNELS_RADIUS; i++)
    sum = _mm256_add_epi16 (sum, load (sums + i));
  return sum;
}

/* Returns floor (a / b) of 16-bit integers in 32-bit elements. For b below 512
 * rounding to float does not change the result: a quotient below an integer
 * stays below it. */
CUV_INLINE __m256i
quotients (__m256i a, __m256i b)
{
  return _mm256_cvttps_epi32 (
      _mm256_div_ps (_mm256_cvtepi32_ps (a), _mm256_cvtepi32_ps (b)));
}

static void
normalise_row (
    const uint16_t *magnitudes, const uint16_t *sums, int width, uint8_t *out)
{
  const __m256i zero = _mm256_setzero_si256 ();

  for (int x = 0; x < width; x += 16) {
    /* floor (sum / 121): 34664 x 121 is 2^22 + 40, so the result is exact for
     * sums below 2^22 / 40, and thus for all 16-bit sums */
    const __m256i mean =
        _mm256_srli_epi16 (_mm256_mulhi_epu16 (sum_of_11 (sums + x),
                               _mm256_set1_epi16 ((short) 34664)),
            6);
    const __m256i divisor =
        _mm256_add_epi16 (mean, _mm256_set1_epi16 (CUV_CHANNELS_FLOOR));
    const __m256i value = _mm256_slli_epi16 (load (magnitudes + x), 7);
    const __m256i low = quotients (_mm256_unpacklo_epi16 (value, zero),
        _mm256_unpacklo_epi16 (divisor, zero));
    const __m256i high = quotients (_mm256_unpackhi_epi16 (value, zero),
        _mm256_unpackhi_epi16 (divisor, zero));
    const __m256i words = _mm256_packus_epi32 (low, high);

    _mm_storeu_si128 ((__m128i *) (out + x),
        _mm_packus_epi16 (_mm256_castsi256_si128 (words),
            _mm256_extracti128_si256 (words, 1)));
  }
}

static void
move_sums (uint16_t *sums, const uint16_t *in, const uint16_t *out, int width)
{
  cuv_channels_move_sums (sums, in, out, width);
}

static void
smooth_row (const uint16_t *above, const uint16_t *at, const uint16_t *below,
    int columns, int shift, uint8_t *out)
{
  cuv_channels_smooth_row (above, at, below, columns, shift, out);
}

/* ---- blocks ---- */

/* Writes the sums of adjacent pairs of 16 words. */
CUV_INLINE void
store_pairs (uint16_t *out, __m256i words)
{
  const __m256i pairs = _mm256_madd_epi16 (words, _mm256_set1_epi16 (1));

  _mm_storeu_si128 ((__m128i *) out,
      _mm_packus_epi32 (
          _mm256_castsi256_si128 (pairs), _mm256_extracti128_si256 (pairs, 1)));
}

/* Sums each of 16 columns over shrink rows, for each colour channel. */
CUV_INLINE void
add_colors (const uint8_t *const rows[CUV_CHANNELS_COLORS][4], int shrink,
    int x, __m256i sum[CUV_CHANNELS_COLORS])
{
  for (int i = 0; i < CUV_CHANNELS_COLORS; i++)
    sum[i] = _mm256_setzero_si256 ();
  for (int y = 0; y < shrink; y++) {
    const __m256i r = load_bytes (rows[0][y] + x);
    const __m256i g = load_bytes (rows[1][y] + x);
    const __m256i b = load_bytes (rows[2][y] + x);
    const __m256i both = _mm256_add_epi16 (r, b);
    const __m256i twice = _mm256_add_epi16 (g, g);
    const __m256i luma = _mm256_add_epi16 (
        _mm256_add_epi16 (both, twice), _mm256_set1_epi16 (2));
    const __m256i red =
        _mm256_add_epi16 (_mm256_sub_epi16 (r, b), _mm256_set1_epi16 (256));
    const __m256i green = _mm256_add_epi16 (
        _mm256_sub_epi16 (twice, both), _mm256_set1_epi16 (512));

    sum[0] = _mm256_add_epi16 (sum[0], _mm256_srli_epi16 (luma, 2));
    sum[1] = _mm256_add_epi16 (sum[1], _mm256_srli_epi16 (red, 1));
    sum[2] = _mm256_add_epi16 (sum[2], _mm256_srli_epi16 (green, 2));
  }
}

/* Writes the sums of adjacent groups of four words, eight sums in total. */
CUV_INLINE void
store_fours (uint16_t *out, __m256i first, __m256i second)
{
  const __m256i one = _mm256_set1_epi16 (1);
  const __m256i sums = _mm256_permute4x64_epi64 (
      _mm256_hadd_epi32 (
          _mm256_madd_epi16 (first, one), _mm256_madd_epi16 (second, one)),
      0xd8);

  _mm_storeu_si128 ((__m128i *) out,
      _mm_packus_epi32 (
          _mm256_castsi256_si128 (sums), _mm256_extracti128_si256 (sums, 1)));
}

static void
sum_colors (const uint8_t *const rows[CUV_CHANNELS_COLORS][4], int shrink,
    int columns, uint16_t *sums, ptrdiff_t pitch)
{
  __m256i first[CUV_CHANNELS_COLORS], second[CUV_CHANNELS_COLORS];

  for (int at = 0; shrink == 4 && at < columns; at += 8) {
    add_colors (rows, 4, 4 * at, first);
    add_colors (rows, 4, 4 * at + 16, second);
    for (int i = 0; i < CUV_CHANNELS_COLORS; i++)
      store_fours (sums + i * pitch + at, first[i], second[i]);
  }
  for (int at = 0; shrink == 2 && at < columns; at += 8) {
    add_colors (rows, 2, 2 * at, first);
    for (int i = 0; i < CUV_CHANNELS_COLORS; i++)
      store_pairs (sums + i * pitch + at, first[i]);
  }
}

/* Sums adjacent pairs of 32 columns over shrink rows: sum[0] is that of all
 * magnitudes, sum[1 + i] that of the magnitudes of direction i. */
CUV_INLINE void
add_gradients (const uint8_t *const magnitudes[4], const uint8_t *const bins[4],
    int shrink, int x, __m256i sum[1 + CUV_CHANNELS_BINS])
{
  const __m256i one = _mm256_set1_epi8 (1);

  for (int i = 0; i <= CUV_CHANNELS_BINS; i++)
    sum[i] = _mm256_setzero_si256 ();
  for (int y = 0; y < shrink; y++) {
    const __m256i value = load (magnitudes[y] + x);
    const __m256i bin = load (bins[y] + x);

    sum[0] = _mm256_add_epi16 (sum[0], _mm256_maddubs_epi16 (value, one));
    for (int i = 0; i < CUV_CHANNELS_BINS; i++) {
      const __m256i part = _mm256_and_si256 (
          value, _mm256_cmpeq_epi8 (bin, _mm256_set1_epi8 ((char) i)));

      sum[1 + i] =
          _mm256_add_epi16 (sum[1 + i], _mm256_maddubs_epi16 (part, one));
    }
  }
}

static void
sum_gradients (const uint8_t *const magnitudes[4], const uint8_t *const bins[4],
    int shrink, int columns, uint16_t *sums, ptrdiff_t pitch)
{
  __m256i sum[1 + CUV_CHANNELS_BINS];

  for (int at = 0; shrink == 4 && at < columns; at += 8) {
    add_gradients (magnitudes, bins, 4, 4 * at, sum);
    for (int i = 0; i <= CUV_CHANNELS_BINS; i++)
      store_pairs (sums + i * pitch + at, sum[i]);
  }
  for (int at = 0; shrink == 2 && at < columns; at += 16) {
    add_gradients (magnitudes, bins, 2, 2 * at, sum);
    for (int i = 0; i <= CUV_CHANNELS_BINS; i++)
      store (sums + i * pitch + at, sum[i]);
  }
}

const CuvChannelsDsp cuv_channels_dsp_avx2 = { NULL, gradient_row, move_sums,
  normalise_row, sum_colors, sum_gradients, smooth_row,
  cuv_channels_scan_row_avx2 };
