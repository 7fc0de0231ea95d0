/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the list of primitives. Colours, coordinates and limits become
 * integers here, so that CPU and GPU compute the same. */
#include "draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- colours ---- */

#define INVERSE_BITS 54

/* Makes a row that computes (r R + g G + b B) / divisor + base, rounded to the
 * nearest, halves up. The inverse exceeds 2^54 / divisor by at most 1, which
 * for sums below 2^31 and divisors below 2^23 never changes the quotient. */
static CuvColourRow
colour_row (int64_t r, int64_t g, int64_t b, int64_t divisor, int64_t base)
{
  return (CuvColourRow){ (uint32_t) r, (uint32_t) g, (uint32_t) b,
    (uint32_t) (base * divisor + divisor / 2),
    (1ull << INVERSE_BITS) / (uint64_t) divisor + 1 };
}

/* All divisors are even: half of one is added to round. */
static void
colour_rows (const CuvColourSpace *space, CuvColourRow rows[3])
{
  int64_t kr = space->kr, kb = space->kb, kg = 10000 - kr - kb;
  int64_t base = space->limited ? 16 : 0;
  int64_t luma = space->limited ? 219 : 255;
  int64_t chroma = space->limited ? 224 : 255;

  if (space->model == CUV_MODEL_RGB) {
    rows[0] = colour_row (2 * luma, 0, 0, 510, base);
    rows[1] = colour_row (0, 2 * luma, 0, 510, base);
    rows[2] = colour_row (0, 0, 2 * luma, 510, base);
    return;
  }
  rows[0] = colour_row (luma * kr, luma * kg, luma * kb, 2550000, base);
  rows[1] = colour_row (-chroma * kr, -chroma * kg, chroma * (10000 - kb),
      510 * (10000 - kb), 128);
  rows[2] = colour_row (chroma * (10000 - kr), -chroma * kg, -chroma * kb,
      510 * (10000 - kr), 128);
}

static void
convert_color (const CuvColourRow rows[3], uint32_t r, uint32_t g, uint32_t b,
    uint8_t out[4])
{
  for (int i = 0; i < 3; i++) {
    const CuvColourRow *row = &rows[i];
    uint32_t sum = row->r * r + row->g * g + row->b * b + row->offset;
    uint64_t sample = sum * row->inverse >> INVERSE_BITS;

    out[i] = (uint8_t) (sample < 255 ? sample : 255);
  }
  out[3] = 255;
}

static void
convert_argb (const CuvColourRow rows[3], uint32_t argb, uint8_t out[4])
{
  convert_color (rows, argb >> 16 & 255, argb >> 8 & 255, argb & 255, out);
}

void
cuv_colour_convert (const CuvColourSpace *space, uint32_t argb, uint8_t out[4])
{
  CuvColourRow rows[3];

  colour_rows (space, rows);
  convert_argb (rows, argb, out);
}

/* ---- memory ---- */

/* Doubles the capacity until need fits; false if out of memory, and the old
 * block stays valid. */
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

/* Drops the masks that are kept. All drawings have different epochs: they may
 * share a GPU's memory. */
static void
begin_epoch (CuvDrawing *self)
{
  static _Atomic uint64_t last;

  self->epoch = ++last;
  self->n_kept = 0;
}

void
cuv_drawing_begin (CuvDrawing *self, const CuvColourSpace *space, int32_t width,
    int32_t height)
{
  if (self->epoch == 0 || self->n_kept > CUV_DRAWING_MAX_KEPT)
    begin_epoch (self);
  colour_rows (space, self->rows);
  self->width = width;
  self->height = height;
  self->n_primitives = 0;
  self->n_fills = 0;
  self->n_bytes = self->n_kept;
  self->n_means = 0;
  self->n_lost = 0;
}

CuvOverlayList
cuv_drawing_list (const CuvDrawing *self)
{
  return (CuvOverlayList){ self->primitives, self->n_primitives, self->n_fills,
    self->bytes, self->n_bytes, self->n_kept, self->epoch, self->means,
    (int32_t) self->n_means };
}

void
cuv_drawing_free (CuvDrawing *self)
{
  free (self->primitives);
  free (self->bytes);
  free (self->means);
  *self = (CuvDrawing){ 0 };
}

/* Appends a primitive that covers pixels x0 .. x1 - 1 of rows y0 .. y1 - 1,
 * clipped to the frame. Returns NULL if no pixel is left, alpha is 0 or a limit
 * is reached. */
static CuvPrimitive *
append_primitive (CuvDrawing *self, CuvPrimitiveKind kind, uint32_t argb,
    int64_t x0, int64_t y0, int64_t x1, int64_t y1)
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
  convert_argb (self->rows, argb, p->colour);
  p->x0 = (int32_t) x0;
  p->y0 = (int32_t) y0;
  p->x1 = (int32_t) x1;
  p->y1 = (int32_t) y1;
  return p;
}

/* Allocates bytes for the last primitive, 4-byte aligned. If the limit is
 * exceeded, removes the primitive and returns NULL. */
static uint8_t *
append_bytes (CuvDrawing *self, int64_t size)
{
  int64_t offset = (self->n_bytes + 3) & ~(int64_t) 3;

  if (offset + size > CUV_DRAWING_MAX_BYTES
      || !grow ((void **) &self->bytes, &self->max_bytes, offset + size, 1)) {
    self->n_primitives--;
    self->n_lost++;
    return NULL;
  }
  memset (self->bytes + self->n_bytes, 0, (size_t) (offset - self->n_bytes));
  self->n_bytes = offset + size;
  return self->bytes + offset;
}

/* ---- fills ---- */

static int64_t
larger (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static int64_t
round_up_to (int64_t value, int64_t unit)
{
  return (value + unit - 1) / unit * unit;
}

/* Returns the size of a cell. It is even, so that chroma samples have the same
 * cells, and large enough for the given number of cells to cover a region that
 * begins at an odd pixel. It is at most the size of the frame, beyond which
 * there is nothing to average. */
static int32_t
fill_cell (const CuvDrawing *self, int64_t size, int cells)
{
  int64_t cell = round_up_to (size / cells + 1, 2);
  int64_t most = round_up_to (larger (self->width, self->height), 2);

  return (int32_t) larger (
      cell < most ? cell : most, CUV_OVERLAY_FILL_MIN_CELL);
}

static bool
set_cells (CuvDrawing *self, CuvPrimitive *p, int32_t cell)
{
  int64_t n;

  p->fill.left = p->x0 & ~1;
  p->fill.top = p->y0 & ~1;
  p->fill.cell = cell;
  p->fill.columns = (int16_t) ((p->x1 - 1 - p->fill.left) / cell + 1);
  p->fill.rows = (int16_t) ((p->y1 - 1 - p->fill.top) / cell + 1);
  p->fill.offset = (int32_t) self->n_means;
  n = self->n_means + 4 * p->fill.columns * p->fill.rows;
  if (!grow ((void **) &self->means, &self->max_means, n, 1))
    return false;
  self->n_means = n;
  return true;
}

bool
cuv_drawing_fill (CuvDrawing *self, const CuvFillStyle *style, int64_t x,
    int64_t y, int64_t width, int64_t height)
{
  bool too_large =
      self->width > CUV_DRAWING_MAX_SIZE || self->height > CUV_DRAWING_MAX_SIZE;
  uint32_t n_lost = self->n_lost;
  CuvPrimitive *p;

  if (self->n_fills == CUV_DRAWING_MAX_FILLS
      || self->n_fills != self->n_primitives)
    return false;
  p = append_primitive (self, CUV_OVERLAY_PRIMITIVE_FILL,
      style->rgb | 0xff000000u, x, y, x + width, y + height);
  if (p == NULL)
    return self->n_lost == n_lost;
  self->n_fills++;
  p->fill.is_ellipse = style->is_ellipse && width <= CUV_OVERLAY_FILL_MAX_AXIS
      && height <= CUV_OVERLAY_FILL_MAX_AXIS;
  if (p->fill.is_ellipse) {
    p->fill.x = (int32_t) x;
    p->fill.y = (int32_t) y;
    p->fill.width = (int32_t) width;
    p->fill.height = (int32_t) height;
  }
  p->fill.mode = (int16_t) (too_large ? CUV_OVERLAY_FILL_SOLID : style->mode);
  return p->fill.mode == CUV_OVERLAY_FILL_SOLID
      || set_cells (
          self, p, fill_cell (self, larger (width, height), style->cells));
}

/* ---- rectangles, masks and pictures ---- */

void
cuv_drawing_rect (CuvDrawing *self, uint32_t argb, int64_t x, int64_t y,
    int64_t width, int64_t height, int thickness)
{
  CuvPrimitive *p;

  p = append_primitive (
      self, CUV_OVERLAY_PRIMITIVE_RECT, argb, x, y, x + width, y + height);
  if (p == NULL || thickness <= 0 || width <= 2 * thickness
      || height <= 2 * thickness)
    return;
  p->hole.x0 = (int32_t) (x + thickness);
  p->hole.y0 = (int32_t) (y + thickness);
  p->hole.x1 = (int32_t) (x + width - thickness);
  p->hole.y1 = (int32_t) (y + height - thickness);
}

/* Appends the values of a mask, and keeps them if it has a place and all bytes
 * before are kept, too. Returns their offset, -1 if a limit is reached. */
static int64_t
append_mask (CuvDrawing *self, int32_t width, int32_t height,
    const uint8_t *coverage, size_t stride, CuvMaskPlace *place)
{
  const bool keeps = place != NULL && self->n_bytes == self->n_kept;
  uint8_t *values = append_bytes (self, (int64_t) width * height);

  if (values == NULL)
    return -1;
  for (int32_t row = 0; row < height; row++)
    memcpy (values + (int64_t) row * width, coverage + (size_t) row * stride,
        (size_t) width);
  if (keeps) {
    self->n_kept = self->n_bytes;
    *place = (CuvMaskPlace){ self->epoch, values - self->bytes, height };
  }
  return values - self->bytes;
}

void
cuv_drawing_mask (CuvDrawing *self, uint32_t argb, int32_t x, int32_t y,
    int32_t width, int32_t height, const uint8_t *coverage, size_t stride,
    CuvMaskPlace *place)
{
  int64_t offset;
  CuvPrimitive *p;

  if (width <= 0 || height <= 0)
    return;
  p = append_primitive (self, CUV_OVERLAY_PRIMITIVE_MASK, argb, x, y,
      (int64_t) x + width, (int64_t) y + height);
  if (p == NULL)
    return;
  offset = place != NULL && place->epoch == self->epoch && place->rows >= height
      ? place->offset
      : append_mask (self, width, height, coverage, stride, place);
  if (offset < 0)
    return;
  p->mask.x = x;
  p->mask.y = y;
  p->mask.stride = width;
  p->mask.offset = offset;
}

/* Converts and stores only the pixels that are visible in the frame. */
void
cuv_drawing_picture (CuvDrawing *self, int alpha, int32_t x, int32_t y,
    int32_t width, int32_t height, const uint8_t *rgb, int scale)
{
  int32_t left, top, columns, rows;
  CuvPrimitive *p;
  uint8_t *out;

  if (width <= 0 || height <= 0 || scale < 1 || scale > CUV_DRAWING_MAX_SCALE)
    return;
  p = append_primitive (self, CUV_OVERLAY_PRIMITIVE_PICTURE,
      (uint32_t) alpha << 24, x, y, x + (int64_t) width * scale,
      y + (int64_t) height * scale);
  if (p == NULL)
    return;
  left = (p->x0 - x) / scale;
  top = (p->y0 - y) / scale;
  columns = (p->x1 - 1 - x) / scale + 1 - left;
  rows = (p->y1 - 1 - y) / scale + 1 - top;
  out = append_bytes (self, 4 * (int64_t) columns * rows);
  if (out == NULL)
    return;
  p->picture.x = x + left * scale;
  p->picture.y = y + top * scale;
  p->picture.stride = 4 * columns;
  p->picture.inverse = (1 << CUV_OVERLAY_PICTURE_INVERSE_BITS) / scale + 1;
  p->picture.offset = out - self->bytes;
  for (int32_t row = 0; row < rows; row++) {
    const uint8_t *in = rgb + 3 * ((int64_t) (top + row) * width + left);

    for (int32_t column = 0; column < columns; column++, in += 3, out += 4)
      convert_color (self->rows, in[0], in[1], in[2], out);
  }
}

/* ---- lines ---- */

typedef struct {
  double along, across;
} End;

/* Moves an end of the line outside low .. high along the line to the border. */
static void
clip_end (End *end, double low, double high, double slope)
{
  double border = end->along < low ? low : high;

  if (end->along >= low && end->along <= high)
    return;
  end->across += (border - end->along) * slope;
  end->along = border;
}

/* Clips the line to low .. high in one dimension; false if nothing is left. */
static bool
clip_line (End *a, End *b, double low, double high)
{
  double slope = (b->across - a->across) / (b->along - a->along);

  if ((a->along < low && b->along < low)
      || (a->along > high && b->along > high))
    return false;
  clip_end (a, low, high, slope);
  clip_end (b, low, high, slope);
  return true;
}

static End
transposed (End end)
{
  return (End){ end.across, end.along };
}

/* Converts to 1/16 pixel. Clamps once more, because clipping a line with
 * very distant ends is not exact. */
static int32_t
to_units (double pixels, double low, double high)
{
  pixels = pixels > high ? high : pixels >= low ? pixels : low;
  return (int32_t) floor (pixels * CUV_OVERLAY_UNIT + 0.5);
}

/* Returns floor (sqrt (n)). */
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

/* Appends a line; coordinates are in 1/16 pixel. The ends are sorted by x, then
 * y, so that a line and its reverse are drawn alike. */
static void
append_line (CuvDrawing *self, uint32_t argb, int32_t ax, int32_t ay,
    int32_t bx, int32_t by, int thickness)
{
  bool swap = ax > bx || (ax == bx && ay > by);
  int64_t radius = (int64_t) thickness * CUV_OVERLAY_UNIT / 2;
  int64_t dx = (int64_t) bx - ax, dy = (int64_t) by - ay;
  int64_t length2 = dx * dx + dy * dy, square = radius * radius * length2;
  int32_t top = ay < by ? ay : by, bottom = ay < by ? by : ay;
  int64_t margin = thickness / 2 + 2; /* pixels, rounded up */
  CuvPrimitive *p;

  p = append_primitive (self, CUV_OVERLAY_PRIMITIVE_LINE, argb,
      (swap ? bx : ax) / CUV_OVERLAY_UNIT - margin,
      top / CUV_OVERLAY_UNIT - margin,
      (swap ? ax : bx) / CUV_OVERLAY_UNIT + margin + 1,
      bottom / CUV_OVERLAY_UNIT + margin + 1);
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
  if (!clip_line (&a, &b, low, right))
    return;
  a = transposed (a);
  b = transposed (b);
  if (!clip_line (&a, &b, low, bottom))
    return;
  append_line (self, argb, to_units (a.across, low, right),
      to_units (a.along, low, bottom), to_units (b.across, low, right),
      to_units (b.along, low, bottom), thickness);
}
