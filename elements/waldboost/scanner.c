/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "scanner.h"

#include <string.h>

#include "model/model.h"
#if HAVE_CUDA
#include "waldboost/waldboost.h"
#endif

/* The part of the frame that the plan is for. */
static CuvFrame
crop (const CuvFrame *frame, const CuvScanner *self)
{
  CuvRoi part = { self->x, self->y, self->x + self->plan->width,
    self->y + self->plan->height };

  return cuv_frame_crop (frame, &part);
}

static const char *
open_cpu (CuvScanner *self)
{
  self->cpu = cuv_waldboost_cpu_new (self->model, self->plan);
  return self->cpu != NULL ? NULL : "out of memory";
}

#if HAVE_CUDA
static const char *
open_cuda (CuvScanner *self, const CuvFrame *frame, void *stream)
{
  CuvWaldboostResult result;

  self->cuda = cuv_waldboost_cuda_new (self->model, self->plan);
  if (self->cuda == NULL)
    return cuv_cuda_error ();
  return cuv_scanner_run (self, frame, NULL, stream, 0, &result);
}
#endif

static void
close_scanner (CuvScanner *self)
{
#if HAVE_CUDA
  cuv_waldboost_cuda_free (self->cuda);
#endif
  cuv_waldboost_cpu_free (self->cpu);
  self->cuda = NULL;
  self->cpu = NULL;
}

const char *
cuv_scanner_init (CuvScanner *self, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    bool on_device, void *stream)
{
  memset (self, 0, sizeof *self);
  self->model = cuv_model_ref (model);
  self->params = *params;
  self->area = cuv_roi_in_frame (roi, frame->width, frame->height);
  self->x = self->area.left;
  self->y = self->area.top;
  self->frame_width = frame->width;
  self->frame_height = frame->height;
  self->on_device = on_device;
  self->plan = cuv_waldboost_plan_new (model, params,
      self->area.right - self->area.left, self->area.bottom - self->area.top);
  if (self->plan == NULL)
    return "out of memory";
  if (self->plan->n_levels == 0)
    return NULL;
#if HAVE_CUDA
  if (on_device)
    return open_cuda (self, frame, stream);
#endif
  return open_cpu (self);
}

int
cuv_scanner_levels (const CuvScanner *self)
{
  int n = 0;

  for (int i = 0; i < self->plan->n_levels; i++)
    n += self->plan->levels[i].n_x > 0 && self->plan->levels[i].n_y > 0;
  return n;
}

void
cuv_scanner_clear (CuvScanner *self)
{
  close_scanner (self);
  cuv_waldboost_plan_free (self->plan);
  cuv_model_unref (self->model);
  memset (self, 0, sizeof *self);
}

static const char *
take_plan (CuvScanner *self, CuvWaldboostPlan *plan)
{
  const char *problem = NULL;

#if HAVE_CUDA
  if (self->cuda != NULL && cuv_waldboost_cuda_set_plan (self->cuda, plan) != 0)
    problem = cuv_cuda_error ();
#endif
  if (self->cpu != NULL && !cuv_waldboost_cpu_set_plan (self->cpu, plan))
    problem = "out of memory";
  cuv_waldboost_plan_free (self->plan);
  self->plan = plan;
  if (problem != NULL)
    close_scanner (self);
  return problem;
}

/* NULL, or what went wrong. *empty if no window fits; then the old plan stays.
 */
static const char *
aim (CuvScanner *self, const CuvRoi *region, bool *empty)
{
  CuvRoi part =
      region != NULL ? cuv_roi_intersect (region, &self->area) : self->area;
  int width = part.right - part.left, height = part.bottom - part.top;
  CuvWaldboostPlan *plan;

  *empty =
      (self->cpu == NULL && self->cuda == NULL) || width == 0 || height == 0;
  if (*empty)
    return NULL;
  self->x = part.left;
  self->y = part.top;
  if (width == self->plan->width && height == self->plan->height)
    return NULL;
  plan = cuv_waldboost_plan_new (self->model, &self->params, width, height);
  if (plan == NULL)
    return "out of memory";
  if (plan->n_levels > 0)
    return take_plan (self, plan);
  cuv_waldboost_plan_free (plan);
  *empty = true;
  return NULL;
}

const char *
cuv_scanner_run (CuvScanner *self, const CuvFrame *frame, const CuvRoi *region,
    void *stream, int n_threads, CuvWaldboostResult *result)
{
  bool empty;
  const char *problem = aim (self, region, &empty);
  CuvFrame part;

  memset (result, 0, sizeof *result);
  self->n_levels = 0;
  if (problem != NULL || empty)
    return problem;
  part = crop (frame, self);
  self->n_levels = cuv_scanner_levels (self);
#if HAVE_CUDA
  if (self->cuda != NULL)
    return cuv_waldboost_cuda_submit (self->cuda, &part, stream) == 0
            && cuv_waldboost_cuda_collect (self->cuda, result) == 0
        ? NULL
        : cuv_cuda_error ();
#endif
  cuv_waldboost_cpu_run (self->cpu, &part, n_threads, result);
  return NULL;
}
