/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the AVX2 version share.
 *
 * A level's windows are 1, 2 or 4 columns apart. Rows of integral pictures hold
 * their columns in as many groups: at step 2 the even ones, then the odd ones.
 * So the same corner of neighbouring windows lies side by side. */
#ifndef CUV_WALDBOOST_AVX2_H
#define CUV_WALDBOOST_AVX2_H

#include "cpu/waldboost-dsp.h"

#include <immintrin.h>

#if !defined __AVX2__ && !defined __clang__
#pragma GCC target("avx2") /* a header that is compiled alone */
#endif

/* What is called with constants becomes code of its own for each. */
#define CUV_INLINE static inline __attribute__ ((always_inline))

#define CUV_N_LAYOUTS 3 /* steps 1, 2, 4 */

/* What a scan_row has made of its model begins with this. */
struct _CuvWaldboostTables {
  void *memory[8]; /* that goes with it */
};

/* Each overwrites the functions that depend on the model and sets dsp->tables,
 * or leaves dsp as it is if it does not support the model or memory runs out.
 */
void cuv_avx2_lbp_init (
    CuvWaldboostDsp *dsp, const CuvWaldboostModel *model, ptrdiff_t stride);
void cuv_avx2_boost_init (
    CuvWaldboostDsp *dsp, const CuvWaldboostModel *model, ptrdiff_t stride);
void cuv_avx2_haar_init (
    CuvWaldboostDsp *dsp, const CuvWaldboostModel *model, ptrdiff_t stride);

/* ---- tables-avx2.c ---- */

/* A cascade whose sums restart with each stage, and are tested at its end. */
bool cuv_avx2_has_stages (const CuvWaldboostModel *model);

/* A stage's sum in integers, its leaves times 2^exponent: how far it can be
 * from the reference's sum is known. Where that leaves it open whether a window
 * passes, the reference's own sum has to be made. */
typedef struct {
  int exponent;
  int32_t passes_above; /* sums above this pass */
  int32_t fails_to;     /* sums up to this fail */
} CuvStageLimits;

/* Of n trees whose largest leaves, without sign, add up to largest. */
CuvStageLimits cuv_avx2_stage_limits (int n, double largest, float threshold);

int32_t cuv_avx2_fixed_leaf (const CuvStageLimits *limits, float leaf);

/* Rows of integral pictures of 16 and of 32 bits. */
void cuv_avx2_sum_row_16 (void *sums, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride);
void cuv_avx2_sum_row_32 (void *sums, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride);
void cuv_avx2_square_row_32 (void *squares, const void *above,
    const uint8_t *grey, int width, int step, ptrdiff_t stride);
void cuv_avx2_tilted_row_32 (void *tilted, const void *above,
    const void *above_that, const uint8_t *grey, const uint8_t *grey_above,
    int width, int step, ptrdiff_t stride);

static inline int
cuv_avx2_layout (int step)
{
  return step == 4 ? 2 : step - 1;
}

/* Where a column is. */
static inline int
cuv_avx2_column (int x, int layout, ptrdiff_t stride)
{
  int step = 1 << layout;

  return (x & (step - 1)) * (int) (stride / step) + (x >> layout);
}

/* Which of n windows are visited, if one in failed makes the next one be
 * skipped. skip says whether the first one is, and then whether the one after
 * them is. */
static inline unsigned
cuv_avx2_visit (unsigned failed, unsigned n, unsigned *skip)
{
  unsigned visited = 0, i = *skip;

  while (i < n) {
    visited |= 1u << i;
    i += 1 + (failed >> i & 1);
  }
  *skip = i - n;
  return visited;
}

#endif
