/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans with Haar cascades, 8 windows of a row at a time.
 *
 * A group of 8 is evaluated until none of its windows is alive, because a group
 * takes less time than one window in plain C. */
#include "cpu/x86/haar-trees-avx2.h"

#include <string.h>

#define GROUP 8
#define CHUNK 64 /* number of groups that finish a stage before the next */

/* Groups that have alive windows. */
typedef struct {
  int n;
  uint8_t alive[CHUNK];       /* masks, bit k: window k of the group is alive */
  int16_t at[CHUNK];          /* index of the first window in the chunk */
  float factor[CHUNK][GROUP]; /* contrast normalisation of each window */
} Groups;

/* ---- stages ---- */

/* Adds n stumps of one shape to the sums of n_views groups. */
CUV_INLINE void
add_stumps (const HaarView *view, int n_views, const HaarNode *node, int n,
    int shape, int tilted, __m256i *sum)
{
  __m256i sums[CUV_HAAR_MAX_VIEWS];

  for (int k = 0; k < n_views; k++)
    sums[k] = sum[k];
  for (const HaarNode *end = node + n; node < end; node++) {
    __m256i gain = _mm256_set1_epi32 (node->gain);

    for (int k = 0; k < n_views; k++)
      sums[k] = _mm256_add_epi32 (sums[k],
          _mm256_and_si256 (gain,
              _mm256_castps_si256 (go_left (&view[k], node, shape, tilted))));
  }
  for (int k = 0; k < n_views; k++)
    sum[k] = sums[k];
}

CUV_INLINE void
sum_stumps (const HaarTables *self, const HaarNode *nodes,
    const HaarStage *stage, const HaarView *view, int n_views, __m256i *sum)
{
  const HaarNode *node = nodes + stage->first_sorted;

  for (int i = 0; i < n_views; i++)
    sum[i] = _mm256_set1_epi32 (stage->base);
  for (int tilted = 0; tilted < 2; tilted++) {
    const int32_t *n = stage->n_of[tilted];

    if (tilted && !self->tilted)
      break;
    add_stumps (view, n_views, node, n[0], CUV_HAAR_EDGE, tilted, sum);
    node += n[0];
    add_stumps (view, n_views, node, n[1], CUV_HAAR_QUARTERS, tilted, sum);
    node += n[1];
    add_stumps (view, n_views, node, n[2], CUV_HAAR_TWO, tilted, sum);
    node += n[2];
    add_stumps (view, n_views, node, n[3], CUV_HAAR_THREE, tilted, sum);
    node += n[3];
  }
}

CUV_INLINE void
add_pair (const HaarView *view, int n_views, const HaarNode *nodes,
    const HaarTree *tree, __m256i *sum)
{
  const __m256i leaf_is_left = _mm256_set1_epi32 (tree->leaf_is_left);
  const __m256i low = _mm256_set1_epi32 (tree->low);
  const __m256i gain = _mm256_set1_epi32 (tree->gain);
  __m256 root[CUV_HAAR_MAX_VIEWS], below[CUV_HAAR_MAX_VIEWS];

  go_left_by_shape (view, n_views, &nodes[tree->first_node], root);
  go_left_by_shape (view, n_views, &nodes[tree->first_node + 1], below);
  for (int k = 0; k < n_views; k++) {
    __m256i inner =
        _mm256_xor_si256 (_mm256_castps_si256 (root[k]), leaf_is_left);
    __m256i leaf = _mm256_add_epi32 (
        low, _mm256_and_si256 (_mm256_castps_si256 (below[k]), gain));

    sum[k] = _mm256_add_epi32 (sum[k], _mm256_and_si256 (inner, leaf));
  }
}

CUV_INLINE void
add_tree (const HaarTables *self, const HaarView *view, int n_views,
    const HaarNode *nodes, const HaarTree *tree, __m256i *sum)
{
  __m256 leaf[CUV_HAAR_MAX_VIEWS];

  tree_leaves (view, n_views, nodes, tree, self->fixed_leaves, leaf);
  for (int k = 0; k < n_views; k++)
    sum[k] = _mm256_add_epi32 (sum[k], _mm256_castps_si256 (leaf[k]));
}

CUV_INLINE void
sum_stage (const HaarTables *self, const HaarNode *nodes,
    const HaarStage *stage, const HaarView *view, int n_views, __m256i *sum)
{
  if (self->stumps) {
    sum_stumps (self, nodes, stage, view, n_views, sum);
    return;
  }
  for (int k = 0; k < n_views; k++)
    sum[k] = _mm256_set1_epi32 (stage->base);
  for (int i = stage->first; i < stage->first + stage->n; i++) {
    if (self->trees[i].is_pair)
      add_pair (view, n_views, nodes, &self->trees[i], sum);
    else
      add_tree (self, view, n_views, nodes, &self->trees[i], sum);
  }
}

/* Computes a stage's sums as the reference does. */
static void
exact_stage (const HaarTables *self, const HaarNode *nodes,
    const HaarStage *stage, const HaarView *view, double *sums)
{
  __m256d low = _mm256_setzero_pd (), high = _mm256_setzero_pd ();

  for (int i = stage->first; i < stage->first + stage->n; i++) {
    __m256 leaf;

    tree_leaves (
        view, 1, nodes, &self->trees[i], (const int32_t *) self->leaves, &leaf);
    low = _mm256_add_pd (low, _mm256_cvtps_pd (_mm256_castps256_ps128 (leaf)));
    high =
        _mm256_add_pd (high, _mm256_cvtps_pd (_mm256_extractf128_ps (leaf, 1)));
  }
  _mm256_storeu_pd (sums, low);
  _mm256_storeu_pd (sums + 4, high);
}

static unsigned
exact_passes (const HaarTables *self, const HaarNode *nodes,
    const HaarStage *stage, const HaarView *view)
{
  double sums[GROUP];
  unsigned passed = 0;

  exact_stage (self, nodes, stage, view, sums);
  for (int i = 0; i < GROUP; i++)
    passed |= (unsigned) !(sums[i] < (double) stage->threshold) << i;
  return passed;
}

/* Returns the mask of the lanes whose value is above the limit. */
static inline unsigned
above (__m256i value, int32_t limit)
{
  return (unsigned) _mm256_movemask_ps (_mm256_castsi256_ps (
      _mm256_cmpgt_epi32 (value, _mm256_set1_epi32 (limit))));
}

/* Returns the mask of the windows in `alive` that pass the stage. */
static inline unsigned
passes (const HaarTables *self, const HaarNode *nodes, const HaarStage *stage,
    const HaarView *view, __m256i sum, unsigned alive)
{
  unsigned passed = above (sum, stage->limits.passes_above);

  if ((above (sum, stage->limits.fails_to) & ~passed & alive) != 0)
    passed = exact_passes (self, nodes, stage, view);
  return passed & alive;
}

/* ---- contrast ---- */

/* Sums the pixels of each window without the outermost ones. */
static inline __m256i
inner_sum (const uint32_t *at, const int32_t *corner)
{
  __m256i sum[4];

  for (int i = 0; i < 4; i++)
    sum[i] = load (at + corner[i]);
  return _mm256_sub_epi32 (
      _mm256_sub_epi32 (sum[0], sum[1]), _mm256_sub_epi32 (sum[2], sum[3]));
}

/* Returns the normalisation factors of four windows. *enough is set to the mask
 * of the windows that have enough contrast. */
static inline __m128
factors (__m128i sum, __m128i squares, double area, unsigned *enough)
{
  const __m256d two_31 = _mm256_set1_pd (2147483648.0);
  __m256d n = _mm256_set1_pd (area), s = _mm256_cvtepi32_pd (sum), q, f;
  __m128 factor;

  /* squares are unsigned, so convert them shifted by -2^31 */
  q = _mm256_add_pd (
      _mm256_cvtepi32_pd (_mm_xor_si128 (squares, _mm_set1_epi32 (INT32_MIN))),
      two_31);
  f = _mm256_sub_pd (_mm256_mul_pd (n, q), _mm256_mul_pd (s, s));
  factor =
      _mm256_cvtpd_ps (_mm256_div_pd (_mm256_set1_pd (1), _mm256_sqrt_pd (f)));
  *enough = (unsigned) _mm256_movemask_pd (
      _mm256_and_pd (_mm256_cmp_pd (f, _mm256_setzero_pd (), _CMP_GT_OQ),
          _mm256_cmp_pd (_mm256_mul_pd (n, _mm256_cvtps_pd (factor)),
              _mm256_set1_pd (0.1), _CMP_LT_OQ)));
  return factor;
}

/* Sets a group's factors and returns the mask of its windows that have enough
 * contrast. */
static inline unsigned
find_factor (const HaarTables *self, const CuvIntegrals *integrals, int layout,
    int x, float *factor)
{
  const int32_t *inner = self->inner[layout];
  __m256i sum = inner_sum ((const uint32_t *) integrals->sums + x, inner);
  __m256i squares =
      inner_sum ((const uint32_t *) integrals->squares + x, inner);
  unsigned low, high;

  _mm_storeu_ps (factor,
      factors (_mm256_castsi256_si128 (sum), _mm256_castsi256_si128 (squares),
          self->inner_area, &low));
  _mm_storeu_ps (factor + 4,
      factors (_mm256_extracti128_si256 (sum, 1),
          _mm256_extracti128_si256 (squares, 1), self->inner_area, &high));
  return low | high << 4;
}

/* ---- rows ---- */

static inline HaarView
view_at (const CuvScanRow *row, int x, const float *factor)
{
  const uint32_t *sums = row->integrals.sums, *tilted = row->integrals.tilted;

  return (HaarView){ { sums + x, tilted != NULL ? tilted + x : NULL },
    _mm256_loadu_ps (factor) };
}

/* Runs a stage on the groups, four at a time. Unless keep is set, drops groups
 * without a passing window. */
static inline void
pass_stage (const CuvScanRow *row, int x, const HaarStage *stage, bool keep,
    Groups *groups)
{
  const HaarTables *self = (const HaarTables *) row->tables;
  const HaarNode *nodes = self->nodes[cuv_avx2_layout (row->step)];
  int kept = 0;

  for (int i = 0, n; i < groups->n; i += n) {
    const int left = groups->n - i;
    __m256i sum[CUV_HAAR_MAX_VIEWS];
    HaarView view[CUV_HAAR_MAX_VIEWS];

    n = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    for (int k = 0; k < n; k++)
      view[k] = view_at (row, x + groups->at[i + k], groups->factor[i + k]);
    if (n == 4)
      sum_stage (self, nodes, stage, view, 4, sum);
    else if (n == 2)
      sum_stage (self, nodes, stage, view, 2, sum);
    else
      sum_stage (self, nodes, stage, view, 1, sum);
    for (int k = 0; k < n; k++) {
      unsigned passed =
          passes (self, nodes, stage, &view[k], sum[k], groups->alive[i + k]);

      if (passed == 0 && !keep)
        continue;
      groups->alive[kept] = (uint8_t) passed;
      groups->at[kept] = groups->at[i + k];
      _mm256_storeu_ps (groups->factor[kept++], view[k].factor);
    }
  }
  groups->n = kept;
}

/* Returns the mask of the group's windows, from x on, that are in the range. */
static inline unsigned
mask_of (const CuvRange *range, int x)
{
  const int first = range->first - x, end = range->end - x;

  if (first >= GROUP || end <= 0)
    return 0;
  return (0xffu << (first > 0 ? first : 0))
      & (end < GROUP ? (1u << end) - 1 : 0xff);
}

/* Adds each of the n_groups groups from x on that has a window with enough
 * contrast. Writes the mask of each group's windows with enough contrast to
 * `contrast`. */
static void
start_groups (const CuvScanRow *row, int x, int n_groups, uint8_t *contrast,
    Groups *groups)
{
  const HaarTables *self = (const HaarTables *) row->tables;
  int layout = cuv_avx2_layout (row->step);

  groups->n = 0;
  for (int i = 0; i < n_groups; i++) {
    const unsigned in_range = mask_of (&row->range, x + GROUP * i);

    contrast[i] = in_range == 0
        ? 0
        : (uint8_t) (in_range
            & find_factor (self, &row->integrals, layout, x + GROUP * i,
                groups->factor[groups->n]));
    groups->at[groups->n] = (int16_t) (GROUP * i);
    groups->alive[groups->n] = contrast[i];
    groups->n += contrast[i] != 0;
  }
}

/* Evaluates the first stage, in which rejected windows determine which windows
 * are visited next. */
static void
first_stage (const CuvScanRow *row, int x, int n, unsigned *skip,
    Groups *groups, CuvHitList *list)
{
  const HaarTables *self = (const HaarTables *) row->tables;
  const int n_groups = (n + GROUP - 1) / GROUP;
  uint8_t contrast[CHUNK];
  int kept = 0, next = 0;

  start_groups (row, x, n_groups, contrast, groups);
  pass_stage (row, x, &self->stages[0], true, groups);
  for (int i = 0; i < n_groups; i++) {
    const int left = n - GROUP * i, at = next;
    unsigned passed = contrast[i] != 0 ? groups->alive[next++] : 0;
    unsigned failed = row->plan->skip ? contrast[i] & ~passed : 0;
    unsigned visited = cuv_avx2_visit (failed, GROUP, skip)
        & (left < GROUP ? (1u << left) - 1 : 0xff);

    list->windows += (unsigned) __builtin_popcount (visited);
    list->weak += (uint64_t) __builtin_popcount (visited & contrast[i])
        * (unsigned) self->stages[0].n;
    passed &= visited;
    list->survivors[0] += (unsigned) __builtin_popcount (passed);
    if (passed == 0)
      continue;
    groups->alive[kept] = (uint8_t) passed;
    groups->at[kept] = groups->at[at];
    memmove (groups->factor[kept++], groups->factor[at], sizeof (float[GROUP]));
  }
  groups->n = kept;
}

static unsigned
count_alive (const Groups *groups)
{
  unsigned n = 0;

  for (int i = 0; i < groups->n; i++)
    n += (unsigned) __builtin_popcount (groups->alive[i]);
  return n;
}

static void
haar_add_hits (
    const CuvScanRow *row, int x, const Groups *groups, CuvHitList *list)
{
  const HaarTables *self = (const HaarTables *) row->tables;
  const HaarNode *nodes = self->nodes[cuv_avx2_layout (row->step)];
  const HaarStage *stage = &self->stages[self->n_stages - 1];

  for (int i = 0; i < groups->n; i++) {
    HaarView view = view_at (row, x + groups->at[i], groups->factor[i]);
    double sums[GROUP];

    exact_stage (self, nodes, stage, &view, sums);
    for (unsigned left = groups->alive[i]; left != 0; left &= left - 1) {
      int k = __builtin_ctz (left);

      cuv_hit_list_add (list, row->level, (x + groups->at[i] + k) * row->step,
          row->y, (float) (sums[k] - (double) stage->threshold));
    }
  }
}

static void
haar_scan_row (const CuvScanRow *row, CuvHitList *list)
{
  const HaarTables *self = (const HaarTables *) row->tables;
  unsigned skip = 0;
  Groups groups;

  for (int x = 0; x < row->n_x; x += CHUNK * GROUP) {
    int n = row->n_x - x < CHUNK * GROUP ? row->n_x - x : CHUNK * GROUP;

    first_stage (row, x, n, &skip, &groups, list);
    for (int s = 1; s < self->n_stages && groups.n > 0; s++) {
      list->weak +=
          (uint64_t) count_alive (&groups) * (unsigned) self->stages[s].n;
      pass_stage (row, x, &self->stages[s], false, &groups);
      list->survivors[s] += count_alive (&groups);
    }
    haar_add_hits (row, x, &groups, list);
  }
}

const CuvAvx2Version cuv_avx2_haar = { cuv_avx2_haar_tables_new,
  { .sum_size = sizeof (uint32_t),
      .sum_row = cuv_avx2_sum_row_32,
      .square_row = cuv_avx2_square_row_32,
      .tilted_row = cuv_avx2_tilted_row_32,
      .scan_row = haar_scan_row } };
