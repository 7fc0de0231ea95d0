/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark of drawing on a 1080p frame: 20 boxes with labels, 100 lines, a
 * strip of pictures, and fills. */
#include "config.h"
#include "cuvcheck.h"
#include "draw.h"
#include "overlay-tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#if HAVE_CUDA
#include "overlay/overlay.h"
#endif

#define N_LABELS 20
#define TEXT_WIDTH 140
#define TEXT_HEIGHT 32
#define N_PICTURES 5
#define PICTURE_SIZE 64

typedef struct _Bench Bench;

typedef struct {
  const char *format, *suffix;
  double (*draw) (Bench *bench); /* builds the list; returns covered pixels */
  bool new_labels;               /* in every frame */
  CuvFillMode fill;
  int n; /* number of fills */
  bool is_ellipse;
} BenchCase;

struct _Bench {
  uint8_t text[TEXT_WIDTH * TEXT_HEIGHT];
  uint8_t pictures[N_PICTURES * 3 * PICTURE_SIZE * PICTURE_SIZE];
  CuvDrawing drawing;
  CuvOverlayList list;
  CuvFrame frame;
  const BenchCase *now;
  struct _CuvOverlayCuda *cuda; /* with --cuda */
};

static void
begin (Bench *bench)
{
  CuvColourSpace space = { bench->frame.model, 2126, 722, true };

  cuv_drawing_begin (
      &bench->drawing, &space, bench->frame.width, bench->frame.height);
}

/* Draws boxes of 60 to 280 pixels a side with outlines of 4 pixels, and text on
 * backgrounds of 150 x 32. */
static double
draw_labels (Bench *bench)
{
  CuvDrawing *drawing = &bench->drawing;
  double pixels = 0;

  begin (bench);
  for (int i = 0; i < N_LABELS; i++) {
    int x = 40 + i % 5 * 370, y = 60 + i / 5 * 255, size = 60 + 11 * i;

    cuv_drawing_rect (drawing, 0xffe6194b, x, y, size, size, 4);
    pixels += 4.0 * 4 * (size - 4);
  }
  for (int i = 0; i < N_LABELS; i++) {
    int x = 40 + i % 5 * 370, y = 60 + i / 5 * 255 - TEXT_HEIGHT;

    cuv_drawing_rect (drawing, 0xffe6194b, x, y, 150, TEXT_HEIGHT, 0);
    cuv_drawing_mask (drawing, 0xffffffff, x + 5, y, TEXT_WIDTH, TEXT_HEIGHT,
        bench->text, TEXT_WIDTH, NULL);
    pixels += 150 * TEXT_HEIGHT + TEXT_WIDTH * TEXT_HEIGHT;
  }
  return pixels;
}

/* Draws 100 lines across the frame in ten bundles, like those that houghlines
 * finds. */
static double
draw_lines (Bench *bench)
{
  double pixels = 0;

  begin (bench);
  for (int i = 0; i < 100; i++) {
    const double shift = 3 * (i % 10);
    const double x = 150 * (i / 10) + shift, y = 100 + shift;
    const bool steep = i / 10 % 2;
    const double ends[4] = { steep ? x : 0, steep ? 0 : x / 2 + y,
      steep ? 1400 - x / 2 : 1919, steep ? 1079 : 900 - y };

    cuv_drawing_line (
        &bench->drawing, 0xff3cb44b, ends[0], ends[1], ends[2], ends[3], 4);
    pixels += 4 * hypot (ends[2] - ends[0], ends[3] - ends[1]);
  }
  return pixels;
}

/* Draws pictures of 64 x 64 pixels, scaled by 2, along the lower edge. */
static double
draw_strip (Bench *bench)
{
  int size = 2 * PICTURE_SIZE, y = bench->frame.height - size - 4;

  begin (bench);
  for (int i = 0; i < N_PICTURES; i++) {
    int x = 4 + i * (size + 8);

    cuv_drawing_rect (
        &bench->drawing, 0xffe6194b, x - 4, y - 4, size + 8, size + 8, 4);
    cuv_drawing_picture (&bench->drawing, 255, x, y, PICTURE_SIZE, PICTURE_SIZE,
        bench->pictures + i * 3 * PICTURE_SIZE * PICTURE_SIZE, 2);
  }
  return N_PICTURES * ((size + 8.0) * (size + 8));
}

/* Draws n fills of 128 x 128 pixels side by side from the upper left corner, or
 * one fill of the whole frame if n is 0. Each row of an ellipse is a separate
 * span. */
static double
draw_fills (Bench *bench)
{
  const BenchCase *c = bench->now;
  const CuvFillStyle style = { c->fill, 0, c->is_ellipse, 2 };
  const int width = c->n > 0 ? 128 : bench->frame.width;
  const int height = c->n > 0 ? 128 : bench->frame.height;
  const int across = bench->frame.width / width, n = c->n > 0 ? c->n : 1;

  begin (bench);
  for (int i = 0; i < n; i++)
    cuv_drawing_fill (&bench->drawing, &style, i % across * width,
        i / across * height, width, height);
  return (double) n * width * height * (c->is_ellipse ? 0.785 : 1);
}

static void
bench_build (void *data)
{
  draw_strip (data);
}

static void
bench_draw (void *data)
{
  Bench *bench = data;

  for (int i = 0; bench->now->new_labels && i < bench->drawing.n_bytes; i += 64)
    bench->drawing.bytes[i]++;
  CUV_CHECK_RUN (cuv_overlay_cuda_submit (bench->cuda, &bench->list,
                     &bench->frame, cuv_check_stream),
      cuv_overlay_draw (&bench->list, &bench->frame));
}

#if HAVE_CUDA
static void
bench_draw_and_collect (void *data)
{
  Bench *bench = data;

  bench_draw (data);
  cuv_overlay_cuda_collect (bench->cuda);
}
#endif

static void
bench_case (Bench *bench, const BenchCase *c)
{
  CuvCheckFrame frame =
      cuv_check_frame_new (c->format, 1920, 1080, CUV_CHECK_TEXTURE);
  void *memory;
  double pixels, bytes;
  char what[40];

  bench->frame = cuv_check_lend (&frame, &memory);
  bench->now = c;
  pixels = c->draw (bench);
  bytes = pixels * 2 * (frame.frame.model == CUV_MODEL_RGB ? 3 : 1.5);
  bench->list = cuv_drawing_list (&bench->drawing);
  snprintf (what, sizeof what, "%s%s", c->format, c->suffix);
  if (cuv_check_options.cuda || !c->new_labels)
    cuv_check_bench (bench_draw, bench, pixels, bytes,
        CUV_CHECK_ON ("overlay-cuda-%s-device", "overlay-c-%s"), what);
#if HAVE_CUDA
  if (cuv_check_options.cuda)
    cuv_check_report (cuv_check_time (bench_draw_and_collect, bench), pixels,
        bytes, "overlay-cuda-%s-submit-collect", what);
#endif
  cuv_check_device_free (memory);
  cuv_check_frame_free (&frame);
}

/* Times building the list of a strip on the CPU, including the conversion of
 * colours. */
static void
bench_list (Bench *bench)
{
  double pixels = N_PICTURES * PICTURE_SIZE * PICTURE_SIZE;

  cuv_check_report (cuv_check_time (bench_build, bench), pixels, pixels * 7,
      "overlay-c-strip-list");
}

CUV_BENCH (bench_overlay)
{
  static const BenchCase cases[] = {
    { "NV12", "", draw_labels, .new_labels = false },
    { "NV12", "-new-labels", draw_labels, .new_labels = true },
    { "BGRx", "", draw_labels, .new_labels = false },
    { "YUY2", "", draw_labels, .new_labels = false },
    { "NV12", "-lines", draw_lines, .new_labels = false },
    { "NV12", "-strip", draw_strip, .new_labels = false },
    { "NV12", "-blur-1", draw_fills, .fill = CUV_OVERLAY_FILL_BLUR, .n = 1 },
    { "NV12", "-blur-10", draw_fills, .fill = CUV_OVERLAY_FILL_BLUR, .n = 10 },
    { "NV12", "-blur-100", draw_fills, .fill = CUV_OVERLAY_FILL_BLUR,
        .n = 100 },
    { "I420", "-blur-100", draw_fills, .fill = CUV_OVERLAY_FILL_BLUR,
        .n = 100 },
    { "BGRx", "-blur-100", draw_fills, .fill = CUV_OVERLAY_FILL_BLUR,
        .n = 100 },
    { "NV12", "-blur-ellipse-100", draw_fills, .fill = CUV_OVERLAY_FILL_BLUR,
        .n = 100, .is_ellipse = true },
    { "NV12", "-pixelate-100", draw_fills, .fill = CUV_OVERLAY_FILL_PIXELATE,
        .n = 100 },
    { "NV12", "-solid-100", draw_fills, .fill = CUV_OVERLAY_FILL_SOLID,
        .n = 100 },
    { "NV12", "-blur-frame", draw_fills, .fill = CUV_OVERLAY_FILL_BLUR },
  };
  Bench *bench = calloc (1, sizeof *bench);

  if (!CUV_CHECK (bench != NULL, ": out of memory"))
    return;
  bench->cuda = CUV_CHECK_ON (cuv_overlay_cuda_new (), NULL);
  for (size_t i = 0; i < sizeof bench->text; i++)
    bench->text[i] = cuv_check_below (3) ? 0 : (uint8_t) cuv_check_random ();
  for (size_t i = 0; i < sizeof bench->pictures; i++)
    bench->pictures[i] = (uint8_t) cuv_check_random ();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    bench_case (bench, &cases[i]);
  if (cuv_check_options.cpu)
    bench_list (bench);
  CUV_CHECK_ON (cuv_overlay_cuda_free (bench->cuda), (void) 0);
  cuv_drawing_free (&bench->drawing);
  free (bench);
}
