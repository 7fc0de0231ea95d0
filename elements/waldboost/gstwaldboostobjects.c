/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostobjects.h"
#include "gstcuvstructure.h"

#include <math.h>

/* Returns the object's parent among the first n regions, or NULL if it is not
 * there: with held results, the parent may have left the frame, or its id may
 * belong to another object. */
static GstCuvObject *
parent_among (const GArray *regions, guint n, const GstWaldboostObject *object)
{
  const guint x = (guint) (object->box.x + object->box.width / 2);
  const guint y = (guint) (object->box.y + object->box.height / 2);

  for (guint i = 0; i < n && object->parent_id >= 0; i++) {
    GstCuvObject *region = &g_array_index (regions, GstCuvObject, i);

    if (region->id == object->parent_id && x >= region->x
        && x - region->x < region->w && y >= region->y
        && y - region->y < region->h)
      return region;
  }
  return NULL;
}

/* ---- objects ---- */

gdouble
gst_waldboost_confidence (const GstWaldboostOrigin *origin, gfloat score)
{
  return origin->no_confidence
      ? (gdouble) NAN
      : 1.0 / (1.0 + exp (-((gdouble) score + origin->shift) / origin->spread));
}

static void
append_to_message (GValue *list, const GstWaldboostObject *object,
    const GstWaldboostOrigin *origin)
{
  const CuvWaldboostBox *box = &object->box;
  gdouble confidence = gst_waldboost_confidence (origin, box->score);
  GstStructure *structure = gst_cuv_structure_new ("object", "label",
      G_TYPE_STRING, origin->label, "label_id", G_TYPE_INT, origin->label_id,
      "x", G_TYPE_UINT, (guint) box->x, "y", G_TYPE_UINT, (guint) box->y,
      "width", G_TYPE_UINT, (guint) box->width, "height", G_TYPE_UINT,
      (guint) box->height, "score", G_TYPE_DOUBLE, (gdouble) box->score, NULL);
  GValue value = G_VALUE_INIT;

  if (!isnan (confidence))
    gst_cuv_structure_set (
        structure, "confidence", G_TYPE_DOUBLE, confidence, NULL);
  if (box->rotation != 0)
    gst_cuv_structure_set (
        structure, "rotation", G_TYPE_INT, (gint) box->rotation, NULL);
  if (object->parent_id >= 0)
    gst_cuv_structure_set (
        structure, "parent_id", G_TYPE_INT, object->parent_id, NULL);
  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&value, structure);
  gst_value_list_append_and_take_value (list, &value);
}

static GstStructure *
detection_extra (const CuvWaldboostBox *box, const GstWaldboostOrigin *origin,
    GstClockTime age)
{
  GstStructure *extra = gst_cuv_structure_new ("detection", "label_id",
      G_TYPE_INT, origin->label_id, "score", G_TYPE_DOUBLE,
      (gdouble) box->score, "neighbors", G_TYPE_INT, (gint) box->neighbours,
      "model_name", G_TYPE_STRING, origin->model_file, NULL);

  if (box->rotation != 0)
    gst_cuv_structure_set (
        extra, "rotation", G_TYPE_INT, (gint) box->rotation, NULL);
  if (age > 0)
    gst_cuv_structure_set (extra, "age", G_TYPE_UINT64, age, NULL);
  return extra;
}

/* Appends the object to `present`, whose first n_before objects come from other
 * elements. */
static void
attach_object (const GstWaldboostObject *object, GArray *present,
    guint n_before, const GstWaldboostOrigin *origin, GstCuvWriter *writer,
    gint id, GstClockTime age)
{
  const CuvWaldboostBox *box = &object->box;
  GstCuvObject *parent = parent_among (present, n_before, object);
  GstCuvObject added = gst_cuv_meta_add_object (writer, id, origin->label,
      (guint) box->x, (guint) box->y, (guint) box->width, (guint) box->height,
      gst_waldboost_confidence (origin, box->score),
      detection_extra (box, origin, age));

  if (parent != NULL)
    gst_cuv_meta_set_parent (writer, &added, parent);
  g_array_append_val (present, added);
}

void
gst_waldboost_attach_objects (const GArray *objects, GArray *present,
    const GstWaldboostOrigins *origins, GstCuvWriter *writer,
    GstStructure *message, GstClockTime age)
{
  GValue list = G_VALUE_INIT;
  guint n_before;
  gint id;

  gst_cuv_objects_read (present, writer->buffer);
  n_before = present->len;
  id = gst_cuv_objects_next_id (present);
  g_value_init (&list, GST_TYPE_LIST);
  for (guint i = 0; i < objects->len; i++) {
    const GstWaldboostObject *object =
        &g_array_index (objects, GstWaldboostObject, i);
    const GstWaldboostOrigin *origin = &origins->of[object->model];

    attach_object (
        object, present, n_before, origin, writer, id + (gint) i, age);
    if (message != NULL)
      append_to_message (&list, object, origin);
  }
  for (guint i = n_before; i < present->len; i++)
    gst_cuv_meta_add_class (writer, &g_array_index (present, GstCuvObject, i));
  if (message != NULL)
    gst_cuv_structure_take_value (message, "objects", &list);
  else
    g_value_unset (&list);
}
