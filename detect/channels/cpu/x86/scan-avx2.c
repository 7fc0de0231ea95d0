/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans windows in AVX2, 32 adjacent ones at a time. They are a block apart, so
 * the bytes that a node compares in them are adjacent, too. */
#include "channels/cpu/x86/channels-avx2.h"

#include <string.h>
#include "cuvavx2.h"

enum { WINDOWS = 32 };

/* Sums of windows 0 to 7, 8 to 15, 16 to 23 and 24 to 31. */
typedef struct {
  __m256i part[4];
} Sums;

/* Returns all ones for each window whose byte reaches the node's threshold. */
CUV_INLINE __m256i
goes_right (const CuvChannelsScanRow *row, ptrdiff_t node, int x)
{
  const __m256i value = load (row->blocks + row->offsets[node] + x);
  const __m256i threshold =
      _mm256_set1_epi8 ((char) row->trees->nodes[node].threshold);

  return _mm256_cmpeq_epi8 (_mm256_max_epu8 (value, threshold), value);
}

/* Returns for each window which of the 2^depth leaves below a node it reaches.
 * The node has index `at` in its tree; the tree's root has index `first` among
 * all nodes. */
CUV_INLINE __m256i
leaf_numbers (
    const CuvChannelsScanRow *row, ptrdiff_t first, int at, int depth, int x)
{
  const __m256i right = goes_right (row, first + at, x);
  const __m256i bit = _mm256_set1_epi8 ((char) (1 << (depth - 1)));
  __m256i low, high;

  if (depth == 1)
    return _mm256_and_si256 (right, bit);
  /* no recursion, because forced inlining needs a constant depth */
  low = goes_right (row, first + 2 * at + 1, x);
  high = goes_right (row, first + 2 * at + 2, x);
  return _mm256_or_si256 (_mm256_and_si256 (right, bit),
      _mm256_and_si256 (
          _mm256_blendv_epi8 (low, high, right), _mm256_set1_epi8 (1)));
}

CUV_INLINE __m256i
select_numbers (const CuvChannelsScanRow *row, ptrdiff_t first, int at, int x)
{
  const __m256i right = goes_right (row, first + at, x);
  const __m256i below =
      _mm256_blendv_epi8 (leaf_numbers (row, first, 2 * at + 1, 2, x),
          leaf_numbers (row, first, 2 * at + 2, 2, x), right);

  return _mm256_or_si256 (
      _mm256_and_si256 (right, _mm256_set1_epi8 (4)), below);
}

CUV_INLINE __m256i
numbers_of_tree (
    const CuvChannelsScanRow *row, ptrdiff_t first, int depth, int x)
{
  __m256i right;

  if (depth <= 2)
    return leaf_numbers (row, first, 0, depth, x);
  if (depth == 3)
    return select_numbers (row, first, 0, x);
  right = goes_right (row, first, x);
  return _mm256_or_si256 (_mm256_and_si256 (right, _mm256_set1_epi8 (8)),
      _mm256_blendv_epi8 (select_numbers (row, first, 1, x),
          select_numbers (row, first, 2, x), right));
}

/* Returns the first leaves of a tree, up to eight. */
CUV_INLINE __m128i
first_leaves (const int16_t *leaves, int depth)
{
  int32_t pair;

  if (depth > 2)
    return _mm_loadu_si128 ((const __m128i *) leaves);
  if (depth == 2)
    return _mm_loadl_epi64 ((const __m128i *) leaves);
  memcpy (&pair, leaves, sizeof pair);
  return _mm_cvtsi32_si128 (pair);
}

/* Adds to each window's sum the leaf that has the window's number. */
CUV_INLINE void
add_leaves (Sums *self, const int16_t *leaves, int depth, __m256i numbers)
{
  const __m128i byte_order =
      _mm_setr_epi8 (0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
  const __m128i first =
      _mm_shuffle_epi8 (first_leaves (leaves, depth), byte_order);
  const __m128i second = depth == 4
      ? _mm_shuffle_epi8 (
          _mm_loadu_si128 ((const __m128i *) (leaves + 8)), byte_order)
      : _mm_setzero_si128 ();
  __m256i low, high, a, b;

  low = _mm256_shuffle_epi8 (
      _mm256_broadcastsi128_si256 (_mm_unpacklo_epi64 (first, second)),
      numbers);
  high = _mm256_shuffle_epi8 (
      _mm256_broadcastsi128_si256 (_mm_unpackhi_epi64 (first, second)),
      numbers);
  a = _mm256_unpacklo_epi8 (low, high); /* windows 0 to 7, 16 to 23 */
  b = _mm256_unpackhi_epi8 (low, high);
  self->part[0] = _mm256_add_epi32 (
      self->part[0], _mm256_cvtepi16_epi32 (_mm256_castsi256_si128 (a)));
  self->part[1] = _mm256_add_epi32 (
      self->part[1], _mm256_cvtepi16_epi32 (_mm256_castsi256_si128 (b)));
  self->part[2] = _mm256_add_epi32 (
      self->part[2], _mm256_cvtepi16_epi32 (_mm256_extracti128_si256 (a, 1)));
  self->part[3] = _mm256_add_epi32 (
      self->part[3], _mm256_cvtepi16_epi32 (_mm256_extracti128_si256 (b, 1)));
}

/* Returns a bit for each window, set if its sum is above the limit. */
CUV_INLINE uint32_t
above (const Sums *self, int32_t limit)
{
  const __m256i least = _mm256_set1_epi32 (limit);
  uint32_t bits = 0;

  for (int i = 0; i < 4; i++) {
    const __m256i mask = _mm256_cmpgt_epi32 (self->part[i], least);

    bits |= (uint32_t) _mm256_movemask_ps (_mm256_castsi256_ps (mask))
        << (8 * i);
  }
  return bits;
}

static void
add_hits (const CuvChannelsScanRow *row, int x, uint32_t accepted,
    const Sums *sums, CuvHitList *list)
{
  const int32_t final = row->trees->final_threshold;
  int32_t sum[WINDOWS];

  for (int i = 0; i < 4; i++)
    store (sum + 8 * i, sums->part[i]);
  for (; accepted != 0; accepted &= accepted - 1) {
    const int i = __builtin_ctz (accepted);

    cuv_hit_list_add (list, row->level,
        row->plan->first + (x + i) * row->trees->shrink, row->y,
        (float) (sum[i] - final) / 256);
  }
}

/* Evaluates the windows among x to x + 31 whose bits are set in alive. */
CUV_INLINE void
scan_block (const CuvChannelsScanRow *row, int x, uint32_t alive, int depth,
    CuvHitList *list)
{
  const CuvChannelsTrees *trees = row->trees;
  const int32_t *end = row->plan->segment_end;
  Sums sums = { { _mm256_setzero_si256 (), _mm256_setzero_si256 (),
      _mm256_setzero_si256 (), _mm256_setzero_si256 () } };
  uint64_t *survivors = list->survivors;

  list->windows += (uint64_t) __builtin_popcount (alive);
  for (int tree = 0; tree < trees->n_trees && alive != 0; tree++) {
    const ptrdiff_t first = (ptrdiff_t) tree * ((1 << depth) - 1);

    list->weak += (uint64_t) __builtin_popcount (alive);
    add_leaves (&sums, trees->leaves + ((ptrdiff_t) tree << depth), depth,
        numbers_of_tree (row, first, depth, x));
    if (trees->thresholds[tree] != INT32_MIN)
      alive &= above (&sums, trees->thresholds[tree] - 1);
    if (tree == trees->n_trees - 1)
      alive &= above (&sums, trees->final_threshold);
    if (tree + 1 == *end) {
      *survivors++ += (uint64_t) __builtin_popcount (alive);
      end++;
    }
  }
  if (alive != 0)
    add_hits (row, x, alive, &sums, list);
}

CUV_INLINE void
scan_all (const CuvChannelsScanRow *row, int depth, CuvHitList *list)
{
  for (int x = 0; x < row->n_x; x += WINDOWS) {
    const int n = row->n_x - x;

    scan_block (row, x, n < WINDOWS ? (1u << n) - 1 : ~0u, depth, list);
  }
}

void
cuv_channels_scan_row_avx2 (const CuvChannelsScanRow *row, CuvHitList *list)
{
  switch (row->trees->depth) {
    case 1:
      scan_all (row, 1, list);
      break;
    case 2:
      scan_all (row, 2, list);
      break;
    case 3:
      scan_all (row, 3, list);
      break;
    default:
      scan_all (row, 4, list);
  }
}
