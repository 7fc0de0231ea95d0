/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector on the GPU: edges, votes, peaks and segments are those of
 * the C reference, bit for bit. */
#include "config.h"
#include "hough-cuda.h"

#include <stdlib.h>
#include <string.h>
#include "canny.h"
#include "cuvcheck.h"
#include "hough.h"
#include "hough/hough.h"

#if HAVE_CUDA

/* What the C reference finds. */
typedef struct {
  CuvCanny *canny;
  uint32_t *pixels, *votes;
  uint16_t *groups;
  uint64_t n_votes;
  CuvEdgeList list;
  CuvHoughPeak *peaks;
  CuvPeakList best;
} Expected;

static void
find_edges (Expected *self, const CuvHoughSpace *space, const CuvFrame *frame,
    const CuvHoughParams *params)
{
  size_t n = (size_t) frame->width * (size_t) frame->height;

  self->canny = cuv_canny_new (frame->width, frame->height);
  self->canny->width = frame->width;
  self->canny->height = frame->height;
  if (params->source == CUV_EDGES_CANNY)
    cuv_canny_run (self->canny, frame, &params->canny);
  for (size_t i = 0; params->source == CUV_EDGES_INPUT && i < n; i++)
    self->canny->edges[i] =
        cuv_frame_grey (frame, (int) (i % (size_t) frame->width),
            (int) (i / (size_t) frame->width))
            != 0
        ? 255
        : 0;
  self->pixels = malloc (n * sizeof *self->pixels);
  self->groups = malloc (n * sizeof *self->groups);
  self->list = (CuvEdgeList){ self->pixels, NULL,
    cuv_hough_list_edges (self->canny->edges, frame->width, frame->height,
        frame->width, self->pixels) };
  if (params->source == CUV_EDGES_CANNY && space->shape.window < 90) {
    cuv_hough_list_groups (
        space, self->canny, self->pixels, self->list.n, self->groups);
    self->list.groups = self->groups;
  }
}

static void
find_all (Expected *self, const CuvHoughSpace *space, const CuvFrame *frame,
    const CuvHoughParams *params)
{
  size_t n = cuv_hough_n_cells (space);

  find_edges (self, space, frame, params);
  self->votes = malloc (n * sizeof *self->votes);
  self->n_votes = cuv_hough_vote (space, &self->list, self->votes);
  self->peaks = malloc ((size_t) params->max_lines * sizeof *self->peaks);
  self->best = (CuvPeakList){ self->peaks, (size_t) params->max_lines, 0 };
  cuv_hough_peaks (space, self->votes, &params->peaks, &self->best);
}

static void
clear (Expected *self)
{
  cuv_canny_free (self->canny);
  free (self->pixels);
  free (self->groups);
  free (self->votes);
  free (self->peaks);
}

static void
check_edges (CuvHoughCuda *cuda, const Expected *expected)
{
  const CuvCanny *canny = expected->canny;
  size_t n = (size_t) canny->width * (size_t) canny->height, wrong = 0;
  uint8_t *map = malloc (n);

  CUV_CHECK (cuv_hough_cuda_get_edges (cuda, map) == 0);
  for (size_t i = 0; i < n; i++)
    wrong += map[i] != canny->edges[i];
  CUV_CHECK (
      wrong == 0, ": %zu of %zu pixels, %zu edges", wrong, n, expected->list.n);
  free (map);
}

static void
check_votes (
    CuvHoughCuda *cuda, const CuvHoughSpace *space, const Expected *expected)
{
  size_t n = cuv_hough_n_cells (space), wrong = 0;
  uint32_t *votes = malloc (n * sizeof *votes);

  CUV_CHECK (cuv_hough_cuda_get_votes (cuda, votes) == 0);
  for (size_t i = 0; i < n; i++)
    wrong += votes[i] != expected->votes[i];
  CUV_CHECK (wrong == 0, ": %zu of %zu cells", wrong, n);
  free (votes);
}

static void
check_segments (const CuvHoughSpace *space, const CuvHoughParams *params,
    const CuvHoughResult *result, const Expected *expected)
{
  CuvHoughSegment *segments =
      malloc (CUV_HOUGH_MAX_SEGMENTS * sizeof *segments);
  size_t n = cuv_hough_segments (space, expected->canny->edges, expected->peaks,
      (size_t) result->n_peaks, &params->segment, segments,
      CUV_HOUGH_MAX_SEGMENTS);

  CUV_CHECK (result->n_segments_found == (int) n, ": %d of %zu",
      result->n_segments_found, n);
  if (n > CUV_HOUGH_MAX_SEGMENTS)
    n = CUV_HOUGH_MAX_SEGMENTS;
  CUV_CHECK (result->n_segments == (int) n);
  CUV_CHECK (memcmp (result->segments, segments, n * sizeof *segments) == 0);
  free (segments);
}

static void
check_result (CuvHoughCuda *cuda, const CuvHoughSpace *space,
    const CuvHoughParams *params, const Expected *expected)
{
  const CuvPeakList *best = &expected->best;
  CuvHoughResult result;
  size_t n = best->n < best->max ? best->n : best->max;

  CUV_CHECK (
      cuv_hough_cuda_collect (cuda, &result) == 0, ": %s", cuv_cuda_error ());
  CUV_CHECK (result.n_edges == (int64_t) expected->list.n, ": %d of %zu",
      (int) result.n_edges, expected->list.n);
  CUV_CHECK (result.n_votes == (int64_t) expected->n_votes, ": %d of %d",
      (int) result.n_votes, (int) expected->n_votes);
  CUV_CHECK (result.n_found == (int) best->n, ": %d of %zu peaks",
      result.n_found, best->n);
  CUV_CHECK (result.n_peaks == (int) n);
  CUV_CHECK (memcmp (result.peaks, best->peaks, n * sizeof *best->peaks) == 0);
  check_edges (cuda, expected);
  if (result.method != CUV_HOUGH_RING)
    check_votes (cuda, space, expected);
  if (params->segments)
    check_segments (space, params, &result, expected);
}

static const char *const methods[] = { "auto", "global", "shared", "gather",
  "ring" };

/* A frame, by all methods that give the same. */
static void
check_frame (const CuvCheckFrame *frame, const CuvHoughShape *shape,
    CuvHoughParams *params, void *stream)
{
  CuvHoughSpace space;
  CuvHoughCuda *cuda;
  Expected expected = { 0 };
  void *memory;
  CuvFrame device = cuv_check_to_device (frame, &memory);

  CUV_CHECK (cuv_hough_space_init (&space, shape) == NULL);
  find_all (&expected, &space, &frame->frame, params);
  cuda = cuv_hough_cuda_new (&space);
  CUV_CHECK (cuda != NULL, ": %s", cuv_cuda_error ());
  for (int m = 0; cuda != NULL && m < 5; m++) {
    params->method = (CuvHoughMethod) m;
    if (m == CUV_HOUGH_GATHER && expected.list.groups != NULL)
      continue;
    cuv_check_case ("%dx%d, %s, kind %d, %d rows from %g to %g degrees, step "
                    "%g, window %g, Canny %d %d %d %d, source %d, rule %d %d, "
                    "above %u, %d lines",
        shape->width, shape->height, methods[m], shape->kind, space.n_rows,
        shape->theta_min, shape->theta_max, shape->rho_step, shape->window,
        params->canny.blur, params->canny.norm, params->canny.low,
        params->canny.high, params->source, params->peaks.rule,
        params->peaks.neighborhood, params->peaks.threshold, params->max_lines);
    CUV_CHECK (cuv_hough_cuda_submit (cuda, &device, params, stream) == 0,
        ": %s", cuv_cuda_error ());
    check_result (cuda, &space, params, &expected);
  }
  cuv_hough_cuda_free (cuda);
  cuv_check_device_free (memory);
  cuv_hough_space_clear (&space);
  clear (&expected);
}

static CuvHoughShape
random_shape (int width, int height)
{
  static const double windows[] = { 90, 90, 1, 10, 33.3 };
  CuvHoughShape shape = { cuv_check_below (3) == 0 ? CUV_LINES_PCLINES
                                                   : CUV_LINES_RHO_THETA,
    width, height, 180, 0, -90, 90, 1, windows[cuv_check_below (5)] };

  if (cuv_check_below (3) == 0)
    shape.period = 2 + 2 * (int) cuv_check_below (150);
  if (cuv_check_below (3) == 0)
    shape.rho_step = 1 + cuv_check_below (300) / 100.;
  if (cuv_check_below (4) == 0) {
    shape.theta_min = (int) cuv_check_below (170) - 90;
    shape.theta_max = shape.theta_min + 10 + cuv_check_below (160);
  } else {
    shape.inclusive = cuv_check_below (4) == 0;
  }
  return shape;
}

static CuvHoughParams
random_params (void)
{
  CuvHoughParams params = {
    .source = cuv_check_below (4) == 0 ? CUV_EDGES_INPUT : CUV_EDGES_CANNY,
    .canny = { .blur = cuv_check_below (2),
        .norm = cuv_check_below (2) ? CUV_CANNY_L1 : CUV_CANNY_L2,
        .low = (int) cuv_check_below (200) },
    .peaks = { .threshold = 1 + cuv_check_below (30),
        .rule = (CuvPeakRule) cuv_check_below (3),
        .neighborhood = 3 + 2 * (int) cuv_check_below (4) },
    .max_lines = 1 + (int) cuv_check_below (cuv_check_below (4096) + 1)
  };

  params.canny.high = params.canny.low + (int) cuv_check_below (300);
  return params;
}

static const char *
random_format (void)
{
  uint32_t n = 0;

  while (cuv_check_formats[n] != NULL)
    n++;
  return cuv_check_formats[cuv_check_below (n)];
}

void
hough_check_cuda (void)
{
  static const int sizes[][2] = { { 1, 1 }, { 2, 1 }, { 1, 9 }, { 3, 3 },
    { 17, 33 }, { 64, 48 }, { 161, 91 }, { 129, 65 }, { 300, 200 }, { 1, 2000 },
    { 640, 360 } };
  void *stream = cuv_check_stream_new ();

  for (int run = 0; run < (cuv_check_options.few ? 1 : 6); run++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      int width = sizes[i][0], height = sizes[i][1];
      const char *format = random_format ();
      CuvCheckFrame frame = cuv_check_frame_new (format, width, height,
          cuv_check_below (2) ? CUV_CHECK_TEXTURE
                              : (CuvCheckFill) cuv_check_below (4));
      CuvHoughShape shape = random_shape (width, height);
      CuvHoughParams params = random_params ();

      if (cuv_check_options.few && width > 200)
        shape.period = 30;
      check_frame (&frame, &shape, &params, stream);
      cuv_check_frame_free (&frame);
    }
  }
  cuv_check_stream_free (stream);
}

/* ---- times ---- */

typedef struct {
  CuvHoughCuda *cuda;
  CuvFrame frame;
  CuvHoughParams params;
  void *stream;
} Bench;

static void
submit (void *data)
{
  Bench *self = data;

  cuv_hough_cuda_submit (self->cuda, &self->frame, &self->params, self->stream);
}

static void
time_shape (Bench *self, const char *name, const CuvHoughShape *shape)
{
  CuvHoughSpace space;
  CuvHoughResult result = { 0 };
  float edges[100], votes[100], peaks[100];
  double whole;

  if (getenv ("CUV_BENCH_SHAPE") != NULL
      && strcmp (getenv ("CUV_BENCH_SHAPE"), name) != 0)
    return;
  cuv_hough_space_init (&space, shape);
  self->cuda = cuv_hough_cuda_new (&space);
  for (int i = 0; i < 4; i++) {
    int m = "\2\4\1\3"[i];

    self->params.method = (CuvHoughMethod) m;
    if (m == CUV_HOUGH_GATHER && shape->window < 90)
      continue;
    whole = cuv_check_time_device (submit, self, self->stream);
    (void) edges, (void) votes, (void) peaks;
    float e = 0, v = 0, p = 0;
    for (int n = 0; n < 50; n++) {
      submit (self);
      cuv_hough_cuda_collect (self->cuda, &result);
      e += result.edges_us / 50;
      v += result.votes_us / 50;
      p += result.peaks_us / 50;
    }
    printf ("%s, %s: %.1f us; edges %.1f, list and votes %.1f, peaks %.1f; %d "
            "edges, %.1f M votes, %d peaks, method %d\n",
        name, methods[m], whole, e, v, p, (int) result.n_edges,
        result.n_votes / 1e6, result.n_found, result.method);
  }
  cuv_hough_cuda_free (self->cuda);
  cuv_hough_space_clear (&space);
}

void
hough_bench_cuda (void)
{
  const char *path = getenv ("CUV_BENCH_PICTURE");
  int w = 1920, h = 1080;
  CuvCheckFrame frame;
  uint8_t *pixels = path != NULL ? cuv_check_read_pgm (path, &w, &h) : NULL;
  void *memory;
  Bench self = { .params = { .canny = { 0, CUV_CANNY_L1, 50, 100 },
                     .peaks = { 200, CUV_PEAKS_SQUARE, 3 },
                     .max_lines = 100 } };

  frame = cuv_check_frame_new ("GRAY8", w, h, CUV_CHECK_TEXTURE);
  for (int y = 0; pixels != NULL && y < h; y++)
    memcpy (frame.frame.component[0].data
            + (ptrdiff_t) y * frame.frame.component[0].stride,
        pixels + (size_t) y * (size_t) w, (size_t) w);
  self.stream = cuv_check_stream_new ();
  self.frame = cuv_check_to_device (&frame, &memory);
  time_shape (&self, "180 rows",
      &(CuvHoughShape){ CUV_LINES_RHO_THETA, w, h, 180, 0, -90, 90, 1, 90 });
  time_shape (&self, "181 rows",
      &(CuvHoughShape){ CUV_LINES_RHO_THETA, w, h, 180, 1, -90, 90, 1, 90 });
  time_shape (&self, "181 rows, window 10",
      &(CuvHoughShape){ CUV_LINES_RHO_THETA, w, h, 180, 1, -90, 90, 1, 10 });
  time_shape (&self, "1024 rows",
      &(CuvHoughShape){ CUV_LINES_RHO_THETA, w, h, 1024, 0, -90, 90, 1, 90 });
  time_shape (&self, "PClines",
      &(CuvHoughShape){ CUV_LINES_PCLINES, w, h, 256, 0, -90, 90, 1, 90 });
  time_shape (&self, "PClines, window 10",
      &(CuvHoughShape){ CUV_LINES_PCLINES, w, h, 256, 0, -90, 90, 1, 10 });
  cuv_check_device_free (memory);
  cuv_check_stream_free (self.stream);
  cuv_check_frame_free (&frame);
  free (pixels);
}

#else

void
hough_check_cuda (void)
{
}

void
hough_bench_cuda (void)
{
}

#endif
