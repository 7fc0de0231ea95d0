/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector on the GPU: results and drawings equal those of the C
 * reference, bit for bit. */
#include "config.h"
#include "cuvcheck.h"

#if HAVE_CUDA
#include <stdlib.h>
#include <string.h>
#include "hough-versions.h"
#include "hough/hough.h"

static const char *const methods[] = { "auto", "global", "shared", "gather",
  "ring" };

/* ---- results ---- */

static void
check_edges_found (const HoughExpected *expected, CuvHoughCuda *cuda)
{
  const CuvHoughLayout *layout = &expected->layout;
  size_t n = (size_t) layout->width * (size_t) layout->height, wrong = 0;
  uint8_t *map = malloc (n);

  CUV_CHECK (cuv_hough_cuda_get_edges (cuda, map) == 0);
  for (size_t i = 0; i < n; i++)
    wrong += map[i] != expected->map[i];
  CUV_CHECK (wrong == 0, ": %zu of %zu pixels", wrong, n);
  free (map);
}

static void
check_votes_found (const HoughExpected *expected, CuvHoughCuda *cuda)
{
  size_t n = cuv_hough_n_cells (&expected->layout), wrong = 0;
  uint32_t *votes = malloc (n * sizeof *votes);

  CUV_CHECK (cuv_hough_cuda_get_votes (cuda, votes) == 0);
  for (size_t i = 0; i < n; i++)
    wrong += votes[i] != expected->votes[i];
  CUV_CHECK (wrong == 0, ": %zu of %zu cells", wrong, n);
  free (votes);
}

/* Draws on a copy of the frame. */
static void
check_drawn (const HoughExpected *expected, CuvHoughCuda *cuda,
    const CuvCheckFrame *frame, CuvHoughDraw draw)
{
  CuvCheckFrame found = cuv_check_frame_copy (frame);
  CuvCheckFrame drawn = cuv_check_frame_copy (frame);
  void *memory;
  CuvFrame device = cuv_check_to_device (&found, &memory);

  CUV_CHECK (cuv_hough_cuda_draw (cuda, &device, draw, cuv_check_stream) == 0);
  cuv_check_stream_wait (cuv_check_stream);
  cuv_check_from_device (&found, memory);
  if (draw == CUV_HOUGH_DRAW_EDGES)
    cuv_hough_draw_edges (&drawn.frame, expected->map);
  else
    cuv_hough_draw_votes (&drawn.frame, &expected->layout, expected->votes,
        expected->params.peaks.threshold);
  CUV_CHECK (
      memcmp (found.memory, drawn.memory, found.size) == 0, ": drawn %d", draw);
  cuv_check_device_free (memory);
  cuv_check_frame_free (&found);
  cuv_check_frame_free (&drawn);
}

static void
check_method (const HoughExpected *expected, CuvHoughCuda *cuda,
    const CuvCheckFrame *frame, const CuvFrame *device, CuvHoughMethod method)
{
  CuvHoughParams params = expected->params;
  CuvHoughResult result;

  params.method = method;
  if (!CUV_CHECK (
          cuv_hough_cuda_submit (cuda, device, &params, cuv_check_stream) == 0,
          ": %s", cuv_cuda_error ()))
    return;
  if (cuv_check_below (3) == 0)
    check_drawn (expected, cuda, frame,
        cuv_check_below (2) ? CUV_HOUGH_DRAW_EDGES
                            : CUV_HOUGH_DRAW_ACCUMULATOR);
  if (!CUV_CHECK (cuv_hough_cuda_collect (cuda, &result) == 0, ": %s",
          cuv_cuda_error ()))
    return;
  hough_check_result (expected, &result, methods[method]);
  check_edges_found (expected, cuda);
  if (result.method != CUV_HOUGH_RING && result.line_segments == NULL)
    check_votes_found (expected, cuda);
}

/* Half of the frames are crops of larger ones, so that rows are unaligned. */
static CuvCheckFrame
random_frame (const char *format, int width, int height)
{
  int by = cuv_check_below (2) ? 2 : 0;
  CuvCheckFrame self = cuv_check_frame_new (format, width + 2 * by,
      height + 2 * by,
      cuv_check_below (2) ? CUV_CHECK_TEXTURE
                          : (CuvCheckFill) cuv_check_below (CUV_CHECK_N_FILLS));

  self.frame.width = width;
  self.frame.height = height;
  for (int i = 0; i < self.frame.n_components; i++) {
    CuvComponent *c = &self.frame.component[i];

    c->data += (by >> c->ysub) * c->stride + (by >> c->xsub) * c->step;
  }
  return self;
}

/* Shared memory per block of the emulated GPU: the default, that of an older
 * GPU, or so little that only some rows fit, or none. */
static void
limit_shared_memory (void)
{
  static const char *const bytes[] = { NULL, "65536", "12000", "3000" };
  const char *limit = bytes[cuv_check_below (4)];

  if (limit != NULL)
    setenv ("CUV_EMULATED_SHARED", limit, 1);
  else
    unsetenv ("CUV_EMULATED_SHARED");
}

/* Runs several frames: no state may carry over from one to the next. */
static void
check_config (const CuvHoughConfig *config, int n_frames)
{
  HoughExpected expected = { 0 };
  CuvHoughCuda *cuda;

  if (!hough_expected_init (&expected, config))
    return;
  limit_shared_memory ();
  cuda = cuv_hough_cuda_new (&expected.layout);
  CUV_CHECK (cuda != NULL, ": %s", cuv_cuda_error ());
  for (int i = 0; cuda != NULL && i < n_frames; i++) {
    const char *format = cuv_check_formats[cuv_check_below (13)];
    CuvCheckFrame frame = random_frame (format, config->width, config->height);
    CuvHoughParams params = hough_random_params ();
    void *memory;
    CuvFrame device = cuv_check_to_device (&frame, &memory);

    hough_expected_run (&expected, &frame.frame, &params);
    for (int m = CUV_HOUGH_RING; m >= CUV_HOUGH_AUTO; m--) {
      cuv_check_case ("GPU, %s %dx%d, kind %d, %d rows, window %g, source %d, "
                      "blur %d, rule %d %d above %u, %d lines, %s",
          format, config->width, config->height, config->kind,
          expected.layout.n_rows, config->window, params.source,
          params.canny.blur, params.peaks.rule, params.peaks.neighborhood,
          params.peaks.threshold, params.max_lines, methods[m]);
      check_method (&expected, cuda, &frame, &device, (CuvHoughMethod) m);
    }
    cuv_check_device_free (memory);
    cuv_check_frame_free (&frame);
  }
  cuv_hough_cuda_free (cuda);
  hough_expected_clear (&expected);
}

static void
draw_line (const CuvComponent *grey, int x0, int y0, int x1, int y1)
{
  for (int y = y0 < y1 ? y0 : y1; y <= (y0 < y1 ? y1 : y0); y++) {
    for (int x = x0 < x1 ? x0 : x1; x <= (x0 < x1 ? x1 : x0); x++)
      grey->data[y * grey->stride + x] = 20;
  }
}

/* Winds inwards through many tiles; only the outer end exceeds the high
 * threshold. */
static CuvCheckFrame
spiral (int width, int height)
{
  CuvCheckFrame self =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  const CuvComponent *grey = &self.frame.component[0];

  for (int i = 4; 2 * i + 12 < width && 2 * i + 12 < height; i += 6) {
    int right = width - 1 - i, bottom = height - 1 - i;

    draw_line (grey, i, i, right, i);
    draw_line (grey, right, i, right, bottom);
    draw_line (grey, right, bottom, i, bottom);
    draw_line (grey, i, bottom, i, i + 6);
    draw_line (grey, i, i + 6, i + 6, i + 6);
  }
  memset (grey->data + 4 * grey->stride + 4, 200, 4);
  return self;
}

static void
check_spiral (void)
{
  const CuvHoughConfig config = { CUV_LINES_RHO_THETA, 400, 140, 30, 0, -90, 90,
    1, 90 };
  const CuvHoughParams params = { .canny = { 0, CUV_CANNY_L1, 50, 100 },
    .peaks = { 50, CUV_PEAKS_CROSS, 3 },
    .max_lines = 100 };
  CuvCheckFrame frame = spiral (config.width, config.height);
  HoughExpected expected = { 0 };
  CuvHoughCuda *cuda;
  void *memory;
  CuvFrame device = cuv_check_to_device (&frame, &memory);

  cuv_check_case ("GPU, a spiral");
  if (hough_expected_init (&expected, &config)) {
    hough_expected_run (&expected, &frame.frame, &params);
    CUV_CHECK (
        expected.result.n_edges > 8000, ": %d", (int) expected.result.n_edges);
    cuda = cuv_hough_cuda_new (&expected.layout);
    check_method (&expected, cuda, &frame, &device, CUV_HOUGH_AUTO);
    cuv_hough_cuda_free (cuda);
    hough_expected_clear (&expected);
  }
  cuv_check_device_free (memory);
  cuv_check_frame_free (&frame);
}

/* Regions that are split. */
static void
check_bars (void)
{
  HoughExpected expected = { 0 };
  CuvHoughCuda *cuda;

  if (!hough_expected_init (&expected, &hough_bar_config))
    return;
  cuda = cuv_hough_cuda_new (&expected.layout);
  for (int degrees = 0; degrees < 180; degrees += 30) {
    CuvCheckFrame frame = hough_bar_frame (degrees, 3 + degrees / 10);
    void *memory;
    CuvFrame device = cuv_check_to_device (&frame, &memory);

    cuv_check_case ("GPU, a bar at %d degrees", degrees);
    hough_expected_run (&expected, &frame.frame, &hough_bar_params);
    CUV_CHECK (expected.result.n_segments > 0);
    check_method (&expected, cuda, &frame, &device, CUV_HOUGH_AUTO);
    cuv_check_device_free (memory);
    cuv_check_frame_free (&frame);
  }
  cuv_hough_cuda_free (cuda);
  hough_expected_clear (&expected);
}

CUV_CHECKS_CUDA (check_cuda)
{
  static const HoughSize sizes[] = { { 129, 65 }, { 257, 96 }, { 300, 200 },
    { 1, 700 }, { 640, 360 }, { 16384, 3 }, { 2, 16384 } };
  const int n_sizes = (int) (sizeof sizes / sizeof *sizes);
  for (int size = 0; size < HOUGH_N_SIZES + n_sizes; size++) {
    HoughSize s =
        size < HOUGH_N_SIZES ? hough_sizes[size] : sizes[size - HOUGH_N_SIZES];

    for (int i = 0; i < HOUGH_N_CONFIGS; i++) {
      CuvHoughConfig config = hough_config (i, s.width, s.height);

      bool is_long = s.width + s.height > 16000;
      bool few = cuv_check_options.few || is_long;

      if (few && cuv_check_below (is_long || s.width > 200 ? 16 : 4))
        continue;
      if (is_long && cuv_check_options.few)
        continue;
      check_config (&config, few ? 1 : 3);
    }
  }
  check_spiral ();
  check_bars ();
}

/* ---- times ---- */

typedef struct {
  CuvHoughCuda *cuda;
  CuvFrame frame;
  CuvHoughParams params;
} Bench;

static void
submit (void *data)
{
  Bench *self = data;

  cuv_hough_cuda_submit (
      self->cuda, &self->frame, &self->params, cuv_check_stream);
}

/* Times of all steps, by the GPU's clock. */
static void
report_steps (Bench *self, const char *what)
{
  CuvHoughResult result = { 0 };
  double edges = 0, votes = 0, peaks = 0;
  const int n = 50;

  for (int i = 0; i < n; i++) {
    submit (self);
    cuv_hough_cuda_collect (self->cuda, &result);
    edges += result.edges_us / n;
    votes += result.votes_us / n;
    peaks += result.peaks_us / n;
  }
  printf ("hough cuda, %s, %s: edges %.1f us, list and votes %.1f us, peaks "
          "%.1f us; %d edges, "
          "%.1f M votes, %d peaks\n",
      what, methods[self->params.method], edges, votes, peaks,
      (int) result.n_edges, (double) result.n_votes / 1e6, result.n_found);
}

static void
time_method (Bench *self, const char *what, CuvHoughMethod method)
{
  self->params.method = method;
  cuv_check_report (cuv_check_time_device (submit, self, cuv_check_stream),
      (double) self->frame.width * self->frame.height, 0, "hough cuda, %s, %s",
      what, methods[method]);
  report_steps (self, what);
}

static bool
bench_init (Bench *self, const char *what, const CuvHoughConfig *config)
{
  const char *only = getenv ("CUV_BENCH_SHAPE");
  CuvHoughLayout layout;

  if ((only != NULL && strcmp (only, what) != 0)
      || !CUV_CHECK (cuv_hough_layout_init (&layout, config) == NULL))
    return false;
  self->cuda = cuv_hough_cuda_new (&layout);
  cuv_hough_layout_clear (&layout);
  return CUV_CHECK (self->cuda != NULL, ": %s", cuv_cuda_error ());
}

static void
time_config (Bench *self, const char *what, const CuvHoughConfig *config)
{
  if (!bench_init (self, what, config))
    return;
  time_method (self, what, CUV_HOUGH_SHARED);
  time_method (self, what, CUV_HOUGH_RING);
  time_method (self, what, CUV_HOUGH_GLOBAL);
  cuv_hough_cuda_free (self->cuda);
}

/* As houghlines segments=true: step "peaks" is all of it. */
static void
time_segments (const Bench *picture)
{
  const CuvHoughConfig config = { CUV_LINES_RHO_THETA, picture->frame.width,
    picture->frame.height, 360, 0, -90, 90, 1, 10 };
  Bench self = *picture;

  self.params.canny = (CuvCannyParams){ 1, CUV_CANNY_L1, 20, 40 };
  self.params.peaks.threshold = 0;
  self.params.max_lines = CUV_HOUGH_MAX_LINES;
  self.params.segments = 1;
  self.params.segment.min_length = 10;
  if (!bench_init (&self, "segments", &config))
    return;
  time_method (&self, "segments", CUV_HOUGH_AUTO);
  cuv_hough_cuda_free (self.cuda);
}

static void
bench_picture (const CuvHoughParams *params)
{
  CuvCheckFrame frame = cuv_check_bench_picture ();
  const int w = frame.frame.width, h = frame.frame.height;
  void *memory;
  Bench self = { .frame = cuv_check_to_device (&frame, &memory),
    .params = *params };

  time_config (&self, "180 rows",
      &(CuvHoughConfig){ CUV_LINES_RHO_THETA, w, h, 180, 0, -90, 90, 1, 90 });
  time_config (&self, "181 rows",
      &(CuvHoughConfig){ CUV_LINES_RHO_THETA, w, h, 180, 1, -90, 90, 1, 90 });
  time_config (&self, "181 rows, window 10",
      &(CuvHoughConfig){ CUV_LINES_RHO_THETA, w, h, 180, 1, -90, 90, 1, 10 });
  time_config (&self, "1024 rows",
      &(CuvHoughConfig){ CUV_LINES_RHO_THETA, w, h, 1024, 0, -90, 90, 1, 90 });
  time_config (&self, "PClines",
      &(CuvHoughConfig){ CUV_LINES_PCLINES, w, h, 256, 0, -90, 90, 1, 90 });
  time_config (&self, "PClines, window 10",
      &(CuvHoughConfig){ CUV_LINES_PCLINES, w, h, 256, 0, -90, 90, 1, 10 });
  time_segments (&self);
  cuv_check_device_free (memory);
  cuv_check_frame_free (&frame);
}

static void
bench_frame (const char *what, int w, int h, CuvCheckFill fill,
    const CuvHoughParams *params)
{
  const CuvHoughConfig config = { CUV_LINES_RHO_THETA, w, h, 180, 0, -90, 90, 1,
    90 };
  CuvCheckFrame frame = cuv_check_frame_new ("GRAY8", w, h, fill);
  void *memory;
  Bench self = { .frame = cuv_check_to_device (&frame, &memory),
    .params = *params };

  if (bench_init (&self, what, &config)) {
    time_method (&self, what, CUV_HOUGH_AUTO);
    cuv_hough_cuda_free (self.cuda);
  }
  cuv_check_device_free (memory);
  cuv_check_frame_free (&frame);
}

CUV_BENCH_CUDA (bench_hough_cuda)
{
  const CuvHoughParams params = { .canny = { 0, CUV_CANNY_L1, 50, 100 },
    .peaks = { 200, CUV_PEAKS_SQUARE, 3 },
    .max_lines = 100 };
  CuvHoughParams map = params, all = params, picture = params;
  const char *limits = getenv ("CUV_BENCH_CANNY"); /* LOW,HIGH */
  if (limits != NULL) {
    int n = sscanf (limits, "%d,%d", &picture.canny.low, &picture.canny.high);

    CUV_CHECK (n == 2, ": CUV_BENCH_CANNY=%s", limits);
  }
  bench_picture (&picture);
  map.source = all.source = CUV_EDGES_INPUT;
  all.peaks = (CuvPeakParams){ 1, CUV_PEAKS_ALL, 3 };
  bench_frame ("no edges", 1920, 1080, CUV_CHECK_BLACK, &params);
  bench_frame ("all edges", 1920, 1080, CUV_CHECK_WHITE, &map);
  bench_frame ("all edges, all cells", 1920, 1080, CUV_CHECK_WHITE, &all);
  bench_frame ("1 pixel wide", 1, 8192, CUV_CHECK_WHITE, &map);
  bench_frame ("8K", 7680, 4320, CUV_CHECK_TEXTURE, &params);
  bench_frame ("noise", 1920, 1080, CUV_CHECK_NOISE, &params);
}

#endif
