/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "random-metas.h"
#include "config.h"
#include "gstcuvmeta.h"
#include "random.h"

#include <math.h>
#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

static guint
random_extent (void)
{
  return once_in (8) ? G_MAXUINT - below (2) : below (200);
}

static const gchar *
random_label (void)
{
  static const gchar *const labels[] = { "face", "", "bad\xff", "<&>" };

  return labels[below (G_N_ELEMENTS (labels))];
}

static gdouble
random_level (void)
{
  return once_in (4) ? NAN : g_random_double_range (-1, 2);
}

/* ---- GStreamer's video metas ---- */

static void
add_video_meta (GstBuffer *buffer, const GstVideoInfo *info)
{
  const guint less = once_in (8), n = GST_VIDEO_INFO_N_PLANES (info);
  gsize offset[GST_VIDEO_MAX_PLANES];
  gint stride[GST_VIDEO_MAX_PLANES];

  for (guint i = 0; i < n; i++) {
    offset[i] = info->offset[i] + (once_in (4) ? below (60) : 0);
    stride[i] = info->stride[i] + (once_in (4) ? (gint) below (9) - 4 : 0);
  }
  if (once_in (8))
    stride[0] = g_random_int_range (G_MININT, G_MAXINT);
  gst_buffer_add_video_meta_full (buffer, 0,
      once_in (16) ? GST_VIDEO_FORMAT_NV12 : GST_VIDEO_INFO_FORMAT (info),
      (guint) info->width + below (3) - less, (guint) info->height + below (3),
      n - (n > 1 && once_in (16)), offset, stride);
}

static void
add_crop (GstBuffer *buffer)
{
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

  crop->x = crop->y = random_extent ();
  crop->width = crop->height = random_extent ();
}

static void
add_region (GstBuffer *buffer)
{
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (buffer,
          once_in (8) ? NULL : random_label (), random_extent (),
          random_extent (), random_extent (), random_extent ());

  roi->id = (gint) below (4);
  roi->parent_id = (gint) below (4) - 1;
  if (once_in (2))
    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE,
            random_level (), "label", G_TYPE_STRING, once_in (4) ? NULL : "a\n",
            "x_min", G_TYPE_INT, -1, NULL));
}

/* ---- GstAnalytics ---- */

#if HAVE_ANALYTICS
static void
add_detection (GstAnalyticsRelationMeta *meta)
{
  GstAnalyticsODMtd od;

#if GST_CHECK_VERSION(1, 26, 0)
  if (once_in (2)) {
    gst_analytics_relation_meta_add_oriented_od_mtd (meta,
        g_quark_from_string (random_label ()), (gint) random_extent (),
        (gint) random_extent (), (gint) random_extent (),
        (gint) random_extent (), (gfloat) random_level (),
        (gfloat) random_level (), &od);
    return;
  }
#endif
  gst_analytics_relation_meta_add_od_mtd (meta,
      g_quark_from_string (random_label ()), (gint) random_extent (),
      (gint) random_extent (), (gint) random_extent (), (gint) random_extent (),
      (gfloat) random_level (), &od);
}

static void
add_class (GstAnalyticsRelationMeta *meta)
{
  GQuark labels[] = { g_quark_from_string (random_label ()), 0 };
  gfloat levels[] = { (gfloat) random_level (), (gfloat) random_level () };
  GstAnalyticsClsMtd classes;

  gst_analytics_relation_meta_add_cls_mtd (
      meta, below (3), levels, labels, &classes);
}

static void
add_track (GstAnalyticsRelationMeta *meta)
{
  GstAnalyticsTrackingMtd track;

  gst_analytics_relation_meta_add_tracking_mtd (
      meta, once_in (4) ? G_MAXUINT64 : below (4), below (9), &track);
  if (once_in (4))
    gst_analytics_tracking_mtd_set_lost (&track);
}

#if GST_CHECK_VERSION(1, 29, 2)
static void
add_keypoint (GstAnalyticsRelationMeta *meta)
{
  GstAnalyticsKeypointMtd keypoint;

  gst_analytics_relation_meta_add_keypoint_mtd (meta,
      once_in (2) ? GST_ANALYTICS_KEYPOINT_DIMENSIONS_2D
                  : GST_ANALYTICS_KEYPOINT_DIMENSIONS_3D,
      (gint) random_extent (), (gint) random_extent (), (gint) random_extent (),
      (guint8) below (256), (gfloat) random_level (), &keypoint);
  if (once_in (4))
    gst_analytics_mtd_set_semantic_tag (&keypoint, random_label ());
}

/* Members may be added later, or never. */
static void
add_group (GstAnalyticsRelationMeta *meta)
{
  GstAnalyticsGroupMtd group;

  gst_analytics_relation_meta_add_group_mtd (meta, below (4), &group);
  for (guint i = below (6); i > 0; i--)
    gst_analytics_group_mtd_add_member (&group, below (8));
  if (once_in (2))
    gst_analytics_mtd_set_semantic_tag (&group, random_label ());
}
#endif

/* Adds entries that relate to any others, also to themselves. */
static void
add_analytics (GstBuffer *buffer)
{
  static void (*const add[]) (GstAnalyticsRelationMeta *) = {
    add_detection,
    add_class,
    add_track,
#if GST_CHECK_VERSION(1, 29, 2)
    add_keypoint,
    add_group
#endif
  };
  static const GstAnalyticsRelTypes types[] = {
    GST_ANALYTICS_REL_TYPE_IS_PART_OF, GST_ANALYTICS_REL_TYPE_CONTAIN,
    GST_ANALYTICS_REL_TYPE_RELATE_TO
  };
  GstAnalyticsRelationMeta *meta =
      gst_buffer_add_analytics_relation_meta (buffer);
  guint n;

  for (guint i = below (8); i > 0; i--)
    add[below (G_N_ELEMENTS (add))](meta);
  n = (guint) gst_analytics_relation_get_length (meta);
  for (guint i = 0; i < 2 * n; i++)
    gst_analytics_relation_meta_set_relation (
        meta, types[below (G_N_ELEMENTS (types))], below (n), below (n));
}
#endif

/* ---- tables ---- */

enum { MAX_ROWS = 20, MAX_ROW_SIZE = 8 * 8 };

static void
set_random_bytes (GstStructure *table, const gchar *field, gsize size)
{
  guint8 *data = g_malloc (size + 1); /* g_malloc (0) is NULL */
  GBytes *bytes = g_bytes_new_take (data, size);

  for (gsize i = 0; i < size; i++)
    data[i] = (guint8) below (256);
  gst_structure_set (table, field, G_TYPE_BYTES, bytes, NULL);
  g_bytes_unref (bytes);
}

static void
add_pictures (GstStructure *table, guint n)
{
  const guint width = below (9), height = below (9);

  set_random_bytes (table, "pictures",
      (gsize) n * width * height * 3 + (once_in (4) ? below (4) : 0));
  gst_structure_set (table, "picture_width", G_TYPE_UINT, width,
      "picture_height", G_TYPE_UINT, height, NULL);
}

/* Makes a valid table invalid. */
static void
spoil (GstStructure *table)
{
  static const gchar *const fields[] = { "kind", "width", "height", "shape",
    "rows", "columns", "data", "key", "texts", "pictures", "picture_width" };
  const gchar *field = fields[below (G_N_ELEMENTS (fields))];

  switch (below (4)) {
    case 0:
      gst_structure_remove_field (table, field);
      break;
    case 1:
      gst_structure_set (table, field, G_TYPE_UINT, random_extent (), NULL);
      break;
    case 2:
      gst_structure_set (
          table, field, G_TYPE_STRING, once_in (2) ? NULL : "x", NULL);
      break;
    default:
      set_random_bytes (table, field, below (100));
  }
}

static void
add_table (GstBuffer *buffer)
{
  static const gchar *const kinds[] = { "lines", "ldp", "matches", "ntf", "pca",
    "other" };
  static const gchar *const shapes[] = { "segments", "points", "pictures",
    "none", "" };
  static const gchar *const names[] = { "x1", "y1", "x2", "y2", "x", "y",
    "rank", "name" };
  static const gchar *const texts[] = { "a", "", "bad\xff" };
  GstCuvColumn columns[G_N_ELEMENTS (names)];
  const guint n_columns = below (G_N_ELEMENTS (columns) + 1);
  const guint first = below (G_N_ELEMENTS (names)), n_rows = below (MAX_ROWS);
  guint8 rows[MAX_ROWS * MAX_ROW_SIZE];
  GstStructure *table;

  for (guint i = 0; i < n_columns; i++)
    columns[i] = (GstCuvColumn){ names[(first + i) % G_N_ELEMENTS (names)],
      below (GST_CUV_TYPE_TEXT + 1) };
  for (gsize i = 0; i < sizeof rows; i++)
    rows[i] = (guint8) (once_in (2) ? 0 : below (256));
  table = gst_cuv_meta_add_table (buffer, kinds[below (G_N_ELEMENTS (kinds))],
      below (3), random_extent (), random_extent (),
      shapes[below (G_N_ELEMENTS (shapes))], columns, n_columns, rows, n_rows);
  if (once_in (2))
    gst_cuv_meta_set_texts (table, texts, below (G_N_ELEMENTS (texts) + 1));
  if (once_in (2))
    add_pictures (table, n_rows);
  if (once_in (3))
    spoil (table);
}

void
random_metas (GstBuffer *buffer, const GstVideoInfo *info)
{
  if (GST_VIDEO_INFO_FORMAT (info) != GST_VIDEO_FORMAT_UNKNOWN && once_in (2))
    add_video_meta (buffer, info);
  if (once_in (8))
    add_crop (buffer);
  for (guint i = below (4); i > 0; i--)
    add_region (buffer);
  for (guint i = below (3); i > 0; i--)
    add_table (buffer);
#if HAVE_ANALYTICS
  if (once_in (2))
    add_analytics (buffer);
#endif
}
