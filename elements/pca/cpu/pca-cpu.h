/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components of frame after frame on the CPU's threads. */
#ifndef CUV_PCA_CPU_H
#define CUV_PCA_CPU_H

#include <stddef.h>
#include "reference/pca-track.h"

typedef struct _CuvPcaCpu CuvPcaCpu;

/* Allocates all that cubes of n bands that count need; NULL if there is no
 * memory. */
CuvPcaCpu *cuv_pca_cpu_new (int n);
void cuv_pca_cpu_free (CuvPcaCpu *self); /* NULL is allowed */

/* What it knows, for others to read, to save and to set between runs. */
CuvPcaTrack *cuv_pca_cpu_track (CuvPcaCpu *self);

/* Learns from a cube and paints it: its width x height pixels of R, G, B, 255,
 * rows of stride bytes. As many bands count as it was made for. n_threads 0 =
 * all; the result is the same for every number. */
void cuv_pca_cpu_run (CuvPcaCpu *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params, uint8_t *picture,
    ptrdiff_t stride, int n_threads, CuvPcaResult *result);

/* Learns from a cube and writes the components of its pixels, as many as scores
 * has, by what is known then. false: there is no memory. */
bool cuv_pca_cpu_score (CuvPcaCpu *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params,
    const CuvPcaScores *scores, int n_threads, CuvPcaResult *result);

#endif
