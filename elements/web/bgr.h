/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BGR of a frame: the definition in C of what cuda/web/ computes for nvJPEG. */
#ifndef CUV_WEB_BGR_H
#define CUV_WEB_BGR_H

#include <stdbool.h>
#include "web/web-types.h"

/* The matrix from YUV to RGB. limited: Y has a range of 16 .. 235 and chroma of
 * 16 .. 240, else both have 0 .. 255. kr and kb are the luma coefficients of
 * red and blue. */
CuvRgbMatrix cuv_web_matrix (double kr, double kb, bool limited);

/* Writes a frame of at least three components as rows of 3 * width bytes: B, G,
 * R of each pixel. */
void cuv_web_bgr (
    const CuvFrame *frame, const CuvRgbMatrix *matrix, uint8_t *bgr);

#endif
