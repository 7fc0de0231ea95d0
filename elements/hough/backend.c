/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the line detector on the CPU or with CUDA, and converts peaks and
 * segments of the region of interest to lines of the frame. */
#include "config.h"
#include "backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/hough-cpu.h"
#if HAVE_CUDA
#include "hough/hough.h" /* cuda/hough/hough.h, not the header of this folder */
#endif

typedef struct {
  CuvFrame frame; /* cropped to the region of interest */
  CuvHoughParams params;
  CuvHoughDraw draw;
  CuvHoughResult *result; /* NULL: the job is only submitted, to the GPU */
  bool submitted;         /* this was done before */
} Job;

static const char *
hough_open_cpu (void **state, const void *layout, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  *state = cuv_hough_cpu_new (layout);
  return *state != NULL ? NULL : "out of memory";
}

static const char *
hough_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  const Job *job = data;

  cuv_hough_cpu_run (
      state, &job->frame, &job->params, processor->n_threads, job->result);
  cuv_hough_cpu_draw (state, &job->frame, job->draw);
  return NULL;
}

static void
hough_close_cpu (void *state)
{
  cuv_hough_cpu_free (state);
}

static const CuvBackendClass cpu = { hough_open_cpu, hough_run_cpu,
  hough_close_cpu };

#if HAVE_CUDA
static const char *
hough_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  const Job *job = data;
  void *stream = processor->stream;
  int failed = 0;

  if (!job->submitted)
    failed = cuv_hough_cuda_submit (state, &job->frame, &job->params, stream);
  if (!failed && job->draw != CUV_HOUGH_DRAW_NONE)
    failed = cuv_hough_cuda_draw (state, &job->frame, job->draw, stream);
  if (!failed && job->result != NULL)
    failed = cuv_hough_cuda_collect (state, job->result);
  return failed ? cuv_cuda_error () : NULL;
}

static const char *
hough_open_cuda (void **state, const void *layout, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  static const CuvHoughMethod methods[] = { CUV_HOUGH_SHARED, CUV_HOUGH_RING,
    CUV_HOUGH_GLOBAL, CUV_HOUGH_GLOBAL };
  CuvHoughResult result;
  Job job = { .frame = *frame,
    .params = { .max_lines = 1, .peaks = { 1, CUV_PEAKS_SQUARE, 3 } },
    .result = &result };
  const int n = ((const CuvHoughLayout *) layout)->config.lines_only ? 4 : 8;
  CuvHoughParams *params = &job.params;
  const char *error = NULL;

  *state = cuv_hough_cuda_new (layout);
  if (*state == NULL)
    return cuv_cuda_error ();
  /* runs every kernel once, so that the first frames need not load any */
  for (int i = 0; error == NULL && i < n; i++) {
    params->method = methods[i % 4];
    params->canny.blur = i % 2;
    params->canny.norm = i / 2 % 2 ? CUV_CANNY_L2 : CUV_CANNY_L1;
    params->segments = i / 4;
    error = hough_run_cuda (*state, &job, processor);
  }
  return error;
}

static void
hough_close_cuda (void *state)
{
  cuv_hough_cuda_free (state);
}

static const CuvBackendClass cuda = { hough_open_cuda, hough_run_cuda,
  hough_close_cuda };
static const CuvBackendClasses classes = { &cpu, &cuda };
#else
static const CuvBackendClasses classes = { &cpu, NULL };
#endif

static bool
hough_is_empty (const CuvRoi *area)
{
  return area->right == area->left || area->bottom == area->top;
}

static const char *
open_detector (CuvHoughDetector *self, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  CuvHoughConfig config = self->config;
  const CuvFrame part = cuv_frame_crop (frame, &self->area);
  const char *error;

  if (hough_is_empty (&self->area))
    return NULL;
  config.width = self->area.right - self->area.left;
  config.height = self->area.bottom - self->area.top;
  error = cuv_hough_layout_init (&self->layout, &config);
  return error != NULL ? error
                       : cuv_backend_open (&self->backend, &classes,
                           &self->layout, &part, processor);
}

CuvHoughDetector *
cuv_hough_detector_new (const CuvHoughConfig *config, const CuvRoi *roi,
    const CuvFrame *frame, const CuvProcessor *processor, const char **error)
{
  CuvHoughDetector *self = calloc (1, sizeof *self);

  *error = "out of memory";
  if (self == NULL)
    return NULL;
  self->config = *config;
  self->area = cuv_roi_in_frame (roi, frame->width, frame->height);
  self->on_device = processor->on_device;
  *error = open_detector (self, frame, processor);
  if (*error == NULL)
    return self;
  cuv_hough_detector_free (self);
  return NULL;
}

void
cuv_hough_detector_free (CuvHoughDetector *self)
{
  if (self == NULL)
    return;
  cuv_backend_close (&self->backend);
  cuv_hough_layout_clear (&self->layout);
  free (self);
}

static bool
same_config (const CuvHoughConfig *a, const CuvHoughConfig *b)
{
  return a->kind == b->kind && a->period == b->period
      && a->inclusive == b->inclusive && a->theta_min == b->theta_min
      && a->theta_max == b->theta_max && a->rho_step == b->rho_step
      && a->window == b->window && a->lines_only == b->lines_only;
}

bool
cuv_hough_detector_matches (const CuvHoughDetector *self,
    const CuvHoughConfig *config, const CuvRoi *roi, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  CuvRoi area = cuv_roi_in_frame (roi, frame->width, frame->height);

  return self != NULL && self->on_device == processor->on_device
      && memcmp (&area, &self->area, sizeof area) == 0
      && same_config (config, &self->config);
}

/* Moves rho to the frame's nearest corner if the middle of a wide cell lies
 * outside the frame. */
static double
rho_inside (const CuvHoughLayout *layout, double rho, double theta)
{
  const double right = (layout->width - 1) * cos (theta);
  const double bottom = (layout->height - 1) * sin (theta);
  double low = 0, high = 0;

  for (int i = 1; i < 4; i++) {
    const double at = (i & 1 ? right : 0) + (i & 2 ? bottom : 0);

    low = fmin (low, at);
    high = fmax (high, at);
  }
  return fmin (fmax (rho, low), high);
}

static void
add_line (
    CuvHoughDetector *self, const CuvHoughPeak *peak, const double ends[4])
{
  const CuvRoi *area = &self->area;
  double rho, theta;

  cuv_hough_line (&self->layout, peak->k, peak->r, &rho, &theta);
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
list_lines (CuvHoughDetector *self, const CuvHoughResult *result)
{
  const CuvHoughLayout *layout = &self->layout;
  double rho, theta, ends[4];

  for (int i = 0; i < result->n_peaks; i++) {
    const CuvHoughPeak *peak = &result->peaks[i];

    cuv_hough_line (layout, peak->k, peak->r, &rho, &theta);
    if (cuv_hough_clip (rho_inside (layout, rho, theta), theta, layout->width,
            layout->height, ends))
      add_line (self, peak, ends);
  }
}

/* Returns the line through the ends of a region's segment. */
static CuvLine
line_of (const CuvRoi *area, const CuvLineSegment *segment)
{
  const double x1 = segment->x1 / 256. + area->left;
  const double y1 = segment->y1 / 256. + area->top;
  const double x2 = segment->x2 / 256. + area->left;
  const double y2 = segment->y2 / 256. + area->top;
  const double length = sqrt ((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1));
  const bool turn = y2 > y1 || (y2 == y1 && x2 > x1); /* 0 <= c */
  const double c = (turn ? y2 - y1 : y1 - y2) / length;
  const double s = (turn ? x1 - x2 : x2 - x1) / length;

  return (CuvLine){ (float) (x1 * c + y1 * s), (float) atan2 (s, c),
    segment->votes, (float) x1, (float) y1, (float) x2, (float) y2 };
}

static void
list_line_segments (CuvHoughDetector *self, const CuvHoughResult *result)
{
  for (int i = 0; i < result->n_segments; i++)
    self->lines[self->n_lines++] =
        line_of (&self->area, &result->line_segments[i]);
}

static void
list_segments (CuvHoughDetector *self, const CuvHoughResult *result)
{
  double ends[4];

  for (int i = 0; i < result->n_segments; i++) {
    const CuvHoughSegment *segment = &result->segments[i];
    const CuvHoughPeak *peak = &result->peaks[segment->peak];

    cuv_hough_segment_ends (&self->layout, peak, segment, ends);
    add_line (self, peak, ends);
  }
}

/* Returns an eighth of the shorter side of the region of interest, at least 40
 * (docs/houghlines.md, "Why these defaults"); segments of regions need no
 * minimum. */
static uint32_t
auto_threshold (const CuvHoughLayout *layout, const CuvHoughParams *params)
{
  return cuv_hough_uses_regions (layout, params)
      ? 0
      : (uint32_t) cuv_max (40, cuv_min (layout->width, layout->height) / 8);
}

static Job
new_job (const CuvHoughDetector *self, const CuvFrame *frame,
    const CuvHoughParams *params, CuvHoughDraw draw, CuvHoughResult *result)
{
  Job job = { .frame = cuv_frame_crop (frame, &self->area),
    .params = *params,
    .draw = draw,
    .result = result };

  if (params->peaks.threshold == 0)
    job.params.peaks.threshold = auto_threshold (&self->layout, params);
  return job;
}

bool
cuv_hough_detector_submit (CuvHoughDetector *self, const CuvFrame *frame,
    const CuvHoughParams *params, const CuvProcessor *processor)
{
  Job job = new_job (self, frame, params, CUV_HOUGH_DRAW_NONE, NULL);

  self->submitted = self->backend.on_device
      && cuv_backend_run (&self->backend, &job, processor) == NULL;
  return self->submitted;
}

const char *
cuv_hough_detector_run (CuvHoughDetector *self, const CuvFrame *frame,
    const CuvHoughParams *params, CuvHoughDraw draw,
    const CuvProcessor *processor, CuvHoughResult *result)
{
  Job job = new_job (self, frame, params, draw, result);
  const char *error;

  job.submitted = self->submitted;
  self->submitted = false;
  *result = (CuvHoughResult){ .method = params->method };
  self->n_lines = 0;
  if (hough_is_empty (&self->area))
    return NULL;
  error = cuv_backend_run (&self->backend, &job, processor);
  if (error != NULL)
    return error;
  if (result->line_segments != NULL)
    list_line_segments (self, result);
  else if (params->segments)
    list_segments (self, result);
  else
    list_lines (self, result);
  return NULL;
}
