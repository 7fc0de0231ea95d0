/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark of the Hough transform on the CPU: the reference, and all steps
 * together. */
#include "cpu/hough-cpu.h"
#include "hough-inputs.h"
#include "cuvcheck.h"

#include <stdlib.h>

enum { WIDTH = 1920, HEIGHT = 1080 };
static const double pixels = (double) WIDTH * HEIGHT;
static const CuvHoughConfig config = { CUV_LINES_RHO_THETA, WIDTH, HEIGHT, 180,
  0, -90, 90, 1, 90 };
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

  cuv_check_report (cuv_check_time (find_edges, &self), pixels, 0, "canny c");
  self.list = (CuvEdgeList){ list, NULL,
    cuv_hough_list_edges (self.canny->edges, WIDTH, HEIGHT, WIDTH, list) };
  cuv_hough_layout_init (&self.layout, &config);
  self.votes = malloc (cuv_hough_n_cells (&self.layout) * sizeof *self.votes);
  cuv_check_report (cuv_check_time (vote, &self), pixels, 0, "hough votes c");
  cuv_hough_layout_clear (&self.layout);
  free (self.votes);
  free (list);
  cuv_canny_free (self.canny);
  cuv_check_frame_free (&self.frame);
}

/* ---- a run ---- */

typedef struct {
  CuvCheckFrame frame;
  CuvHoughCpu *cpu;
  CuvHoughParams params;
  CuvHoughResult result;
} Run;

static void
run (void *data)
{
  Run *self = data;

  cuv_hough_cpu_run (
      self->cpu, &self->frame.frame, &self->params, 0, &self->result);
}

static void
bench_run (const char *format, bool blur, CuvCannyNorm norm, bool segments)
{
  Run self = { .frame = cuv_check_frame_new (
                   format, WIDTH, HEIGHT, CUV_CHECK_TEXTURE),
    .params = { .canny = canny_params,
        .peaks = { 200, CUV_PEAKS_CROSS, 1 },
        .max_lines = 100,
        .segments = segments,
        .segment = { 30, 5 } } };
  CuvHoughLayout layout;
  double us;

  self.params.canny.blur = blur;
  self.params.canny.norm = norm;
  cuv_hough_layout_init (&layout, &config);
  self.cpu = cuv_hough_cpu_new (&layout);
  us = cuv_check_time (run, &self);
  cuv_check_report (us, pixels, 0,
      "%s%s%s%s, edges %.0f votes %.0f peaks %.0f us", format,
      blur ? ", blur" : "", norm == CUV_CANNY_L2 ? ", l2" : "",
      segments ? ", segments" : "", (double) self.result.edges_us,
      (double) self.result.votes_us, (double) self.result.peaks_us);
  cuv_hough_cpu_free (self.cpu);
  cuv_hough_layout_clear (&layout);
  cuv_check_frame_free (&self.frame);
}

CUV_BENCH_CPU (bench_hough)
{
  bench_reference ();
  bench_run ("GRAY8", false, CUV_CANNY_L1, false);
  bench_run ("GRAY8", false, CUV_CANNY_L1, true);
  bench_run ("GRAY8", false, CUV_CANNY_L2, false);
  bench_run ("GRAY8", true, CUV_CANNY_L1, false);
  bench_run ("YUY2", false, CUV_CANNY_L1, false);
  bench_run ("RGB", false, CUV_CANNY_L1, false);
  bench_run ("BGRx", false, CUV_CANNY_L1, false);
}
