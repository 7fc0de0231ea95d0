/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loops that compilers vectorise. Each version of the function table compiles
 * them for its instruction set. */
#ifndef CUV_CHANNELS_ROWS_H
#define CUV_CHANNELS_ROWS_H

#include <math.h>
#include "channels/cpu/channels-dsp.h"

static inline void
cuv_channels_move_sums (
    uint16_t *sums, const uint16_t *in, const uint16_t *out, int width)
{
  for (int x = 0; x < width; x++)
    sums[x] = (uint16_t) (sums[x] + in[x] - out[x]);
}

static inline void
cuv_channels_normalise_row (
    const uint16_t *magnitudes, const uint16_t *sums, int width, uint8_t *out)
{
  enum { SIDE = 2 * CUV_CHANNELS_RADIUS + 1 };

  for (int x = 0; x < width; x++) {
    int sum = 0, relative;

    for (int i = -CUV_CHANNELS_RADIUS; i <= CUV_CHANNELS_RADIUS; i++)
      sum += sums[x + i];
    relative = 128 * magnitudes[x] / (sum / (SIDE * SIDE) + CUV_CHANNELS_FLOOR);
    out[x] = (uint8_t) (relative < 255 ? relative : 255);
  }
}

/* Sums of blocks are at most 16 x 255, so their weighted sums fit in 16
 * bits. */
static inline void
cuv_channels_smooth_row (const uint16_t *above, const uint16_t *at,
    const uint16_t *below, int columns, int shift, uint8_t *out)
{
  for (int x = 0; x < columns; x++) {
    const int left = above[x - 1] + 2 * at[x - 1] + below[x - 1];
    const int middle = above[x] + 2 * at[x] + below[x];
    const int right = above[x + 1] + 2 * at[x + 1] + below[x + 1];

    out[x] = (uint8_t) ((left + 2 * middle + right) >> shift);
  }
}

#endif
