/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark of the Hough transform: the reference, and all steps together on
 * the CPU or on the GPU. */
#include "hough-inputs.h"
#include "hough-versions.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1920, HEIGHT = 1080 };
static const double pixels = (double) WIDTH * HEIGHT;
static const CuvHoughConfig config = { CUV_LINES_RHO_THETA, WIDTH, HEIGHT, 180,
  0, -90, 90, 1, 90, 0 };
static const CuvCannyParams canny_params = { 0, CUV_CANNY_L1, 50, 100 };

/* ---- the reference ---- */

typedef struct {
  CuvCheckFrame frame;
  CuvCanny *canny;
  CuvHoughLayout layout;
  CuvEdgeList list;
  uint32_t *votes;
} Reference;

static void
find_edges (void *data)
{
  Reference *self = data;

  cuv_canny_run (self->canny, &self->frame.frame, &canny_params);
}

static void
vote (void *data)
{
  Reference *self = data;

  cuv_hough_vote (&self->layout, &self->list, self->votes);
}

static void
bench_reference (void)
{
  Reference self = { .frame = cuv_check_frame_new (
                         "GRAY8", WIDTH, HEIGHT, CUV_CHECK_TEXTURE),
    .canny = cuv_canny_new (WIDTH, HEIGHT) };
  uint32_t *list = malloc ((size_t) pixels * sizeof *list);

  cuv_check_bench (find_edges, &self, pixels, 0, "canny c");
  self.list = (CuvEdgeList){ list, NULL,
    cuv_hough_list_edges (self.canny->edges, WIDTH, HEIGHT, WIDTH, list) };
  cuv_hough_layout_init (&self.layout, &config);
  self.votes = malloc (cuv_hough_n_cells (&self.layout) * sizeof *self.votes);
  cuv_check_bench (vote, &self, pixels, 0, "hough votes c");
  cuv_hough_layout_clear (&self.layout);
  free (self.votes);
  free (list);
  cuv_canny_free (self.canny);
  cuv_check_frame_free (&self.frame);
}

/* ---- all steps ---- */

/* Prints the mean times of the steps, by the clock of the processor. */
static void
report_steps (HoughRun *self, const char *what)
{
  const int n = cuv_check_options.few ? 1 : 50;
  double edges = 0, votes = 0, peaks = 0;

  for (int i = 0; i < n; i++) {
    hough_run_submit (self);
    hough_run_collect (self);
    edges += (double) self->result.edges_us / n;
    votes += (double) self->result.votes_us / n;
    peaks += (double) self->result.peaks_us / n;
  }
  printf ("%s, %s: edges %.1f us, list and votes %.1f us, peaks %.1f us; %d "
          "edges, %.1f M votes, %d peaks\n",
      what, hough_methods[self->params.method], edges, votes, peaks,
      (int) self->result.n_edges, (double) self->result.n_votes / 1e6,
      self->result.n_found);
}

/* Times the methods, unless CUV_BENCH_SHAPE names another shape. */
static void
time_methods (const char *what, const CuvHoughConfig *shape,
    const CuvFrame *frame, const CuvHoughParams *params,
    const CuvHoughMethod *methods, int n)
{
  CuvHoughLayout layout;
  HoughRun self;

  if (!cuv_check_wants (what)
      || !CUV_CHECK (cuv_hough_layout_init (&layout, shape) == NULL))
    return;
  self = hough_run_new (&layout, &(CuvCheckVersion){ 0 });
  self.frame = *frame;
  self.params = *params;
  for (int i = 0; i < n && self.state != NULL; i++) {
    self.params.method = methods[i];
    cuv_check_bench (hough_run_submit, &self,
        (double) frame->width * frame->height, 0, "hough %s, %s, %s",
        CUV_CHECK_ON ("cuda", "cpu"), what, hough_methods[methods[i]]);
    report_steps (&self, what);
  }
  hough_run_clear (&self);
  cuv_hough_layout_clear (&layout);
}

static void
bench_frame (const char *what, const char *format, int w, int h,
    CuvCheckFill fill, const CuvHoughParams *params)
{
  const CuvHoughConfig shape = { CUV_LINES_RHO_THETA, w, h, 180, 0, -90, 90, 1,
    90, 0 };
  CuvCheckFrame host = cuv_check_frame_new (format, w, h, fill);
  void *memory;
  const CuvFrame frame = cuv_check_lend (&host, &memory);

  time_methods (
      what, &shape, &frame, params, &(CuvHoughMethod){ CUV_HOUGH_AUTO }, 1);
  cuv_check_device_free (memory);
  cuv_check_frame_free (&host);
}

CUV_BENCH_CPU (bench_hough)
{
  const CuvHoughParams plain = { .canny = canny_params,
    .peaks = { 200, CUV_PEAKS_CROSS, 1 },
    .max_lines = 100,
    .segment = { 30, 5 } };
  CuvHoughParams segments = plain, l2 = plain, blur = plain;
  static const char *const formats[] = { "GRAY8", "YUY2", "RGB", "BGRx" };

  segments.segments = 1;
  l2.canny.norm = CUV_CANNY_L2;
  blur.canny.blur = 1;
  bench_reference ();
  for (int i = 0; i < 4; i++)
    bench_frame (
        formats[i], formats[i], WIDTH, HEIGHT, CUV_CHECK_TEXTURE, &plain);
  bench_frame (
      "GRAY8, segments", "GRAY8", WIDTH, HEIGHT, CUV_CHECK_TEXTURE, &segments);
  bench_frame ("GRAY8, l2", "GRAY8", WIDTH, HEIGHT, CUV_CHECK_TEXTURE, &l2);
  bench_frame ("GRAY8, blur", "GRAY8", WIDTH, HEIGHT, CUV_CHECK_TEXTURE, &blur);
}

/* ---- the GPU ---- */

/* Times what houghlines segments=true does: step "peaks" includes the segments.
 */
static void
time_segments (const CuvFrame *frame, const CuvHoughParams *params)
{
  const CuvHoughConfig shape = { CUV_LINES_RHO_THETA, frame->width,
    frame->height, 360, 0, -90, 90, 1, 10, 0 };
  CuvHoughParams segments = *params;

  segments.canny = (CuvCannyParams){ 1, CUV_CANNY_L1, 20, 40 };
  segments.peaks.threshold = 0;
  segments.max_lines = CUV_HOUGH_MAX_LINES;
  segments.segments = 1;
  segments.segment.min_length = 10;
  time_methods ("segments", &shape, frame, &segments,
      &(CuvHoughMethod){ CUV_HOUGH_AUTO }, 1);
}

static void
bench_picture (const CuvHoughParams *params)
{
  static const CuvHoughMethod methods[] = { CUV_HOUGH_SHARED, CUV_HOUGH_RING,
    CUV_HOUGH_GLOBAL };
  static const struct {
    const char *what;
    CuvLineKind kind;
    int period, inclusive, window;
  } shapes[] = {
    { "180 rows", CUV_LINES_RHO_THETA, 180, 0, 90 },
    { "181 rows", CUV_LINES_RHO_THETA, 180, 1, 90 },
    { "181 rows, window 10", CUV_LINES_RHO_THETA, 180, 1, 10 },
    { "1024 rows", CUV_LINES_RHO_THETA, 1024, 0, 90 },
    { "PClines", CUV_LINES_PCLINES, 256, 0, 90 },
    { "PClines, window 10", CUV_LINES_PCLINES, 256, 0, 10 },
  };
  CuvCheckFrame host = cuv_check_bench_picture ();
  void *memory;
  const CuvFrame frame = cuv_check_lend (&host, &memory);

  for (int i = 0; i < 6; i++)
    time_methods (shapes[i].what,
        &(CuvHoughConfig){ shapes[i].kind, frame.width, frame.height,
            shapes[i].period, shapes[i].inclusive, -90, 90, 1, shapes[i].window,
            0 },
        &frame, params, methods, 3);
  time_segments (&frame, params);
  cuv_check_device_free (memory);
  cuv_check_frame_free (&host);
}

CUV_BENCH_CUDA (bench_hough_cuda)
{
  const CuvHoughParams params = { .canny = canny_params,
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
  bench_frame ("no edges", "GRAY8", WIDTH, HEIGHT, CUV_CHECK_BLACK, &params);
  bench_frame ("all edges", "GRAY8", WIDTH, HEIGHT, CUV_CHECK_WHITE, &map);
  bench_frame (
      "all edges, all cells", "GRAY8", WIDTH, HEIGHT, CUV_CHECK_WHITE, &all);
  bench_frame ("1 pixel wide", "GRAY8", 1, 8192, CUV_CHECK_WHITE, &map);
  bench_frame ("8K", "GRAY8", 7680, 4320, CUV_CHECK_TEXTURE, &params);
  bench_frame ("noise", "GRAY8", WIDTH, HEIGHT, CUV_CHECK_NOISE, &params);
}
