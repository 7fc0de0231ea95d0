/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Primitives, their coverage of a pixel, and blending, computed in the same way
 * on CPU and GPU; see docs/definitions/overlay.md. */
#ifndef CUV_OVERLAY_TYPES_H
#define CUV_OVERLAY_TYPES_H

#include <stdint.h>
#include "cuv-frame.h"

/* Coordinates of lines are in 1/16 pixel; the centre of pixel (x, y) is at
 * (16 x, 16 y). */
#define CUV_OVERLAY_UNIT 16

typedef enum {
  CUV_OVERLAY_PRIMITIVE_RECT,
  CUV_OVERLAY_PRIMITIVE_LINE,
  CUV_OVERLAY_PRIMITIVE_MASK,
  CUV_OVERLAY_PRIMITIVE_PICTURE,
  CUV_OVERLAY_PRIMITIVE_FILL, /* functions in fill-types.h */
} CuvPrimitiveKind;

typedef enum {
  CUV_OVERLAY_FILL_NONE,
  CUV_OVERLAY_FILL_SOLID,
  CUV_OVERLAY_FILL_BLUR,
  CUV_OVERLAY_FILL_PIXELATE,
} CuvFillMode;

typedef struct {
  int32_t kind;      /* CuvPrimitiveKind */
  int32_t alpha;     /* 0..255 */
  uint8_t colour[4]; /* samples of the frame's components; not of a picture */
  int32_t x0, y0;    /* bounds of the pixels it may cover, */
  int32_t x1, y1;    /* half open */
  union {
    struct {
      int32_t x0, y0, x1, y1; /* pixels left out, half open; may be empty */
    } hole;
    struct {
      /* ends, ax < bx or ax == bx, ay <= by; magnitudes below 2^29, so that
       * differences fit in 32 bits */
      int32_t ax, ay, bx, by;
      int32_t radius2; /* half of the thickness, squared */
      int32_t unused;
      int64_t length2;   /* (bx - ax)^2 + (by - ay)^2 */
      int64_t low, high; /* bounds of the cross product: -low .. high */
    } line;
    struct {
      int32_t x, y;   /* pixel of the first value */
      int32_t stride; /* bytes from row to row */
      int32_t unused;
      int64_t offset; /* offset of the first value in CuvOverlayList.bytes */
    } mask;
    struct {
      int32_t x, y;    /* upper left pixel of the first pixel drawn */
      int32_t stride;  /* bytes from row to row */
      int32_t inverse; /* inverse of the scale, see cuv_picture_index() */
      int64_t offset;  /* offset of the first pixel in CuvOverlayList.bytes */
    } picture;
    struct {
      int32_t x, y;          /* upper left pixel of an ellipse, */
      int32_t width, height; /* and its axes, up to CUV_OVERLAY_FILL_MAX_AXIS */
      int32_t left, top;     /* first pixel of the cells, even */
      int32_t cell;          /* width and height of a cell, pixels, even */
      int16_t columns, rows; /* numbers of cells */
      int16_t mode;          /* CuvFillMode */
      int16_t is_ellipse;
      int32_t offset; /* offset of the first mean in CuvOverlayList.means */
    } fill;
  };
} CuvPrimitive;

/* Primitives in drawing order. */
typedef struct {
  const CuvPrimitive *primitives;
  int32_t n_primitives;
  int32_t n_fills;      /* number of fills, which come first */
  const uint8_t *bytes; /* coverage 0..255 of masks; pixels of pictures, 4 bytes
                         * each like colour, 4-byte aligned */
  int64_t n_bytes;
  int64_t n_kept; /* the first of the bytes: lists of the same epoch have */
  uint64_t epoch; /* the same ones there, or more */
  uint8_t *means; /* scratch: means of fills by component, row and column */
  int32_t n_means;
} CuvOverlayList;

/* Multiplies 32-bit numbers, with one multiplication: a GPU needs several for
 * 64-bit numbers. */
CUV_HOST_DEVICE int64_t
cuv_product (int32_t a, int32_t b)
{
  return (int64_t) a * b;
}

/* A pixel's centre as seen from a line. */
typedef struct {
  int32_t dx, dy;       /* from the first end of the line to the second, */
  int32_t vx, vy;       /* and to the pixel */
  int64_t along, cross; /* scalar and cross product of the two */
} CuvLinePixel;

CUV_HOST_DEVICE CuvLinePixel
cuv_line_pixel (const CuvPrimitive *p, int x, int y)
{
  CuvLinePixel at;

  at.dx = p->line.bx - p->line.ax;
  at.dy = p->line.by - p->line.ay;
  at.vx = x * CUV_OVERLAY_UNIT - p->line.ax;
  at.vy = y * CUV_OVERLAY_UNIT - p->line.ay;
  at.along = cuv_product (at.vx, at.dx) + cuv_product (at.vy, at.dy);
  at.cross = cuv_product (at.dx, at.vy) - cuv_product (at.dy, at.vx);
  return at;
}

/* Whether a line covers the centre of pixel (x, y). The body is half open
 * across its direction, so that thickness t is t pixels for odd and even t; the
 * caps are round, and between the ends they are within the body. */
CUV_HOST_DEVICE int
cuv_line_covers (const CuvPrimitive *p, int x, int y)
{
  const CuvLinePixel at = cuv_line_pixel (p, x, y);
  /* from the second end */
  const int32_t wx = at.vx - at.dx, wy = at.vy - at.dy;

  if (p->line.length2 > 0 && at.along >= 0 && at.along <= p->line.length2)
    return at.cross >= -p->line.low && at.cross <= p->line.high;
  return cuv_product (at.vx, at.vx) + cuv_product (at.vy, at.vy)
      < p->line.radius2
      || cuv_product (wx, wx) + cuv_product (wy, wy) < p->line.radius2;
}

/* Whether pixel (x, y) is within the primitive's bounds. */
CUV_HOST_DEVICE int
cuv_primitive_reaches (const CuvPrimitive *p, int x, int y)
{
  return x >= p->x0 && x < p->x1 && y >= p->y0 && y < p->y1;
}

/* Returns how much of pixel (x, y) a primitive other than a fill covers,
 * 0..255. */
CUV_HOST_DEVICE int
cuv_primitive_coverage (
    const CuvPrimitive *p, const uint8_t *bytes, int x, int y)
{
  if (!cuv_primitive_reaches (p, x, y))
    return 0;
  switch (p->kind) {
    case CUV_OVERLAY_PRIMITIVE_RECT:
      return x >= p->hole.x0 && x < p->hole.x1 && y >= p->hole.y0
              && y < p->hole.y1
          ? 0
          : 255;
    case CUV_OVERLAY_PRIMITIVE_LINE:
      return cuv_line_covers (p, x, y) ? 255 : 0;
    case CUV_OVERLAY_PRIMITIVE_PICTURE:
      return 255;
    default:
      return bytes[p->mask.offset + (int64_t) (y - p->mask.y) * p->mask.stride
          + (x - p->mask.x)];
  }
}

/* floor (distance / scale), computed with inverse = floor (2^30 / scale) + 1;
 * exact for distance * scale < 2^30. */
#define CUV_OVERLAY_PICTURE_INVERSE_BITS 30

CUV_HOST_DEVICE int
cuv_picture_index (int distance, int64_t inverse)
{
  return (int) (distance * inverse >> CUV_OVERLAY_PICTURE_INVERSE_BITS);
}

/* Returns the pixel of a picture that is drawn at (x, y), which is within its
 * bounds. */
CUV_HOST_DEVICE const uint8_t *
cuv_picture_pixel (const CuvPrimitive *p, const uint8_t *bytes, int x, int y)
{
  int column = cuv_picture_index (x - p->picture.x, p->picture.inverse);
  int row = cuv_picture_index (y - p->picture.y, p->picture.inverse);

  return bytes + p->picture.offset + (int64_t) row * p->picture.stride
      + 4 * column;
}

/* Returns the new value of a sample of n pixels. weight: alpha times the sum of
 * their coverages; weighted: alpha times the sum of coverage times colour. */
CUV_HOST_DEVICE uint8_t
cuv_overlay_blend (uint8_t old, uint32_t weight, uint32_t weighted, int n)
{
  uint32_t full = 255u * 255u * (uint32_t) n;
  uint32_t mixed = old * (full - weight) + weighted + full / 2;

  switch (n) { /* compilers replace division by a constant */
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
