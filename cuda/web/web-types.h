/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conversion of a pixel to B, G, R, the format of JPEG compressors, in the same
 * way on CPU and GPU. */
#ifndef CUV_WEB_TYPES_H
#define CUV_WEB_TYPES_H

#include "cuv-frame.h"

/* R, G and B from Y, U and V: R is floor ((m[0][0] Y + m[0][1] U + m[0][2] V +
 * m[0][3]) / 2^16), clamped to 0 .. 255; G and B are rows 1 and 2. Each sum
 * fits 32 bits. */
typedef struct {
  int32_t m[3][4];
} CuvRgbMatrix;

CUV_HOST_DEVICE int
cuv_web_sample (const CuvComponent *c, int x, int y)
{
  return c->data[(int64_t) (y >> c->ysub) * c->stride
      + (int64_t) (x >> c->xsub) * c->step];
}

CUV_HOST_DEVICE uint8_t
cuv_web_row (const int32_t m[4], int y, int u, int v)
{
  int value = (m[0] * y + m[1] * u + m[2] * v + m[3]) >> 16;

  return (uint8_t) (value < 0 ? 0 : value < 255 ? value : 255);
}

/* Pixel (x, y) of a frame of Y, U, V, with the nearest chroma, or of R, G, B.
 */
CUV_HOST_DEVICE void
cuv_web_pixel (const CuvFrame *frame, const CuvRgbMatrix *matrix, int x, int y,
    uint8_t bgr[3])
{
  const int a = cuv_web_sample (&frame->component[0], x, y);
  const int b = cuv_web_sample (&frame->component[1], x, y);
  const int c = cuv_web_sample (&frame->component[2], x, y);

  if (frame->model == CUV_MODEL_RGB) {
    bgr[0] = (uint8_t) c;
    bgr[1] = (uint8_t) b;
    bgr[2] = (uint8_t) a;
    return;
  }
  for (int i = 0; i < 3; i++)
    bgr[i] = cuv_web_row (matrix->m[2 - i], a, b, c);
}

#endif
