/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bgr.h"

void
cuv_web_bgr (const CuvFrame *frame, const CuvRgbMatrix *matrix, uint8_t *bgr)
{
  for (int y = 0; y < frame->height; y++) {
    for (int x = 0; x < frame->width; x++, bgr += 3)
      cuv_web_pixel (frame, matrix, x, y, bgr);
  }
}
