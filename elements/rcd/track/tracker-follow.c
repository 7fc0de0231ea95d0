/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Correlation filters of targets: their memory, their work on a frame, and how
 * their result is combined with the covariance's.
 *
 * The filter determines position and size to a pixel, whatever the light, but
 * it follows what hides its target, and objects that turn confuse it. The
 * covariance distinguishes the target from others, and recognises it when it
 * turns, but its position and size are vague. So the box is the filter's while
 * the filter's response is about as high as usual, otherwise the covariance's.
 * The filter does not learn what neither of them recognises. */
#include "track/tracker-private.h"

#include <math.h>
#include <stdlib.h>

/* A response is judged by its quality, the ratio to the target's usual one. The
 * constants were chosen on the videos of docs/accuracy.md and
 * docs/benchmarks/rcd.md. */
static const double learned_quality = 0.7; /* lowest quality at which the filter
                                            * learns */
static const double gone_quality = 0.6;
static const double verified_quality = 0.35;
/* A match is clear if its distance is below this fraction of that of the second
 * best match. */
static const double clear_ratio = 0.2;
/* A match whose size changes by more than a factor of largest_change is wrong.
 * The box's size changes at most by a factor of most_growth per frame. */
static const double largest_change = 1.2, most_growth = 1.05;
static const double least_overlap = 0.5; /* minimum IoU of a filter and a match
                                          * that agree */
static const double clear_overlap = 0.6; /* minimum IoU of a filter and a clear
                                          * match that agree */
/* The usual response of a new target, relative to the response to what was
 * learned; and the rate at which it follows current responses. */
static const double usual_response = 0.8, peak_rate = 0.1;
static const float learning_rate = 0.015f;

/* Doubt adds up from frame to frame. It is less where the match is distinct. */
enum { DISTINCT_DOUBT = 1, DOUBT = 3, MOST_DOUBT = 30 };

/* ---- memory ---- */

bool
cuv_tracker_prepare_filters (CuvTracker *self)
{
  bool ok = true;

  if (self->work == NULL) {
    self->work = calloc (1, sizeof *self->work);
    if (self->work != NULL)
      cuv_correlation_work_init (&self->work->correlation);
  }
  for (int t = 0; t < self->n_targets; t++) {
    CuvTrackerTarget *target = &self->targets[t];

    if (target->correlation == NULL)
      target->correlation = calloc (1, sizeof *target->correlation);
    ok = ok && target->correlation != NULL;
  }
  return ok && self->work != NULL;
}

/* ---- jobs ---- */

static void
plan (CuvTracker *self, CuvRcdFilterTask task)
{
  CuvTrackerWork *work = self->work;

  work->job = (CuvRcdFilterJob){
    .task = task, .filters = work->filters, .work = &work->correlation
  };
}

static void
add_filter (CuvTracker *self, CuvTrackerTarget *target)
{
  CuvTrackerWork *work = self->work;

  target->crop = work->job.n;
  work->filters[work->job.n++] = target->correlation;
}

const CuvRcdFilterJob *
cuv_tracker_filter_job (const CuvTracker *self)
{
  return self->work->job.n > 0 ? &self->work->job : NULL;
}

static const char *
run_filters (
    CuvTracker *self, const CuvFrame *frame, const CuvProcessor *processor)
{
  CuvRcdJob job = { .frame = frame, .filters = cuv_tracker_filter_job (self) };

  return job.filters != NULL ? cuv_backend_run (&self->backend, &job, processor)
                             : NULL;
}

void
cuv_tracker_plan_filters (CuvTracker *self)
{
  plan (self, CUV_RCD_FIND);
  for (int t = 0; t < self->n_targets; t++) {
    CuvTrackerTarget *target = &self->targets[t];

    if (target->follows && !target->pending && !target->skip_search)
      add_filter (self, target);
  }
}

/* ---- starting ---- */

/* Prepares the filter of a target that was found in another way: moves it
 * there, or returns true if it has to learn the target first. */
static bool
plan_start (CuvTracker *self, CuvTrackerTarget *target)
{
  if (target->track.state != CUV_TRACK_TRACKED || target->crop >= 0
      || target->pending)
    return false;
  if (target->follows) {
    cuv_correlation_move (target->correlation, &target->track.box);
    target->sure_place = target->correlation->place;
    return false;
  }
  cuv_correlation_init (target->correlation, &target->track.box);
  add_filter (self, target);
  return true;
}

const char *
cuv_tracker_start_filters (
    CuvTracker *self, const CuvFrame *frame, const CuvProcessor *processor)
{
  CuvTrackerTarget *starting[CUV_RCD_MAX_TARGETS];
  int n = 0;
  const char *problem;

  plan (self, CUV_RCD_START);
  for (int t = 0; t < self->n_targets; t++) {
    if (plan_start (self, &self->targets[t]))
      starting[n++] = &self->targets[t];
  }
  problem = run_filters (self, frame, processor);
  for (int i = 0; i < n && problem == NULL; i++) {
    starting[i]->follows = true;
    starting[i]->mean_peak = usual_response * starting[i]->correlation->peak;
    starting[i]->sure_place = starting[i]->correlation->place;
  }
  return problem;
}

/* ---- a target's position in a frame ---- */

/* What the filter found, and the match. */

typedef struct {
  const CuvRcdMatch *match;
  CuvRcdBox box;  /* box of the filter, inside the frame */
  double quality; /* quality of the filter's response */
  double growth;  /* size of the match relative to the last box */
  bool reliable;  /* whether the match is reliable */
  bool distinct;  /* the match is within the limit and not ambiguous */
  bool clear;     /* the match is also far better than the second best */
} View;

/* Sets the box from the filter's place. */
static void
set_box (const CuvTracker *self, const CuvTrackerTarget *target, View *view)
{
  const CuvRcdBox box = cuv_correlation_box (target->correlation);

  view->box = cuv_tracker_clip (&box, self->width, self->height);
}

static View
look (const CuvTracker *self, CuvTrackerTarget *target,
    const CuvRcdMatch *match, double limit)
{
  const CuvRcdMetric metric = self->config.metric;
  const CuvCorrelation *filter = target->correlation;
  CuvTrack *track = &target->track;
  View view = { .match = match };

  track->distance = cuv_rcd_distance (match->score, metric);
  track->second = cuv_rcd_distance (match->second, metric);
  if (target->mean_peak > 0.0)
    view.quality = filter->peak / target->mean_peak;
  set_box (self, target, &view);
  if (match->window < 0)
    return view;
  view.growth = sqrt ((double) match->box.width * match->box.height
                    / (filter->width * filter->height))
      / filter->crop.scale;
  view.distinct =
      track->distance <= limit && cuv_tracker_is_distinct (track, metric);
  view.reliable = cuv_tracker_is_reliable (target, metric, limit)
      && view.growth < largest_change && view.growth > 1.0 / largest_change;
  view.clear = view.reliable && cuv_tracker_is_near (track, metric, limit)
      && track->distance < clear_ratio * track->second;
  return view;
}

/* ---- tracked targets ---- */

/* Whether the match is more likely the target than what the filter found. */
static bool
prefers_match (const View *view)
{
  return (view->distinct && view->quality < learned_quality)
      || (view->clear
          && cuv_rcd_overlap (&view->box, &view->match->box) < clear_overlap);
}

/* Moves the filter to the match and limits the change of its size. */
static void
go_to_match (const CuvTracker *self, CuvTrackerTarget *target, View *view)
{
  CuvCorrelation *filter = target->correlation;

  cuv_correlation_move (filter, &view->match->box);
  filter->place.scale = filter->crop.scale
      * fmin (fmax (view->growth, 1.0 / most_growth), most_growth);
  set_box (self, target, view);
}

static void
count_doubt (CuvTrackerTarget *target, const View *view)
{
  if (view->reliable || view->quality >= learned_quality)
    target->doubtful_frames = 0;
  else
    target->doubtful_frames += view->distinct ? DISTINCT_DOUBT : DOUBT;
}

static bool
is_gone (const CuvTrackerTarget *target, const View *view,
    const CuvTrackerParams *params, double limit)
{
  const bool limited = params->max_distance > 0.0;

  if (view->box.width == 0 || view->match->window < 0)
    return true;
  if (!(target->track.distance <= limit)
      && (limited || view->quality < gone_quality))
    return true;
  return !limited && target->doubtful_frames > MOST_DOUBT;
}

static void
set_found (CuvTrackerTarget *target, const View *view)
{
  const CuvRcdModel *model = &target->appearance.model;
  const CuvCorrelation *filter = target->correlation;

  cuv_tracker_set_found (target, &view->box);
  /* scale of the whole box, including what lies outside the frame */
  target->track.scale = filter->place.scale
      * sqrt (filter->width * filter->height / (model->width * model->height));
}

static const char *
learn (CuvTracker *self, CuvTrackerTarget *target, const View *view,
    const CuvTrackerParams *params, const CuvProcessor *processor)
{
  CuvCorrelation *filter = target->correlation;
  const bool agree = view->reliable
      && cuv_rcd_overlap (&view->box, &view->match->box) >= least_overlap;
  const CuvRcdFilterJob lesson = { CUV_RCD_LEARN, &filter, 1, target->crop,
    learning_rate, &self->work->correlation };
  CuvRcdJob job = { .filters = &lesson };

  if (agree)
    cuv_tracker_update_model (
        target, view->match, &params->update, self->config.metric);
  if (!agree && view->quality < learned_quality)
    return NULL;
  target->mean_peak += peak_rate * (filter->peak - target->mean_peak);
  target->sure_place = filter->place;
  return cuv_backend_run (&self->backend, &job, processor);
}

static void
set_lost (CuvTrackerTarget *target, const CuvTrackerParams *params)
{
  target->correlation->place = target->sure_place;
  target->doubtful_frames = 0;
  cuv_tracker_set_lost (target, params->max_lost_frames);
}

const char *
cuv_tracker_follow (CuvTracker *self, CuvTrackerTarget *target,
    const CuvRcdMatch *match, const CuvTrackerParams *params,
    const CuvProcessor *processor)
{
  const double limit = cuv_tracker_max_distance (&self->config, params);
  View view = look (self, target, match, limit);

  if (view.box.width > 0 && prefers_match (&view))
    go_to_match (self, target, &view);
  count_doubt (target, &view);
  if (is_gone (target, &view, params, limit)) {
    set_lost (target, params);
    return NULL;
  }
  set_found (target, &view);
  return learn (self, target, &view, params, processor);
}

/* ---- lost targets ---- */

/* Looks for a lost target where it was last found with certainty. Returns
 * whether it is there. */
bool
cuv_tracker_find_again (CuvTracker *self, CuvTrackerTarget *target,
    const CuvRcdMatch *match, const CuvTrackerParams *params)
{
  const double limit = cuv_tracker_max_distance (&self->config, params);
  const View view = look (self, target, match, limit);

  if (!is_gone (target, &view, params, limit)
      && view.quality >= learned_quality) {
    set_found (target, &view);
    return true;
  }
  target->correlation->place = target->sure_place;
  return false;
}

/* Whether the filter recognises a candidate of the covariance, at the last
 * reliable size: the candidate's size may be that of a part that reappeared
 * first. */
static bool
is_verified (const CuvTrackerTarget *target, const View *view,
    const CuvTrackerParams *params)
{
  return view->box.width > 0
      && (view->quality >= verified_quality || params->max_distance > 0.0);
}

static void
verify (CuvTracker *self, int i, const CuvTrackerParams *params)
{
  CuvTrackerTarget *target = &self->targets[self->plan.target[i]];
  const double limit = cuv_tracker_max_distance (&self->config, params);
  const CuvTrack before = target->track;
  const View view = look (self, target, &self->matches[i], limit);

  if (is_verified (target, &view, params)) {
    if (target->gain != 1.0)
      cuv_tracker_set_relit (target, &self->plan.targets[i].model);
    set_found (target, &view);
    return;
  }
  if (target->gain == 1.0) {
    set_lost (target, params);
  } else { /* was lost before this frame */
    target->track = before;
    target->correlation->place = target->sure_place;
  }
}

const char *
cuv_tracker_verify (CuvTracker *self, const CuvFrame *frame,
    const CuvTrackerParams *params, const CuvProcessor *processor)
{
  const char *problem;

  plan (self, CUV_RCD_FIND);
  for (int i = 0; i < self->plan.n_targets; i++) {
    CuvTrackerTarget *target = &self->targets[self->plan.target[i]];

    if (!target->candidate)
      continue;
    cuv_correlation_move (target->correlation, &self->matches[i].box);
    target->correlation->place.scale = target->sure_place.scale;
    add_filter (self, target);
  }
  problem = run_filters (self, frame, processor);
  for (int i = 0; i < self->plan.n_targets; i++) {
    CuvTrackerTarget *target = &self->targets[self->plan.target[i]];

    if (target->candidate && problem == NULL)
      verify (self, i, params);
    target->candidate = false;
    target->gain = 1.0;
  }
  return problem;
}
