/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of a Haar cascade, which haar-tables-avx2.c builds and haar-avx2.c
 * uses. */
#ifndef CUV_WALDBOOST_AVX2_HAAR_H
#define CUV_WALDBOOST_AVX2_HAAR_H

#include "cpu/x86/waldboost-avx2.h"

#define CUV_HAAR_MAX_TREE 8 /* maximum number of nodes in a tree */

/* How a feature's value is computed: in float from two or three rectangles or,
 * where the value is exact, as one integer sum of corners. */
enum {
  CUV_HAAR_EDGE,     /* corners 0 - 1 + 2 - 3 + 2 * (4 - 5) */
  CUV_HAAR_QUARTERS, /* corners (0 to 3) - 2 * (4 to 7) + 4 * (8) */
  CUV_HAAR_TWO,
  CUV_HAAR_THREE,
  CUV_HAAR_N_SHAPES
};

typedef struct {
  int32_t corner[12]; /* offsets from the window's top left corner */
  float weight[3];
  float threshold;
  int32_t gain;        /* stump: left - right leaf, in its stage's units */
  int32_t left, right; /* children in a tree, as in CuvHaarNode */
  int16_t shape, tilted;
} HaarNode;

/* A tree. A pair, the most common kind, is a root with one inner node below it.
 * If a window does not go to the root's leaf, the sum exceeds that leaf by low,
 * plus gain if the window goes left at the inner node. */
typedef struct {
  int32_t first_node, n_nodes, first_leaf, n_leaves;
  int32_t is_pair;
  int32_t leaf_is_left; /* all ones if the root's leaf is left, otherwise 0 */
  int32_t low, gain;    /* in the stage's units */
} HaarTree;

typedef struct {
  int32_t first, n; /* index of the first tree of the stage; number of trees */
  float threshold;
  /* sum if windows go right in all stumps, and to the root's leaf in all
   * pairs */
  int32_t base;
  /* copies of the stumps, sorted by tilted and shape; n_of: number of each
   * kind */
  int32_t first_sorted, n_of[2][CUV_HAAR_N_SHAPES];
  CuvStageLimits limits;
} HaarStage;

typedef struct {
  CuvWaldboostTables tables;
  const CuvWaldboostModel *model;
  ptrdiff_t stride;
  bool stumps, tilted;
  int n_stages, n_nodes, n_leaves; /* n_nodes: without the sorted copies */
  HaarStage *stages;
  HaarTree *trees;
  HaarNode *nodes[CUV_N_LAYOUTS];
  float *leaves;
  int32_t *fixed_leaves; /* in their stage's units */
  /* the window without its outer pixels, for the contrast: offsets of its
   * corners, and number of pixels */
  int32_t inner[CUV_N_LAYOUTS][4];
  double inner_area;
} HaarTables;

/* Returns NULL if the model is not supported or memory runs out. */
CuvWaldboostTables *cuv_avx2_haar_tables_new (
    const CuvWaldboostModel *model, ptrdiff_t stride);

#endif
