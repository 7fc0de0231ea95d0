/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "finder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#if HAVE_CUDA
#include "hough/hough.h"
#endif

/* ---- new and free ---- */

static bool
is_empty (const CuvRoi *area)
{
  return area->right == area->left || area->bottom == area->top;
}

#if HAVE_CUDA
static const char *
open_cuda (CuvFinder *self, const CuvFrame *frame, void *stream)
{
  static const CuvHoughMethod methods[] = { CUV_HOUGH_SHARED, CUV_HOUGH_RING,
    CUV_HOUGH_GATHER, CUV_HOUGH_GLOBAL };
  CuvHoughParams params = {
    .max_lines = 1, .peaks = { 1, CUV_PEAKS_SQUARE, 3 }, .segments = 1
  };
  const char *problem = NULL;
  CuvHoughResult result;

  self->cuda = cuv_hough_cuda_new (&self->space);
  if (self->cuda == NULL)
    return cuv_cuda_error ();
  for (int i = 0; problem == NULL && i < 4; i++) {
    params.method = methods[i];
    params.canny.blur = i % 2;
    params.canny.norm = i / 2 ? CUV_CANNY_L2 : CUV_CANNY_L1;
    problem = cuv_finder_run (
        self, frame, &params, CUV_HOUGH_DRAW_NONE, stream, 0, &result);
  }
  return problem;
}
#endif

static const char *
open_cpu (CuvFinder *self)
{
  self->cpu = cuv_hough_cpu_new (&self->space);
  return self->cpu != NULL ? NULL : "out of memory";
}

static const char *
open_finder (CuvFinder *self, const CuvFrame *frame, void *stream)
{
  CuvHoughShape shape = self->shape;
  const char *problem;

  if (is_empty (&self->area))
    return NULL;
  shape.width = self->area.right - self->area.left;
  shape.height = self->area.bottom - self->area.top;
  if (shape.width > CUV_HOUGH_MAX_SIZE || shape.height > CUV_HOUGH_MAX_SIZE)
    return "the frame has more than 16384 pixels across or down: scale it "
           "down, or set roi to a part of it";
  problem = cuv_hough_space_init (&self->space, &shape);
  if (problem != NULL)
    return problem;
#if HAVE_CUDA
  if (self->on_device)
    return open_cuda (self, frame, stream);
#endif
  return open_cpu (self);
}

CuvFinder *
cuv_finder_new (const CuvHoughShape *shape, const CuvRoi *roi,
    const CuvFrame *frame, bool on_device, void *stream, const char **problem)
{
  CuvFinder *self = calloc (1, sizeof *self);

  *problem = "out of memory";
  if (self == NULL)
    return NULL;
  self->shape = *shape;
  self->area = cuv_roi_in_frame (roi, frame->width, frame->height);
  self->on_device = on_device;
  *problem = open_finder (self, frame, stream);
  if (*problem == NULL)
    return self;
  cuv_finder_free (self);
  return NULL;
}

void
cuv_finder_free (CuvFinder *self)
{
  if (self == NULL)
    return;
#if HAVE_CUDA
  cuv_hough_cuda_free (self->cuda);
#endif
  cuv_hough_cpu_free (self->cpu);
  cuv_hough_space_clear (&self->space);
  free (self);
}

static bool
same_shape (const CuvHoughShape *a, const CuvHoughShape *b)
{
  return a->kind == b->kind && a->period == b->period
      && a->inclusive == b->inclusive && a->theta_min == b->theta_min
      && a->theta_max == b->theta_max && a->rho_step == b->rho_step
      && a->window == b->window;
}

bool
cuv_finder_is_for (const CuvFinder *self, const CuvHoughShape *shape,
    const CuvRoi *roi, const CuvFrame *frame, bool on_device)
{
  CuvRoi area = cuv_roi_in_frame (roi, frame->width, frame->height);

  return self != NULL && self->on_device == on_device
      && memcmp (&area, &self->area, sizeof area) == 0
      && same_shape (shape, &self->shape);
}

/* ---- lines in the frame ---- */

/* The middle of a wide cell may be beyond the last of its pixels: then the line
 * through that one. */
static double
rho_inside (const CuvHoughSpace *space, double rho, double theta)
{
  double low = 0, high = 0;

  for (int i = 1; i < 4; i++) {
    double at = (i & 1 ? (space->width - 1) * cos (theta) : 0)
        + (i & 2 ? (space->height - 1) * sin (theta) : 0);

    low = fmin (low, at);
    high = fmax (high, at);
  }
  return fmin (fmax (rho, low), high);
}

static void
add_line (CuvFinder *self, const CuvHoughPeak *peak, const double ends[4])
{
  const CuvRoi *area = &self->area;
  double rho, theta;

  cuv_hough_line (&self->space, peak->k, peak->r, &rho, &theta);
  self->lines[self->n_lines++] = (CuvLine){
    .rho = (float) (rho + area->left * cos (theta) + area->top * sin (theta)),
    .theta = (float) theta,
    .votes = peak->votes,
    .x1 = (float) (ends[0] + area->left),
    .y1 = (float) (ends[1] + area->top),
    .x2 = (float) (ends[2] + area->left),
    .y2 = (float) (ends[3] + area->top),
  };
}

static void
list_lines (CuvFinder *self, const CuvHoughResult *result)
{
  const CuvHoughSpace *space = &self->space;
  double rho, theta, ends[4];

  for (int i = 0; i < result->n_peaks; i++) {
    const CuvHoughPeak *peak = &result->peaks[i];

    cuv_hough_line (space, peak->k, peak->r, &rho, &theta);
    if (cuv_hough_clip (rho_inside (space, rho, theta), theta, space->width,
            space->height, ends))
      add_line (self, peak, ends);
  }
}

static void
list_segments (CuvFinder *self, const CuvHoughResult *result)
{
  double ends[4];

  for (int i = 0; i < result->n_segments; i++) {
    const CuvHoughSegment *segment = &result->segments[i];
    const CuvHoughPeak *peak = &result->peaks[segment->peak];

    cuv_hough_segment_ends (&self->space, peak, segment, ends);
    add_line (self, peak, ends);
  }
}

/* ---- a run ---- */

#if HAVE_CUDA
static const char *
run_cuda (CuvFinder *self, const CuvFrame *part, const CuvHoughParams *params,
    CuvHoughDraw draw, void *stream, CuvHoughResult *result)
{
  int failed = cuv_hough_cuda_submit (self->cuda, part, params, stream);

  if (!failed && draw != CUV_HOUGH_DRAW_NONE)
    failed = cuv_hough_cuda_draw (self->cuda, part, draw, stream);
  if (!failed)
    failed = cuv_hough_cuda_collect (self->cuda, result);
  return failed ? cuv_cuda_error () : NULL;
}
#endif

static const char *
run (CuvFinder *self, const CuvFrame *part, const CuvHoughParams *params,
    CuvHoughDraw draw, void *stream, int n_threads, CuvHoughResult *result)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return run_cuda (self, part, params, draw, stream, result);
#endif
  cuv_hough_cpu_run (self->cpu, part, params, n_threads, result);
  cuv_hough_cpu_draw (self->cpu, part, draw);
  return NULL;
}

const char *
cuv_finder_run (CuvFinder *self, const CuvFrame *frame,
    const CuvHoughParams *params, CuvHoughDraw draw, void *stream,
    int n_threads, CuvHoughResult *result)
{
  const char *problem;
  CuvFrame part;

  *result = (CuvHoughResult){ .method = params->method };
  self->n_lines = 0;
  if (is_empty (&self->area))
    return NULL;
  part = cuv_frame_crop (frame, &self->area);
  problem = run (self, &part, params, draw, stream, n_threads, result);
  if (problem != NULL)
    return problem;
  if (params->segments)
    list_segments (self, result);
  else
    list_lines (self, result);
  return NULL;
}
