/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables as metadata: writing and reading; objects are in gstcuvobjects.c. */
#include "config.h"
#include "gstcuvmeta.h"
#include "gstcuvserial.h"
#include "gstcuvtablemove.h"
#include "gstcuvstructure.h"

#include <string.h>

/* ---- tables ---- */

static const struct {
  const gchar *name;
  guint size;
} types[] = {
  [GST_CUV_TYPE_F32] = { "f32", 4 },
  [GST_CUV_TYPE_F64] = { "f64", 8 },
  [GST_CUV_TYPE_I32] = { "i32", 4 },
  [GST_CUV_TYPE_U32] = { "u32", 4 },
  [GST_CUV_TYPE_I64] = { "i64", 8 },
  [GST_CUV_TYPE_U64] = { "u64", 8 },
  [GST_CUV_TYPE_U16] = { "u16", 2 },
  [GST_CUV_TYPE_U8] = { "u8", 1 },
  [GST_CUV_TYPE_TEXT] = { "text", 4 },
};

static const gchar *const layout_fields[] = { "kind", "version", "width",
  "height", "shape", "rows", "columns", "data", "key", "texts", "pictures",
  "picture_width", "picture_height", "metrics", "metrics_unit", "row_names" };

gboolean
gst_cuv_table_is_layout (const gchar *field)
{
  for (guint i = 0; i < G_N_ELEMENTS (layout_fields); i++) {
    if (strcmp (field, layout_fields[i]) == 0)
      return TRUE;
  }
  return FALSE;
}

static void
register_table (const gchar *name, gboolean placed)
{
  const gchar *no_tags[] = { NULL };

  gst_cuv_serial_table (placed
          ? gst_cuv_table_register_placed (name)
          : gst_meta_register_custom (name, no_tags, NULL, NULL, NULL));
}

/* Returns the name of a kind's meta, such as "GstCuvLinesMeta" for "lines", and
 * registers the meta at its first use. */
static const gchar *
meta_name (const gchar *kind, gboolean placed)
{
  static GMutex lock;
  gchar *name =
      g_strdup_printf ("GstCuv%c%sMeta", g_ascii_toupper (kind[0]), kind + 1);
  const gchar *interned = g_quark_to_string (gst_cuv_quark (name));

  g_free (name);
  g_mutex_lock (&lock);
  if (gst_meta_get_info (interned) == NULL)
    register_table (interned, placed);
  g_mutex_unlock (&lock);
  return interned;
}

void
gst_cuv_meta_register_tables (const gchar *const *kinds)
{
  gst_cuv_serial_objects ();
  for (; *kinds != NULL; kinds++)
    meta_name (*kinds, TRUE);
}

void
gst_cuv_meta_register_unplaced_tables (const gchar *const *kinds)
{
  gst_cuv_serial_objects ();
  for (; *kinds != NULL; kinds++)
    meta_name (*kinds, FALSE);
}

/* Whether rows contain coordinates in the frame. */
static gboolean
is_placed (const gchar *shape, const GstCuvColumn *columns, guint n_columns)
{
  for (guint i = 0; i < n_columns; i++) {
    if (strcmp (columns[i].name, "x") == 0)
      return TRUE;
  }
  return strcmp (shape, "segments") == 0;
}

static void
append_column (GValue *array, const GstCuvColumn *column)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value,
      g_strdup_printf ("%s:%s", column->name, types[column->type].name));
  gst_value_array_append_and_take_value (array, &value);
}

GstStructure *
gst_cuv_meta_add_table (GstBuffer *buffer, const gchar *kind, guint version,
    guint width, guint height, const gchar *shape, const GstCuvColumn *columns,
    guint n_columns, gconstpointer rows, guint n_rows)
{
  GstStructure *structure =
      gst_custom_meta_get_structure (gst_buffer_add_custom_meta (
          buffer, meta_name (kind, is_placed (shape, columns, n_columns))));
  GValue array = G_VALUE_INIT;
  GBytes *data;
  gsize row_size = 0;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint i = 0; i < n_columns; i++) {
    append_column (&array, &columns[i]);
    row_size += types[columns[i].type].size;
  }
  data = g_bytes_new (rows, row_size * n_rows);
  gst_cuv_structure_set (structure, "kind", G_TYPE_STRING, kind, "version",
      G_TYPE_UINT, version, "width", G_TYPE_UINT, width, "height", G_TYPE_UINT,
      height, "shape", G_TYPE_STRING, shape, "rows", G_TYPE_UINT, n_rows,
      "data", G_TYPE_BYTES, data, NULL);
  gst_cuv_structure_take_value (structure, "columns", &array);
  g_bytes_unref (data);
  return structure;
}

void
gst_cuv_meta_set_texts (GstStructure *table, const gchar *const *texts, guint n)
{
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_STRING);
    /* g_strdup() is faster, and most texts are valid */
    g_value_take_string (&value,
        g_utf8_validate (texts[i], -1, NULL)
            ? g_strdup (texts[i])
            : g_utf8_make_valid (texts[i], -1));
    gst_value_array_append_and_take_value (&array, &value);
  }
  gst_cuv_structure_take_value (table, "texts", &array);
}

/* Adds a column from its text, such as "rho:f32". */
static gboolean
parse_column (GstCuvTable *table, const gchar *text)
{
  const gchar *colon = text ? strrchr (text, ':') : NULL;
  guint i = table->n_columns;
  gchar *name;

  if (colon == NULL || i == GST_CUV_MAX_COLUMNS)
    return FALSE;
  for (guint t = 0; t < G_N_ELEMENTS (types); t++) {
    if (strcmp (colon + 1, types[t].name) != 0)
      continue;
    name = g_strndup (text, colon - text);
    table->columns[i].name = g_quark_to_string (gst_cuv_serial_quark (name));
    g_free (name);
    if (table->columns[i].name == NULL)
      return FALSE;
    table->columns[i].type = t;
    table->columns[i].offset = table->row_size;
    table->row_size += types[t].size;
    table->n_columns++;
    return TRUE;
  }
  return FALSE;
}

gboolean
gst_cuv_table_parse (GstCuvTable *table, const GstStructure *structure)
{
  const GValue *columns, *data;
  guint width, height;
  gsize size;

  memset (table, 0, sizeof *table);
  table->structure = structure;
  table->kind = gst_cuv_structure_get_string (structure, "kind");
  table->shape = gst_cuv_structure_get_string (structure, "shape");
  table->key = gst_cuv_structure_get_string (structure, "key");
  if (table->key == NULL)
    table->key = table->kind;
  columns = gst_cuv_structure_get_value (structure, "columns");
  data = gst_cuv_structure_get_value (structure, "data");
  if (table->kind == NULL || table->shape == NULL || columns == NULL
      || !GST_VALUE_HOLDS_ARRAY (columns) || data == NULL
      || !G_VALUE_HOLDS (data, G_TYPE_BYTES) || g_value_get_boxed (data) == NULL
      || !gst_cuv_structure_get_uint (structure, "width", &table->width)
      || !gst_cuv_structure_get_uint (structure, "height", &table->height)
      || !gst_cuv_structure_get_uint (structure, "rows", &table->n_rows))
    return FALSE;
  for (guint i = 0; i < gst_value_array_get_size (columns); i++) {
    const GValue *column = gst_value_array_get_value (columns, i);

    if (!G_VALUE_HOLDS_STRING (column)
        || !parse_column (table, g_value_get_string (column)))
      return FALSE;
  }
  table->data = g_bytes_get_data (g_value_get_boxed (data), &size);
  /* without columns, only the pictures can confirm the number of rows */
  if (table->n_columns == 0
      && gst_cuv_table_pictures (table, &width, &height) == NULL)
    table->n_rows = 0;
  return size == (guint64) table->row_size * table->n_rows;
}

gboolean
gst_cuv_meta_next_table (GstBuffer *buffer, gpointer *state, GstCuvTable *table)
{
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta (buffer, state))) {
    if (gst_meta_info_is_custom (meta->info)
        && gst_cuv_table_parse (
            table, gst_custom_meta_get_structure ((GstCustomMeta *) meta)))
      return TRUE;
  }
  return FALSE;
}

gint
gst_cuv_table_column (const GstCuvTable *table, const gchar *name)
{
  for (guint i = 0; i < table->n_columns; i++) {
    if (strcmp (table->columns[i].name, name) == 0)
      return (gint) i;
  }
  return -1;
}

/* Returns a cell of any type, without loss for integers and floats. */
#define GST_CUV_READ(ctype)                                                    \
  {                                                                            \
    ctype value;                                                               \
    memcpy (&value, at, sizeof value);                                         \
    return value;                                                              \
  }
#define GST_CUV_READ_ANY                                                       \
  const guint8 *at = table->data + (gsize) row * table->row_size               \
      + table->columns[column].offset;                                         \
  switch (table->columns[column].type) {                                       \
    case GST_CUV_TYPE_F32:                                                     \
      GST_CUV_READ (gfloat)                                                    \
    case GST_CUV_TYPE_F64:                                                     \
      GST_CUV_READ (gdouble)                                                   \
    case GST_CUV_TYPE_I32:                                                     \
      GST_CUV_READ (gint32)                                                    \
    case GST_CUV_TYPE_U32:                                                     \
    case GST_CUV_TYPE_TEXT:                                                    \
      GST_CUV_READ (guint32)                                                   \
    case GST_CUV_TYPE_I64:                                                     \
      GST_CUV_READ (gint64)                                                    \
    case GST_CUV_TYPE_U64:                                                     \
      GST_CUV_READ (guint64)                                                   \
    case GST_CUV_TYPE_U16:                                                     \
      GST_CUV_READ (guint16)                                                   \
    case GST_CUV_TYPE_U8:                                                      \
      GST_CUV_READ (guint8)                                                    \
  }                                                                            \
  return 0

gdouble
gst_cuv_table_double (const GstCuvTable *table, guint row, guint column)
{
  GST_CUV_READ_ANY;
}

gint64
gst_cuv_table_int (const GstCuvTable *table, guint row, guint column)
{
  GST_CUV_READ_ANY;
}

const gchar *
gst_cuv_table_text (const GstCuvTable *table, guint row, guint column)
{
  const GValue *texts = gst_cuv_structure_get_value (table->structure, "texts");
  const gint64 i = gst_cuv_table_int (table, row, column);
  const GValue *text;

  if (table->columns[column].type != GST_CUV_TYPE_TEXT || texts == NULL
      || !GST_VALUE_HOLDS_ARRAY (texts)
      || i >= gst_value_array_get_size (texts))
    return NULL;
  text = gst_value_array_get_value (texts, (guint) i);
  return G_VALUE_HOLDS_STRING (text) ? g_value_get_string (text) : NULL;
}

const guint8 *
gst_cuv_table_pictures (const GstCuvTable *table, guint *width, guint *height)
{
  const GValue *value =
      gst_cuv_structure_get_value (table->structure, "pictures");
  const guint8 *pixels;
  gsize size;

  if (value == NULL || !G_VALUE_HOLDS (value, G_TYPE_BYTES)
      || g_value_get_boxed (value) == NULL
      || !gst_cuv_structure_get_uint (table->structure, "picture_width", width)
      || !gst_cuv_structure_get_uint (
          table->structure, "picture_height", height)
      || *width == 0 || *width > G_MAXUINT16 || *height == 0
      || *height > G_MAXUINT16)
    return NULL;
  pixels = g_bytes_get_data (g_value_get_boxed (value), &size);
  return size / 3 / *width / *height == table->n_rows
          && size == (gsize) 3 * *width * *height * table->n_rows
      ? pixels
      : NULL;
}
