/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model that a parser is making. */
#ifndef CUV_MODEL_BUILDER_H
#define CUV_MODEL_BUILDER_H

#include <glib.h>
#include "model.h"

typedef struct {
  GArray *weak;        /* CuvWeak */
  GArray *nodes;       /* CuvLbpNode */
  GArray *leaves;      /* float */
  GArray *stage_first; /* int32_t, where each stage begins in weak */
} CuvModelBuilder;

void cuv_model_builder_init (CuvModelBuilder *self);
void cuv_model_builder_clear (CuvModelBuilder *self);

/* Makes the model of the parts and takes them over. */
const CuvWaldboostModel *cuv_model_builder_finish (
    CuvModelBuilder *self, int width, int height);

#endif
