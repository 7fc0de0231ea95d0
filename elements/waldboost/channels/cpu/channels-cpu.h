/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans a picture with trees on channels on the CPU. The result is that of
 * cuv_channels_scan_plan(), which defines it.
 *
 *   channels-cpu.c     a picture, in three passes of tasks: levels that others
 *                      are resized from, strips of channels, rows of windows
 *   channels-memory.c  the memory that a plan needs
 *   channels-strip.c   a strip: rows of pixels -> rows of blocks
 *   channels-dsp.c     the inner loops in plain C, and the choice of a version;
 *                      channels-rows.h has those that compilers vectorise
 *   x86/               the inner loops in AVX2; see x86/channels-avx2.h */
#ifndef CUV_CHANNELS_CPU_H
#define CUV_CHANNELS_CPU_H

#include "channels/channels.h"
#include "waldboost.h"

typedef struct _CuvChannelsCpu CuvChannelsCpu;

/* The model must be one of trees on channels; it and the plan must outlive the
 * result. Returns NULL if memory runs out, or if the channels of a level need
 * more than 2 GB. */
CuvChannelsCpu *cuv_channels_cpu_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan);
void cuv_channels_cpu_free (CuvChannelsCpu *self); /* NULL is allowed */

/* Replaces the plan; memory only grows. Returns false where
 * cuv_channels_cpu_new() returns NULL; self can then only be freed. */
bool cuv_channels_cpu_set_plan (
    CuvChannelsCpu *self, const CuvWaldboostPlan *plan);

/* Scans a picture, which is the frame turned as the plan says, with at most
 * n_threads threads (0 = one per processor). Allocates nothing. */
void cuv_channels_cpu_run (CuvChannelsCpu *self,
    const CuvChannelsPicture *picture, int n_threads,
    CuvWaldboostResult *result);

/* For training: cuv_channels_cpu_make() only computes the channels of a
 * picture, on one thread. cuv_channels_cpu_window() then copies those of a
 * window: channel after channel, row after row. */
void cuv_channels_cpu_make (
    CuvChannelsCpu *self, const CuvChannelsPicture *picture);
void cuv_channels_cpu_window (
    const CuvChannelsCpu *self, const CuvWaldboostHit *window, uint8_t *values);

#endif
