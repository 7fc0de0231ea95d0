/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random scenes, and a literal implementation of docs/definitions/overlay.md.
 */
#ifndef OVERLAY_ORACLE_H
#define OVERLAY_ORACLE_H

#include <stdlib.h>
#include "cuvcheck.h"
#include "draw.h"

/* ---- random shapes ---- */

typedef enum { RECT, LINE, MASK, PICTURE } ShapeKind;

typedef struct {
  ShapeKind kind;
  uint32_t argb;
  int x, y, w, h;     /* of a rectangle, mask, or unscaled picture */
  int thickness;      /* of a rectangle or line */
  int ax, ay, bx, by; /* of a line, in 1/16 pixel */
  uint8_t *coverage;  /* of a mask: h rows of `stride` bytes */
  int stride;
  uint8_t *rgb; /* of a picture */
  int scale;
} Shape;

#define MAX_SHAPES 700

typedef struct {
  Shape shapes[MAX_SHAPES];
  int n;
} Scene;

static int
between (int low, int high)
{
  return low + (int) cuv_check_below ((uint32_t) (high - low + 1));
}

static Shape
random_shape (int width, int height)
{
  Shape s = { .kind = (ShapeKind) between (RECT, PICTURE),
    .argb = cuv_check_random () };
  int alpha[] = { 0, 1, 128, 254, 255, (int) cuv_check_below (256) };

  s.argb = (s.argb & 0xffffff) | (uint32_t) alpha[cuv_check_below (6)] << 24;
  s.x = between (-width / 2 - 3, width + 2);
  s.y = between (-height / 2 - 3, height + 2);
  s.w = between (0, width + 3);
  s.h = between (0, height + 3);
  s.thickness = s.kind == LINE ? between (1, 12) : between (0, 6);
  s.ax = between (-16, (width + 1) * 16);
  s.ay = between (-16, (height + 1) * 16);
  s.bx = cuv_check_below (8) ? between (-16, (width + 1) * 16) : s.ax;
  s.by = cuv_check_below (8) ? between (-16, (height + 1) * 16) : s.ay;
  if (s.kind == MASK) {
    s.w = s.w % 80 + 1;
    s.h = s.h % 30 + 1;
    s.stride = s.w + between (0, 5);
    s.coverage = malloc ((size_t) s.stride * s.h);
    for (int i = 0; i < s.stride * s.h; i++)
      s.coverage[i] = cuv_check_below (3) ? (uint8_t) cuv_check_random () : 0;
  }
  if (s.kind == PICTURE) {
    s.w = s.w % 70 + 1;
    s.h = s.h % 50 + 1;
    s.scale = cuv_check_below (8) ? between (1, 5) : between (6, 128);
    s.rgb = malloc (3 * (size_t) s.w * s.h);
    for (int i = 0; i < 3 * s.w * s.h; i++)
      s.rgb[i] = (uint8_t) cuv_check_random ();
  }
  return s;
}

static Scene *
random_scene (int n, int width, int height)
{
  Scene *scene = calloc (1, sizeof *scene);

  for (scene->n = 0; scene->n < n; scene->n++)
    scene->shapes[scene->n] = random_shape (width, height);
  return scene;
}

static void
scene_free (Scene *scene)
{
  for (int i = 0; i < scene->n; i++) {
    free (scene->shapes[i].coverage);
    free (scene->shapes[i].rgb);
  }
  free (scene);
}

/* ---- the oracle ---- */

typedef __int128 Wide;

/* Returns a / b, rounded to the nearest integer, halves up. */
static int64_t
oracle_divide (int64_t a, int64_t b)
{
  int64_t twice = 2 * a + b;

  return twice / (2 * b) - (twice % (2 * b) < 0);
}

/* Converts a colour by the table in docs/definitions/overlay.md. */
static void
oracle_colour (const CuvColourSpace *space, uint32_t argb, uint8_t out[4])
{
  int64_t r = argb >> 16 & 255, g = argb >> 8 & 255, b = argb & 255;
  int64_t kr = space->kr, kb = space->kb;
  int64_t luma = kr * r + (10000 - kr - kb) * g + kb * b;
  int64_t range = space->limited ? 219 : 255, base = space->limited ? 16 : 0;
  int64_t chroma = space->limited ? 224 : 255;
  int64_t rgb[3] = { base + oracle_divide (range * r, 255),
    base + oracle_divide (range * g, 255),
    base + oracle_divide (range * b, 255) };
  int64_t yuv[3] = { base + oracle_divide (range * luma, 2550000),
    128 + oracle_divide (chroma * (10000 * b - luma), 510 * (10000 - kb)),
    128 + oracle_divide (chroma * (10000 * r - luma), 510 * (10000 - kr)) };

  for (int i = 0; i < 3; i++) {
    int64_t value = space->model == CUV_MODEL_RGB ? rgb[i] : yuv[i];

    out[i] = (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : value);
  }
  out[3] = 255;
}

static bool
oracle_line (const Shape *s, int x, int y)
{
  bool swap = s->ax > s->bx || (s->ax == s->bx && s->ay > s->by);
  Wide ax = swap ? s->bx : s->ax, ay = swap ? s->by : s->ay;
  Wide bx = swap ? s->ax : s->bx, by = swap ? s->ay : s->by;
  Wide px = 16 * (Wide) x, py = 16 * (Wide) y;
  Wide r = 8 * (Wide) s->thickness;
  Wide dx = bx - ax, dy = by - ay;
  Wide along = (px - ax) * dx + (py - ay) * dy;
  Wide length2 = dx * dx + dy * dy;
  Wide cross = dx * (py - ay) - dy * (px - ax);

  if ((px - ax) * (px - ax) + (py - ay) * (py - ay) < r * r)
    return true;
  if ((px - bx) * (px - bx) + (py - by) * (py - by) < r * r)
    return true;
  if (along < 0 || along > length2)
    return false;
  return cross < 0 ? cross * cross <= r * r * length2
                   : cross * cross < r * r * length2;
}

static int
oracle_coverage (const Shape *s, int x, int y)
{
  int scale = s->kind == PICTURE ? s->scale : 1;
  int left = x - s->x, top = y - s->y;
  int right = s->w * scale - 1 - left, bottom = s->h * scale - 1 - top;
  bool inside = left >= 0 && top >= 0 && right >= 0 && bottom >= 0;

  if (s->kind == LINE)
    return oracle_line (s, x, y) ? 255 : 0;
  if (!inside)
    return 0;
  if (s->kind == MASK)
    return s->coverage[top * s->stride + left];
  if (s->kind == PICTURE)
    return 255;
  return s->thickness == 0 || left < s->thickness || top < s->thickness
          || right < s->thickness || bottom < s->thickness
      ? 255
      : 0;
}

/* Returns the colour of a covered pixel. */
static uint32_t
oracle_argb (const Shape *s, int x, int y)
{
  const uint8_t *rgb;

  if (s->kind != PICTURE)
    return s->argb;
  rgb = s->rgb + 3 * ((y - s->y) / s->scale * s->w + (x - s->x) / s->scale);
  return (uint32_t) rgb[0] << 16 | (uint32_t) rgb[1] << 8 | rgb[2];
}

static void
oracle_sample (const Scene *scene, const CuvColourSpace *space,
    const CuvFrame *frame, int c, int sx, int sy)
{
  const CuvComponent *k = &frame->component[c];
  uint8_t *sample = k->data + (size_t) sy * k->stride + (size_t) sx * k->step;

  for (int i = 0; i < scene->n; i++) {
    const Shape *s = &scene->shapes[i];
    int64_t alpha = s->argb >> 24, sum = 0, full = 0, coloured = 0, value;

    for (int y = sy << k->ysub; y < (sy + 1) << k->ysub; y++) {
      for (int x = sx << k->xsub; x < (sx + 1) << k->xsub; x++) {
        int64_t coverage;
        uint8_t colour[4];

        if (x >= frame->width || y >= frame->height)
          continue;
        full += 255 * 255;
        coverage = alpha * oracle_coverage (s, x, y);
        if (coverage == 0)
          continue;
        oracle_colour (space, oracle_argb (s, x, y), colour);
        sum += coverage;
        coloured += coverage * colour[c];
      }
    }
    value = *sample * (full - sum) + coloured;
    *sample = (uint8_t) ((2 * value + full) / (2 * full));
  }
}

static void
oracle_draw (
    const Scene *scene, const CuvColourSpace *space, const CuvFrame *frame)
{
  for (int c = 0; c < frame->n_components; c++) {
    const CuvComponent *k = &frame->component[c];
    int w = (frame->width + (1 << k->xsub) - 1) >> k->xsub;
    int h = (frame->height + (1 << k->ysub) - 1) >> k->ysub;

    for (int y = 0; y < h; y++) {
      for (int x = 0; x < w; x++)
        oracle_sample (scene, space, frame, c, x, y);
    }
  }
}

#endif
