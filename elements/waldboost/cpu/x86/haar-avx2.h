/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A Haar cascade as vectors want it: made by cpu/x86/haar-tables-avx2.c,
 * scanned with by cpu/x86/haar-avx2.c. */
#ifndef CUV_WALDBOOST_AVX2_HAAR_H
#define CUV_WALDBOOST_AVX2_HAAR_H

#include "cpu/x86/waldboost-avx2.h"

#define HAAR_MAX_TREE 8 /* nodes */

/* How a feature's value is worked out: of two or three rectangles, in float, or
 * where all of that is exact as one sum of corners. */
enum {
  HAAR_EDGE,     /* + - + - of the first corners, twice + - of two more */
  HAAR_QUARTERS, /* four corners - 2 * four more + 4 * the last */
  HAAR_TWO,
  HAAR_THREE,
  HAAR_N_SHAPES
};

typedef struct {
  int32_t corner[12]; /* in the integral picture, from the window's */
  float weight[3];
  float threshold;
  int32_t gain;        /* of a stump that goes left, in its stage's units */
  int32_t left, right; /* of a tree, as in CuvHaarNode */
  int16_t shape, tilted;
} HaarNode;

/* Most trees are a root with one node below it: they add low, and gain if that
 * node goes left, where the root does not go to its leaf. */
typedef struct {
  int32_t first_node, n_nodes, first_leaf, n_leaves;
  int32_t is_pair, other_side; /* all ones if the leaf is on the left */
  int32_t low, gain;           /* in the stage's units */
} HaarTree;

typedef struct {
  int32_t first, n; /* trees */
  float threshold;
  int32_t base; /* the sum if all stumps go right, all pairs to their leaves */
  /* stumps once more, by shape */
  int32_t first_sorted, n_of[2][HAAR_N_SHAPES];
  CuvStageLimits limits;
} HaarStage;

typedef struct {
  CuvWaldboostTables tables;
  bool stumps, tilted;
  int n_stages, n_nodes, n_leaves; /* nodes without the sorted ones */
  const HaarStage *stages;
  const HaarTree *trees;
  const HaarNode *nodes[CUV_N_LAYOUTS];
  const float *leaves;
  const int32_t *fixed_leaves;     /* in units of their stage */
  int32_t inner[CUV_N_LAYOUTS][4]; /* corners of what contrast is taken of */
  double inner_area;
} HaarTables;

/* NULL if the model is not one for it or memory runs out. */
CuvWaldboostTables *cuv_avx2_haar_tables_new (
    const CuvWaldboostModel *model, ptrdiff_t stride);

#endif
