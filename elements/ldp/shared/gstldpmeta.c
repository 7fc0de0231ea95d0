/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "shared/gstldpmeta.h"

#include <string.h>

#include "gstcuvmeta.h"
#include "gstcuvstructure.h"

static const GstCuvColumn columns[] = {
  { "region_id", GST_CUV_TYPE_I32 },
  { "x", GST_CUV_TYPE_U32 },
  { "y", GST_CUV_TYPE_U32 },
  { "w", GST_CUV_TYPE_U32 },
  { "h", GST_CUV_TYPE_U32 },
};

/* ---- writing ---- */

static const gchar *
find_nick (const GEnumValue *values, guint value)
{
  while ((guint) values->value != value)
    values++;
  return values->value_nick;
}

static void
set_directions (GstStructure *table, gint directions)
{
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (gint d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_INT);
    g_value_set_int (&value, 45 * d);
    if (directions >> d & 1)
      gst_value_array_append_and_take_value (&array, &value);
  }
  gst_cuv_structure_take_value (table, "directions", &array);
}

static void
set_parameters (GstStructure *table, const CuvLdpLayout *layout)
{
  const CuvLdpParams *params = &layout->params;

  gst_cuv_structure_set (table, "order", G_TYPE_INT, params->order, "block",
      G_TYPE_INT, params->block, "grid", G_TYPE_INT, params->grid,
      "merge_directions", G_TYPE_BOOLEAN, params->is_merged, "border",
      G_TYPE_STRING, find_nick (gst_ldp_border_values, params->border), "bins",
      G_TYPE_STRING, find_nick (gst_ldp_bins_values, params->bins), "levels",
      G_TYPE_INT, params->levels, "scales", G_TYPE_INT, params->scales,
      "descriptor_width", G_TYPE_INT, layout->width, "descriptor_height",
      G_TYPE_INT, layout->height, NULL);
  set_directions (table, params->directions);
}

GstStructure *
gst_ldp_meta_add (GstBuffer *buffer, guint width, guint height,
    const CuvLdpLayout *layout, const GstLdpRegion *regions, guint n_regions,
    GBytes *counts)
{
  GstStructure *table = gst_cuv_meta_add_table (buffer, "ldp", 1, width, height,
      "none", columns, G_N_ELEMENTS (columns), regions, n_regions);

  set_parameters (table, layout);
  gst_cuv_structure_set (table, "key", G_TYPE_STRING, "descriptor",
      "block_columns", G_TYPE_INT, layout->columns, "block_rows", G_TYPE_INT,
      layout->rows, "count_size", G_TYPE_INT, cuv_ldp_count_size (layout),
      "counts", G_TYPE_BYTES, counts, NULL);
  return table;
}

/* ---- reading ---- */

/* Returns -1 if no value has this nick. */
static gint
find_value (const GEnumValue *values, const gchar *nick)
{
  while (
      values->value_nick != NULL && g_strcmp0 (values->value_nick, nick) != 0)
    values++;
  return values->value_nick != NULL ? values->value : -1;
}

static gboolean
get_directions (const GstStructure *table, gint *directions)
{
  const GValue *array = gst_cuv_structure_get_value (table, "directions");

  *directions = 0;
  if (array == NULL || !GST_VALUE_HOLDS_ARRAY (array))
    return FALSE;
  for (guint i = 0; i < gst_value_array_get_size (array); i++) {
    const GValue *value = gst_value_array_get_value (array, i);
    const gint degrees =
        G_VALUE_HOLDS_INT (value) ? g_value_get_int (value) : -1;

    if (degrees < 0 || degrees % 45 != 0 || degrees / 45 >= CUV_LDP_DIRECTIONS)
      return FALSE;
    *directions |= 1 << degrees / 45;
  }
  return TRUE;
}

static gboolean
get_parameters (const GstStructure *table, GstLdpParameters *parameters)
{
  CuvLdpParams *params = &parameters->params;
  const gint border = find_value (
      gst_ldp_border_values, gst_cuv_structure_get_string (table, "border"));
  const gint bins = find_value (
      gst_ldp_bins_values, gst_cuv_structure_get_string (table, "bins"));

  params->border = (CuvLdpBorder) border;
  params->bins = (CuvLdpBins) bins;
  return border >= 0 && bins >= 0 && get_directions (table, &params->directions)
      && gst_structure_get (table, "order", G_TYPE_INT, &params->order, "block",
          G_TYPE_INT, &params->block, "grid", G_TYPE_INT, &params->grid,
          "merge_directions", G_TYPE_BOOLEAN, &params->is_merged, "levels",
          G_TYPE_INT, &params->levels, "scales", G_TYPE_INT, &params->scales,
          "descriptor_width", G_TYPE_INT, &parameters->width,
          "descriptor_height", G_TYPE_INT, &parameters->height, NULL);
}

static gboolean
has_columns (const GstCuvTable *table)
{
  gboolean ok = table->n_columns == G_N_ELEMENTS (columns);

  for (guint i = 0; ok && i < G_N_ELEMENTS (columns); i++)
    ok = strcmp (table->columns[i].name, columns[i].name) == 0
        && table->columns[i].type == columns[i].type;
  return ok;
}

/* Whether the derived fields, which readers need not compute, match the
 * layout. */
static gboolean
has_layout (const GstStructure *table, const CuvLdpLayout *layout)
{
  gint n_columns, n_rows, count_size;

  return gst_structure_get (table, "block_columns", G_TYPE_INT, &n_columns,
             "block_rows", G_TYPE_INT, &n_rows, "count_size", G_TYPE_INT,
             &count_size, NULL)
      && n_columns == layout->columns && n_rows == layout->rows
      && count_size == cuv_ldp_count_size (layout);
}

static gboolean
has_regions_inside (const GstCuvTable *table)
{
  for (guint i = 0; i < table->n_rows; i++) {
    const gint64 width = gst_cuv_table_int (table, i, 3);
    const gint64 height = gst_cuv_table_int (table, i, 4);

    if (width == 0 || gst_cuv_table_int (table, i, 1) + width > table->width
        || height == 0
        || gst_cuv_table_int (table, i, 2) + height > table->height)
      return FALSE;
  }
  return TRUE;
}

/* Returns NULL, or the problem. */
static const gchar *
read_counts (const GstCuvTable *table, GstLdpDescriptors *self)
{
  const GValue *counts =
      gst_cuv_structure_get_value (table->structure, "counts");
  gsize size;

  if (counts == NULL || !G_VALUE_HOLDS (counts, G_TYPE_BYTES)
      || g_value_get_boxed (counts) == NULL)
    return "counts are missing";
  self->counts = g_bytes_get_data (g_value_get_boxed (counts), &size);
  self->size = cuv_ldp_n_counts (&self->layout)
      * (gsize) cuv_ldp_count_size (&self->layout);
  if (size / self->size == table->n_rows && size % self->size == 0)
    return NULL;
  return cuv_ldp_problem (
      "counts has %zu bytes, but %zu are needed for the regions and parameters",
      size, table->n_rows * self->size);
}

/* Returns NULL, or the problem. */
static const gchar *
read_table (const GstCuvTable *table, GstLdpDescriptors *self)
{
  GstLdpParameters parameters;
  const gchar *error;

  if (!has_columns (table) || !get_parameters (table->structure, &parameters))
    return "a field is missing, or has the wrong type";
  error = cuv_ldp_layout_init (
      &self->layout, &parameters.params, parameters.width, parameters.height);
  if (error != NULL)
    return error;
  if (!has_layout (table->structure, &self->layout))
    return "block_columns, block_rows or count_size contradicts the parameters";
  if (!has_regions_inside (table))
    return cuv_ldp_problem (
        "a region is empty, or not inside the frame of %ux%u pixels",
        table->width, table->height);
  self->width = table->width;
  self->height = table->height;
  if (!gst_structure_get_uint64 (table->structure, "age", &self->age))
    self->age = 0;
  self->regions = table->data;
  self->n_regions = table->n_rows;
  return read_counts (table, self);
}

gboolean
gst_ldp_meta_read (
    GstBuffer *buffer, GstLdpDescriptors *descriptors, gchar **problem)
{
  gpointer state = NULL;
  const gchar *error;
  GstCuvTable table;

  *problem = NULL;
  while (gst_cuv_meta_next_table (buffer, &state, &table)) {
    if (strcmp (table.kind, "ldp") != 0)
      continue;
    error = read_table (&table, descriptors);
    if (error == NULL)
      return TRUE;
    *problem =
        g_strdup_printf ("The descriptor of the frame is invalid: %s. Remove "
                         "the element that changed the metadata",
            error);
    return FALSE;
  }
  return FALSE;
}
