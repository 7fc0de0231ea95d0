/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creating trackers; adding and removing targets. */
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
    .correlation = true,
    .update = { CUV_RCD_UPDATE_LOG_EUCLID, 0.04, 40 } };
  for (int i = 0; i < params->n_scales; i++)
    params->scales[i] = 0.25 * (i + 1);
}

static const char *
config_problem (const CuvTrackerConfig *config)
{
  if (config->stride < 0 || config->stride > CUV_RCD_MAX_SIZE)
    return "stride is outside 0 to 16384 pixels: choose a value in that range";
  if (config->cell < 0 || config->cell > CUV_RCD_MAX_CELL)
    return "cell is outside 0 to 32 pixels: choose a value in that range";
  if (config->cell > 0 && config->stride % config->cell != 0)
    return "cell does not divide stride: choose a divisor of the stride, or 0";
  if (config->max_targets < 1 || config->max_targets > CUV_RCD_MAX_TARGETS)
    return "max-targets is outside 1 to 16: choose a value in that range";
  if (!(config->lambda >= 0.0) || isinf (config->lambda))
    return "lambda is negative or not finite: choose a finite value >= 0";
  return NULL;
}

CuvTracker *
cuv_tracker_new (const CuvTrackerConfig *config, const char **problem)
{
  CuvTracker *self;

  *problem = config_problem (config);
  if (*problem != NULL)
    return NULL;
  self = calloc (1, sizeof *self);
  *problem = self != NULL ? NULL : "out of memory";
  if (self != NULL)
    self->config = *config;
  return self;
}

void
cuv_tracker_leave_device (CuvTracker *self)
{
  if (self->backend.on_device)
    cuv_backend_close (&self->backend);
}

void
cuv_tracker_free (CuvTracker *self)
{
  if (self == NULL)
    return;
  cuv_backend_close (&self->backend);
  for (int t = 0; t < CUV_RCD_MAX_TARGETS; t++)
    free (self->targets[t].correlation);
  free (self->work);
  free (self);
}

int
cuv_tracker_n_targets (const CuvTracker *self)
{
  return self->n_targets;
}

void
cuv_tracker_remeasure_all (CuvTracker *self)
{
  for (int t = 0; t < self->n_targets; t++) {
    CuvTrackerTarget *target = &self->targets[t];

    if (target->track.state == CUV_TRACK_TRACKED)
      target->pending = true;
    else
      target->drop = true;
  }
}

const char *
cuv_tracker_reconfigure (CuvTracker *self, const CuvTrackerConfig *config)
{
  const char *problem = config_problem (config);

  if (problem == NULL && config->max_targets < self->n_targets)
    problem = "max-targets is less than the number of tracked targets: remove "
              "some first";
  if (problem != NULL)
    return problem;
  if (config->features != self->config.features
      || config->lambda != self->config.lambda)
    cuv_tracker_remeasure_all (self);
  self->config = *config;
  return NULL;
}

/* ---- checks of new targets ---- */

void
cuv_tracker_reject (
    CuvTracker *self, const char *name, const CuvRcdBox *box, const char *why)
{
  snprintf (self->rejected, sizeof self->rejected,
      "the %s of %d x %d pixels at (%d, %d) %s", name, box->width, box->height,
      box->x, box->y, why);
}

/* Whether a colour or gradient varies by more than lambda, the variance of
 * rounding to integers. c includes lambda once. */
static bool
is_textured (const CuvRcdAppearance *appearance)
{
  for (int i = appearance->n == 9 ? 2 : 0; i < appearance->n; i++) {
    if (appearance->model.c[cuv_rcd_packed_index (appearance->n, i, i)]
        > 2.0 * appearance->lambda)
      return true;
  }
  return false;
}

const char *
cuv_tracker_init_appearance (CuvTracker *self, CuvTrackerTarget *target,
    const int64_t *sums, const CuvRcdBox *box)
{
  const int n = cuv_rcd_n_features (self->config.features);

  if ((int64_t) box->width * box->height < n + 1)
    return "has too few pixels inside the frame for its features: choose a "
           "larger box";
  if (!cuv_rcd_appearance_init (
          &target->appearance, sums, n, box, self->config.lambda))
    return "has features that do not vary independently: choose a box with "
           "more texture";
  if (!is_textured (&target->appearance))
    return "is flat and matches any other flat region: choose a box with "
           "texture";
  return NULL;
}

/* ---- add and remove ---- */

static CuvTrackerTarget *
tracker_add (CuvTracker *self, const CuvRcdBox *box)
{
  CuvTrackerTarget *target;
  CuvCorrelation *correlation;

  if (self->n_targets >= self->config.max_targets)
    return NULL;
  target = &self->targets[self->n_targets];
  correlation = target->correlation;
  *target = (CuvTrackerTarget){ .track = { .id = self->last_id + 1,
                                    .box = *box,
                                    .scale = 1.0,
                                    .distance = (double) INFINITY,
                                    .second = (double) INFINITY },
    .gain = 1.0,
    .correlation = correlation };
  return target;
}

int32_t
cuv_tracker_add (CuvTracker *self, const CuvRcdBox *box)
{
  CuvTrackerTarget *target = tracker_add (self, box);

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
  CuvTrackerTarget *target = tracker_add (self, &box);
  int64_t sums[CUV_RCD_MAX_SUMS];
  const char *why;

  *problem = "already tracking max-targets objects: remove one, or raise "
             "max-targets";
  if (target == NULL)
    return 0;
  cuv_rcd_box_sums (picture, self->config.features, &box, sums);
  why = cuv_tracker_init_appearance (self, target, sums, &box);
  if (why != NULL) {
    cuv_tracker_reject (self, "picture", &box, why);
    *problem = self->rejected;
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
  CuvCorrelation *unused = self->targets[t].correlation;

  self->n_targets--;
  for (; t < self->n_targets; t++)
    self->targets[t] = self->targets[t + 1];
  self->targets[t].correlation = unused;
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
