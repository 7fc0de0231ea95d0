/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes objects to buffers (gstcuvmeta.h): as regions of interest, with
 * GstAnalytics, or both. */
#include "config.h"
#include "gstcuvodparams.h"
#include "gstcuvstructure.h"

#include <math.h>

/* ---- regions ---- */

static void
add_region (GstCuvWriter *writer, GstCuvObject *object)
{
  object->roi = gst_buffer_add_video_region_of_interest_meta_id (writer->buffer,
      object->label, object->x, object->y, object->w, object->h);
  object->roi->id = object->id;
  object->roi->parent_id = object->parent_id; /* GStreamer's 0 is an id */
}

/* Sets the fields of "detection", which is an object's parameter or NULL. The
 * box belongs to regions only: that of an ODMtd may be moved. */
static GstStructure *
fill_detection (const GstCuvWriter *writer, const GstCuvObject *object,
    GstStructure *detection)
{
  if (detection == NULL)
    detection = gst_cuv_structure_new ("detection", NULL);
  else if (!gst_structure_has_name (detection, "detection"))
    gst_structure_set_name (detection, "detection");
  if (object->roi != NULL) {
    const gdouble width = GST_VIDEO_INFO_WIDTH (writer->info);
    const gdouble height = GST_VIDEO_INFO_HEIGHT (writer->info);

    gst_cuv_structure_set (detection, "x_min", G_TYPE_DOUBLE, object->x / width,
        "x_max", G_TYPE_DOUBLE, (object->x + object->w) / width, "y_min",
        G_TYPE_DOUBLE, object->y / height, "y_max", G_TYPE_DOUBLE,
        (object->y + object->h) / height, NULL);
  } else {
    gst_structure_remove_fields (
        detection, "x_min", "x_max", "y_min", "y_max", NULL);
  }
  if (!isnan (object->confidence))
    gst_cuv_structure_set (
        detection, "confidence", G_TYPE_DOUBLE, object->confidence, NULL);
  if (gst_cuv_structure_get_value (detection, "label_id") == NULL)
    gst_cuv_structure_set (detection, "label_id", G_TYPE_INT, 0, NULL);
  return detection;
}

static void
add_region_param (GstCuvObject *object, GstStructure *param)
{
  gst_video_region_of_interest_meta_add_param (object->roi, param);
  object->params = object->roi->params;
}

/* Adds a region, with the parameters of the ODMtd, to an object without one. */
static void
ensure_region (GstCuvWriter *writer, GstCuvObject *object)
{
  const GstStructure *detection = gst_cuv_object_param (object, "detection");
  const GList *params = object->params;

  if (object->roi != NULL)
    return;
  add_region (writer, object);
  add_region_param (object,
      fill_detection (writer, object,
          detection != NULL ? gst_structure_copy (detection) : NULL));
  for (; params != NULL; params = params->next) {
    if (params->data != detection)
      add_region_param (object, gst_structure_copy (params->data));
  }
}

/* ---- GstAnalytics ---- */

#if HAVE_ANALYTICS
#define FEW_ENTRIES 64

/* Replaces the relation meta by one with room for more entries. */
static GstAnalyticsRelationMeta *
enlarge (GstBuffer *buffer, GstAnalyticsRelationMeta *meta,
    GstAnalyticsRelationMetaInitParams *params)
{
  const GstMetaInfo *info = gst_analytics_relation_meta_get_info ();
  GstMetaTransformCopy copy = { FALSE, 0, (gsize) -1 };
  GHashTable *od_params = gst_cuv_od_params_steal (meta);
  GstBuffer *kept = gst_buffer_new ();

  if (info->transform_func (
          kept, (GstMeta *) meta, buffer, _gst_meta_transform_copy, &copy)) {
    gst_buffer_remove_meta (buffer, (GstMeta *) meta);
    meta = gst_buffer_add_analytics_relation_meta_full (buffer, params);
    info->transform_func (buffer,
        (GstMeta *) gst_buffer_get_analytics_relation_meta (kept), kept,
        _gst_meta_transform_copy, &copy);
  }
  gst_buffer_unref (kept);
  gst_cuv_od_params_restore (meta, od_params);
  return meta;
}

/* Returns the buffer's relation meta, added if necessary. When its table of
 * relations is full, GStreamer copies it and adds the initial number of entries
 * again, which may be as low as 5. */
static GstAnalyticsRelationMeta *
relations_of (GstCuvWriter *writer)
{
  GstAnalyticsRelationMeta *meta;
  gsize length = 0, order;
  GstAnalyticsRelationMetaInitParams params;

  if (writer->relations != NULL)
    return writer->relations;
  meta = gst_buffer_get_analytics_relation_meta (writer->buffer);
  if (meta != NULL)
    length = gst_analytics_relation_get_length (meta);
  order = MIN (length + writer->n_entries + FEW_ENTRIES, GST_CUV_MAX_MTDS);
  params = (GstAnalyticsRelationMetaInitParams){ order, order * 64 };
  if (meta == NULL)
    meta =
        gst_buffer_add_analytics_relation_meta_full (writer->buffer, &params);
  else if (writer->n_entries > FEW_ENTRIES && length < order)
    meta = enlarge (writer->buffer, meta, &params);
  writer->relations = meta;
  return meta;
}

/* Returns the relation meta if an entry can be added, otherwise NULL. */
static GstAnalyticsRelationMeta *
room_for_entry (GstCuvWriter *writer)
{
  static gint logged;
  GstAnalyticsRelationMeta *meta = NULL;

  if (writer->metadata != GST_CUV_METADATA_ROI)
    meta = relations_of (writer);
  if (meta == NULL
      || gst_analytics_relation_get_length (meta) < GST_CUV_MAX_MTDS)
    return meta;
  if (g_atomic_int_compare_and_exchange (&logged, 0, 1))
    GST_WARNING ("a frame has %d entries of GstAnalytics: further objects and "
                 "tracks are regions of interest only. Find fewer objects, or "
                 "set metadata=roi.",
        GST_CUV_MAX_MTDS);
  return NULL;
}

static void
ensure_detection (GstCuvWriter *writer, GstCuvObject *object)
{
  GstAnalyticsRelationMeta *meta;
  GstAnalyticsODMtd od;

  /* the coordinates of an ODMtd are signed */
  if (object->od >= 0
      || (object->x | object->y | object->w | object->h) > G_MAXINT)
    return;
  meta = room_for_entry (writer);
  if (meta != NULL
      && gst_analytics_relation_meta_add_od_mtd (meta, object->label,
          (gint) object->x, (gint) object->y, (gint) object->w,
          (gint) object->h,
          isnan (object->confidence) ? 0.5f : (gfloat) object->confidence, &od))
    object->od = (gint) od.id;
}

static void
relate_parent (GstCuvWriter *writer, const GstCuvObject *object,
    const GstCuvObject *parent)
{
  if (writer->metadata == GST_CUV_METADATA_ROI || object->od < 0
      || parent->od < 0)
    return;
  gst_analytics_relation_meta_set_relation (relations_of (writer),
      GST_ANALYTICS_REL_TYPE_IS_PART_OF, (guint) object->od,
      (guint) parent->od);
  gst_analytics_relation_meta_set_relation (relations_of (writer),
      GST_ANALYTICS_REL_TYPE_CONTAIN, (guint) parent->od, (guint) object->od);
}

/* Returns whether the track was added. */
static gboolean
add_track (GstCuvWriter *writer, const GstCuvObject *object, gint id,
    GstClockTime first_seen, GstClockTime last_seen)
{
  GstAnalyticsRelationMeta *meta = room_for_entry (writer);
  GstAnalyticsTrackingMtd track;

  if (meta == NULL || (object != NULL && object->od < 0)
      || !gst_analytics_relation_meta_add_tracking_mtd (
          meta, (guint64) id, first_seen, &track))
    return FALSE;
  gst_analytics_tracking_mtd_update_last_seen (&track, last_seen);
  if (object == NULL)
    return gst_analytics_tracking_mtd_set_lost (&track);
  return gst_analytics_relation_meta_set_relation (
      meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, (guint) object->od, track.id);
}

/* Takes ownership of the parameter. */
static void
add_od_param (GstCuvWriter *writer, GstCuvObject *object, GstStructure *param)
{
  GstAnalyticsRelationMeta *meta;

  if (writer->params == NULL)
    writer->params = gst_cuv_od_params_find (relations_of (writer));
  if (writer->params == NULL && (meta = room_for_entry (writer)) != NULL)
    writer->params = gst_cuv_od_params_new (meta);
  if (writer->params == NULL) {
    gst_structure_free (param);
    return;
  }
  gst_cuv_od_params_add (writer->params, (guint) object->od, param);
  object->params = gst_cuv_od_params_get (writer->params, (guint) object->od);
}
#else
static void
ensure_detection (GstCuvWriter *writer, GstCuvObject *object)
{
}

static void
relate_parent (GstCuvWriter *writer, const GstCuvObject *object,
    const GstCuvObject *parent)
{
}

static gboolean
add_track (GstCuvWriter *writer, const GstCuvObject *object, gint id,
    GstClockTime first_seen, GstClockTime last_seen)
{
  return FALSE;
}

static void
add_od_param (GstCuvWriter *writer, GstCuvObject *object, GstStructure *param)
{
  gst_structure_free (param);
}
#endif

/* ---- both ---- */

/* Adds what the object lacks. */
static void
ensure_written (GstCuvWriter *writer, GstCuvObject *object)
{
  ensure_detection (writer, object);
  if (writer->metadata != GST_CUV_METADATA_ANALYTICS || object->od < 0)
    ensure_region (writer, object);
}

GstCuvObject
gst_cuv_meta_add_object (GstCuvWriter *writer, gint id, const gchar *label,
    guint x, guint y, guint w, guint h, gdouble confidence, GstStructure *extra)
{
  GstCuvObject object = { gst_cuv_quark (label), x, y, w, h, id, -1, -1,
    confidence, 0, NAN, NULL, -1, NULL };

  ensure_detection (writer, &object);
  if (writer->metadata != GST_CUV_METADATA_ANALYTICS || object.od < 0)
    add_region (writer, &object);
  gst_cuv_meta_add_param (
      writer, &object, fill_detection (writer, &object, extra));
  return object;
}

void
gst_cuv_meta_add_param (
    GstCuvWriter *writer, GstCuvObject *object, GstStructure *param)
{
  if (object->roi != NULL)
    add_region_param (object, param);
  else
    add_od_param (writer, object, param);
}

void
gst_cuv_meta_add_class (GstCuvWriter *writer, const GstCuvObject *object)
{
#if HAVE_ANALYTICS
  GstAnalyticsRelationMeta *meta;
  GstAnalyticsClsMtd class;

  if (object->od < 0 || object->label == 0 || isnan (object->confidence))
    return;
  meta = room_for_entry (writer);
  if (meta != NULL
      && gst_analytics_relation_meta_add_one_cls_mtd (
          meta, (gfloat) object->confidence, object->label, &class))
    gst_analytics_relation_meta_set_relation (
        meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, (guint) object->od, class.id);
#endif
}

void
gst_cuv_meta_set_parent (
    GstCuvWriter *writer, GstCuvObject *object, GstCuvObject *parent)
{
  ensure_written (writer, parent);
  ensure_written (writer, object);
  object->parent_id = parent->id;
  if (object->roi != NULL)
    object->roi->parent_id = parent->id;
  relate_parent (writer, object, parent);
}

void
gst_cuv_meta_set_track (GstCuvWriter *writer, GstCuvObject *object, gint id,
    GstClockTime first_seen, GstClockTime last_seen)
{
  gboolean added;

  if (object != NULL)
    ensure_written (writer, object);
  added = add_track (writer, object, id, first_seen, last_seen);
  if (object == NULL)
    return;
  object->track = id;
  if (added && writer->metadata == GST_CUV_METADATA_ANALYTICS)
    return;
  ensure_region (writer, object);
  add_region_param (
      object, gst_cuv_structure_new ("object_id", "id", G_TYPE_INT, id, NULL));
}
