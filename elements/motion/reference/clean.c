/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "motion.h"

#include <string.h>

/* Whether a pixel of the square around (x, y) has the value. */
static bool
square_has (const uint8_t *mask, int width, int height, int side, int x, int y,
    bool moving)
{
  const int r = side / 2;

  for (int j = cuv_motion_max (y - r, 0);
       j <= cuv_motion_min (y + r, height - 1); j++) {
    for (int i = cuv_motion_max (x - r, 0);
         i <= cuv_motion_min (x + r, width - 1); i++) {
      if ((mask[(int64_t) j * width + i] == CUV_MOTION_MOVING) == moving)
        return true;
    }
  }
  return false;
}

/* Makes pixels moving if any pixel of their square is, or still if any is. */
static void
spread_mask (uint8_t *mask, int width, int height, int side, bool moving,
    uint8_t *scratch)
{
  memcpy (scratch, mask, (size_t) width * height);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++)
      mask[(int64_t) y * width + x] =
          square_has (scratch, width, height, side, x, y, moving) == moving
          ? CUV_MOTION_MOVING
          : CUV_MOTION_STILL;
  }
}

void
cuv_motion_open (
    uint8_t *mask, int width, int height, int side, uint8_t *scratch)
{
  spread_mask (mask, width, height, side, false, scratch);
  spread_mask (mask, width, height, side, true, scratch);
}

void
cuv_motion_close (
    uint8_t *mask, int width, int height, int side, uint8_t *scratch)
{
  spread_mask (mask, width, height, side, true, scratch);
  spread_mask (mask, width, height, side, false, scratch);
}
