/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_WEB_BGR_H
#define CUV_WEB_BGR_H

#include <stdbool.h>
#include "web/web-types.h"

/* The matrix for Y of 16 .. 235 and chroma of 16 .. 240, or all of 0 .. 255;
 * kr and kb are the luma coefficients of red and blue. */
CuvRgbMatrix cuv_web_matrix (double kr, double kb, bool limited);

/* Writes a frame of three components or more as rows of 3 * width bytes. */
void cuv_web_bgr (
    const CuvFrame *frame, const CuvRgbMatrix *matrix, uint8_t *bgr);

#endif
