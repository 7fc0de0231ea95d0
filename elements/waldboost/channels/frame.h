/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans a frame with a model of trees on channels on the CPU. The contract is
 * that of cpu/waldboost-cpu.h. */
#ifndef CUV_CHANNELS_FRAME_H
#define CUV_CHANNELS_FRAME_H

#include "waldboost.h"

typedef struct _CuvChannelsFrame CuvChannelsFrame;

/* The model must be one of trees on channels (model->channels), and the plan
 * one of this model. Both must outlive the result. Returns NULL if memory runs
 * out. */
CuvChannelsFrame *cuv_channels_frame_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan);
void cuv_channels_frame_free (CuvChannelsFrame *self);

/* Returns false if memory runs out. */
bool cuv_channels_frame_set_plan (
    CuvChannelsFrame *self, const CuvWaldboostPlan *plan);

/* Scans the part of a frame that begins at (left, top) and has the plan's size.
 * matrix converts YUV frames to RGB. Returns false if memory runs out. */
bool cuv_channels_frame_run (CuvChannelsFrame *self, const CuvFrame *frame,
    int left, int top, const CuvRgbMatrix *matrix, int n_threads,
    CuvWaldboostResult *result);

#endif
