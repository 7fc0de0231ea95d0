/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Motion detection on the CPU. */
#ifndef CUV_MOTION_CPU_H
#define CUV_MOTION_CPU_H

#include "motion.h"

typedef struct _CuvMotionCpu CuvMotionCpu;

/* Allocates the memory for frames like this one; returns NULL if out of
 * memory. */
CuvMotionCpu *cuv_motion_cpu_new (
    const CuvMotionConfig *config, const CuvFrame *frame);
void cuv_motion_cpu_free (CuvMotionCpu *self); /* NULL is allowed */

/* Forgets the background: the next frame is all of it. */
void cuv_motion_cpu_reset (CuvMotionCpu *self);

/* Finds what moves in the next frame; n_threads 0 = all processors. */
void cuv_motion_cpu_run (CuvMotionCpu *self, const CuvFrame *frame,
    const CuvMotionParams *params, int n_threads, CuvMotionResult *result);

#endif
