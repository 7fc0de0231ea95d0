/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model that a parser is making. */
#ifndef CUV_MODEL_BUILDER_H
#define CUV_MODEL_BUILDER_H

#include <glib.h>
#include "model/model.h"

/* A parser sets what it knows of model, but for the counts and pointers, and
 * fills the arrays: haar_nodes if model.feature is HAAR, else nodes. */
typedef struct {
  CuvWaldboostModel model;
  GArray *weak;        /* CuvWeak */
  GArray *nodes;       /* CuvGridNode */
  GArray *haar_nodes;  /* CuvHaarNode */
  GArray *leaves;      /* float */
  GArray *stage_first; /* int32_t, where each stage begins in weak; WaldBoost
                        * models leave it empty */
} CuvModelBuilder;

void cuv_model_builder_init (CuvModelBuilder *self);
void cuv_model_builder_clear (CuvModelBuilder *self);

/* Makes the model of the parts and takes them over. Works out what follows from
 * them: stumps, tilted, max_block_area, and for FIXED models the integers. */
const CuvWaldboostModel *cuv_model_builder_finish (CuvModelBuilder *self);

#endif
