/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the AVX2 functions of motion detection. */
#ifndef CUV_MOTION_AVX2_H
#define CUV_MOTION_AVX2_H

#include "cuvavx2.h"
#include "cpu/motion-dsp.h"

void cuv_mog2_avx2 (const CuvMog2Row *row, const uint8_t *const *values, int n,
    const CuvMog2Params *params, const CuvMog2Rate *rate, uint8_t *mask);

#endif
