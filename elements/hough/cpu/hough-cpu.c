/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the stages on a frame - edges, votes, peaks, segments - and times them.
 */
#include "cpu/hough-cpu-private.h"

#include "cuvtime.h"

/* Whether edge density makes gathering faster than voting. Measured for cells
 * with one or two pixels per row or column of the frame:
 * docs/benchmarks/hough.md, "The methods". */
static bool
is_dense (const CuvHoughCpu *self)
{
  const CuvHoughLayout *layout = self->layout;
  int64_t n = (int64_t) layout->width * layout->height;

  return layout->config.kind == CUV_LINES_RHO_THETA
      && layout->config.rho_step <= 1.4 && layout->width >= 64
      && layout->height >= 64
      && (int64_t) self->list.n * 100 > n * self->dsp.gather_threshold;
}

/* Gathering cannot restrict votes to an orientation window. */
static CuvHoughMethod
choose_method (const CuvHoughCpu *self, CuvHoughMethod wanted)
{
  bool can_gather = self->list.bins == NULL;

  if (wanted == CUV_HOUGH_AUTO)
    return can_gather && is_dense (self) ? CUV_HOUGH_GATHER : CUV_HOUGH_SHARED;
  return wanted == CUV_HOUGH_GATHER && !can_gather ? CUV_HOUGH_SHARED : wanted;
}

static size_t
first_peak (const CuvHoughCpu *self, int task)
{
  return self->n_peaks * (size_t) task / CUV_HOUGH_N_SEGMENT_TASKS;
}

static void
segment_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  const size_t first = first_peak (self, task);
  CuvHoughSegment *out =
      self->task_segments + (size_t) task * CUV_HOUGH_MAX_SEGMENTS;
  size_t n = cuv_hough_segments (self->layout, self->map, self->peaks + first,
      first_peak (self, task + 1) - first, &self->params->segment, out,
      CUV_HOUGH_MAX_SEGMENTS);

  self->task_n_segments[task] = n;
  for (size_t i = 0; i < n && i < CUV_HOUGH_MAX_SEGMENTS; i++)
    out[i].peak += (int32_t) first;
}

static void
find_segments (CuvHoughCpu *self, CuvHoughResult *result)
{
  size_t n = 0;

  self->n_peaks = (size_t) result->n_peaks;
  cuv_hough_cpu_run_tasks (self, CUV_HOUGH_N_SEGMENT_TASKS, segment_task);
  for (int i = 0; i < CUV_HOUGH_N_SEGMENT_TASKS; i++) {
    const CuvHoughSegment *part =
        self->task_segments + (size_t) i * CUV_HOUGH_MAX_SEGMENTS;

    for (size_t s = 0; s < self->task_n_segments[i]; s++, n++) {
      if (n < CUV_HOUGH_MAX_SEGMENTS)
        self->segments[n] = part[s];
    }
  }
  result->n_segments_found = (int32_t) n;
  result->n_segments =
      (int32_t) (n < CUV_HOUGH_MAX_SEGMENTS ? n : CUV_HOUGH_MAX_SEGMENTS);
}

/* Finds segments of regions, which need no votes. */
static void
find_regions (CuvHoughCpu *self, CuvHoughResult *result)
{
  const size_t max = (size_t) self->params->max_lines;
  size_t n;

  cuv_hough_cpu_find_directions (self);
  n = cuv_regions_find (self->regions, self->layout, &self->list, self->params,
      self->line_segments, max);
  self->has_votes = false;
  result->method = CUV_HOUGH_SHARED;
  result->line_segments = self->line_segments;
  result->n_found = result->n_segments_found = (int32_t) n;
  result->n_segments = (int32_t) (n < max ? n : max);
}

static void
find_lines (CuvHoughCpu *self, CuvHoughResult *result, struct timespec *start)
{
  CuvPeakList peaks = { self->peaks, (size_t) self->params->max_lines, 0 };

  cuv_hough_cpu_sort_edges (self);
  result->method = choose_method (self, self->params->method);
  result->n_votes = (int64_t) (result->method == CUV_HOUGH_RING
          ? cuv_hough_cpu_ring (self, &peaks)
          : cuv_hough_cpu_vote (self, result->method));
  result->votes_us = cuv_microseconds_since (start);
  if (result->method != CUV_HOUGH_RING)
    cuv_hough_cpu_find_peaks (self, &peaks);
  result->n_found = (int32_t) peaks.n;
  result->n_peaks = (int32_t) (peaks.n < peaks.max ? peaks.n : peaks.max);
  if (self->params->segments)
    find_segments (self, result);
}

void
cuv_hough_cpu_run (CuvHoughCpu *self, const CuvFrame *frame,
    const CuvHoughParams *params, int n_threads, CuvHoughResult *result)
{
  struct timespec start;

  clock_gettime (CLOCK_MONOTONIC, &start);
  *result =
      (CuvHoughResult){ .peaks = self->peaks, .segments = self->segments };
  self->frame = frame;
  self->params = params;
  self->n_threads = n_threads;
  self->threshold = params->peaks.threshold;
  cuv_hough_cpu_find_edges (self);
  result->n_edges = (int64_t) self->list.n;
  result->edges_us = cuv_microseconds_since (&start);
  if (cuv_hough_uses_regions (self->layout, params))
    find_regions (self, result);
  else
    find_lines (self, result, &start);
  result->peaks_us = cuv_microseconds_since (&start);
}

void
cuv_hough_cpu_draw (CuvHoughCpu *self, const CuvFrame *frame, CuvHoughDraw draw)
{
  if (draw == CUV_HOUGH_DRAW_EDGES) {
    cuv_hough_draw_edges (frame, self->map);
  } else if (draw == CUV_HOUGH_DRAW_ACCUMULATOR) {
    if (cuv_hough_uses_regions (self->layout, self->params))
      cuv_hough_cpu_sort_edges (self);
    if (!self->has_votes)
      cuv_hough_cpu_vote (self, CUV_HOUGH_SHARED);
    cuv_hough_draw_votes (frame, self->layout, self->votes, self->threshold);
  }
}
