/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans a picture with trees on channels on the CPU. The result is that of
 * cuv_channels_scan_plan(), which defines it.
 *
 * One pyramid serves several models: it has the levels of all their plans. Each
 * level and its channels are computed once.
 *
 *   channels-cpu.c     a picture, in passes of tasks: levels that others are
 *                      resized from, strips of channels, and for each model
 *                      rows of windows
 *   channels-memory.c  the pyramid that the plans need
 *   channels-scan.c    the scan of a model: its levels of the pyramid, its
 *                      windows, its result
 *   channels-strip.c   a strip: rows of pixels -> rows of blocks
 *   channels-dsp.c     the inner loops in plain C, and the choice of a version;
 *                      channels-rows.h has those that compilers vectorise
 *   x86/               the inner loops in AVX2; see x86/channels-avx2.h */
#ifndef CUV_CHANNELS_CPU_H
#define CUV_CHANNELS_CPU_H

#include "channels/channels.h"
#include "waldboost.h"

typedef struct _CuvChannelsCpu CuvChannelsCpu;

/* n: 1 .. CUV_WALDBOOST_MAX_MODELS, of trees on channels. The shrink of all
 * models is the same; their plans may differ in what depends on the model and
 * in object sizes. Models and plans must outlive the result. NULL if memory
 * runs out, or the channels of a level need more than 2 GB. */
CUV_API CuvChannelsCpu *cuv_channels_cpu_new (
    const CuvWaldboostSearch *searches, int n);
/* NULL is allowed. */
CUV_API void cuv_channels_cpu_free (CuvChannelsCpu *self);

/* Changes to other plans of the same models. Memory only grows. Returns false
 * in the cases in which cuv_channels_cpu_new() returns NULL; self can then only
 * be freed. */
bool cuv_channels_cpu_set_plans (
    CuvChannelsCpu *self, const CuvWaldboostSearch *searches);

/* Scans a picture, which is the plans' turned frame, with at most n_threads
 * threads (0: one per processor). Writes a result for each model; the first
 * result includes the time of the pyramid. Allocates no memory. */
void cuv_channels_cpu_run (CuvChannelsCpu *self,
    const CuvChannelsPicture *picture, int n_threads,
    CuvWaldboostResult *results);

/* ---- for training ---- */

/* Only computes the channels, with one thread. */
CUV_API void cuv_channels_cpu_make (
    CuvChannelsCpu *self, const CuvChannelsPicture *picture);

/* Returns the first byte of a window of the first model, in a level with
 * windows. */
CUV_API const uint8_t *cuv_channels_cpu_window (
    const CuvChannelsCpu *self, const CuvWaldboostHit *window);

/* Sets the distances of all bytes of such a window from the first one: row by
 * row of each channel. They depend on the level only. */
CUV_API void cuv_channels_cpu_offsets (
    const CuvChannelsCpu *self, int level, ptrdiff_t *offsets);

#endif
