/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills: the C reference against a literal implementation of
 * docs/definitions/overlay.md, what fills reveal of the hidden pixels, and the
 * GPU against the C reference. */
#include "cuvcheck.h"
#include "draw.h"
#include "overlay-tests.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  CuvFillStyle style;
  int64_t x, y, w, h;
} Region;

#define MAX_REGIONS 40

static const CuvColourSpace bt709 = { CUV_MODEL_YUV, 2126, 722, true };

static int64_t
between (int64_t low, int64_t high)
{
  return low + (int64_t) cuv_check_below ((uint32_t) (high - low + 1));
}

/* ---- the oracle ---- */

static int64_t
oracle_even (int64_t n)
{
  return n % 2 == 0 ? n : n + 1;
}

static int64_t
oracle_cell (const Region *r, const CuvFrame *frame)
{
  int64_t longer = r->w > r->h ? r->w : r->h;
  int64_t side = frame->width > frame->height ? frame->width : frame->height;
  int64_t c = oracle_even ((longer + r->style.cells) / r->style.cells);

  c = c < oracle_even (side) ? c : oracle_even (side);
  return c > 8 ? c : 8;
}

static bool
oracle_hides (const Region *r, int64_t x, int64_t y)
{
  __int128 w = r->w, h = r->h;
  __int128 dx = 2 * (x - r->x) + 1 - w, dy = 2 * (y - r->y) + 1 - h;

  if (x < r->x || y < r->y || x >= r->x + w || y >= r->y + h)
    return false;
  return !r->style.is_ellipse || w > 32768 || h > 32768
      || dx * dx * h * h + dy * dy * w * w <= w * w * h * h;
}

/* The cells of one component of a region. */
typedef struct {
  const Region *r;
  const CuvFrame *frame;
  const CuvComponent *k;
  int64_t c, left, top; /* pixels */
  int columns, rows;
  int width, height; /* of the component */
} Cells;

static int64_t
oracle_start (int64_t from, int64_t of, int64_t size, int sub)
{
  int64_t first = from > 0 ? from : 0,
          end = from + size < of ? from + size : of;

  first -= first % 2;
  return sub ? (end - first + sub - 1) / sub : first;
}

static Cells
oracle_cells (const Region *r, const CuvFrame *frame, const CuvComponent *k)
{
  Cells cells = { .r = r, .frame = frame, .k = k };

  cells.c = oracle_cell (r, frame);
  cells.left = oracle_start (r->x, frame->width, r->w, 0);
  cells.top = oracle_start (r->y, frame->height, r->h, 0);
  cells.columns = (int) oracle_start (r->x, frame->width, r->w, (int) cells.c);
  cells.rows = (int) oracle_start (r->y, frame->height, r->h, (int) cells.c);
  cells.width = (frame->width + (1 << k->xsub) - 1) >> k->xsub;
  cells.height = (frame->height + (1 << k->ysub) - 1) >> k->ysub;
  return cells;
}

/* Moves a cell of n samples at `at` into 0 .. size - 1. */
static int64_t
oracle_moved (int64_t at, int64_t n, int64_t size)
{
  at = at + n > size ? size - n : at;
  return at < 0 ? 0 : at;
}

static int64_t
oracle_mean (const Cells *cells, int column, int row)
{
  const CuvComponent *k = cells->k;
  int64_t n = cells->c >> k->xsub, m = cells->c >> k->ysub, sum = 0, count = 0;
  int64_t x0 =
      oracle_moved ((cells->left >> k->xsub) + column * n, n, cells->width);
  int64_t y0 =
      oracle_moved ((cells->top >> k->ysub) + row * m, m, cells->height);

  for (int64_t y = y0; y < y0 + m && y < cells->height; y++) {
    for (int64_t x = x0; x < x0 + n && x < cells->width; x++, count++)
      sum += k->data[y * k->stride + x * k->step];
  }
  return (2 * sum + count) / (2 * count);
}

static int
oracle_nearest (int64_t i, int n)
{
  return (int) (i < 0 ? 0 : i < n ? i : n - 1);
}

/* Returns the value of sample (sx, sy). means: those of the cells, row by row.
 */
static uint8_t
oracle_value (const Cells *cells, const int64_t *means, int sx, int sy)
{
  const CuvComponent *k = cells->k;
  int64_t s = sx - (cells->left >> k->xsub), t = sy - (cells->top >> k->ysub);
  int64_t n = cells->c >> k->xsub, m = cells->c >> k->ysub;
  int64_t p = (2 * s + 1) * 128 / n + 128, q = (2 * t + 1) * 128 / m + 128;
  int64_t across[2];

  if (cells->r->style.mode == CUV_OVERLAY_FILL_PIXELATE)
    return (uint8_t) means[t / m * cells->columns + s / n];
  for (int i = 0; i < 2; i++) {
    const int64_t *row =
        means + oracle_nearest (q / 256 - 1 + i, cells->rows) * cells->columns;

    across[i] =
        ((256 - p % 256) * row[oracle_nearest (p / 256 - 1, cells->columns)]
            + p % 256 * row[oracle_nearest (p / 256, cells->columns)] + 128)
        / 256;
  }
  return (uint8_t) (((256 - q % 256) * across[0] + q % 256 * across[1] + 128)
      / 256);
}

static bool
oracle_hides_sample (const Region *r, const CuvFrame *frame,
    const CuvComponent *k, int sx, int sy)
{
  for (int y = sy << k->ysub; y < (sy + 1) << k->ysub; y++) {
    for (int x = sx << k->xsub; x < (sx + 1) << k->xsub; x++) {
      if (x < frame->width && y < frame->height && oracle_hides (r, x, y))
        return true;
    }
  }
  return false;
}

/* Draws component c of a region, with the means of `frame`. */
static void
oracle_component (const Region *r, const CuvColourSpace *space,
    const CuvFrame *frame, const CuvFrame *out, int c)
{
  const CuvComponent *k = &out->component[c];
  Cells cells = oracle_cells (r, frame, &frame->component[c]);
  int64_t means[18 * 18];
  uint8_t colour[4];

  cuv_colour_convert (space, r->style.rgb, colour);
  for (int i = 0; i < cells.rows * cells.columns; i++)
    means[i] = oracle_mean (&cells, i % cells.columns, i / cells.columns);
  for (int y = 0; y < cells.height; y++) {
    for (int x = 0; x < cells.width; x++) {
      if (oracle_hides_sample (r, frame, k, x, y))
        k->data[(int64_t) y * k->stride + x * k->step] =
            r->style.mode == CUV_OVERLAY_FILL_SOLID
            ? colour[c]
            : oracle_value (&cells, means, x, y);
    }
  }
}

static void
oracle_fill (const Region *regions, int n, const CuvColourSpace *space,
    const CuvFrame *frame, const CuvFrame *out)
{
  for (int i = 0; i < n; i++) {
    const Region *r = &regions[i];

    if (r->w <= 0 || r->h <= 0 || r->x >= frame->width || r->x + r->w <= 0
        || r->y >= frame->height || r->y + r->h <= 0)
      continue;
    for (int c = 0; c < frame->n_components; c++)
      oracle_component (r, space, frame, out, c);
  }
}

/* ---- regions ---- */

static int64_t
random_size (int of)
{
  static const int64_t large[] = { 1, 2, 9, 32768, 32769, 1 << 30 };

  switch (cuv_check_below (4)) {
    case 0:
      return large[cuv_check_below (6)];
    case 1:
      return between (0, 3 * of);
    default:
      return between (0, of);
  }
}

static Region
random_region (int width, int height)
{
  Region r = { .style = {
                   .mode = (CuvFillMode) between (
                       CUV_OVERLAY_FILL_SOLID, CUV_OVERLAY_FILL_PIXELATE),
                   .rgb = cuv_check_random () & 0xffffff,
                   .is_ellipse = cuv_check_below (2) != 0,
                   .cells = 8,
               } };

  if (cuv_check_below (2))
    r.style.cells = (int) between (1, CUV_OVERLAY_FILL_MAX_CELLS);
  r.w = random_size (width);
  r.h = random_size (height);
  r.x = cuv_check_below (3) ? between (-3, width) : width / 2 - r.w / 2;
  r.y = cuv_check_below (3) ? between (-3, height) : height / 2 - r.h / 2;
  if (cuv_check_below (4) == 0)
    r.x -= r.w - 1;
  return r;
}

static CuvDrawing
draw_regions (const Region *regions, int n, const CuvColourSpace *space,
    const CuvFrame *frame)
{
  CuvDrawing drawing = { 0 };

  cuv_drawing_begin (&drawing, space, frame->width, frame->height);
  for (int i = 0; i < n; i++)
    CUV_CHECK (cuv_drawing_fill (&drawing, &regions[i].style, regions[i].x,
                   regions[i].y, regions[i].w, regions[i].h),
        ": region %d is not hidden", i);
  return drawing;
}

static void
fill (const Region *regions, int n, const CuvCheckFrame *frame)
{
  CuvColourSpace space = bt709;
  CuvDrawing drawing;
  CuvOverlayList list;

  space.model = frame->frame.model;
  drawing = draw_regions (regions, n, &space, &frame->frame);
  list = cuv_drawing_list (&drawing);
  cuv_overlay_draw (&list, &frame->frame);
  cuv_drawing_free (&drawing);
}

static bool
same (const CuvCheckFrame *a, const CuvCheckFrame *b)
{
  return memcmp (a->memory, b->memory, a->size) == 0;
}

/* Compares C with the oracle. With --cuda, compares CUDA with C, and draws a
 * rectangle over the fills. */
static void
check_regions (const char *format, int width, int height, int n)
{
  CuvCheckFrame frame =
      cuv_check_frame_new (format, width, height, CUV_CHECK_NOISE);
  CuvCheckFrame expected = cuv_check_frame_copy (&frame);
  CuvColourSpace space = bt709;
  Region regions[MAX_REGIONS];
  CuvDrawing drawing;
  CuvOverlayList list;

  space.model = frame.frame.model;
  cuv_check_case ("%s %dx%d, %d fills", format, width, height, n);
  for (int i = 0; i < n; i++)
    regions[i] = random_region (width, height);
  drawing = draw_regions (regions, n, &space, &frame.frame);
  if (cuv_check_options.cuda)
    cuv_drawing_rect (&drawing, 0x80ff0000, width / 3, 0, width, height / 2, 3);
  list = cuv_drawing_list (&drawing);
  if (cuv_check_options.cuda)
    cuv_overlay_draw (&list, &expected.frame);
  else
    oracle_fill (regions, n, &space, &frame.frame, &expected.frame);
  check_list (&list, &frame, &expected);
  cuv_drawing_free (&drawing);
  cuv_check_frame_free (&expected);
  cuv_check_frame_free (&frame);
}

static const struct {
  int width, height, n, repeat;
} sizes[] = {
  { 1, 1, 2, 20 }, { 2, 1, 2, 10 }, { 1, 2, 2, 10 }, { 3, 3, 3, 20 },
  { 17, 33, 4, 20 }, { 64, 48, 5, 10 }, { 161, 91, 6, 3 },
  { 30, 600, 3, 3 },  /* more rows than are summed at once */
  { 1100, 20, 3, 3 }, /* more samples than are drawn at once */
};

/* ---- what must not come through ---- */

/* Checks that inverting one sample changes no hidden sample by more than 1 /
 * 64: each mean is that of at least 16 samples, or of 64 where pixels do not
 * share samples. */
static void
check_one_sample (CuvCheckFrame *frame, const Region *r)
{
  CuvCheckFrame a = cuv_check_frame_copy (frame), b;
  const CuvComponent *c = &frame->frame.component[0];
  int x = (int) cuv_check_below ((uint32_t) frame->frame.width);
  int y = (int) cuv_check_below ((uint32_t) frame->frame.height);
  int largest = 0;

  c->data[(int64_t) y * c->stride + x * c->step] ^= 255;
  b = cuv_check_frame_copy (frame);
  fill (r, 1, &a);
  fill (r, 1, &b);
  for (y = 0; y < frame->frame.height; y++) {
    for (x = 0; x < frame->frame.width; x++) {
      int64_t at = (int64_t) y * c->stride + x * c->step;
      int difference =
          abs (a.frame.component[0].data[at] - b.frame.component[0].data[at]);

      if (oracle_hides (r, x, y) && difference > largest)
        largest = difference;
    }
  }
  CUV_CHECK (largest <= 255 / 64 + 1, ": a sample differs by %d", largest);
  cuv_check_frame_free (&a);
  cuv_check_frame_free (&b);
}

static void
check_no_sample_survives (void)
{
  for (int i = 0; i < 1000; i++) {
    int width = (int) between (8, 40), height = (int) between (8, 40);
    CuvCheckFrame frame =
        cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_NOISE);
    Region r = random_region (width, height);

    r.style.mode = i % 2 ? CUV_OVERLAY_FILL_BLUR : CUV_OVERLAY_FILL_PIXELATE;
    cuv_check_case ("one sample of %dx%d, region %d,%d %dx%d", width, height,
        (int) r.x, (int) r.y, (int) r.w, (int) r.h);
    check_one_sample (&frame, &r);
    cuv_check_frame_free (&frame);
  }
}

/* Exchanges two samples of a cell. */
static void
exchange (const CuvFrame *frame, int cell)
{
  const CuvComponent *c = &frame->component[0];
  int across = (int) between (0, 6) * cell, down = (int) between (0, 6) * cell;
  uint8_t *at[2], sample;

  for (int i = 0; i < 2; i++)
    at[i] = c->data + (int64_t) (10 + down + between (0, cell - 1)) * c->stride
        + (20 + across + between (0, cell - 1)) * c->step;
  sample = *at[0];
  *at[0] = *at[1];
  *at[1] = sample;
}

/* Checks that pictures with the same means become equal, so that nothing but
 * the means can be recovered. */
static void
check_only_means_survive (const char *format, CuvFillMode mode)
{
  CuvCheckFrame frame = cuv_check_frame_new (format, 121, 97, CUV_CHECK_NOISE);
  CuvCheckFrame a = cuv_check_frame_copy (&frame), b;
  Region r = { { mode, 0, false, 8 }, 20, 10, 79, 79 }; /* 10 pixels per cell */

  for (int i = 0; i < 5000; i++)
    exchange (&frame.frame, 10);
  b = cuv_check_frame_copy (&frame);
  cuv_check_case ("exchanged samples, %s, mode %d", format, mode);
  CUV_CHECK (!same (&a, &b), ": nothing was exchanged");
  fill (&r, 1, &a);
  fill (&r, 1, &b);
  CUV_CHECK (same (&a, &b), ": order of samples survives");
  cuv_check_frame_free (&a);
  cuv_check_frame_free (&b);
  cuv_check_frame_free (&frame);
}

/* ---- limits ---- */

static void
check_limits (void)
{
  CuvFillStyle style = { CUV_OVERLAY_FILL_BLUR, 0, false, 8 };
  CuvDrawing drawing = { 0 };
  int n = 0;

  cuv_check_case ("limits of fills");
  cuv_drawing_begin (&drawing, &bt709, 100, 100);
  for (int i = 0; i < CUV_DRAWING_MAX_FILLS; i++)
    n += cuv_drawing_fill (&drawing, &style, 0, 0, 1 << 20, 1 << 20);
  CUV_CHECK (n == CUV_DRAWING_MAX_FILLS && drawing.n_fills == n);
  CUV_CHECK (!cuv_drawing_fill (&drawing, &style, 0, 0, 9, 9), ": too many");
  cuv_drawing_begin (&drawing, &bt709, 100, 100);
  CUV_CHECK (drawing.n_fills == 0 && drawing.n_means == 0, ": not emptied");
  CUV_CHECK (cuv_drawing_fill (&drawing, &style, 100, 0, 9, 9)
          && cuv_drawing_fill (&drawing, &style, 0, 0, 9, 0)
          && drawing.n_fills == 0,
      ": outside of the frame there is nothing to hide");
  cuv_drawing_rect (&drawing, 0xffffffff, 0, 0, 9, 9, 0);
  CUV_CHECK (
      !cuv_drawing_fill (&drawing, &style, 0, 0, 9, 9), ": not the first");
  cuv_drawing_begin (&drawing, &bt709, CUV_DRAWING_MAX_SIZE + 1, 2);
  CUV_CHECK (cuv_drawing_fill (&drawing, &style, 0, 0, 9, 9)
          && drawing.primitives[0].fill.mode == CUV_OVERLAY_FILL_SOLID,
      ": a frame too wide for means");
  cuv_drawing_free (&drawing);
}

CUV_CHECKS_CPU (check_fills)
{
  for (const char *const *format = cuv_check_formats; *format; format++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      for (int r = 0; r < sizes[i].repeat; r++)
        check_regions (*format, sizes[i].width, sizes[i].height, sizes[i].n);
    }
  }
  check_no_sample_survives ();
  check_only_means_survive ("GRAY8", CUV_OVERLAY_FILL_BLUR);
  check_only_means_survive ("NV12", CUV_OVERLAY_FILL_BLUR);
  check_only_means_survive ("BGRx", CUV_OVERLAY_FILL_PIXELATE);
  check_limits ();
}

void
check_cuda_fills (void)
{
  for (const char *const *format = cuv_check_formats; *format; format++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      for (int r = 0; r < 3; r++)
        check_regions (*format, sizes[i].width, sizes[i].height, sizes[i].n);
    }
    if (!cuv_check_options.few)
      check_regions (*format, 1919, 1079, MAX_REGIONS);
  }
}
