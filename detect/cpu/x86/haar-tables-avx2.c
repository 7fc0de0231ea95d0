/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the tables of haar-avx2.c from a Haar cascade. */
#include "cpu/x86/haar-avx2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_FLOAT (1 << 24) /* all integers up to this are exact as float */

/* A corner of a feature's rectangles and its factor. */
typedef struct {
  int x, y, factor;
} Corner;

/* ---- corners ---- */

/* Finds the four corners of a rectangle and their signs. */
static void
find_corners (const CuvHaarRect *rect, int tilted, Corner *corner)
{
  int x = rect->x, y = rect->y, w = rect->width, h = rect->height;

  corner[0] = (Corner){ x, y, 1 };
  corner[1] = (Corner){ x + w, y, -1 };
  corner[2] = (Corner){ x, y + h, -1 };
  corner[3] = (Corner){ x + w, y + h, 1 };
  if (tilted) {
    corner[1] = (Corner){ x - h, y + h, -1 };
    corner[2] = (Corner){ x + w, y + w, -1 };
    corner[3] = (Corner){ x + w - h, y + w + h, 1 };
  }
}

/* Returns whether the reference computes the value without rounding. */
static bool
is_exact (const CuvHaarNode *node)
{
  double sum = 0;

  for (int i = 0; i < 3; i++) {
    const CuvHaarRect *rect = &node->rect[i];
    double area = (double) rect->width * rect->height;

    if (rect->weight != rintf (rect->weight))
      return false;
    sum += fabs ((double) rect->weight) * area * (node->tilted ? 510 : 255);
  }
  return sum <= EXACT_FLOAT;
}

static int
compare_factors (const void *a, const void *b)
{
  return ((const Corner *) a)->factor - ((const Corner *) b)->factor;
}

/* Writes the corners of all rectangles, sorted by factor, and merges coinciding
 * ones. Returns their number. */
static int
merge_corners (const CuvHaarNode *node, Corner *out)
{
  int n = 0, kept = 0;

  for (int i = 0; i < 3; i++) {
    Corner corner[4];

    find_corners (&node->rect[i], node->tilted, corner);
    for (int k = 0; k < 4 && node->rect[i].weight != 0; k++) {
      int at = 0;

      while (at < n && (out[at].x != corner[k].x || out[at].y != corner[k].y))
        at++;
      if (at == n)
        out[n++] = (Corner){ corner[k].x, corner[k].y, 0 };
      out[at].factor += corner[k].factor * (int) node->rect[i].weight;
    }
  }
  for (int i = 0; i < n; i++) {
    if (out[i].factor != 0)
      out[kept++] = out[i];
  }
  qsort (out, kept, sizeof *out, compare_factors);
  return kept;
}

static bool
factors_are (const Corner *corner, const int8_t *factor, int n)
{
  for (int i = 0; i < n; i++) {
    if (corner[i].factor != factor[i])
      return false;
  }
  return true;
}

/* Sorts the corners in the order of the feature's shape, and returns the shape.
 * *negated is set if the value is minus that of the shape. */
static int
choose_shape (const CuvHaarNode *node, Corner *out, bool *negated)
{
  static const int8_t edge[6] = { -2, -1, -1, 1, 1, 2 };
  static const int8_t quarters[9] = { -2, -2, -2, -2, 1, 1, 1, 1, 4 };
  static const int8_t negated_quarters[9] = { -4, -1, -1, -1, -1, 2, 2, 2, 2 };
  static const uint8_t edge_order[6] = { 3, 1, 4, 2, 5, 0 };
  static const uint8_t order[9] = { 4, 5, 6, 7, 0, 1, 2, 3, 8 };
  static const uint8_t negated_order[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 0 };
  Corner corner[12];
  int n = is_exact (node) ? merge_corners (node, corner) : 0;

  *negated = n == 9 && factors_are (corner, negated_quarters, 9);
  if (n == 6 && factors_are (corner, edge, 6)) {
    for (int i = 0; i < 6; i++)
      out[i] = corner[edge_order[i]];
    return CUV_HAAR_EDGE;
  }
  if (*negated || (n == 9 && factors_are (corner, quarters, 9))) {
    for (int i = 0; i < 9; i++)
      out[i] = corner[*negated ? negated_order[i] : order[i]];
    return CUV_HAAR_QUARTERS;
  }
  for (int i = 0; i < 3; i++)
    find_corners (&node->rect[i], node->tilted, out + 4 * i);
  return node->rect[2].weight != 0 ? CUV_HAAR_THREE : CUV_HAAR_TWO;
}

/* ---- nodes ---- */

/* Sets node `at`. v < t is equivalent to -v > -t, the opposite of -v <
 * nextafterf (-t): a negated node swaps its children. */
static void
make_node (const HaarTables *self, const CuvHaarNode *in, int at)
{
  Corner corner[12] = { { 0 } };
  bool negated;
  HaarNode node = { .threshold = in->threshold,
    .left = in->left,
    .right = in->right,
    .tilted = in->tilted != 0 };

  node.shape = (int16_t) choose_shape (in, corner, &negated);
  for (int i = 0; i < 3; i++)
    node.weight[i] = in->rect[i].weight;
  if (negated) {
    node.threshold = nextafterf (-in->threshold, INFINITY);
    node.left = in->right;
    node.right = in->left;
  }
  for (int layout = 0; layout < CUV_N_LAYOUTS; layout++) {
    for (int i = 0; i < 12; i++)
      node.corner[i] = corner[i].y * (int) self->stride
          + cuv_avx2_column (corner[i].x, layout, self->stride);
    self->nodes[layout][at] = node;
  }
}

/* Extends the counts of the tree by a child, which is a node or a leaf. */
static void
include_child (int32_t child, HaarTree *tree)
{
  if (child >= tree->n_nodes)
    tree->n_nodes = child + 1;
  if (-child >= tree->n_leaves)
    tree->n_leaves = -child + 1;
}

/* Counts a tree's nodes and leaves. Returns false if there are too many nodes
 * or a child precedes its parent. */
static bool
measure_tree (const CuvHaarNode *nodes, HaarTree *tree)
{
  tree->n_nodes = 1;
  for (int i = 0; i < tree->n_nodes; i++) {
    if ((nodes[i].left > 0 && nodes[i].left <= i)
        || (nodes[i].right > 0 && nodes[i].right <= i))
      return false;
    include_child (nodes[i].left, tree);
    include_child (nodes[i].right, tree);
    if (tree->n_nodes > CUV_HAAR_MAX_TREE)
      return false;
  }
  return true;
}

static void
make_tree (const HaarTables *self, int index)
{
  const CuvWeak *weak = &self->model->weak[index];
  const HaarTree *tree = &self->trees[index];

  for (int i = 0; i < tree->n_nodes; i++)
    make_node (self, &self->model->haar_nodes[weak->first_node + i],
        tree->first_node + i);
  memcpy (self->leaves + tree->first_leaf,
      self->model->leaves + weak->first_leaf,
      tree->n_leaves * sizeof *self->leaves);
}

/* ---- stages ---- */

/* Returns the largest magnitude of a tree's leaves. Does not use fmax(), which
 * gcc 12 fails to compile here for aarch64. */
static double
largest_leaf (const HaarTables *self, const HaarTree *tree)
{
  double largest = 0;

  for (int i = 0; i < tree->n_leaves; i++) {
    const double leaf = fabs ((double) self->leaves[tree->first_leaf + i]);

    if (leaf > largest)
      largest = leaf;
  }
  return largest;
}

static void
choose_limits (const HaarTables *self, HaarStage *stage)
{
  double largest = 0;

  for (int i = stage->first; i < stage->first + stage->n; i++)
    largest += largest_leaf (self, &self->trees[i]);
  stage->limits =
      cuv_avx2_stage_limits (32, stage->n, largest, stage->threshold);
  for (int i = stage->first; i < stage->first + stage->n; i++) {
    const HaarTree *tree = &self->trees[i];

    for (int k = tree->first_leaf; k < tree->first_leaf + tree->n_leaves; k++)
      self->fixed_leaves[k] =
          cuv_avx2_fixed_leaf (&stage->limits, self->leaves[k]);
  }
}

static void
sort_stumps (const HaarTables *self, HaarStage *stage)
{
  int at = stage->first_sorted;

  for (int kind = 0; kind < 2 * CUV_HAAR_N_SHAPES; kind++) {
    int tilted = kind / CUV_HAAR_N_SHAPES, shape = kind % CUV_HAAR_N_SHAPES;

    for (int i = stage->first; i < stage->first + stage->n; i++) {
      const HaarTree *tree = &self->trees[i];
      const HaarNode *node = &self->nodes[0][tree->first_node];
      int32_t left, right;

      if (node->tilted != tilted || node->shape != shape)
        continue;
      left = self->fixed_leaves[tree->first_leaf - node->left];
      right = self->fixed_leaves[tree->first_leaf - node->right];
      stage->base += right;
      stage->n_of[tilted][shape]++;
      for (int layout = 0; layout < CUV_N_LAYOUTS; layout++) {
        self->nodes[layout][at] = self->nodes[layout][tree->first_node];
        self->nodes[layout][at].gain = left - right;
      }
      at++;
    }
  }
}

/* If the tree is a pair, sets it up and adds its root's leaf to base. */
static void
make_pair (const HaarTables *self, HaarTree *tree, int32_t *base)
{
  const HaarNode *root = &self->nodes[0][tree->first_node], *below = root + 1;
  const int32_t *leaves = self->fixed_leaves + tree->first_leaf;
  int32_t leaf, low;

  if (tree->n_nodes != 2 || (root->left > 0 && root->right > 0))
    return;
  tree->is_pair = 1;
  tree->leaf_is_left = root->left > 0 ? 0 : -1;
  leaf = leaves[-(root->left > 0 ? root->right : root->left)];
  low = leaves[-below->right];
  tree->low = low - leaf;
  tree->gain = leaves[-below->left] - low;
  *base += leaf;
}

static void
make_stage (const HaarTables *self, int index)
{
  const CuvWaldboostModel *model = self->model;
  HaarStage *stage = &self->stages[index];
  int first = model->stage_first[index], end = model->stage_first[index + 1];

  stage->first = first;
  stage->n = end - first;
  stage->threshold = model->weak[end - 1].threshold;
  choose_limits (self, stage);
  stage->first_sorted = self->n_nodes + first;
  if (model->stumps)
    sort_stumps (self, stage);
  for (int i = first; i < end && !model->stumps; i++)
    make_pair (self, &self->trees[i], &stage->base);
}

/* ---- tables ---- */

static void *
allocate_tables (HaarTables *self, int index, size_t n, size_t size)
{
  return self->tables.memory[index] = calloc (n, size);
}

static bool
measure_trees (HaarTables *self)
{
  const CuvWaldboostModel *model = self->model;

  self->trees = allocate_tables (self, 0, model->n_weak, sizeof *self->trees);
  for (int i = 0; i < model->n_weak && self->trees != NULL; i++) {
    HaarTree *tree = &self->trees[i];

    tree->first_node = self->n_nodes;
    tree->first_leaf = self->n_leaves;
    if (!measure_tree (model->haar_nodes + model->weak[i].first_node, tree))
      return false;
    self->n_nodes += tree->n_nodes;
    self->n_leaves += tree->n_leaves;
  }
  return self->trees != NULL;
}

static bool
make_memory (HaarTables *self)
{
  const CuvWaldboostModel *model = self->model;
  size_t n_leaves = (size_t) self->n_leaves;
  size_t n_nodes = (size_t) self->n_nodes + (size_t) model->n_weak;

  self->stages =
      allocate_tables (self, 1, model->n_stages, sizeof *self->stages);
  self->leaves = allocate_tables (self, 2, n_leaves, sizeof *self->leaves);
  self->fixed_leaves =
      allocate_tables (self, 3, n_leaves, sizeof *self->fixed_leaves);
  for (int i = 0; i < CUV_N_LAYOUTS; i++) {
    self->nodes[i] = allocate_tables (self, 4 + i, n_nodes, sizeof (HaarNode));
    if (self->nodes[i] == NULL)
      return false;
  }
  return self->stages != NULL && self->leaves != NULL
      && self->fixed_leaves != NULL;
}

static void
fill_tables (HaarTables *self)
{
  const CuvWaldboostModel *model = self->model;
  CuvHaarRect inner = { 1, 1, (int16_t) (model->window_width - 2),
    (int16_t) (model->window_height - 2), 1 };
  Corner corner[4];

  for (int i = 0; i < model->n_weak; i++)
    make_tree (self, i);
  for (int i = 0; i < model->n_stages; i++)
    make_stage (self, i);
  find_corners (&inner, 0, corner);
  for (int layout = 0; layout < CUV_N_LAYOUTS; layout++) {
    for (int i = 0; i < 4; i++)
      self->inner[layout][i] = corner[i].y * (int) self->stride
          + cuv_avx2_column (corner[i].x, layout, self->stride);
  }
  self->inner_area = (double) (inner.width * inner.height);
}

CuvWaldboostTables *
cuv_avx2_haar_tables_new (const CuvWaldboostModel *model, ptrdiff_t stride)
{
  HaarTables *self;

  if (model->window_width < 3 || model->window_height < 3
      || (self = calloc (1, sizeof *self)) == NULL)
    return NULL;
  self->model = model;
  self->stride = stride;
  self->stumps = model->stumps != 0;
  self->tilted = model->tilted != 0;
  self->n_stages = model->n_stages;
  if (!measure_trees (self) || !make_memory (self)) {
    cuv_waldboost_tables_free_avx2 (&self->tables);
    return NULL;
  }
  fill_tables (self);
  return &self->tables;
}
