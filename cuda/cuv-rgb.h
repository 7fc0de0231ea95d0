/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conversion of a pixel of any format to red, green and blue, in the same way
 * on CPU and GPU. */
#ifndef CUV_RGB_H
#define CUV_RGB_H

#include "cuv-frame.h"

/* R, G and B from Y, U and V: R is floor ((m[0][0] Y + m[0][1] U + m[0][2] V +
 * m[0][3]) / 2^16), clamped to 0 .. 255; G and B are rows 1 and 2. Each sum
 * fits in 32 bits. */
typedef struct {
  int32_t m[3][4];
} CuvRgbMatrix;

/* Returns the sample that pixel (x, y) shares. */
CUV_HOST_DEVICE int
cuv_rgb_sample (const CuvComponent *c, int x, int y)
{
  return c->data[(int64_t) (y >> c->ysub) * c->stride
      + (int64_t) (x >> c->xsub) * c->step];
}

/* Computes R, G or B of a pixel with row 0, 1 or 2 of the matrix. */
CUV_HOST_DEVICE uint8_t
cuv_rgb_of_yuv (const int32_t row[4], int y, int u, int v)
{
  int value = (row[0] * y + row[1] * u + row[2] * v + row[3]) >> 16;

  return (uint8_t) (value < 0 ? 0 : value < 255 ? value : 255);
}

#endif
