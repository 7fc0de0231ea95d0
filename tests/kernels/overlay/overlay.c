/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The overlay: the C reference against a literal implementation of
 * docs/definitions/overlay.md, and the GPU against the C reference. */
#include "config.h"
#include "cuvcheck.h"
#include "overlay-oracle.h"
#include "overlay-tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#if HAVE_CUDA
#include "overlay/overlay.h"

static CuvOverlayCuda *cuda;
#endif

static const CuvColourSpace spaces[] = {
  { CUV_MODEL_YUV, 2990, 1140, true },
  { CUV_MODEL_YUV, 2126, 722, true },
  { CUV_MODEL_YUV, 2627, 593, false },
  { CUV_MODEL_YUV, 2120, 870, false },
};

static CuvColourSpace
random_space (const CuvFrame *frame)
{
  CuvColourSpace space = spaces[cuv_check_below (4)];

  space.model = frame->model;
  return space;
}

static void
build (CuvDrawing *drawing, const Scene *scene, const CuvColourSpace *space,
    const CuvFrame *frame)
{
  cuv_drawing_begin (drawing, space, frame->width, frame->height);
  for (int i = 0; i < scene->n; i++) {
    const Shape *s = &scene->shapes[i];

    if (s->kind == RECT)
      cuv_drawing_rect (drawing, s->argb, s->x, s->y, s->w, s->h, s->thickness);
    else if (s->kind == LINE)
      cuv_drawing_line (drawing, s->argb, s->ax / 16.0, s->ay / 16.0,
          s->bx / 16.0, s->by / 16.0, s->thickness);
    else if (s->kind == MASK)
      cuv_drawing_mask (drawing, s->argb, s->x, s->y, s->w, s->h, s->coverage,
          (size_t) s->stride, NULL);
    else
      cuv_drawing_picture (drawing, (int) (s->argb >> 24), s->x, s->y, s->w,
          s->h, s->rgb, s->scale);
  }
}

/* ---- drawing ---- */

void
draw_list (const CuvOverlayList *list, CuvCheckFrame *frame)
{
  void *memory;
  CuvFrame lent = cuv_check_lend (frame, &memory);

  CUV_CHECK_RUN (cuv_overlay_cuda_submit (cuda, list, &lent, cuv_check_stream)
          || cuv_overlay_cuda_collect (cuda),
      cuv_overlay_draw (list, &lent));
  if (list->n_primitives == 0) /* nothing was enqueued and waited for */
    CUV_CHECK_ON (cuv_check_stream_wait (cuv_check_stream), (void) 0);
  cuv_check_take_back (frame, memory);
}

void
check_list (const CuvOverlayList *list, CuvCheckFrame *frame,
    const CuvCheckFrame *expected)
{
  draw_list (list, frame);
  CUV_CHECK (memcmp (frame->memory, expected->memory, frame->size) == 0,
      ": differs from the definition");
  CUV_CHECK (cuv_check_guards_intact (frame), "only pixels are written");
}

/* Compares C with the oracle or, with --cuda, CUDA with C. */
static void
check_scene (const char *format, int width, int height, int n)
{
  CuvCheckFrame frame =
      cuv_check_frame_new (format, width, height, CUV_CHECK_NOISE);
  CuvCheckFrame expected = cuv_check_frame_copy (&frame);
  CuvColourSpace space = random_space (&frame.frame);
  Scene *scene = random_scene (n, width, height);
  CuvDrawing drawing = { 0 };
  CuvOverlayList list;

  cuv_check_case ("%s %dx%d, %d shapes", format, width, height, n);
  build (&drawing, scene, &space, &frame.frame);
  list = cuv_drawing_list (&drawing);
  if (cuv_check_options.cuda)
    cuv_overlay_draw (&list, &expected.frame);
  else
    oracle_draw (scene, &space, &expected.frame);
  check_list (&list, &frame, &expected);
  cuv_drawing_free (&drawing);
  scene_free (scene);
  cuv_check_frame_free (&expected);
  cuv_check_frame_free (&frame);
}

static const struct {
  int width, height, n, repeat;
} sizes[] = {
  { 1, 1, 5, 20 },
  { 2, 1, 5, 10 },
  { 1, 2, 5, 10 },
  { 3, 3, 8, 20 },
  { 17, 33, 20, 10 },
  { 64, 48, 20, 5 },
  { 161, 91, 30, 2 },
};

CUV_CHECKS_CPU (check_scenes)
{
  for (const char *const *format = cuv_check_formats; *format; format++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      for (int r = 0; r < sizes[i].repeat; r++)
        check_scene (*format, sizes[i].width, sizes[i].height, sizes[i].n);
    }
  }
}

/* ---- lines ---- */

static CuvCheckFrame
draw_line (
    int width, int height, double ax, double ay, double bx, double by, int t)
{
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  CuvColourSpace grey = { CUV_MODEL_GREY, 2990, 1140, false };
  CuvDrawing drawing = { 0 };
  CuvOverlayList list;

  cuv_drawing_begin (&drawing, &grey, width, height);
  cuv_drawing_line (&drawing, 0xffffffff, ax, ay, bx, by, t);
  list = cuv_drawing_list (&drawing);
  cuv_overlay_draw (&list, &frame.frame);
  cuv_drawing_free (&drawing);
  return frame;
}

static int
pixel (const CuvCheckFrame *f, int x, int y)
{
  const CuvComponent *c = &f->frame.component[0];

  return c->data[(size_t) y * c->stride + (size_t) x * c->step];
}

/* A line of thickness t covers t pixels, and swapping its ends changes nothing.
 */
CUV_CHECKS_CPU (check_thickness)
{
  for (int t = 1; t <= 13; t++) {
    CuvCheckFrame flat = draw_line (60, 40, 15, 20, 45, 20, t);
    CuvCheckFrame back = draw_line (60, 40, 45, 20, 15, 20, t);
    CuvCheckFrame steep = draw_line (60, 40, 30, 10, 30, 30, t);
    int rows = 0, columns = 0;

    for (int i = 0; i < 40; i++)
      rows += pixel (&flat, 30, i) == 255;
    for (int i = 0; i < 60; i++)
      columns += pixel (&steep, i, 20) == 255;
    cuv_check_case ("thickness %d", t);
    CUV_CHECK (rows == t, ": %d rows of a horizontal line", rows);
    CUV_CHECK (columns == t, ": %d columns of a vertical line", columns);
    CUV_CHECK (pixel (&flat, 15, 20) == 255 && pixel (&flat, 45, 20) == 255,
        ": an end is missing");
    CUV_CHECK (pixel (&flat, 15 - t / 2 - 1, 20) == 0, ": too long");
    for (int y = 0; y < 40; y++) {
      for (int x = 0; x < 60; x++)
        CUV_CHECK (pixel (&back, x, y) == pixel (&flat, x, y), ": reversed");
    }
    cuv_check_frame_free (&flat);
    cuv_check_frame_free (&back);
    cuv_check_frame_free (&steep);
  }
}

static double
distance (double px, double py, double ax, double ay, double bx, double by)
{
  double dx = bx - ax, dy = by - ay, length2 = dx * dx + dy * dy;
  double t = length2 > 0 ? ((px - ax) * dx + (py - ay) * dy) / length2 : 0;

  t = fmin (fmax (t, 0), 1);
  return hypot (px - ax - t * dx, py - ay - t * dy);
}

/* Checks that lines whose ends are far outside are clipped, and that the
 * visible part does not move. */
static void
check_clipped_line (double reach)
{
  double p[4];
  int t = between (1, 9), wrong = 0;
  CuvCheckFrame frame;

  for (int i = 0; i < 4; i++)
    p[i] = (cuv_check_random () / 4294967296.0 * 2 - 1) * reach;
  frame = draw_line (97, 71, p[0], p[1], p[2], p[3], t);
  for (int y = 0; y < 71; y++) {
    for (int x = 0; x < 97; x++) {
      double d = distance (x, y, p[0], p[1], p[2], p[3]) - t / 2.0;

      wrong += fabs (d) > 0.15 && (d < 0) != (pixel (&frame, x, y) == 255);
    }
  }
  cuv_check_case (
      "line %g,%g to %g,%g, thickness %d", p[0], p[1], p[2], p[3], t);
  CUV_CHECK (wrong == 0, ": %d pixels", wrong);
  CUV_CHECK (cuv_check_guards_intact (&frame), "only pixels are written");
  cuv_check_frame_free (&frame);
}

CUV_CHECKS_CPU (check_clipped_lines)
{
  for (int i = 0; i < 500; i++)
    check_clipped_line (i % 2 ? 150 : 20000);
}

/* Coordinates are beyond all limits, or not finite. */
CUV_CHECKS_CPU (check_extreme_lines)
{
  static const double extremes[] = { 0, -0.5, 1e9, -1e9, 1e300, -1e300, 1e-300,
    NAN, INFINITY, -INFINITY, 2147483647.0, -2147483649.0, 30 };

  for (int i = 0; i < 4000; i++) {
    double p[4];
    CuvCheckFrame frame;

    for (int k = 0; k < 4; k++)
      p[k] = extremes[cuv_check_below (sizeof extremes / sizeof *extremes)];
    frame = draw_line (37, 29, p[0], p[1], p[2], p[3], between (-1, 300));
    cuv_check_case ("line %g,%g to %g,%g", p[0], p[1], p[2], p[3]);
    CUV_CHECK (cuv_check_guards_intact (&frame), "only pixels are written");
    cuv_check_frame_free (&frame);
  }
}

/* ---- colours ---- */

static double
clip (double value)
{
  return fmin (fmax (value, 0), 255);
}

static void
check_colour (const CuvColourSpace *space, uint32_t argb)
{
  double r = (argb >> 16 & 255) / 255.0, g = (argb >> 8 & 255) / 255.0;
  double b = (argb & 255) / 255.0, kr = space->kr / 1e4, kb = space->kb / 1e4;
  double y = kr * r + (1 - kr - kb) * g + kb * b;
  double u = (b - y) / (2 * (1 - kb)), v = (r - y) / (2 * (1 - kr));
  double expected[3] = { 255 * y, 128 + 255 * u, 128 + 255 * v };
  uint8_t out[4];

  if (space->limited) {
    expected[0] = 16 + 219 * y;
    expected[1] = 128 + 224 * u;
    expected[2] = 128 + 224 * v;
  }
  cuv_colour_convert (space, argb, out);
  for (int i = 0; i < 3; i++)
    CUV_CHECK (fabs (out[i] - clip (expected[i])) <= 0.5 + 1e-9,
        ": component %d: %d, not %g", i, out[i], expected[i]);
  CUV_CHECK (out[3] == 255, ": not opaque");
}

/* Checks that fast paths return the same bits as the definition. */
static void
check_every_colour (CuvColourSpace space)
{
  uint32_t wrong = 0;

  /* 3 and 5 divide 255, so that both ends are included */
  for (uint32_t r = 0; r < 256; r += 5) {
    for (uint32_t g = 0; g < 256; g += 3) {
      for (uint32_t b = 0; b < 256; b += 5) {
        uint8_t out[4], expected[4];

        cuv_colour_convert (&space, r << 16 | g << 8 | b, out);
        oracle_colour (&space, r << 16 | g << 8 | b, expected);
        wrong += memcmp (out, expected, 4) != 0;
      }
    }
  }
  cuv_check_case ("colours, model %d, K_r %d, K_b %d, %s range", space.model,
      space.kr, space.kb, space.limited ? "limited" : "full");
  CUV_CHECK (wrong == 0, ": %u differ from the definition", wrong);
}

CUV_CHECKS_CPU (check_all_colours)
{
  static const int32_t k[][2] = { { 2990, 1140 }, { 2126, 722 }, { 2627, 593 },
    { 2120, 870 }, { 3000, 1100 }, { 0, 0 } };

  for (size_t i = 0; i < sizeof k / sizeof *k; i++) {
    for (int limited = 0; limited < 2; limited++)
      check_every_colour (
          (CuvColourSpace){ CUV_MODEL_YUV, k[i][0], k[i][1], limited });
  }
  check_every_colour ((CuvColourSpace){ CUV_MODEL_RGB, 0, 0, false });
  check_every_colour ((CuvColourSpace){ CUV_MODEL_RGB, 0, 0, true });
}

CUV_CHECKS_CPU (check_colours)
{
  CuvColourSpace rgb = { CUV_MODEL_RGB, 0, 0, false };
  uint8_t out[4];

  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < 5000; i++) {
      uint32_t argb = i < 8 ? (i & 1 ? 0xff0000u : 0) | (i & 2 ? 0xff00u : 0)
              | (i & 4 ? 0xffu : 0)
                            : cuv_check_random ();

      cuv_check_case ("colour %06x, space %d", argb & 0xffffff, s);
      check_colour (&spaces[s], argb);
    }
  }
  cuv_check_case ("RGB");
  cuv_colour_convert (&rgb, 0x80123456, out);
  CUV_CHECK (out[0] == 0x12 && out[1] == 0x34 && out[2] == 0x56, ": changed");
  rgb.limited = true;
  cuv_colour_convert (&rgb, 0xff00ff, out);
  CUV_CHECK (out[0] == 235 && out[1] == 16 && out[2] == 235, ": limited range");
}

/* ---- limits of a list ---- */

CUV_CHECKS_CPU (check_limits)
{
  CuvDrawing drawing = { 0 };
  uint8_t byte = 255, *huge = calloc (1, 1 << 20);
  int64_t before;

  cuv_check_case ("limits");
  cuv_drawing_begin (&drawing, &spaces[0], 100, 100);
  for (int i = 0; i < CUV_DRAWING_MAX_PRIMITIVES + 10; i++)
    cuv_drawing_mask (&drawing, 0xffffffff, 3, 3, 1, 1, &byte, 1, NULL);
  CUV_CHECK (drawing.n_primitives == CUV_DRAWING_MAX_PRIMITIVES);
  CUV_CHECK (drawing.n_lost == 10);
  cuv_drawing_begin (&drawing, &spaces[0], 100, 100);
  CUV_CHECK (drawing.n_primitives == 0 && drawing.n_lost == 0, ": not emptied");
  for (int i = 0; i < 20; i++)
    cuv_drawing_mask (&drawing, 0xffffffff, 0, 0, 1024, 1024, huge, 1024, NULL);
  CUV_CHECK (
      drawing.n_primitives == 16 && drawing.n_lost == 4, ": limit of 16 MiB");
  before = drawing.n_bytes;
  cuv_drawing_mask (&drawing, 0xffffffff, 100, 0, 4, 4, huge, 4, NULL);
  cuv_drawing_picture (&drawing, 255, 100, 0, 4, 4, huge, 2);
  cuv_drawing_picture (&drawing, 0, 0, 0, 4, 4, huge, 2);
  cuv_drawing_rect (&drawing, 0x00ffffff, 0, 0, 4, 4, 0);
  CUV_CHECK (drawing.n_primitives == 16 && drawing.n_bytes == before,
      ": invisible primitives take memory");
  cuv_drawing_picture (&drawing, 255, 0, 0, 4, 4, huge, 1);
  CUV_CHECK (
      drawing.n_primitives == 16 && drawing.n_lost == 5, ": limit of 16 MiB");
  cuv_drawing_begin (&drawing, &spaces[0], 100, 100);
  cuv_drawing_picture (&drawing, 255, -7, 60, 500, 699, huge, 2);
  CUV_CHECK (drawing.n_primitives == 1 && drawing.n_bytes == 4 * 51 * 20,
      ": not clipped to the frame");
  cuv_drawing_begin (&drawing, &spaces[0], CUV_DRAWING_MAX_SIZE + 1, 4);
  cuv_drawing_line (&drawing, 0xffffffff, 0, 0, 3, 3, 1);
  CUV_CHECK (drawing.n_primitives == 0 && drawing.n_lost == 1, ": too wide");
  cuv_drawing_free (&drawing);
  free (huge);
}

/* Draws a mask of 16 x 8 values and returns the offset of its values. */
static int64_t
draw_kept (CuvDrawing *drawing, const uint8_t *values, CuvMaskPlace *place)
{
  const int32_t n = drawing->n_primitives;

  cuv_drawing_mask (drawing, 0xffffffff, 0, 0, 16, 8, values, 16, place);
  CUV_CHECK (drawing->n_primitives == n + 1);
  CUV_CHECK (memcmp (drawing->bytes + drawing->primitives[n].mask.offset,
                 values, 16 * 8)
          == 0,
      ": other values");
  return drawing->primitives[n].mask.offset;
}

/* A mask with a place is copied once, until too many are kept. */
CUV_CHECKS_CPU (check_kept_masks)
{
  static uint8_t values[CUV_DRAWING_MAX_KEPT / 128 + 1][16 * 8];
  const int n = sizeof values / sizeof values[0];
  CuvMaskPlace places[sizeof values / sizeof values[0]] = { 0 };
  CuvDrawing drawing = { 0 };
  int64_t first;

  cuv_check_case ("masks that are kept");
  for (size_t i = 0; i < sizeof values; i++)
    values[i / 128][i % 128] = (uint8_t) cuv_check_random ();
  for (int i = 0; i < n; i++) {
    cuv_drawing_begin (&drawing, &spaces[0], 100, 100);
    draw_kept (&drawing, values[i], &places[i]);
    first = draw_kept (&drawing, values[0], &places[0]);
    CUV_CHECK (first == 0 && drawing.n_bytes == 128 * (i + 1)
            && drawing.n_kept == drawing.n_bytes,
        ": copied again");
    draw_kept (&drawing, values[1], NULL); /* overwritten by the next list */
    CUV_CHECK (drawing.n_kept == drawing.n_bytes - 128, ": kept without place");
  }
  cuv_drawing_begin (&drawing, &spaces[0], 100, 100);
  CUV_CHECK (drawing.n_bytes == 0, ": too many are kept");
  cuv_drawing_picture (&drawing, 255, 0, 0, 2, 2, values[0], 1);
  CUV_CHECK (draw_kept (&drawing, values[1], &places[1]) == 16);
  CUV_CHECK (drawing.n_kept == 0, ": kept behind a picture");
  draw_kept (&drawing, values[0], NULL);
  cuv_drawing_begin (&drawing, &spaces[0], 100, 100);
  draw_kept (&drawing, values[2], &places[2]);
  CUV_CHECK (draw_kept (&drawing, values[1], &places[1]) == 128);
  cuv_drawing_mask (
      &drawing, 0xffffffff, 0, 0, 16, 4, values[1], 16, &places[1]);
  CUV_CHECK (drawing.n_bytes == 256, ": fewer rows are copied");
  cuv_drawing_free (&drawing);
}

/* ---- GPU against C ---- */

#if HAVE_CUDA

/* Labels stay, change, appear and disappear from frame to frame, while the GPU
 * still has the masks of the previous frame. Two of them are kept, then all. */
static void
check_labels (void)
{
  static uint8_t text[4][140 * 32];
  CuvMaskPlace places[4] = { 0 };
  CuvDrawing drawing = { 0 };

  for (size_t i = 0; i < sizeof text; i++)
    text[i / sizeof text[0]][i % sizeof text[0]] =
        (uint8_t) cuv_check_random ();
  for (int i = 0; i < 40; i++) {
    CuvCheckFrame frame =
        cuv_check_frame_new ("NV12", 160, 140, CUV_CHECK_NOISE);
    CuvCheckFrame expected = cuv_check_frame_copy (&frame);
    const int n = i % 4 == 0 ? cuv_check_below (4) + 1 : 4;
    CuvOverlayList list;

    cuv_check_case ("frame %d, %d labels", i, n);
    if (i % 3 == 0) {
      const int k = cuv_check_below (4);

      text[k][cuv_check_below (sizeof text[0])] ^= 255;
      places[k] = (CuvMaskPlace){ 0 };
    }
    if (i == 30) /* another epoch */
      cuv_drawing_free (&drawing);
    cuv_drawing_begin (&drawing, &spaces[0], 160, 140);
    for (int at = 0; at < n; at++)
      cuv_drawing_mask (&drawing, 0xffffffff, 4 + i % 16, 34 * at, 140, 32,
          text[at], 140, at < 2 || i >= 20 ? &places[at] : NULL);
    list = cuv_drawing_list (&drawing);
    cuv_overlay_draw (&list, &expected.frame);
    check_list (&list, &frame, &expected);
    cuv_check_frame_free (&expected);
    cuv_check_frame_free (&frame);
  }
  cuv_drawing_free (&drawing);
}

static void
check_allocation (void)
{
  size_t before = cuv_cuda_allocated ();
  CuvCheckFrame frame = cuv_check_frame_new ("NV12", 8, 8, CUV_CHECK_NOISE);
  CuvOverlayList large = { .n_primitives = 50000 };

  cuv_check_case ("GPU memory runs out");
  for (int n = 0; n < 2; n++) {
    cuv_cuda_fail_allocation (n);
    CUV_CHECK (cuv_overlay_cuda_new () == NULL);
    cuv_cuda_fail_allocation (n);
    CUV_CHECK (cuv_overlay_cuda_submit (cuda, &large, &frame.frame, NULL) != 0);
    CUV_CHECK (strstr (cuv_cuda_error (), "cudaErrorMemoryAllocation") != NULL,
        ": %s", cuv_cuda_error ());
  }
  cuv_cuda_fail_allocation (-1);
  cuv_check_frame_free (&frame);
  CUV_CHECK (cuv_cuda_allocated () == before, ": memory leaks");
  check_scene ("NV12", 64, 64, 10);
}

CUV_CHECKS_CUDA (check_cuda)
{
  size_t before = cuv_cuda_allocated ();

  cuv_check_case ("new");
  cuda = cuv_overlay_cuda_new ();
  if (!CUV_CHECK (cuda != NULL, ": %s", cuv_cuda_error ()))
    return;
  for (const char *const *format = cuv_check_formats; *format; format++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      check_scene (*format, sizes[i].width, sizes[i].height, sizes[i].n);
    check_scene (*format, 1919, 1079, 60);
    check_scene (*format, 333, 211, MAX_SHAPES);
  }
  check_labels ();
  check_cuda_fills ();
  check_allocation ();
  cuv_overlay_cuda_free (cuda);
  CUV_CHECK (cuv_cuda_allocated () == before, ": memory leaks");
}

#endif
