/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The analysis of a sequence of cubes on the CPU's threads. */
#ifndef CUV_PCA_CPU_H
#define CUV_PCA_CPU_H

#include <stddef.h>
#include "reference/pca-track.h"

typedef struct _CuvPcaCpu CuvPcaCpu;

/* Allocates the memory for cubes of n selected bands; NULL if out of memory. */
CuvPcaCpu *cuv_pca_cpu_new (int n);
void cuv_pca_cpu_free (CuvPcaCpu *self); /* NULL is allowed */

/* Returns the state that is kept from frame to frame, to be read, saved or
 * replaced between runs. Owned by self. */
CuvPcaTrack *cuv_pca_cpu_track (CuvPcaCpu *self);

/* Updates the basis with a cube, unless it is frozen, and paints width x height
 * pixels of R, G, B, 255 in rows of stride bytes. bands->n is the n of
 * cuv_pca_cpu_new(). n_threads 0 = one per processor; results do not depend on
 * it. */
void cuv_pca_cpu_run (CuvPcaCpu *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params, uint8_t *picture,
    ptrdiff_t stride, int n_threads, CuvPcaResult *result);

/* Updates the basis with a cube, unless it is frozen, and writes the first
 * scores->n components of its pixels. Returns false if out of memory. */
bool cuv_pca_cpu_score (CuvPcaCpu *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params,
    const CuvPcaScores *scores, int n_threads, CuvPcaResult *result);

#endif
