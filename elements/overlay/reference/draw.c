/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The definition in C: draws the list primitive by primitive as
 * docs/definitions/overlay.md says. */
#include "draw.h"

_Static_assert(sizeof (CuvPrimitive) == 80, "overlay.cu assumes this size");

static int
min (int a, int b)
{
  return a < b ? a : b;
}

static int
max (int a, int b)
{
  return a > b ? a : b;
}

/* Pixels of a row, a half-open range. */
typedef struct {
  int x0, x1;
} Span;

/* Returns bounds of the pixels of row y that a line covers: the line and its
 * caps lie in the strip |cross product| <= low, which is 2 low / |dy| wide in a
 * row. */
static Span
line_span (const CuvPrimitive *p, int y)
{
  int64_t dx = p->line.bx - p->line.ax, dy = p->line.by - p->line.ay;
  int64_t vy = (int64_t) y * CUV_OVERLAY_UNIT - p->line.ay, middle, half;
  Span all = { p->x0, p->x1 };

  if (dy == 0)
    return all;
  middle = p->line.ax + vy * dx / dy;
  half = p->line.low / (dy > 0 ? dy : -dy) + CUV_OVERLAY_UNIT;
  if (middle + half < (int64_t) p->x0 * CUV_OVERLAY_UNIT
      || middle - half > (int64_t) p->x1 * CUV_OVERLAY_UNIT)
    return (Span){ p->x0, p->x0 };
  return (Span){ max (p->x0, (int) ((middle - half) / CUV_OVERLAY_UNIT) - 1),
    min (p->x1, (int) ((middle + half) / CUV_OVERLAY_UNIT) + 2) };
}

/* Finds one or two spans that contain all covered pixels of rows y0 .. y1 - 1;
 * *solid: whether every pixel of the spans is covered. Returns their number. */
static int
find_spans (const CuvPrimitive *p, int y0, int y1, Span spans[2], bool *solid)
{
  bool hollow = p->kind == CUV_OVERLAY_PRIMITIVE_RECT && p->hole.x0 < p->hole.x1
      && y1 > p->hole.y0 && y0 < p->hole.y1;

  spans[0] = (Span){ p->x0, p->x1 };
  *solid = p->kind == CUV_OVERLAY_PRIMITIVE_RECT && !hollow && y0 >= p->y0
      && y1 <= p->y1;
  if (p->kind == CUV_OVERLAY_PRIMITIVE_LINE) {
    spans[0] = line_span (p, y0);
    for (int y = y0 + 1; y < y1; y++) {
      Span row = line_span (p, y);

      spans[0].x0 = min (spans[0].x0, row.x0);
      spans[0].x1 = max (spans[0].x1, row.x1);
    }
  }
  if (!hollow || y0 < p->hole.y0 || y1 > p->hole.y1)
    return 1;
  spans[0].x1 = min (p->x1, p->hole.x0);
  spans[1] = (Span){ max (p->x0, p->hole.x1), p->x1 };
  *solid = true;
  return 2;
}

/* ---- samples ---- */

/* The row of samples of component k that pixel rows y0 .. y1 - 1 share. */
typedef struct {
  const CuvPrimitive *p;
  const uint8_t *bytes;
  const CuvComponent *component;
  uint8_t *samples;
  uint8_t colour;
  int k, y0, y1, width;
} Row;

/* Blends one colour into a sample of n pixels whose coverages add up to sum. */
static uint8_t
blend (uint8_t old, uint8_t colour, int alpha, int sum, int n)
{
  uint32_t weight = (uint32_t) sum * (uint32_t) alpha;

  return cuv_overlay_blend (old, weight, colour * weight, n);
}

/* Draws the sample that pixels x0 .. x1 - 1 share. */
static void
draw_sample (const Row *row, int sx, int x0, int x1)
{
  uint8_t *sample = row->samples + (int64_t) sx * row->component->step;
  int sum = 0;

  for (int y = row->y0; y < row->y1; y++) {
    for (int x = x0; x < x1; x++)
      sum += cuv_primitive_coverage (row->p, row->bytes, x, y);
  }
  if (sum > 0)
    *sample = blend (*sample, row->colour, row->p->alpha, sum,
        (x1 - x0) * (row->y1 - row->y0));
}

/* Draws samples whose pixels are all covered. */
static void
draw_solid (const Row *row, int sx0, int sx1)
{
  int step = row->component->step;
  uint8_t *sample = row->samples + (int64_t) sx0 * step;

  if (row->p->alpha == 255) {
    for (int sx = sx0; sx < sx1; sx++, sample += step)
      *sample = row->colour;
    return;
  }
  for (int sx = sx0; sx < sx1; sx++, sample += step)
    *sample = blend (*sample, row->colour, row->p->alpha, 255, 1);
}

/* Draws a row of a mask on samples of one pixel each. */
static void
draw_mask (const Row *row, int x0, int x1)
{
  const CuvPrimitive *p = row->p;
  int step = row->component->step;
  uint8_t *sample = row->samples + (int64_t) x0 * step;
  int64_t at = p->mask.offset + (int64_t) (row->y0 - p->mask.y) * p->mask.stride
      - p->mask.x;

  for (int x = x0; x < x1; x++, sample += step) {
    int coverage = row->bytes[at + x];

    if (coverage != 0)
      *sample = blend (*sample, row->colour, p->alpha, coverage, 1);
  }
}

/* Draws a row of a picture on samples of one pixel each. */
static void
draw_picture_row (const Row *row, int x0, int x1)
{
  const CuvPrimitive *p = row->p;
  int step = row->component->step, left = p->picture.x, alpha = p->alpha;
  int64_t inverse = p->picture.inverse;
  uint8_t *sample = row->samples + (int64_t) x0 * step;
  const uint8_t *line =
      cuv_picture_pixel (p, row->bytes, left, row->y0) + row->k;

  for (int x = x0; x < x1; x++, sample += step)
    *sample = blend (*sample, line[4 * cuv_picture_index (x - left, inverse)],
        alpha, 255, 1);
}

/* Blends a picture into the sample that pixels x0 .. x1 - 1 share. */
static uint8_t
blend_picture (const Row *row, uint8_t old, int x0, int x1)
{
  const CuvPrimitive *p = row->p;
  int n = (x1 - x0) * (row->y1 - row->y0), y1 = min (row->y1, p->y1);
  uint32_t weight = 255 * (uint32_t) p->alpha, sum = 0, coloured = 0;

  x0 = max (x0, p->x0);
  x1 = min (x1, p->x1);
  for (int y = max (row->y0, p->y0); y < y1; y++) {
    for (int x = x0; x < x1; x++, sum++)
      coloured += cuv_picture_pixel (p, row->bytes, x, y)[row->k];
  }
  return cuv_overlay_blend (old, sum * weight, coloured * weight, n);
}

static void
draw_picture (const Row *row, int sx, int x1)
{
  int step = row->component->step, xsub = row->component->xsub;
  uint8_t *sample = row->samples + (int64_t) sx * step;

  if (xsub + row->component->ysub == 0) {
    draw_picture_row (row, sx, x1);
    return;
  }
  for (; sx << xsub < x1; sx++, sample += step)
    *sample = blend_picture (
        row, *sample, sx << xsub, min ((sx + 1) << xsub, row->width));
}

/* Draws the samples of a span. A sample of two pixels across belongs to one
 * span only. */
static void
draw_span (const Row *row, Span span, bool solid)
{
  int xsub = row->component->xsub, x1 = min (span.x1, row->width);
  int sx = max (span.x0, 0) >> xsub;

  if (row->p->kind == CUV_OVERLAY_PRIMITIVE_PICTURE) {
    draw_picture (row, sx, x1);
    return;
  }
  if (xsub + row->component->ysub == 0
      && row->p->kind == CUV_OVERLAY_PRIMITIVE_MASK) {
    draw_mask (row, sx, x1);
    return;
  }
  while (sx << xsub < x1) {
    int from = sx << xsub;
    int to = min ((sx + 1) << xsub, row->width);
    int n = solid && from >= span.x0 ? (x1 - from) >> xsub : 0;

    if (n > 0)
      draw_solid (row, sx, sx + n);
    else
      draw_sample (row, sx, from, to);
    sx += n > 0 ? n : 1;
  }
}

static void
draw_component (const CuvOverlayList *list, const CuvPrimitive *p,
    const CuvFrame *frame, int c)
{
  const CuvComponent *component = &frame->component[c];
  int ysub = component->ysub;
  int last = (min (p->y1, frame->height) - 1) >> ysub;

  for (int sy = max (p->y0, 0) >> ysub; sy <= last; sy++) {
    Row row = { p, list->bytes, component,
      component->data + (int64_t) sy * component->stride, p->colour[c], c,
      sy << ysub, min ((sy + 1) << ysub, frame->height), frame->width };
    Span spans[2];
    bool solid;
    int n = find_spans (p, row.y0, row.y1, spans, &solid);

    for (int i = 0; i < n; i++)
      draw_span (&row, spans[i], solid);
  }
}

void
cuv_overlay_draw (const CuvOverlayList *list, const CuvFrame *frame)
{
  cuv_fill_draw (list, frame);
  for (int i = list->n_fills; i < list->n_primitives; i++) {
    for (int c = 0; c < frame->n_components; c++)
      draw_component (list, &list->primitives[i], frame, c);
  }
}
