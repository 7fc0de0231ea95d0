/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames as B, G, R: the C reference against the definition of Y, Cb and Cr in
 * double precision, and the GPU against the C reference. */
#include "config.h"
#include "cuvcheck.h"
#include "bgr.h"
#include "cuvrgb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#if HAVE_CUDA
#include "web/web.h"
#endif

static const struct {
  double kr, kb;
  bool limited;
} colours[] = { { 0.299, 0.114, true }, { 0.2126, 0.0722, true },
  { 0.2627, 0.0593, true }, { 0.299, 0.114, false } };

#define N_COLOURS (sizeof colours / sizeof *colours)

static CuvRgbMatrix
matrix_of (size_t i)
{
  return cuv_rgb_matrix (colours[i].kr, colours[i].kb, colours[i].limited);
}

/* ---- the reference ---- */

/* Checks colours that were converted to Y, Cb and Cr, as in cameras, and back.
 */
static void
check_colour (size_t i, double r, double g, double b)
{
  const double kr = colours[i].kr, kb = colours[i].kb;
  const double y = kr * r + (1 - kr - kb) * g + kb * b;
  const double range_y = colours[i].limited ? 219 / 255.0 : 1;
  const double range_c = colours[i].limited ? 224 / 255.0 : 1;
  uint8_t yuv[3] = { (uint8_t) lround (
                         y * range_y + (colours[i].limited ? 16 : 0)),
    (uint8_t) fmin (255, round ((b - y) / (2 - 2 * kb) * range_c + 128)),
    (uint8_t) fmin (255, round ((r - y) / (2 - 2 * kr) * range_c + 128)) };
  CuvFrame frame = { CUV_MODEL_YUV, 1, 1, 3,
    { { &yuv[0], 1, 1, 0, 0 }, { &yuv[1], 1, 1, 0, 0 },
        { &yuv[2], 1, 1, 0, 0 } } };
  CuvRgbMatrix matrix = matrix_of (i);
  uint8_t bgr[3];

  cuv_web_bgr (&frame, &matrix, bgr);
  CUV_CHECK (fabs (bgr[2] - r) <= 2 && fabs (bgr[1] - g) <= 2
          && fabs (bgr[0] - b) <= 2,
      ": %g %g %g became %d %d %d", r, g, b, bgr[2], bgr[1], bgr[0]);
}

CUV_CHECKS_CPU (check_colours)
{
  for (size_t i = 0; i < N_COLOURS; i++) {
    cuv_check_case ("colours %d", (int) i);
    for (int n = 0; n < 8; n++)
      check_colour (i, n & 1 ? 255 : 0, n & 2 ? 255 : 0, n & 4 ? 255 : 0);
    for (int n = 0; n < 500; n++)
      check_colour (i, cuv_check_below (256), cuv_check_below (256),
          cuv_check_below (256));
  }
}

/* ---- the GPU ---- */

#if HAVE_CUDA

static void
check_frame (
    CuvWebCuda *cuda, const char *format, int width, int height, size_t i)
{
  CuvCheckFrame host =
      cuv_check_frame_new (format, width, height, CUV_CHECK_NOISE);
  size_t size = 3 * (size_t) width * (size_t) height;
  uint8_t *expected = malloc (size), *found = calloc (1, size);
  CuvRgbMatrix matrix = matrix_of (i);
  void *memory;
  CuvFrame device = cuv_check_to_device (&host, &memory);
  uint8_t *picture =
      cuv_web_cuda_submit (cuda, &device, &matrix, cuv_check_stream);

  cuv_check_case ("%s %dx%d", format, width, height);
  if (CUV_CHECK (picture != NULL, ": %s", cuv_cuda_error ())) {
    cuv_check_stream_wait (cuv_check_stream);
    cuv_check_download (found, picture, size);
    cuv_web_bgr (&host.frame, &matrix, expected);
    CUV_CHECK (memcmp (found, expected, size) == 0, ": pixels differ");
  }
  cuv_check_device_free (memory);
  cuv_check_frame_free (&host);
  free (expected);
  free (found);
}

CUV_CHECKS_CUDA (check_cuda)
{
  static const int sizes[][2] = { { 1, 1 }, { 3, 3 }, { 17, 33 }, { 130, 20 },
    { 1919, 1079 } };
  size_t before = cuv_cuda_allocated ();
  CuvWebCuda *cuda = cuv_web_cuda_new ();
  size_t n = cuv_check_options.few ? 4 : 5;

  for (const char *const *format = cuv_check_formats; *format; format++) {
    if (strcmp (*format, "GRAY8") == 0)
      continue;
    for (size_t i = 0; i < n; i++)
      check_frame (cuda, *format, sizes[i][0], sizes[i][1], i % N_COLOURS);
  }
  cuv_web_cuda_free (cuda);
  CUV_CHECK (cuv_cuda_allocated () == before, ": memory leaks");
}

typedef struct {
  CuvWebCuda *cuda;
  CuvFrame frame;
  CuvRgbMatrix matrix;
} Bench;

static void
convert (void *data)
{
  Bench *bench = data;

  cuv_web_cuda_submit (
      bench->cuda, &bench->frame, &bench->matrix, cuv_check_stream);
}

static void
bench_cuda (const char *format, double bytes_per_pixel)
{
  CuvCheckFrame host =
      cuv_check_frame_new (format, 1920, 1080, CUV_CHECK_NOISE);
  void *memory;
  Bench bench = { cuv_web_cuda_new (), cuv_check_to_device (&host, &memory),
    matrix_of (1) };

  cuv_check_report (cuv_check_time_stream (convert, &bench, cuv_check_stream),
      1920 * 1080, 1920 * 1080 * (bytes_per_pixel + 3), "web-cuda-%s", format);
  cuv_check_device_free (memory);
  cuv_web_cuda_free (bench.cuda);
  cuv_check_frame_free (&host);
}

CUV_BENCH_CUDA (bench_formats)
{
  bench_cuda ("NV12", 1.5);
  bench_cuda ("BGRx", 4);
}

#endif
