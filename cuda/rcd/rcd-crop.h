/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the pixels of a crop in exact integers, for gcc and nvcc. */
#ifndef CUV_RCD_CROP_H
#define CUV_RCD_CROP_H

#include "rcd/rcd-pixel.h"

/* Returns 65536 times the bilinear grey value at (x, y), which are in 1/256
 * pixels. */
CUV_HOST_DEVICE int
cuv_rcd_grey_between (const CuvFrame *frame, int64_t x, int64_t y)
{
  const int left = (int) (x >> 8), top = (int) (y >> 8);
  const int fx = (int) (x & 255), fy = (int) (y & 255);
  const int above = cuv_rcd_grey (frame, left, top) * (256 - fx)
      + cuv_rcd_grey (frame, left + 1, top) * fx;
  const int below = cuv_rcd_grey (frame, left, top + 1) * (256 - fx)
      + cuv_rcd_grey (frame, left + 1, top + 1) * fx;

  return above * (256 - fy) + below * fy;
}

/* Returns pixel (x, y) of a crop. */
CUV_HOST_DEVICE uint8_t
cuv_rcd_crop_pixel (const CuvFrame *frame, const CuvRcdCrop *crop, int x, int y)
{
  const int n = crop->samples;
  int sum = 0;

  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++)
      sum += cuv_rcd_grey_between (frame,
          (crop->x + crop->step * (x * n + i)) >> 8,
          (crop->y + crop->step * (y * n + j)) >> 8);
  }
  return (uint8_t) ((sum + 32768 * n * n) / (65536 * n * n));
}

#endif
