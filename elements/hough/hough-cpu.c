/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hough-cpu-private.h"
#include "cuvthreads.h"
#include "draw.h"

#include <time.h>

/* ---- pieces of work ---- */

static void
work (void *data, int worker, int piece)
{
  CuvHoughCpu *self = data;

  self->func (self, &self->workers[worker], piece);
}

void
cuv_hough_cpu_pieces (CuvHoughCpu *self, int n_pieces,
    void (*func) (CuvHoughCpu *self, CuvHoughWorker *worker, int piece))
{
  self->func = func;
  cuv_threads_run_workers (
      self->n_threads, self->n_workers, n_pieces, work, self);
}

/* ---- a run ---- */

static float
microseconds_since (struct timespec *start)
{
  struct timespec now;
  float us;

  clock_gettime (CLOCK_MONOTONIC, &now);
  us = (float) (now.tv_sec - start->tv_sec) * 1e6f
      + (float) (now.tv_nsec - start->tv_nsec) / 1e3f;
  *start = now;
  return us;
}

/* Whether so many edges are worth looking at all pixels, where a cell has one
 * or two of a line. */
static bool
is_dense (const CuvHoughCpu *self)
{
  const CuvHoughSpace *space = self->space;
  int64_t n = (int64_t) space->width * space->height;

  return space->shape.kind == CUV_LINES_RHO_THETA
      && space->shape.rho_step <= 1.4 && space->width >= 64
      && space->height >= 64
      && (int64_t) self->list.n * 100 > n * self->steps.gather_share;
}

/* Gathering knows no window. */
static CuvHoughMethod
method_of (const CuvHoughCpu *self, CuvHoughMethod wanted)
{
  bool can_gather = self->list.groups == NULL;

  if (wanted == CUV_HOUGH_AUTO)
    return can_gather && is_dense (self) ? CUV_HOUGH_GATHER : CUV_HOUGH_SHARED;
  return wanted == CUV_HOUGH_GATHER && !can_gather ? CUV_HOUGH_SHARED : wanted;
}

static void
find_segments (CuvHoughCpu *self, CuvHoughResult *result)
{
  size_t n = cuv_hough_cpu_segments (self, (size_t) result->n_peaks);

  result->n_segments_found = (int32_t) n;
  result->n_segments =
      (int32_t) (n < CUV_HOUGH_MAX_SEGMENTS ? n : CUV_HOUGH_MAX_SEGMENTS);
}

void
cuv_hough_cpu_run (CuvHoughCpu *self, const CuvFrame *frame,
    const CuvHoughParams *params, int n_threads, CuvHoughResult *result)
{
  CuvPeakList peaks = { self->peaks, (size_t) params->max_lines, 0 };
  struct timespec start;

  clock_gettime (CLOCK_MONOTONIC, &start);
  *result =
      (CuvHoughResult){ .peaks = self->peaks, .segments = self->segments };
  self->frame = frame;
  self->params = params;
  self->n_threads = n_threads;
  self->threshold = params->peaks.threshold;
  cuv_hough_cpu_edges (self);
  result->n_edges = (int64_t) self->list.n;
  result->edges_us = microseconds_since (&start);
  cuv_hough_cpu_sort (self);
  result->method = method_of (self, params->method);
  result->n_votes = (int64_t) (result->method == CUV_HOUGH_RING
          ? cuv_hough_cpu_ring (self, &peaks)
          : cuv_hough_cpu_vote (self, result->method));
  result->votes_us = microseconds_since (&start);
  if (result->method != CUV_HOUGH_RING)
    cuv_hough_cpu_peaks (self, &peaks);
  result->n_found = (int32_t) peaks.n;
  result->n_peaks = (int32_t) (peaks.n < peaks.max ? peaks.n : peaks.max);
  if (params->segments)
    find_segments (self, result);
  result->peaks_us = microseconds_since (&start);
}

void
cuv_hough_cpu_draw (CuvHoughCpu *self, const CuvFrame *frame, CuvHoughDraw draw)
{
  if (draw == CUV_HOUGH_DRAW_EDGES) {
    cuv_hough_draw_edges (frame, self->map);
  } else if (draw == CUV_HOUGH_DRAW_ACCUMULATOR) {
    if (!self->has_votes)
      cuv_hough_cpu_vote (self, CUV_HOUGH_SHARED);
    cuv_hough_draw_votes (frame, self->space, self->votes, self->threshold);
  }
}
