/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes features of 3x3 blocks from integral images modulo 2^16, in which
 * block sums that fit 16 bits are exact: for 16 contiguous windows, for four
 * windows anywhere in a row, or for one window. OpenCV cascades (lbp-avx2.c)
 * and WaldBoost models (boost-avx2.c) use local binary patterns (LBP); only
 * WaldBoost models use ranks and groups of four windows. */
#ifndef CUV_WALDBOOST_AVX2_GRID_H
#define CUV_WALDBOOST_AVX2_GRID_H

#include "cpu/x86/waldboost-avx2.h"

#include <string.h>

/* maximum number of pixels in a block: 257 * 255 = 2^16 - 1 */
#define GRID_MAX_AREA 257

/* Offsets of the corners of the blocks, in four rows and four columns. */
typedef struct {
  int32_t row[4];
  int32_t column[CUV_N_LAYOUTS][4];
  int32_t large; /* boolean: block sums may exceed INT16_MAX */
} Grid;

static inline Grid
grid_make (const CuvGridNode *node, ptrdiff_t stride)
{
  Grid grid = { .large = node->width * node->height * 255 > INT16_MAX };

  for (int i = 0; i < 4; i++) {
    grid.row[i] = (node->y + i * node->height) * (int) stride;
    for (int layout = 0; layout < CUV_N_LAYOUTS; layout++)
      grid.column[layout][i] =
          cuv_avx2_column (node->x + i * node->width, layout, stride);
  }
  return grid;
}

/* ---- 16 windows ---- */

/* Block sums, row by row, shifted so that signed comparisons order them. */
typedef struct {
  __m256i block[9];
} GridSums;

/* Computes differences of adjacent corners in a row. */
static inline void
grid_differences (const uint16_t *row, const int32_t *x, __m256i *out)
{
  __m256i left = load (row + x[0]);

  for (int i = 0; i < 3; i++) {
    __m256i right = load (row + x[i + 1]);

    out[i] = _mm256_sub_epi16 (right, left);
    left = right;
  }
}

/* Computes block sums. Large sums are shifted by -2^15: flipping the top bit of
 * the second and fourth row of corners flips that of each block sum. */
static inline GridSums
grid_sums (const uint16_t *sums, const Grid *grid, int layout)
{
  const __m256i top_bit = _mm256_set1_epi16 (INT16_MIN);
  __m256i above[3], below[3];
  GridSums result;

  grid_differences (sums + grid->row[0], grid->column[layout], above);
  for (int i = 0; i < 3; i++) {
    grid_differences (sums + grid->row[i + 1], grid->column[layout], below);
    if (grid->large && i != 1) {
      for (int k = 0; k < 3; k++)
        below[k] = _mm256_xor_si256 (below[k], top_bit);
    }
    for (int k = 0; k < 3; k++) {
      result.block[3 * i + k] = _mm256_sub_epi16 (below[k], above[k]);
      above[k] = below[k];
    }
  }
  return result;
}

/* Sets `bits` where neighbour > centre, or >= if inclusive; otherwise 0. */
static inline __m256i
grid_bits (__m256i neighbour, __m256i centre, __m256i bits, bool inclusive)
{
  return inclusive
      ? _mm256_andnot_si256 (_mm256_cmpgt_epi16 (centre, neighbour), bits)
      : _mm256_and_si256 (_mm256_cmpgt_epi16 (neighbour, centre), bits);
}

/* Computes local binary patterns, for boost-avx2.c. */
static inline __m256i
grid_patterns (const GridSums *sums, bool inclusive)
{
  static const uint8_t clockwise[8] = { 0, 1, 2, 5, 8, 7, 6, 3 };
  const __m256i *v = sums->block;
  __m256i bit[8];

  for (int i = 0; i < 8; i++)
    bit[i] = grid_bits (v[clockwise[i]], v[4],
        _mm256_set1_epi16 ((short) (128 >> i)), inclusive);
  return _mm256_or_si256 (_mm256_or_si256 (_mm256_or_si256 (bit[0], bit[1]),
                              _mm256_or_si256 (bit[2], bit[3])),
      _mm256_or_si256 (
          _mm256_or_si256 (bit[4], bit[5]), _mm256_or_si256 (bit[6], bit[7])));
}

/* Returns how many blocks have a smaller sum than block k. */
static inline __m256i
grid_ranks (const GridSums *sums, int k)
{
  __m256i rank = _mm256_setzero_si256 (), value = sums->block[k];

  for (int i = 0; i < 9; i++)
    rank = _mm256_sub_epi16 (rank, _mm256_cmpgt_epi16 (value, sums->block[i]));
  return rank;
}

/* ---- four windows ---- */

/* A grid of blocks that are one or two pixels wide, for four windows anywhere
 * in a row. */
typedef struct {
  int32_t start, row[4];
  /* shuffle mask: copies a row's four corners to both halves */
  uint8_t corners[16];
  int32_t block_row[2]; /* rows of blocks a and b; their shuffle masks follow */
  uint8_t block[2][16];
} GridQuad;

/* Three rows of block sums, 64 bits per window; the last 16 bits are unused. */
typedef struct {
  __m256i row[3];
} GridQuadSums;

static inline bool
grid_fits_quad (const CuvGridNode *node)
{
  return node->width <= 2 && node->width * node->height * 255 <= INT16_MAX;
}

static inline void
grid_pick (uint8_t *bytes, int to, int from)
{
  bytes[2 * to] = (uint8_t) (2 * from);
  bytes[2 * to + 1] = (uint8_t) (2 * from + 1);
}

static inline GridQuad
grid_quad_make (const CuvGridNode *node, int a, int b, ptrdiff_t stride)
{
  GridQuad quad = { .start = node->x, .block_row = { a / 3, b / 3 } };

  for (int i = 0; i < 4; i++)
    quad.row[i] = (node->y + i * node->height) * (int) stride;
  for (int i = 0; i < 8; i++) {
    grid_pick (quad.corners, i, i % 4 * node->width);
    grid_pick (quad.block[0], i, i / 4 * 4 + a % 3);
    grid_pick (quad.block[1], i, i / 4 * 4 + b % 3);
  }
  return quad;
}

static inline __m256i
grid_broadcast (const void *bytes)
{
  return _mm256_broadcastsi128_si256 (
      _mm_loadu_si128 ((const __m128i *) bytes));
}

/* Reads a row of corners of the windows at x[0] to x[3]. */
static inline __m256i
grid_quad_corners (const uint16_t *row, const int32_t *x, __m256i corners)
{
  __m256i even = load_halves (row + x[0], row + x[2]);
  __m256i odd = load_halves (row + x[1], row + x[3]);

  return _mm256_blend_epi32 (_mm256_shuffle_epi8 (even, corners),
      _mm256_shuffle_epi8 (odd, corners), 0xcc);
}

static inline GridQuadSums
grid_quad_sums (const uint16_t *sums, const int32_t *x, const GridQuad *quad)
{
  __m256i corners = grid_broadcast (quad->corners), above, below, row;
  GridQuadSums result;

  sums += quad->start;
  above = grid_quad_corners (sums + quad->row[0], x, corners);
  for (int i = 0; i < 3; i++) {
    below = grid_quad_corners (sums + quad->row[i + 1], x, corners);
    row = _mm256_sub_epi16 (below, above);
    result.row[i] = _mm256_sub_epi16 (_mm256_srli_epi64 (row, 16), row);
    above = below;
  }
  return result;
}

static inline __m256i
grid_quad_words (int first, int second, int third)
{
  return _mm256_set1_epi64x (
      (int64_t) third << 32 | (int64_t) second << 16 | first);
}

/* Returns in each word minus the number of blocks in its column whose sum is
 * below that of block a (which = 0) or b (1); the last word is unused. */
static inline __m256i
grid_quad_rank_parts (const GridQuadSums *sums, const GridQuad *quad, int which)
{
  __m256i value = _mm256_shuffle_epi8 (
      sums->row[quad->block_row[which]], grid_broadcast (quad->block[which]));

  return _mm256_add_epi16 (_mm256_cmpgt_epi16 (value, sums->row[0]),
      _mm256_add_epi16 (_mm256_cmpgt_epi16 (value, sums->row[1]),
          _mm256_cmpgt_epi16 (value, sums->row[2])));
}

static inline __m256i
grid_quad_add_words (__m256i words)
{
  return _mm256_sad_epu8 (
      _mm256_and_si256 (words, grid_quad_words (0xff, 0xff, 0xff)),
      _mm256_setzero_si256 ());
}

/* Computes the codes of four windows, 64 bits each. */
static inline __m256i
grid_quad_lrd (const GridQuadSums *sums, const GridQuad *quad)
{
  __m256i difference = _mm256_sub_epi16 (grid_quad_rank_parts (sums, quad, 1),
      grid_quad_rank_parts (sums, quad, 0));

  difference = _mm256_add_epi16 (difference, _mm256_set1_epi16 (3));
  return _mm256_sub_epi64 (
      grid_quad_add_words (difference), _mm256_set1_epi64x (1));
}

static inline __m256i
grid_quad_lrp (const GridQuadSums *sums, const GridQuad *quad)
{
  __m256i a = grid_quad_add_words (
      _mm256_abs_epi16 (grid_quad_rank_parts (sums, quad, 0)));
  __m256i b = grid_quad_add_words (
      _mm256_abs_epi16 (grid_quad_rank_parts (sums, quad, 1)));

  return _mm256_add_epi64 (a, _mm256_mul_epu32 (b, _mm256_set1_epi64x (10)));
}

/* Computes local binary patterns, for boost-avx2.c. */
static inline __m256i
grid_quad_lbp (const GridQuadSums *sums, bool inclusive)
{
  const __m256i middle = _mm256_broadcastsi128_si256 (
      _mm_setr_epi8 (2, 3, 2, 3, 2, 3, 2, 3, 10, 11, 10, 11, 10, 11, 10, 11));
  const __m256i *row = sums->row;
  __m256i centre = _mm256_shuffle_epi8 (row[1], middle);
  __m256i top =
      grid_bits (row[0], centre, grid_quad_words (128, 64, 32), inclusive);
  __m256i sides =
      grid_bits (row[1], centre, grid_quad_words (1, 0, 16), inclusive);
  __m256i bottom =
      grid_bits (row[2], centre, grid_quad_words (2, 4, 8), inclusive);

  return grid_quad_add_words (
      _mm256_or_si256 (_mm256_or_si256 (top, sides), bottom));
}

/* ---- one window ---- */

static inline void
grid_sums_of_one (
    const uint16_t *sums, const Grid *grid, int layout, uint16_t *block)
{
  const int32_t *x = grid->column[layout], *y = grid->row;

  for (int i = 0; i < 9; i++) {
    const uint16_t *top = sums + y[i / 3], *bottom = sums + y[i / 3 + 1];
    int left = x[i % 3], right = x[i % 3 + 1];

    block[i] =
        (uint16_t) (bottom[right] - bottom[left] - top[right] + top[left]);
  }
}

/* Computes an inclusive local binary pattern. */
static inline int
grid_pattern_of_one (const uint16_t *v)
{
  static const uint8_t clockwise[8] = { 0, 1, 2, 5, 8, 7, 6, 3 };
  int code = 0;

  for (int i = 0; i < 8; i++)
    code = code << 1 | (v[clockwise[i]] >= v[4]);
  return code;
}

#endif
