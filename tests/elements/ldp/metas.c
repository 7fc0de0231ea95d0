/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of kind "ldp" from any source: valid ones are read, invalid ones are
 * rejected with a reason. */
#include "config.h"
#include "descriptor-harness.h"

#include <string.h>

static const GstLdpRegion regions[] = { { -1, 0, 0, 90, 70 },
  { 3, 10, 20, 80, 50 } };

/* Returns a buffer with a valid table of random counts. */
static GstBuffer *
new_buffer (GstStructure **table)
{
  const CuvLdpParams params = { .order = 3, .grid = 4, .directions = 5 };
  GstBuffer *buffer = gst_buffer_new ();
  CuvLdpLayout layout;
  GBytes *counts;
  guint16 *values;
  gsize n;

  fail_unless (cuv_ldp_layout_init (&layout, &params, 64, 48) == NULL);
  fail_unless_equals_int (cuv_ldp_count_size (&layout), 2);
  n = 2 * cuv_ldp_n_counts (&layout);
  values = g_new (guint16, n);
  for (gsize i = 0; i < n; i++)
    values[i] = (guint16) i;
  counts = g_bytes_new_take (values, n * sizeof *values);
  *table = gst_ldp_meta_add (buffer, 90, 70, &layout, regions, 2, counts);
  g_bytes_unref (counts);
  return buffer;
}

static void
check_valid (GstBuffer *buffer)
{
  GstLdpDescriptors found;
  gchar *problem;

  fail_unless (gst_ldp_meta_read (buffer, &found, &problem), "%s", problem);
  fail_unless (problem == NULL);
  fail_unless_equals_int (found.n_regions, 2);
  fail_unless_equals_uint64 (found.size, 2 * 4 * 4 * 2 * 256);
  fail_unless_equals_int (found.layout.params.grid, 4);
  fail_unless_equals_int (found.layout.params.levels, 0);
  fail_unless (memcmp (found.regions, regions, sizeof regions) == 0);
  fail_unless_equals_int (found.counts[2 * 777], 777 % 256);
}

static void
check_invalid (GstBuffer *buffer, const gchar *what)
{
  GstLdpDescriptors found;
  g_autofree gchar *problem = NULL;

  fail_if (gst_ldp_meta_read (buffer, &found, &problem), "%s is read", what);
  fail_unless (problem != NULL
          && g_str_has_prefix (
              problem, "The descriptor of the frame is invalid: "),
      "%s: %s", what, problem);
}

/* Sets a field to a value as in caps, "(int)5"; NULL removes it. */
static void
set_field (GstStructure *table, const gchar *field, const gchar *value)
{
  g_autofree gchar *text = g_strdup_printf ("x, v=%s;", value);
  GstStructure *parsed =
      value != NULL ? gst_structure_from_string (text, NULL) : NULL;

  fail_unless (value == NULL || parsed != NULL, "%s", text);
  if (parsed != NULL)
    gst_structure_set_value (
        table, field, gst_structure_get_value (parsed, "v"));
  else
    gst_structure_remove_field (table, field);
  g_clear_pointer (&parsed, gst_structure_free);
}

CUV_TEST (test_valid)
{
  GstStructure *table;
  g_autoptr (GstBuffer) buffer = new_buffer (&table);
  g_autoptr (GstBuffer) copy = gst_buffer_copy (buffer);

  check_valid (buffer);
  check_valid (copy);
  /* unused parameters may have any value */
  set_field (table, "levels", "(int)-7");
  set_field (table, "age", "(string)old");
  check_valid (buffer);
  set_field (table, "block", "(int)16");
  set_field (table, "block_rows", "(int)3");
  check_invalid (buffer, "as many counts as before");
}

/* A missing table is not an error. */
CUV_TEST (test_no_table)
{
  GstStructure *table;
  g_autoptr (GstBuffer) empty = gst_buffer_new ();
  g_autoptr (GstBuffer) other = new_buffer (&table);
  GstLdpDescriptors found;
  gchar *problem;

  fail_if (gst_ldp_meta_read (empty, &found, &problem));
  fail_unless (problem == NULL);
  set_field (table, "kind", "(string)lines");
  fail_if (gst_ldp_meta_read (other, &found, &problem));
  fail_unless (problem == NULL);
}

static const struct {
  const gchar *field, *values[12];
} invalid_fields[] = {
  { "order",
      { "(int)1", "(int)10", "(int)-3", "(int)2147483647", "(uint)3",
          "(string)3", "(double)3" } },
  { "block",
      { "(int)-1", "(int)-2147483648", "(int)16", "(int)2147483647",
          "(gint64)0", "(string)none" } },
  { "grid",
      { "(int)0", "(int)-4", "(int)3", "(int)49", "(int)2147483647",
          "(int)-2147483648", "(uint)4" } },
  { "directions",
      { "<46>", "<0, 46>", "<0, -45>", "<180>", "<0, 360>", "<>", "<0>",
          "{ 0, 90 }", "<(string)0, (string)90>", "(int)5",
          "<(gint64)0, (gint64)90>" } },
  { "merge_directions", { "(boolean)true", "(int)0", "(string)no" } },
  { "border", { "(string)mirror", "(string)\"\"", "(int)0" } },
  { "bins",
      { "(string)uniform", "(string)levels", "(string)300", "(int)256" } },
  { "levels", { "(uint)0", "(string)0" } },
  { "descriptor_width",
      { "(int)0", "(int)-64", "(int)3", "(int)16385", "(int)2147483647",
          "(uint)64" } },
  { "descriptor_height",
      { "(int)0", "(int)-48", "(int)16385", "(int)-2147483648",
          "(double)48" } },
  { "block_columns", { "(int)3", "(int)-4", "(int)2147483647", "(uint)4" } },
  { "block_rows", { "(int)5", "(int)0", "(string)4" } },
  { "count_size", { "(int)4", "(int)1", "(int)0", "(int)-2", "(uint)2" } },
  { "counts", { "(string)0000", "(int)0", "<0, 1, 2>" } },
  { "columns",
      { "<\"region_id:i32\", \"x:u32\", \"y:u32\", \"w:u32\", \"h:f32\">",
          "<\"region_id:u32\", \"x:u32\", \"y:u32\", \"w:u32\", \"h:u32\">",
          "<\"region_id:i32\", \"y:u32\", \"x:u32\", \"w:u32\", \"h:u32\">",
          "<\"region_id:i32\", \"x:u32\", \"y:u64\", \"w:u32\">" } },
  { "width", { "(uint)89", "(uint)0" } }, /* smaller than the regions */
  { "height", { "(uint)69", "(uint)1" } },
};

CUV_TEST (test_invalid_fields)
{
  for (guint f = 0; f < G_N_ELEMENTS (invalid_fields); f++) {
    const gchar *field = invalid_fields[f].field;

    for (guint i = 0; i < 12 && invalid_fields[f].values[i] != NULL; i++) {
      GstStructure *table;
      GstBuffer *buffer = new_buffer (&table);
      gchar *what =
          g_strdup_printf ("%s=%s", field, invalid_fields[f].values[i]);

      set_field (table, field, invalid_fields[f].values[i]);
      check_invalid (buffer, what);
      gst_buffer_unref (buffer);
      g_free (what);
    }
  }
}

CUV_TEST (test_missing_fields)
{
  static const gchar *const layout[] = { "columns", "width", "height", NULL };

  for (guint f = 0; f < G_N_ELEMENTS (invalid_fields); f++) {
    const gchar *field = invalid_fields[f].field;
    GstStructure *table;
    GstBuffer *buffer = new_buffer (&table);
    GstLdpDescriptors found;
    gchar *problem;

    set_field (table, field, NULL);
    if (g_strv_contains (layout, field)) {
      /* without this field it is not a table */
      fail_if (gst_ldp_meta_read (buffer, &found, &problem));
      fail_unless (problem == NULL);
    } else {
      check_invalid (buffer, field);
    }
    gst_buffer_unref (buffer);
  }
}

static void
set_bytes (GstStructure *table, const gchar *field, gconstpointer data, gsize n)
{
  GBytes *bytes = g_bytes_new (data, n);

  gst_structure_set (table, field, G_TYPE_BYTES, bytes, NULL);
  g_bytes_unref (bytes);
}

CUV_TEST (test_invalid_counts)
{
  const gsize whole = 2 * 2 * 4 * 4 * 2 * 256;
  const gsize sizes[] = { 0, 1, whole / 2, whole - 1, whole + 1, 2 * whole };
  g_autofree guint8 *zeros = g_malloc0 (2 * whole);
  GstStructure *table;
  g_autoptr (GstBuffer) buffer = new_buffer (&table);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    set_bytes (table, "counts", zeros, sizes[i]);
    check_invalid (buffer, "counts");
  }
  set_bytes (table, "counts", zeros, whole);
  {
    GstLdpDescriptors found;
    gchar *problem;

    fail_unless (gst_ldp_meta_read (buffer, &found, &problem), "%s", problem);
  }
  gst_structure_set (table, "counts", G_TYPE_BYTES, NULL, NULL);
  check_invalid (buffer, "no counts");
}

CUV_TEST (test_invalid_regions)
{
  static const GstLdpRegion bad[] = { { 3, 10, 20, 81, 50 },
    { 3, 10, 20, 80, 51 }, { 3, 10, 20, 0, 50 }, { 3, 10, 20, 80, 0 },
    { 3, 90, 20, 1, 1 }, { 3, G_MAXUINT, 0, 1, 1 }, { 3, 1, 1, G_MAXUINT, 1 },
    { 3, G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT } };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    const GstLdpRegion both[] = { regions[0], bad[i] };
    GstStructure *table;
    GstBuffer *buffer = new_buffer (&table);

    set_bytes (table, "data", both, sizeof both);
    check_invalid (buffer, "a region");
    gst_buffer_unref (buffer);
  }
}
