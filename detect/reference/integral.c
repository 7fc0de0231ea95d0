/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes rows of pyramid levels and of their integral images. */
#include "reference/waldboost-reference.h"

static int
sample (const uint8_t *in, CuvTap tap)
{
  int value = (256 - tap.weight) * in[tap.index];

  return tap.weight > 0 ? value + tap.weight * in[tap.index + 1] : value;
}

void
cuv_resize_row (uint8_t *out, int width, const uint8_t *top,
    const uint8_t *bottom, int n_in, int bottom_weight, const CuvTap *taps,
    uint16_t *column)
{
  for (int x = 0; x < width; x++) {
    int value = (256 - bottom_weight) * sample (top, taps[x])
        + bottom_weight * sample (bottom, taps[x]);

    out[x] = (uint8_t) ((value + 32768) >> 16);
  }
}

static void
sum_row (uint32_t *out, const uint32_t *above, const uint8_t *grey, int width,
    bool squares)
{
  uint32_t total = 0;

  out[0] = 0;
  for (int x = 0; x < width; x++) {
    total += squares ? (uint32_t) grey[x] * grey[x] : grey[x];
    out[x + 1] = above[x + 1] + total;
  }
}

void
cuv_sum_row (void *sums, const void *above, const uint8_t *grey, int width,
    int step, ptrdiff_t stride)
{
  sum_row (sums, above, grey, width, false);
}

void
cuv_square_row (void *squares, const void *above, const uint8_t *grey,
    int width, int step, ptrdiff_t stride)
{
  sum_row (squares, above, grey, width, true);
}

/* A triangle is the union of the triangles of its upper left and upper right
 * neighbours (whose intersection is the triangle two rows up) and two more
 * pixels. Pixels outside the image are 0, so one neighbour suffices at the left
 * and at the right edge. */
void
cuv_tilted_row (void *out, const void *above, const void *two_above,
    const uint8_t *grey, const uint8_t *grey_above, int width, int step,
    ptrdiff_t stride)
{
  uint32_t *tilted = out;
  const uint32_t *one_up = above, *two_up = two_above;

  tilted[0] = one_up[1];
  for (int x = 1; x < width; x++)
    tilted[x] = one_up[x - 1] + one_up[x + 1] - two_up[x] + grey[x - 1]
        + grey_above[x - 1];
  tilted[width] = one_up[width - 1] + grey[width - 1] + grey_above[width - 1];
}
