/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scan of a picture with trees on channels, on the CPU, and a map of this
 * folder. The same windows as cuv_channels_scan_plan(), which defines them.
 *
 *   channels-cpu.c     a picture, in three passes of tasks: levels that others
 *                      are resized from, strips of channels, rows of windows
 *   channels-memory.c  what a plan needs
 *   channels-strip.c   a strip: rows of pixels -> rows of blocks
 *   channels-dsp.c     the inner loops in plain C, and the choice of a version;
 *                      channels-rows.h those that compilers vectorise
 *   x86/               the same in AVX2; see x86/channels-avx2.h */
#ifndef CUV_CHANNELS_CPU_H
#define CUV_CHANNELS_CPU_H

#include "channels/channels.h"
#include "waldboost.h"

typedef struct _CuvChannelsCpu CuvChannelsCpu;

/* model: with trees on channels; it and the plan must outlive the result. NULL
 * if memory runs out, or the channels of a level need more than 2 GB. */
CuvChannelsCpu *cuv_channels_cpu_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan);
void cuv_channels_cpu_free (CuvChannelsCpu *self); /* NULL is allowed */

/* Memory only grows. False in the same cases; then self can only be freed. */
bool cuv_channels_cpu_set_plan (
    CuvChannelsCpu *self, const CuvWaldboostPlan *plan);

/* Scans a picture, the plan's turned frame, with at most n_threads threads, 0 =
 * one per processor. Allocates nothing. */
void cuv_channels_cpu_run (CuvChannelsCpu *self,
    const CuvChannelsPicture *picture, int n_threads,
    CuvWaldboostResult *result);

/* Only computes the channels, with one thread; and copies those of a window of
 * a level with windows: rows of each channel, from the first one on. For
 * training. */
void cuv_channels_cpu_make (
    CuvChannelsCpu *self, const CuvChannelsPicture *picture);
void cuv_channels_cpu_window (
    const CuvChannelsCpu *self, const CuvWaldboostHit *window, uint8_t *values);

#endif
