/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector with C, AVX2 and CUDA, and with different numbers of
 * threads: results and drawings equal those of the C reference, bit for bit. */
#include "hough-versions.h"
#include "cpu/hough-cpu.h"
#include "cuvhooks.h"
#include "hough-expected.h"
#if HAVE_CUDA
#include "hough/hough.h"
#endif

#include <stdlib.h>
#include <string.h>

const char *const hough_methods[] = { "auto", "global", "shared", "gather",
  "ring" };

HoughRun
hough_run_new (const CuvHoughLayout *layout, const CuvCheckVersion *version)
{
  HoughRun self = { .version = *version };

  self.state = CUV_CHECK_ON (
      (void *) cuv_hough_cuda_new (layout), cuv_hough_cpu_new (layout));
  CUV_CHECK (self.state != NULL, ": %s", cuv_check_error ());
  return self;
}

void
hough_run_clear (HoughRun *self)
{
  CUV_CHECK_ON (
      cuv_hough_cuda_free (self->state), cuv_hough_cpu_free (self->state));
}

void
hough_run_submit (void *data)
{
  HoughRun *self = data;

  CUV_CHECK_RUN (cuv_hough_cuda_submit (self->state, &self->frame,
                     &self->params, cuv_check_stream),
      cuv_hough_cpu_run (self->state, &self->frame, &self->params,
          self->version.n_threads, &self->result));
}

bool
hough_run_collect (HoughRun *self)
{
  return CUV_CHECK_RUN (cuv_hough_cuda_collect (self->state, &self->result), 0);
}

/* ---- results ---- */

#if HAVE_CUDA
static void
check_edges_found (const HoughExpected *expected, const HoughRun *run)
{
  const CuvHoughLayout *layout = &expected->layout;
  size_t n = (size_t) layout->width * (size_t) layout->height, wrong = 0;
  uint8_t *map = malloc (n);

  CUV_CHECK (cuv_hough_cuda_get_edges (run->state, map) == 0);
  for (size_t i = 0; i < n; i++)
    wrong += map[i] != expected->map[i];
  CUV_CHECK (wrong == 0, ": %zu of %zu pixels", wrong, n);
  free (map);
}

static void
check_votes_found (const HoughExpected *expected, const HoughRun *run)
{
  size_t n = cuv_hough_n_cells (&expected->layout), wrong = 0;
  uint32_t *votes = malloc (n * sizeof *votes);

  CUV_CHECK (cuv_hough_cuda_get_votes (run->state, votes) == 0);
  for (size_t i = 0; i < n; i++)
    wrong += votes[i] != expected->votes[i];
  CUV_CHECK (wrong == 0, ": %zu of %zu cells", wrong, n);
  free (votes);
}
#endif

/* Compares drawings on copies of the frame. They show the edge map and the
 * accumulator, which results do not contain. */
static void
check_drawn (const HoughExpected *expected, const HoughRun *run,
    const CuvCheckFrame *frame, CuvHoughDraw draw)
{
  CuvCheckFrame found = cuv_check_frame_copy (frame);
  CuvCheckFrame drawn = cuv_check_frame_copy (frame);
  void *memory;
  CuvFrame lent = cuv_check_lend (&found, &memory);

  CUV_CHECK_RUN (
      cuv_hough_cuda_draw (run->state, &lent, draw, cuv_check_stream),
      cuv_hough_cpu_draw (run->state, &lent, draw));
  CUV_CHECK_ON (cuv_check_stream_wait (cuv_check_stream), (void) 0);
  cuv_check_take_back (&found, memory);
  if (draw == CUV_HOUGH_DRAW_EDGES)
    cuv_hough_draw_edges (&drawn.frame, expected->map);
  else
    cuv_hough_draw_votes (&drawn.frame, &expected->layout, expected->votes,
        expected->params.peaks.threshold);
  CUV_CHECK (
      memcmp (found.memory, drawn.memory, found.size) == 0, ": drawn %d", draw);
  cuv_check_frame_free (&found);
  cuv_check_frame_free (&drawn);
}

static void
check_method (const HoughExpected *expected, HoughRun *run,
    const CuvCheckFrame *frame, CuvHoughMethod method)
{
  char name[60];

  run->version.n_threads = (int) cuv_check_below (4);
  snprintf (name, sizeof name, "%s, %s, %d threads", run->version.name,
      hough_methods[method], run->version.n_threads);
  run->params = expected->params;
  run->params.method = method;
  hough_run_submit (run);
  for (int draw = CUV_HOUGH_DRAW_EDGES; draw <= CUV_HOUGH_DRAW_ACCUMULATOR;
       draw++) {
    if ((method == CUV_HOUGH_RING && !cuv_check_options.cuda)
        || cuv_check_below (3) == 0)
      check_drawn (expected, run, frame, (CuvHoughDraw) draw);
  }
  if (!hough_run_collect (run))
    return;
  hough_check_result (expected, &run->result, name);
#if HAVE_CUDA
  if (cuv_check_options.cuda)
    check_edges_found (expected, run);
  if (cuv_check_options.cuda && run->result.method != CUV_HOUGH_RING
      && run->result.line_segments == NULL)
    check_votes_found (expected, run);
#endif
}

static void
check_methods (const HoughExpected *expected, HoughRun *run,
    const CuvCheckFrame *frame, CuvHoughMethod first)
{
  void *memory;

  run->frame = cuv_check_lend (frame, &memory);
  for (int m = first; run->state != NULL && m >= CUV_HOUGH_AUTO; m--)
    check_method (expected, run, frame, (CuvHoughMethod) m);
  cuv_check_device_free (memory);
}

/* ---- random frames ---- */

/* Returns a random frame. Half of the frames are crops of larger ones, so that
 * rows are unaligned. */
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

/* Sets the shared memory per block of the emulated GPU: the default, that of an
 * older GPU, so little that only some rows fit, or so little that none fits. */
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

/* Runs several frames, because no state may carry over from one to the next. */
static void
check_runs (const CuvHoughConfig *config, int n_frames)
{
  HoughExpected expected = { 0 };
  HoughRun runs[CUV_CHECK_MAX_VERSIONS];
  int n_runs = 0;

  if (!hough_expected_init (&expected, config))
    return;
  limit_shared_memory ();
  for (CuvCheckVersion v = { 0 }; cuv_check_next (&v);)
    runs[n_runs++] = hough_run_new (&expected.layout, &v);
  for (int n = 0; n < n_frames; n++) {
    CuvHoughParams params = hough_random_params ();
    const char *format = cuv_check_formats[cuv_check_below (13)];
    CuvCheckFrame frame = random_frame (format, config->width, config->height);

    hough_expected_run (&expected, &frame.frame, &params);
    cuv_check_case (
        "%s %dx%d, kind %d, %d rows, window %g, lines only %d, "
        "source %d, blur %d, norm %d, %d %d, rule %d %d above %u, %d lines",
        format, config->width, config->height, config->kind,
        expected.layout.n_rows, config->window, config->lines_only,
        params.source, params.canny.blur, params.canny.norm, params.canny.low,
        params.canny.high, params.peaks.rule, params.peaks.neighborhood,
        params.peaks.threshold, params.max_lines);
    /* the ring first, while the accumulator still holds the previous frame */
    for (int i = 0; i < n_runs; i++)
      check_methods (&expected, &runs[i], &frame, CUV_HOUGH_RING);
    cuv_check_frame_free (&frame);
  }
  for (int i = 0; i < n_runs; i++)
    hough_run_clear (&runs[i]);
  hough_expected_clear (&expected);
}

static bool
wants_size (HoughSize size)
{
  const bool is_long = size.width + size.height > 16000;

  if (!cuv_check_is_emulated ())
    return cuv_check_below (is_long ? 16 : cuv_check_options.few ? 3 : 1) == 0;
  return !is_long && cuv_check_below (size.width > 200 ? 16 : 4) == 0;
}

CUV_CHECKS (check_versions)
{
  static const HoughSize cuda_sizes[] = { { 129, 65 }, { 257, 96 },
    { 300, 200 }, { 1, 700 }, { 640, 360 }, { CUV_HOUGH_MAX_SIZE, 3 },
    { 2, CUV_HOUGH_MAX_SIZE } };
  const int n_sizes = HOUGH_N_SIZES + (cuv_check_options.cuda ? 7 : 0);

  for (int s = 0; s < n_sizes; s++) {
    HoughSize size =
        s < HOUGH_N_SIZES ? hough_sizes[s] : cuda_sizes[s - HOUGH_N_SIZES];
    const bool is_long = size.width + size.height > 16000;

    for (int i = 0; i < HOUGH_N_CONFIGS; i++) {
      CuvHoughConfig config = hough_config (i, size.width, size.height);

      config.lines_only = (int32_t) cuv_check_below (2);
      if (wants_size (size))
        check_runs (&config, cuv_check_options.few || is_long ? 1 : 3);
    }
  }
}

CUV_CHECKS_CPU (check_extreme_sizes)
{
  static const HoughSize extremes[] = { { CUV_HOUGH_MAX_SIZE, 3 },
    { 1, CUV_HOUGH_MAX_SIZE }, { 3, 3000 }, { 35, 200 } };

  for (int s = 0; s < (cuv_check_options.few ? 2 : 4); s++) {
    int i = 1 + (int) cuv_check_below (HOUGH_N_CONFIGS - 1);
    CuvHoughConfig config =
        hough_config (i, extremes[s].width, extremes[s].height);

    check_runs (&config, 1);
  }
}

#if HAVE_CUDA
/* Checks frames, most of which have the parameters of the one before and come
 * while the GPU is busy with others: kernels are recorded and replayed. */
static void
check_repeated (const CuvHoughConfig *config, CuvHoughMethod method)
{
  static const char *const formats[] = { "NV12", "GRAY8", "RGB" };
  const CuvCheckVersion version = { "CUDA", 0 };
  CuvHoughParams params = hough_random_params ();
  HoughExpected expected = { 0 };
  HoughRun run;
  void *memory = NULL;

  if (!hough_expected_init (&expected, config))
    return;
  run = hough_run_new (&expected.layout, &version);
  for (int n = 0; run.state != NULL && n < 6; n++) {
    CuvCheckFrame frame = random_frame (
        formats[cuv_check_below (3)], config->width, config->height);
    void *before = memory;

    if (n == 4)
      params = hough_random_params ();
    cuv_check_case ("frame %d of %dx%d, window %g, source %d, blur %d", n,
        config->width, config->height, config->window, params.source,
        params.canny.blur);
    hough_expected_run (&expected, &frame.frame, &params);
    cuv_gpu_set_busy (n != 3);
    run.frame = cuv_check_lend (&frame, &memory);
    check_method (&expected, &run, &frame, method);
    cuv_check_device_free (before); /* not earlier: each is elsewhere */
    cuv_check_frame_free (&frame);
  }
  cuv_gpu_set_busy (false);
  cuv_check_device_free (memory);
  hough_run_clear (&run);
  hough_expected_clear (&expected);
}

CUV_CHECKS_CUDA (check_repeats)
{
  for (int i = 0; i < HOUGH_N_CONFIGS; i++) {
    CuvHoughConfig config = hough_config (i, 90, 60);

    config.lines_only = (int32_t) cuv_check_below (2);
    for (int n = 0; n < (cuv_check_options.few ? 1 : 4); n++)
      check_repeated (
          &config, (CuvHoughMethod) cuv_check_below (CUV_HOUGH_RING + 1));
  }
}

/* Returns the bytes of GPU memory for the largest frames of many cameras. */
static size_t
memory_of (bool lines_only)
{
  const CuvHoughConfig config = { CUV_LINES_RHO_THETA, 1920, 1080, 180, 0, -90,
    90, 1, 10, lines_only };
  const size_t before = cuv_cuda_allocated ();
  CuvHoughLayout layout;
  CuvHoughCuda *cuda;
  size_t bytes;

  CUV_CHECK (cuv_hough_layout_init (&layout, &config) == NULL);
  cuda = cuv_hough_cuda_new (&layout);
  CUV_CHECK (cuda != NULL, ": %s", cuv_cuda_error ());
  bytes = cuv_cuda_allocated () - before;
  cuv_hough_cuda_free (cuda);
  cuv_hough_layout_clear (&layout);
  return bytes;
}

CUV_CHECKS_CUDA (check_memory)
{
  const size_t lines = memory_of (true), segments = memory_of (false);

  cuv_check_case ("memory of 1920x1080");
  CUV_CHECK (lines <= 36000000, ": %zu bytes for lines", lines);
  CUV_CHECK (segments <= 99200000, ": %zu bytes for segments", segments);
}
#endif

/* ---- given frames ---- */

/* Checks all versions on a frame, and frees it. In the returned result only
 * numbers are valid. */
static CuvHoughResult
check_picture (const CuvHoughConfig *config, const CuvHoughParams *params,
    CuvCheckFrame frame)
{
  HoughExpected expected = { 0 };

  if (hough_expected_init (&expected, config)) {
    hough_expected_run (&expected, &frame.frame, params);
    for (CuvCheckVersion v = { 0 }; cuv_check_next (&v);) {
      HoughRun run = hough_run_new (&expected.layout, &v);

      check_methods (&expected, &run, &frame,
          cuv_check_is_emulated () ? CUV_HOUGH_AUTO : CUV_HOUGH_RING);
      hough_run_clear (&run);
    }
    hough_expected_clear (&expected);
  }
  cuv_check_frame_free (&frame);
  return expected.result;
}

static void
draw_line (const CuvComponent *grey, int x0, int y0, int x1, int y1)
{
  for (int y = y0 < y1 ? y0 : y1; y <= (y0 < y1 ? y1 : y0); y++) {
    for (int x = x0 < x1 ? x0 : x1; x <= (x0 < x1 ? x1 : x0); x++)
      grey->data[y * grey->stride + x] = 20;
  }
}

/* Draws a spiral that winds inwards through many tiles; only its outer end
 * exceeds the high threshold. */
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

CUV_CHECKS (check_spiral)
{
  const CuvHoughConfig config = { CUV_LINES_RHO_THETA, 400, 140, 30, 0, -90, 90,
    1, 90, 0 };
  const CuvHoughParams params = { .canny = { 0, CUV_CANNY_L1, 50, 100 },
    .peaks = { 50, CUV_PEAKS_CROSS, 3 },
    .max_lines = 100 };
  CuvHoughResult result;

  cuv_check_case ("a spiral");
  result =
      check_picture (&config, &params, spiral (config.width, config.height));
  CUV_CHECK (result.n_edges > 8000, ": %d", (int) result.n_edges);
}

/* Regions are split into segments. */
CUV_CHECKS (check_bars)
{
  for (int degrees = 0; degrees < 180; degrees += 30) {
    cuv_check_case ("a bar at %d degrees", degrees);
    CUV_CHECK (check_picture (&hough_bar_config, &hough_bar_params,
                   hough_bar_frame (degrees, 3 + degrees / 10))
                   .n_segments
        > 0);
  }
}

/* Checks a frame in which one of `every` columns is an edge. */
static CuvHoughResult
check_full (
    const CuvHoughConfig *config, const CuvHoughParams *params, int every)
{
  const int width = config->width, height = config->height;
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  const CuvComponent *grey = &frame.frame.component[0];

  cuv_check_case ("%dx%d, an edge in %d columns, step %g", width, height, every,
      config->rho_step);
  for (int at = 0; at < width * height; at++)
    grey->data[at / width * grey->stride + at % width] =
        at % width % every == 0;
  return check_picture (config, params, frame);
}

/* Cells have more votes than 8 and 16 bits can hold, and there are more lines
 * and segments than are returned. */
CUV_CHECKS (check_limits)
{
  CuvHoughParams params = { .source = CUV_EDGES_INPUT,
    .peaks = { 0, CUV_PEAKS_ALL, 1 },
    .max_lines = CUV_HOUGH_MAX_LINES,
    .segments = 1 };
  CuvHoughConfig config = hough_config (0, 400, 300);
  CuvHoughResult result;

  if (cuv_check_is_emulated ())
    return;
  config.period = 16;
  config.rho_step = 1000;
  CUV_CHECK (check_full (&config, &params, 1).n_votes > 16 * 65536);
  config.rho_step = 1;
  result = check_full (&config, &params, 7);
  CUV_CHECK (result.n_found > CUV_HOUGH_MAX_LINES);
  CUV_CHECK (result.n_segments_found > CUV_HOUGH_MAX_SEGMENTS);
  params.segments = 0;
  config.width = 40;
  config.height = 3000;
  check_full (&config, &params, 1);
}
