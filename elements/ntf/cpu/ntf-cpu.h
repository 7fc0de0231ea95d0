/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A factorisation on the CPU's threads: the result of cuv_ntf_run(), in steps
 * that can be cancelled. */
#ifndef CUV_NTF_CPU_H
#define CUV_NTF_CPU_H

#include "ntf.h"

typedef struct _CuvNtfCpu CuvNtfCpu;

/* Allocates the memory for a tensor of this size; each dimension is at least 1,
 * rank at most CUV_NTF_MAX_RANK. Returns NULL if out of memory. Any thread
 * cancels a running call by an atomic store of a value other than 0 to *cancel:
 * the call returns after the rows in work, and the factors are invalid. */
CuvNtfCpu *cuv_ntf_cpu_new (int height, int width, int depth, int rank,
    CuvNtfFactorisation factorisation, const int32_t *cancel);
void cuv_ntf_cpu_free (CuvNtfCpu *self); /* NULL is allowed */

/* n_threads 0 = one per processor; results do not depend on it. The functions
 * below return false if cancelled. */

/* Scans a cube of the tensor's height and width, without samples equal to
 * *ignore; ignore may be NULL. */
bool cuv_ntf_cpu_scan (CuvNtfCpu *self, const CuvCube *cube,
    const double *ignore, int n_threads, CuvNtfScan *scan);

/* Loads the bands of a cube as depths z, z + 1, ..., divided by scale. */
bool cuv_ntf_cpu_load (CuvNtfCpu *self, const CuvCube *cube,
    const double *ignore, int z, double scale, int n_threads);

/* Initialises a run on the loaded tensor, with the factorisation given to
 * cuv_ntf_cpu_new(). HALS implies schedule GS, as MATRIX does. */
bool cuv_ntf_cpu_start (
    CuvNtfCpu *self, const CuvNtfParams *params, int n_threads);

/* Iterates up to the next test. Returns DONE if the factors are final. */
CuvNtfStatus cuv_ntf_cpu_step (CuvNtfCpu *self, int n_threads);

const CuvNtfResult *cuv_ntf_cpu_result (const CuvNtfCpu *self);
const CuvNtfFactors *cuv_ntf_cpu_factors (const CuvNtfCpu *self);

/* After DONE: writes the residual's RMS over the depth, height x width
 * values. */
bool cuv_ntf_cpu_residual (CuvNtfCpu *self, int n_threads, float *map);

#endif
