/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Crops, pixel by pixel. */
#include "rcd.h"
#include "rcd/rcd-crop.h"

void
cuv_rcd_crop (
    const CuvFrame *frame, const CuvRcdCrop *crop, int side, uint8_t *pixels)
{
  for (int y = 0; y < side; y++) {
    for (int x = 0; x < side; x++)
      pixels[y * side + x] = cuv_rcd_crop_pixel (frame, crop, x, y);
  }
}
