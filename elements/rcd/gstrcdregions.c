/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstrcdregions.h"
#include "gstcuvstructure.h"

#include <math.h>

/* ---- objects ---- */

gboolean
gst_rcd_object_in_frame (const GstCuvObject *object, GQuark label,
    const GstVideoInfo *info, CuvRcdBox *box)
{
  CuvRoi part;

  if (!gst_cuv_object_in_frame (object, label, info, &part))
    return FALSE;
  *box = (CuvRcdBox){ part.left, part.top, part.right - part.left,
    part.bottom - part.top };
  return TRUE;
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

/* Returns the object with the largest IoU with a track, or NULL if none is
 * above 0.5. Skips objects that have a track already. */
static GstCuvObject *
find_object (const CuvRcdBox *track, const GArray *present, GQuark label,
    const GstVideoInfo *info)
{
  GstCuvObject *best = NULL;
  gdouble best_iou = 0.5;
  CuvRcdBox box;

  for (guint i = 0; i < present->len; i++) {
    GstCuvObject *object = &g_array_index (present, GstCuvObject, i);

    if (object->track < 0 && gst_rcd_object_in_frame (object, label, info, &box)
        && cuv_rcd_overlap (track, &box) > best_iou) {
      best_iou = cuv_rcd_overlap (track, &box);
      best = object;
    }
  }
  return best;
}

/* ---- tracks ---- */

/* Omits infinite distances: nothing was compared in such frames. */
static void
gst_rcd_describe_region (
    const CuvTrack *track, gdouble max_distance, GstStructure *structure)
{
  gst_cuv_structure_set (structure, "state", G_TYPE_STRING,
      track->state == CUV_TRACK_TRACKED ? "tracked" : "lost", "scale",
      G_TYPE_DOUBLE, track->scale, "lost_frames", G_TYPE_INT,
      track->lost_frames, NULL);
  if (isfinite (track->distance))
    gst_cuv_structure_set (structure, "distance", G_TYPE_DOUBLE,
        track->distance, "confidence", G_TYPE_DOUBLE,
        cuv_tracker_confidence (track->distance, max_distance), NULL);
  if (isfinite (track->second))
    gst_cuv_structure_set (
        structure, "second_distance", G_TYPE_DOUBLE, track->second, NULL);
}

static GstCuvObject *
new_object (const CuvTrack *track, const GstRcdTarget *target,
    const GstRcdPublishParams *params, GArray *present, GstCuvWriter *writer)
{
  const CuvRcdBox *box = &track->box;
  GstStructure *extra = NULL;
  GstCuvObject object;

  if (params->age > 0)
    extra = gst_cuv_structure_new (
        "detection", "age", G_TYPE_UINT64, params->age, NULL);
  object = gst_cuv_meta_add_object (writer, gst_cuv_objects_next_id (present),
      g_quark_to_string (target->label), (guint) box->x, (guint) box->y,
      (guint) box->width, (guint) box->height,
      cuv_tracker_confidence (track->distance, params->max_distance), extra);
  g_array_append_val (present, object);
  return &g_array_index (present, GstCuvObject, present->len - 1);
}

static void
gst_rcd_attach_region (const CuvTrack *track, const GstRcdTarget *target,
    const GstRcdPublishParams *params, GArray *present, GstCuvWriter *writer)
{
  GstStructure *param = gst_structure_new_empty ("rcdtrack");
  GstCuvObject *object =
      find_object (&track->box, present, params->label, writer->info);

  if (object == NULL)
    object = new_object (track, target, params, present, writer);
  gst_rcd_describe_region (track, params->max_distance, param);
  if (params->age > 0)
    gst_cuv_structure_set (param, "age", G_TYPE_UINT64, params->age, NULL);
  gst_cuv_meta_set_track (
      writer, object, track->id, target->first_seen, target->last_seen);
  gst_cuv_meta_add_param (writer, object, param);
}

/* ---- the message ---- */

static const gchar *const events[] = {
  [CUV_TRACK_ACQUIRED] = "acquired",
  [CUV_TRACK_WENT_LOST] = "lost",
  [CUV_TRACK_REACQUIRED] = "reacquired",
  [CUV_TRACK_GIVEN_UP] = "given-up",
};

static void
gst_rcd_append_region (GValue *list, const CuvTrack *track,
    const GstRcdTarget *target, gdouble max_distance)
{
  const CuvRcdBox *box = &track->box;
  const gchar *name = g_quark_to_string (target->label);
  /* a structure takes UTF-8 only, a region of interest any bytes */
  gchar *label = name != NULL ? g_utf8_make_valid (name, -1) : NULL;
  GstStructure *structure = gst_cuv_structure_new ("object", "id", G_TYPE_INT,
      track->id, "label", G_TYPE_STRING, label, "x", G_TYPE_UINT,
      (guint) box->x, "y", G_TYPE_UINT, (guint) box->y, "width", G_TYPE_UINT,
      (guint) box->width, "height", G_TYPE_UINT, (guint) box->height, NULL);
  GValue value = G_VALUE_INIT;

  g_free (label);
  gst_rcd_describe_region (track, max_distance, structure);
  if (track->event != CUV_TRACK_NO_EVENT)
    gst_cuv_structure_set (
        structure, "event", G_TYPE_STRING, events[track->event], NULL);
  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&value, structure);
  gst_value_list_append_and_take_value (list, &value);
}

void
gst_rcd_attach_tracks (const CuvTrackerResult *result,
    const GstRcdPublishParams *params, GArray *present, GstCuvWriter *writer,
    GstStructure *message)
{
  GValue list = G_VALUE_INIT;
  guint n_before;

  gst_cuv_objects_read (present, writer->buffer);
  n_before = present->len;
  g_value_init (&list, GST_TYPE_LIST);
  for (gint i = 0; i < result->n_tracks; i++) {
    const CuvTrack *track = &result->tracks[i];
    const GstRcdTarget *target =
        &g_array_index (params->targets, GstRcdTarget, i);

    if (!target->confirmed)
      continue;
    if (track->state == CUV_TRACK_TRACKED)
      gst_rcd_attach_region (track, target, params, present, writer);
    else if (GST_CLOCK_TIME_IS_VALID (target->first_seen))
      gst_cuv_meta_set_track (
          writer, NULL, track->id, target->first_seen, target->last_seen);
    if (message != NULL)
      gst_rcd_append_region (&list, track, target, params->max_distance);
  }
  for (guint i = n_before; i < present->len; i++)
    gst_cuv_meta_add_class (writer, &g_array_index (present, GstCuvObject, i));
  if (message != NULL)
    gst_cuv_structure_take_value (message, "objects", &list);
  else
    g_value_unset (&list);
}
