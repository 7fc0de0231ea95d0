/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evaluates Haar features and trees for groups of 8 contiguous windows; only
 * haar-avx2.c includes it. */
#ifndef CUV_WALDBOOST_AVX2_HAAR_TREES_H
#define CUV_WALDBOOST_AVX2_HAAR_TREES_H

#include "cpu/x86/haar-avx2.h"

/* Number of groups that share the reads of a node:
 * docs/benchmarks/waldboost.md, row "four groups of windows share the reads of
 * a node". */
#define CUV_HAAR_MAX_VIEWS 4

/* A group's first window in the integral images, and the group's factors. */
typedef struct {
  const uint32_t *integral[2]; /* upright, tilted */
  __m256 factor;
} HaarView;

CUV_INLINE __m256i
corner (const uint32_t *at, const HaarNode *node, int i)
{
  return load (at + node->corner[i]);
}

CUV_INLINE __m256
rect_value (const uint32_t *at, const HaarNode *node, int i)
{
  __m256i top =
      _mm256_sub_epi32 (corner (at, node, 4 * i), corner (at, node, 4 * i + 1));
  __m256i bottom = _mm256_sub_epi32 (
      corner (at, node, 4 * i + 2), corner (at, node, 4 * i + 3));

  return _mm256_mul_ps (_mm256_cvtepi32_ps (_mm256_sub_epi32 (top, bottom)),
      _mm256_set1_ps (node->weight[i]));
}

/* Computes CUV_HAAR_EDGE: two adjacent halves. */
CUV_INLINE __m256i
edge_value (const uint32_t *at, const HaarNode *node)
{
  __m256i outer = _mm256_add_epi32 (
      _mm256_sub_epi32 (corner (at, node, 0), corner (at, node, 1)),
      _mm256_sub_epi32 (corner (at, node, 2), corner (at, node, 3)));
  __m256i inner = _mm256_sub_epi32 (corner (at, node, 4), corner (at, node, 5));

  return _mm256_add_epi32 (outer, _mm256_add_epi32 (inner, inner));
}

CUV_INLINE __m256i
quarters_value (const uint32_t *at, const HaarNode *node)
{
  __m256i outer = _mm256_add_epi32 (
      _mm256_add_epi32 (corner (at, node, 0), corner (at, node, 1)),
      _mm256_add_epi32 (corner (at, node, 2), corner (at, node, 3)));
  __m256i sides = _mm256_add_epi32 (
      _mm256_add_epi32 (corner (at, node, 4), corner (at, node, 5)),
      _mm256_add_epi32 (corner (at, node, 6), corner (at, node, 7)));
  __m256i centre = corner (at, node, 8);

  sides = _mm256_sub_epi32 (_mm256_add_epi32 (centre, centre), sides);
  return _mm256_add_epi32 (outer, _mm256_add_epi32 (sides, sides));
}

CUV_INLINE __m256
value_of (const uint32_t *at, const HaarNode *node, int shape)
{
  __m256 value;

  switch (shape) {
    case CUV_HAAR_EDGE:
      return _mm256_cvtepi32_ps (edge_value (at, node));
    case CUV_HAAR_QUARTERS:
      return _mm256_cvtepi32_ps (quarters_value (at, node));
    default:
      value =
          _mm256_add_ps (rect_value (at, node, 0), rect_value (at, node, 1));
      if (shape == CUV_HAAR_THREE)
        value = _mm256_add_ps (value, rect_value (at, node, 2));
      return value;
  }
}

/* Returns all ones where a window goes left. */
CUV_INLINE __m256
go_left (const HaarView *view, const HaarNode *node, int shape, int tilted)
{
  __m256 value = value_of (view->integral[tilted], node, shape);

  return _mm256_cmp_ps (_mm256_mul_ps (value, view->factor),
      _mm256_set1_ps (node->threshold), _CMP_LT_OQ);
}

/* Calls go_left() for n_views groups. go_left_by_shape() passes the shape as a
 * constant. */
CUV_INLINE void
go_left_at (const HaarView *view, int n_views, const HaarNode *node, int shape,
    __m256 *left)
{
  for (int k = 0; k < n_views; k++)
    left[k] = go_left (&view[k], node, shape, node->tilted);
}

CUV_INLINE void
go_left_by_shape (
    const HaarView *view, int n_views, const HaarNode *node, __m256 *left)
{
  switch (node->shape) {
    case CUV_HAAR_EDGE:
      go_left_at (view, n_views, node, CUV_HAAR_EDGE, left);
      break;
    case CUV_HAAR_QUARTERS:
      go_left_at (view, n_views, node, CUV_HAAR_QUARTERS, left);
      break;
    case CUV_HAAR_TWO:
      go_left_at (view, n_views, node, CUV_HAAR_TWO, left);
      break;
    default:
      go_left_at (view, n_views, node, CUV_HAAR_THREE, left);
  }
}

/* Selects the leaves of a tree. As children come after their parent, both
 * results of a node are ready when nodes are visited backwards. */
CUV_INLINE void
tree_leaves (const HaarView *view, int n_views, const HaarNode *nodes,
    const HaarTree *tree, const int32_t *leaves, __m256 *leaf)
{
  __m256 result[CUV_HAAR_MAX_TREE][CUV_HAAR_MAX_VIEWS];

  leaves += tree->first_leaf;
  for (int i = tree->n_nodes - 1; i >= 0; i--) {
    const HaarNode *node = &nodes[tree->first_node + i];
    __m256 left[CUV_HAAR_MAX_VIEWS];

    go_left_by_shape (view, n_views, node, left);
    for (int k = 0; k < n_views; k++) {
      __m256 to_left = node->left > 0
          ? result[node->left][k]
          : _mm256_broadcast_ss ((const float *) leaves - node->left);
      __m256 to_right = node->right > 0
          ? result[node->right][k]
          : _mm256_broadcast_ss ((const float *) leaves - node->right);

      result[i][k] = _mm256_blendv_ps (to_right, to_left, left[k]);
    }
  }
  for (int k = 0; k < n_views; k++)
    leaf[k] = result[0][k];
}

#endif
