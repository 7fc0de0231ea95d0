/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table-metrics.h"

#include "gstcuvtablemetrics.h"
#include "http/exposition.h"

#define PREFIX "cuvision_table_"

/* A metric of one or more tables with the same key. */
typedef struct {
  gchar *name;
  gboolean counter;
  GString *text;
  GHashTable *samples; /* set of name and labels */
} Metric;

static void
metric_free (gpointer data)
{
  Metric *self = data;

  g_hash_table_unref (self->samples);
  g_string_free (self->text, TRUE);
  g_free (self->name);
  g_free (self);
}

/* ---- from a column to a metric ---- */

static gchar *
metric_name (const GstCuvTable *table, const gchar *column, gboolean counter)
{
  gchar *key = cuv_exposition_name (table->key);
  gchar *name = cuv_exposition_name (column);
  gchar *all = g_strconcat (PREFIX, key, "_", name,
      counter && !g_str_has_suffix (name, "_total") ? "_total" : "", NULL);

  g_free (key);
  g_free (name);
  return all;
}

static Metric *
find_metric (GPtrArray *metrics, const gchar *name)
{
  for (guint i = 0; i < metrics->len; i++) {
    Metric *metric = metrics->pdata[i];

    if (g_str_equal (metric->name, name))
      return metric;
  }
  return NULL;
}

static Metric *
add_metric (GPtrArray *metrics, const GstCuvTable *table, const gchar *column,
    gchar *name, gboolean counter)
{
  Metric *self = g_new0 (Metric, 1);
  gchar *help =
      g_strdup_printf ("Column %s of the newest table %s.", column, table->key);

  self->name = name;
  self->counter = counter;
  self->text = g_string_new (NULL);
  self->samples = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  cuv_exposition_metric (self->text, name, counter ? "counter" : "gauge", help);
  g_free (help);
  g_ptr_array_add (metrics, self);
  return self;
}

/* Returns NULL if another table has a metric of this name and another type. */
static Metric *
get_metric (GPtrArray *metrics, const GstCuvTable *table, const gchar *column,
    gboolean counter)
{
  gchar *name = metric_name (table, column, counter);
  Metric *metric = find_metric (metrics, name);

  if (metric == NULL)
    return add_metric (metrics, table, column, name, counter);
  g_free (name);
  return metric->counter == counter ? metric : NULL;
}

/* ---- samples ---- */

/* The label of a column of texts: as for Prometheus, "exported_" if the page or
 * a scraper uses the name itself. */
static gchar *
label_name (const gchar *column)
{
  static const gchar *const used[] = { "path", "job", "instance", NULL };
  gchar *name = cuv_exposition_name (column), *other;

  if (!g_strv_contains (used, name))
    return name;
  other = g_strconcat ("exported_", name, NULL);
  g_free (name);
  return other;
}

/* Of columns with the same label, the first counts. Names with two underscores
 * first are Prometheus' own. */
static void
append_texts (GString *sample, const GstCuvTable *table, guint row)
{
  GPtrArray *labels = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < table->n_columns; i++) {
    const gchar *text;
    gchar *label;

    if (table->columns[i].type != GST_CUV_TYPE_TEXT)
      continue;
    text = gst_cuv_table_text (table, row, i);
    label = label_name (table->columns[i].name);
    if (!g_str_has_prefix (label, "__")
        && !g_ptr_array_find_with_equal_func (labels, label, g_str_equal, NULL))
      cuv_exposition_label (sample, label, text != NULL ? text : "");
    g_ptr_array_add (labels, label);
  }
  g_ptr_array_unref (labels);
}

static void
append_row (Metric *metric, const GstCuvTable *table, guint column, guint row,
    const gchar *path)
{
  GString *sample = g_string_new (NULL);

  cuv_exposition_sample (sample, metric->name);
  cuv_exposition_label (sample, "path", path);
  append_texts (sample, table, row);
  if (g_hash_table_add (metric->samples, g_strdup (sample->str))) {
    cuv_exposition_value (sample, gst_cuv_table_double (table, row, column));
    g_string_append_len (metric->text, sample->str, (gssize) sample->len);
  }
  g_string_free (sample, TRUE);
}

static void
append_column (GPtrArray *metrics, const GstCuvTable *table,
    const GstCuvMetric *described, const gchar *path)
{
  const gchar *column = table->columns[described->column].name;
  Metric *metric = get_metric (metrics, table, column, described->counter);

  for (guint row = 0; metric != NULL && row < table->n_rows; row++)
    append_row (metric, table, described->column, row, path);
}

static void
append_table (GPtrArray *metrics, const GstCuvTable *table, const gchar *path)
{
  GstCuvMetric described[GST_CUV_MAX_COLUMNS];
  const guint n = gst_cuv_table_metrics (table, described);

  for (guint i = 0; i < n; i++)
    append_column (metrics, table, &described[i], path);
}

void
cuv_web_append_table_metrics (
    GString *out, GstBuffer *buffer, const gchar *path)
{
  GPtrArray *metrics = g_ptr_array_new_with_free_func (metric_free);
  gpointer state = NULL;
  GstCuvTable table;

  while (gst_cuv_meta_next_table (buffer, &state, &table))
    append_table (metrics, &table, path);
  for (guint i = 0; i < metrics->len; i++) {
    const GString *text = ((const Metric *) metrics->pdata[i])->text;

    g_string_append_len (out, text->str, (gssize) text->len);
  }
  g_ptr_array_unref (metrics);
}
