/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edges, 16 pixels at a time. Gradients and L1 norms fit in 16 bits. */
#include "cpu/x86/hough-avx2.h"
#include "cpu/hough-dsp-c.h"

/* Computes a + 2 b + c and c - a for each column. */
static void
add_columns (const uint8_t *const rows[3], int width, int16_t *smooth,
    int16_t *difference)
{
  int x;

  for (x = 0; x + 16 <= width; x += 16) {
    __m256i a = load_bytes (rows[0] + x), b = load_bytes (rows[1] + x);
    __m256i c = load_bytes (rows[2] + x);

    store (smooth + x,
        _mm256_add_epi16 (_mm256_add_epi16 (a, c), _mm256_add_epi16 (b, b)));
    store (difference + x, _mm256_sub_epi16 (c, a));
  }
  for (; x < width; x++) {
    smooth[x] = (int16_t) (rows[0][x] + 2 * rows[1][x] + rows[2][x]);
    difference[x] = (int16_t) (rows[2][x] - rows[0][x]);
  }
  smooth[-1] = smooth[0];
  difference[-1] = difference[0];
  smooth[width] = smooth[width - 1];
  difference[width] = difference[width - 1];
}

static inline void
store_norms (
    const CuvGradientRow *out, int x, CuvCannyNorm norm, __m256i gx, __m256i gy)
{
  __m256i first, second;

  if (norm == CUV_CANNY_L1) {
    store (out->l1 + x,
        _mm256_add_epi16 (_mm256_abs_epi16 (gx), _mm256_abs_epi16 (gy)));
    return;
  }
  first = _mm256_unpacklo_epi16 (gx, gy); /* pixels 0 .. 3 and 8 .. 11 */
  second = _mm256_unpackhi_epi16 (gx, gy);
  first = _mm256_madd_epi16 (first, first);
  second = _mm256_madd_epi16 (second, second);
  store (out->l2 + x, _mm256_permute2x128_si256 (first, second, 0x20));
  store (out->l2 + x + 8, _mm256_permute2x128_si256 (first, second, 0x31));
}

static void
gradients (const uint8_t *const rows[3], int width, CuvCannyNorm norm,
    int16_t *scratch, const CuvGradientRow *out)
{
  int16_t *smooth = scratch + CUV_HOUGH_ROW_PADDING / 2;
  int16_t *difference = smooth + width + CUV_HOUGH_ROW_PADDING;

  add_columns (rows, width, smooth, difference);
  for (int x = 0; x < width; x += 16) {
    __m256i middle = load (difference + x);
    __m256i gx =
        _mm256_sub_epi16 (load (smooth + x + 1), load (smooth + x - 1));
    __m256i gy = _mm256_add_epi16 (_mm256_add_epi16 (middle, middle),
        _mm256_add_epi16 (
            load (difference + x - 1), load (difference + x + 1)));

    store (out->gx + x, gx);
    store (out->gy + x, gy);
    store_norms (out, x, norm, gx, gy);
  }
}

typedef struct {
  __m256i v[2]; /* L1: 16 bits in v[0]; L2: 32 bits */
} Norms;

static inline Norms
load_norms (const CuvGradientRow *row, CuvCannyNorm norm, int x)
{
  return norm == CUV_CANNY_L1
      ? (Norms){ { load (row->l1 + x) } }
      : (Norms){ { load (row->l2 + x), load (row->l2 + x + 8) } };
}

/* Returns a vector of one norm, limited to 16 bits: no norm is above 2040. */
static inline Norms
all_norms (CuvCannyNorm norm, int32_t value)
{
  int32_t limit = value < INT16_MAX ? value : INT16_MAX;
  __m256i v = norm == CUV_CANNY_L1 ? _mm256_set1_epi16 ((int16_t) limit)
                                   : _mm256_set1_epi32 (limit * limit);

  return (Norms){ { v, v } };
}

/* Returns a mask of a > b, 16 bits per pixel. */
static inline __m256i
greater (CuvCannyNorm norm, Norms a, Norms b)
{
  if (norm == CUV_CANNY_L1)
    return _mm256_cmpgt_epi16 (a.v[0], b.v[0]);
  return _mm256_permute4x64_epi64 (
      _mm256_packs_epi32 (_mm256_cmpgt_epi32 (a.v[0], b.v[0]),
          _mm256_cmpgt_epi32 (a.v[1], b.v[1])),
      0xd8);
}

/* Returns a mask of norms greater than the one before and not less than the one
 * after. */
static inline __m256i
canny_is_ridge_avx2 (CuvCannyNorm norm, Norms m, const CuvGradientRow *before,
    const CuvGradientRow *after, int dx, int x)
{
  return _mm256_andnot_si256 (
      greater (norm, load_norms (after, norm, x + dx), m),
      greater (norm, m, load_norms (before, norm, x - dx)));
}

/* Selects one of four directions by the gradient. q = a tan 22.5 degrees is
 * never an integer unless a = 0, so b > q equals b > floor (q). */
static inline __m256i
is_local_maximum (
    CuvCannyNorm norm, Norms m, const CuvGradientRow *const rows[3], int x)
{
  __m256i gx = load (rows[1]->gx + x), gy = load (rows[1]->gy + x);
  __m256i a = _mm256_abs_epi16 (gx), b = _mm256_abs_epi16 (gy);
  __m256i twice = _mm256_add_epi16 (a, a);
  __m256i tan22 = _mm256_mulhi_epi16 (twice, _mm256_set1_epi16 (13573));
  __m256i steep = _mm256_cmpgt_epi16 (b, _mm256_add_epi16 (tan22, twice));
  __m256i slanted = _mm256_cmpgt_epi16 (b, tan22);
  __m256i falls = _mm256_srai_epi16 (_mm256_xor_si256 (gx, gy), 15);
  __m256i ridge =
      _mm256_blendv_epi8 (canny_is_ridge_avx2 (norm, m, rows[0], rows[2], 1, x),
          canny_is_ridge_avx2 (norm, m, rows[0], rows[2], -1, x), falls);

  ridge = _mm256_blendv_epi8 (
      canny_is_ridge_avx2 (norm, m, rows[1], rows[1], 1, x), ridge, slanted);
  return _mm256_blendv_epi8 (
      ridge, canny_is_ridge_avx2 (norm, m, rows[0], rows[2], 0, x), steep);
}

static inline void
suppress_16 (CuvCannyNorm norm, const CuvGradientRow *const rows[3], int x,
    Norms low, Norms high, uint8_t *out)
{
  Norms m = load_norms (rows[1], norm, x);
  __m256i weak = greater (norm, m, low), edge;

  if (_mm256_testz_si256 (weak, weak)) {
    _mm_storeu_si128 ((__m128i *) (out + x), _mm_setzero_si128 ());
    return;
  }
  weak = _mm256_and_si256 (weak, is_local_maximum (norm, m, rows, x));
  edge = _mm256_and_si256 (weak, greater (norm, m, high));
  /* weak and edge are 0 or -1; the state is 1 for weak pixels, 2 for edges */
  weak =
      _mm256_sub_epi16 (_mm256_setzero_si256 (), _mm256_add_epi16 (weak, edge));
  _mm_storeu_si128 ((__m128i *) (out + x),
      _mm_packs_epi16 (
          _mm256_castsi256_si128 (weak), _mm256_extracti128_si256 (weak, 1)));
}

static inline void
suppress_row (CuvCannyNorm norm, const CuvGradientRow *const rows[3], int width,
    const CuvCannyParams *params, uint8_t *out)
{
  const Norms low = all_norms (norm, params->low);
  const Norms high = all_norms (norm, params->high);

  for (int x = 1; x < width - 17; x += 16)
    suppress_16 (norm, rows, x, low, high, out);
  suppress_16 (norm, rows, width - 17, low, high, out);
}

static void
suppress (const CuvGradientRow *const rows[3], int width,
    const CuvCannyParams *params, uint8_t *out)
{
  if (width < 18)
    cuv_suppress (rows, width, params, out);
  else if (params->norm == CUV_CANNY_L1)
    suppress_row (CUV_CANNY_L1, rows, width, params, out);
  else
    suppress_row (CUV_CANNY_L2, rows, width, params, out);
}

static inline __m256i
or_neighbours (const uint8_t *row, int x)
{
  return _mm256_or_si256 (
      load (row + x), _mm256_or_si256 (load (row + x - 1), load (row + x + 1)));
}

static int
find_seed (const uint8_t *const rows[3], int x, int end)
{
  const __m256i kind = _mm256_set1_epi8 (CUV_HOUGH_PIXEL_EDGE);

  for (; x + 32 <= end; x += 32) {
    __m256i edges = _mm256_cmpeq_epi8 (load (rows[1] + x), kind);
    __m256i around;
    unsigned mask;

    if (_mm256_testz_si256 (edges, edges))
      continue;
    around = _mm256_or_si256 (or_neighbours (rows[1], x),
        _mm256_or_si256 (
            or_neighbours (rows[0], x), or_neighbours (rows[2], x)));
    /* weak: the lowest bit, moved to the highest */
    mask = (unsigned) _mm256_movemask_epi8 (
        _mm256_and_si256 (edges, _mm256_slli_epi16 (around, 7)));
    if (mask != 0)
      return x + __builtin_ctz (mask);
  }
  return cuv_find_seed (rows, x, end);
}

/* For each value of 4 bits: twice the positions of the set bits, lowest first,
 * a byte each. */
static const int32_t places[16] = { 0, 0x00, 0x02, 0x0200, 0x04, 0x0400, 0x0402,
  0x040200, 0x06, 0x0600, 0x0602, 0x060200, 0x0604, 0x060400, 0x060402,
  0x06040200 };

/* Lists the edges among every other pixel of blocks of 32: odd = 0 or 1. Four
 * entries are written at a time, never more than the row has pixels. */
static size_t
list_half (
    const uint8_t *row, int n_blocks, int odd, uint32_t first, uint32_t *pixels)
{
  const __m256i wanted = _mm256_set1_epi8 (CUV_HOUGH_PIXEL_EDGE);
  const __m256i even_first = _mm256_broadcastsi128_si256 (
      _mm_setr_epi8 (0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
  size_t n = 0;

  for (int x = 0; x < 32 * n_blocks; x += 32) {
    __m256i edges = _mm256_cmpeq_epi8 (load (row + x), wanted);
    unsigned mask;

    if (_mm256_testz_si256 (edges, edges))
      continue;
    /* bits 0 to 7 are of the first 16 pixels, bits 16 to 23 of the others */
    mask = (unsigned) _mm256_movemask_epi8 (
               _mm256_shuffle_epi8 (edges, even_first))
        >> 8 * odd;
    for (int i = 0; i < 4; i++) {
      unsigned bits = mask >> (i / 2 * 16 + i % 2 * 4) & 15;

      _mm_storeu_si128 ((__m128i *) (pixels + n),
          _mm_add_epi32 (_mm_cvtepu8_epi32 (_mm_cvtsi32_si128 (places[bits])),
              _mm_set1_epi32 ((int32_t) first + x + 8 * i + odd)));
      n += (size_t) __builtin_popcount (bits);
    }
  }
  return n;
}

/* Even pixels first: neighbours often vote for the same cell, and an increment
 * waits for one just before it. */
static size_t
canny_list_avx2 (uint8_t *row, int width, uint32_t first, uint32_t *pixels)
{
  const __m256i wanted = _mm256_set1_epi8 (CUV_HOUGH_PIXEL_EDGE);
  const int n_blocks = width / 32, end = 32 * n_blocks;
  size_t n = list_half (row, n_blocks, 0, first, pixels);

  n += list_half (row, n_blocks, 1, first, pixels + n);
  for (int x = 0; x < end; x += 32)
    store (row + x, _mm256_cmpeq_epi8 (load (row + x), wanted));
  return n
      + cuv_list (row + end, width - end, first + (uint32_t) end, pixels + n);
}

/* Compiled here, the inline C functions are vectorised with AVX2. */
void
cuv_canny_dsp_init_avx2 (CuvHoughDsp *dsp)
{
  dsp->grey = cuv_grey_row;
  dsp->blur_across = cuv_blur_across;
  dsp->blur_down = cuv_blur_down;
  dsp->gradients = gradients;
  dsp->suppress = suppress;
  dsp->find_seed = find_seed;
  dsp->list = canny_list_avx2;
}
