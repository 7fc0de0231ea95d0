/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstAnalytics as bytes: objects with their parameters, classes, tracks,
 * groups, keypoints, semantic tags, and their relations. Other kinds are not
 * sent. */
#include "config.h"
#include "gstcuvserial.h"
#include "gstcuvserialgroups.h"

#if HAVE_ANALYTICS
#include "gstcuvodparams.h"

#define OBJECT "(siiiidd)" /* label, x, y, w, h, angle, confidence */
#define CLASSES "a(sd)"    /* label, confidence */
#define TRACK "(tttb)"     /* id, first and last seen, lost */
#define PARAMS "a(ua" GST_CUV_SERIAL_STRUCTURE ")" /* object, parameters */
/* kind and one of these; relations: from, to, types */
#define ANALYTICS "(a(yv)a(uuu))"

enum {
  KIND_OTHER,
  KIND_OBJECT,
  KIND_CLASSES,
  KIND_TRACK,
  KIND_PARAMS, /* of all objects */
  KIND_KEYPOINT,
  KIND_GROUP,
  KIND_TAGS, /* of all entries */
};

/* ---- writing ---- */

static gchar *
valid_label (GQuark quark)
{
  const gchar *label = g_quark_to_string (quark);

  return g_utf8_make_valid (label != NULL ? label : "", -1);
}

static GVariant *
object_to_variant (GstAnalyticsMtd *od)
{
  gchar *label = valid_label (gst_analytics_od_mtd_get_obj_type (od));
  gfloat angle = 0, confidence = 0;
  gint x = 0, y = 0, w = 0, h = 0;
  GVariant *variant;

#if GST_CHECK_VERSION(1, 26, 0)
  gst_analytics_od_mtd_get_oriented_location (
      od, &x, &y, &w, &h, &angle, &confidence);
#else
  gst_analytics_od_mtd_get_location (od, &x, &y, &w, &h, &confidence);
#endif
  variant = g_variant_new (
      OBJECT, label, x, y, w, h, (gdouble) angle, (gdouble) confidence);
  g_free (label);
  return variant;
}

static GVariant *
classes_to_variant (GstAnalyticsMtd *cls)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE (CLASSES));
  for (gsize i = 0; i < gst_analytics_cls_mtd_get_length (cls); i++) {
    gchar *label = valid_label (gst_analytics_cls_mtd_get_quark (cls, i));

    g_variant_builder_add (&builder, "(sd)", label,
        (gdouble) gst_analytics_cls_mtd_get_level (cls, i));
    g_free (label);
  }
  return g_variant_builder_end (&builder);
}

static GVariant *
track_to_variant (GstAnalyticsMtd *track)
{
  GstClockTime first = GST_CLOCK_TIME_NONE, last = GST_CLOCK_TIME_NONE;
  gboolean lost = FALSE;
  guint64 id = 0;

  gst_analytics_tracking_mtd_get_info (track, &id, &first, &last, &lost);
  return g_variant_new (TRACK, id, first, last, lost);
}

static void
add_mtd (GVariantBuilder *builder, GstAnalyticsMtd *mtd)
{
  const GstAnalyticsMtdType type = gst_analytics_mtd_get_mtd_type (mtd);
  GVariant *variant;

  if (type == gst_analytics_od_mtd_get_mtd_type ())
    g_variant_builder_add (
        builder, "(yv)", KIND_OBJECT, object_to_variant (mtd));
  else if (type == gst_analytics_cls_mtd_get_mtd_type ())
    g_variant_builder_add (
        builder, "(yv)", KIND_CLASSES, classes_to_variant (mtd));
  else if (type == gst_analytics_tracking_mtd_get_mtd_type ())
    g_variant_builder_add (builder, "(yv)", KIND_TRACK, track_to_variant (mtd));
  else if ((variant = gst_cuv_serial_from_keypoint (mtd)) != NULL)
    g_variant_builder_add (builder, "(yv)", KIND_KEYPOINT, variant);
  else if ((variant = gst_cuv_serial_from_group (mtd)) != NULL)
    g_variant_builder_add (builder, "(yv)", KIND_GROUP, variant);
  else
    g_variant_builder_add (
        builder, "(yv)", KIND_OTHER, g_variant_new_boolean (FALSE));
}

/* Adds the parameters of all objects, after all entries. */
static void
add_params (GVariantBuilder *mtds, GHashTable *table)
{
  GVariantBuilder params;
  gpointer od, list;
  GHashTableIter iter;

  g_variant_builder_init (&params, G_VARIANT_TYPE (PARAMS));
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, &od, &list)) {
    g_variant_builder_open (
        &params, G_VARIANT_TYPE ("(ua" GST_CUV_SERIAL_STRUCTURE ")"));
    g_variant_builder_add (&params, "u", GPOINTER_TO_UINT (od));
    g_variant_builder_open (
        &params, G_VARIANT_TYPE ("a" GST_CUV_SERIAL_STRUCTURE));
    for (const GList *l = list; l != NULL; l = l->next)
      g_variant_builder_add_value (
          &params, gst_cuv_serial_from_structure (l->data));
    g_variant_builder_close (&params);
    g_variant_builder_close (&params);
  }
  g_variant_builder_add (
      mtds, "(yv)", KIND_PARAMS, g_variant_builder_end (&params));
}

static void
add_edges_from (GVariantBuilder *edges, GstAnalyticsRelationMeta *relations,
    guint from, guint n)
{
  for (guint to = 0; to < n; to++) {
    const guint types =
        gst_analytics_relation_meta_get_relation (relations, from, to);

    if (types != GST_ANALYTICS_REL_TYPE_NONE)
      g_variant_builder_add (edges, "(uuu)", from, to, types);
  }
}

static gboolean
serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  GstAnalyticsRelationMeta *relations = (GstAnalyticsRelationMeta *) meta;
  const guint n = (guint) gst_analytics_relation_get_length (relations);
  GHashTable *params = gst_cuv_od_params_find (relations);
  GVariant *tags;
  GVariantBuilder mtds, edges;
  GstAnalyticsMtd mtd;

  if (n > GST_CUV_MAX_MTDS)
    return FALSE;
  g_variant_builder_init (&mtds, G_VARIANT_TYPE ("a(yv)"));
  g_variant_builder_init (&edges, G_VARIANT_TYPE ("a(uuu)"));
  for (guint i = 0; i < n; i++) {
    gst_analytics_relation_meta_get_mtd (
        relations, i, GST_ANALYTICS_MTD_TYPE_ANY, &mtd);
    add_mtd (&mtds, &mtd);
    add_edges_from (&edges, relations, i, n);
  }
  if (params != NULL)
    add_params (&mtds, params);
  tags = gst_cuv_serial_from_tags (relations);
  if (tags != NULL)
    g_variant_builder_add (&mtds, "(yv)", KIND_TAGS, tags);
  return gst_cuv_serial_append (
      data, version, g_variant_new (ANALYTICS, &mtds, &edges));
}

/* ---- reading ---- */

static GQuark
quark_of (const gchar *label)
{
  return *label != '\0' ? gst_cuv_serial_quark (label) : 0;
}

static gboolean
add_object (
    GstAnalyticsRelationMeta *meta, GVariant *value, GstAnalyticsMtd *added)
{
  gdouble angle, confidence;
  const gchar *label;
  gint x, y, w, h;

  g_variant_get (
      value, "(&siiiidd)", &label, &x, &y, &w, &h, &angle, &confidence);
#if GST_CHECK_VERSION(1, 26, 0)
  if (angle != 0)
    return gst_analytics_relation_meta_add_oriented_od_mtd (meta,
        quark_of (label), x, y, w, h, (gfloat) angle, (gfloat) confidence,
        added);
#endif
  return gst_analytics_relation_meta_add_od_mtd (
      meta, quark_of (label), x, y, w, h, (gfloat) confidence, added);
}

static gboolean
add_classes (
    GstAnalyticsRelationMeta *meta, GVariant *value, GstAnalyticsMtd *added)
{
  const gsize n = g_variant_n_children (value);
  gfloat *levels = g_new (gfloat, n);
  GQuark *labels = g_new (GQuark, n);
  gboolean ok;

  for (gsize i = 0; i < n; i++) {
    const gchar *label;
    gdouble level;

    g_variant_get_child (value, i, "(&sd)", &label, &level);
    labels[i] = quark_of (label);
    levels[i] = (gfloat) level;
  }
  ok = n > 0
      && gst_analytics_relation_meta_add_cls_mtd (
          meta, n, levels, labels, added);
  g_free (labels);
  g_free (levels);
  return ok;
}

static gboolean
add_track (
    GstAnalyticsRelationMeta *meta, GVariant *value, GstAnalyticsMtd *added)
{
  GstClockTime first, last;
  gboolean lost;
  guint64 id;

  g_variant_get (value, TRACK, &id, &first, &last, &lost);
  if (!gst_analytics_relation_meta_add_tracking_mtd (meta, id, first, added))
    return FALSE;
  gst_analytics_tracking_mtd_update_last_seen (added, last);
  if (lost)
    gst_analytics_tracking_mtd_set_lost (added);
  return TRUE;
}

static void
read_params (
    GstAnalyticsRelationMeta *meta, GVariant *value, const gint *ids, gsize n)
{
  GHashTable *params = g_variant_is_of_type (value, G_VARIANT_TYPE (PARAMS))
      ? gst_cuv_od_params_new (meta)
      : NULL;
  GVariantIter iter, *list;
  GVariant *param;
  guint od;

  if (params == NULL)
    return;
  g_variant_iter_init (&iter, value);
  while (g_variant_iter_loop (
      &iter, "(ua" GST_CUV_SERIAL_STRUCTURE ")", &od, &list)) {
    while ((param = g_variant_iter_next_value (list)) != NULL) {
      GstStructure *structure = gst_cuv_serial_to_structure (param);

      if (structure != NULL && od < n && ids[od] >= 0)
        gst_cuv_od_params_add (params, (guint) ids[od], structure);
      else
        g_clear_pointer (&structure, gst_structure_free);
      g_variant_unref (param);
    }
  }
}

/* Returns the new id, or -1 if the mtd was not added. */
static gint
add_any (GstAnalyticsRelationMeta *meta, guint8 kind, GVariant *value)
{
  static const struct {
    const gchar *type;
    gboolean (*add) (GstAnalyticsRelationMeta *meta, GVariant *value,
        GstAnalyticsMtd *added);
  } kinds[] = {
    [KIND_OBJECT] = { OBJECT, add_object },
    [KIND_CLASSES] = { CLASSES, add_classes },
    [KIND_TRACK] = { TRACK, add_track },
    [KIND_KEYPOINT] = { GST_CUV_SERIAL_KEYPOINT, gst_cuv_serial_add_keypoint },
    [KIND_GROUP] = { GST_CUV_SERIAL_GROUP, gst_cuv_serial_add_group },
  };
  GstAnalyticsMtd added;

  return kind < G_N_ELEMENTS (kinds) && kinds[kind].add != NULL
          && g_variant_is_of_type (value, G_VARIANT_TYPE (kinds[kind].type))
          && kinds[kind].add (meta, value, &added)
      ? (gint) added.id
      : -1;
}

static void
add_edges (GstAnalyticsRelationMeta *meta, GVariantIter *edges, const gint *ids,
    gsize n)
{
  guint from, to, types;

  while (g_variant_iter_next (edges, "(uuu)", &from, &to, &types)) {
    if (from < n && to < n && ids[from] >= 0 && ids[to] >= 0)
      gst_analytics_relation_meta_set_relation (
          meta, types, (guint) ids[from], (guint) ids[to]);
  }
}

/* Adds what an entry has about other entries, which are all added. */
static void
add_references (GstAnalyticsRelationMeta *meta, guint8 kind, GVariant *value,
    gint id, const gint *ids, gsize n)
{
  if (kind == KIND_PARAMS)
    read_params (meta, value, ids, n);
  else if (kind == KIND_GROUP && id >= 0)
    gst_cuv_serial_add_members (meta, (guint) id, value, ids, n);
  else if (kind == KIND_TAGS
      && g_variant_is_of_type (value, G_VARIANT_TYPE (GST_CUV_SERIAL_TAGS)))
    gst_cuv_serial_add_tags (meta, value, ids, n);
}

/* Adds the entries, which relations refer to by their number. */
static void
add_all (
    GstAnalyticsRelationMeta *meta, GVariantIter *mtds, GVariantIter *edges)
{
  const gsize n = g_variant_iter_n_children (mtds);
  GVariantIter *again = g_variant_iter_copy (mtds);
  gint *ids = g_new (gint, n + 1);
  GVariant *value;
  guint8 kind;

  for (gsize i = 0; g_variant_iter_next (mtds, "(yv)", &kind, &value); i++) {
    ids[i] = add_any (meta, kind, value);
    g_variant_unref (value);
  }
  for (gsize i = 0; g_variant_iter_next (again, "(yv)", &kind, &value); i++) {
    add_references (meta, kind, value, ids[i], ids, n);
    g_variant_unref (value);
  }
  add_edges (meta, edges, ids, n);
  g_variant_iter_free (again);
  g_free (ids);
}

static GstMeta *
deserialize (const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data,
    gsize size, guint8 version)
{
  GVariant *variant = gst_cuv_serial_parse (ANALYTICS, data, size, version);
  GstAnalyticsRelationMetaInitParams params;
  GstAnalyticsRelationMeta *meta = NULL;
  GVariantIter *mtds, *edges;
  gsize n;

  if (variant == NULL)
    return NULL;
  g_variant_get (variant, ANALYTICS, &mtds, &edges);
  n = g_variant_iter_n_children (mtds);
  if (n <= GST_CUV_MAX_MTDS + 2) { /* two more: parameters and tags */
    params =
        (GstAnalyticsRelationMetaInitParams){ MAX (n, 64), 64 * MAX (n, 64) };
    meta = gst_buffer_add_analytics_relation_meta_full (buffer, &params);
    add_all (meta, mtds, edges);
  }
  g_variant_iter_free (mtds);
  g_variant_iter_free (edges);
  g_variant_unref (variant);
  return (GstMeta *) meta;
}

void
gst_cuv_serial_analytics (void)
{
  const GstMetaInfo *info = gst_analytics_relation_meta_get_info ();

  if (info->serialize_func == NULL && info->deserialize_func == NULL)
    gst_cuv_serial_set_functions (info, serialize, deserialize);
}
#endif
