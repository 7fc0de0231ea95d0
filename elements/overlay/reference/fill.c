/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills as docs/definitions/overlay.md defines them. Interleaved components are
 * processed together, so that inner loops are over adjacent bytes, which
 * compilers vectorise. */
#include "draw.h"

#include <string.h>

#define MAX_STEP 4   /* maximum distance of samples in bytes */
#define MAX_RUN 512  /* samples that are drawn at a time */
#define MAX_SUMS 512 /* bytes of a row that are summed at a time */
#define MAX_ROWS 256 /* rows of bytes whose column sums fit in 16 bits */

/* ---- interleaved components ---- */

/* A plane: components of the same subsampling that share rows of bytes. */
typedef struct {
  int first, n; /* its components are first .. first + n - 1 of the frame */
  int step, stride, xsub, ysub;
  uint8_t *data;        /* its first byte */
  int offset[MAX_STEP]; /* offset of each component's first sample */
  int size;             /* distance in bytes from a sample's first component to
                         * its last */
} Plane;

static bool
is_interleaved (const CuvComponent *a, const CuvComponent *b)
{
  return a->step == b->step && a->stride == b->stride && a->xsub == b->xsub
      && a->ysub == b->ysub && a->data - b->data < a->step
      && b->data - a->data < a->step;
}

/* Returns the plane whose first component is `first`. */
static Plane
find_plane (const CuvFrame *frame, int first)
{
  const CuvComponent *c = &frame->component[first];
  Plane plane = { first, 1, c->step, c->stride, c->xsub, c->ysub, c->data,
    { 0 }, 0 };

  while (first + plane.n < frame->n_components
      && is_interleaved (c, &c[plane.n])) {
    if (c[plane.n].data < plane.data)
      plane.data = c[plane.n].data;
    plane.n++;
  }
  for (int k = 0; k < plane.n; k++) {
    plane.offset[k] = (int) (c[k].data - plane.data);
    if (plane.size <= plane.offset[k])
      plane.size = plane.offset[k] + 1;
  }
  return plane;
}

static uint8_t *
sample_of (const Plane *plane, int x, int y)
{
  return plane->data + (int64_t) y * plane->stride + (int64_t) x * plane->step;
}

/* ---- means ---- */

/* Adds the n bytes of each of up to MAX_ROWS rows to the sums of their
 * columns. */
static void
sum_fill_rows (const uint8_t *restrict bytes, int stride, int n_rows, int n,
    uint32_t *restrict sums)
{
  uint16_t part[MAX_SUMS];

  memset (part, 0, (size_t) n * sizeof *part);
  for (int y = 0; y < n_rows; y++, bytes += stride) {
    for (int i = 0; i < n; i++)
      part[i] = (uint16_t) (part[i] + bytes[i]);
  }
  for (int i = 0; i < n; i++)
    sums[i] += part[i];
}

/* Sums each of n columns of bytes over n_rows rows, at most 2^24. */
static void
sum_rows (const uint8_t *bytes, int stride, int n_rows, int n, uint32_t *sums)
{
  memset (sums, 0, (size_t) n * sizeof *sums);
  for (int y = 0; y < n_rows; y += MAX_ROWS)
    sum_fill_rows (bytes + (int64_t) y * stride, stride,
        n_rows - y < MAX_ROWS ? n_rows - y : MAX_ROWS, n, sums);
}

/* Computes the sums of the components in a window. */
static void
sum_window (
    const Plane *plane, const CuvOverlayFillWindow *w, uint64_t total[MAX_STEP])
{
  int most = MAX_SUMS / plane->step;

  memset (total, 0, MAX_STEP * sizeof *total);
  for (int x = w->x0; x < w->x1; x += most) {
    int n = w->x1 - x < most ? w->x1 - x : most;
    uint32_t sums[MAX_SUMS];

    sum_rows (sample_of (plane, x, w->y0), plane->stride, w->y1 - w->y0,
        (n - 1) * plane->step + plane->size, sums);
    for (int k = 0; k < plane->n; k++) {
      for (int i = 0; i < n; i++)
        total[k] += sums[i * plane->step + plane->offset[k]];
    }
  }
}

static void
compute_means (const CuvPrimitive *p, const CuvFrame *frame, const Plane *plane,
    uint8_t *means)
{
  for (int cell = 0; cell < p->fill.rows * p->fill.columns; cell++) {
    CuvOverlayFillWindow w =
        cuv_fill_window (p, frame, &frame->component[plane->first],
            cell % p->fill.columns, cell / p->fill.columns);
    uint64_t n = (uint64_t) (w.x1 - w.x0) * (uint64_t) (w.y1 - w.y0);
    uint64_t total[MAX_STEP];

    sum_window (plane, &w, total);
    for (int k = 0; k < plane->n; k++)
      means[cuv_fill_means_of (p, plane->first + k) + cell] =
          cuv_fill_mean (total[k], n);
  }
}

/* ---- spans ---- */

/* Pixels of a row, a half-open range. */
typedef struct {
  int x0, x1;
} Span;

/* Returns the pixels of row y that an ellipse covers, including those outside
 * the frame; they are symmetric about its centre. */
static Span
ellipse_span (const CuvPrimitive *p, int y)
{
  int low = p->fill.x, high = low + (p->fill.width - 1) / 2;

  if (!cuv_fill_in_ellipse (p, high, y))
    return (Span){ high, high };
  while (low < high) {
    int middle = low + (high - low) / 2;

    if (cuv_fill_in_ellipse (p, middle, y))
      high = middle;
    else
      low = middle + 1;
  }
  return (Span){ low, 2 * p->fill.x + p->fill.width - low };
}

/* Returns the pixels that the fill covers in any of the rows y0 .. y1 - 1. Of
 * any two rows, the range of one contains that of the other, or one is
 * empty. */
static Span
find_span (const CuvPrimitive *p, int y0, int y1)
{
  Span all = { p->x0, p->x1 }, widest = { p->x1, p->x0 };

  y0 = y0 > p->y0 ? y0 : p->y0;
  y1 = y1 < p->y1 ? y1 : p->y1;
  if (!p->fill.is_ellipse)
    return y0 < y1 ? all : widest;
  for (int y = y0; y < y1; y++) {
    Span row = ellipse_span (p, y);

    if (row.x1 - row.x0 > widest.x1 - widest.x0)
      widest = row;
  }
  widest.x0 = widest.x0 > all.x0 ? widest.x0 : all.x0;
  widest.x1 = widest.x1 < all.x1 ? widest.x1 : all.x1;
  return widest;
}

/* ---- samples ---- */

/* A fill on one plane, and a run of its samples. */
typedef struct {
  const CuvPrimitive *p;
  const Plane *plane;
  const uint8_t *means;
  int left, top, w, h; /* position and size of the first cell, in samples */
  int from, to;        /* columns of samples that are drawn */
  int rows[2];         /* rows of cells that are in bytes[] */
  CuvOverlayFillPlace places[MAX_RUN];
  uint8_t mask[MAX_RUN * MAX_STEP]; /* 255 at the bytes of filled components */
  uint8_t bytes[2][MAX_RUN * MAX_STEP];
} Painter;

/* Interpolates a row of cells horizontally. Consecutive rows are stored in
 * different places. */
static const uint8_t *
get_row (Painter *self, int row)
{
  const Plane *plane = self->plane;
  int i = row & 1;

  if (self->rows[i] == row)
    return self->bytes[i];
  self->rows[i] = row;
  for (int k = 0; k < plane->n; k++) {
    const uint8_t *means =
        self->means + cuv_fill_means_of (self->p, plane->first + k);
    uint8_t *out = self->bytes[i] + plane->offset[k];

    for (int s = 0; s < self->to - self->from; s++, out += plane->step)
      *out = cuv_fill_across (
          self->p, means, &self->places[s], row, plane->first + k);
  }
  return self->bytes[i];
}

static void
set_run (Painter *self, int from, int to)
{
  const Plane *plane = self->plane;

  self->from = from;
  self->to = to;
  self->rows[0] = self->rows[1] = -1;
  for (int s = 0; s < to - from; s++) {
    self->places[s] = cuv_fill_place (
        self->p, from + s - self->left, self->w, self->p->fill.columns);
    for (int k = 0; k < plane->n; k++)
      self->mask[s * plane->step + plane->offset[k]] = 255;
  }
}

/* Computes cuv_fill_mix() with 16-bit integers. */
static inline uint8_t
mix (uint8_t a, uint8_t b, uint16_t wa, uint16_t wb)
{
  return (uint8_t) ((uint16_t) (a * wa + b * wb + 128) >> 8);
}

static void
mix_bytes (uint8_t *restrict out, const uint8_t *restrict a,
    const uint8_t *restrict b, int n, int f)
{
  uint16_t wa = (uint16_t) (256 - f), wb = (uint16_t) f;

  for (int i = 0; i < n; i++)
    out[i] = mix (a[i], b[i], wa, wb);
}

static void
mix_masked (uint8_t *restrict out, const uint8_t *restrict a,
    const uint8_t *restrict b, const uint8_t *restrict mask, int n, int f)
{
  uint16_t wa = (uint16_t) (256 - f), wb = (uint16_t) f;

  for (int i = 0; i < n; i++)
    out[i] =
        (uint8_t) (out[i] ^ ((out[i] ^ mix (a[i], b[i], wa, wb)) & mask[i]));
}

/* Draws row sy of samples. A sample is hidden if any of its pixels is. */
static void
draw_row (Painter *self, int sy)
{
  const CuvPrimitive *p = self->p;
  const Plane *plane = self->plane;
  Span span = find_span (p, sy << plane->ysub, (sy + 1) << plane->ysub);
  int from = span.x0 >> plane->xsub, to = ((span.x1 - 1) >> plane->xsub) + 1;
  const uint8_t *above, *below;
  CuvOverlayFillPlace y;
  int at, n;

  from = from > self->from ? from : self->from;
  to = to < self->to ? to : self->to;
  if (span.x0 >= span.x1 || from >= to)
    return;
  y = cuv_fill_place (p, sy - self->top, self->h, p->fill.rows);
  at = (from - self->from) * plane->step;
  above = get_row (self, y.first) + at;
  below = get_row (self, y.second) + at;
  n = (to - from - 1) * plane->step + plane->size;
  if (plane->n == plane->step)
    mix_bytes (sample_of (plane, from, sy), above, below, n, y.f);
  else
    mix_masked (
        sample_of (plane, from, sy), above, below, self->mask + at, n, y.f);
}

static void
draw_fill (const CuvPrimitive *p, const Plane *plane, const uint8_t *means)
{
  int end = ((p->x1 - 1) >> plane->xsub) + 1;
  int bottom = ((p->y1 - 1) >> plane->ysub) + 1;
  Painter painter;

  painter.p = p;
  painter.plane = plane;
  painter.means = means;
  painter.left = p->fill.left >> plane->xsub;
  painter.top = p->fill.top >> plane->ysub;
  painter.w = p->fill.cell >> plane->xsub;
  painter.h = p->fill.cell >> plane->ysub;
  memset (painter.mask, 0, sizeof painter.mask);
  for (int x = p->x0 >> plane->xsub; x < end; x += MAX_RUN) {
    set_run (&painter, x, x + MAX_RUN < end ? x + MAX_RUN : end);
    for (int y = p->y0 >> plane->ysub; y < bottom; y++)
      draw_row (&painter, y);
  }
}

/* All means are computed before anything is drawn, as regions may overlap. */
void
cuv_fill_draw (const CuvOverlayList *list, const CuvFrame *frame)
{
  for (int k = 0; k < frame->n_components;) {
    Plane plane = find_plane (frame, k);

    for (int i = 0; i < list->n_fills; i++)
      compute_means (&list->primitives[i], frame, &plane, list->means);
    for (int i = 0; i < list->n_fills; i++)
      draw_fill (&list->primitives[i], &plane, list->means);
    k += plane.n;
  }
}
