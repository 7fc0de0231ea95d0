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
row_of (const CuvHoughRow *row)
{
  return (Row){ vdupq_n_s32 (row->dx), vdupq_n_s32 (row->dy),
    vdupq_n_s32 (row->offset) };
}

/* The cells of 8 pixels. */
static inline void
store_cells (const uint32_t *pixels, const Row *row, int32_t *cells)
{
  for (int i = 0; i < 8; i += 4) {
    const uint32x4_t xy = vld1q_u32 (pixels + i);
    const int32x4_t x =
        vreinterpretq_s32_u32 (vandq_u32 (xy, vdupq_n_u32 (0xffff)));
    const int32x4_t y = vreinterpretq_s32_u32 (vshrq_n_u32 (xy, 16));

    vst1q_s32 (cells + i,
        vshrq_n_s32 (
            vmlaq_s32 (vmlaq_s32 (row->offset, x, row->dx), y, row->dy), 16));
  }
}
#else
/* For x dx + y dy, where a 32-bit word holds x and y, both below 2^14: dx and
 * dy are split into 16-bit parts for madd. */
typedef struct {
  __m256i high, low, offset;
} Row;

#define LOW_BITS 11

static inline __m256i
pair (int32_t x, int32_t y)
{
  return _mm256_set1_epi32 ((int32_t) ((uint32_t) y << 16 | (x & 0xffff)));
}

static inline Row
row_of (const CuvHoughRow *row)
{
  const int32_t low = (1 << LOW_BITS) - 1;

  return (Row){ pair (row->dx >> LOW_BITS, row->dy >> LOW_BITS),
    pair (row->dx & low, row->dy & low), _mm256_set1_epi32 (row->offset) };
}

/* The cells of 8 pixels. */
static inline void
store_cells (const uint32_t *pixels, const Row *row, int32_t *cells)
{
  __m256i xy = load (pixels);
  __m256i sum = _mm256_slli_epi32 (_mm256_madd_epi16 (xy, row->high), LOW_BITS);

  sum = _mm256_add_epi32 (sum, _mm256_madd_epi16 (xy, row->low));
  _mm256_store_si256 ((__m256i *) cells,
      _mm256_srai_epi32 (_mm256_add_epi32 (sum, row->offset), 16));
}
#endif

/* Normalises to -90 <= angle < 90 degrees; packs y and -x. */
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

/* Binary search for the last bin that starts no later than the direction. */
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

/* Interleaves rows and pixel halves: adjacent pixels are often in the same
 * cell, whose increment must be stored before it is loaded again. */
CUV_INLINE void
vote_n (const CuvVoteSpan *spans, int n_spans, size_t first, size_t end)
{
  _Alignas(32) int32_t cells[CUV_SLICE_ROWS][2][8];
  const size_t half = (end - first) / 16 * 8;
  Row rows[CUV_SLICE_ROWS];

  for (int i = 0; i < n_spans; i++)
    rows[i] = row_of (spans[i].row);
  for (size_t at = first; at < first + half; at += 8) {
    for (int i = 0; i < n_spans; i++) {
      store_cells (spans[i].pixels + at, &rows[i], cells[i][0]);
      store_cells (spans[i].pixels + at + half, &rows[i], cells[i][1]);
    }
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) {
      for (int i = 0; i < n_spans; i++)
        spans[i].middle[cells[i][0][j]]++;
      for (int i = 0; i < n_spans; i++)
        spans[i].middle[cells[i][1][j]]++;
    }
  }
}

static void
vote_rest (const CuvVoteSpan *span, size_t first)
{
  vote_n (span, 1, first, span->n);
  for (size_t at = first + (span->n - first) / 16 * 16; at < span->n; at++)
    span->middle[cuv_hough_cell (span->row, (int) (span->pixels[at] & 0xffff),
        (int) (span->pixels[at] >> 16))]++;
}

static void
vote (const CuvVoteSpan spans[CUV_SLICE_ROWS])
{
  size_t n = spans[0].n;

  for (int i = 1; i < CUV_SLICE_ROWS; i++)
    n = spans[i].n < n ? spans[i].n : n;
  n = n / 16 * 16;
  if (n > 0)
    vote_n (spans, CUV_SLICE_ROWS, 0, n);
  for (int i = 0; i < CUV_SLICE_ROWS; i++) {
    if (spans[i].n > n)
      vote_rest (&spans[i], n);
  }
}

/* Votes are below 2^31. */
static int
find_cells (const uint32_t *cells, int n, uint32_t threshold, int32_t *found)
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
  self->gather = cuv_gather_avx2;
  self->flush = cuv_flush; /* vectorised with AVX2 here */
  self->find_cells = find_cells;
  self->gather_threshold = 32;
}
