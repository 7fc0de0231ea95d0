/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracks all targets in a frame: searches, decides, and updates models. */
#include "track/tracker-private.h"
#include "cuvtime.h"
#include "rcd/rcd-distance.h"

#include <stdio.h>

double
cuv_tracker_max_distance (
    const CuvTrackerConfig *config, const CuvTrackerParams *params)
{
  /* JBLD, FORSTNER; chosen on the videos of docs/benchmarks/rcd.md, "How well
   * it tracks" */
  static const double limits[][2] = { [CUV_RCD_RGB_GRAD] = { 0.4, 1.8 },
    [CUV_RCD_TUZEL9] = { 0.7, 2.7 },
    [CUV_RCD_GREY_GRAD] = { 0.25, 1.4 } };

  return params->max_distance > 0.0 ? params->max_distance
                                    : limits[config->features][config->metric];
}

double
cuv_tracker_confidence (double distance, double max_distance)
{
  return exp2 (-distance / max_distance);
}

/* ---- prepare ---- */

/* Whether a backend opened with config a can do the jobs of config b. */
static bool
covers (const CuvRcdConfig *a, const CuvRcdConfig *b)
{
  return a->features == b->features && a->metric == b->metric
      && a->width == b->width && a->height == b->height && a->cell == b->cell
      && a->max_targets == b->max_targets && a->max_windows >= b->max_windows
      && a->lambda == b->lambda;
}

const char *
cuv_tracker_prepare (CuvTracker *self, const CuvTrackerParams *params,
    const CuvFrame *frame, const CuvProcessor *processor)
{
  const CuvTrackerPlan *plan = &self->plan;
  CuvRcdConfig config;

  if (params->correlation && !cuv_tracker_prepare_filters (self))
    return "out of memory";
  cuv_tracker_plan (self, params, frame->width, frame->height, true);
  config = (CuvRcdConfig){ self->config.features, self->config.metric,
    frame->width, frame->height, plan->cell, self->config.max_targets,
    plan->max_windows > 0 ? plan->max_windows : 1, self->config.lambda };
  if (self->backend.klass != NULL
      && self->backend.on_device == processor->on_device
      && covers (&self->backend_config, &config))
    return NULL;
  cuv_backend_close (&self->backend);
  self->backend_config = config;
  return cuv_backend_open (
      &self->backend, &cuv_rcd_backend_classes, &config, frame, processor);
}

/* ---- new targets ---- */

static void
acquire (CuvTrackerTarget *target, const CuvRcdBox *box)
{
  CuvTrack *track = &target->track;

  if (!target->acquired)
    track->event = CUV_TRACK_ACQUIRED;
  track->state = CUV_TRACK_TRACKED;
  track->box = *box;
  track->scale = 1.0;
  track->distance = 0.0;
  target->acquired = true;
  target->pending = false;
  target->skip_search = true;
}

/* Finds the box beside a new target that looks most like it; its distance is
 * infinite if none is inside the frame. Returns NULL, or what went wrong. */
static const char *
search_beside (CuvTracker *self, const CuvTrackerTarget *target,
    const CuvFrame *frame, const CuvProcessor *processor, double *least)
{
  static const int directions[][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 },
    { 0, 1 } };
  const CuvRcdBox *box = &target->track.box;
  const CuvRcdBox origin = { 0, 0, box->width, box->height };
  int64_t sums[CUV_RCD_MAX_SUMS];

  *least = (double) INFINITY;
  for (int i = 0; i < 4; i++) {
    const CuvRcdBox beside = { box->x + directions[i][0] * box->width,
      box->y + directions[i][1] * box->height, box->width, box->height };
    const CuvRcdBox inside =
        cuv_tracker_clip (&beside, frame->width, frame->height);
    CuvRcdJob job = { .frame = frame, .box = &beside, .sums = sums };
    const char *problem;

    if (inside.width != box->width || inside.height != box->height)
      continue;
    problem = cuv_backend_run (&self->backend, &job, processor);
    if (problem != NULL)
      return problem;
    *least = fmin (*least,
        cuv_rcd_distance (cuv_rcd_score (sums, target->appearance.n, &origin,
                              &target->appearance.model, self->config.metric,
                              self->config.lambda),
            self->config.metric));
  }
  return NULL;
}

static const char *
check_surroundings (CuvTracker *self, const CuvTrackerTarget *target,
    const CuvTrackerParams *params, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const double limit = cuv_tracker_max_distance (&self->config, params);
  const CuvRcdBox *box = &target->track.box;
  double least;
  const char *problem = search_beside (self, target, frame, processor, &least);

  if (problem == NULL && least <= limit)
    snprintf (self->ambiguous, sizeof self->ambiguous,
        "the target of %d x %d pixels at (%d, %d) looks like the box beside "
        "it, whose distance of %.2g is within the limit of %.2g",
        box->width, box->height, box->x, box->y, least, limit);
  return problem;
}

static const char *
tracker_measure (CuvTracker *self, CuvTrackerTarget *target,
    const CuvTrackerParams *params, const CuvFrame *frame,
    const CuvProcessor *processor, bool *rejected)
{
  const CuvRcdBox box =
      cuv_tracker_clip (&target->track.box, frame->width, frame->height);
  const bool is_new = !target->acquired;
  int64_t sums[CUV_RCD_MAX_SUMS];
  CuvRcdJob job = { .frame = frame, .box = &box, .sums = sums };
  const char *problem = cuv_backend_run (&self->backend, &job, processor);

  if (problem != NULL)
    return problem;
  problem = cuv_tracker_init_appearance (self, target, sums, &box);
  *rejected = problem != NULL;
  if (problem != NULL)
    cuv_tracker_reject (self, "target", &target->track.box, problem);
  else
    acquire (target, &box);
  return is_new && !*rejected
      ? check_surroundings (self, target, params, frame, processor)
      : NULL;
}

static const char *
measure_pending (CuvTracker *self, const CuvTrackerParams *params,
    const CuvFrame *frame, const CuvProcessor *processor)
{
  for (int t = self->n_targets - 1; t >= 0; t--) {
    const char *problem;
    bool rejected = false;

    if (!self->targets[t].pending)
      continue;
    problem = tracker_measure (
        self, &self->targets[t], params, frame, processor, &rejected);
    if (problem != NULL)
      return problem;
    if (rejected)
      cuv_tracker_remove_at (self, t);
  }
  return NULL;
}

/* Rejects targets outside the frame; called before prepare(), so that no memory
 * is allocated for them. */
static void
reject_outside (CuvTracker *self, const CuvFrame *frame)
{
  for (int t = self->n_targets - 1; t >= 0; t--) {
    const CuvRcdBox *box = &self->targets[t].track.box;

    if (!self->targets[t].pending
        || cuv_tracker_clip (box, frame->width, frame->height).width > 0)
      continue;
    cuv_tracker_reject (self, "target", box,
        box->width > 0 && box->height > 0
            ? "lies outside the frame: choose a box inside"
            : "is empty: choose a box with more pixels than features");
    cuv_tracker_remove_at (self, t);
  }
}

/* ---- a frame ---- */

static const char *
update_targets (CuvTracker *self, const CuvTrackerParams *params,
    const CuvProcessor *processor)
{
  const char *problem = NULL;

  for (int i = 0; i < self->plan.n_targets && problem == NULL; i++) {
    CuvTrackerTarget *target = &self->targets[self->plan.target[i]];

    if (target->crop >= 0 && target->track.state == CUV_TRACK_LOST
        && cuv_tracker_find_again (self, target, &self->matches[i], params))
      continue;
    if (target->crop >= 0 && target->track.state == CUV_TRACK_TRACKED)
      problem = cuv_tracker_follow (
          self, target, &self->matches[i], params, processor);
    else
      cuv_tracker_update_target (self, target, &self->matches[i], params);
  }
  return problem;
}

/* with_filters: also runs the planned filters. */
static const char *
tracker_search (CuvTracker *self, const CuvFrame *frame,
    const CuvTrackerParams *params, double half, bool with_filters,
    const CuvProcessor *processor)
{
  CuvTrackerPlan *plan = &self->plan;
  const CuvRcdSearch request = { plan->area, plan->n_targets, plan->targets,
    !params->refine           ? 0
        : plan->spacing >= 16 ? plan->spacing / 8
                              : 1,
    plan->n_candidates };
  CuvRcdJob job = { .frame = frame,
    .search = plan->n_windows > 0 ? &request : NULL,
    .matches = self->matches,
    .half = half };

  for (int i = 0; i < plan->n_targets; i++)
    self->matches[i] = cuv_rcd_no_match ();
  if (with_filters)
    job.filters = cuv_tracker_filter_job (self);
  if (job.search == NULL && job.filters == NULL)
    return NULL;
  return cuv_backend_run (&self->backend, &job, processor);
}

/* ---- light ---- */

/* If light becomes darker or brighter, it multiplies colours and gradients, and
 * all distances become large. Chooses a gain for each target that was lost
 * before this frame, and excludes the others from the search. */
static bool
choose_gains (CuvTracker *self)
{
  static const double gains[] = { 0.5, 2.0, 0.7, 1.4 };
  const int n = sizeof gains / sizeof *gains;
  bool any = false;

  for (int t = 0; t < self->n_targets; t++) {
    CuvTrackerTarget *target = &self->targets[t];
    const int lost_frames = target->track.lost_frames;

    target->skip_search |= !target->acquired
        || target->track.state != CUV_TRACK_LOST
        || target->track.event != CUV_TRACK_NO_EVENT || lost_frames < 2;
    if (!target->skip_search)
      target->gain = gains[lost_frames % n];
    any |= !target->skip_search;
  }
  return any;
}

static const char *
search_in_other_light (CuvTracker *self, const CuvFrame *frame,
    const CuvTrackerParams *params, const CuvProcessor *processor)
{
  const double limit = cuv_tracker_max_distance (&self->config, params);
  const int n_windows = self->plan.n_windows;
  const char *problem;

  if (!choose_gains (self))
    return NULL;
  cuv_tracker_plan (self, params, frame->width, frame->height, false);
  problem = tracker_search (self, frame, params, 0.0, false, processor);
  for (int i = 0; i < self->plan.n_targets && problem == NULL; i++)
    cuv_tracker_update_relit (self, &self->targets[self->plan.target[i]],
        &self->matches[i], &self->plan.targets[i].model, limit);
  self->plan.n_windows += n_windows;
  return problem == NULL && self->work != NULL
      ? cuv_tracker_verify (self, frame, params, processor)
      : problem;
}

/* ---- one frame ---- */

static void
begin_frame (CuvTracker *self)
{
  self->rejected[0] = self->ambiguous[0] = '\0';
  for (int t = 0; t < self->n_targets; t++) {
    CuvTrackerTarget *target = &self->targets[t];

    target->skip_search = target->drop;
    target->gain = 1.0;
    target->crop = -1;
    target->track.event =
        target->drop ? CUV_TRACK_GIVEN_UP : CUV_TRACK_NO_EVENT;
    target->track.second = (double) INFINITY;
  }
}

static void
end_frame (CuvTracker *self, CuvTrackerResult *result)
{
  result->windows = self->plan.n_windows;
  result->rejected = self->rejected[0] != '\0' ? self->rejected : NULL;
  result->ambiguous = self->ambiguous[0] != '\0' ? self->ambiguous : NULL;
  for (int t = 0; t < self->n_targets; t++)
    result->tracks[result->n_tracks++] = self->targets[t].track;
  for (int t = self->n_targets - 1; t >= 0; t--) {
    if (self->targets[t].track.event == CUV_TRACK_GIVEN_UP)
      cuv_tracker_remove_at (self, t);
  }
}

static const char *
tracker_run (CuvTracker *self, const CuvFrame *frame,
    const CuvTrackerParams *params, bool draw, const CuvProcessor *processor)
{
  const bool same_size =
      frame->width == self->width && frame->height == self->height;
  const double half =
      draw ? cuv_tracker_max_distance (&self->config, params) : 0.0;
  const char *problem;
  bool follow;

  if (self->width > 0 && frame->model != self->model)
    cuv_tracker_remeasure_all (self);
  self->width = frame->width;
  self->height = frame->height;
  self->model = frame->model;
  begin_frame (self);
  reject_outside (self, frame);
  problem = cuv_tracker_prepare (self, params, frame, processor);
  if (problem == NULL)
    problem = measure_pending (self, params, frame, processor);
  /* rejected targets may have changed the grid */
  if (problem == NULL)
    problem = cuv_tracker_prepare (self, params, frame, processor);
  if (problem != NULL)
    return problem;
  cuv_tracker_plan (self, params, frame->width, frame->height, !same_size);
  follow = params->correlation && !params->full && same_size;
  if (follow)
    cuv_tracker_plan_filters (self);
  problem = tracker_search (self, frame, params, half, follow, processor);
  if (problem != NULL)
    return problem;
  problem = update_targets (self, params, processor);
  if (problem == NULL && follow)
    problem = cuv_tracker_verify (self, frame, params, processor);
  if (problem == NULL)
    problem = search_in_other_light (self, frame, params, processor);
  if (problem == NULL && params->correlation)
    problem = cuv_tracker_start_filters (self, frame, processor);
  return problem;
}

const char *
cuv_tracker_run (CuvTracker *self, const CuvFrame *frame,
    const CuvTrackerParams *params, bool draw, const CuvProcessor *processor,
    CuvTrackerResult *result)
{
  struct timespec start;
  const char *problem;

  clock_gettime (CLOCK_MONOTONIC, &start);
  *result = (CuvTrackerResult){ 0 };
  problem = tracker_run (self, frame, params, draw, processor);
  if (problem == NULL)
    end_frame (self, result);
  result->microseconds = cuv_microseconds_since (&start);
  return problem;
}
