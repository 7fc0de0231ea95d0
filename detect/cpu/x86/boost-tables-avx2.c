/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the tables of boost-avx2.c from a WaldBoost model. */
#include "cpu/x86/boost-avx2.h"

#include <math.h>
#include <stdlib.h>

static bool
is_supported (const CuvWaldboostModel *model)
{
  return model->arithmetic != CUV_SUM_STAGES
      && model->feature != CUV_FEATURE_HAAR
      && model->block_value == CUV_BLOCK_SUM
      && model->max_block_area <= GRID_MAX_AREA;
}

static BoostKind
kind_of (const CuvWaldboostModel *model)
{
  switch (model->feature) {
    case CUV_FEATURE_LRD:
      return BOOST_LRD;
    case CUV_FEATURE_LRP:
      return BOOST_LRP;
    case CUV_FEATURE_LBP:
    case CUV_FEATURE_HAAR: /* refused by is_supported() */
    /* scanned in detect/channels instead */
    case CUV_FEATURE_CHANNELS:
      break;
  }
  return model->inclusive ? BOOST_LBP_INCLUSIVE : BOOST_LBP;
}

static int32_t
bits_of (float value)
{
  int32_t bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static const int32_t *
make_leaves (BoostTables *self, const CuvWaldboostModel *model)
{
  int32_t *leaves = calloc (model->n_leaves, sizeof *leaves);

  self->tables.memory[0] = leaves;
  for (int i = 0; i < model->n_leaves && leaves != NULL; i++)
    leaves[i] =
        self->fixed ? model->fixed_leaves[i] : bits_of (model->leaves[i]);
  return leaves;
}

static bool
make_weak (BoostTables *self, const CuvWaldboostModel *model, ptrdiff_t stride)
{
  const int32_t *leaves = make_leaves (self, model);
  BoostWeak *weak = calloc (model->n_weak, sizeof *weak);

  self->weak = self->tables.memory[1] = weak;
  if (weak == NULL || leaves == NULL)
    return false;
  for (int i = 0; i < model->n_weak; i++) {
    const CuvWeak *in = &model->weak[i];
    const CuvGridNode *node = &model->nodes[in->first_node];

    weak[i].grid = grid_make (node, stride);
    weak[i].a = node->a;
    weak[i].b = node->b;
    weak[i].leaves = leaves + in->first_leaf;
    weak[i].threshold =
        self->fixed ? in->fixed_threshold : bits_of (in->threshold);
    weak[i].tested = self->fixed ? in->fixed_threshold > INT32_MIN
                                 : in->threshold > -INFINITY;
  }
  return true;
}

static bool
make_quads (BoostTables *self, const CuvWaldboostModel *model, ptrdiff_t stride)
{
  const size_t n = (size_t) model->n_weak;
  bool is_lbp = model->feature == CUV_FEATURE_LBP;
  GridQuad *quads;

  for (size_t i = 0; i < n; i++) {
    if (!grid_fits_quad (&model->nodes[model->weak[i].first_node]))
      return true;
  }
  quads = calloc (n, sizeof *quads);
  self->quads = self->tables.memory[2] = quads;
  for (size_t i = 0; i < n && quads != NULL; i++) {
    const CuvGridNode *node = &model->nodes[model->weak[i].first_node];

    quads[i] = grid_quad_make (
        node, is_lbp ? 4 : node->a, is_lbp ? 4 : node->b, stride);
  }
  return quads != NULL;
}

CuvWaldboostTables *
cuv_avx2_boost_tables_new (const CuvWaldboostModel *model, ptrdiff_t stride)
{
  BoostTables *self;

  if (!is_supported (model) || (self = calloc (1, sizeof *self)) == NULL)
    return NULL;
  self->kind = kind_of (model);
  self->fixed = model->arithmetic == CUV_SUM_FIXED;
  self->n_weak = model->n_weak;
  if (!make_weak (self, model, stride) || !make_quads (self, model, stride)) {
    cuv_waldboost_tables_free_avx2 (&self->tables);
    return NULL;
  }
  return &self->tables;
}

bool
cuv_avx2_boost_is_hit (
    const CuvWaldboostModel *model, int32_t sum, float *score)
{
  float value;

  if (model->arithmetic == CUV_SUM_FIXED) {
    *score =
        (float) ldexp ((double) sum - (double) model->fixed_final_threshold,
            -model->fixed_bits);
    return sum > model->fixed_final_threshold;
  }
  memcpy (&value, &sum, sizeof value);
  *score = value - model->final_threshold;
  return value > model->final_threshold;
}
