/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations shared by the parts of the AVX2 version.
 *
 * Model -> file:
 *   OpenCV cascade of LBP stumps               lbp-avx2.c
 *   OpenCV cascade of Haar stumps or trees     haar-avx2.c, haar-trees-avx2.h;
 *                                              tables: haar-tables-avx2.c
 *   WaldBoost model of LBP, LRD or LRP         boost-avx2.c; tables:
 *                                              boost-tables-avx2.c
 *   OpenCV cascade of LBP trees,
 *   WaldBoost model of Haar features           plain C, reference/waldboost.c
 * Shared: waldboost-avx2.c (entry, resize), integral-avx2.c (integral images),
 * grid-avx2.h (features of 3x3 blocks), tables-avx2.c (limits of stages).
 *
 * A level's windows are 1, 2 or 4 columns apart (step). Rows of integral images
 * store their columns in `step` groups, by remainder modulo step: at step 2 the
 * even columns, then the odd ones. Thus the same corners of adjacent windows
 * are contiguous in memory. */
#ifndef CUV_WALDBOOST_AVX2_H
#define CUV_WALDBOOST_AVX2_H

#include "cpu/waldboost-dsp.h"
#include "cuvavx2.h"

#define CUV_N_LAYOUTS 3 /* steps 1, 2, 4 */

/* All tables of scan_row functions begin with this. */
struct _CuvWaldboostTables {
  void *memory[8]; /* freed with the tables */
};

/* The version for a kind of model. */
typedef struct {
  /* Returns NULL if the model is not supported or memory runs out. */
  CuvWaldboostTables *(*tables_new) (
      const CuvWaldboostModel *model, ptrdiff_t stride);
  /* functions that depend on the tables; others are NULL */
  CuvWaldboostDsp dsp;
} CuvAvx2Version;

/* lbp-avx2.c: OpenCV cascades of LBP stumps. boost-avx2.c: WaldBoost models of
 * LBP, LRD and LRP. haar-avx2.c: OpenCV cascades of Haar stumps and trees. */
extern const CuvAvx2Version cuv_avx2_lbp, cuv_avx2_boost, cuv_avx2_haar;

/* ---- tables-avx2.c ---- */

/* Limits of a stage's integer sum, which adds leaves times 2^exponent, rounded.
 * Its distance from the reference's sum is bounded: between the two limits the
 * result is undecided, and the reference's sum must be computed. */
typedef struct {
  int exponent;
  int32_t passes_above; /* sums above this pass */
  int32_t fails_to;     /* sums at or below this fail */
} CuvStageLimits;

/* Computes the limits for integer sums of this number of bits, and for n
 * trees whose largest leaf magnitudes add up to `largest`. */
CuvStageLimits cuv_avx2_stage_limits (
    int bits, int n, double largest, float threshold);

int32_t cuv_avx2_fixed_leaf (const CuvStageLimits *limits, float leaf);

/* ---- integral-avx2.c: elements of 16 and of 32 bits ---- */
void cuv_avx2_sum_row_16 (void *sums, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride);
void cuv_avx2_sum_row_32 (void *sums, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride);
void cuv_avx2_square_row_32 (void *squares, const void *above,
    const uint8_t *grey, int width, int step, ptrdiff_t stride);
void cuv_avx2_tilted_row_32 (void *tilted, const void *above,
    const void *two_above, const uint8_t *grey, const uint8_t *grey_above,
    int width, int step, ptrdiff_t stride);

static inline int
cuv_avx2_layout (int step)
{
  return step == 4 ? 2 : step - 1;
}

/* Returns the index of column x in a row. */
static inline int
cuv_avx2_column (int x, int layout, ptrdiff_t stride)
{
  int step = 1 << layout;

  return (x & (step - 1)) * (int) (stride / step) + (x >> layout);
}

/* Returns the mask of the visited windows among n (less than 32) if each
 * visited window in `failed` skips the next one. *skip: whether the first
 * window is skipped; on return, whether the window after the n windows is
 * skipped.
 *
 * Of a run of failed windows every other one is skipped, and the window after
 * the run if its length is odd. Adding a run's first bit to the run carries to
 * the window after it. */
static inline unsigned
cuv_avx2_visit (unsigned failed, unsigned n, unsigned *skip)
{
  const unsigned all = (1u << n) - 1, even = 0x55555555;
  unsigned runs = failed & all & ~*skip, first = runs & ~(runs << 1);
  unsigned from_even = (runs + (first & even)) ^ runs;
  unsigned from_odd = (runs + (first & ~even)) ^ runs;
  unsigned skipped = (from_even & ~even) | (from_odd & even) | *skip;

  *skip = skipped >> n & 1;
  return all & ~skipped;
}

#endif
