/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BGR of a frame: the definition in C of what cuda/web/ computes for nvJPEG. */
#ifndef CUV_WEB_BGR_H
#define CUV_WEB_BGR_H

#include "web/web-types.h"

/* Writes a frame of at least three components as rows of 3 * width bytes: B, G,
 * R of each pixel. */
void cuv_web_bgr (
    const CuvFrame *frame, const CuvRgbMatrix *matrix, uint8_t *bgr);

#endif
