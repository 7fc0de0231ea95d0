/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* 16 windows at a time.
 *
 * Sums are kept modulo 2^16: a block's sum is exact as long as it fits. At step
 * 2 a row of the integral picture holds its even columns, then its odd ones, so
 * that the same corner of neighbouring windows lies side by side. A stage's sum
 * takes one of 2^n values: which of them pass is found once, in the reference's
 * own arithmetic, and a window's n decisions look it up. */
#include "waldboost-scan.h"

#include <immintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TABLED 16 /* weak classifiers of a stage with a table */
#define MAX_AREA 257  /* pixels whose sum fits 16 bits */

/* A stump as vectors want it. */
typedef struct {
  uint32_t subset[8];
  int32_t row[4];       /* of the blocks' corners, in sums */
  int32_t column[2][4]; /* of the blocks' corners, at step 1 and 2 */
  int32_t large;        /* sums may need all 16 bits */
  float left, right;
} Stump;

typedef struct {
  int32_t first, n;
  float threshold;
  const uint32_t *passes; /* bit: decisions, the first one highest; or NULL */
} Stage;

struct _CuvWaldboostTables {
  int n_stages, n_tabled; /* the first stages have a table */
  Stage *stages;
  Stump *stumps;
  uint32_t *passes;
};

/* ---- tables ---- */

static bool
is_for_us (const CuvWaldboostModel *model)
{
  if (!model->stumps || model->max_block_area > MAX_AREA)
    return false;
  for (int s = 0; s < model->n_stages; s++) {
    int first = model->stage_first[s], end = model->stage_first[s + 1];

    for (int i = first; i < end; i++) {
      bool tested = model->weak[i].threshold > -INFINITY;

      if ((model->weak[i].restart != 0) != (i == first)
          || tested != (i == end - 1))
        return false;
    }
  }
  return model->stage_first[1] <= MAX_TABLED;
}

/* Where a column is in a row that holds even columns, then odd ones. */
static int
split_column (int x, ptrdiff_t stride)
{
  return (x & 1) * (int) (stride / 2) + x / 2;
}

static Stump
make_stump (
    const CuvWaldboostModel *model, const CuvWeak *weak, ptrdiff_t stride)
{
  const CuvGridNode *node = &model->nodes[weak->first_node];
  Stump stump = { .left = model->leaves[weak->first_leaf - node->left],
    .right = model->leaves[weak->first_leaf - node->right],
    .large = node->width * node->height * 255 > INT16_MAX };

  memcpy (stump.subset, node->subset, sizeof stump.subset);
  for (int i = 0; i < 4; i++) {
    stump.row[i] = (node->y + i * node->height) * (int) stride;
    stump.column[0][i] = node->x + i * node->width;
    stump.column[1][i] = split_column (node->x + i * node->width, stride);
  }
  return stump;
}

/* All sums of a stage, each in the order in which the reference adds. */
static void
fill_passes (
    uint32_t *passes, const Stump *stumps, const Stage *stage, double *sums)
{
  sums[0] = 0;
  for (int i = 0; i < stage->n; i++) {
    for (int k = (1 << i) - 1; k >= 0; k--) {
      double sum = sums[k];

      sums[2 * k] = sum + stumps[i].right;
      sums[2 * k + 1] = sum + stumps[i].left;
    }
  }
  for (int k = 0; k < 1 << stage->n; k++)
    passes[k / 32] |= (uint32_t) !(sums[k] < stage->threshold) << k % 32;
}

static size_t
words_of (int n)
{
  return n > 5 ? (size_t) 1 << (n - 5) : 1;
}

static bool
make_stages (CuvWaldboostTables *self, const CuvWaldboostModel *model)
{
  double *sums = malloc (sizeof *sums << MAX_TABLED);
  size_t n_words = 0;

  self->n_stages = model->n_stages;
  for (int s = 0; s < model->n_stages; s++) {
    int end = model->stage_first[s + 1];

    self->stages[s].first = model->stage_first[s];
    self->stages[s].n = end - model->stage_first[s];
    self->stages[s].threshold = model->weak[end - 1].threshold;
    if (self->n_tabled == s && self->stages[s].n <= MAX_TABLED) {
      self->n_tabled++;
      n_words += words_of (self->stages[s].n);
    }
  }
  self->passes = calloc (n_words, sizeof *self->passes);
  if (sums != NULL && self->passes != NULL) {
    uint32_t *passes = self->passes;

    for (int s = 0; s < self->n_tabled; s++) {
      Stage *stage = &self->stages[s];

      stage->passes = passes;
      fill_passes (passes, self->stumps + stage->first, stage, sums);
      passes += words_of (stage->n);
    }
  }
  free (sums);
  return sums != NULL && self->passes != NULL;
}

/* ---- pyramid ---- */

/* One column of the two rows, then pairs of neighbours of it: exact in any
 * order. Values are moved by 32768 to be signed 16 bits. */
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
    __m256i t =
        _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) (top + x)));
    __m256i b =
        _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) (bottom + x)));

    t = _mm256_add_epi16 (
        _mm256_mullo_epi16 (t, up), _mm256_mullo_epi16 (b, down));
    _mm256_storeu_si256 ((__m256i *) (column + x),
        _mm256_xor_si256 (t, _mm256_set1_epi16 ((short) 0x8000)));
  }
  for (; x < n_in; x++)
    column[x] =
        (uint16_t) ((256 - bottom_weight) * top[x] + bottom_weight * bottom[x])
        ^ 0x8000;
  column[n_in] = 0; /* read with weight 0 */

  for (x = 0; x + 8 <= width; x += 8) {
    const int *tap = (const int *) (taps + x);
    __m256i a = _mm256_loadu_si256 ((const __m256i *) tap);
    __m256i b = _mm256_loadu_si256 ((const __m256i *) (tap + 8));
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

static void
sum_row (void *out, const void *above, const uint8_t *grey, int width, int step,
    ptrdiff_t stride)
{
  uint16_t *even = out, *odd = even + stride / 2;
  const uint16_t *even_above = above, *odd_above = even_above + stride / 2;
  uint16_t total = 0;
  int x;

  even[0] = 0;
  if (step == 1) {
    for (x = 0; x < width; x++) {
      total += grey[x];
      even[x + 1] = even_above[x + 1] + total;
    }
    return;
  }
  for (x = 0; x + 1 < width; x += 2) {
    total += grey[x];
    odd[x / 2] = odd_above[x / 2] + total;
    total += grey[x + 1];
    even[x / 2 + 1] = even_above[x / 2 + 1] + total;
  }
  if (x < width)
    odd[x / 2] = odd_above[x / 2] + total + grey[x];
}

/* ---- windows ---- */

static inline __m256i
load (const uint16_t *at)
{
  return _mm256_loadu_si256 ((const __m256i *) at);
}

/* The bit where the neighbour's sum is not below the centre's. */
static inline __m256i
compare (__m256i neighbour, __m256i centre, int bit)
{
  return _mm256_andnot_si256 (
      _mm256_cmpgt_epi16 (centre, neighbour), _mm256_set1_epi16 ((short) bit));
}

/* Three values side by side, of each of 16 windows. */
typedef struct {
  __m256i left, middle, right;
} Three;

static inline Three
subtract (Three a, Three b)
{
  return (Three){ _mm256_sub_epi16 (a.left, b.left),
    _mm256_sub_epi16 (a.middle, b.middle),
    _mm256_sub_epi16 (a.right, b.right) };
}

/* Differences of neighbouring corners of the blocks, along a row of them. */
static inline Three
across (const uint16_t *row, const int32_t *x)
{
  __m256i a = load (row + x[0]), b = load (row + x[1]);
  __m256i c = load (row + x[2]), d = load (row + x[3]);

  return (Three){ _mm256_sub_epi16 (b, a), _mm256_sub_epi16 (c, b),
    _mm256_sub_epi16 (d, c) };
}

static inline Three
turn_top_bit (Three a)
{
  const __m256i bit = _mm256_set1_epi16 ((short) 0x8000);

  return (Three){ _mm256_xor_si256 (a.left, bit),
    _mm256_xor_si256 (a.middle, bit), _mm256_xor_si256 (a.right, bit) };
}

/* Sums are compared as signed numbers. Those that may not fit are moved down by
 * 2^15: a bit that is turned in the second and fourth row of corners. */
static inline __m256i
patterns (const uint16_t *sums, const Stump *stump, int step)
{
  const int32_t *x = stump->column[step - 1];
  Three row0 = across (sums + stump->row[0], x);
  Three row1 = across (sums + stump->row[1], x);
  Three row2 = across (sums + stump->row[2], x);
  Three row3 = across (sums + stump->row[3], x);
  Three top, centre, bottom;
  __m256i high, low;

  if (stump->large) {
    row1 = turn_top_bit (row1);
    row3 = turn_top_bit (row3);
  }
  top = subtract (row1, row0);
  centre = subtract (row2, row1);
  bottom = subtract (row3, row2);
  high =
      _mm256_or_si256 (_mm256_or_si256 (compare (top.left, centre.middle, 128),
                           compare (top.middle, centre.middle, 64)),
          _mm256_or_si256 (compare (top.right, centre.middle, 32),
              compare (centre.right, centre.middle, 16)));
  low = _mm256_or_si256 (
      _mm256_or_si256 (compare (bottom.right, centre.middle, 8),
          compare (bottom.middle, centre.middle, 4)),
      _mm256_or_si256 (compare (bottom.left, centre.middle, 2),
          compare (centre.left, centre.middle, 1)));
  return _mm256_or_si256 (high, low);
}

/* All ones where the code's bit of the subset is set. */
static inline __m256i
go_left (__m256i code, const Stump *stump)
{
  const __m256i powers = _mm256_broadcastsi128_si256 (
      _mm_setr_epi8 (1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0));
  const __m128i *subset = (const __m128i *) stump->subset;
  __m256i low = _mm256_broadcastsi128_si256 (_mm_loadu_si128 (subset));
  __m256i high = _mm256_broadcastsi128_si256 (_mm_loadu_si128 (subset + 1));
  __m256i byte = _mm256_srli_epi16 (code, 3);
  /* the upper byte of each lane has no bit: it picks a 0 */
  __m256i bit = _mm256_shuffle_epi8 (powers,
      _mm256_or_si256 (_mm256_and_si256 (code, _mm256_set1_epi16 (7)),
          _mm256_set1_epi16 (0x0800)));
  __m256i word = _mm256_blendv_epi8 (
      _mm256_shuffle_epi8 (low, byte), _mm256_shuffle_epi8 (high, byte), code);

  return _mm256_cmpeq_epi16 (_mm256_and_si256 (word, bit), bit);
}

/* The bits of passes at 8 indices, as a mask. */
static inline unsigned
look_up (const uint32_t *passes, __m256i index)
{
  __m256i word = _mm256_i32gather_epi32 (
      (const int *) passes, _mm256_srli_epi32 (index, 5), 4);
  __m256i up = _mm256_xor_si256 (
      _mm256_and_si256 (index, _mm256_set1_epi32 (31)), _mm256_set1_epi32 (31));

  return (unsigned) _mm256_movemask_ps (
      _mm256_castsi256_ps (_mm256_sllv_epi32 (word, up)));
}

/* Which of 16 windows pass a stage, window 0 in bit 0. */
static inline unsigned
pass_stage (const uint16_t *sums, const CuvWaldboostTables *tables,
    const Stage *stage, int step)
{
  const Stump *stump = tables->stumps + stage->first;
  __m256i decisions = _mm256_setzero_si256 ();

  for (int i = 0; i < stage->n; i++) {
    __m256i left = go_left (patterns (sums, &stump[i], step), &stump[i]);

    decisions =
        _mm256_sub_epi16 (_mm256_add_epi16 (decisions, decisions), left);
  }
  return look_up (stage->passes,
             _mm256_cvtepu16_epi32 (_mm256_castsi256_si128 (decisions)))
      | look_up (stage->passes,
            _mm256_cvtepu16_epi32 (_mm256_extracti128_si256 (decisions, 1)))
      << 8;
}

/* ---- one window ---- */

static int
one_pattern (const uint16_t *sums, const Stump *stump, int step)
{
  const int32_t *x = stump->column[step - 1], *y = stump->row;
  uint16_t block[3][3];
  int code = 0;

  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++)
      block[i][k] = (uint16_t) (sums[y[i + 1] + x[k + 1]]
          - sums[y[i + 1] + x[k]] - sums[y[i] + x[k + 1]] + sums[y[i] + x[k]]);
  }
  code |= (block[0][0] >= block[1][1]) << 7;
  code |= (block[0][1] >= block[1][1]) << 6;
  code |= (block[0][2] >= block[1][1]) << 5;
  code |= (block[1][2] >= block[1][1]) << 4;
  code |= (block[2][2] >= block[1][1]) << 3;
  code |= (block[2][1] >= block[1][1]) << 2;
  code |= (block[2][0] >= block[1][1]) << 1;
  return code | (block[1][0] >= block[1][1]);
}

/* Stages from first on, as the reference adds them. */
static bool
finish_window (const uint16_t *sums, const CuvWaldboostTables *tables, int step,
    int first, float *score)
{
  for (int s = first; s < tables->n_stages; s++) {
    const Stage *stage = &tables->stages[s];
    double sum = 0;

    for (int i = stage->first; i < stage->first + stage->n; i++) {
      const Stump *stump = &tables->stumps[i];
      int code = one_pattern (sums, stump, step);

      sum += stump->subset[code >> 5] >> (code & 31) & 1 ? stump->left
                                                         : stump->right;
    }
    if (sum < stage->threshold)
      return false;
    *score = (float) (sum - (double) stage->threshold);
  }
  return true;
}

/* ---- rows ---- */

/* Which of 16 windows are visited: one that fails the first stage makes the
 * next one be skipped. skip says whether the first one is, and then whether the
 * first of the next 16 is. */
static unsigned
visit (unsigned passed, unsigned *skip)
{
  unsigned visited = 0, i = *skip;

  while (i < 16) {
    visited |= 1u << i;
    i += 2 - (passed >> i & 1);
  }
  *skip = i - 16;
  return visited;
}

static void
finish_windows (const CuvScanRow *row, const uint16_t *sums, int x,
    unsigned left, CuvHitList *list)
{
  const CuvWaldboostTables *tables = row->tables;
  int stage = tables->n_tabled < tables->n_stages ? tables->n_tabled
                                                  : tables->n_stages - 1;

  for (; left != 0; left &= left - 1) {
    int i = __builtin_ctz (left);
    float score = 0;

    if (finish_window (sums + i, tables, row->step, stage, &score))
      cuv_hit_list_add (list, row->level, (x + i) * row->step, row->y, score);
  }
}

static void
scan_row (const CuvScanRow *row, CuvHitList *list)
{
  const CuvWaldboostTables *tables = row->tables;
  unsigned skip = 0;

  for (int x = 0; x < row->n_x; x += 16) {
    const uint16_t *sums = (const uint16_t *) row->sums + x;
    unsigned inside = row->n_x - x < 16 ? (1u << (row->n_x - x)) - 1 : 0xffff;
    unsigned passed = pass_stage (sums, tables, &tables->stages[0], row->step);
    unsigned visited = visit (passed, &skip) & inside;
    unsigned left = passed & visited;

    list->windows += (unsigned) __builtin_popcount (visited);
    list->stage_0 += (unsigned) __builtin_popcount (left);
    for (int s = 1; s < tables->n_tabled && left != 0; s++)
      left &= pass_stage (sums, tables, &tables->stages[s], row->step);
    finish_windows (row, sums, x, left, list);
  }
}

/* ---- entry ---- */

CuvWaldboostTables *
cuv_waldboost_avx2_init (
    CuvWaldboostSteps *steps, const CuvWaldboostModel *model, ptrdiff_t stride)
{
  CuvWaldboostTables *self;

  steps->resize_row = resize_row;
  if (!is_for_us (model) || (self = calloc (1, sizeof *self)) == NULL)
    return NULL;
  self->stumps = calloc (model->n_weak, sizeof *self->stumps);
  self->stages = calloc (model->n_stages, sizeof *self->stages);
  if (self->stumps != NULL && self->stages != NULL) {
    for (int i = 0; i < model->n_weak; i++)
      self->stumps[i] = make_stump (model, &model->weak[i], stride);
  }
  if (self->stumps == NULL || self->stages == NULL
      || !make_stages (self, model)) {
    cuv_waldboost_avx2_free (self);
    return NULL;
  }
  steps->sum_size = sizeof (uint16_t);
  steps->sum_row = sum_row;
  steps->scan_row = scan_row;
  return self;
}

void
cuv_waldboost_avx2_free (CuvWaldboostTables *self)
{
  if (self == NULL)
    return;
  free (self->stumps);
  free (self->stages);
  free (self->passes);
  free (self);
}
