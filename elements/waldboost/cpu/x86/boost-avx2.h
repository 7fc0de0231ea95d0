/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of a WaldBoost model of grid features: built by boost-tables-avx2.c,
 * used by boost-avx2.c. */
#ifndef CUV_WALDBOOST_AVX2_BOOST_H
#define CUV_WALDBOOST_AVX2_BOOST_H

#include "cpu/x86/grid-avx2.h"

typedef enum { BOOST_LBP, BOOST_LBP_INCLUSIVE, BOOST_LRD, BOOST_LRP } BoostKind;

/* A weak classifier. Leaves and threshold are the bits of floats, or integers
 * in fixed arithmetic. */
typedef struct {
  Grid grid;
  int32_t a, b, tested, threshold;
  const int32_t *leaves;
} BoostWeak;

typedef struct {
  CuvWaldboostTables tables;
  BoostKind kind;
  bool fixed;
  int32_t n_weak;
  const BoostWeak *weak;
  const GridQuad *quads; /* NULL if some feature does not fit one */
} BoostTables;

/* The final test of a window's sum, as in the reference. */
bool cuv_avx2_boost_is_hit (
    const CuvWaldboostModel *model, int32_t sum, float *score);

/* Returns NULL if the model is not supported or memory runs out. */
CuvWaldboostTables *cuv_avx2_boost_tables_new (
    const CuvWaldboostModel *model, ptrdiff_t stride);

#endif
