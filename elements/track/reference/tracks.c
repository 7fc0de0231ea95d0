/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a track: it begins with a box, is confirmed by min_hits boxes in
 * consecutive frames, is lost without one, and is dropped when it has been lost
 * for too long. */
#include "mot-private.h"

static void
confirm (CuvMot *self, CuvMotTrack *track)
{
  track->id = self->next_id++;
  track->state = CUV_MOT_TRACKED;
  track->event = CUV_MOT_ACQUIRED;
}

void
cuv_mot_begin (CuvMot *self, int detection)
{
  const CuvMotDetection *from = &self->frame->detections[detection];
  CuvMotTrack *track = &self->tracks[self->n_tracks];

  if (self->n_tracks == CUV_MOT_MAX_TRACKS)
    return;
  self->n_tracks++;
  *track = (CuvMotTrack){ .state = CUV_MOT_NEW,
    .group = from->group,
    .hits = 1,
    .detection = detection,
    .first_seen = self->frame->time,
    .last_seen = self->frame->time,
    .box = from->box,
    .predicted = from->box };
  cuv_mot_kalman_init (&track->filter, &from->box);
  if (self->first || self->params->min_hits <= 1)
    confirm (self, track);
}

void
cuv_mot_found (CuvMot *self, CuvMotTrack *track, int detection)
{
  track->detection = detection;
  track->lost_frames = 0;
  if (self->frame->detections[detection].held)
    return;
  track->box = self->frame->detections[detection].box;
  track->last_seen = self->frame->time;
  cuv_mot_kalman_update (&track->filter, &track->box);
  track->hits++;
  if (track->state == CUV_MOT_NEW && track->hits >= self->params->min_hits)
    confirm (self, track);
  if (track->state == CUV_MOT_LOST) {
    track->state = CUV_MOT_TRACKED;
    track->event = CUV_MOT_REACQUIRED;
  }
}

void
cuv_mot_drop (CuvMotTrack *track)
{
  track->state = CUV_MOT_GONE;
  track->event = track->id > 0 ? CUV_MOT_GIVEN_UP : CUV_MOT_NO_EVENT;
}

void
cuv_mot_missed (CuvMot *self, CuvMotTrack *track)
{
  if (self->frame->skipped)
    return;
  if (track->state == CUV_MOT_NEW) {
    cuv_mot_drop (track);
  } else if (track->state == CUV_MOT_TRACKED) {
    track->state = CUV_MOT_LOST;
    track->event = CUV_MOT_WENT_LOST;
  }
}

/* The height of a lost box stays as it is: its velocity would be of boxes that
 * were partly hidden. */
static void
predict (CuvMotTrack *track, double elapsed)
{
  if (track->state == CUV_MOT_LOST)
    track->filter.axis[3].velocity = 0;
  cuv_mot_kalman_predict (&track->filter, elapsed);
  track->predicted = cuv_mot_kalman_box (&track->filter);
}

void
cuv_mot_advance (CuvMot *self)
{
  int n = 0;

  for (int i = 0; i < self->n_tracks; i++) {
    CuvMotTrack *track = &self->tracks[n];

    if (self->tracks[i].state == CUV_MOT_GONE)
      continue;
    *track = self->tracks[i];
    n++;
    track->event = CUV_MOT_NO_EVENT;
    track->detection = -1;
    track->lost_frames += self->frame->elapsed;
    predict (track, self->frame->elapsed);
  }
  self->n_tracks = n;
}

/* Half a frame more: times of frames are rounded. */
void
cuv_mot_expire (CuvMot *self)
{
  for (int i = 0; i < self->n_tracks; i++) {
    CuvMotTrack *track = &self->tracks[i];

    if (track->detection < 0 && track->state != CUV_MOT_GONE
        && track->lost_frames > self->params->max_lost + 0.5)
      cuv_mot_drop (track);
  }
}
