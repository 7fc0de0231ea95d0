/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "scanner.h"

#include <stdio.h>
#include <string.h>

#include "model.h"
#if HAVE_CUDA
#include "waldboost/waldboost.h"
#endif

bool
cuv_roi_parse (const char *text, CuvRoi *roi)
{
  CuvRoi r = { 0 };
  char end;

  if (text != NULL && *text != '\0'
      && (sscanf (text, "%9d , %9d , %9d , %9d %c", &r.left, &r.top, &r.right,
              &r.bottom, &end)
              != 4
          || r.left < 0 || r.top < 0 || r.right <= r.left || r.bottom <= r.top))
    return false;
  *roi = r;
  return true;
}

static int
clamp (int value, int low, int high)
{
  return value < low ? low : value > high ? high : value;
}

/* The part of the frame that the plan is for. */
static CuvFrame
crop (const CuvFrame *frame, const CuvScanner *self)
{
  CuvFrame part = *frame;

  part.width = self->plan->width;
  part.height = self->plan->height;
  for (int i = 0; i < part.n_components; i++) {
    CuvComponent *c = &part.component[i];

    c->data += (int64_t) (self->y >> c->ysub) * c->stride
        + (int64_t) (self->x >> c->xsub) * c->step;
  }
  return part;
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

static CuvRoi
intersect (const CuvRoi *a, const CuvRoi *b)
{
  CuvRoi both = { clamp (a->left, b->left, b->right),
    clamp (a->top, b->top, b->bottom), clamp (a->right, b->left, b->right),
    clamp (a->bottom, b->top, b->bottom) };

  return both;
}

const char *
cuv_scanner_init (CuvScanner *self, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    bool on_device, void *stream)
{
  CuvRoi whole = { 0, 0, frame->width, frame->height };

  memset (self, 0, sizeof *self);
  self->model = cuv_model_ref (model);
  self->params = *params;
  self->area = roi->right == 0 ? whole : intersect (roi, &whole);
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
  CuvRoi part = region != NULL ? intersect (region, &self->area) : self->area;
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
