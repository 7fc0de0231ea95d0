/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/channels.h"

int
cuv_channels_color (int channel, int red, int green, int blue)
{
  switch (channel) {
    case 0:
      return (red + 2 * green + blue + 2) >> 2;
    case 1:
      return (red - blue + 256) >> 1;
    default:
      return (2 * green - red - blue + 512) >> 2;
  }
}

void
cuv_channels_add (const CuvChannelsBlocks *blocks, int x, int y, int value)
{
  const int column = x / blocks->shrink, row = y / blocks->shrink;

  if (column < blocks->columns && row < blocks->rows) {
    uint16_t *sum = &blocks->sums[(ptrdiff_t) row * blocks->columns + column];

    *sum = (uint16_t) (*sum + value);
  }
}

/* Returns the sum of 3x3 blocks with the weights 1 2 1 in both directions.
 * Blocks at an edge are repeated beyond it. */
static int32_t
smoothed (const CuvChannelsBlocks *blocks, int column, int row)
{
  static const int32_t weight[] = { 1, 2, 1 };
  int32_t sum = 0;

  for (int j = 0; j < 3; j++) {
    for (int i = 0; i < 3; i++)
      sum += weight[j] * weight[i]
          * blocks->sums[(ptrdiff_t) cuv_channels_clamp (
                             row + j - 1, blocks->rows)
                  * blocks->columns
              + cuv_channels_clamp (column + i - 1, blocks->columns)];
  }
  return sum;
}

void
cuv_channels_smooth (const CuvChannelsBlocks *blocks, uint8_t *out)
{
  const int32_t divisor = 16 * blocks->shrink * blocks->shrink;

  for (int row = 0; row < blocks->rows; row++) {
    for (int column = 0; column < blocks->columns; column++)
      *out++ = (uint8_t) (smoothed (blocks, column, row) / divisor);
  }
}
