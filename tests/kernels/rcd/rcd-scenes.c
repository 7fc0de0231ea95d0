/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Synthetic scenes that are tracked: moving objects on a textured ground. */
#include "rcd-tracker.h"

#include <math.h>

/* Returns a hash of the position, 0 .. 255. */
static int
noise (int x, int y, uint32_t seed)
{
  uint32_t h = (uint32_t) x * 0x9e3779b1u ^ (uint32_t) y * 0x85ebca6bu ^ seed;

  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h = (h ^ (h >> 12)) * 0x297a2d39u;
  return (int) ((h ^ (h >> 15)) & 255);
}

static void
put (const CuvFrame *frame, int x, int y, const double rgb[3])
{
  for (int i = 0; i < 3; i++) {
    const CuvComponent *c = &frame->component[i];
    const double v = rgb[i] < 0 ? 0 : rgb[i] > 255 ? 255 : rgb[i];

    c->data[(int64_t) y * c->stride + (int64_t) x * c->step] = (uint8_t) v;
  }
}

void
paint_ground (const CuvFrame *frame, uint32_t seed)
{
  for (int y = 0; y < frame->height; y++) {
    for (int x = 0; x < frame->width; x++) {
      const double grey = 90 + noise (x >> 4, y >> 4, seed) * 0.25
          + noise (x >> 2, y >> 2, seed) * 0.1 + noise (x, y, seed) * 0.05;

      put (frame, x, y, (double[3]){ grey, grey + 5, grey - 10 });
    }
  }
}

/* Returns the colour of an object. Kinds differ in the directions in which
 * their colours vary, because covariances ignore added constants. */
static void
object_colour (int kind, double fade, double u, double v, double rgb[3])
{
  const double wave = 60 * sin (u * 9) * cos (v * 13);
  const double grain = sin (u * 27) * sin (v * 19 + 1);

  rgb[0] = kind == 0 ? 150 + wave * (1 - fade) : 120 + 150 * (u - 0.5);
  rgb[1] = kind == 0 ? 110 + 100 * (v - 0.5) : 120 + wave * (1 - fade);
  rgb[2] = kind == 0 ? 90 - wave * (0.5 - fade) : 130 + wave * fade;
  for (int i = 0; i < 3; i++)
    rgb[i] += grain * (12 + 12 * i);
}

void
paint_object (
    const CuvFrame *frame, int kind, double fade, const CuvRcdBox *box)
{
  for (int y = 0; y < box->height; y++) {
    for (int x = 0; x < box->width; x++) {
      const int fx = box->x + x, fy = box->y + y;
      double rgb[3];

      object_colour (
          kind, fade, (x + 0.5) / box->width, (y + 0.5) / box->height, rgb);
      for (int i = 0; i < 3; i++)
        rgb[i] += 0.15 * (noise (fx, fy, (uint32_t) i) - 128);
      if (fx >= 0 && fx < frame->width && fy >= 0 && fy < frame->height)
        put (frame, fx, fy, rgb);
    }
  }
}

void
paint_flat (const CuvFrame *frame, uint8_t value, const CuvRcdBox *box)
{
  for (int y = box->y; y < box->y + box->height; y++) {
    for (int x = box->x; x < box->x + box->width; x++)
      put (frame, x, y, (double[3]){ value, value, value });
  }
}

double
overlap (const CuvRcdBox *a, const CuvRcdBox *b)
{
  const double w = fmin (a->x + a->width, b->x + b->width) - fmax (a->x, b->x);
  const double h =
      fmin (a->y + a->height, b->y + b->height) - fmax (a->y, b->y);
  const double both = w > 0 && h > 0 ? w * h : 0;

  return both
      / ((double) a->width * a->height + (double) b->width * b->height - both);
}
