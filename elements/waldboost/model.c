/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model-builder.h"

typedef struct {
  CuvWaldboostModel model;
  CuvModelBuilder parts; /* what model points into */
} Owner;

void
cuv_model_builder_init (CuvModelBuilder *self)
{
  self->weak = g_array_new (FALSE, FALSE, sizeof (CuvWeak));
  self->nodes = g_array_new (FALSE, FALSE, sizeof (CuvLbpNode));
  self->leaves = g_array_new (FALSE, FALSE, sizeof (float));
  self->stage_first = g_array_new (FALSE, FALSE, sizeof (int32_t));
}

void
cuv_model_builder_clear (CuvModelBuilder *self)
{
  g_array_unref (self->weak);
  g_array_unref (self->nodes);
  g_array_unref (self->leaves);
  g_array_unref (self->stage_first);
}

static void
add_facts (CuvWaldboostModel *model)
{
  model->stumps = model->n_nodes == model->n_weak;
  for (int i = 0; i < model->n_nodes; i++) {
    int area = model->nodes[i].width * model->nodes[i].height;

    model->max_block_area = MAX (model->max_block_area, area);
  }
}

const CuvWaldboostModel *
cuv_model_builder_finish (CuvModelBuilder *self, int width, int height)
{
  Owner *owner = g_atomic_rc_box_new0 (Owner);
  CuvWaldboostModel *model = &owner->model;
  int32_t end = (int32_t) self->weak->len;

  model->window_width = width;
  model->window_height = height;
  model->n_weak = end;
  model->n_nodes = (int32_t) self->nodes->len;
  model->n_leaves = (int32_t) self->leaves->len;
  model->n_stages = (int32_t) self->stage_first->len;
  g_array_append_val (self->stage_first, end);
  model->weak = (const CuvWeak *) (void *) self->weak->data;
  model->nodes = (const CuvLbpNode *) (void *) self->nodes->data;
  model->leaves = (const float *) (void *) self->leaves->data;
  model->stage_first = (const int32_t *) (void *) self->stage_first->data;
  add_facts (model);
  owner->parts = *self;
  return model;
}

const CuvWaldboostModel *
cuv_model_ref (const CuvWaldboostModel *model)
{
  return g_atomic_rc_box_acquire ((gpointer) model);
}

static void
clear (gpointer data)
{
  Owner *owner = data;

  cuv_model_builder_clear (&owner->parts);
}

void
cuv_model_unref (const CuvWaldboostModel *model)
{
  if (model != NULL)
    g_atomic_rc_box_release_full ((gpointer) model, clear);
}
