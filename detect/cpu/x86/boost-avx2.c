/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans rows of windows with WaldBoost models of LBP, LRD and LRP features.
 *
 * Each weak classifier is evaluated for all windows of a chunk of a row before
 * the next one: at first for groups of 16 adjacent windows, until no window of
 * the group is alive; once few windows are alive, for a compacted list, four at
 * a time. */
#include "cpu/x86/boost-avx2.h"

#define GROUP 16
#define CHUNK 1024 /* windows per chunk of a row */

/* With fewer than LIST_PER_GROUP alive windows per group, they are compacted
 * into a list; a list of fewer than SHORT_LIST windows is run to the end,
 * four windows at a time. Tuned with the WaldBoost models of
 * docs/benchmarks/waldboost.md, "On the CPU, against OpenCV", last
 * paragraph. */
#define LIST_PER_GROUP 5
#define SHORT_LIST 8

/* Windows that are not rejected so far. Sums are the bits of floats or, in
 * fixed arithmetic, integers. */
typedef struct {
  int n_groups, n_alive;
  /* masks, bit k: window k of the group is alive */
  uint16_t alive[CHUNK / GROUP];
  int16_t at[CHUNK / GROUP]; /* position of a group's first window */
  int32_t group_sum[CHUNK / GROUP][GROUP];
  int32_t x[CHUNK + 4]; /* the list, with n_alive windows */
  int32_t sum[CHUNK + 4];
} Windows;

typedef struct {
  const CuvScanRow *row;
  const BoostTables *tables;
  const uint16_t *sums; /* element of the chunk's first window */
  int layout;
} Scan;

/* Counters; segment_end and survivors point to the current segment. */
typedef struct {
  CuvHitList *list;
  const int32_t *segment_end;
  uint64_t *survivors;
  int n_weak;
} Counts;

/* Counts n windows that passed weak classifier `index`. Windows that pass the
 * last weak classifier are counted by the final test instead. */
static inline void
count_survivors (Counts *self, int index, unsigned n)
{
  if (index + 1 < *self->segment_end || index + 1 == self->n_weak)
    return;
  *self->survivors++ += n;
  self->segment_end++;
}

/* ---- groups ---- */

CUV_INLINE __m256i
codes (const Scan *scan, int at, const BoostWeak *weak, BoostKind kind)
{
  GridSums blocks = grid_sums (scan->sums + at, &weak->grid, scan->layout);
  __m256i a, b;

  switch (kind) {
    case BOOST_LBP:
    case BOOST_LBP_INCLUSIVE:
      return grid_patterns (&blocks, kind == BOOST_LBP_INCLUSIVE);
    case BOOST_LRD:
    case BOOST_LRP:
      break;
  }
  a = grid_ranks (&blocks, weak->a);
  b = grid_ranks (&blocks, weak->b);
  return kind == BOOST_LRD
      ? _mm256_add_epi16 (_mm256_sub_epi16 (a, b), _mm256_set1_epi16 (8))
      : _mm256_add_epi16 (a, _mm256_mullo_epi16 (b, _mm256_set1_epi16 (10)));
}

/* Adds the leaves selected by 8 codes. Returns the mask of the windows that are
 * not below the threshold. */
CUV_INLINE unsigned
add_leaves (const int32_t *sums, int32_t *out, __m128i code,
    const BoostWeak *weak, bool fixed)
{
  __m256i leaf =
      _mm256_i32gather_epi32 (weak->leaves, _mm256_cvtepu16_epi32 (code), 4);
  __m256i sum = load (sums);
  __m256i limit = _mm256_set1_epi32 (weak->threshold);
  __m256 value =
      _mm256_add_ps (_mm256_castsi256_ps (sum), _mm256_castsi256_ps (leaf));
  __m256 below = _mm256_cmp_ps (value, _mm256_castsi256_ps (limit), _CMP_LT_OQ);

  if (fixed) {
    value = _mm256_castsi256_ps (_mm256_add_epi32 (sum, leaf));
    below = _mm256_castsi256_ps (
        _mm256_cmpgt_epi32 (limit, _mm256_castps_si256 (value)));
  }
  _mm256_storeu_ps ((float *) out, value);
  return (unsigned) _mm256_movemask_ps (below) ^ 0xff;
}

/* Evaluates one weak classifier for all groups. */
CUV_INLINE void
run_groups (
    const Scan *scan, int index, BoostKind kind, bool fixed, Windows *self)
{
  const BoostWeak *weak = &scan->tables->weak[index];
  int kept = 0;

  self->n_alive = 0;
  for (int i = 0; i < self->n_groups; i++) {
    __m256i code = codes (scan, self->at[i], weak, kind);
    const int32_t *sum = self->group_sum[i];
    int32_t *out = self->group_sum[kept];
    unsigned passed =
        add_leaves (sum, out, _mm256_castsi256_si128 (code), weak, fixed);

    passed |= add_leaves (sum + 8, out + 8, _mm256_extracti128_si256 (code, 1),
                  weak, fixed)
        << 8;
    passed = weak->tested ? passed & self->alive[i] : self->alive[i];
    self->alive[kept] = (uint16_t) passed;
    self->at[kept] = self->at[i];
    self->n_alive += __builtin_popcount (passed);
    kept += passed != 0;
  }
  self->n_groups = kept;
}

static void
start_groups (int n, Windows *self)
{
  self->n_alive = n;
  self->n_groups = (n + GROUP - 1) / GROUP;
  memset (self->group_sum, 0, self->n_groups * sizeof *self->group_sum);
  for (int i = 0; i < self->n_groups; i++) {
    int left = n - GROUP * i;

    self->at[i] = (int16_t) (GROUP * i);
    self->alive[i] =
        left < GROUP ? (uint16_t) ((1u << left) - 1) : (uint16_t) 0xffff;
  }
}

/* ---- lists ---- */

#define LANE(i) 4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3
#define LANES(a, b, c, d)                                                      \
  {                                                                            \
    LANE (a), LANE (b), LANE (c), LANE (d)                                     \
  }

/* Shuffle masks that move the lanes of a mask to the front. */
static const _Alignas(16) uint8_t compact[16][16] = { LANES (0, 0, 0, 0),
  LANES (0, 0, 0, 0), LANES (1, 0, 0, 0), LANES (0, 1, 0, 0),
  LANES (2, 0, 0, 0), LANES (0, 2, 0, 0), LANES (1, 2, 0, 0),
  LANES (0, 1, 2, 0), LANES (3, 0, 0, 0), LANES (0, 3, 0, 0),
  LANES (1, 3, 0, 0), LANES (0, 1, 3, 0), LANES (2, 3, 0, 0),
  LANES (0, 2, 3, 0), LANES (1, 2, 3, 0), LANES (0, 1, 2, 3) };

static void
make_list (Windows *self)
{
  int n = 0;

  for (int i = 0; i < self->n_groups; i++) {
    for (unsigned left = self->alive[i]; left != 0; left &= left - 1) {
      int k = __builtin_ctz (left);

      self->x[n] = self->at[i] + k;
      self->sum[n++] = self->group_sum[i][k];
    }
  }
}

CUV_INLINE __m256i
codes_of_four (
    const Scan *scan, const int32_t *x, const GridQuad *quad, BoostKind kind)
{
  GridQuadSums sums = grid_quad_sums (scan->sums, x, quad);

  switch (kind) {
    case BOOST_LRD:
      return grid_quad_lrd (&sums, quad);
    case BOOST_LRP:
      return grid_quad_lrp (&sums, quad);
    case BOOST_LBP:
    case BOOST_LBP_INCLUSIVE:
      break;
  }
  return grid_quad_lbp (&sums, kind == BOOST_LBP_INCLUSIVE);
}

/* Adds four leaves. Returns the mask of the windows that are not below the
 * threshold. */
CUV_INLINE unsigned
add_four (__m128i *sum, __m256i code, const BoostWeak *weak, bool fixed)
{
  __m128i leaf = _mm256_i64gather_epi32 (weak->leaves, code, 4);
  __m128i limit = _mm_set1_epi32 (weak->threshold);
  __m128 below;

  if (fixed) {
    *sum = _mm_add_epi32 (*sum, leaf);
    below = _mm_castsi128_ps (_mm_cmpgt_epi32 (limit, *sum));
  } else {
    __m128 value =
        _mm_add_ps (_mm_castsi128_ps (*sum), _mm_castsi128_ps (leaf));

    *sum = _mm_castps_si128 (value);
    below = _mm_cmplt_ps (value, _mm_castsi128_ps (limit));
  }
  return (unsigned) _mm_movemask_ps (below) ^ 15;
}

/* Stores the lanes of mask contiguously; always writes 16 bytes. */
static inline void
store_compacted (int32_t *at, __m128i value, unsigned mask)
{
  __m128i order = _mm_load_si128 ((const __m128i *) compact[mask]);

  _mm_storeu_si128 ((__m128i *) at, _mm_shuffle_epi8 (value, order));
}

/* Evaluates one weak classifier for the list. */
CUV_INLINE void
run_list (
    const Scan *scan, int index, BoostKind kind, bool fixed, Windows *self)
{
  const BoostWeak *weak = &scan->tables->weak[index];
  const GridQuad *quad = &scan->tables->quads[index];
  unsigned always = weak->tested ? 0 : 15;
  int n = self->n_alive, kept = 0;

  for (int i = n; i < n + 3; i++)
    self->x[i] = self->x[n - 1];
  for (int i = 0; i < n; i += 4) {
    __m128i x = _mm_loadu_si128 ((const __m128i *) (self->x + i));
    __m128i sum = _mm_loadu_si128 ((const __m128i *) (self->sum + i));
    __m256i code = codes_of_four (scan, self->x + i, quad, kind);
    unsigned passed = add_four (&sum, code, weak, fixed) | always;

    passed &= n - i < 4 ? (1u << (n - i)) - 1 : 15;
    store_compacted (self->x + kept, x, passed);
    store_compacted (self->sum + kept, sum, passed);
    kept += __builtin_popcount (passed);
  }
  self->n_alive = kept;
}

/* Runs four windows from a weak classifier to the end. As nothing is compacted
 * in between, the processor overlaps successive weak classifiers. Returns the
 * mask of the windows that pass. */
CUV_INLINE unsigned
finish_four (const Scan *scan, int index, BoostKind kind, bool fixed,
    const int32_t *x, int32_t *sums, unsigned alive, Counts counts)
{
  const BoostTables *tables = scan->tables;
  __m128i sum = _mm_loadu_si128 ((const __m128i *) sums);

  for (; index < tables->n_weak && alive != 0; index++) {
    const BoostWeak *weak = &tables->weak[index];
    __m256i code = codes_of_four (scan, x, &tables->quads[index], kind);
    unsigned passed = add_four (&sum, code, weak, fixed);

    counts.list->weak += (unsigned) __builtin_popcount (alive);
    alive &= weak->tested ? passed : 15;
    count_survivors (&counts, index, (unsigned) __builtin_popcount (alive));
  }
  _mm_storeu_si128 ((__m128i *) sums, sum);
  return alive;
}

CUV_INLINE void
finish_list (const Scan *scan, int index, BoostKind kind, bool fixed,
    Windows *self, Counts counts)
{
  int n = self->n_alive, kept = 0;

  for (int i = n; i < n + 3; i++)
    self->x[i] = self->x[n - 1];
  for (int i = 0; i < n; i += 4) {
    int32_t x[4], sum[4];
    unsigned alive = n - i < 4 ? (1u << (n - i)) - 1 : 15;

    memcpy (x, self->x + i, sizeof x);
    memcpy (sum, self->sum + i, sizeof sum);
    alive = finish_four (scan, index, kind, fixed, x, sum, alive, counts);
    for (; alive != 0; alive &= alive - 1) {
      self->x[kept] = x[__builtin_ctz (alive)];
      self->sum[kept++] = sum[__builtin_ctz (alive)];
    }
  }
  self->n_alive = kept;
}

/* ---- hits ---- */

/* Applies the final test to the list. Returns the number of hits. */
static int
boost_add_hits (
    const Scan *scan, int x, const Windows *windows, CuvHitList *list)
{
  const CuvScanRow *row = scan->row;
  int n = 0;

  for (int i = 0; i < windows->n_alive; i++) {
    float score;

    if (!cuv_avx2_boost_is_hit (row->model, windows->sum[i], &score))
      continue;
    cuv_hit_list_add (
        list, row->level, (x + windows->x[i]) * row->step, row->y, score);
    n++;
  }
  return n;
}

/* ---- rows ---- */

/* Runs groups, and later the list, through the weak classifiers until no
 * window is alive or the list is short. Returns the number of weak
 * classifiers done. */
CUV_INLINE int
run_windows (const Scan *scan, BoostKind kind, bool fixed, Windows *windows,
    Counts *counts)
{
  bool quads = scan->tables->quads != NULL && scan->layout == 0;
  bool listed = false;
  int i = 0;

  while (i < counts->n_weak && windows->n_alive > 0) {
    if (!listed && quads
        && windows->n_alive < LIST_PER_GROUP * windows->n_groups) {
      make_list (windows);
      listed = true;
    }
    if (listed && windows->n_alive < SHORT_LIST)
      return i;
    counts->list->weak += (unsigned) windows->n_alive;
    if (listed)
      run_list (scan, i, kind, fixed, windows);
    else
      run_groups (scan, i, kind, fixed, windows);
    count_survivors (counts, i++, (unsigned) windows->n_alive);
  }
  if (!listed)
    make_list (windows);
  return i;
}

CUV_INLINE void
scan_windows (const Scan *scan, int x, int n, CuvHitList *list, BoostKind kind,
    bool fixed)
{
  const BoostTables *tables = scan->tables;
  const CuvWaldboostPlan *plan = scan->row->plan;
  Counts counts = { list, plan->segment_end, list->survivors, tables->n_weak };
  Windows windows;
  int done;

  start_groups (n, &windows);
  list->windows += (unsigned) n;
  done = run_windows (scan, kind, fixed, &windows, &counts);
  if (done < tables->n_weak && windows.n_alive > 0)
    finish_list (scan, done, kind, fixed, &windows, counts);
  list->survivors[plan->n_segments - 1] +=
      (unsigned) boost_add_hits (scan, x, &windows, list);
}

/* ---- specialisations by feature and arithmetic ---- */

#define SCAN(name, kind, fixed)                                                \
  static void name (const Scan *scan, int x, int n, CuvHitList *list)          \
  {                                                                            \
    scan_windows (scan, x, n, list, kind, fixed);                              \
  }

SCAN (scan_lbp_float, BOOST_LBP, false)
SCAN (scan_lbp_fixed, BOOST_LBP, true)
SCAN (scan_inclusive_float, BOOST_LBP_INCLUSIVE, false)
SCAN (scan_inclusive_fixed, BOOST_LBP_INCLUSIVE, true)
SCAN (scan_lrd_float, BOOST_LRD, false)
SCAN (scan_lrd_fixed, BOOST_LRD, true)
SCAN (scan_lrp_float, BOOST_LRP, false)
SCAN (scan_lrp_fixed, BOOST_LRP, true)

static void
boost_scan_row (const CuvScanRow *row, CuvHitList *list)
{
  /* [kind][fixed] */
  static void (*const functions[4][2]) (
      const Scan *scan, int x, int n, CuvHitList *list) = {
    { scan_lbp_float, scan_lbp_fixed },
    { scan_inclusive_float, scan_inclusive_fixed },
    { scan_lrd_float, scan_lrd_fixed },
    { scan_lrp_float, scan_lrp_fixed },
  };
  const BoostTables *tables = (const BoostTables *) row->tables;
  Scan scan = { row, tables, NULL, cuv_avx2_layout (row->step) };

  for (int x = 0; x < row->n_x; x += CHUNK) {
    scan.sums = (const uint16_t *) row->integrals.sums + x;
    functions[tables->kind][tables->fixed](
        &scan, x, row->n_x - x < CHUNK ? row->n_x - x : CHUNK, list);
  }
}

const CuvAvx2Version cuv_avx2_boost = { cuv_avx2_boost_tables_new,
  { .sum_size = sizeof (uint16_t),
      .sum_row = cuv_avx2_sum_row_16,
      .scan_row = boost_scan_row } };
