/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans a frame with models of trees on channels, on the CPU. The frame's red,
 * green and blue planes are made once for all models, and models with the same
 * shrink share a pyramid of channels. */
#ifndef CUV_CHANNELS_FRAME_H
#define CUV_CHANNELS_FRAME_H

#include "channels/cpu/channels-cpu.h"

typedef struct _CuvChannelsFrame CuvChannelsFrame;

/* Creates a scan for n models whose channels are set, 1 to
 * CUV_WALDBOOST_MAX_MODELS, and their plans for the same parameters and size;
 * models and plans must outlive it. Returns NULL if memory runs out. */
CUV_API CuvChannelsFrame *cuv_channels_frame_new (
    const CuvWaldboostSearch *searches, int n);
CUV_API void cuv_channels_frame_free (CuvChannelsFrame *self);

/* Changes to other plans of the same models. Returns false if memory runs
 * out. */
bool cuv_channels_frame_set_plans (
    CuvChannelsFrame *self, const CuvWaldboostSearch *searches);

/* Scans the part of a frame that begins at (left, top) and has the plans' size.
 * matrix: converts YUV to RGB. Writes a result for each model; the time of a
 * shared pyramid is counted once. Returns false if memory runs out. */
CUV_API bool cuv_channels_frame_run (CuvChannelsFrame *self,
    const CuvFrame *frame, int left, int top, const CuvRgbMatrix *matrix,
    int n_threads, CuvWaldboostResult *results);

#endif
