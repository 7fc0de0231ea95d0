/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans with OpenCV cascades of LBP stumps, 16 windows at a time. Cascades of
 * LBP trees, or with more than 4096 stumps in a stage, run in plain C. */
#include "cpu/x86/grid-avx2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t subset[8];
  Grid grid;
  float left, right;
  int32_t gain; /* left leaf - right leaf, in the stage's units */
} Stump;

typedef struct {
  /* base: integer sum if a window goes right in all stumps */
  int32_t first, n, base;
  float threshold;
  CuvStageLimits limits;
} Stage;

typedef struct {
  CuvWaldboostTables tables;
  int n_stages;
  Stage *stages;
  Stump *stumps;
} LbpTables;

/* ---- tables ---- */

#define MAX_STUMPS 4096 /* per stage, so that its sums fit 16 bits */

static bool
is_supported (const CuvWaldboostModel *model)
{
  for (int i = 0; i < model->n_stages; i++)
    if (model->stage_first[i + 1] - model->stage_first[i] > MAX_STUMPS)
      return false;
  return model->feature == CUV_FEATURE_LBP && model->stumps && model->inclusive
      && model->block_value == CUV_BLOCK_SUM
      && model->max_block_area <= GRID_MAX_AREA;
}

static Stump
make_stump (
    const CuvWaldboostModel *model, const CuvWeak *weak, ptrdiff_t stride)
{
  const CuvGridNode *node = &model->nodes[weak->first_node];
  Stump stump = { .grid = grid_make (node, stride),
    .left = model->leaves[weak->first_leaf - node->left],
    .right = model->leaves[weak->first_leaf - node->right] };

  memcpy (stump.subset, node->subset, sizeof stump.subset);
  return stump;
}

/* maximum number of stumps with which all combinations are tried */
#define MAX_SUBSETS 12

/* Tries all combinations of leaves of n stumps. `sum` and `exact` are the sums
 * over the stumps before them, in integers and as in the reference. */
static void
try_leaves (const Stump *stumps, int n, int32_t sum, double exact, Stage *stage)
{
  CuvStageLimits *limits = &stage->limits;

  if (n > 0) {
    try_leaves (stumps + 1, n - 1, sum, exact + (double) stumps->right, stage);
    try_leaves (stumps + 1, n - 1, sum + stumps->gain,
        exact + (double) stumps->left, stage);
  } else if (exact < (double) stage->threshold) {
    if (sum > limits->passes_above)
      limits->passes_above = sum;
  } else if (sum <= limits->fails_to) {
    limits->fails_to = sum - 1;
  }
}

/* If a stage has few stumps, replaces its limits by those of the sums that can
 * occur. A threshold is often equal to such a sum: many windows near it would
 * be undecided with the general limits, but usually none with these. */
static void
narrow_limits (const Stump *stumps, Stage *stage)
{
  if (stage->n > MAX_SUBSETS)
    return;
  stage->limits.passes_above = INT16_MIN;
  stage->limits.fails_to = INT16_MAX;
  try_leaves (stumps, stage->n, stage->base, 0, stage);
}

static Stage
make_stage (Stump *stumps, const CuvWaldboostModel *model, int index)
{
  int first = model->stage_first[index], end = model->stage_first[index + 1];
  Stage stage = { .first = first,
    .n = end - first,
    .threshold = model->weak[end - 1].threshold };
  double largest = 0;

  for (int i = first; i < end; i++)
    largest +=
        fmax (fabs ((double) stumps[i].left), fabs ((double) stumps[i].right));
  stage.limits = cuv_avx2_stage_limits (16, stage.n, largest, stage.threshold);
  for (int i = first; i < end; i++) {
    int32_t right = cuv_avx2_fixed_leaf (&stage.limits, stumps[i].right);

    stumps[i].gain =
        cuv_avx2_fixed_leaf (&stage.limits, stumps[i].left) - right;
    stage.base += right;
  }
  narrow_limits (stumps + first, &stage);
  return stage;
}

/* ---- windows ---- */

/* Returns all ones where the pattern is in the stump's subset. Bits 0 to 6 are
 * those of grid_patterns(), inclusive; bit 7 selects a half of the subset
 * instead. The upper byte is 0x80, so that the upper byte of power is 0. */
static inline __m256i
go_left (const GridSums *sums, const Stump *stump)
{
  static const uint8_t clockwise[] = { 1, 2, 5, 8, 7, 6 };
  const __m256i powers = _mm256_broadcastsi128_si256 (_mm_setr_epi8 (
      1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128));
  const __m128i *subset = (const __m128i *) stump->subset;
  __m256i low = _mm256_broadcastsi128_si256 (_mm_loadu_si128 (subset));
  __m256i high = _mm256_broadcastsi128_si256 (_mm_loadu_si128 (subset + 1));
  __m256i centre = sums->block[4], bit[6], pattern, byte, power;
  __m256i is_low = _mm256_cmpgt_epi16 (centre, sums->block[0]);

  for (int i = 0; i < 6; i++)
    bit[i] = grid_bits (sums->block[clockwise[i]], centre,
        _mm256_set1_epi16 ((short) (64 >> i)), true);
  pattern = _mm256_add_epi16 (_mm256_cmpgt_epi16 (centre, sums->block[3]),
      _mm256_set1_epi16 ((short) 0x8001)); /* the lowest bit, and 0x80 */
  pattern = _mm256_or_si256 (_mm256_or_si256 (_mm256_or_si256 (bit[0], bit[1]),
                                 _mm256_or_si256 (bit[2], bit[3])),
      _mm256_or_si256 (_mm256_or_si256 (bit[4], bit[5]), pattern));
  byte = _mm256_srli_epi16 (pattern, 3);
  byte = _mm256_blendv_epi8 (_mm256_shuffle_epi8 (high, byte),
      _mm256_shuffle_epi8 (low, byte), is_low);
  power = _mm256_shuffle_epi8 (powers, pattern);
  return _mm256_cmpeq_epi16 (_mm256_and_si256 (byte, power), power);
}

/* Computes a stage's sum for one window as the reference does. */
static double
exact_sum (const uint16_t *sums, const LbpTables *tables, const Stage *stage,
    int layout)
{
  double sum = 0;

  for (int i = stage->first; i < stage->first + stage->n; i++) {
    const Stump *stump = &tables->stumps[i];
    uint16_t block[9];
    int code;

    grid_sums_of_one (sums, &stump->grid, layout, block);
    code = grid_pattern_of_one (block);
    sum +=
        (double) (stump->subset[code >> 5] >> (code & 31) & 1 ? stump->left
                                                              : stump->right);
  }
  return sum;
}

static unsigned
exact_passes (const uint16_t *sums, const LbpTables *tables, const Stage *stage,
    int layout, unsigned windows)
{
  unsigned passed = 0;

  for (; windows != 0; windows &= windows - 1) {
    int i = __builtin_ctz (windows);
    double sum = exact_sum (sums + i, tables, stage, layout);

    passed |= (unsigned) !(sum < (double) stage->threshold) << i;
  }
  return passed;
}

/* Computes the sums of 16 windows. */
static inline __m256i
add_stage (
    const uint16_t *sums, const Stump *stump, const Stage *stage, int layout)
{
  __m256i sum = _mm256_set1_epi16 ((short) stage->base);

  for (const Stump *end = stump + stage->n; stump < end; stump++) {
    GridSums blocks = grid_sums (sums, &stump->grid, layout);

    sum = _mm256_add_epi16 (sum,
        _mm256_and_si256 (
            _mm256_set1_epi16 ((short) stump->gain), go_left (&blocks, stump)));
  }
  return sum;
}

/* Returns the mask of the windows whose sums are above the limit; window 0 is
 * bit 0. */
static inline unsigned
above (__m256i sum, int32_t limit)
{
  __m256i words = _mm256_cmpgt_epi16 (sum, _mm256_set1_epi16 ((short) limit));

  return (unsigned) _mm_movemask_epi8 (_mm_packs_epi16 (
      _mm256_castsi256_si128 (words), _mm256_extracti128_si256 (words, 1)));
}

/* Returns the mask of the windows in `alive` that pass a stage. */
static inline unsigned
pass_stage (const uint16_t *sums, const LbpTables *tables, const Stage *stage,
    int layout, unsigned alive)
{
  __m256i sum = add_stage (sums, tables->stumps + stage->first, stage, layout);
  unsigned passed = above (sum, stage->limits.passes_above) & alive;
  unsigned undecided = above (sum, stage->limits.fails_to) & alive & ~passed;

  if (undecided != 0)
    passed |= exact_passes (sums, tables, stage, layout, undecided);
  return passed;
}

/* ---- rows ---- */

static void
lbp_add_hits (const CuvScanRow *row, const uint16_t *sums, int x, unsigned left,
    CuvHitList *list)
{
  const LbpTables *tables = (const LbpTables *) row->tables;
  const Stage *stage = &tables->stages[tables->n_stages - 1];

  for (; left != 0; left &= left - 1) {
    int i = __builtin_ctz (left);
    double sum =
        exact_sum (sums + i, tables, stage, cuv_avx2_layout (row->step));

    cuv_hit_list_add (list, row->level, (x + i) * row->step, row->y,
        (float) (sum - (double) stage->threshold));
  }
}

static void
lbp_scan_row (const CuvScanRow *row, CuvHitList *list)
{
  const LbpTables *tables = (const LbpTables *) row->tables;
  int layout = cuv_avx2_layout (row->step);
  unsigned skip = 0;

  for (int x = 0; x < row->n_x; x += 16) {
    const uint16_t *sums = (const uint16_t *) row->integrals.sums + x;
    unsigned inside = row->n_x - x < 16 ? (1u << (row->n_x - x)) - 1 : 0xffff;
    unsigned passed =
        pass_stage (sums, tables, &tables->stages[0], layout, inside);
    unsigned left =
        cuv_avx2_visit (row->plan->skip ? ~passed : 0, 16, &skip) & inside;

    list->windows += (unsigned) __builtin_popcount (left);
    for (int s = 0; s < tables->n_stages && left != 0; s++) {
      const Stage *stage = &tables->stages[s];

      list->weak += (uint64_t) __builtin_popcount (left) * (unsigned) stage->n;
      left = s == 0 ? passed & left
                    : pass_stage (sums, tables, stage, layout, left);
      list->survivors[s] += (unsigned) __builtin_popcount (left);
    }
    lbp_add_hits (row, sums, x, left, list);
  }
}

/* ---- entry point ---- */

static bool
make_tables (LbpTables *self, const CuvWaldboostModel *model, ptrdiff_t stride)
{
  self->stumps = calloc (model->n_weak, sizeof *self->stumps);
  self->stages = calloc (model->n_stages, sizeof *self->stages);
  self->tables.memory[0] = self->stumps;
  self->tables.memory[1] = self->stages;
  if (self->stumps == NULL || self->stages == NULL)
    return false;
  for (int i = 0; i < model->n_weak; i++)
    self->stumps[i] = make_stump (model, &model->weak[i], stride);
  self->n_stages = model->n_stages;
  for (int i = 0; i < model->n_stages; i++)
    self->stages[i] = make_stage (self->stumps, model, i);
  return true;
}

static CuvWaldboostTables *
tables_new (const CuvWaldboostModel *model, ptrdiff_t stride)
{
  LbpTables *self;

  if (!is_supported (model) || (self = calloc (1, sizeof *self)) == NULL)
    return NULL;
  if (make_tables (self, model, stride))
    return &self->tables;
  cuv_waldboost_tables_free_avx2 (&self->tables);
  return NULL;
}

const CuvAvx2Version cuv_avx2_lbp = { tables_new,
  { .sum_size = sizeof (uint16_t),
      .sum_row = cuv_avx2_sum_row_16,
      .scan_row = lbp_scan_row } };
