/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the AVX2 functions of the line detector. */
#ifndef CUV_HOUGH_AVX2_H
#define CUV_HOUGH_AVX2_H

#include "cuvavx2.h"
#include "cpu/hough-dsp.h"

void cuv_canny_dsp_init_avx2 (CuvHoughDsp *dsp);
void cuv_gather_avx2 (const CuvGather *work, uint8_t *lanes, uint32_t *middle);

#endif
