/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The definition of the code of a pixel, compiled by gcc and nvcc. */
#ifndef CUV_LDP_CODE_H
#define CUV_LDP_CODE_H

#include "ldp/ldp-types.h"

/* Returns pixel (x, y); outside the picture its border is replicated. */
CUV_HOST_DEVICE int
cuv_ldp_clamped_pixel (
    const uint8_t *picture, int width, int height, int x, int y)
{
  const int u = x < 0 ? 0 : x < width ? x : width - 1;
  const int v = y < 0 ? 0 : y < height ? y : height - 1;

  return picture[(int64_t) v * width + u];
}

/* Returns the k-th derivative at (x, y): the sum of the k + 1 pixels along the
 * direction, weighted by signed binomial coefficients. */
CUV_HOST_DEVICE int
cuv_ldp_derivative (const uint8_t *picture, int width, int height, int k,
    int direction, int x, int y)
{
  int coefficient = 1, sum = 0;

  for (int i = 0; i <= k; i++) {
    sum += coefficient
        * cuv_ldp_clamped_pixel (picture, width, height,
            x + i * cuv_ldp_dx (direction), y + i * cuv_ldp_dy (direction));
    coefficient = -coefficient * (k - i) / (i + 1);
  }
  return sum;
}

/* Returns the code of pixel (x, y) in a direction, 0 .. CUV_LDP_DIRECTIONS -
 * 1. */
CUV_HOST_DEVICE uint8_t
cuv_ldp_code (const uint8_t *picture, int width, int height, int order,
    int direction, int x, int y)
{
  const int8_t neighbours[8][2] = { { -1, -1 }, { 0, -1 }, { 1, -1 }, { 1, 0 },
    { 1, 1 }, { 0, 1 }, { -1, 1 }, { -1, 0 } };
  const int centre =
      cuv_ldp_derivative (picture, width, height, order - 1, direction, x, y);
  unsigned code = 0;

  for (int i = 0; i < 8; i++) {
    const int other = cuv_ldp_derivative (picture, width, height, order - 1,
        direction, x + neighbours[i][0], y + neighbours[i][1]);
    const int same_sign =
        (centre > 0 && other > 0) || (centre < 0 && other < 0);

    code = code << 1 | !same_sign;
  }
  return (uint8_t) code;
}

/* Returns the grey value of pixel (x, y) in a drawing of the codes: its code,
 * or 0 if it is not counted. */
CUV_HOST_DEVICE uint8_t
cuv_ldp_drawn_pixel (const CuvLdpLayout *layout, const uint8_t *picture,
    int direction, int x, int y)
{
  const int margin = cuv_ldp_margin (layout);

  if (x < margin || y < margin || x >= layout->width - margin
      || y >= layout->height - margin)
    return 0;
  return cuv_ldp_code (picture, layout->width, layout->height,
      layout->params.order, direction, x, y);
}

#endif
