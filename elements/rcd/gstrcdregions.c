/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstrcdregions.h"

#include <math.h>

#include "cuvroi.h"
#include "gstcuvmeta.h"

/* ---- regions ---- */

GstVideoRegionOfInterestMeta *
gst_rcd_next_region (GstBuffer *buffer, GQuark label, const GstVideoInfo *info,
    gpointer *state, CuvRcdBox *box)
{
  CuvRoi part;
  GstVideoRegionOfInterestMeta *roi =
      gst_cuv_meta_next_region (buffer, state, label, info, &part);

  if (roi != NULL)
    *box = (CuvRcdBox){ part.left, part.top, part.right - part.left,
      part.bottom - part.top };
  return roi;
}

static gboolean
contains_centre (const CuvRcdBox *a, const CuvRcdBox *b)
{
  const gint x = b->x + b->width / 2 - a->x, y = b->y + b->height / 2 - a->y;

  return x >= 0 && x < a->width && y >= 0 && y < a->height;
}

gboolean
gst_rcd_is_same_place (const CuvRcdBox *a, const CuvRcdBox *b)
{
  return a->width > 0 && b->width > 0
      && (contains_centre (a, b) || contains_centre (b, a));
}

/* Intersection over union. */
static gdouble
iou (const CuvRcdBox *a, const CuvRcdBox *b)
{
  const gint64 width =
      MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  const gint64 height =
      MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);
  const gint64 intersection = width > 0 && height > 0 ? width * height : 0;

  return (gdouble) intersection
      / (gdouble) ((gint64) a->width * a->height + (gint64) b->width * b->height
          - intersection);
}

/* The region with the largest IoU with a track, if above 0.5, otherwise NULL.
 * Regions with an id belong to another track. */
static GstVideoRegionOfInterestMeta *
find_region (const CuvRcdBox *track, GstBuffer *buffer, GQuark label,
    const GstVideoInfo *info)
{
  GstVideoRegionOfInterestMeta *roi, *best = NULL;
  gdouble best_iou = 0.5;
  gpointer state = NULL;
  CuvRcdBox box;

  while (
      (roi = gst_rcd_next_region (buffer, label, info, &state, &box)) != NULL) {
    if (iou (track, &box) > best_iou
        && gst_video_region_of_interest_meta_get_param (roi, "object_id")
            == NULL) {
      best_iou = iou (track, &box);
      best = roi;
    }
  }
  return best;
}

/* ---- tracks ---- */

/* Infinite distances, of frames without a comparison, are left out. */
static void
describe (const CuvTrack *track, gdouble max_distance, GstStructure *structure)
{
  gst_structure_set (structure, "state", G_TYPE_STRING,
      track->state == CUV_TRACK_TRACKED ? "tracked" : "lost", "scale",
      G_TYPE_DOUBLE, track->scale, "lost_frames", G_TYPE_INT,
      track->lost_frames, NULL);
  if (isfinite (track->distance))
    gst_structure_set (structure, "distance", G_TYPE_DOUBLE, track->distance,
        "confidence", G_TYPE_DOUBLE,
        cuv_tracker_confidence (track->distance, max_distance), NULL);
  if (isfinite (track->second))
    gst_structure_set (
        structure, "second_distance", G_TYPE_DOUBLE, track->second, NULL);
}

static GstVideoRegionOfInterestMeta *
new_region (const CuvTrack *track, const GstRcdTarget *target,
    const GstRcdPublishParams *params, GstBuffer *buffer,
    const GstVideoInfo *info)
{
  const CuvRcdBox *box = &track->box;
  GstStructure *extra = NULL;

  if (params->age > 0)
    extra = gst_structure_new (
        "detection", "age", G_TYPE_UINT64, params->age, NULL);
  return gst_cuv_meta_add_object (buffer, info, gst_cuv_meta_next_id (buffer),
      g_quark_to_string (target->label), (guint) box->x, (guint) box->y,
      (guint) box->width, (guint) box->height,
      cuv_tracker_confidence (track->distance, params->max_distance), extra);
}

static void
attach (const CuvTrack *track, const GstRcdTarget *target,
    const GstRcdPublishParams *params, GstBuffer *buffer,
    const GstVideoInfo *info)
{
  GstStructure *param = gst_structure_new_empty ("rcdtrack");
  GstVideoRegionOfInterestMeta *roi =
      find_region (&track->box, buffer, params->label, info);

  if (roi == NULL)
    roi = new_region (track, target, params, buffer, info);
  describe (track, params->max_distance, param);
  if (params->age > 0)
    gst_structure_set (param, "age", G_TYPE_UINT64, params->age, NULL);
  gst_cuv_meta_set_track (buffer, roi, track->id, target->first_seen);
  gst_video_region_of_interest_meta_add_param (roi, param);
}

/* ---- the message ---- */

static const gchar *const events[] = {
  [CUV_TRACK_ACQUIRED] = "acquired",
  [CUV_TRACK_WENT_LOST] = "lost",
  [CUV_TRACK_REACQUIRED] = "reacquired",
  [CUV_TRACK_GIVEN_UP] = "given-up",
};

static void
append (GValue *list, const CuvTrack *track, const GstRcdTarget *target,
    gdouble max_distance)
{
  const CuvRcdBox *box = &track->box;
  const gchar *name = g_quark_to_string (target->label);
  /* a structure takes UTF-8 only, a region of interest anything */
  gchar *label = name != NULL ? g_utf8_make_valid (name, -1) : NULL;
  GstStructure *structure = gst_structure_new ("object", "id", G_TYPE_INT,
      track->id, "label", G_TYPE_STRING, label, "x", G_TYPE_UINT,
      (guint) box->x, "y", G_TYPE_UINT, (guint) box->y, "width", G_TYPE_UINT,
      (guint) box->width, "height", G_TYPE_UINT, (guint) box->height, NULL);
  GValue value = G_VALUE_INIT;

  g_free (label);
  describe (track, max_distance, structure);
  if (track->event != CUV_TRACK_NO_EVENT)
    gst_structure_set (
        structure, "event", G_TYPE_STRING, events[track->event], NULL);
  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&value, structure);
  gst_value_list_append_and_take_value (list, &value);
}

void
gst_rcd_attach_tracks (const CuvTrackerResult *result,
    const GstRcdPublishParams *params, GstBuffer *buffer,
    const GstVideoInfo *info, GstStructure *message)
{
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  for (gint i = 0; i < result->n_tracks; i++) {
    const CuvTrack *track = &result->tracks[i];
    const GstRcdTarget *target =
        &g_array_index (params->targets, GstRcdTarget, i);

    if (track->state == CUV_TRACK_TRACKED)
      attach (track, target, params, buffer, info);
    if (message != NULL)
      append (&list, track, target, params->max_distance);
  }
  if (message != NULL)
    gst_structure_take_value (message, "objects", &list);
  else
    g_value_unset (&list);
}
