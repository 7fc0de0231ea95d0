/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trees/trees.h"
#include "cuvthreads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The samples of a node: indices, positives first. */
typedef struct {
  int32_t *index;
  int32_t n, n_positives;
} Node;

typedef struct {
  double loss;
  int threshold;
} Split;

typedef struct {
  const CuvTrainSet *set;
  const int32_t *features;
  const Node *node;
  Split *splits; /* one for each feature; NULL: the tree is known */
} Search;

/* ---- the choice of a split ---- */

static void
count_node (const CuvTrainSet *set, const Node *node, int32_t feature,
    CuvTrainHistogram *histogram)
{
  const uint8_t *codes = set->codes + (size_t) feature * set->pitch;

  *histogram = (CuvTrainHistogram){ 0 };
  for (int32_t i = 0; i < node->n_positives; i++)
    histogram->positives[codes[node->index[i]]] += set->weights[node->index[i]];
  for (int32_t i = node->n_positives; i < node->n; i++)
    histogram->negatives[codes[node->index[i]]] += set->weights[node->index[i]];
}

static Split
best_split (const CuvTrainHistogram *histogram)
{
  uint64_t low[2] = { 0 }, high[2] = { 0 }; /* negatives, positives */
  Split best = { INFINITY, 1 };

  for (int code = 0; code < CUV_TRAIN_MAX_CODES; code++) {
    high[0] += histogram->negatives[code];
    high[1] += histogram->positives[code];
  }
  for (int threshold = 1; threshold < CUV_TRAIN_MAX_CODES; threshold++) {
    const uint64_t negatives = histogram->negatives[threshold - 1];
    const uint64_t positives = histogram->positives[threshold - 1];
    double loss;

    low[0] += negatives;
    low[1] += positives;
    high[0] -= negatives;
    high[1] -= positives;
    loss = sqrt ((double) low[0] * (double) low[1])
        + sqrt ((double) high[0] * (double) high[1]);
    if (loss < best.loss)
      best = (Split){ loss, threshold };
  }
  return best;
}

static void
search_task (void *data, int task)
{
  const Search *self = data;
  CuvTrainHistogram histogram;

  count_node (self->set, self->node, self->features[task], &histogram);
  self->splits[task] = best_split (&histogram);
}

static void
choose_split (const Search *self, int32_t n_features, int n_threads,
    int32_t *feature, uint8_t *threshold)
{
  int32_t best = 0;

  cuv_threads_run (n_threads, n_features, search_task, (void *) self);
  for (int32_t i = 1; i < n_features; i++) {
    if (self->splits[i].loss < self->splits[best].loss)
      best = i;
  }
  *feature = self->features[best];
  *threshold = (uint8_t) self->splits[best].threshold;
}

/* ---- nodes ---- */

/* Divides the node's samples between its children, in their order. The children
 * take over the node's memory. moved is scratch memory of the same size. */
static void
divide (const CuvTrainSet *set, const Node *node, int32_t feature,
    int threshold, int32_t *moved, Node children[2])
{
  const uint8_t *codes = set->codes + (size_t) feature * set->pitch;
  int32_t n[2] = { 0 }, n_positives[2] = { 0 };

  for (int32_t i = 0; i < node->n; i++) {
    const int32_t sample = node->index[i];
    const int side = codes[sample] >= threshold;

    n_positives[side] += i < node->n_positives;
    if (side == 0)
      node->index[n[0]++] = sample;
    else
      moved[n[1]++] = sample;
  }
  memcpy (node->index + n[0], moved, (size_t) n[1] * sizeof *moved);
  for (int side = 0; side < 2; side++)
    children[side] = (Node){ node->index + (side == 0 ? 0 : n[0]), n[side],
      n_positives[side] };
}

/* Returns the root, which has all samples that are not rejected. */
static Node
root_of (const CuvTrainSet *set, int32_t *index)
{
  Node node = { .index = index };

  for (int32_t i = 0; i < set->n; i++) {
    if (!(set->masses[i] > 0))
      continue;
    index[node.n++] = i;
    node.n_positives += i < set->n_positives;
  }
  return node;
}

/* ---- leaves ---- */

static double
sum_weights (const CuvTrainSet *set, const int32_t *index, int32_t n)
{
  uint64_t sum = 0;

  for (int32_t i = 0; i < n; i++)
    sum += set->weights[index[i]];
  return (double) sum;
}

/* Returns the leaf of a node, and updates the sums and masses of its samples.
 * total: the weight of all samples. */
static int16_t
add_leaf (CuvTrainSet *set, const Node *node, double total)
{
  const int32_t n_positives = node->n_positives;
  const double e = 0.5 / set->n_alive;
  const double p = sum_weights (set, node->index, n_positives) / total;
  const double n =
      sum_weights (set, node->index + n_positives, node->n - n_positives)
      / total;
  const double value =
      ldexp (0.5 * log ((p + e) / (n + e)), CUV_TRAIN_TREE_BITS);
  const int16_t leaf =
      (int16_t) lrint (fmin (fmax (value, INT16_MIN), INT16_MAX));
  const double factor = exp (ldexp (leaf, -CUV_TRAIN_TREE_BITS));

  for (int32_t i = 0; i < node->n; i++) {
    const int32_t sample = node->index[i];

    set->sums[sample] += leaf;
    if (i < n_positives)
      set->masses[sample] /= factor;
    else
      set->masses[sample] *= factor;
  }
  return leaf;
}

/* ---- a tree ---- */

static void
grow_tree (CuvTrainSet *set, Search *search, int32_t n_features, int depth,
    int n_threads, int32_t *index, CuvTrainTree *tree)
{
  const bool known = search->splits == NULL;
  const int n_nodes = (1 << depth) - 1;
  Node nodes[CUV_TRAIN_TREE_NODES + CUV_TRAIN_TREE_LEAVES];
  double total;

  nodes[0] = root_of (set, index);
  total = sum_weights (set, index, nodes[0].n);
  for (int i = 0; i < n_nodes; i++) {
    search->node = &nodes[i];
    if (!known)
      choose_split (search, n_features, n_threads, &tree->feature[i],
          &tree->threshold[i]);
    divide (set, &nodes[i], tree->feature[i], tree->threshold[i],
        index + set->n, &nodes[2 * i + 1]);
  }
  for (int i = 0; i <= n_nodes; i++)
    tree->leaves[i] = add_leaf (set, &nodes[n_nodes + i], total);
}

bool
cuv_train_tree (CuvTrainSet *set, const int32_t *features, int32_t n_features,
    int depth, int n_threads, CuvTrainTree *tree)
{
  Search search = { .set = set,
    .features = features,
    .splits = malloc ((size_t) n_features * sizeof *search.splits) };
  int32_t *index = malloc (2 * (size_t) set->n * sizeof *index);
  const bool ok = search.splits != NULL && index != NULL;

  memset (tree, 0, sizeof *tree); /* all its bytes are saved */
  if (ok)
    grow_tree (set, &search, n_features, depth, n_threads, index, tree);
  free (search.splits);
  free (index);
  return ok;
}

bool
cuv_train_tree_again (CuvTrainSet *set, int depth, CuvTrainTree *tree)
{
  Search search = { .set = set };
  int32_t *index = malloc (2 * (size_t) set->n * sizeof *index);

  if (index != NULL)
    grow_tree (set, &search, 0, depth, 1, index, tree);
  free (index);
  return index != NULL;
}

int
cuv_train_tree_leaf (const CuvTrainTree *tree, int depth, const uint8_t *values)
{
  const int n_nodes = (1 << depth) - 1;
  int at = 0;

  while (at < n_nodes)
    at = 2 * at + 1 + (values[tree->feature[at]] >= tree->threshold[at]);
  return tree->leaves[at - n_nodes];
}
