/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Channels computed by hand, and properties that follow from their definition.
 */
#include "channels/channels.h"
#include "cuvcheck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 40, N_PIXELS = SIDE * SIDE };

/* A square picture of three planes. */
typedef struct {
  uint8_t sample[CUV_CHANNELS_COLORS][N_PIXELS];
} Square;

typedef struct {
  int side; /* in blocks */
  uint8_t value[CUV_CHANNELS_N * N_PIXELS / 4];
} Channels;

static Channels
channels_of (const Square *square, int shrink)
{
  const CuvChannelsPicture picture = {
    { square->sample[0], square->sample[1], square->sample[2] }, SIDE, SIDE
  };
  Channels self = { .side = SIDE / shrink };

  CUV_CHECK (cuv_channels_compute (&picture, shrink, self.value));
  return self;
}

static int
value_at (const Channels *self, int channel, int column, int row)
{
  return self->value[(channel * self->side + row) * self->side + column];
}

static Square
plain_square (int red, int green, int blue)
{
  const int values[] = { red, green, blue };
  Square self;

  for (int i = 0; i < CUV_CHANNELS_COLORS; i++)
    memset (self.sample[i], values[i], N_PIXELS);
  return self;
}

static Square
random_square (void)
{
  Square self;

  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    for (int k = 0; k < N_PIXELS; k++)
      self.sample[i][k] = (uint8_t) cuv_check_below (256);
  }
  return self;
}

/* ---- known values ---- */

static void
check_roots (void)
{
  int wrong = 0;

  cuv_check_case ("channels: roots");
  for (int32_t square = 0; square <= 2 * 255 * 255; square++)
    wrong += cuv_channels_root (square) != (int32_t) sqrt ((double) square);
  CUV_CHECK (wrong == 0, ": %d", wrong);
}

/* Compares directions with angles in double precision. Except on diagonals,
 * differences of bytes are at least 1e-4 degrees from the bounds of bins. */
static void
check_directions (void)
{
  int wrong = 0;

  cuv_check_case ("channels: directions");
  for (int dy = -255; dy <= 255; dy++) {
    for (int dx = -255; dx <= 255; dx++) {
      const double angle = atan2 (abs (dy), abs (dx)) * 180 / M_PI;
      const int steps = (int) ceil ((angle - 15) / 30 - 1e-9);
      const int falls = (dx < 0) != (dy < 0);
      const int expected = falls ? (6 - steps) % 6 : steps;

      wrong += cuv_channels_direction ((CuvGradient){ dx, dy }) != expected;
    }
  }
  CUV_CHECK (wrong == 0, ": %d", wrong);
}

static void
check_plain (void)
{
  static const struct {
    int color[3], expected[3];
  } cases[] = {
    { { 0, 0, 0 }, { 0, 128, 128 } },
    { { 255, 255, 255 }, { 255, 128, 128 } },
    { { 255, 0, 0 }, { 64, 255, 64 } },
    { { 0, 255, 0 }, { 128, 128, 255 } },
    { { 0, 0, 255 }, { 64, 0, 64 } },
    { { 255, 0, 255 }, { 128, 128, 0 } },
    { { 200, 100, 50 }, { 113, 203, 115 } },
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int *color = cases[i].color;
    const Square square = plain_square (color[0], color[1], color[2]);

    for (int shrink = 2; shrink <= 4; shrink += 2) {
      const Channels channels = channels_of (&square, shrink);
      int wrong = 0;

      cuv_check_case ("channels: %d %d %d, shrink %d", color[0], color[1],
          color[2], shrink);
      for (int c = 0; c < CUV_CHANNELS_N; c++) {
        for (int k = 0; k < channels.side * channels.side; k++)
          wrong += value_at (&channels, c, k % channels.side, k / channels.side)
              != (c < CUV_CHANNELS_COLORS ? cases[i].expected[c] : 0);
      }
      CUV_CHECK (wrong == 0, ": %d", wrong);
    }
  }
}

/* A vertical edge of 100 between columns 19 and 20, in red only. Its gradient
 * is 100 in both columns, whose surroundings have the mean 2 * 100 * 11 / 121 =
 * 18, so that both become min (255, 12800 / 24). In blocks of 4 they are the
 * last column of block 4 and the first of block 5, whose sums are 4 * 255. */
static void
check_edge (void)
{
  Square square = plain_square (50, 50, 50);
  Channels channels;

  cuv_check_case ("channels: edge");
  for (int k = 0; k < N_PIXELS; k++)
    square.sample[0][k] = k % SIDE < 20 ? 50 : 150;
  channels = channels_of (&square, 4);
  for (int c = CUV_CHANNELS_MAGNITUDE; c <= CUV_CHANNELS_DIRECTION; c++) {
    static const int expected[] = { 0, 0, 0, 1020, 3060, 3060, 1020, 0, 0, 0 };

    for (int column = 0; column < channels.side; column++)
      CUV_CHECK (
          value_at (&channels, c, column, 5) == expected[column] * 4 / 256,
          ": channel %d, column %d: %d", c, column,
          value_at (&channels, c, column, 5));
  }
  for (int c = CUV_CHANNELS_DIRECTION + 1; c < CUV_CHANNELS_N; c++)
    CUV_CHECK (value_at (&channels, c, 5, 5) == 0, ": channel %d", c);
  CUV_CHECK (value_at (&channels, 0, 9, 5) == (150 + 150 + 2) >> 2);
}

/* ---- properties ---- */

static int
bin_after_mirroring (int bin)
{
  return (CUV_CHANNELS_BINS - bin) % CUV_CHANNELS_BINS;
}

static int
bin_after_transposition (int bin)
{
  return (3 - bin + CUV_CHANNELS_BINS) % CUV_CHANNELS_BINS;
}

static int
channel_after (int channel, int (*bin_after) (int bin))
{
  return channel < CUV_CHANNELS_DIRECTION
      ? channel
      : CUV_CHANNELS_DIRECTION + bin_after (channel - CUV_CHANNELS_DIRECTION);
}

/* Checks that a mirrored picture has mirrored channels. */
static void
check_mirrored (const Square *square, int shrink)
{
  const Channels channels = channels_of (square, shrink);
  const int side = channels.side;
  Square mirror;
  Channels mirrored;
  int wrong = 0;

  cuv_check_case ("channels: mirrored, shrink %d", shrink);
  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    for (int k = 0; k < N_PIXELS; k++)
      mirror.sample[i][k] =
          square->sample[i][k / SIDE * SIDE + SIDE - 1 - k % SIDE];
  }
  mirrored = channels_of (&mirror, shrink);
  for (int c = 0; c < CUV_CHANNELS_N; c++) {
    for (int k = 0; k < side * side; k++)
      wrong += value_at (&channels, c, k % side, k / side)
          != value_at (&mirrored, channel_after (c, bin_after_mirroring),
              side - 1 - k % side, k / side);
  }
  CUV_CHECK (wrong == 0, ": %d", wrong);
}

/* Checks that a transposed picture has transposed channels. This would fail if
 * gradients lay on diagonals, which are bounds of bins: here |dx| > |dy| in all
 * pixels. */
static void
check_transposed (int shrink)
{
  Square square, transposed;
  Channels a, b;
  int wrong = 0;

  cuv_check_case ("channels: transposed, shrink %d", shrink);
  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    for (int y = 0; y < SIDE; y++) {
      for (int x = 0; x < SIDE; x++) {
        const int value = (x + 1) / 2 % 2 * 200 + (int) cuv_check_below (50);

        square.sample[i][y * SIDE + x] = (uint8_t) value;
        transposed.sample[i][x * SIDE + y] = (uint8_t) value;
      }
    }
  }
  a = channels_of (&square, shrink);
  b = channels_of (&transposed, shrink);
  for (int c = 0; c < CUV_CHANNELS_N; c++) {
    for (int k = 0; k < a.side * a.side; k++)
      wrong += value_at (&a, c, k % a.side, k / a.side)
          != value_at (&b, channel_after (c, bin_after_transposition),
              k / a.side, k % a.side);
  }
  CUV_CHECK (wrong == 0, ": %d", wrong);
}

/* Checks that colours of a grey picture are neutral, and that its negative has
 * the same gradients. */
static void
check_grey (const Square *square, int shrink)
{
  Square grey, negative;
  Channels a, b;
  int wrong = 0;

  cuv_check_case ("channels: grey, shrink %d", shrink);
  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    for (int k = 0; k < N_PIXELS; k++) {
      grey.sample[i][k] = square->sample[0][k];
      negative.sample[i][k] = (uint8_t) ~grey.sample[i][k];
    }
  }
  a = channels_of (&grey, shrink);
  b = channels_of (&negative, shrink);
  for (int k = 0; k < 2 * a.side * a.side; k++)
    wrong += a.value[a.side * a.side + k] != 128;
  wrong += memcmp (a.value + 3 * a.side * a.side, b.value + 3 * a.side * a.side,
               (size_t) (7 * a.side * a.side))
      != 0;
  CUV_CHECK (wrong == 0, ": %d", wrong);
}

CUV_CHECKS (check_channels)
{
  check_roots ();
  check_directions ();
  check_plain ();
  check_edge ();
  for (int shrink = 2; shrink <= 4; shrink += 2) {
    const Square square = random_square ();

    check_mirrored (&square, shrink);
    check_transposed (shrink);
    check_grey (&square, shrink);
  }
}
