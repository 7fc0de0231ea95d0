/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills, which hide regions: their cells and samples, computed in the same way
 * on CPU and GPU; see docs/definitions/overlay.md. Coordinates of samples are
 * those of a component's plane. */
#ifndef CUV_OVERLAY_FILL_TYPES_H
#define CUV_OVERLAY_FILL_TYPES_H

#include "overlay/overlay-types.h"

#define CUV_OVERLAY_FILL_MIN_CELL 8 /* pixels */
/* Maximum number of cells across the longer side of a region. */
#define CUV_OVERLAY_FILL_MAX_CELLS 16
#define CUV_OVERLAY_FILL_MAX_AXIS 32768

/* Whether the centre of pixel (x, y) is in the ellipse. All terms are below
 * 2^62 in its bounding box. */
CUV_HOST_DEVICE int
cuv_fill_in_ellipse (const CuvPrimitive *p, int x, int y)
{
  int64_t w = p->fill.width, h = p->fill.height;
  int64_t dx = 2 * ((int64_t) x - p->fill.x) + 1 - w;
  int64_t dy = 2 * ((int64_t) y - p->fill.y) + 1 - h;

  return dx * dx * (h * h) + dy * dy * (w * w) <= w * w * (h * h);
}

/* Whether pixel (x, y) is hidden. */
CUV_HOST_DEVICE int
cuv_fill_covers (const CuvPrimitive *p, int x, int y)
{
  return cuv_primitive_reaches (p, x, y)
      && (!p->fill.is_ellipse || cuv_fill_in_ellipse (p, x, y));
}

/* A rectangle of samples, half open. */
typedef struct {
  int32_t x0, y0, x1, y1;
} CuvOverlayFillWindow;

/* Moves the samples start .. start + size - 1 into 0 .. n - 1, as far as they
 * fit, and returns the first. */
CUV_HOST_DEVICE int
cuv_fill_move_inside (int start, int size, int n)
{
  return start + size <= n ? start : size <= n ? n - size : 0;
}

/* Returns the samples that a cell's mean is computed from. At the edge of the
 * frame they are moved inside, so that every mean is of a whole cell. */
CUV_HOST_DEVICE CuvOverlayFillWindow
cuv_fill_window (const CuvPrimitive *p, const CuvFrame *frame,
    const CuvComponent *c, int column, int row)
{
  int width = ((frame->width - 1) >> c->xsub) + 1;
  int height = ((frame->height - 1) >> c->ysub) + 1;
  int w = p->fill.cell >> c->xsub, h = p->fill.cell >> c->ysub;
  int x =
      cuv_fill_move_inside ((p->fill.left >> c->xsub) + column * w, w, width);
  int y = cuv_fill_move_inside ((p->fill.top >> c->ysub) + row * h, h, height);
  CuvOverlayFillWindow window = { x, y, x + w < width ? x + w : width,
    y + h < height ? y + h : height };

  return window;
}

/* Returns the mean of n samples, rounded, halves up. */
CUV_HOST_DEVICE uint8_t
cuv_fill_mean (uint64_t sum, uint64_t n)
{
  return (uint8_t) ((sum + n / 2) / n);
}

/* Returns the index of the first mean of a component. */
CUV_HOST_DEVICE int
cuv_fill_means_of (const CuvPrimitive *p, int component)
{
  return p->fill.offset + component * p->fill.rows * p->fill.columns;
}

/* Returns the position of sample s relative to the centres of cells of n
 * samples, in 1/256 cell: 256 (i + 1) + f is f / 256 of the way from cell i to
 * the next. */
CUV_HOST_DEVICE int
cuv_fill_position (int s, int n)
{
  return (int) ((2u * (uint32_t) s + 1) * 128u / (uint32_t) n) + 128;
}

/* Interpolates from a to b by f / 256; halves are rounded up. */
CUV_HOST_DEVICE uint8_t
cuv_fill_mix (uint8_t a, uint8_t b, int f)
{
  return (uint8_t) ((a * (256 - f) + b * f + 128) >> 8);
}

/* Returns i, clamped to 0 .. n - 1. */
CUV_HOST_DEVICE int
cuv_fill_clamp (int i, int n)
{
  return i < 0 ? 0 : i < n ? i : n - 1;
}

/* The two of n cells, of `size` samples each, between which sample s is, and
 * how far it is from the first to the second. */
typedef struct {
  int32_t first, second, f; /* f / 256 */
} CuvOverlayFillPlace;

CUV_HOST_DEVICE CuvOverlayFillPlace
cuv_fill_place (const CuvPrimitive *p, int s, int size, int n)
{
  CuvOverlayFillPlace place = { 0, 0, 0 };
  int position;

  if (p->fill.mode == CUV_OVERLAY_FILL_BLUR) {
    position = cuv_fill_position (s, size);
    place.first = cuv_fill_clamp (position / 256 - 1, n);
    place.second = cuv_fill_clamp (position / 256, n);
    place.f = position & 255;
  } else if (p->fill.mode == CUV_OVERLAY_FILL_PIXELATE) {
    place.first = place.second = s / size;
  }
  return place;
}

/* Interpolates a component at x between two cells of a row. means: the
 * component's means, by cell. */
CUV_HOST_DEVICE uint8_t
cuv_fill_across (const CuvPrimitive *p, const uint8_t *means,
    const CuvOverlayFillPlace *x, int row, int component)
{
  const uint8_t *m = means + row * p->fill.columns;

  return p->fill.mode == CUV_OVERLAY_FILL_SOLID
      ? p->colour[component]
      : cuv_fill_mix (m[x->first], m[x->second], x->f);
}

/* Returns the new value of sample (s, t) of a component, counted from the first
 * cell. */
CUV_HOST_DEVICE uint8_t
cuv_fill_sample (const CuvPrimitive *p, const uint8_t *means,
    const CuvComponent *c, int component, int s, int t)
{
  const uint8_t *m = means + cuv_fill_means_of (p, component);
  CuvOverlayFillPlace x, y;

  if (p->fill.mode == CUV_OVERLAY_FILL_SOLID)
    return p->colour[component];
  x = cuv_fill_place (p, s, p->fill.cell >> c->xsub, p->fill.columns);
  y = cuv_fill_place (p, t, p->fill.cell >> c->ysub, p->fill.rows);
  return cuv_fill_mix (cuv_fill_across (p, m, &x, y.first, component),
      cuv_fill_across (p, m, &x, y.second, component), y.f);
}

#endif
