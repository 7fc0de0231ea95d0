/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures of factors. Pixels are R, G, B, 255; rows have stride bytes. */
#ifndef CUV_NTF_PAINT_H
#define CUV_NTF_PAINT_H

#include "ntf.h"

#define CUV_NTF_SHOWN 3

/* The maps u v^T of three terms as red, green and blue, each scaled to its own
 * maximum. terms: numbers from 1; 0 and numbers above the rank are black. */
void cuv_ntf_paint_terms (const CuvNtfFactors *factors,
    const int32_t terms[CUV_NTF_SHOWN], uint8_t *pixels, size_t stride);

/* A map of residuals >= 0 in grey; white is three times their root mean square.
 */
void cuv_ntf_paint_residual (
    const float *map, int width, int height, uint8_t *pixels, size_t stride);

#endif
