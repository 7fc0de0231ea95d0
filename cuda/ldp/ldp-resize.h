/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures made another size, by whole numbers: each way, if they become
 * smaller, pixels by how much of them is covered, else the two nearest by their
 * distance. */
#ifndef CUV_LDP_PICTURE_H
#define CUV_LDP_PICTURE_H

#include "cuv-frame.h"
#include "ldp/ldp-types.h"

/* A rectangle of a frame, as far as grey is made of it: not chroma that pixels
 * share. */
CUV_BOTH CuvFrame
cuv_ldp_cut (const CuvFrame *frame, const CuvLdpRect *rect)
{
  CuvFrame part = *frame;

  part.width = rect->width;
  part.height = rect->height;
  for (int i = 0; i < part.n_components; i++)
    part.component[i].data += (int64_t) rect->y * part.component[i].stride
        + (int64_t) rect->x * part.component[i].step;
  return part;
}

/* How much pixel `to` of n_to takes of pixel `from` of n_from; below 0: none.
 * What it takes of all of them is the total. */
CUV_BOTH int64_t
cuv_ldp_weight (int64_t n_from, int64_t n_to, int64_t to, int64_t from)
{
  if (n_to <= n_from) { /* what both cover: n_from, and n_to */
    const int64_t begin = to * n_from, end = begin + n_from;
    const int64_t first = from * n_to, last = first + n_to;

    return (end < last ? end : last) - (begin > first ? begin : first);
  }
  /* middles of pixels are 2 n_to apart, and not beyond the outermost */
  int64_t middle = (2 * to + 1) * n_from;

  if (middle < n_to)
    middle = n_to;
  if (middle > (2 * n_from - 1) * n_to)
    middle = (2 * n_from - 1) * n_to;
  const int64_t apart = middle - (2 * from + 1) * n_to;

  return 2 * n_to - (apart < 0 ? -apart : apart);
}

CUV_BOTH int64_t
cuv_ldp_total_weight (int n_from, int n_to)
{
  return n_to <= n_from ? n_from : 2 * (int64_t) n_to;
}

/* From the first to before the last that `to` may take something of. */
CUV_BOTH void
cuv_ldp_find_span (int n_from, int n_to, int to, int span[2])
{
  const int first = (int) ((int64_t) to * n_from / n_to) - 1;
  const int end = (int) ((int64_t) (to + 1) * n_from / n_to) + 2;

  span[0] = first > 0 ? first : 0;
  span[1] = end < n_from ? end : n_from;
}

CUV_BOTH int64_t
cuv_ldp_sum_across (
    const CuvFrame *frame, const CuvLdpRect *rect, int width, int x, int y)
{
  int64_t sum = 0;
  int span[2];

  cuv_ldp_find_span (rect->width, width, x, span);
  for (int i = span[0]; i < span[1]; i++) {
    const int64_t w = cuv_ldp_weight (rect->width, width, x, i);

    if (w > 0)
      sum += w * cuv_frame_grey (frame, rect->x + i, rect->y + y);
  }
  return sum;
}

/* Grey pixel (x, y) of a rectangle that is made width x height: the sum is
 * rounded once, halves up. */
CUV_BOTH uint8_t
cuv_ldp_pixel (const CuvFrame *frame, const CuvLdpRect *rect, int width,
    int height, int x, int y)
{
  const int64_t total = cuv_ldp_total_weight (rect->width, width)
      * cuv_ldp_total_weight (rect->height, height);
  int64_t sum = 0;
  int span[2];

  cuv_ldp_find_span (rect->height, height, y, span);
  for (int i = span[0]; i < span[1]; i++) {
    const int64_t w = cuv_ldp_weight (rect->height, height, y, i);

    if (w > 0)
      sum += w * cuv_ldp_sum_across (frame, rect, width, x, i);
  }
  return (uint8_t) ((sum + total / 2) / total);
}

#endif
