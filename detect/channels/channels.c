/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "channels/channels.h"

#include <stdlib.h>
#include <string.h>

/* Scratch memory for a picture. */
typedef struct {
  uint16_t *magnitudes; /* magnitude of each pixel's gradient */
  uint8_t *relative;    /* magnitudes after normalisation */
  uint8_t *bins;        /* direction of each pixel's gradient, 0 .. 5 */
  CuvChannelsBlocks blocks;
} Scratch;

static bool
scratch_init (Scratch *self, const CuvChannelsPicture *picture, int32_t shrink)
{
  const size_t n = (size_t) picture->width * (size_t) picture->height;

  *self = (Scratch){ .magnitudes = malloc (n * sizeof *self->magnitudes),
    .relative = malloc (n),
    .bins = malloc (n),
    .blocks = { malloc (n * sizeof *self->blocks.sums), picture->width / shrink,
        picture->height / shrink, shrink } };
  return self->magnitudes != NULL && self->relative != NULL
      && self->bins != NULL && self->blocks.sums != NULL;
}

static void
scratch_clear (Scratch *self)
{
  free (self->magnitudes);
  free (self->relative);
  free (self->bins);
  free (self->blocks.sums);
}

static void
find_gradients (const CuvChannelsPicture *picture, Scratch *scratch)
{
  ptrdiff_t at = 0;

  for (int y = 0; y < picture->height; y++) {
    for (int x = 0; x < picture->width; x++, at++) {
      const CuvGradient gradient = cuv_channels_gradient (picture, x, y);

      scratch->magnitudes[at] = (uint16_t) cuv_channels_root (
          gradient.dx * gradient.dx + gradient.dy * gradient.dy);
      scratch->bins[at] = (uint8_t) cuv_channels_direction (gradient);
    }
  }
  cuv_channels_normalise (
      scratch->magnitudes, picture->width, picture->height, scratch->relative);
}

/* Returns the value that pixel `at` adds to a channel. */
static int
channel_value (const CuvChannelsPicture *picture, const Scratch *scratch,
    int channel, ptrdiff_t at)
{
  if (channel < CUV_CHANNELS_COLORS)
    return cuv_channels_color (channel, picture->plane[0][at],
        picture->plane[1][at], picture->plane[2][at]);
  if (channel == CUV_CHANNELS_MAGNITUDE
      || scratch->bins[at] == channel - CUV_CHANNELS_DIRECTION)
    return scratch->relative[at];
  return 0;
}

static void
sum_blocks (
    const CuvChannelsPicture *picture, const Scratch *scratch, int channel)
{
  const CuvChannelsBlocks *blocks = &scratch->blocks;
  ptrdiff_t at = 0;

  memset (blocks->sums, 0,
      (size_t) blocks->columns * (size_t) blocks->rows * sizeof *blocks->sums);
  for (int y = 0; y < picture->height; y++) {
    for (int x = 0; x < picture->width; x++, at++)
      cuv_channels_add (
          blocks, x, y, channel_value (picture, scratch, channel, at));
  }
}

bool
cuv_channels_compute (
    const CuvChannelsPicture *picture, int32_t shrink, uint8_t *channels)
{
  Scratch scratch;
  const bool ok = scratch_init (&scratch, picture, shrink);

  if (ok) {
    const CuvChannelsBlocks *blocks = &scratch.blocks;

    find_gradients (picture, &scratch);
    for (int i = 0; i < CUV_CHANNELS_N; i++) {
      sum_blocks (picture, &scratch, i);
      cuv_channels_smooth (
          blocks, channels + (ptrdiff_t) i * blocks->columns * blocks->rows);
    }
  }
  scratch_clear (&scratch);
  return ok;
}
