/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstrcdconfirm.h"

/* Whether the detector only repeated an earlier object, without analysing this
 * frame. */
static gboolean
is_held (const GstCuvObject *object)
{
  const GstStructure *detection = gst_cuv_object_param (object, "detection");

  return detection != NULL && gst_structure_has_field (detection, "age");
}

/* n_objects: receives the objects that targets may come from. */
static gboolean
is_detected (const GstRcdTargets *self, const CuvRcdBox *target, GQuark label,
    const GstVideoInfo *info, guint *n_objects)
{
  gboolean detected = FALSE;
  CuvRcdBox box;

  *n_objects = 0;
  for (guint i = 0; i < self->present->len; i++) {
    const GstCuvObject *object =
        &g_array_index (self->present, GstCuvObject, i);

    if (object->track >= 0 || is_held (object)
        || !gst_rcd_object_in_frame (object, label, info, &box))
      continue;
    ++*n_objects;
    detected |= gst_rcd_is_same_place (target, &box);
  }
  return detected;
}

/* If a frame has other objects, the detector analysed it. */
static void
count_detection (GstRcdTarget *target, gboolean detected, guint n_objects)
{
  if (detected) {
    target->detections++;
    target->undetected_frames = 0;
  } else {
    target->undetected_frames++;
    target->misses += n_objects > 0;
  }
}

static gboolean
is_refuted (const GstRcdTarget *target, const CuvTrack *track,
    const GstRcdSettings *settings)
{
  const guint frames = settings->max_undetected_frames;

  if (frames > 0 && target->undetected_frames > frames)
    return TRUE;
  return !target->confirmed
      && (track->state == CUV_TRACK_LOST
          || target->misses >= settings->confirm_detections);
}

static void
confirm (GstRcdTargets *self, GstRcdTarget *target, CuvTrack *track,
    const GstRcdSettings *settings, const GstVideoInfo *info)
{
  const gboolean before = target->confirmed;
  guint n_objects;
  gboolean detected =
      is_detected (self, &track->box, settings->region_label, info, &n_objects);

  count_detection (target, detected, n_objects);
  target->confirmed |= target->detections >= settings->confirm_detections;
  if (target->confirmed != before && track->event == CUV_TRACK_NO_EVENT)
    track->event = CUV_TRACK_ACQUIRED;
  if (is_refuted (target, track, settings)) {
    cuv_tracker_remove (self->tracker, track->id);
    track->state = CUV_TRACK_LOST;
    track->event = CUV_TRACK_GIVEN_UP;
  }
}

void
gst_rcd_confirm_targets (GstRcdTargets *self, const GstRcdSettings *settings,
    const GstVideoInfo *info)
{
  for (gint i = 0; i < self->result.n_tracks; i++) {
    GstRcdTarget *target = &g_array_index (self->targets, GstRcdTarget, i);
    CuvTrack *track = &self->result.tracks[i];

    if (target->is_detection && track->event != CUV_TRACK_GIVEN_UP)
      confirm (self, target, track, settings, info);
  }
}

gint
gst_rcd_n_confirmed (const GstRcdTargets *self)
{
  gint n = 0;

  for (guint i = 0; i < self->targets->len; i++)
    n += g_array_index (self->targets, GstRcdTarget, i).confirmed;
  return n;
}
