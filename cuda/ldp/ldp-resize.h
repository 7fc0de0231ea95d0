/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resizing with integer weights, on each axis: reducing averages the covered
 * pixels by area, enlarging interpolates linearly between the two nearest. */
#ifndef CUV_LDP_RESIZE_PIXEL_H
#define CUV_LDP_RESIZE_PIXEL_H

#include "cuv-frame.h"
#include "ldp/ldp-types.h"

/* Returns the rectangle as a frame that shares the pixels. For grey values
 * only: chroma subsampling is ignored. */
CUV_HOST_DEVICE CuvFrame
cuv_ldp_crop (const CuvFrame *frame, const CuvLdpRect *rect)
{
  CuvFrame part = *frame;

  part.width = rect->width;
  part.height = rect->height;
  for (int i = 0; i < part.n_components; i++)
    part.component[i].data += (int64_t) rect->y * part.component[i].stride
        + (int64_t) rect->x * part.component[i].step;
  return part;
}

/* Returns a view of a frame's grey values in another orientation, a sum of 1
 * (mirrored left to right), 2 (upside down) and, applied last, 4 (rows become
 * columns). */
CUV_HOST_DEVICE CuvFrame
cuv_ldp_turn (const CuvFrame *frame, int orientation)
{
  CuvFrame turned = *frame;

  for (int i = 0; i < turned.n_components; i++) {
    CuvComponent *c = &turned.component[i];

    if (orientation & 1) {
      c->data += (int64_t) (frame->width - 1) * c->step;
      c->step = -c->step;
    }
    if (orientation & 2) {
      c->data += (int64_t) (frame->height - 1) * c->stride;
      c->stride = -c->stride;
    }
    if (orientation & 4) {
      const int32_t stride = c->stride;

      c->stride = c->step;
      c->step = stride;
    }
  }
  if (orientation & 4) {
    turned.width = frame->height;
    turned.height = frame->width;
  }
  return turned;
}

/* Returns the weight of source pixel `from` of n_from in pixel `to` of n_to; 0
 * or less if it does not contribute. Weights sum up to
 * cuv_ldp_total_weight(). */
CUV_HOST_DEVICE int64_t
cuv_ldp_weight (int64_t n_from, int64_t n_to, int64_t to, int64_t from)
{
  if (n_to <= n_from) { /* overlap, on an axis of n_from * n_to units */
    const int64_t begin = to * n_from, end = begin + n_from;
    const int64_t first = from * n_to, last = first + n_to;

    return (end < last ? end : last) - (begin > first ? begin : first);
  }
  /* source pixel centres are 2 n_to apart; clamp to the outermost */
  int64_t centre = (2 * to + 1) * n_from;

  if (centre < n_to)
    centre = n_to;
  if (centre > (2 * n_from - 1) * n_to)
    centre = (2 * n_from - 1) * n_to;
  const int64_t offset = centre - (2 * from + 1) * n_to;

  return 2 * n_to - (offset < 0 ? -offset : offset);
}

CUV_HOST_DEVICE int64_t
cuv_ldp_total_weight (int n_from, int n_to)
{
  return n_to <= n_from ? n_from : 2 * (int64_t) n_to;
}

/* Finds the source pixels that may contribute to `to`: span[0] to span[1] -
 * 1. */
CUV_HOST_DEVICE void
cuv_ldp_find_source_span (int n_from, int n_to, int to, int span[2])
{
  const int first = (int) ((int64_t) to * n_from / n_to) - 1;
  const int end = (int) ((int64_t) (to + 1) * n_from / n_to) + 2;

  span[0] = first > 0 ? first : 0;
  span[1] = end < n_from ? end : n_from;
}

/* Returns a part of the weighted sum for pixel x of a row: that of every
 * step-th source pixel from `first` on. y: row of the rectangle. */
CUV_HOST_DEVICE int64_t
cuv_ldp_weighted_row_sum (const CuvFrame *frame, const CuvLdpRect *rect,
    int width, int x, int y, int first, int step)
{
  int64_t sum = 0;
  int span[2];

  cuv_ldp_find_source_span (rect->width, width, x, span);
  for (int i = span[0] + first; i < span[1]; i += step) {
    const int64_t w = cuv_ldp_weight (rect->width, width, x, i);

    if (w > 0)
      sum += w * cuv_frame_grey (frame, rect->x + i, rect->y + y);
  }
  return sum;
}

/* Returns part `part` of parts_across x parts_down, whose sum is grey pixel (x,
 * y) of a rectangle resized to width x height, not divided by the total
 * weight. */
CUV_HOST_DEVICE int64_t
cuv_ldp_weighted_sum (const CuvFrame *frame, const CuvLdpRect *rect, int width,
    int height, int x, int y, int parts_across, int parts_down, int part)
{
  int64_t sum = 0;
  int span[2];

  cuv_ldp_find_source_span (rect->height, height, y, span);
  for (int i = span[0] + part / parts_across; i < span[1]; i += parts_down) {
    const int64_t w = cuv_ldp_weight (rect->height, height, y, i);

    if (w > 0)
      sum += w
          * cuv_ldp_weighted_row_sum (
              frame, rect, width, x, i, part % parts_across, parts_across);
  }
  return sum;
}

/* The sum is rounded once, halves up. */
CUV_HOST_DEVICE uint8_t
cuv_ldp_rounded_mean (
    const CuvLdpRect *rect, int width, int height, int64_t sum)
{
  const int64_t total = cuv_ldp_total_weight (rect->width, width)
      * cuv_ldp_total_weight (rect->height, height);

  return (uint8_t) ((sum + total / 2) / total);
}

/* Returns grey pixel (x, y) of a rectangle resized to width x height. */
CUV_HOST_DEVICE uint8_t
cuv_ldp_resized_pixel (const CuvFrame *frame, const CuvLdpRect *rect, int width,
    int height, int x, int y)
{
  return cuv_ldp_rounded_mean (rect, width, height,
      cuv_ldp_weighted_sum (frame, rect, width, height, x, y, 1, 1, 0));
}

#endif
