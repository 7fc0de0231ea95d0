/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "waldboost-channels-inputs.h"
#include "cuvcheck.h"
#include "model/model.h"

#include <glib.h>
#include <string.h>

int
cuv_channels_between (int low, int high)
{
  return low + (int) cuv_check_below ((uint32_t) (high - low + 1));
}

/* Returns a side of a window in blocks: up to 16, or more if its overhang needs
 * more. */
static int
window_side (int overhang)
{
  const int least = 4 * overhang > 4 ? 4 * overhang : 4;

  return cuv_channels_between (least, least > 16 ? least : 16);
}

/* Fills trees whose window and depth are set. */
static void
fill_trees (CuvChannelsTrees *trees, int n_trees, int reject)
{
  const int depth = trees->depth;
  const int n_nodes = n_trees * ((1 << depth) - 1);
  const int n_leaves = n_trees << depth;
  CuvChannelsNode *nodes = g_new (CuvChannelsNode, n_nodes);
  int16_t *leaves = g_new (int16_t, n_leaves);
  int32_t *thresholds = g_new (int32_t, n_trees);

  trees->n_trees = n_trees;
  for (int i = 0; i < n_nodes; i++)
    nodes[i] = (CuvChannelsNode){ (uint8_t) cuv_channels_between (
                                      0, CUV_CHANNELS_N - 1),
      (uint8_t) cuv_channels_between (0, trees->columns - 1),
      (uint8_t) cuv_channels_between (0, trees->rows - 1),
      (uint8_t) cuv_channels_between (1, 255) };
  for (int i = 0; i < n_leaves; i++)
    leaves[i] = (int16_t) (cuv_check_below (20) == 0
            ? cuv_channels_between (INT16_MIN, INT16_MAX)
            : cuv_channels_between (-200, 200));
  for (int i = 0; i < n_trees; i++)
    thresholds[i] = cuv_channels_between (1, 100) <= reject
        ? cuv_channels_between (-900, -100)
        : INT32_MIN;
  trees->nodes = nodes;
  trees->leaves = leaves;
  trees->thresholds = thresholds;
  trees->final_threshold = cuv_channels_between (-300, 300);
}

const CuvWaldboostModel *
cuv_channels_model_random (
    int shrink, int depth, int overhang, int n_trees, int reject)
{
  CuvChannelsModel *self = g_new0 (CuvChannelsModel, 1);
  CuvChannelsTrees *trees = &self->trees;

  trees->columns = window_side (overhang);
  trees->rows = window_side (overhang);
  trees->shrink = shrink;
  trees->overhang = overhang;
  trees->depth = depth;
  fill_trees (trees, n_trees, reject);
  self->levels = cuv_channels_between (1, 9);
  self->object[0] = cuv_channels_between (0, 2);
  self->object[1] = cuv_channels_between (0, 2);
  self->object[2] = trees->columns * shrink - 3;
  self->object[3] = trees->rows * shrink - 3;
  return cuv_model_of_channels (self);
}

const CuvWaldboostModel *
cuv_channels_model_square (int side, int object, int levels)
{
  CuvChannelsModel *self = g_new0 (CuvChannelsModel, 1);

  self->trees.columns = self->trees.rows = side / 4;
  self->trees.shrink = 4;
  self->trees.depth = 1;
  fill_trees (&self->trees, 3, 0);
  self->levels = levels;
  self->object[2] = self->object[3] = object;
  return cuv_model_of_channels (self);
}

void
cuv_channels_check_same (const CuvWaldboostPlan *plan, const CuvHitList *wanted,
    const CuvWaldboostResult *found)
{
  CUV_CHECK (found->n_hits == wanted->n_hits, ": %d hits, not %d",
      found->n_hits, wanted->n_hits);
  CUV_CHECK (found->overflow == (int32_t) wanted->lost);
  CUV_CHECK (found->windows == wanted->windows && found->weak == wanted->weak,
      ": %llu windows, %llu trees", (unsigned long long) found->windows,
      (unsigned long long) found->weak);
  CUV_CHECK (memcmp (found->survivors, wanted->survivors,
                 (size_t) plan->n_segments * sizeof (uint64_t))
      == 0);
  CUV_CHECK (found->n_hits != wanted->n_hits || found->n_hits == 0
      || memcmp (found->hits, wanted->hits,
             (size_t) wanted->n_hits * sizeof *wanted->hits)
          == 0);
}
