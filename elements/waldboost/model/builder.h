/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model under construction by a parser. */
#ifndef CUV_MODEL_BUILDER_H
#define CUV_MODEL_BUILDER_H

#include <glib.h>
#include "model/model.h"

/* A parser sets the fields of model that the file determines, except counts and
 * pointers, and fills the arrays: haar_nodes if model.feature is HAAR, else
 * nodes. */
typedef struct {
  CuvWaldboostModel model;
  GArray *weak;        /* CuvWeak */
  GArray *nodes;       /* CuvGridNode */
  GArray *haar_nodes;  /* CuvHaarNode */
  GArray *leaves;      /* float */
  GArray *stage_first; /* int32_t, index into weak; empty in WaldBoost models */
} CuvModelBuilder;

void cuv_model_builder_init (CuvModelBuilder *self);
void cuv_model_builder_clear (CuvModelBuilder *self);

/* Finishes the model and takes over the arrays. Derives counts, pointers,
 * stumps, tilted, max_block_area and, for FIXED models, the integer fields. */
const CuvWaldboostModel *cuv_model_builder_finish (CuvModelBuilder *self);

#endif
