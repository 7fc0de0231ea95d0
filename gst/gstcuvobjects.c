/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds objects to buffers as metadata (gstcuvmeta.h): each is a region of
 * interest and, if built with GstAnalytics, also a record of it. */
#include "config.h"
#include "gstcuvmeta.h"

#include <math.h>
#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

static GstCuvObject *
nth (const GArray *objects, guint i)
{
  return &g_array_index (objects, GstCuvObject, i);
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
get_double (const GstStructure *structure, const gchar *field, gdouble *number)
{
  const GValue *value = gst_structure_get_value (structure, field);
  GValue converted = G_VALUE_INIT;

  if (value == NULL
      || !g_value_type_transformable (G_VALUE_TYPE (value), G_TYPE_DOUBLE))
    return FALSE;
  g_value_init (&converted, G_TYPE_DOUBLE);
  g_value_transform (value, &converted);
  *number = g_value_get_double (&converted);
  return isfinite (*number);
}

/* Returns the confidence of the param "detection", otherwise of the first param
 * that has one. */
static gdouble
region_confidence (GstVideoRegionOfInterestMeta *roi)
{
  const GstStructure *detection =
      gst_video_region_of_interest_meta_get_param (roi, "detection");
  gdouble confidence;

  if (detection != NULL && get_double (detection, "confidence", &confidence))
    return confidence;
  for (GList *l = roi->params; l != NULL; l = l->next) {
    if (get_double (l->data, "confidence", &confidence))
      return confidence;
  }
  return NAN;
}

static gint64
region_track (GstVideoRegionOfInterestMeta *roi)
{
  const GstStructure *tracked =
      gst_video_region_of_interest_meta_get_param (roi, "object_id");
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
  const GstCuvObject object = { roi->roi_type, roi->x, roi->y, roi->w, roi->h,
    roi->id, MAX (parent, -1), region_track (roi), region_confidence (roi), 0,
    NAN, roi, -1 };

  g_array_append_val (objects, object);
}

static void
add_region (GstBuffer *buffer, const GstVideoInfo *info, GstCuvObject *object,
    GstStructure *extra)
{
  const gdouble width = GST_VIDEO_INFO_WIDTH (info);
  const gdouble height = GST_VIDEO_INFO_HEIGHT (info);
  GstStructure *detection =
      extra != NULL ? extra : gst_structure_new_empty ("detection");

  object->roi = gst_buffer_add_video_region_of_interest_meta_id (
      buffer, object->label, object->x, object->y, object->w, object->h);
  object->roi->id = object->id;
  object->roi->parent_id = object->parent_id; /* GStreamer's 0 is an id */
  gst_structure_set_name (detection, "detection");
  gst_structure_set (detection, "x_min", G_TYPE_DOUBLE, object->x / width,
      "x_max", G_TYPE_DOUBLE, (object->x + object->w) / width, "y_min",
      G_TYPE_DOUBLE, object->y / height, "y_max", G_TYPE_DOUBLE,
      (object->y + object->h) / height, NULL);
  if (!isnan (object->confidence))
    gst_structure_set (
        detection, "confidence", G_TYPE_DOUBLE, object->confidence, NULL);
  if (!gst_structure_has_field (detection, "label_id"))
    gst_structure_set (detection, "label_id", G_TYPE_INT, 0, NULL);
  gst_video_region_of_interest_meta_add_param (object->roi, detection);
}

#if HAVE_ANALYTICS
/* ---- GstAnalytics: reading ---- */

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

/* Finds the region, among the first n objects, that is the same object. Begins
 * at `next`, as regions and ODMtds are mostly written in the same order. */
static GstCuvObject *
find_region (const GArray *objects, guint n, guint next, GstCuvObject *object)
{
  for (guint i = 0; i < n; i++) {
    GstCuvObject *region = nth (objects, (next + i) % n);

    if (region->od < 0 && region->label == object->label
        && region->x == object->x && region->y == object->y
        && region->w == object->w && region->h == object->h)
      return region;
  }
  return NULL;
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

/* Sets the object's box and returns its region, or NULL. Some elements write
 * the region of an oriented detection with the box before the rotation. */
static GstCuvObject *
place (const GArray *objects, guint n, guint next, const Location *at,
    GstCuvObject *object)
{
  GstCuvObject *region;

  set_box (
      object, at->x, at->y, (gdouble) at->x + at->w, (gdouble) at->y + at->h);
  region = find_region (objects, n, next, object);
  if (region != NULL || at->angle == 0)
    return region;
  set_enclosing_box (object, at);
  return find_region (objects, n, next, object);
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
  if (region->roi->params == NULL) /* an element dropped the parameters */
    region->confidence = detection->confidence;
}

static void
read_detection (GArray *objects, guint n, guint *next, GstAnalyticsODMtd *od)
{
  GstCuvObject object = { gst_analytics_od_mtd_get_obj_type (od), 0, 0, 0, 0,
    (gint) od->id, -1, -1, NAN, 0, NAN, NULL, (gint) od->id };
  GstCuvObject *region;
  Location at;

  if (!get_location (od, &at))
    return;
  if (isfinite (at.confidence))
    object.confidence = at.confidence;
  read_track (od, &object);
  read_classes (od, &object);
  region = place (objects, n, *next, &at, &object);
  if (region != NULL) {
    *next = (guint) (region - nth (objects, 0)) + 1;
    merge_detection (region, &object);
  } else if (object.w > 0 && object.h > 0) {
    if (!is_free (objects, object.id))
      object.id = gst_cuv_objects_next_id (objects);
    g_array_append_val (objects, object);
  }
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

static void
read_analytics (GArray *objects, GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *meta =
      gst_buffer_get_analytics_relation_meta (buffer);
  const guint n_regions = objects->len;
  gpointer state = NULL;
  GstAnalyticsODMtd od;
  guint next = 0;

  if (meta == NULL)
    return;
  while (gst_analytics_relation_meta_iterate (
      meta, &state, gst_analytics_od_mtd_get_mtd_type (), &od))
    read_detection (objects, n_regions, &next, &od);
  for (guint i = n_regions; i < objects->len; i++)
    read_parent (objects, nth (objects, i), meta);
}

/* ---- GstAnalytics: writing ---- */

/* Returns the buffer's relation meta, added if necessary. Finding it takes time
 * in a buffer with many metas. When its table of relations is full, GStreamer
 * copies it and adds the initial number of entries again, which is 5 by
 * default: too few here. */
static GstAnalyticsRelationMeta *
relations_of (GstBuffer *buffer, guint n)
{
  const gsize order = CLAMP (n, 64, GST_CUV_MAX_MTDS);
  GstAnalyticsRelationMetaInitParams params = { order, order * 64 };

  return gst_buffer_add_analytics_relation_meta_full (buffer, &params);
}

static gboolean
has_room (const GstAnalyticsRelationMeta *meta)
{
  return gst_analytics_relation_get_length (meta) < GST_CUV_MAX_MTDS;
}

static void
add_detection (GstAnalyticsRelationMeta *meta, GstCuvObject *object)
{
  GstAnalyticsODMtd od;

  /* the coordinates of an ODMtd are signed */
  if ((object->x | object->y | object->w | object->h) > G_MAXINT)
    return;
  if (has_room (meta)
      && gst_analytics_relation_meta_add_od_mtd (meta, object->label,
          (gint) object->x, (gint) object->y, (gint) object->w,
          (gint) object->h,
          isnan (object->confidence) ? 0.5f : (gfloat) object->confidence, &od))
    object->od = (gint) od.id;
}

static void
relate_to_class (GstAnalyticsRelationMeta *meta, const GstCuvObject *object)
{
  GstAnalyticsClsMtd class;

  if (has_room (meta)
      && gst_analytics_relation_meta_add_one_cls_mtd (
          meta, (gfloat) object->confidence, object->label, &class))
    gst_analytics_relation_meta_set_relation (
        meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, (guint) object->od, class.id);
}

static gboolean
add_track (GstAnalyticsRelationMeta *meta, const GstCuvTrack *track,
    GstAnalyticsTrackingMtd *mtd)
{
  if (!has_room (meta)
      || !gst_analytics_relation_meta_add_tracking_mtd (
          meta, (guint64) track->id, track->first_seen, mtd))
    return FALSE;
  gst_analytics_tracking_mtd_update_last_seen (mtd, track->last_seen);
  return TRUE;
}

static void
relate_to_track (GstAnalyticsRelationMeta *meta, const GstCuvTrack *track)
{
  GstCuvObject *object = track->object;
  GstAnalyticsTrackingMtd mtd;

  if (object == NULL) {
    if (add_track (meta, track, &mtd))
      gst_analytics_tracking_mtd_set_lost (&mtd);
    return;
  }
  if (object->od < 0)
    add_detection (meta, object);
  if (object->od >= 0 && add_track (meta, track, &mtd))
    gst_analytics_relation_meta_set_relation (
        meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, (guint) object->od, mtd.id);
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

/* ---- writing ---- */

GstCuvObject
gst_cuv_meta_add_object (GstBuffer *buffer, const GstVideoInfo *info, gint id,
    const gchar *label, guint x, guint y, guint w, guint h, gdouble confidence,
    GstStructure *extra)
{
  GstCuvObject object = { g_quark_from_string (label), x, y, w, h, id, -1, -1,
    confidence, 0, NAN, NULL, -1 };

  add_region (buffer, info, &object, extra);
#if HAVE_ANALYTICS
  add_detection (relations_of (buffer, 1), &object);
#endif
  return object;
}

GstVideoRegionOfInterestMeta *
gst_cuv_meta_ensure_region (
    GstBuffer *buffer, const GstVideoInfo *info, GstCuvObject *object)
{
  if (object->roi == NULL)
    add_region (buffer, info, object, NULL);
  return object->roi;
}

void
gst_cuv_meta_add_class (GstBuffer *buffer, const GstCuvObject *object)
{
#if HAVE_ANALYTICS
  if (object->od >= 0 && object->label != 0 && !isnan (object->confidence))
    relate_to_class (relations_of (buffer, 1), object);
#endif
}

void
gst_cuv_meta_set_parent (GstBuffer *buffer, const GstVideoInfo *info,
    GstCuvObject *object, GstCuvObject *parent)
{
  gst_cuv_meta_ensure_region (buffer, info, parent);
  object->parent_id = parent->id;
  gst_cuv_meta_ensure_region (buffer, info, object)->parent_id = parent->id;
#if HAVE_ANALYTICS
  if (object->od >= 0 && parent->od >= 0) {
    GstAnalyticsRelationMeta *meta =
        gst_buffer_get_analytics_relation_meta (buffer);

    gst_analytics_relation_meta_set_relation (meta,
        GST_ANALYTICS_REL_TYPE_IS_PART_OF, (guint) object->od,
        (guint) parent->od);
    gst_analytics_relation_meta_set_relation (meta,
        GST_ANALYTICS_REL_TYPE_CONTAIN, (guint) parent->od, (guint) object->od);
  }
#endif
}

static void
set_region_track (
    GstBuffer *buffer, const GstVideoInfo *info, const GstCuvTrack *track)
{
  track->object->track = track->id;
  gst_video_region_of_interest_meta_add_param (
      gst_cuv_meta_ensure_region (buffer, info, track->object),
      gst_structure_new ("object_id", "id", G_TYPE_INT, track->id, NULL));
}

void
gst_cuv_meta_set_tracks (GstBuffer *buffer, const GstVideoInfo *info,
    const GstCuvTrack *tracks, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (tracks[i].object != NULL)
      set_region_track (buffer, info, &tracks[i]);
  }
#if HAVE_ANALYTICS
  if (n > 0) {
    GstAnalyticsRelationMeta *meta = relations_of (buffer, 2 * n);

    for (guint i = 0; i < n; i++)
      relate_to_track (meta, &tracks[i]);
  }
#endif
}

void
gst_cuv_meta_set_track (GstBuffer *buffer, const GstVideoInfo *info,
    GstCuvObject *object, gint id, GstClockTime first_seen,
    GstClockTime last_seen)
{
  const GstCuvTrack track = { object, id, first_seen, last_seen };

  gst_cuv_meta_set_tracks (buffer, info, &track, 1);
}

void
gst_cuv_meta_add_lost_track (
    GstBuffer *buffer, gint id, GstClockTime first_seen, GstClockTime last_seen)
{
  const GstCuvTrack track = { NULL, id, first_seen, last_seen };

  gst_cuv_meta_set_tracks (buffer, NULL, &track, 1);
}
