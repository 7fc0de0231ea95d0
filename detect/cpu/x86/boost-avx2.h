/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of a WaldBoost model of grid features, which boost-tables-avx2.c
 * builds and boost-avx2.c uses. */
#ifndef CUV_WALDBOOST_AVX2_BOOST_H
#define CUV_WALDBOOST_AVX2_BOOST_H

#include "cpu/x86/grid-avx2.h"

typedef enum { BOOST_LBP, BOOST_LBP_INCLUSIVE, BOOST_LRD, BOOST_LRP } BoostKind;

/* A weak classifier. Leaves and threshold are the bits of floats or, in fixed
 * arithmetic, integers. */
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
  const GridQuad *quads; /* NULL if a feature does not fit a GridQuad */
} BoostTables;

/* Applies the final test to a window's sum, as the reference does. */
bool cuv_avx2_boost_is_hit (
    const CuvWaldboostModel *model, int32_t sum, float *score);

/* Returns NULL if the model is not supported or memory runs out. */
CuvWaldboostTables *cuv_avx2_boost_tables_new (
    const CuvWaldboostModel *model, ptrdiff_t stride);

#endif
