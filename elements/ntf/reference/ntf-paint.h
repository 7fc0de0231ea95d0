/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures of factors. Pixels are R, G, B, 255; rows have stride bytes. */
#ifndef CUV_NTF_PAINT_H
#define CUV_NTF_PAINT_H

#include "ntf.h"

#define CUV_NTF_SHOWN 3

/* Three terms' maps, u times v, as red, green and blue, each from 0 to its own
 * largest value. terms: from 1 on; 0, and what there is not, is black. */
void cuv_ntf_paint_terms (const CuvNtfFactors *factors,
    const int32_t terms[CUV_NTF_SHOWN], uint8_t *pixels, size_t stride);

/* A map of residuals, none negative, in grey: white is three times their root
 * mean square. */
void cuv_ntf_paint_residual (
    const float *map, int width, int height, uint8_t *pixels, size_t stride);

#endif
