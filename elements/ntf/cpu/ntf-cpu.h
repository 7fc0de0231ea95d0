/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A factorisation on the CPU: what cuv_ntf_run() finds, fast, and in steps that
 * can be stopped. */
#ifndef CUV_NTF_CPU_H
#define CUV_NTF_CPU_H

#include "ntf.h"

typedef struct _CuvNtfCpu CuvNtfCpu;

/* Allocates all that a tensor of this size needs, each at least 1, rank at most
 * CUV_NTF_MAX_RANK; NULL if there is no memory. Whoever makes *cancel not 0,
 * atomically from any thread, has what is running return within the time that
 * some rows take; the factors are then of no use. */
CuvNtfCpu *cuv_ntf_cpu_new (
    int height, int width, int depth, int rank, const int32_t *cancel);
void cuv_ntf_cpu_free (CuvNtfCpu *self); /* NULL is allowed */

/* n_threads 0 = all; no result depends on it. Those that return FALSE were
 * cancelled. */

/* What a cube of the tensor's height and width has in it, apart from samples
 * that are *ignore; ignore may be NULL. */
bool cuv_ntf_cpu_scan (CuvNtfCpu *self, const CuvCube *cube,
    const double *ignore, int n_threads, CuvNtfScan *scan);

/* Loads its bands as those from z on, for a tensor of this scale. */
bool cuv_ntf_cpu_load (CuvNtfCpu *self, const CuvCube *cube,
    const double *ignore, int z, double scale, int n_threads);

/* Begins to factorise what was loaded. HALS with JACOBI counts as GS. */
bool cuv_ntf_cpu_start (
    CuvNtfCpu *self, const CuvNtfParams *params, int n_threads);

/* Goes on to the next test. When it is DONE the factors are. */
CuvNtfStatus cuv_ntf_cpu_step (CuvNtfCpu *self, int n_threads);

/* Of the run so far. */
const CuvNtfResult *cuv_ntf_cpu_result (const CuvNtfCpu *self);
const CuvNtfFactors *cuv_ntf_cpu_factors (const CuvNtfCpu *self);

/* After it is DONE: of each pixel the root mean square, over the depth, of what
 * the terms leave of G; height x width. */
bool cuv_ntf_cpu_residual (CuvNtfCpu *self, int n_threads, float *map);

#endif
