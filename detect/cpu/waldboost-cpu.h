/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scan of a whole frame on the CPU, called by backend.c and by training. */
#ifndef CUV_WALDBOOST_CPU_H
#define CUV_WALDBOOST_CPU_H

#include "waldboost.h"

typedef struct _CuvWaldboostCpu CuvWaldboostCpu;

/* Allocates everything that a frame needs. Model and plan must outlive the
 * result. Returns NULL if memory runs out. */
CUV_API CuvWaldboostCpu *cuv_waldboost_cpu_new (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan);
/* NULL is allowed. */
CUV_API void cuv_waldboost_cpu_free (CuvWaldboostCpu *self);

/* Changes to another plan of the same model. Memory only grows. Returns false
 * if memory runs out; afterwards only cuv_waldboost_cpu_free() may be called.
 */
CUV_API bool cuv_waldboost_cpu_set_plan (
    CuvWaldboostCpu *self, const CuvWaldboostPlan *plan);

/* Scans a frame of the plan's size in host memory, with at most n_threads
 * threads (0: one per processor). The result does not depend on the number of
 * threads; its hits are valid until the next run. */
CUV_API void cuv_waldboost_cpu_run (CuvWaldboostCpu *self,
    const CuvFrame *frame, int n_threads, CuvWaldboostResult *result);

#endif
