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

/* The frame inside the roi. */
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
  return self->cuda != NULL ? cuv_scanner_run (self, frame, stream, 0, &result)
                            : cuv_cuda_error ();
}
#endif

const char *
cuv_scanner_init (CuvScanner *self, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    bool on_device, void *stream)
{
  bool whole = roi->right == 0;
  int right = whole ? frame->width : clamp (roi->right, 0, frame->width);
  int bottom = whole ? frame->height : clamp (roi->bottom, 0, frame->height);

  memset (self, 0, sizeof *self);
  self->model = cuv_model_ref (model);
  self->x = clamp (roi->left, 0, right);
  self->y = clamp (roi->top, 0, bottom);
  self->frame_width = frame->width;
  self->frame_height = frame->height;
  self->on_device = on_device;
  self->plan =
      cuv_waldboost_plan_new (model, params, right - self->x, bottom - self->y);
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

void
cuv_scanner_clear (CuvScanner *self)
{
#if HAVE_CUDA
  cuv_waldboost_cuda_free (self->cuda);
#endif
  cuv_waldboost_cpu_free (self->cpu);
  cuv_waldboost_plan_free (self->plan);
  cuv_model_unref (self->model);
  memset (self, 0, sizeof *self);
}

const char *
cuv_scanner_run (CuvScanner *self, const CuvFrame *frame, void *stream,
    int n_threads, CuvWaldboostResult *result)
{
  CuvFrame part = crop (frame, self);

  memset (result, 0, sizeof *result);
#if HAVE_CUDA
  if (self->cuda != NULL)
    return cuv_waldboost_cuda_submit (self->cuda, &part, stream) == 0
            && cuv_waldboost_cuda_collect (self->cuda, result) == 0
        ? NULL
        : cuv_cuda_error ();
#endif
  if (self->cpu != NULL)
    cuv_waldboost_cpu_run (self->cpu, &part, n_threads, result);
  return NULL;
}
