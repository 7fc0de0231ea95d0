/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "searcher.h"

#include <stdlib.h>
#if HAVE_CUDA
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"
#include "rcd/rcd.h"
#endif

/* ---- new and free ---- */

#if HAVE_CUDA
/* A target with one window, the frame's first cell. */
static CuvRcdTarget
first_cell (const CuvRcdConfig *shape, const CuvRcdArea *area)
{
  const int n = cuv_rcd_n_features (shape->features);
  CuvRcdTarget target = { .n_windows = 1, .n_levels = 1 };
  double unit[CUV_RCD_MAX_PACKED] = { 0 };

  for (int i = 0; i < n; i++)
    unit[cuv_rcd_packed_index (n, i, i)] = 1.0;
  cuv_rcd_model_init (&target.model, unit, n, shape->cell, shape->cell);
  target.levels[0] = cuv_rcd_level (area, 1, 1, 1, 0);
  return target;
}

static const char *
warm_up (CuvRcdSearcher *self, const CuvFrame *frame, void *stream)
{
  const CuvRcdConfig *shape = &self->shape;
  const CuvRcdArea area = { 0, 0, 1, 1 };
  const CuvRcdTarget target = first_cell (shape, &area);
  const CuvRcdSearch search = { area, 1, &target, 1, 2 };
  const CuvRcdBox box = { 0, 0, frame->width, frame->height };
  int64_t sums[CUV_RCD_MAX_SUMS];
  CuvRcdMatch match;
  const char *problem;

  problem = cuv_rcd_searcher_measure (self, frame, &box, stream, 0, sums);
  if (problem == NULL && frame->width >= shape->cell
      && frame->height >= shape->cell)
    problem =
        cuv_rcd_searcher_run (self, frame, &search, 0.0, stream, 0, &match);
  return problem;
}

static const char *
open_cuda (CuvRcdSearcher *self, const CuvFrame *frame, void *stream)
{
  self->cuda = cuv_rcd_cuda_new (&self->shape);
  return self->cuda != NULL ? warm_up (self, frame, stream) : cuv_cuda_error ();
}
#endif

static const char *
open_searcher (CuvRcdSearcher *self, const CuvFrame *frame, void *stream)
{
  const char *problem = cuv_rcd_config_problem (&self->shape);

  if (problem != NULL)
    return problem;
#if HAVE_CUDA
  if (self->on_device)
    return open_cuda (self, frame, stream);
#endif
  self->cpu = cuv_rcd_cpu_new (&self->shape);
  return self->cpu != NULL ? NULL : "out of memory";
}

CuvRcdSearcher *
cuv_rcd_searcher_new (const CuvRcdConfig *shape, const CuvFrame *frame,
    bool on_device, void *stream, const char **problem)
{
  CuvRcdSearcher *self = calloc (1, sizeof *self);

  *problem = "out of memory";
  if (self == NULL)
    return NULL;
  self->shape = *shape;
  self->on_device = on_device;
  *problem = open_searcher (self, frame, stream);
  if (*problem == NULL)
    return self;
  cuv_rcd_searcher_free (self);
  return NULL;
}

void
cuv_rcd_searcher_free (CuvRcdSearcher *self)
{
  if (self == NULL)
    return;
#if HAVE_CUDA
  cuv_rcd_cuda_free (self->cuda);
#endif
  cuv_rcd_cpu_free (self->cpu);
  free (self);
}

bool
cuv_rcd_searcher_is_for (
    const CuvRcdSearcher *self, const CuvRcdConfig *shape, bool on_device)
{
  return self != NULL && self->on_device == on_device
      && self->shape.features == shape->features
      && self->shape.metric == shape->metric
      && self->shape.width == shape->width
      && self->shape.height == shape->height && self->shape.cell == shape->cell
      && self->shape.max_targets == shape->max_targets
      && self->shape.max_windows >= shape->max_windows
      && self->shape.lambda == shape->lambda;
}

/* ---- a run ---- */

#if HAVE_CUDA
static const char *
run_cuda (CuvRcdSearcher *self, const CuvFrame *frame,
    const CuvRcdSearch *search, double half, void *stream, CuvRcdMatch *matches)
{
  int failed = cuv_rcd_cuda_submit (self->cuda, frame, search, stream);

  if (!failed && half > 0.0)
    failed = cuv_rcd_cuda_draw (self->cuda, frame, 0, half, stream);
  if (!failed)
    failed = cuv_rcd_cuda_collect (self->cuda, matches);
  return failed ? cuv_cuda_error () : NULL;
}
#endif

static void
draw_map (CuvRcdSearcher *self, const CuvFrame *frame,
    const CuvRcdSearch *search, double half, const CuvRcdMatch *match)
{
  const CuvRcdLevel *level = &search->targets[0].levels[match->level];

  if (match->window >= 0)
    cuv_rcd_draw_map (frame, &search->area, level, self->shape.cell,
        cuv_rcd_cpu_scores (self->cpu) + level->first, self->shape.metric,
        half);
}

const char *
cuv_rcd_searcher_run (CuvRcdSearcher *self, const CuvFrame *frame,
    const CuvRcdSearch *search, double half, void *stream, int n_threads,
    CuvRcdMatch *matches)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return run_cuda (self, frame, search, half, stream, matches);
#endif
  cuv_rcd_cpu_run (self->cpu, frame, search, n_threads, matches);
  if (half > 0.0 && search->n_targets > 0)
    draw_map (self, frame, search, half, &matches[0]);
  return NULL;
}

const char *
cuv_rcd_searcher_measure (CuvRcdSearcher *self, const CuvFrame *frame,
    const CuvRcdBox *box, void *stream, int n_threads, int64_t *sums)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return cuv_rcd_cuda_measure (self->cuda, frame, box, stream, sums) == 0
        ? NULL
        : cuv_cuda_error ();
#endif
  cuv_rcd_cpu_measure (self->cpu, frame, box, n_threads, sums);
  return NULL;
}
