/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "countbright.h"

uint64_t
cuv_countbright (const CuvFrame *frame, int threshold)
{
  uint64_t count = 0;

  for (int y = 0; y < frame->height; y++) {
    for (int x = 0; x < frame->width; x++)
      count += cuv_frame_grey (frame, x, y) > threshold;
  }
  return count;
}
