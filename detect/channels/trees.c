/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/trees.h"

/* Returns the byte that a node compares in the window at (column, row). */
static int
byte_at (const CuvChannelsLevel *level, const CuvChannelsNode *node, int column,
    int row)
{
  const int x = cuv_channels_clamp (column + node->column, level->columns);
  const int y = cuv_channels_clamp (row + node->row, level->rows);

  return level
      ->value[((ptrdiff_t) node->channel * level->rows + y) * level->columns
          + x];
}

/* Returns the value of the leaf that the window at (column, row) reaches in a
 * tree. */
static int
reached_leaf (const CuvChannelsTrees *self, int tree,
    const CuvChannelsLevel *level, int column, int row)
{
  const int n_nodes = (1 << self->depth) - 1;
  const CuvChannelsNode *nodes = self->nodes + (ptrdiff_t) tree * n_nodes;
  int at = 0;

  while (at < n_nodes)
    at = 2 * at + 1
        + (byte_at (level, &nodes[at], column, row) >= nodes[at].threshold);
  return self->leaves[((ptrdiff_t) tree << self->depth) + at - n_nodes];
}

int
cuv_channels_evaluate (const CuvChannelsTrees *self,
    const CuvChannelsLevel *level, int column, int row, int32_t *score)
{
  int32_t sum = 0;

  for (int tree = 0; tree < self->n_trees; tree++) {
    sum += reached_leaf (self, tree, level, column, row);
    if (sum < self->thresholds[tree])
      return tree;
  }
  if (sum <= self->final_threshold)
    return self->n_trees - 1;
  *score = sum - self->final_threshold;
  return self->n_trees;
}
