/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gsttrackobjects.h"
#include "gstcuvstructure.h"

void
gst_track_objects_init (GstTrackObjects *self)
{
  self->objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  self->indices = g_array_new (FALSE, FALSE, sizeof (guint));
  self->detections = g_array_new (FALSE, FALSE, sizeof (CuvMotDetection));
  self->groups =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  self->labels = g_array_new (FALSE, FALSE, sizeof (GQuark));
}

void
gst_track_objects_clear (GstTrackObjects *self)
{
  g_array_unref (self->objects);
  g_array_unref (self->indices);
  g_array_unref (self->detections);
  g_array_unref (self->labels);
  g_hash_table_unref (self->groups);
}

/* ---- reading ---- */

/* Returns the group of a label and a model; it is counted up from 0. */
static gint
find_group (GstTrackObjects *self, GQuark label, GQuark model)
{
  const gint64 key = (gint64) ((guint64) label << 32 | model);
  gpointer group;

  if (!g_hash_table_lookup_extended (self->groups, &key, NULL, &group)) {
    group = GUINT_TO_POINTER (self->labels->len);
    g_hash_table_insert (self->groups, g_memdup2 (&key, sizeof key), group);
    g_array_append_val (self->labels, label);
  }
  return GPOINTER_TO_INT (group);
}

static GQuark
detection_model (const GstStructure *detection)
{
  const gchar *name = detection != NULL
      ? gst_cuv_structure_get_string (detection, "model_name")
      : NULL;

  return name != NULL ? gst_cuv_quark (name) : 0;
}

static gint32
from_pixels (guint64 pixels)
{
  return (gint32) MIN (pixels * CUV_MOT_UNIT, CUV_MOT_MAX_COORDINATE);
}

static void
append_detection (
    GstTrackObjects *self, guint index, const GstTrackSettings *settings)
{
  const GstCuvObject *object =
      &g_array_index (self->objects, GstCuvObject, index);
  const GstStructure *from = gst_cuv_object_param (object, "detection");
  CuvMotDetection detection = {
    { from_pixels (object->x), from_pixels (object->y),
        from_pixels ((guint64) object->x + object->w),
        from_pixels ((guint64) object->y + object->h) },
    object->confidence, 0, from != NULL && gst_structure_has_field (from, "age")
  };

  if (object->track >= 0
      || (settings->label != 0 && object->label != settings->label)
      || detection.box.left >= detection.box.right
      || detection.box.top >= detection.box.bottom)
    return;
  if (self->detections->len == CUV_MOT_MAX_BOXES) {
    self->n_left_out++;
    return;
  }
  detection.group = settings->separate_labels
      ? find_group (self, object->label, detection_model (from))
      : find_group (self, 0, 0);
  self->all_held = self->all_held && detection.held;
  g_array_append_val (self->indices, index);
  g_array_append_val (self->detections, detection);
}

void
gst_track_objects_read (
    GstTrackObjects *self, const GstTrackSettings *settings, GstBuffer *buffer)
{
  gst_cuv_objects_read (self->objects, buffer);
  g_array_set_size (self->indices, 0);
  g_array_set_size (self->detections, 0);
  self->n_left_out = 0;
  self->all_held = TRUE;
  for (guint i = 0; i < self->objects->len; i++)
    append_detection (self, i, settings);
  self->all_held = self->all_held && self->detections->len > 0;
}

/* ---- writing ---- */

static GstCuvObject *
object_of (const GstTrackObjects *self, const CuvMotTrack *track)
{
  return &g_array_index (self->objects, GstCuvObject,
      g_array_index (self->indices, guint, track->detection));
}

/* Tracked objects that are regions only become ODMtds as well. */
static guint
count_entries (const GstTrackObjects *self, gint n_tracks)
{
  guint n = (guint) n_tracks;

  for (guint i = 0; i < self->objects->len; i++)
    n += g_array_index (self->objects, GstCuvObject, i).od < 0;
  return n;
}

void
gst_track_objects_mark (const GstTrackObjects *self, const CuvMotTrack *tracks,
    gint n, GstCuvWriter *writer)
{
  writer->n_entries = count_entries (self, n);
  for (gint i = 0; i < n; i++) {
    const CuvMotTrack *track = &tracks[i];
    const gboolean found = track->detection >= 0;

    if (track->id > 0 && (found || track->state == CUV_MOT_LOST))
      gst_cuv_meta_set_track (writer, found ? object_of (self, track) : NULL,
          track->id, track->first_seen, track->last_seen);
  }
}

static const gchar *const events[] = {
  [CUV_MOT_ACQUIRED] = "acquired",
  [CUV_MOT_WENT_LOST] = "lost",
  [CUV_MOT_REACQUIRED] = "reacquired",
  [CUV_MOT_GIVEN_UP] = "given-up",
};

/* The label is that of the track's first object, unless labels are mixed. */
static gchar *
label_of (const GstTrackObjects *self, const CuvMotTrack *track)
{
  const GQuark quark = track->detection >= 0
      ? object_of (self, track)->label
      : g_array_index (self->labels, GQuark, track->group);
  const gchar *name = g_quark_to_string (quark);

  /* a structure takes UTF-8 only, a region of interest any bytes */
  return name != NULL ? g_utf8_make_valid (name, -1) : NULL;
}

static GstStructure *
describe_box_track (const GstTrackObjects *self, const CuvMotTrack *track)
{
  const CuvMotBox *box = &track->box;
  g_autofree gchar *label = label_of (self, track);
  GstStructure *structure = gst_cuv_structure_new ("object", "id", G_TYPE_INT,
      track->id, "label", G_TYPE_STRING, label, "x", G_TYPE_UINT,
      (guint) box->left / CUV_MOT_UNIT, "y", G_TYPE_UINT,
      (guint) box->top / CUV_MOT_UNIT, "width", G_TYPE_UINT,
      (guint) (box->right - box->left) / CUV_MOT_UNIT, "height", G_TYPE_UINT,
      (guint) (box->bottom - box->top) / CUV_MOT_UNIT, "state", G_TYPE_STRING,
      track->state == CUV_MOT_TRACKED ? "tracked" : "lost", "lost_frames",
      G_TYPE_INT, (gint) MIN (track->lost_frames + 0.5, G_MAXINT), NULL);

  if (track->event != CUV_MOT_NO_EVENT)
    gst_cuv_structure_set (
        structure, "event", G_TYPE_STRING, events[track->event], NULL);
  return structure;
}

void
gst_track_objects_describe (const GstTrackObjects *self,
    const CuvMotTrack *tracks, gint n, GstStructure *message)
{
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  for (gint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if (tracks[i].id == 0)
      continue;
    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value, describe_box_track (self, &tracks[i]));
    gst_value_list_append_and_take_value (&list, &value);
  }
  gst_cuv_structure_take_value (message, "objects", &list);
}
