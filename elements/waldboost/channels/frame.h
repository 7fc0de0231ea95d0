/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scan of a frame with models of trees on channels, on the CPU. Its red,
 * green and blue planes are made once for all of them, and models with the same
 * shrink share a pyramid of channels. */
#ifndef CUV_CHANNELS_FRAME_H
#define CUV_CHANNELS_FRAME_H

#include "channels/cpu/channels-cpu.h"

typedef struct _CuvChannelsFrame CuvChannelsFrame;

/* For n models whose channels are set, 1 .. CUV_WALDBOOST_MAX_MODELS, and their
 * plans for the same parameters and size; all must outlive it. NULL if memory
 * runs out. */
CuvChannelsFrame *cuv_channels_frame_new (
    const CuvWaldboostSearch *searches, int n);
void cuv_channels_frame_free (CuvChannelsFrame *self);

/* For the same models, with other plans. False if memory runs out. */
bool cuv_channels_frame_set_plans (
    CuvChannelsFrame *self, const CuvWaldboostSearch *searches);

/* Scans the part of a frame that begins at (left, top) and has the plans' size;
 * matrix: of YUV frames. Writes a result for each model, of which those of a
 * shared pyramid have its time once. False if memory runs out. */
bool cuv_channels_frame_run (CuvChannelsFrame *self, const CuvFrame *frame,
    int left, int top, const CuvRgbMatrix *matrix, int n_threads,
    CuvWaldboostResult *results);

#endif
