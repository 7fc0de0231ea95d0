/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conversion of a pixel to B, G, R, the format of JPEG compressors, in the same
 * way on CPU and GPU. */
#ifndef CUV_WEB_TYPES_H
#define CUV_WEB_TYPES_H

#include "cuv-rgb.h"

/* Converts pixel (x, y) of a frame of Y, U, V, with the nearest chroma, or of
 * R, G, B. */
CUV_HOST_DEVICE void
cuv_web_pixel (const CuvFrame *frame, const CuvRgbMatrix *matrix, int x, int y,
    uint8_t bgr[3])
{
  const int a = cuv_rgb_sample (&frame->component[0], x, y);
  const int b = cuv_rgb_sample (&frame->component[1], x, y);
  const int c = cuv_rgb_sample (&frame->component[2], x, y);

  if (frame->model == CUV_MODEL_RGB) {
    bgr[0] = (uint8_t) c;
    bgr[1] = (uint8_t) b;
    bgr[2] = (uint8_t) a;
    return;
  }
  for (int i = 0; i < 3; i++)
    bgr[i] = cuv_rgb_of_yuv (matrix->m[2 - i], a, b, c);
}

#endif
