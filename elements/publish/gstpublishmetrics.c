/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstpublishmetrics.h"

#include <string.h>

#include "gstcuvtablemetrics.h"
#include "homeassistant.h"
#include "output/topic.h"
#include "record/record.h"
#include "gstcuvstructure.h"

/* A row that is published. */
typedef struct {
  gchar *topic;
  gchar **sensors;                     /* topics of its discovery messages */
  guint64 frame;                       /* the last frame that had the row */
  gdouble values[GST_CUV_MAX_COLUMNS]; /* what was published */
} Row;

/* The rows of all tables with the same key. */
typedef struct {
  GHashTable *rows; /* escaped names -> Row */
  guint64 frame;    /* the last frame that had the table */
  guint n_found;    /* rows in that frame */
} Table;

struct _GstCuvPublishMetrics {
  GstCuvPublishMetricsConfig config;
  gchar *status_topic;
  CuvJson json;
  GHashTable *tables; /* key -> Table */
  guint n_rows;
  guint64 frame;
  GString *name; /* escaped names of a row */
  gboolean exceeded, warned;
};

/* A table of the frame, and what it says of itself. */
typedef struct {
  GstCuvTable table;
  GstCuvMetric metrics[GST_CUV_MAX_COLUMNS];
  guint names[GST_CUV_MAX_COLUMNS];
  guint n_metrics, n_names;
  gboolean published[GST_CUV_MAX_COLUMNS]; /* columns */
} Reading;

/* ---- rows and tables ---- */

static void
row_free (gpointer data)
{
  Row *self = data;

  g_free (self->topic);
  g_strfreev (self->sensors);
  g_free (self);
}

static void
table_free (gpointer data)
{
  Table *self = data;

  g_hash_table_unref (self->rows);
  g_free (self);
}

static Table *
get_table (GstCuvPublishMetrics *self, const gchar *key)
{
  Table *table = g_hash_table_lookup (self->tables, key);

  if (table == NULL
      && g_hash_table_size (self->tables) < GST_CUV_PUBLISH_MAX_TABLES) {
    table = g_new0 (Table, 1);
    table->rows =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, row_free);
    g_hash_table_insert (self->tables, g_strdup (key), table);
  }
  return table;
}

/* Returns FALSE if the table has no metrics. */
static gboolean
reading_begin (Reading *self)
{
  self->n_metrics = gst_cuv_table_metrics (&self->table, self->metrics);
  self->n_names = gst_cuv_table_row_names (&self->table, self->names);
  for (guint i = 0; i < self->table.n_columns; i++)
    self->published[i] = self->table.columns[i].type == GST_CUV_TYPE_TEXT;
  for (guint i = 0; i < self->n_metrics; i++)
    self->published[self->metrics[i].column] = TRUE;
  return self->n_metrics > 0;
}

static const gchar *
row_text (const Reading *reading, guint row, guint column)
{
  const gchar *text = gst_cuv_table_text (&reading->table, row, column);

  return text != NULL ? text : "";
}

/* ---- messages ---- */

/* Writes a state: the texts and metrics of a row. */
static void
write_state (GstCuvPublishMetrics *self, const Reading *reading, guint row)
{
  CuvJson *json = &self->json;

  cuv_json_begin_object (json);
  for (guint i = 0; i < reading->table.n_columns; i++) {
    if (!reading->published[i])
      continue;
    cuv_json_new_key (json, reading->table.columns[i].name);
    cuv_record_cell (json, &reading->table, row, i);
  }
  cuv_json_end_object (json);
}

/* Retains the text in self->json, which is empty before and after. */
static void
retain (GstCuvPublishMetrics *self, const gchar *topic, gint64 interval)
{
  gsize size;
  gchar *text = cuv_json_steal (&self->json, &size);

  cuv_outbox_retain (self->config.outbox, topic, text, interval);
  g_free (text);
}

static void
publish_sensor (GstCuvPublishMetrics *self, const Reading *reading, Row *row,
    const gchar *name, guint i)
{
  const GstCuvMetric *metric = &reading->metrics[i];
  const CuvSensor sensor = {
    .prefix = self->config.discovery,
    .source = self->config.source,
    .status_topic = self->status_topic,
    .state_topic = row->topic,
    .member = reading->table.columns[metric->column].name,
    .row = name,
    .unit =
        gst_cuv_structure_get_string (reading->table.structure, "metrics_unit"),
    .counter = metric->counter,
  };

  row->sensors[i] = cuv_sensor_topic (&sensor);
  cuv_sensor_to_json (&self->json, &sensor);
  retain (self, row->sensors[i], 0);
}

static void
publish_sensors (
    GstCuvPublishMetrics *self, const Reading *reading, guint nth, Row *row)
{
  GString *name = g_string_new (NULL);

  for (guint i = 0; i < reading->n_names; i++)
    g_string_append_printf (name, "%s%s", i > 0 ? " " : "",
        row_text (reading, nth, reading->names[i]));
  row->sensors = g_new0 (gchar *, reading->n_metrics + 1);
  for (guint i = 0; i < reading->n_metrics; i++)
    publish_sensor (self, reading, row, name->str, i);
  g_string_free (name, TRUE);
}

/* Removes the sensors first, as they read the state. */
static void
remove_row (GstCuvPublishMetrics *self, const Row *row)
{
  for (gchar **topic = row->sensors; topic != NULL && *topic != NULL; topic++)
    cuv_outbox_retain (self->config.outbox, *topic, "", 0);
  cuv_outbox_retain (self->config.outbox, row->topic, "", 0);
  self->n_rows--;
}

/* ---- frames ---- */

/* Makes self->name the part of the topic that is the row's own. Returns FALSE
 * if it is too long. */
static gboolean
make_name (GstCuvPublishMetrics *self, const Reading *reading, guint row)
{
  g_string_truncate (self->name, 0);
  for (guint i = 0; i < reading->n_names; i++) {
    g_string_append_c (self->name, '/');
    cuv_topic_append_level (
        self->name, row_text (reading, row, reading->names[i]));
  }
  return self->name->len <= GST_CUV_PUBLISH_MAX_NAME;
}

static gchar *
make_topic (GstCuvPublishMetrics *self, const gchar *key)
{
  GString *kind = g_string_new (CUV_TOPIC_METRICS "/");
  gchar *topic;

  cuv_topic_append_level (kind, key);
  g_string_append (kind, self->name->str);
  topic = cuv_topic_expand (
      self->config.topic, CUV_TOPIC_MQTT, self->config.source, kind->str);
  g_string_free (kind, TRUE);
  return topic;
}

/* Stores the row's values. Returns whether they differ from those before. */
static gboolean
update_values (Row *row, const Reading *reading, guint nth)
{
  gboolean changed = FALSE;

  for (guint i = 0; i < reading->table.n_columns; i++) {
    gdouble value;

    if (!reading->published[i])
      continue;
    value = reading->table.columns[i].type == GST_CUV_TYPE_TEXT
        ? (gdouble) g_str_hash (row_text (reading, nth, i))
        : gst_cuv_table_double (&reading->table, nth, i);
    changed |= memcmp (&row->values[i], &value, sizeof value) != 0; /* NaN */
    row->values[i] = value;
  }
  return changed;
}

static void
publish_state (GstCuvPublishMetrics *self, const Reading *reading, guint nth,
    const Row *row)
{
  write_state (self, reading, nth);
  retain (self, row->topic, self->config.interval);
}

/* Returns NULL if there are too many rows. */
static Row *
publish_row (
    GstCuvPublishMetrics *self, Table *table, const Reading *reading, guint nth)
{
  Row *row;

  if (self->n_rows >= GST_CUV_PUBLISH_MAX_ROWS)
    return NULL;
  self->n_rows++;
  row = g_new0 (Row, 1);
  row->topic = make_topic (self, reading->table.key);
  g_hash_table_insert (table->rows, g_strdup (self->name->str), row);
  update_values (row, reading, nth);
  publish_state (self, reading, nth, row);
  if (self->config.discovery != NULL)
    publish_sensors (self, reading, nth, row);
  return row;
}

/* Of rows with the same names the first counts. */
static void
read_row (
    GstCuvPublishMetrics *self, Table *table, const Reading *reading, guint nth)
{
  Row *row = NULL;

  if (make_name (self, reading, nth)) {
    row = g_hash_table_lookup (table->rows, self->name->str);
    if (row == NULL)
      row = publish_row (self, table, reading, nth);
    else if (row->frame != self->frame && update_values (row, reading, nth))
      publish_state (self, reading, nth, row);
  }
  if (row == NULL) {
    self->exceeded = TRUE;
  } else if (row->frame != self->frame) {
    row->frame = self->frame;
    table->n_found++;
  }
}

static void
read_table (GstCuvPublishMetrics *self, const Reading *reading)
{
  Table *table = get_table (self, reading->table.key);

  if (table == NULL) {
    self->exceeded = TRUE;
    return;
  }
  if (table->frame != self->frame) {
    table->frame = self->frame;
    table->n_found = 0;
  }
  for (guint i = 0; i < reading->table.n_rows; i++)
    read_row (self, table, reading, i);
}

static gboolean
remove_if_absent (gpointer key, gpointer value, gpointer data)
{
  GstCuvPublishMetrics *self = data;
  const Row *row = value;

  if (row->frame == self->frame)
    return FALSE;
  remove_row (self, row);
  return TRUE;
}

/* Removes rows that tables of this frame no longer have. */
static void
remove_absent_rows (GstCuvPublishMetrics *self)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->tables);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const Table *table = value;

    if (table->frame == self->frame
        && table->n_found < g_hash_table_size (table->rows))
      g_hash_table_foreach_remove (table->rows, remove_if_absent, self);
  }
}

gboolean
gst_cuv_publish_metrics_push (GstCuvPublishMetrics *self, GstBuffer *buffer)
{
  gpointer state = NULL;
  Reading reading;

  self->frame++;
  while (gst_cuv_meta_next_table (buffer, &state, &reading.table)) {
    if (reading_begin (&reading))
      read_table (self, &reading);
  }
  remove_absent_rows (self);
  if (!self->exceeded || self->warned)
    return TRUE;
  self->warned = TRUE;
  return FALSE;
}

/* ---- the object ---- */

GstCuvPublishMetrics *
gst_cuv_publish_metrics_new (const GstCuvPublishMetricsConfig *config)
{
  GstCuvPublishMetrics *self = g_new0 (GstCuvPublishMetrics, 1);

  self->config = *config;
  self->config.topic = g_strdup (config->topic);
  self->config.source = g_strdup (config->source);
  self->config.discovery = g_strdup (config->discovery);
  self->status_topic = cuv_topic_expand (
      config->topic, CUV_TOPIC_MQTT, config->source, CUV_TOPIC_STATUS);
  cuv_json_init (&self->json);
  self->tables =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, table_free);
  self->name = g_string_new (NULL);
  return self;
}

void
gst_cuv_publish_metrics_free (GstCuvPublishMetrics *self)
{
  g_free ((gchar *) self->config.topic);
  g_free ((gchar *) self->config.source);
  g_free ((gchar *) self->config.discovery);
  g_free (self->status_topic);
  cuv_json_clear (&self->json);
  g_hash_table_unref (self->tables);
  g_string_free (self->name, TRUE);
  g_free (self);
}
