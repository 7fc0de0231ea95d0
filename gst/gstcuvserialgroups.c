/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvserialgroups.h"

#if HAVE_ANALYTICS
#if GST_CHECK_VERSION(1, 29, 2)
/* ---- writing ---- */

GVariant *
gst_cuv_serial_from_keypoint (GstAnalyticsMtd *mtd)
{
  GstAnalyticsKeypointDimensions dimensions =
      GST_ANALYTICS_KEYPOINT_DIMENSIONS_2D;
  gfloat confidence = 0;
  gint x = 0, y = 0, z = 0;
  guint8 visibility = 0;

  if (gst_analytics_mtd_get_mtd_type (mtd)
      != gst_analytics_keypoint_mtd_get_mtd_type ())
    return NULL;
  gst_analytics_keypoint_mtd_get_position (mtd, &x, &y, &z, &dimensions);
  gst_analytics_keypoint_mtd_get_visibility_flags (mtd, &visibility);
  gst_analytics_keypoint_mtd_get_confidence (mtd, &confidence);
  return g_variant_new (GST_CUV_SERIAL_KEYPOINT, (guint8) dimensions, x, y, z,
      visibility, (gdouble) confidence);
}

GVariant *
gst_cuv_serial_from_group (GstAnalyticsMtd *mtd)
{
  GVariantBuilder builder;
  gpointer state = NULL;
  GstAnalyticsMtd member;

  if (gst_analytics_mtd_get_mtd_type (mtd)
      != gst_analytics_group_mtd_get_mtd_type ())
    return NULL;
  g_variant_builder_init (&builder, G_VARIANT_TYPE (GST_CUV_SERIAL_GROUP));
  while (gst_analytics_group_mtd_iterate (
      mtd, &state, GST_ANALYTICS_MTD_TYPE_ANY, &member))
    g_variant_builder_add (&builder, "u", member.id);
  return g_variant_builder_end (&builder);
}

GVariant *
gst_cuv_serial_from_tags (GstAnalyticsRelationMeta *meta)
{
  GVariantBuilder builder;
  gpointer state = NULL;
  GstAnalyticsMtd mtd;
  guint n = 0;

  g_variant_builder_init (&builder, G_VARIANT_TYPE (GST_CUV_SERIAL_TAGS));
  while (gst_analytics_relation_meta_iterate (
      meta, &state, GST_ANALYTICS_MTD_TYPE_ANY, &mtd)) {
    gchar *tag = gst_analytics_mtd_get_semantic_tag (&mtd);
    gchar *valid = g_utf8_make_valid (tag != NULL ? tag : "", -1);

    if (*valid != '\0') {
      g_variant_builder_add (&builder, "(us)", mtd.id, valid);
      n++;
    }
    g_free (valid);
    g_free (tag);
  }
  if (n > 0)
    return g_variant_builder_end (&builder);
  g_variant_builder_clear (&builder);
  return NULL;
}

/* ---- reading ---- */

gboolean
gst_cuv_serial_add_keypoint (
    GstAnalyticsRelationMeta *meta, GVariant *value, GstAnalyticsMtd *added)
{
  guint8 dimensions, visibility;
  gdouble confidence;
  gint x, y, z;

  g_variant_get (value, GST_CUV_SERIAL_KEYPOINT, &dimensions, &x, &y, &z,
      &visibility, &confidence);
  return gst_analytics_relation_meta_add_keypoint_mtd (meta,
      dimensions == GST_ANALYTICS_KEYPOINT_DIMENSIONS_3D
          ? GST_ANALYTICS_KEYPOINT_DIMENSIONS_3D
          : GST_ANALYTICS_KEYPOINT_DIMENSIONS_2D,
      x, y, z, visibility, (gfloat) confidence, added);
}

gboolean
gst_cuv_serial_add_group (
    GstAnalyticsRelationMeta *meta, GVariant *value, GstAnalyticsMtd *added)
{
  return gst_analytics_relation_meta_add_group_mtd_with_size (
      meta, g_variant_n_children (value), added);
}

void
gst_cuv_serial_add_members (GstAnalyticsRelationMeta *meta, guint group,
    GVariant *value, const gint *ids, gsize n)
{
  GstAnalyticsGroupMtd mtd = { .id = group, .meta = meta };
  GVariantIter iter;
  guint member;

  g_variant_iter_init (&iter, value);
  while (g_variant_iter_next (&iter, "u", &member)) {
    if (member < n && ids[member] >= 0)
      gst_analytics_group_mtd_add_member (&mtd, (guint) ids[member]);
  }
}

void
gst_cuv_serial_add_tags (
    GstAnalyticsRelationMeta *meta, GVariant *value, const gint *ids, gsize n)
{
  GVariantIter iter;
  const gchar *tag;
  guint id;

  g_variant_iter_init (&iter, value);
  while (g_variant_iter_next (&iter, "(u&s)", &id, &tag)) {
    if (id < n && ids[id] >= 0)
      gst_analytics_mtd_set_semantic_tag (
          &(GstAnalyticsMtd){ .id = (guint) ids[id], .meta = meta }, tag);
  }
}
#else
GVariant *
gst_cuv_serial_from_keypoint (GstAnalyticsMtd *mtd)
{
  return NULL;
}

GVariant *
gst_cuv_serial_from_group (GstAnalyticsMtd *mtd)
{
  return NULL;
}

GVariant *
gst_cuv_serial_from_tags (GstAnalyticsRelationMeta *meta)
{
  return NULL;
}

gboolean
gst_cuv_serial_add_keypoint (
    GstAnalyticsRelationMeta *meta, GVariant *value, GstAnalyticsMtd *added)
{
  return FALSE;
}

gboolean
gst_cuv_serial_add_group (
    GstAnalyticsRelationMeta *meta, GVariant *value, GstAnalyticsMtd *added)
{
  return FALSE;
}

void
gst_cuv_serial_add_members (GstAnalyticsRelationMeta *meta, guint group,
    GVariant *value, const gint *ids, gsize n)
{
}

void
gst_cuv_serial_add_tags (
    GstAnalyticsRelationMeta *meta, GVariant *value, const gint *ids, gsize n)
{
}
#endif
#endif
