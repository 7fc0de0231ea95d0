/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trackers and their targets, apart from frames. */
#include "track/tracker-private.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

#include <stdio.h>
#include <stdlib.h>

void
cuv_tracker_params_init (CuvTrackerParams *params)
{
  *params = (CuvTrackerParams){ .n_scales = 8,
    .refine = true,
    .learning = { CUV_RCD_UPDATE_LOG_EUCLID, 0.04, 40 } };
  for (int i = 0; i < params->n_scales; i++)
    params->scales[i] = 0.25 * (i + 1);
}

static const char *
shape_problem (const CuvTrackerShape *shape)
{
  if (shape->stride < 0 || shape->stride > CUV_RCD_MAX_SIZE)
    return "the stride is 0 to 16384 pixels";
  if (shape->cell < 0 || shape->cell > CUV_RCD_MAX_CELL)
    return "cells are 0 to 32 pixels wide and high";
  if (shape->cell > 0 && shape->stride % shape->cell != 0)
    return "cell does not divide stride: choose a divisor of the stride, or 0";
  if (shape->max_targets < 1 || shape->max_targets > CUV_RCD_MAX_TARGETS)
    return "1 to 16 targets are tracked";
  if (!(shape->lambda >= 0.0) || isinf (shape->lambda))
    return "lambda is a number that is not negative";
  return NULL;
}

CuvTracker *
cuv_tracker_new (const CuvTrackerShape *shape, const char **problem)
{
  CuvTracker *self;

  *problem = shape_problem (shape);
  if (*problem != NULL)
    return NULL;
  self = calloc (1, sizeof *self);
  *problem = self != NULL ? NULL : "out of memory";
  if (self != NULL)
    self->shape = *shape;
  return self;
}

void
cuv_tracker_leave_device (CuvTracker *self)
{
  if (self->searcher != NULL && self->searcher->on_device) {
    cuv_rcd_searcher_free (self->searcher);
    self->searcher = NULL;
  }
}

void
cuv_tracker_free (CuvTracker *self)
{
  if (self != NULL)
    cuv_rcd_searcher_free (self->searcher);
  free (self);
}

int
cuv_tracker_n_targets (const CuvTracker *self)
{
  return self->n_targets;
}

void
cuv_tracker_measure_anew (CuvTracker *self)
{
  for (int t = 0; t < self->n_targets; t++) {
    CuvTrackerTarget *target = &self->targets[t];

    if (target->track.state == CUV_TRACK_TRACKED)
      target->pending = true;
    else
      target->stale = true;
  }
}

const char *
cuv_tracker_reshape (CuvTracker *self, const CuvTrackerShape *shape)
{
  const char *problem = shape_problem (shape);

  if (problem == NULL && shape->max_targets < self->n_targets)
    problem = "there are more targets than that: remove some first";
  if (problem != NULL)
    return problem;
  if (shape->features != self->shape.features
      || shape->lambda != self->shape.lambda)
    cuv_tracker_measure_anew (self);
  self->shape = *shape;
  return NULL;
}

/* ---- whether something can be a target ---- */

void
cuv_tracker_refuse (
    CuvTracker *self, const char *name, const CuvRcdBox *box, const char *why)
{
  snprintf (self->refused, sizeof self->refused,
      "the %s of %d x %d pixels at (%d, %d) %s", name, box->width, box->height,
      box->x, box->y, why);
}

/* Whether its colours or gradients vary by more than lambda, that is, than by
 * rounding to whole numbers. */
static bool
is_textured (const CuvRcdMemory *memory)
{
  for (int i = memory->n == 9 ? 2 : 0; i < memory->n; i++) {
    if (memory->model.c[cuv_rcd_at (memory->n, i, i)] > 2.0 * memory->lambda)
      return true;
  }
  return false;
}

const char *
cuv_tracker_first_look (CuvTracker *self, CuvTrackerTarget *target,
    const int64_t *sums, const CuvRcdBox *box)
{
  const int n = cuv_rcd_n_features (self->shape.features);

  if ((int64_t) box->width * box->height < n + 1)
    return "has too few pixels inside the frame for its features: choose a "
           "larger box";
  if (!cuv_rcd_memory_init (&target->memory, sums, n, box, self->shape.lambda))
    return "has features that do not vary independently: choose a box with "
           "more texture, or a lambda above 0";
  if (!is_textured (&target->memory))
    return "is flat, nothing tells it from other flat places: choose a box "
           "with texture in it";
  return NULL;
}

/* ---- add and remove ---- */

static CuvTrackerTarget *
add (CuvTracker *self, const CuvRcdBox *box)
{
  CuvTrackerTarget *target;

  if (self->n_targets >= self->shape.max_targets)
    return NULL;
  target = &self->targets[self->n_targets];
  *target = (CuvTrackerTarget){ .track = { .id = self->last_id + 1,
                                    .box = *box,
                                    .scale = 1.0,
                                    .distance = (double) INFINITY,
                                    .second = (double) INFINITY } };
  return target;
}

int32_t
cuv_tracker_add (CuvTracker *self, const CuvRcdBox *box)
{
  CuvTrackerTarget *target = add (self, box);

  if (target == NULL)
    return 0;
  target->pending = true;
  self->n_targets++;
  return ++self->last_id;
}

int32_t
cuv_tracker_add_picture (
    CuvTracker *self, const CuvFrame *picture, const char **problem)
{
  const CuvRcdBox box = { 0, 0, picture->width, picture->height };
  CuvTrackerTarget *target = add (self, &box);
  int64_t sums[CUV_RCD_MAX_SUMS];
  const char *why;

  *problem = "there are as many targets as there may be: remove one, or allow "
             "more";
  if (target == NULL)
    return 0;
  cuv_rcd_box_sums (picture, self->shape.features, &box, sums);
  why = cuv_tracker_first_look (self, target, sums, &box);
  if (why != NULL) {
    cuv_tracker_refuse (self, "picture", &box, why);
    *problem = self->refused;
    return 0;
  }
  *problem = NULL;
  target->track.state = CUV_TRACK_LOST;
  self->n_targets++;
  return ++self->last_id;
}

void
cuv_tracker_remove_at (CuvTracker *self, int t)
{
  self->n_targets--;
  for (; t < self->n_targets; t++)
    self->targets[t] = self->targets[t + 1];
}

bool
cuv_tracker_remove (CuvTracker *self, int32_t id)
{
  for (int t = 0; t < self->n_targets; t++) {
    if (self->targets[t].track.id == id) {
      cuv_tracker_remove_at (self, t);
      return true;
    }
  }
  return false;
}

void
cuv_tracker_clear (CuvTracker *self)
{
  self->n_targets = 0;
}
