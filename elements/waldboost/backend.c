/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "backend.h"

#include <stdlib.h>
#include <string.h>

#include "channels/frame.h"
#include "cpu/waldboost-cpu.h"
#include "model/model.h"
#if HAVE_CUDA
#include "waldboost/waldboost.h"
#endif

typedef struct {
  CuvFrame frame;                   /* cropped to the plan's size */
  const CuvFrame *whole;            /* the same, not cropped */
  int x, y;                         /* where the part begins */
  const CuvWaldboostPlan *new_plan; /* NULL = that of the previous job */
  const CuvRgbMatrix *rgb;
  CuvWaldboostResult *result;
} Job;

/* ---- CPU ---- */

static const char *
waldboost_open_cpu (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const CuvWaldboostDetector *detector = config;

  *state = cuv_waldboost_cpu_new (detector->model, detector->plan);
  return *state != NULL ? NULL : "out of memory";
}

static const char *
waldboost_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  const Job *job = data;

  if (job->new_plan != NULL
      && !cuv_waldboost_cpu_set_plan (state, job->new_plan))
    return "out of memory";
  cuv_waldboost_cpu_run (state, &job->frame, processor->n_threads, job->result);
  return NULL;
}

static void
waldboost_close_cpu (void *state)
{
  cuv_waldboost_cpu_free (state);
}

static const CuvBackendClass cpu = { waldboost_open_cpu, waldboost_run_cpu,
  waldboost_close_cpu };

/* ---- CPU, models on channels ---- */

static const char *
channels_open_cpu (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const CuvWaldboostDetector *detector = config;

  *state = cuv_channels_frame_new (
      &(CuvChannelsSearch){ detector->model, detector->plan }, 1);
  return *state != NULL ? NULL : "out of memory";
}

static const char *
channels_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  const Job *job = data;

  if (job->new_plan != NULL
      && !cuv_channels_frame_set_plans (
          state, &(CuvChannelsSearch){ .plan = job->new_plan }))
    return "out of memory";
  return cuv_channels_frame_run (state, job->whole, job->x, job->y, job->rgb,
             processor->n_threads, job->result)
      ? NULL
      : "out of memory";
}

static void
channels_close_cpu (void *state)
{
  cuv_channels_frame_free (state);
}

static const CuvBackendClass channels_cpu = { channels_open_cpu,
  channels_run_cpu, channels_close_cpu };

static const CuvBackendClasses channels_classes = { &channels_cpu, NULL };

/* ---- CUDA ---- */

#if HAVE_CUDA
static const char *
waldboost_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  const Job *job = data;
  int failed = 0;

  if (job->new_plan != NULL)
    failed = cuv_waldboost_cuda_set_plan (state, job->new_plan);
  if (!failed)
    failed = cuv_waldboost_cuda_submit (state, &job->frame, processor->stream);
  if (!failed)
    failed = cuv_waldboost_cuda_collect (state, job->result);
  return failed ? cuv_cuda_error () : NULL;
}

static const char *
waldboost_open_cuda (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const CuvWaldboostDetector *detector = config;
  CuvWaldboostResult result;
  Job job = { .frame = *frame, .result = &result };

  *state = cuv_waldboost_cuda_new (detector->model, detector->plan);
  return *state != NULL ? waldboost_run_cuda (*state, &job, processor)
                        : cuv_cuda_error ();
}

static void
waldboost_close_cuda (void *state)
{
  cuv_waldboost_cuda_free (state);
}

static const CuvBackendClass cuda = { waldboost_open_cuda, waldboost_run_cuda,
  waldboost_close_cuda };
static const CuvBackendClasses classes = { &cpu, &cuda };
#else
static const CuvBackendClasses classes = { &cpu, NULL };
#endif

/* ---- new and free ---- */

/* The part of the frame that the plan is for. */
static CuvFrame
crop (const CuvWaldboostDetector *self, const CuvFrame *frame)
{
  CuvRoi part = { self->x, self->y, self->x + self->plan->width,
    self->y + self->plan->height };

  return cuv_frame_crop (frame, &part);
}

static int
count_levels (const CuvWaldboostPlan *plan)
{
  int n = 0;

  for (int i = 0; i < plan->n_levels; i++)
    n += plan->levels[i].n_x > 0 && plan->levels[i].n_y > 0;
  return n;
}

static const char *
open_detector (CuvWaldboostDetector *self, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const CuvRoi *area = &self->area;
  CuvFrame part;

  if (self->model->channels != NULL && processor->on_device)
    return "models of trees on channels are searched on the CPU: put "
           "cudadownload before this element";
  self->plan = cuv_waldboost_plan_new (self->model, &self->params,
      area->right - area->left, area->bottom - area->top);
  if (self->plan == NULL)
    return "out of memory";
  self->n_levels = count_levels (self->plan);
  if (self->plan->n_levels == 0)
    return NULL;
  part = crop (self, frame);
  return cuv_backend_open (&self->backend,
      self->model->channels != NULL ? &channels_classes : &classes, self, &part,
      processor);
}

CuvWaldboostDetector *
cuv_waldboost_detector_new (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    const CuvProcessor *processor, const char **error)
{
  CuvWaldboostDetector *self = calloc (1, sizeof *self);

  *error = "out of memory";
  if (self == NULL)
    return NULL;
  self->model = cuv_model_ref (model);
  memcpy (&self->params, params, sizeof *params); /* padding, too */
  self->area = cuv_roi_in_frame (roi, frame->width, frame->height);
  self->x = self->area.left;
  self->y = self->area.top;
  self->frame_width = frame->width;
  self->frame_height = frame->height;
  self->on_device = processor->on_device;
  *error = open_detector (self, frame, processor);
  if (*error == NULL)
    return self;
  cuv_waldboost_detector_free (self);
  return NULL;
}

void
cuv_waldboost_detector_free (CuvWaldboostDetector *self)
{
  if (self == NULL)
    return;
  cuv_backend_close (&self->backend);
  cuv_waldboost_plan_free (self->plan);
  cuv_model_unref (self->model);
  free (self);
}

bool
cuv_waldboost_detector_matches (const CuvWaldboostDetector *self,
    const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    const CuvRoi *roi, const CuvFrame *frame, const CuvProcessor *processor)
{
  CuvRoi area = cuv_roi_in_frame (roi, frame->width, frame->height);

  return self != NULL && self->on_device == processor->on_device
      && (self->backend.klass != NULL || self->plan->n_levels == 0)
      && self->model == model && self->frame_width == frame->width
      && self->frame_height == frame->height
      && memcmp (&area, &self->area, sizeof area) == 0
      && memcmp (params, &self->params, sizeof *params) == 0;
}

/* ---- a run ---- */

/* Moves to a part of the frame. *plan becomes the plan for its size: the
 * current one, a new one, or NULL if no window fits. Returns NULL, or an
 * error. */
static const char *
choose_plan (
    CuvWaldboostDetector *self, const CuvRoi *region, CuvWaldboostPlan **plan)
{
  CuvRoi part =
      region != NULL ? cuv_roi_intersect (region, &self->area) : self->area;
  int width = part.right - part.left, height = part.bottom - part.top;

  *plan = NULL;
  self->x = part.left;
  self->y = part.top;
  if (self->backend.klass == NULL || width == 0 || height == 0)
    return NULL;
  *plan = self->plan;
  if (width == self->plan->width && height == self->plan->height)
    return NULL;
  *plan = cuv_waldboost_plan_new (self->model, &self->params, width, height);
  if (*plan == NULL)
    return "out of memory";
  if ((*plan)->n_levels > 0)
    return NULL;
  cuv_waldboost_plan_free (*plan);
  *plan = NULL;
  return NULL;
}

static const char *
run_plan (CuvWaldboostDetector *self, CuvWaldboostPlan *plan,
    const CuvFrame *frame, const CuvProcessor *processor,
    CuvWaldboostResult *result)
{
  CuvWaldboostPlan *before = self->plan;
  Job job = { .whole = frame,
    .x = self->x,
    .y = self->y,
    .new_plan = plan != before ? plan : NULL,
    .rgb = &self->params.rgb,
    .result = result };
  const char *error;

  self->plan = plan;
  job.frame = crop (self, frame);
  self->n_levels = count_levels (plan);
  error = cuv_backend_run (&self->backend, &job, processor);
  if (error != NULL) /* unusable after a failed change of plan */
    cuv_backend_close (&self->backend);
  if (plan != before)
    cuv_waldboost_plan_free (before);
  return error;
}

const char *
cuv_waldboost_detector_run (CuvWaldboostDetector *self, const CuvFrame *frame,
    const CuvRoi *region, const CuvProcessor *processor,
    CuvWaldboostResult *result)
{
  CuvWaldboostPlan *plan;
  const char *error = choose_plan (self, region, &plan);

  memset (result, 0, sizeof *result);
  self->n_levels = 0;
  return plan != NULL ? run_plan (self, plan, frame, processor, result) : error;
}
