/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/channels.h"

#include <stdlib.h>

int32_t
cuv_channels_root (int32_t square)
{
  int32_t root = 0;

  while ((root + 1) * (root + 1) <= square)
    root++;
  return root;
}

/* Returns the angle of a gradient, 0 to 90 degrees, in steps of 30 degrees. 56
 * / 209 replaces the tangent of 15 degrees: no quotient of two differences of
 * bytes lies between these numbers. */
static int
steps_from_x_axis (int32_t across, int32_t down)
{
  if (209 * down <= 56 * across)
    return 0;
  if (down <= across)
    return 1;
  return 56 * down < 209 * across ? 2 : 3;
}

int
cuv_channels_direction (CuvGradient gradient)
{
  const bool falls = (gradient.dx < 0) != (gradient.dy < 0);
  const int steps = steps_from_x_axis (abs (gradient.dx), abs (gradient.dy));

  return falls && steps > 0 ? CUV_CHANNELS_BINS - steps : steps;
}

/* Returns the plane's sample at (x, y), or the one nearest to it. */
static int32_t
clamped_sample (const uint8_t *plane, int width, int height, int x, int y)
{
  return plane[(ptrdiff_t) cuv_channels_clamp (y, height) * width
      + cuv_channels_clamp (x, width)];
}

CuvGradient
cuv_channels_gradient (const CuvChannelsPicture *picture, int x, int y)
{
  const int w = picture->width, h = picture->height;
  CuvGradient strongest = { 0, 0 };

  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    const uint8_t *plane = picture->plane[i];
    const CuvGradient self = {
      clamped_sample (plane, w, h, x + 1, y)
          - clamped_sample (plane, w, h, x - 1, y),
      clamped_sample (plane, w, h, x, y + 1)
          - clamped_sample (plane, w, h, x, y - 1),
    };

    if (self.dx * self.dx + self.dy * self.dy
        > strongest.dx * strongest.dx + strongest.dy * strongest.dy)
      strongest = self;
  }
  return strongest;
}

/* Returns the sum of the magnitudes around (x, y). Magnitudes at an edge are
 * repeated beyond it. */
static int32_t
surroundings (const uint16_t *in, int width, int height, int x, int y)
{
  int32_t sum = 0;

  for (int j = -CUV_CHANNELS_RADIUS; j <= CUV_CHANNELS_RADIUS; j++) {
    for (int i = -CUV_CHANNELS_RADIUS; i <= CUV_CHANNELS_RADIUS; i++)
      sum += in[(ptrdiff_t) cuv_channels_clamp (y + j, height) * width
          + cuv_channels_clamp (x + i, width)];
  }
  return sum;
}

void
cuv_channels_normalise (
    const uint16_t *in, int32_t width, int32_t height, uint8_t *out)
{
  const int32_t side = 2 * CUV_CHANNELS_RADIUS + 1;

  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      const ptrdiff_t at = (ptrdiff_t) y * width + x;
      const int32_t mean =
          surroundings (in, width, height, x, y) / (side * side);
      const int32_t relative = 128 * in[at] / (mean + CUV_CHANNELS_FLOOR);

      out[at] = (uint8_t) (relative < 255 ? relative : 255);
    }
  }
}
