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
  CUV_PRIMITIVE_PICTURE,
} CuvPrimitiveKind;

typedef struct {
  int32_t kind;      /* CuvPrimitiveKind */
  int32_t alpha;     /* 0..255 */
  uint8_t colour[4]; /* for the frame's components; not of a picture */
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
      int64_t offset; /* of its first value in CuvOverlayList.bytes */
    } mask;
    struct {
      int32_t x, y;    /* where its first pixel begins */
      int32_t stride;  /* bytes from one row to the next */
      int32_t inverse; /* of the pixels of the frame that one of its is across
                        * and down: see cuv_picture_pixel() */
      int64_t offset;  /* of its first pixel in CuvOverlayList.bytes */
    } picture;
  };
} CuvPrimitive;

/* In the order of drawing. */
typedef struct {
  const CuvPrimitive *primitives;
  int32_t n_primitives;
  const uint8_t *bytes; /* coverage values 0..255 of masks; pixels of pictures,
                         * of 4 bytes each like colour, 4 bytes aligned */
  int64_t n_bytes;
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

/* Whether pixel (x, y) is one of those that the primitive may touch. */
CUV_BOTH int
cuv_primitive_reaches (const CuvPrimitive *p, int x, int y)
{
  return x >= p->x0 && x < p->x1 && y >= p->y0 && y < p->y1;
}

/* How much of pixel (x, y) the primitive covers, 0..255. */
CUV_BOTH int
cuv_primitive_coverage (
    const CuvPrimitive *p, const uint8_t *bytes, int x, int y)
{
  if (!cuv_primitive_reaches (p, x, y))
    return 0;
  switch (p->kind) {
    case CUV_PRIMITIVE_RECT:
      return x >= p->hole.x0 && x < p->hole.x1 && y >= p->hole.y0
              && y < p->hole.y1
          ? 0
          : 255;
    case CUV_PRIMITIVE_LINE:
      return cuv_line_covers (p, x, y) ? 255 : 0;
    case CUV_PRIMITIVE_PICTURE:
      return 255;
    default:
      return bytes[p->mask.offset + (int64_t) (y - p->mask.y) * p->mask.stride
          + (x - p->mask.x)];
  }
}

/* floor (distance / scale) by inverse = floor (2^30 / scale) + 1, which is
 * exact for distance * scale < 2^30. */
#define CUV_PICTURE_INVERSE_BITS 30

CUV_BOTH int
cuv_picture_index (int distance, int64_t inverse)
{
  return (int) (distance * inverse >> CUV_PICTURE_INVERSE_BITS);
}

/* The pixel of a picture that is drawn at (x, y), which it reaches. */
CUV_BOTH const uint8_t *
cuv_picture_pixel (const CuvPrimitive *p, const uint8_t *bytes, int x, int y)
{
  int column = cuv_picture_index (x - p->picture.x, p->picture.inverse);
  int row = cuv_picture_index (y - p->picture.y, p->picture.inverse);

  return bytes + p->picture.offset + (int64_t) row * p->picture.stride
      + 4 * column;
}

/* The sample of n pixels. weight: alpha times the sum of their coverages;
 * weighted: alpha times the sum of coverage times colour. */
CUV_BOTH uint8_t
cuv_overlay_blend (uint8_t old, uint32_t weight, uint32_t weighted, int n)
{
  uint32_t full = 255u * 255u * (uint32_t) n;
  uint32_t mixed = old * (full - weight) + weighted + full / 2;

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
