/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metas as unixfdsink sends them (GStreamer 1.24): what a receiver gets, and
 * that other bytes are refused. */
#include "cuvelements.h"

#include "gstcuvmeta.h"

#if GST_CHECK_VERSION(1, 24, 0)
static GstBuffer *
buffer_with_region (void)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (
          buffer, "a \"face\"\xc3\xbc", 1, 2, 30, G_MAXUINT);
  GBytes *bytes = g_bytes_new ("\0\1\2\3", 4);

  roi->id = 7;
  roi->parent_id = -1;
  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.1,
          "label_id", G_TYPE_INT, -3, "text", G_TYPE_STRING, "x; y, \"z\"",
          "bytes", G_TYPE_BYTES, bytes, NULL));
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 9, NULL));
  g_bytes_unref (bytes);
  return buffer;
}

static GstBuffer *
buffer_with_table (void)
{
  GstBuffer *buffer = gst_buffer_new ();
  const GstCuvColumn column = { "x", GST_CUV_TYPE_U8 };

  gst_cuv_meta_add_table (
      buffer, "lines", 1, 640, 480, "none", &column, 1, "\1\2\3\4", 4);
  return buffer;
}

/* Serialises the only meta of the buffer. */
static GByteArray *
serialize (GstBuffer *buffer)
{
  GByteArray *sent = g_byte_array_new ();
  gpointer state = NULL;

  fail_unless (gst_meta_serialize_simple (
      gst_buffer_iterate_meta (buffer, &state), sent));
  gst_buffer_unref (buffer);
  return sent;
}

static gboolean
params_are_equal (
    GstVideoRegionOfInterestMeta *a, GstVideoRegionOfInterestMeta *b)
{
  GList *m = b->params;

  for (GList *l = a->params; l != NULL; l = l->next, m = m->next)
    if (m == NULL || !gst_structure_is_equal (l->data, m->data))
      return FALSE;
  return m == NULL;
}

static void
check_region (GstBuffer *buffer)
{
  gpointer state = NULL, received_state = NULL;
  GstBuffer *received = gst_buffer_new ();
  GstVideoRegionOfInterestMeta *a = cuv_next_region (buffer, &state), *b;
  GByteArray *sent = serialize (gst_buffer_ref (buffer));
  guint32 consumed;

  fail_unless (gst_meta_deserialize (received, sent->data, sent->len, &consumed)
      != NULL);
  ck_assert_uint_eq (consumed, sent->len);
  b = cuv_next_region (received, &received_state);
  fail_unless (a->roi_type == b->roi_type && a->id == b->id
      && a->parent_id == b->parent_id && a->x == b->x && a->y == b->y
      && a->w == b->w && a->h == b->h && params_are_equal (a, b));
  g_byte_array_unref (sent);
  gst_buffer_unref (received);
  gst_buffer_unref (buffer);
}

CUV_TEST (regions)
{
  GstBuffer *plain = gst_buffer_new ();

  gst_buffer_add_video_region_of_interest_meta_id (plain, 0, 0, 0, 0, 0);
  check_region (buffer_with_region ());
  check_region (plain);
}

/* ---- fields ---- */

static GstStructure *
odd_structure (void)
{
  GBytes *bytes = g_bytes_new ("\0", 1);
  GstStructure *inner = gst_structure_new (
      "inner", "bytes", G_TYPE_BYTES, bytes, "n", G_TYPE_UINT64, 7, NULL);
  GstStructure *structure = gst_structure_new ("odd", "pointer", G_TYPE_POINTER,
      bytes, "variant", G_TYPE_VARIANT, g_variant_new_int32 (3), "a b",
      G_TYPE_INT, 1, "inner", GST_TYPE_STRUCTURE, inner, "rate",
      GST_TYPE_FRACTION, 25, 1, "last", G_TYPE_FLOAT, 0.5, NULL);
  GValue texts = G_VALUE_INIT, text = G_VALUE_INIT;

  g_value_init (&texts, GST_TYPE_ARRAY);
  g_value_init (&text, G_TYPE_STRING);
  g_value_set_static_string (&text, "a\xff");
  gst_value_array_append_and_take_value (&texts, &text);
  gst_structure_take_value (structure, "texts", &texts);
  gst_structure_free (inner);
  g_bytes_unref (bytes);
  return structure;
}

/* A field that cannot be sent does not prevent the others from being sent. */
CUV_TEST (odd_fields)
{
  GstBuffer *buffer = gst_buffer_new (), *received = gst_buffer_new ();
  GstStructure *odd = odd_structure (), *wanted = gst_structure_copy (odd);
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (buffer, "a", 1, 2, 3, 4);
  GValue texts = G_VALUE_INIT, text = G_VALUE_INIT;
  gpointer state = NULL;
  GByteArray *sent;
  guint32 consumed;

  gst_video_region_of_interest_meta_add_param (roi, odd);
  sent = serialize (buffer);
  fail_unless (gst_meta_deserialize (received, sent->data, sent->len, &consumed)
      != NULL);
  roi = cuv_next_region (received, &state);
  gst_structure_remove_fields (wanted, "pointer", "variant", NULL);
  g_value_init (&texts, GST_TYPE_ARRAY);
  g_value_init (&text, G_TYPE_STRING);
  g_value_set_static_string (&text, "a\xef\xbf\xbd");
  gst_value_array_append_and_take_value (&texts, &text);
  gst_structure_take_value (wanted, "texts", &texts);
  fail_unless (gst_structure_is_equal (
      gst_video_region_of_interest_meta_get_param (roi, "odd"), wanted));
  gst_structure_free (wanted);
  g_byte_array_unref (sent);
  gst_buffer_unref (received);
}

/* ---- other bytes ---- */

/* Truncated or changed bytes are refused. */
static void
check_changed (GByteArray *sent)
{
  for (guint i = 1; i < sent->len; i++) {
    guint8 *copy = g_memdup2 (sent->data, i);
    GstBuffer *buffer = gst_buffer_new ();
    guint32 consumed;

    fail_unless (gst_meta_deserialize (buffer, copy, i, &consumed) == NULL);
    g_free (copy);
    copy = g_memdup2 (sent->data, sent->len);
    copy[i] ^= 1u << g_random_int_range (0, 8);
    fail_unless (
        gst_meta_deserialize (buffer, copy, sent->len, &consumed) == NULL);
    g_free (copy);
    gst_buffer_unref (buffer);
  }
  g_byte_array_unref (sent);
}

CUV_TEST (cut_or_changed)
{
  check_changed (serialize (buffer_with_region ()));
  check_changed (serialize (buffer_with_table ()));
}

static guint
n_metas (GstBuffer *buffer)
{
  gpointer state = NULL;
  guint n = 0;

  while (gst_buffer_iterate_meta (buffer, &state) != NULL)
    n++;
  return n;
}

/* Computes the FNV-1a checksum that the library uses. */
static void
add_checksum (guint8 *bytes, gsize size)
{
  guint32 sum = 2166136261u;

  for (gsize i = 0; i < size - 4; i++)
    sum = (sum ^ bytes[i]) * 16777619u;
  memcpy (bytes + size - 4, &sum, 4);
}

/* Random bytes are refused, even with a valid checksum. */
static void
check_rubbish (const GstMetaInfo *info)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();

  for (guint i = 0; i < 2000; i++) {
    const gsize size = (gsize) g_random_int_range (4, 200);
    guint8 *bytes = g_malloc (size);

    for (gsize k = 0; k < size; k++)
      bytes[k] = (guint8) g_random_int ();
    if (i % 2)
      add_checksum (bytes, size);
    for (guint8 version = 0; version < 3; version++)
      fail_unless (
          info->deserialize_func (info, buffer, bytes, size, version) == NULL);
    fail_unless (
        info->deserialize_func (info, buffer, bytes, i % 4, 1) == NULL);
    g_free (bytes);
  }
  fail_unless (n_metas (buffer) == 0);
}

CUV_TEST (rubbish)
{
  check_rubbish (gst_video_region_of_interest_meta_get_info ());
  check_rubbish (gst_meta_get_info ("GstCuvLinesMeta"));
}

static gboolean
resize (GstByteArrayInterface *self, gsize size)
{
  self->data = g_realloc (self->data, size);
  self->len = size;
  return TRUE;
}

/* Changed bytes with a correct checksum may have any result, but must not cause
 * a crash. */
static void
check_mutations (GstBuffer *buffer)
{
  gpointer state = NULL;
  GstMeta *meta = gst_buffer_iterate_meta (buffer, &state);
  GArray *objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  GstByteArrayInterface sent;
  guint8 version = 0;

  gst_byte_array_interface_init (&sent);
  sent.resize = resize;
  fail_unless (meta->info->serialize_func (meta, &sent, &version));
  for (guint i = 0; i < 20000; i++) {
    guint8 *bytes = g_memdup2 (sent.data, sent.len);
    GstBuffer *received = gst_buffer_new ();
    GstCuvTable table;

    for (guint n = 0; n <= i % 4; n++)
      bytes[g_random_int_range (0, (gint32) sent.len - 4)] ^=
          (guint8) (i % 8 < 4 ? 1u << g_random_int_range (0, 8)
                              : g_random_int ());
    add_checksum (bytes, sent.len);
    meta->info->deserialize_func (
        meta->info, received, bytes, sent.len, version);
    gst_cuv_objects_read (objects, received);
    state = NULL;
    while (gst_cuv_meta_next_table (received, &state, &table))
      fail_unless (table.n_columns > 0 || table.n_rows == 0);
    gst_buffer_unref (received);
    g_free (bytes);
  }
  g_array_unref (objects);
  g_free (sent.data);
  gst_buffer_unref (buffer);
}

CUV_TEST (mutations)
{
  GstBuffer *odd = buffer_with_region ();
  gpointer state = NULL;

  gst_video_region_of_interest_meta_add_param (
      cuv_next_region (odd, &state), odd_structure ());
  check_mutations (odd);
  check_mutations (buffer_with_table ());
}

/* No parser recurses as deeply as the bytes claim. */
CUV_TEST (nested)
{
  const GstMetaInfo *info = gst_meta_get_info ("GstCuvLinesMeta");
  const gsize levels = 200000, size = 3 + 2 * levels;
  guint8 *bytes = g_malloc0 (size);
  g_autofree guint8 *sent = NULL;
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GVariant *variant;
  gsize n;

  bytes[2] = 'y';
  for (gsize i = 0; i < levels; i++)
    bytes[4 + 2 * i] = 'v';
  variant =
      g_variant_ref_sink (g_variant_new ("(s@a(s(yv)))", "GstCuvLinesMeta",
          g_variant_new_parsed ("[('a', (byte 0x61, %v))]",
              g_variant_new_from_data (
                  G_VARIANT_TYPE_VARIANT, bytes, size, FALSE, g_free, bytes))));
  n = g_variant_get_size (variant);
  sent = g_malloc (n + 4);
  g_variant_store (variant, sent);
  add_checksum (sent, n + 4);
  fail_unless (info->deserialize_func (info, buffer, sent, n + 4, 1) == NULL);
  g_variant_unref (variant);
}

/* ---- names ---- */

/* Receives a region with this label, and a parameter and a field with names
 * that have not been used before. Returns whether they were received. */
static gboolean
receive_new_names (guint i)
{
  GstBuffer *buffer = gst_buffer_new ();
  const GstMetaInfo *info = gst_video_region_of_interest_meta_get_info ();
  g_autofree gchar *text = g_strdup_printf ("n%u", i);
  GVariant *variant = g_variant_ref_sink (g_variant_new_parsed (
      "(%s, 1, -1, uint32 1, uint32 2, uint32 3, uint32 4, "
      "[('known', [(%s, (byte 0x69, <@i 5>))])])",
      text, text + 1));
  const gsize n = g_variant_get_size (variant);
  g_autofree guint8 *bytes = g_malloc (n + 4);
  GstVideoRegionOfInterestMeta *roi;
  gboolean label, field;

  g_variant_store (variant, bytes);
  add_checksum (bytes, n + 4);
  roi = (GstVideoRegionOfInterestMeta *) info->deserialize_func (
      info, buffer, bytes, n + 4, 1);
  fail_unless (roi != NULL && roi->w == 3);
  label = roi->roi_type != 0;
  field = gst_structure_has_field (
      gst_video_region_of_interest_meta_get_param (roi, "known"), text + 1);
  /* the label may have been the last name accepted */
  fail_unless (label || !field);
  g_variant_unref (variant);
  gst_buffer_unref (buffer);
  return label && field;
}

/* Names are never freed, so the number of names that a peer can create is
 * limited. */
CUV_TEST (new_names)
{
  guint n = 0;

  while (n < 200000 && receive_new_names (n))
    n++;
  fail_unless (n > 10000 && n <= 65536 / 2, "%u", n);
  fail_if (receive_new_names (n + 1));
  fail_unless (receive_new_names (0), "known names are lost");
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  static const gchar *const kinds[] = { "lines", NULL };

  gst_cuv_meta_register_tables (kinds);
}

#else
int
main (void)
{
  g_print ("skipped: needs GStreamer 1.24, which brought unixfdsink\n");
  return 77;
}
#endif
