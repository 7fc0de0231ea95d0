/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is drawn on a frame, and how one sample of it changes: the part of
 * docs/overlay-definition.md that CPU and GPU share. */
#ifndef CUV_OVERLAY_TYPES_H
#define CUV_OVERLAY_TYPES_H

#include <stdint.h>
#include "cuv-frame.h"

/* Places of lines are in 1/16 pixel; pixel (x, y) has its centre at (16 x,
 * 16 y). */
#define CUV_OVERLAY_UNIT 16

typedef enum {
  CUV_PRIMITIVE_RECT,
  CUV_PRIMITIVE_LINE,
  CUV_PRIMITIVE_MASK,
} CuvPrimitiveKind;

typedef struct {
  int32_t kind;      /* CuvPrimitiveKind */
  int32_t alpha;     /* 0..255 */
  uint8_t colour[4]; /* for the frame's components */
  int32_t x0, y0;    /* the first pixel that it may touch */
  int32_t x1, y1;    /* behind the last one */
  union {
    struct {
      int32_t x0, y0, x1, y1; /* pixels that it leaves out; none if empty */
    } hole;
    struct {
      int32_t ax, ay, bx, by; /* its ends, ax < bx or ax == bx, ay <= by */
      int32_t radius2;        /* half of the thickness, squared */
      int32_t unused;
      int64_t length2;   /* (bx - ax)^2 + (by - ay)^2 */
      int64_t low, high; /* |cross product| on its two sides */
    } line;
    struct {
      int32_t x, y;   /* the pixel of its first value */
      int32_t stride; /* bytes from one row to the next */
      int32_t unused;
      int64_t offset; /* of its first value in CuvOverlayList.masks */
    } mask;
  };
} CuvPrimitive;

/* In the order of drawing. */
typedef struct {
  const CuvPrimitive *primitives;
  int32_t n_primitives;
  const uint8_t *masks; /* coverage values 0..255 of all masks */
  int64_t n_mask_bytes;
} CuvOverlayList;

/* Whether a line covers the centre of pixel (x, y): the body is half open
 * across, so that thickness t is t pixels for odd and even t; the ends are
 * round. */
CUV_BOTH int
cuv_line_covers (const CuvPrimitive *p, int x, int y)
{
  int64_t vx = (int64_t) x * CUV_OVERLAY_UNIT - p->line.ax;
  int64_t vy = (int64_t) y * CUV_OVERLAY_UNIT - p->line.ay;
  int64_t dx = p->line.bx - p->line.ax, dy = p->line.by - p->line.ay;
  int64_t along = vx * dx + vy * dy, cross = dx * vy - dy * vx;

  if (vx * vx + vy * vy < p->line.radius2
      || (vx - dx) * (vx - dx) + (vy - dy) * (vy - dy) < p->line.radius2)
    return 1;
  return along >= 0 && along <= p->line.length2 && cross >= -p->line.low
      && cross <= p->line.high;
}

/* How much of pixel (x, y) the primitive covers, 0..255. */
CUV_BOTH int
cuv_primitive_coverage (
    const CuvPrimitive *p, const uint8_t *masks, int x, int y)
{
  if (x < p->x0 || x >= p->x1 || y < p->y0 || y >= p->y1)
    return 0;
  switch (p->kind) {
    case CUV_PRIMITIVE_RECT:
      return x >= p->hole.x0 && x < p->hole.x1 && y >= p->hole.y0
              && y < p->hole.y1
          ? 0
          : 255;
    case CUV_PRIMITIVE_LINE:
      return cuv_line_covers (p, x, y) ? 255 : 0;
    default:
      return masks[p->mask.offset + (int64_t) (y - p->mask.y) * p->mask.stride
          + (x - p->mask.x)];
  }
}

/* The sample of n pixels whose coverages add up to sum. */
CUV_BOTH uint8_t
cuv_overlay_blend (uint8_t old, uint8_t colour, int alpha, int sum, int n)
{
  uint32_t full = 255u * 255u * (uint32_t) n;
  uint32_t weight = (uint32_t) sum * (uint32_t) alpha;
  uint32_t mixed = old * (full - weight) + colour * weight + full / 2;

  switch (n) { /* division by a constant is a multiplication */
    case 1:
      return (uint8_t) (mixed / (255u * 255u));
    case 2:
      return (uint8_t) (mixed / (255u * 255u * 2));
    case 4:
      return (uint8_t) (mixed / (255u * 255u * 4));
    default:
      return (uint8_t) (mixed / full);
  }
}

#endif
