/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstAnalytics as unixfdsink sends it: a reader finds the same objects. */
#include "config.h"
#include "mtds.h"

#include <math.h>

/* Returns objects as other elements produce them: nested, tracked, classified,
 * rotated and lost. */
static GstBuffer *
buffer_new (void)
{
  GstBuffer *buffer = gst_buffer_new ();
  const guint car = mtd_add_od (buffer, "car", 10, 20, 100, 80, 0.5f);
  const guint plate = mtd_add_od (buffer, "plate", 30, 40, 20, 10, 0.25f);

  gst_analytics_relation_meta_set_relation (
      gst_buffer_get_analytics_relation_meta (buffer),
      GST_ANALYTICS_REL_TYPE_IS_PART_OF, plate, car);
  mtd_add_class (buffer, car, "van", 0.875f);
  mtd_add_track (buffer, car, 7);
  mtd_add_od (buffer, NULL, 1, 2, 3, 4, 1);
#if GST_CHECK_VERSION(1, 26, 0)
  {
    GstAnalyticsODMtd od;

    fail_unless (gst_analytics_relation_meta_add_oriented_od_mtd (
        gst_buffer_get_analytics_relation_meta (buffer),
        g_quark_from_string ("boat"), 100, 100, 40, 20, 0.5f, 0.75f, &od));
  }
#endif
  gst_cuv_meta_set_track (&(GstCuvWriter){ .buffer = buffer }, NULL, 9, 1, 2);
  return buffer;
}

static GByteArray *
serialize (GstBuffer *buffer)
{
  GByteArray *sent = g_byte_array_new ();

  fail_unless (gst_meta_serialize_simple (
      (GstMeta *) gst_buffer_get_analytics_relation_meta (buffer), sent));
  return sent;
}

static gboolean
is_equal (gdouble a, gdouble b)
{
  return a == b || (isnan (a) && isnan (b));
}

static void
check_equal (const GstCuvObject *a, const GstCuvObject *b)
{
  fail_unless (a->label == b->label && a->x == b->x && a->y == b->y
      && a->w == b->w && a->h == b->h && a->id == b->id
      && a->parent_id == b->parent_id && a->track == b->track
      && is_equal (a->confidence, b->confidence)
      && a->class_label == b->class_label
      && is_equal (a->class_confidence, b->class_confidence) && a->od == b->od);
}

CUV_TEST (same_objects)
{
  g_autoptr (GstBuffer) buffer = buffer_new ();
  g_autoptr (GstBuffer) received = gst_buffer_new ();
  GByteArray *sent = serialize (buffer);
  GArray *objects = objects_of (buffer), *found;
  guint32 consumed;

  fail_unless (gst_meta_deserialize (received, sent->data, sent->len, &consumed)
      != NULL);
  found = objects_of (received);
  ck_assert_uint_eq (found->len, objects->len);
  fail_unless (objects->len >= 3 && nth_object (objects, 0).track == 7
      && nth_object (objects, 1).parent_id == 0);
  for (guint i = 0; i < found->len; i++) {
    const GstCuvObject a = nth_object (objects, i), b = nth_object (found, i);

    check_equal (&a, &b);
  }
  fail_unless (mtd_find_track (received, 9).lost);
  fail_unless_equals_uint64 (mtd_find_track (received, 9).last_seen, 2);
  g_array_unref (found);
  g_array_unref (objects);
  g_byte_array_unref (sent);
}

/* Deserialises the variant as if it had been sent. */
static void
receive (GstBuffer *buffer, GVariant *variant)
{
  const GstMetaInfo *info = gst_analytics_relation_meta_get_info ();
  GByteArray *bytes = g_byte_array_new ();
  guint32 sum = 2166136261u; /* FNV-1a */

  g_variant_ref_sink (variant);
  g_byte_array_append (bytes, g_variant_get_data (variant),
      (guint) g_variant_get_size (variant));
  for (guint i = 0; i < bytes->len; i++)
    sum = (sum ^ bytes->data[i]) * 16777619u;
  g_byte_array_append (bytes, (const guint8 *) &sum, 4);
  info->deserialize_func (info, buffer, bytes->data, bytes->len, 1);
  g_byte_array_unref (bytes);
  g_variant_unref (variant);
}

/* Invalid entries are left out, and so are relations to them. */
CUV_TEST (contradictions)
{
  GstBuffer *buffer = gst_buffer_new ();
  GVariantBuilder mtds, edges, many;

  g_variant_builder_init (&mtds, G_VARIANT_TYPE ("a(yv)"));
  g_variant_builder_add (&mtds, "(yv)", 1, g_variant_new_string ("no object"));
  g_variant_builder_add (&mtds, "(yv)", 200, g_variant_new_boolean (TRUE));
  g_variant_builder_add (&mtds, "(yv)", 2, g_variant_new ("a(sd)", NULL));
  g_variant_builder_add (&mtds, "(yv)", 1,
      g_variant_new ("(siiiidd)", "face", 1, 2, 3, 4, 0., 0.5));
  g_variant_builder_init (&edges, G_VARIANT_TYPE ("a(uuu)"));
  g_variant_builder_add (&edges, "(uuu)", 0, 3, 2);
  g_variant_builder_add (&edges, "(uuu)", 3, 4, 2);
  g_variant_builder_add (&edges, "(uuu)", G_MAXUINT, 3, G_MAXUINT);
  receive (buffer, g_variant_new ("(a(yv)a(uuu))", &mtds, &edges));
  fail_unless (only_object (buffer).x == 1);
  gst_buffer_unref (buffer);

  buffer = gst_buffer_new ();
  g_variant_builder_init (&many, G_VARIANT_TYPE ("a(yv)"));
  for (guint i = 0; i <= GST_CUV_MAX_MTDS + 2; i++)
    g_variant_builder_add (&many, "(yv)", 3,
        g_variant_new ("(tttb)", G_GUINT64_CONSTANT (1), G_GUINT64_CONSTANT (1),
            G_GUINT64_CONSTANT (1), FALSE));
  receive (buffer, g_variant_new ("(a(yv)a(uuu))", &many, NULL));
  fail_unless (gst_buffer_get_analytics_relation_meta (buffer) == NULL);
  gst_buffer_unref (buffer);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  static const gchar *const no_kinds[] = { NULL };

  gst_cuv_meta_register_tables (no_kinds);
}
