/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a match means for a target: found, doubtful or lost. */
#include "track/tracker-private.h"
#include "rcd/rcd-distance.h"

/* ---- reliable matches ----
 *
 * An occlusion changes the best window gradually, and a model that is updated
 * during it drifts to the occluding object. A match is doubtful if its distance
 * is much larger than the mean, or not much smaller than the distance of the
 * second best match. The constants were chosen on the videos of
 * docs/benchmarks/rcd.md, "How well it tracks". */
enum { MAX_DOUBTFUL_FRAMES = 10 };

/* Ratios of divergences, and the rate of their running mean. */
static const double max_mean_ratio = 4.0, mean_rate = 0.1;
static const double reliable_limit_ratio = 0.2;
static const double max_second_ratio = 0.7;

/* Returns the distance, or its square for Foerstner's metric: both are
 * quadratic in small differences of covariances. */
static double
divergence (double distance, CuvRcdMetric metric)
{
  return metric == CUV_RCD_FORSTNER ? distance * distance : distance;
}

bool
cuv_tracker_is_distinct (const CuvTrack *track, CuvRcdMetric metric)
{
  return divergence (track->distance, metric)
      <= max_second_ratio * divergence (track->second, metric);
}

bool
cuv_tracker_is_near (const CuvTrack *track, CuvRcdMetric metric, double limit)
{
  return divergence (track->distance, metric)
      <= reliable_limit_ratio * divergence (limit, metric);
}

bool
cuv_tracker_is_reliable (
    const CuvTrackerTarget *target, CuvRcdMetric metric, double limit)
{
  return cuv_tracker_is_distinct (&target->track, metric)
      && (cuv_tracker_is_near (&target->track, metric, limit)
          || divergence (target->track.distance, metric)
              <= max_mean_ratio * target->mean_divergence);
}

/* Whether the best window is the target. limited: max-distance is set, and it
 * alone decides. */
static bool
is_target (
    CuvTrackerTarget *target, CuvRcdMetric metric, double limit, bool limited)
{
  const CuvTrack *track = &target->track;
  const bool lost = track->state == CUV_TRACK_LOST;

  target->doubtful_frames =
      lost || cuv_tracker_is_reliable (target, metric, limit)
      ? 0
      : target->doubtful_frames + 1;
  if (!(track->distance <= limit))
    return false;
  return limited
      || (lost ? cuv_tracker_is_distinct (track, metric)
               : target->doubtful_frames <= MAX_DOUBTFUL_FRAMES);
}

/* ---- updates ---- */

void
cuv_tracker_update_model (CuvTrackerTarget *target, const CuvRcdMatch *match,
    const CuvRcdUpdateConfig *update, CuvRcdMetric metric)
{
  const double current = divergence (target->track.distance, metric);

  target->mean_divergence += mean_rate * (current - target->mean_divergence);
  cuv_rcd_appearance_update (
      &target->appearance, update, match->sums, &match->box);
}

void
cuv_tracker_set_found (CuvTrackerTarget *target, const CuvRcdBox *box)
{
  const CuvRcdModel *model = &target->appearance.model;
  CuvTrack *track = &target->track;

  if (track->state == CUV_TRACK_LOST)
    track->event = target->acquired ? CUV_TRACK_REACQUIRED : CUV_TRACK_ACQUIRED;
  track->state = CUV_TRACK_TRACKED;
  track->lost_frames = 0;
  track->box = *box;
  track->scale =
      sqrt ((double) box->width * box->height / (model->width * model->height));
  target->acquired = true;
}

void
cuv_tracker_set_lost (CuvTrackerTarget *target, int max_lost_frames)
{
  CuvTrack *track = &target->track;

  if (track->state == CUV_TRACK_TRACKED)
    track->event = CUV_TRACK_WENT_LOST;
  track->state = CUV_TRACK_LOST;
  track->lost_frames++;
  if (max_lost_frames > 0 && track->lost_frames > max_lost_frames)
    track->event = CUV_TRACK_GIVEN_UP;
}

void
cuv_tracker_update_target (const CuvTracker *self, CuvTrackerTarget *target,
    const CuvRcdMatch *match, const CuvTrackerParams *params)
{
  const CuvRcdMetric metric = self->config.metric;
  const double limit = cuv_tracker_max_distance (&self->config, params);
  CuvTrack *track = &target->track;

  track->distance = cuv_rcd_distance (match->score, metric);
  track->second = cuv_rcd_distance (match->second, metric);
  if (!target->acquired) /* target from a picture: its first distance */
    target->mean_divergence = divergence (track->distance, metric);
  if (match->window < 0
      || !is_target (target, metric, limit, params->max_distance > 0.0)) {
    cuv_tracker_set_lost (target, params->max_lost_frames);
    return;
  }
  if (target->crop >= 0) {
    target->candidate = true;
    return;
  }
  cuv_tracker_set_found (target, &match->box);
  if (cuv_tracker_is_reliable (target, metric, limit))
    cuv_tracker_update_model (target, match, &params->update, metric);
}

/* ---- in other light ---- */

void
cuv_tracker_set_relit (CuvTrackerTarget *target, const CuvRcdModel *model)
{
  target->appearance.model = *model;
  target->appearance.update = CUV_RCD_UPDATE_NONE; /* the next update starts
                                                    * from this model */
}

/* Replaces the model of a target after a change of light; the match must be
 * good. */
void
cuv_tracker_update_relit (const CuvTracker *self, CuvTrackerTarget *target,
    const CuvRcdMatch *match, const CuvRcdModel *model, double limit)
{
  const CuvRcdMetric metric = self->config.metric;
  CuvTrack track = target->track;

  track.distance = cuv_rcd_distance (match->score, metric);
  track.second = cuv_rcd_distance (match->second, metric);
  if (match->window < 0 || !cuv_tracker_is_near (&track, metric, limit)
      || !cuv_tracker_is_distinct (&track, metric))
    return;
  if (target->crop >= 0) {
    target->candidate = true;
    return;
  }
  target->track = track;
  cuv_tracker_set_relit (target, model);
  cuv_tracker_set_found (target, &match->box);
}
