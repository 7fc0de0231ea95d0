/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_RCD_AVX2_H
#define CUV_RCD_AVX2_H

#include "cpu/rcd-cpu-private.h"

void cuv_rcd_sums_avx2 (const CuvRcdTile *tile, int32_t *sums);
void cuv_rcd_score_avx2 (const CuvRcdRow *row, const CuvRcdPlace *places,
    int n_places, double *scores);

#endif
