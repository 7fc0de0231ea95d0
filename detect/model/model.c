/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finishes models: derives fields and counts references. */
#include "model/model.h"
#include "model/channels.h"
#include "model/reader.h"

#include <math.h>
#include <string.h>

typedef struct {
  CuvWaldboostModel model;
  CuvModelBuilder builder; /* owns the arrays of model */
} Owner;

void
cuv_model_builder_init (CuvModelBuilder *self)
{
  *self = (CuvModelBuilder){ 0 };
  self->weak = g_array_new (FALSE, FALSE, sizeof (CuvWeak));
  self->nodes = g_array_new (FALSE, FALSE, sizeof (CuvGridNode));
  self->haar_nodes = g_array_new (FALSE, FALSE, sizeof (CuvHaarNode));
  self->leaves = g_array_new (FALSE, FALSE, sizeof (float));
  self->stage_first = g_array_new (FALSE, FALSE, sizeof (int32_t));
}

void
cuv_model_builder_clear (CuvModelBuilder *self)
{
  g_array_unref (self->weak);
  g_array_unref (self->nodes);
  g_array_unref (self->haar_nodes);
  g_array_unref (self->leaves);
  g_array_unref (self->stage_first);
}

/* ---- derived fields ---- */

static void
add_derived (CuvWaldboostModel *model)
{
  model->stumps = model->n_nodes == model->n_weak;
  for (int i = 0; i < model->n_nodes; i++) {
    if (model->haar_nodes != NULL) {
      model->tilted |= model->haar_nodes[i].tilted;
    } else {
      int area = model->nodes[i].width * model->nodes[i].height;

      model->max_block_area = MAX (model->max_block_area, area);
    }
  }
}

static int
end_of_leaves (const CuvWaldboostModel *model, int k)
{
  return k + 1 < model->n_weak ? model->weak[k + 1].first_leaf
                               : model->n_leaves;
}

/* Returns the largest magnitude of a weak classifier's leaves. */
static double
largest_leaf (const CuvWaldboostModel *model, int k)
{
  double largest = 0;

  for (int i = model->weak[k].first_leaf; i < end_of_leaves (model, k); i++)
    largest = MAX (largest, fabs ((double) model->leaves[i]));
  return largest;
}

/* Returns the number of fraction bits with which any sum of leaves stays below
 * 2^30. */
static int
choose_fixed_bits (const CuvWaldboostModel *model)
{
  double largest_sum = 0;
  int bits = 20;

  for (int k = 0; k < model->n_weak; k++)
    largest_sum += largest_leaf (model, k);
  while (ldexp (largest_sum, bits) >= 1 << 30)
    bits--;
  return bits;
}

/* Converts to fixed point, clamped to +-2^30, which no sum of leaves
 * reaches. */
static int32_t
to_fixed (float value, int bits)
{
  double fixed = ldexp ((double) value, bits);

  return (int32_t) lrint (CLAMP (fixed, -(1 << 30), 1 << 30));
}

static void
add_fixed (CuvWaldboostModel *model, CuvWeak *weak)
{
  int32_t *leaves = g_new (int32_t, model->n_leaves);
  int bits = choose_fixed_bits (model);

  for (int i = 0; i < model->n_leaves; i++)
    leaves[i] = to_fixed (model->leaves[i], bits);
  for (int k = 0; k < model->n_weak; k++)
    weak[k].fixed_threshold = weak[k].threshold == -INFINITY
        ? INT32_MIN
        : to_fixed (weak[k].threshold, bits);
  model->fixed_leaves = leaves;
  model->fixed_bits = bits;
  model->fixed_final_threshold = to_fixed (model->final_threshold, bits);
}

const CuvWaldboostModel *
cuv_model_builder_finish (CuvModelBuilder *self)
{
  Owner *owner = g_atomic_rc_box_new0 (Owner);
  CuvWaldboostModel *model = &owner->model;
  gboolean haar = self->model.feature == CUV_FEATURE_HAAR;
  int32_t n_weak = (int32_t) self->weak->len;

  if (self->stage_first->len == 0) {
    for (int32_t i = 0; i < n_weak; i++)
      g_array_append_val (self->stage_first, i);
  }
  g_array_append_val (self->stage_first, n_weak);
  owner->builder = *self;
  *model = self->model;
  model->n_weak = n_weak;
  model->n_nodes = (int32_t) (haar ? self->haar_nodes : self->nodes)->len;
  model->n_leaves = (int32_t) self->leaves->len;
  model->n_stages = (int32_t) self->stage_first->len - 1;
  model->weak = (const CuvWeak *) (void *) self->weak->data;
  if (haar)
    model->haar_nodes = (const CuvHaarNode *) (void *) self->haar_nodes->data;
  else
    model->nodes = (const CuvGridNode *) (void *) self->nodes->data;
  model->leaves = (const float *) (void *) self->leaves->data;
  model->stage_first = (const int32_t *) (void *) self->stage_first->data;
  add_derived (model);
  if (model->arithmetic == CUV_SUM_FIXED)
    add_fixed (model, (CuvWeak *) (void *) self->weak->data);
  return model;
}

/* ---- a classifier as arrays ---- */

float
cuv_grid_threshold (const CuvGridClassifier *classifier, int32_t k)
{
  const gboolean is_last = k == classifier->n_weak - 1;
  const float threshold = classifier->thresholds[k];

  return classifier->cascade && is_last && threshold == -INFINITY
      ? classifier->final_threshold
      : threshold;
}

/* Adds a stump that selects between the two values of the leaves; code 0
 * selects leaf 0. */
static void
add_stump (
    CuvModelBuilder *builder, const CuvGridClassifier *classifier, int32_t k)
{
  const float *leaves = classifier->leaves + (gsize) k * CUV_LBP_CODES;
  CuvGridNode node = classifier->nodes[k];
  float pair[2] = { leaves[0], leaves[0] };

  memset (node.subset, 0, sizeof node.subset);
  for (int code = 0; code < CUV_LBP_CODES; code++) {
    if (leaves[code] == leaves[0])
      node.subset[code >> 5] |= 1u << (code & 31);
    else
      pair[1] = leaves[code];
  }
  node.left = 0;
  node.right = -1;
  g_array_append_val (builder->nodes, node);
  g_array_append_vals (builder->leaves, pair, 2);
}

static const CuvWaldboostModel *
new_cascade (const CuvGridClassifier *classifier)
{
  CuvModelBuilder builder;
  CuvWaldboostModel *model = &builder.model;

  cuv_model_builder_init (&builder);
  model->feature = classifier->feature;
  model->arithmetic = CUV_SUM_STAGES;
  model->scan = CUV_SCAN_OPENCV;
  model->inclusive = TRUE;
  model->window_width = classifier->window_width;
  model->window_height = classifier->window_height;
  for (int32_t k = 0; k < classifier->n_weak; k++) {
    const float threshold = cuv_grid_threshold (classifier, k);
    const CuvWeak weak = { .first_node = k,
      .first_leaf = 2 * k,
      .restart = k == 0 || classifier->thresholds[k - 1] > -INFINITY,
      .threshold = threshold - CUV_OPENCV_THRESHOLD_EPS };

    add_stump (&builder, classifier, k);
    g_array_append_val (builder.weak, weak);
    if (weak.restart)
      g_array_append_val (builder.stage_first, k);
  }
  return cuv_model_builder_finish (&builder);
}

static const CuvWaldboostModel *
new_waldboost (const CuvGridClassifier *classifier)
{
  CuvModelBuilder builder;
  CuvWaldboostModel *model = &builder.model;

  cuv_model_builder_init (&builder);
  model->feature = classifier->feature;
  model->arithmetic = CUV_SUM_FIXED;
  model->scan = CUV_SCAN_DENSE;
  model->window_width = classifier->window_width;
  model->window_height = classifier->window_height;
  model->final_threshold = classifier->final_threshold;
  g_array_append_vals (
      builder.nodes, classifier->nodes, (guint) classifier->n_weak);
  g_array_append_vals (builder.leaves, classifier->leaves,
      (guint) (classifier->n_weak * classifier->n_codes));
  for (int32_t k = 0; k < classifier->n_weak; k++) {
    const CuvWeak weak = { .first_node = k,
      .first_leaf = k * classifier->n_codes,
      .restart = k == 0,
      .threshold = classifier->thresholds[k] };

    g_array_append_val (builder.weak, weak);
  }
  return cuv_model_builder_finish (&builder);
}

const CuvWaldboostModel *
cuv_model_new (const CuvGridClassifier *classifier)
{
  return classifier->cascade ? new_cascade (classifier)
                             : new_waldboost (classifier);
}

/* ---- trees on channels ---- */

const CuvWaldboostModel *
cuv_model_of_channels (CuvChannelsModel *channels)
{
  const CuvChannelsTrees *trees = &channels->trees;
  CuvModelBuilder builder;
  CuvWaldboostModel *model = &builder.model;

  cuv_model_builder_init (&builder);
  model->feature = CUV_FEATURE_CHANNELS;
  model->arithmetic = CUV_SUM_FIXED;
  model->scan = CUV_SCAN_DENSE;
  model->window_width = trees->columns * trees->shrink;
  model->window_height = trees->rows * trees->shrink;
  model->final_threshold = (float) trees->final_threshold / 256;
  model->channels = channels;
  for (int32_t k = 0; k < trees->n_trees; k++) {
    const int32_t threshold = trees->thresholds[k];
    const CuvWeak weak = { .restart = k == 0,
      .threshold =
          threshold == INT32_MIN ? -INFINITY : (float) threshold / 256 };

    g_array_append_val (builder.weak, weak);
  }
  return cuv_model_builder_finish (&builder);
}

/* ---- scores ---- */

/* Returns the largest leaf of a weak classifier; *below is set to the next
 * smaller value. */
static double
best_leaf (const CuvWaldboostModel *model, int k, double *below)
{
  double best = -INFINITY;

  *below = -INFINITY;
  for (int i = model->weak[k].first_leaf; i < end_of_leaves (model, k); i++) {
    double leaf = (double) model->leaves[i];

    if (leaf > best)
      *below = best;
    else if (leaf < best)
      *below = MAX (*below, leaf);
    best = MAX (best, leaf);
  }
  return best;
}

bool
cuv_model_has_one_score (const CuvWaldboostModel *model)
{
  int last = model->n_weak - 1;
  double sum = 0, least_loss = INFINITY, below;

  if (model->arithmetic != CUV_SUM_STAGES)
    return false;
  for (int k = model->stage_first[model->n_stages - 1]; k <= last; k++) {
    double best = best_leaf (model, k, &below);

    sum += best;
    least_loss = MIN (least_loss, best - below);
  }
  return sum - least_loss < (double) model->weak[last].threshold;
}

bool
cuv_model_rejects_all (const CuvWaldboostModel *model)
{
  return model->weak[0].threshold == INFINITY;
}

/* ---- references ---- */

const CuvWaldboostModel *
cuv_model_ref (const CuvWaldboostModel *model)
{
  return g_atomic_rc_box_acquire ((gpointer) model);
}

static void
free_model (gpointer data)
{
  Owner *owner = data;

  g_free ((gpointer) owner->model.fixed_leaves);
  cuv_channels_model_free ((CuvChannelsModel *) owner->model.channels);
  cuv_model_builder_clear (&owner->builder);
}

void
cuv_model_unref (const CuvWaldboostModel *model)
{
  if (model != NULL)
    g_atomic_rc_box_release_full ((gpointer) model, free_model);
}
