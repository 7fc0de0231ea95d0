/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "motion.h"

#include <stdlib.h>

uint8_t
cuv_average_pixel (
    uint16_t *average, uint8_t value, const CuvAverageParams *params)
{
  const int difference = (value << 8) - *average;

  *average =
      (uint16_t) (*average + (int64_t) difference * params->rate / 65536);
  return abs (difference) >= params->threshold << 8 ? CUV_MOTION_MOVING
                                                    : CUV_MOTION_STILL;
}
