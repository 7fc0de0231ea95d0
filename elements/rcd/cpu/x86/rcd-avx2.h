/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_RCD_AVX2_H
#define CUV_RCD_AVX2_H

#include "cpu/rcd-dsp.h"

void cuv_rcd_sums_avx2 (const CuvRcdTile *tile, int32_t *sums);
void cuv_rcd_score_avx2 (const CuvRcdWindowRow *row,
    const CuvRcdWindowEdges *edges, int n_windows, double *scores);

#endif
