/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of what to draw: colours, places and limits become integers here,
 * once for CPU and GPU. */
#include "draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- colours ---- */

/* a / b to the nearest, halves up; b > 0 */
static int64_t
divide (int64_t a, int64_t b)
{
  int64_t twice = 2 * a + b;
  int64_t q = twice / (2 * b);

  return twice % (2 * b) < 0 ? q - 1 : q;
}

static uint8_t
clamp (int64_t value)
{
  return (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : value);
}

void
cuv_colour_convert (const CuvColourSpace *space, uint32_t argb, uint8_t out[4])
{
  int64_t r = argb >> 16 & 255, g = argb >> 8 & 255, b = argb & 255;
  int64_t kr = space->kr, kb = space->kb;
  int64_t base = space->limited ? 16 : 0;
  int64_t luma_range = space->limited ? 219 : 255;
  int64_t chroma_range = space->limited ? 224 : 255;
  int64_t luma = kr * r + (10000 - kr - kb) * g + kb * b; /* in 1/10000 */

  out[3] = 255;
  if (space->model == CUV_MODEL_RGB) {
    out[0] = clamp (base + divide (r * luma_range, 255));
    out[1] = clamp (base + divide (g * luma_range, 255));
    out[2] = clamp (base + divide (b * luma_range, 255));
    return;
  }
  out[0] = clamp (base + divide (luma * luma_range, 2550000));
  out[1] = clamp (
      128 + divide ((10000 * b - luma) * chroma_range, 2 * (10000 - kb) * 255));
  out[2] = clamp (
      128 + divide ((10000 * r - luma) * chroma_range, 2 * (10000 - kr) * 255));
}

/* ---- memory ---- */

/* Twice the memory until need fits; false, and the old memory, if there is
 * none. */
static bool
grow (void **memory, int64_t *capacity, int64_t need, size_t size)
{
  int64_t n = *capacity > 0 ? *capacity : 64;
  void *larger;

  if (need <= *capacity)
    return true;
  while (n < need)
    n *= 2;
  larger = realloc (*memory, (size_t) n * size);
  if (larger == NULL)
    return false;
  *memory = larger;
  *capacity = n;
  return true;
}

void
cuv_drawing_begin (CuvDrawing *self, const CuvColourSpace *space, int32_t width,
    int32_t height)
{
  self->space = *space;
  self->width = width;
  self->height = height;
  self->n_primitives = 0;
  self->n_mask_bytes = 0;
  self->n_lost = 0;
}

CuvOverlayList
cuv_drawing_list (const CuvDrawing *self)
{
  return (CuvOverlayList){ self->primitives, self->n_primitives, self->masks,
    self->n_mask_bytes };
}

void
cuv_drawing_free (CuvDrawing *self)
{
  free (self->primitives);
  free (self->masks);
  *self = (CuvDrawing){ 0 };
}

/* The next primitive, for pixels x0 .. x1 - 1 and y0 .. y1 - 1 of the frame;
 * NULL if none of them is in it, nothing would be seen, or there is no room. */
static CuvPrimitive *
append (CuvDrawing *self, CuvPrimitiveKind kind, uint32_t argb, int64_t x0,
    int64_t y0, int64_t x1, int64_t y1)
{
  int64_t capacity = self->max_primitives;
  CuvPrimitive *p;

  x0 = x0 > 0 ? x0 : 0;
  y0 = y0 > 0 ? y0 : 0;
  x1 = x1 < self->width ? x1 : self->width;
  y1 = y1 < self->height ? y1 : self->height;
  if (x0 >= x1 || y0 >= y1 || argb >> 24 == 0)
    return NULL;
  if (self->n_primitives == CUV_DRAWING_MAX_PRIMITIVES
      || !grow ((void **) &self->primitives, &capacity, self->n_primitives + 1,
          sizeof *self->primitives)) {
    self->n_lost++;
    return NULL;
  }
  self->max_primitives = (int32_t) capacity;
  p = &self->primitives[self->n_primitives++];
  memset (p, 0, sizeof *p);
  p->kind = kind;
  p->alpha = argb >> 24;
  cuv_colour_convert (&self->space, argb, p->colour);
  p->x0 = (int32_t) x0;
  p->y0 = (int32_t) y0;
  p->x1 = (int32_t) x1;
  p->y1 = (int32_t) y1;
  return p;
}

/* ---- rectangles and masks ---- */

void
cuv_drawing_rect (CuvDrawing *self, uint32_t argb, int64_t x, int64_t y,
    int64_t width, int64_t height, int thickness)
{
  CuvPrimitive *p;

  p = append (self, CUV_PRIMITIVE_RECT, argb, x, y, x + width, y + height);
  if (p == NULL || thickness <= 0 || width <= 2 * thickness
      || height <= 2 * thickness)
    return;
  p->hole.x0 = (int32_t) (x + thickness);
  p->hole.y0 = (int32_t) (y + thickness);
  p->hole.x1 = (int32_t) (x + width - thickness);
  p->hole.y1 = (int32_t) (y + height - thickness);
}

void
cuv_drawing_mask (CuvDrawing *self, uint32_t argb, int32_t x, int32_t y,
    int32_t width, int32_t height, const uint8_t *coverage, size_t stride)
{
  int64_t size = (int64_t) width * height;
  CuvPrimitive *p;

  if (width <= 0 || height <= 0)
    return;
  p = append (self, CUV_PRIMITIVE_MASK, argb, x, y, (int64_t) x + width,
      (int64_t) y + height);
  if (p == NULL)
    return;
  if (self->n_mask_bytes + size > CUV_DRAWING_MAX_MASK_BYTES
      || !grow ((void **) &self->masks, &self->max_mask_bytes,
          self->n_mask_bytes + size, 1)) {
    self->n_primitives--;
    self->n_lost++;
    return;
  }
  p->mask.x = x;
  p->mask.y = y;
  p->mask.stride = width;
  p->mask.offset = self->n_mask_bytes;
  for (int32_t row = 0; row < height; row++)
    memcpy (self->masks + self->n_mask_bytes + (int64_t) row * width,
        coverage + (size_t) row * stride, (size_t) width);
  self->n_mask_bytes += size;
}

/* ---- lines ---- */

typedef struct {
  double along, across;
} End;

/* Moves an end that is outside of low .. high onto the border. */
static void
cut_end (End *end, double low, double high, double slope)
{
  double border = end->along < low ? low : high;

  if (end->along >= low && end->along <= high)
    return;
  end->across += (border - end->along) * slope;
  end->along = border;
}

/* Leaves the part within low .. high; false if there is none. */
static bool
cut (End *a, End *b, double low, double high)
{
  double slope = (b->across - a->across) / (b->along - a->along);

  if ((a->along < low && b->along < low)
      || (a->along > high && b->along > high))
    return false;
  cut_end (a, low, high, slope);
  cut_end (b, low, high, slope);
  return true;
}

static End
turned (End end)
{
  return (End){ end.across, end.along };
}

/* Ends from far away are not precise: what was cut off stays off. */
static int32_t
to_units (double place, double low, double high)
{
  place = place > high ? high : place >= low ? place : low;
  return (int32_t) floor (place * CUV_OVERLAY_UNIT + 0.5);
}

/* floor (sqrt (n)) */
static int64_t
square_root (int64_t n)
{
  int64_t root = (int64_t) sqrt ((double) n);

  while (root * root > n)
    root--;
  while ((root + 1) * (root + 1) <= n)
    root++;
  return root;
}

/* Places in 1/16 pixel: from the first to the last in x, then in y, so that a
 * line and its reverse are the same. */
static void
append_line (CuvDrawing *self, uint32_t argb, int32_t ax, int32_t ay,
    int32_t bx, int32_t by, int thickness)
{
  bool swap = ax > bx || (ax == bx && ay > by);
  int64_t radius = (int64_t) thickness * CUV_OVERLAY_UNIT / 2;
  int64_t dx = (int64_t) bx - ax, dy = (int64_t) by - ay;
  int64_t length2 = dx * dx + dy * dy, square = radius * radius * length2;
  int32_t top = ay < by ? ay : by, bottom = ay < by ? by : ay;
  int64_t reach = thickness / 2 + 2; /* pixels, rounded up */
  CuvPrimitive *p;

  p = append (self, CUV_PRIMITIVE_LINE, argb,
      (swap ? bx : ax) / CUV_OVERLAY_UNIT - reach,
      top / CUV_OVERLAY_UNIT - reach,
      (swap ? ax : bx) / CUV_OVERLAY_UNIT + reach + 1,
      bottom / CUV_OVERLAY_UNIT + reach + 1);
  if (p == NULL)
    return;
  p->line.ax = swap ? bx : ax;
  p->line.ay = swap ? by : ay;
  p->line.bx = swap ? ax : bx;
  p->line.by = swap ? ay : by;
  p->line.radius2 = (int32_t) (radius * radius);
  p->line.length2 = length2;
  p->line.low = square_root (square);
  p->line.high = square > 0 ? square_root (square - 1) : -1;
}

void
cuv_drawing_line (CuvDrawing *self, uint32_t argb, double ax, double ay,
    double bx, double by, int thickness)
{
  double low, right, bottom;
  End a = { ax, ay }, b = { bx, by };

  thickness = thickness < 1 ? 1 : thickness;
  if (thickness > CUV_DRAWING_MAX_THICKNESS)
    thickness = CUV_DRAWING_MAX_THICKNESS;
  if (!isfinite (bx - ax) || !isfinite (by - ay))
    return;
  if (self->width > CUV_DRAWING_MAX_SIZE
      || self->height > CUV_DRAWING_MAX_SIZE) {
    self->n_lost++;
    return;
  }
  low = -(thickness + 2);
  right = self->width - low;
  bottom = self->height - low;
  if (!cut (&a, &b, low, right))
    return;
  a = turned (a);
  b = turned (b);
  if (!cut (&a, &b, low, bottom))
    return;
  append_line (self, argb, to_units (a.across, low, right),
      to_units (a.along, low, bottom), to_units (b.across, low, right),
      to_units (b.along, low, bottom), thickness);
}
