/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Votes: cells of 8 pixels at a time, incremented one by one. */
#include "cpu/x86/hough-avx2.h"
#include "cpu/hough-dsp-c.h"

#ifdef __aarch64__
/* NEON multiplies 32 bits as fast as 16. */
typedef struct {
  int32x4_t dx, dy, offset;
} Row;

static inline Row
broadcast_row (const CuvHoughRow *row)
{
  return (Row){ vdupq_n_s32 (row->dx), vdupq_n_s32 (row->dy),
    vdupq_n_s32 (row->offset) };
}

/* Returns the cells of 4 pixels. */
static inline int32x4_t
cells_of (const uint32_t *pixels, const Row *row)
{
  const uint32x4_t xy = vld1q_u32 (pixels);
  const int32x4_t x =
      vreinterpretq_s32_u32 (vandq_u32 (xy, vdupq_n_u32 (0xffff)));
  const int32x4_t y = vreinterpretq_s32_u32 (vshrq_n_u32 (xy, 16));

  return vshrq_n_s32 (
      vmlaq_s32 (vmlaq_s32 (row->offset, x, row->dx), y, row->dy), 16);
}

static inline void
store_cells (const uint32_t *pixels, const Row *row, int32_t *cells)
{
  for (int i = 0; i < 8; i += 4)
    vst1q_s32 (cells + i, cells_of (pixels + i, row));
}

static inline void
store_indices (
    const uint32_t *pixels, const Row rows[2], int stride, int32_t *indices)
{
  for (int i = 0; i < 8; i += 4) {
    const int32x4_t a = cells_of (pixels + i, &rows[0]);
    const int32x4_t b = cells_of (pixels + i, &rows[1]);

    vst1q_s32 (
        indices + i, vmlaq_s32 (a, vsubq_s32 (b, a), vdupq_n_s32 (stride)));
  }
}
#else
/* For computing x dx + y dy, where a 32-bit word holds x and y, both below
 * 2^14: dx and dy are split into 16-bit parts for madd. */
typedef struct {
  __m256i high, low, offset;
} Row;

#define LOW_BITS 11

static inline __m256i
halves (int32_t x, int32_t y)
{
  return _mm256_set1_epi32 ((int32_t) ((uint32_t) y << 16 | (x & 0xffff)));
}

static inline Row
broadcast_row (const CuvHoughRow *row)
{
  const int32_t low = (1 << LOW_BITS) - 1;

  return (Row){ halves (row->dx >> LOW_BITS, row->dy >> LOW_BITS),
    halves (row->dx & low, row->dy & low), _mm256_set1_epi32 (row->offset) };
}

/* Returns the cells of 8 pixels, times 2^16. */
static inline __m256i
values_of (__m256i xy, const Row *row)
{
  __m256i sum = _mm256_slli_epi32 (_mm256_madd_epi16 (xy, row->high), LOW_BITS);

  sum = _mm256_add_epi32 (sum, _mm256_madd_epi16 (xy, row->low));
  return _mm256_add_epi32 (sum, row->offset);
}

/* Stores the cells of 8 pixels. */
static inline void
store_cells (const uint32_t *pixels, const Row *row, int32_t *cells)
{
  store (cells, _mm256_srai_epi32 (values_of (load (pixels), row), 16));
}

/* Stores the indices of 8 pixels in a pair's table: a + (b - a) stride, with a
 * and b as the halves of a word. */
static inline void
store_indices (
    const uint32_t *pixels, const Row rows[2], int stride, int32_t *indices)
{
  const __m256i xy = load (pixels);
  const __m256i cells =
      _mm256_blend_epi16 (_mm256_srli_epi32 (values_of (xy, &rows[0]), 16),
          values_of (xy, &rows[1]), 0xaa);

  store (indices, _mm256_madd_epi16 (cells, halves (1 - stride, stride)));
}
#endif

/* Returns directions normalised to -90 <= angle < 90 degrees; packs y and
 * -x. */
static inline __m256i
direction_of (const int16_t *gx, const int16_t *gy)
{
  const __m256i zero = _mm256_setzero_si256 ();
  __m256i x = _mm256_cvtepi16_epi32 (_mm_loadu_si128 ((const __m128i *) gx));
  __m256i y = _mm256_cvtepi16_epi32 (_mm_loadu_si128 ((const __m128i *) gy));
  __m256i down = _mm256_and_si256 (
      _mm256_cmpeq_epi32 (x, zero), _mm256_cmpgt_epi32 (y, zero));
  __m256i turn = _mm256_or_si256 (_mm256_cmpgt_epi32 (zero, x), down);

  x = _mm256_sub_epi32 (_mm256_xor_si256 (x, turn), turn);
  y = _mm256_sub_epi32 (_mm256_xor_si256 (y, turn), turn);
  return _mm256_blend_epi16 (
      y, _mm256_slli_epi32 (_mm256_sub_epi32 (zero, x), 16), 0xaa);
}

/* Finds by binary search the last bin that starts no later than the
 * direction. */
static inline __m256i
bins_of (const CuvHoughLayout *layout, __m256i direction)
{
  const __m256i last = _mm256_set1_epi32 (layout->n_bins - 1);
  __m256i found = _mm256_setzero_si256 ();

  for (int bit = CUV_HOUGH_MAX_PERIOD / 2; bit > 0; bit /= 2) {
    __m256i g, boundary, after;

    if (bit >= layout->n_bins)
      continue;
    g = _mm256_add_epi32 (found, _mm256_set1_epi32 (bit));
    after = _mm256_cmpgt_epi32 (g, last);
    boundary = _mm256_i32gather_epi32 (
        (const int *) layout->boundaries, _mm256_min_epi32 (g, last), 4);
    after = _mm256_or_si256 (after,
        _mm256_cmpgt_epi32 (
            _mm256_setzero_si256 (), _mm256_madd_epi16 (boundary, direction)));
    found = _mm256_blendv_epi8 (g, found, after);
  }
  return found;
}

static void
bin (const CuvHoughLayout *layout, const int16_t *gx, const int16_t *gy, int n,
    uint16_t *bins)
{
  int i;

  for (i = 0; i + 8 <= n; i += 8) {
    __m256i g = bins_of (layout, direction_of (gx + i, gy + i));

    _mm_storeu_si128 ((__m128i *) (bins + i),
        _mm_packus_epi32 (
            _mm256_castsi256_si128 (g), _mm256_extracti128_si256 (g, 1)));
  }
  for (; i < n; i++)
    bins[i] = (uint16_t) cuv_hough_orientation_bin (layout, gx[i], gy[i]);
}

/* Counts the votes of n pixels, a multiple of 8, for one row or a pair. Indices
 * are stored AHEAD pixels before they are used, because a load soon after the
 * store of the vector that contains it stalls. */
CUV_INLINE void
count (const Row *rows, int n_rows, int stride, const uint32_t *pixels,
    size_t n, uint32_t *counts)
{
  enum { AHEAD = 128 };
  int32_t indices[2 * AHEAD];

  for (size_t at = 0; at < n + AHEAD; at += 8) {
    const int32_t *used = indices + (at - AHEAD) % (2 * AHEAD);

    if (at < n && n_rows == 1)
      store_cells (pixels + at, rows, indices + at % (2 * AHEAD));
    else if (at < n)
      store_indices (pixels + at, rows, stride, indices + at % (2 * AHEAD));
    if (at < AHEAD)
      continue;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
      counts[used[i]]++;
  }
}

static void
vote (
    const CuvHoughRow *row, const uint32_t *pixels, size_t n, uint32_t *middle)
{
  const Row r = broadcast_row (row);

  count (&r, 1, 0, pixels, n / 8 * 8, middle);
  cuv_vote (row, pixels + n / 8 * 8, n % 8, middle);
}

static void
vote_pair (
    const CuvHoughPair *pair, const uint32_t *pixels, size_t n, uint32_t *table)
{
  const Row rows[] = { broadcast_row (&pair->rows[0]),
    broadcast_row (&pair->rows[1]) };

  count (rows, 2, pair->stride, pixels, n / 8 * 8, table);
  cuv_vote_pair (pair, pixels + n / 8 * 8, n % 8, table);
}

static void
add_counts (uint32_t *counts, int n, uint32_t *a, uint32_t *b)
{
  int i;

  for (i = 0; i + 8 <= n; i += 8) {
    const __m256i added = load (counts + i);

    store (a + i, _mm256_add_epi32 (load (a + i), added));
    store (b + i, _mm256_add_epi32 (load (b + i), added));
    store (counts + i, _mm256_setzero_si256 ());
  }
  cuv_add_counts (counts + i, n - i, a + i, b + i);
}

/* Votes are below 2^31, so a signed comparison is correct. */
static int
hough_find_cells_avx2 (
    const uint32_t *cells, int n, uint32_t threshold, int32_t *found)
{
  const __m256i limit = _mm256_set1_epi32 (
      threshold < INT32_MAX ? (int32_t) threshold : INT32_MAX);
  int n_found = 0, i;

  for (i = 0; i + 8 <= n; i += 8) {
    unsigned mask = (unsigned) _mm256_movemask_ps (
        _mm256_castsi256_ps (_mm256_cmpgt_epi32 (load (cells + i), limit)));

    for (; mask != 0; mask &= mask - 1)
      found[n_found++] = i + __builtin_ctz (mask);
  }
  for (; i < n; i++) {
    if (cells[i] > threshold)
      found[n_found++] = i;
  }
  return n_found;
}

void
cuv_hough_dsp_init_avx2 (CuvHoughDsp *self)
{
  cuv_canny_dsp_init_avx2 (self);
  self->bin = bin;
  self->vote = vote;
  self->vote_pair = vote_pair;
  self->add_counts = add_counts;
  self->gather = cuv_gather_avx2;
  self->find_cells = hough_find_cells_avx2;
  self->gather_threshold = 75;
}
