/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hough-cpu.h"

#include <stdlib.h>
#include <time.h>
#include "draw.h"

struct _CuvHoughCpu {
  const CuvHoughSpace *space;
  CuvCanny *canny;
  uint32_t *pixels, *votes;
  uint16_t *groups;
  CuvHoughPeak *peaks;
  CuvHoughSegment *segments;
  uint32_t threshold; /* of the last run */
};

CuvHoughCpu *
cuv_hough_cpu_new (const CuvHoughSpace *space)
{
  CuvHoughCpu *self = calloc (1, sizeof *self);
  size_t n = (size_t) space->width * (size_t) space->height;

  self->space = space;
  self->canny = cuv_canny_new (space->width, space->height);
  self->pixels = malloc (n * sizeof *self->pixels);
  self->groups = malloc (n * sizeof *self->groups);
  self->votes = calloc (cuv_hough_n_cells (space), sizeof *self->votes);
  self->peaks = malloc (CUV_HOUGH_MAX_LINES * sizeof *self->peaks);
  self->segments = malloc (CUV_HOUGH_MAX_SEGMENTS * sizeof *self->segments);
  return self;
}

void
cuv_hough_cpu_free (CuvHoughCpu *self)
{
  if (self == NULL)
    return;
  cuv_canny_free (self->canny);
  free (self->pixels);
  free (self->groups);
  free (self->votes);
  free (self->peaks);
  free (self->segments);
  free (self);
}

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

static void
find_edges (CuvHoughCpu *self, const CuvFrame *frame,
    const CuvHoughParams *params, CuvEdgeList *list)
{
  const CuvHoughSpace *space = self->space;
  uint8_t *edges = self->canny->edges;

  if (params->source == CUV_EDGES_CANNY) {
    cuv_canny_run (self->canny, frame, &params->canny);
  } else {
    for (int y = 0; y < frame->height; y++) {
      for (int x = 0; x < frame->width; x++)
        *edges++ = cuv_frame_grey (frame, x, y) != 0 ? 255 : 0;
    }
  }
  *list = (CuvEdgeList){ self->pixels, NULL,
    cuv_hough_list_edges (self->canny->edges, space->width, space->height,
        space->width, self->pixels) };
  if (params->source == CUV_EDGES_CANNY && space->shape.window < 90) {
    cuv_hough_list_groups (
        space, self->canny, list->pixels, list->n, self->groups);
    list->groups = self->groups;
  }
}

void
cuv_hough_cpu_run (CuvHoughCpu *self, const CuvFrame *frame,
    const CuvHoughParams *params, int n_threads, CuvHoughResult *result)
{
  CuvPeakList peaks = { self->peaks, (size_t) params->max_lines, 0 };
  struct timespec start;
  CuvEdgeList list;
  size_t n;

  clock_gettime (CLOCK_MONOTONIC, &start);
  *result = (CuvHoughResult){
    .peaks = self->peaks, .segments = self->segments, .method = CUV_HOUGH_SHARED
  };
  self->threshold = params->peaks.threshold;
  find_edges (self, frame, params, &list);
  result->n_edges = (int64_t) list.n;
  result->edges_us = microseconds_since (&start);
  result->n_votes = (int64_t) cuv_hough_vote (self->space, &list, self->votes);
  result->votes_us = microseconds_since (&start);
  cuv_hough_peaks (self->space, self->votes, &params->peaks, &peaks);
  result->n_found = (int32_t) peaks.n;
  result->n_peaks = (int32_t) (peaks.n < peaks.max ? peaks.n : peaks.max);
  if (params->segments) {
    n = cuv_hough_segments (self->space, self->canny->edges, self->peaks,
        (size_t) result->n_peaks, &params->segment, self->segments,
        CUV_HOUGH_MAX_SEGMENTS);
    result->n_segments_found = (int32_t) n;
    result->n_segments =
        (int32_t) (n < CUV_HOUGH_MAX_SEGMENTS ? n : CUV_HOUGH_MAX_SEGMENTS);
  }
  result->peaks_us = microseconds_since (&start);
}

void
cuv_hough_cpu_draw (CuvHoughCpu *self, const CuvFrame *frame, CuvHoughDraw draw)
{
  if (draw == CUV_HOUGH_DRAW_EDGES)
    cuv_hough_draw_edges (frame, self->canny->edges);
  else if (draw == CUV_HOUGH_DRAW_ACCUMULATOR)
    cuv_hough_draw_votes (frame, self->space, self->votes, self->threshold);
}
