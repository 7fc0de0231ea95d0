/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the objects of buffers (gstcuvmeta.h): regions of interest, and if
 * built with GstAnalytics also its detections, classes and tracks. */
#include "config.h"
#include "gstcuvodparams.h"
#include "gstcuvstructure.h"

#include <math.h>

static GstCuvObject *
nth (const GArray *objects, guint i)
{
  return &g_array_index (objects, GstCuvObject, i);
}

const GstStructure *
gst_cuv_object_param (const GstCuvObject *object, const gchar *name)
{
  for (const GList *l = object->params; l != NULL; l = l->next) {
    if (gst_structure_has_name (l->data, name))
      return l->data;
  }
  return NULL;
}

/* Returns the largest id plus 1, ignoring ids that leave no room above them. */
gint
gst_cuv_objects_next_id (const GArray *objects)
{
  gint id = 0;

  for (guint i = 0; i < objects->len; i++) {
    if (nth (objects, i)->id < G_MAXINT / 2)
      id = MAX (id, nth (objects, i)->id + 1);
  }
  return id;
}

/* ---- regions ---- */

static gboolean
transform_to_double (const GValue *value, gdouble *number)
{
  GValue converted = G_VALUE_INIT;

  if (!g_value_type_transformable (G_VALUE_TYPE (value), G_TYPE_DOUBLE))
    return FALSE;
  g_value_init (&converted, G_TYPE_DOUBLE);
  g_value_transform (value, &converted);
  *number = g_value_get_double (&converted);
  return TRUE;
}

static gboolean
get_double (const GstStructure *structure, const gchar *field, gdouble *number)
{
  const GValue *value = gst_cuv_structure_get_value (structure, field);

  if (value == NULL)
    return FALSE;
  /* the usual types, as transforming a value takes long */
  if (G_VALUE_HOLDS_DOUBLE (value))
    *number = g_value_get_double (value);
  else if (G_VALUE_HOLDS_INT (value))
    *number = g_value_get_int (value);
  else if (!transform_to_double (value, number))
    return FALSE;
  return isfinite (*number);
}

/* Returns the confidence of the parameter "detection", otherwise of the first
 * parameter that has one. */
static gdouble
params_confidence (const GstCuvObject *object)
{
  const GstStructure *detection = gst_cuv_object_param (object, "detection");
  gdouble confidence;

  if (detection != NULL && get_double (detection, "confidence", &confidence))
    return confidence;
  for (const GList *l = object->params; l != NULL; l = l->next) {
    if (get_double (l->data, "confidence", &confidence))
      return confidence;
  }
  return NAN;
}

static gint64
params_track (const GstCuvObject *object)
{
  const GstStructure *tracked = gst_cuv_object_param (object, "object_id");
  gdouble id;

  return tracked != NULL && get_double (tracked, "id", &id) && id >= 1
          && id < 1e18
      ? (gint64) id
      : -1;
}

/* GStreamer creates regions with id and parent_id 0, which means no parent. */
static void
append_region (GArray *objects, GstVideoRegionOfInterestMeta *roi)
{
  const gint parent = roi->parent_id != roi->id ? roi->parent_id : -1;
  GstCuvObject object = { roi->roi_type, roi->x, roi->y, roi->w, roi->h,
    roi->id, MAX (parent, -1), -1, NAN, 0, NAN, roi, -1, roi->params };

  object.track = params_track (&object);
  object.confidence = params_confidence (&object);
  g_array_append_val (objects, object);
}

#if HAVE_ANALYTICS
/* ---- GstAnalytics ---- */

/* Where objects are read to. */
typedef struct {
  GArray *objects;
  guint n_regions; /* the first objects */
  guint next;      /* the region after the last one found */
  gint max_id;     /* the largest id of an object so far */

  GHashTable *params;               /* of ODMtds, NULL: none */
  gboolean has_tracks, has_classes; /* searching for them takes time */
} Reader;

static void
read_track (GstAnalyticsODMtd *od, GstCuvObject *object)
{
  GstAnalyticsTrackingMtd track;
  GstClockTime first, last;
  gpointer state = NULL;
  gboolean lost;
  guint64 id;

  if (gst_analytics_relation_meta_get_direct_related (od->meta, od->id,
          GST_ANALYTICS_REL_TYPE_ANY,
          gst_analytics_tracking_mtd_get_mtd_type (), &state, &track)
      && gst_analytics_tracking_mtd_get_info (&track, &id, &first, &last, &lost)
      && id <= G_MAXINT64)
    object->track = (gint64) id;
}

/* Reads the likeliest class, as class_label if it differs from the label, or as
 * the label if there is none. */
static void
read_classes (GstAnalyticsODMtd *od, GstCuvObject *object)
{
  GQuark label = object->label;
  GstAnalyticsClsMtd classes;
  gpointer state = NULL;
  gfloat best = 0;

  while (gst_analytics_relation_meta_get_direct_related (od->meta, od->id,
      GST_ANALYTICS_REL_TYPE_ANY, gst_analytics_cls_mtd_get_mtd_type (), &state,
      &classes)) {
    const gsize n = gst_analytics_cls_mtd_get_length (&classes);

    for (gsize i = 0; i < n; i++) {
      const gfloat level = gst_analytics_cls_mtd_get_level (&classes, i);

      if (level > best) {
        best = level;
        label = gst_analytics_cls_mtd_get_quark (&classes, i);
      }
    }
  }
  if (object->label == 0) {
    object->label = label;
    object->confidence = best > 0 ? best : object->confidence;
  } else if (label != object->label) {
    object->class_label = label;
    object->class_confidence = best;
  }
}

/* Clips the box to coordinates from 0 up: those of a region are unsigned. */
static void
set_box (GstCuvObject *object, gdouble left, gdouble top, gdouble right,
    gdouble bottom)
{
  object->x = (guint) CLAMP (left, 0, G_MAXINT);
  object->y = (guint) CLAMP (top, 0, G_MAXINT);
  object->w = (guint) CLAMP (right - object->x, 0, G_MAXINT);
  object->h = (guint) CLAMP (bottom - object->y, 0, G_MAXINT);
}

typedef struct {
  gint x, y, w, h;
  gfloat angle; /* around the centre */
  gfloat confidence;
} Location;

static gboolean
get_location (GstAnalyticsODMtd *od, Location *at)
{
#if GST_CHECK_VERSION(1, 26, 0)
  if (!gst_analytics_od_mtd_get_oriented_location (
          od, &at->x, &at->y, &at->w, &at->h, &at->angle, &at->confidence))
    return FALSE;
  if (!isfinite (at->angle))
    at->angle = 0;
  return TRUE;
#else
  at->angle = 0;
  return gst_analytics_od_mtd_get_location (
      od, &at->x, &at->y, &at->w, &at->h, &at->confidence);
#endif
}

static void
set_enclosing_box (GstCuvObject *object, const Location *at)
{
  const gdouble c = fabs (cos (at->angle)), s = fabs (sin (at->angle));
  const gdouble width = at->w * c + at->h * s, height = at->w * s + at->h * c;
  const gdouble left = at->x + (at->w - width) / 2;
  const gdouble top = at->y + (at->h - height) / 2;

  /* a right angle is inexact in single precision */
  set_box (object, floor (left + 1e-3), floor (top + 1e-3),
      ceil (left + width - 1e-3), ceil (top + height - 1e-3));
}

/* Finds the region that is the same object. Begins after the last one found,
 * as regions and ODMtds are mostly written in the same order. */
static GstCuvObject *
find_region (Reader *reader, const GstCuvObject *object)
{
  for (guint i = 0; i < reader->n_regions; i++) {
    const guint k = (reader->next + i) % reader->n_regions;
    GstCuvObject *region = nth (reader->objects, k);

    if (region->od < 0 && region->label == object->label
        && region->x == object->x && region->y == object->y
        && region->w == object->w && region->h == object->h) {
      reader->next = k + 1;
      return region;
    }
  }
  return NULL;
}

/* Sets the object's box and returns its region, or NULL. Some elements write
 * the region of an oriented detection with the box before the rotation. */
static GstCuvObject *
place (Reader *reader, const Location *at, GstCuvObject *object)
{
  GstCuvObject *region;

  set_box (
      object, at->x, at->y, (gdouble) at->x + at->w, (gdouble) at->y + at->h);
  region = find_region (reader, object);
  if (region != NULL || at->angle == 0)
    return region;
  set_enclosing_box (object, at);
  return find_region (reader, object);
}

/* Adds the fields that only the ODMtd has to the object of a region. */
static void
merge_detection (GstCuvObject *region, const GstCuvObject *detection)
{
  region->od = detection->od;
  region->class_label = detection->class_label;
  region->class_confidence = detection->class_confidence;
  if (region->track < 0)
    region->track = detection->track;
  if (region->params == NULL) { /* an element dropped the parameters */
    region->confidence = detection->confidence;
    region->params = detection->params;
  }
}

static gboolean
is_free (const GArray *objects, gint id)
{
  for (guint i = 0; i < objects->len; i++) {
    if (nth (objects, i)->id == id)
      return FALSE;
  }
  return TRUE;
}

/* ODMtds count up, so most ids are larger than all before. */
static void
append_od (Reader *reader, GstCuvObject *object)
{
  if (object->id <= reader->max_id && !is_free (reader->objects, object->id))
    object->id = gst_cuv_objects_next_id (reader->objects);
  reader->max_id = MAX (reader->max_id, object->id);
  g_array_append_val (reader->objects, *object);
}

static void
read_detection (Reader *reader, GstAnalyticsODMtd *od)
{
  GstCuvObject object = { gst_analytics_od_mtd_get_obj_type (od), 0, 0, 0, 0,
    (gint) od->id, -1, -1, NAN, 0, NAN, NULL, (gint) od->id,
    gst_cuv_od_params_get (reader->params, od->id) };
  GstCuvObject *region;
  Location at;

  if (!get_location (od, &at))
    return;
  if (object.params != NULL) /* without a confidence, the ODMtd's is made up */
    object.confidence = params_confidence (&object);
  else if (isfinite (at.confidence))
    object.confidence = at.confidence;
  if (reader->has_tracks)
    read_track (od, &object);
  if (reader->has_classes)
    read_classes (od, &object);
  region = place (reader, &at, &object);
  if (region != NULL)
    merge_detection (region, &object);
  else if (object.w > 0 && object.h > 0)
    append_od (reader, &object);
}

/* Sets the parent of an object without a region. */
static void
read_parent (
    const GArray *objects, GstCuvObject *object, GstAnalyticsRelationMeta *meta)
{
  gpointer state = NULL;
  GstAnalyticsODMtd parent;

  if (!gst_analytics_relation_meta_get_direct_related (meta, (guint) object->od,
          GST_ANALYTICS_REL_TYPE_IS_PART_OF,
          gst_analytics_od_mtd_get_mtd_type (), &state, &parent))
    return;
  for (guint i = 0; i < objects->len; i++) {
    if (nth (objects, i)->od == (gint) parent.id)
      object->parent_id = nth (objects, i)->id;
  }
}

static gboolean
has_any (GstAnalyticsRelationMeta *meta, GstAnalyticsMtdType type)
{
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  return gst_analytics_relation_meta_iterate (meta, &state, type, &mtd);
}

static void
read_analytics (GArray *objects, GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *meta =
      gst_buffer_get_analytics_relation_meta (buffer);
  Reader reader = {
    .objects = objects, .n_regions = objects->len, .max_id = -1
  };
  gpointer state = NULL;
  GstAnalyticsODMtd od;

  if (meta == NULL)
    return;
  for (guint i = 0; i < objects->len; i++)
    reader.max_id = MAX (reader.max_id, nth (objects, i)->id);
  reader.params = gst_cuv_od_params_find (meta);
  reader.has_tracks =
      has_any (meta, gst_analytics_tracking_mtd_get_mtd_type ());
  reader.has_classes = has_any (meta, gst_analytics_cls_mtd_get_mtd_type ());
  while (gst_analytics_relation_meta_iterate (
      meta, &state, gst_analytics_od_mtd_get_mtd_type (), &od))
    read_detection (&reader, &od);
  for (guint i = reader.n_regions; i < objects->len; i++)
    read_parent (objects, nth (objects, i), meta);
}
#endif

/* ---- reading ---- */

void
gst_cuv_objects_read (GArray *objects, GstBuffer *buffer)
{
  GstMeta *meta;
  gpointer state = NULL;

  g_array_set_size (objects, 0);
  while ((meta = gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)))
    append_region (objects, (GstVideoRegionOfInterestMeta *) meta);
#if HAVE_ANALYTICS
  read_analytics (objects, buffer);
#endif
}

gboolean
gst_cuv_object_in_frame (const GstCuvObject *object, GQuark label,
    const GstVideoInfo *info, CuvRoi *part)
{
  const CuvRoi frame = { 0, 0, GST_VIDEO_INFO_WIDTH (info),
    GST_VIDEO_INFO_HEIGHT (info) };
  const guint64 right = (guint64) object->x + object->w;
  const guint64 bottom = (guint64) object->y + object->h;
  const CuvRoi area = { (gint) MIN (object->x, G_MAXINT),
    (gint) MIN (object->y, G_MAXINT), (gint) MIN (right, G_MAXINT),
    (gint) MIN (bottom, G_MAXINT) };

  *part = cuv_roi_intersect (&area, &frame);
  return (label == 0 || object->label == label) && part->left < part->right
      && part->top < part->bottom;
}

gboolean
gst_cuv_object_oriented_box (
    const GstCuvObject *object, GstBuffer *buffer, CuvRoi *box)
{
#if HAVE_ANALYTICS
  GstAnalyticsRelationMeta *meta =
      gst_buffer_get_analytics_relation_meta (buffer);
  GstCuvObject enclosing = { 0 };
  GstAnalyticsODMtd od;
  Location at;

  if (object->roi == NULL || object->od < 0 || meta == NULL
      || !gst_analytics_relation_meta_get_od_mtd (meta, (guint) object->od, &od)
      || !get_location (&od, &at) || at.angle == 0)
    return FALSE;
  set_enclosing_box (&enclosing, &at);
  *box = (CuvRoi){ (gint) enclosing.x, (gint) enclosing.y,
    (gint) MIN ((guint64) enclosing.x + enclosing.w, G_MAXINT),
    (gint) MIN ((guint64) enclosing.y + enclosing.h, G_MAXINT) };
  return enclosing.w > 0 && enclosing.h > 0;
#else
  return FALSE;
#endif
}

gint
gst_cuv_meta_next_id (GstBuffer *buffer)
{
  GArray *objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  gint id;

  gst_cuv_objects_read (objects, buffer);
  id = gst_cuv_objects_next_id (objects);
  g_array_unref (objects);
  return id;
}
