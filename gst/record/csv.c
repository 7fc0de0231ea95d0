/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records as CSV (RFC 4180): one row per object, group and table row. */
#include "config.h"
#include "record/record.h"

#include <math.h>
#include <string.h>

#define LINE_END "\r\n"

const gchar cuv_record_csv_header[] =
    "kind,frame_num,timestamp,wallclock,source,width,height,region_id,"
    "parent_id,id,roi_type,x,y,w,h,x_min,x_max,y_min,y_max,confidence,label_id,"
    "extra" LINE_END;

#define N_OBJECT_COLUMNS 14 /* the columns region_id to label_id */

/* ---- fields ---- */

static void
append_quoted (GString *text, const gchar *value)
{
  g_string_append_c (text, '"');
  for (; *value != '\0'; value++) {
    if (*value == '"')
      g_string_append_c (text, '"');
    g_string_append_c (text, *value);
  }
  g_string_append_c (text, '"');
}

static gboolean
needs_quotes (const gchar *value)
{
  return strpbrk (value, ",\"\r\n") != NULL || g_ascii_isspace (value[0])
      || (value[0] != '\0' && g_ascii_isspace (value[strlen (value) - 1]));
}

static void
string_field (GString *text, const gchar *value)
{
  gchar *valid;

  if (value != NULL) {
    valid = g_utf8_make_valid (value, -1);
    if (needs_quotes (valid))
      append_quoted (text, valid);
    else
      g_string_append (text, valid);
    g_free (valid);
  }
  g_string_append_c (text, ',');
}

static void
int_field (GString *text, gint64 value)
{
  g_string_append_printf (text, "%" G_GINT64_FORMAT ",", value);
}

/* Writes a number as in JSON, but NaN and infinity as an empty field. */
static void
value_field (GString *text, const GValue *value)
{
  CuvJson json;

  if (value != NULL) {
    cuv_json_init (&json);
    cuv_json_value (&json, value);
    if (strcmp (json.text->str, "null") != 0)
      g_string_append (text, json.text->str);
    cuv_json_clear (&json);
  }
  g_string_append_c (text, ',');
}

/* Writes the last field of a row: values without a column, as a JSON object. */
static void
extra_field (GString *text, const CuvJson *json)
{
  if (strcmp (json->text->str, "{}") != 0)
    append_quoted (text, json->text->str);
  g_string_append (text, LINE_END);
}

/* ---- rows ---- */

static void
append_frame (GString *text, const gchar *kind, const CuvRecordFrame *frame)
{
  gchar time[CUV_RECORD_TIME_SIZE];

  string_field (text, kind);
  g_string_append_printf (text, "%" G_GUINT64_FORMAT ",", frame->number);
  if (GST_CLOCK_TIME_IS_VALID (frame->stream_time))
    g_string_append_printf (text, "%" G_GUINT64_FORMAT, frame->stream_time);
  g_string_append_c (text, ',');
  string_field (text, cuv_record_time (time, frame->wallclock));
  string_field (text, frame->source);
  if (frame->width > 0 && frame->height > 0) {
    int_field (text, frame->width);
    int_field (text, frame->height);
  } else {
    g_string_append (text, ",,");
  }
}

/* Begins the last field, extra. */
static void
begin_extra (CuvJson *json, const CuvRecordFrame *frame)
{
  static const gchar *const keys[] = { "captured", "classification",
    "detection", "extra_params", "group", "groups", "row", "semantic_tag",
    "tags", NULL };
  gchar time[CUV_RECORD_TIME_SIZE];

  g_string_truncate (json->text, 0);
  cuv_json_begin_object (json);
  cuv_json_reserve (json, keys);
  if (frame->captured > 0) {
    cuv_json_string_member (
        json, "captured", cuv_record_time (time, frame->captured));
  }
  if (frame->tags != NULL) {
    cuv_json_key (json, "tags");
    cuv_json_node (json, frame->tags);
  }
}

/* Writes a number, or an empty field if it is negative. */
static void
id_field (GString *text, gint64 id)
{
  if (id >= 0)
    int_field (text, id);
  else
    g_string_append_c (text, ',');
}

static void
append_region (GString *text, const CuvRecordObject *record)
{
  const GstCuvObject *object = record->object;

  int_field (text, object->id);
  id_field (text, object->parent_id);
  id_field (text, object->track);
  string_field (text, record->label);
  int_field (text, object->x);
  int_field (text, object->y);
  int_field (text, object->w);
  int_field (text, object->h);
}

static void
csv_append_object (GString *text, CuvJson *json, const CuvRecordFrame *frame,
    const GstCuvObject *object, const GstCuvGroups *groups)
{
  CuvRecordObject record;

  cuv_record_read_object (&record, object, frame);
  append_frame (text, "object", frame);
  append_region (text, &record);
  value_field (text, record.x_min);
  value_field (text, record.x_max);
  value_field (text, record.y_min);
  value_field (text, record.y_max);
  value_field (text, record.confidence);
  value_field (text, record.label_id);
  begin_extra (json, frame);
  cuv_record_object_extras (json, &record, groups);
  cuv_json_end_object (json);
  extra_field (text, json);
}

/* Begins a row that is not of an object. */
static void
begin_row (GString *text, CuvJson *json, const gchar *kind,
    const CuvRecordFrame *frame)
{
  append_frame (text, kind, frame);
  for (guint i = 0; i < N_OBJECT_COLUMNS; i++)
    g_string_append_c (text, ',');
  begin_extra (json, frame);
}

static void
end_row (GString *text, CuvJson *json)
{
  cuv_json_end_object (json);
  extra_field (text, json);
}

static void
append_table_row (GString *text, CuvJson *json, const gchar *kind,
    const CuvRecordFrame *frame, const GstCuvTable *table, guint row)
{
  begin_row (text, json, kind, frame);
  cuv_json_key (json, "row");
  cuv_record_row (json, table, row);
  end_row (text, json);
}

static void
append_group (GString *text, CuvJson *json, const CuvRecordFrame *frame,
    const GstCuvGroup *group)
{
  if (group->object != NULL) /* the object's row has it */
    return;
  begin_row (text, json, "group", frame);
  cuv_json_key (json, "group");
  cuv_record_group (json, group);
  end_row (text, json);
}

/* Returns the kind of a table's rows, which must differ from those of other
 * rows. */
static const gchar *
kind_of (const GstCuvTable *table)
{
  return strcmp (table->kind, "object") == 0 ? "object_2"
      : strcmp (table->kind, "frame") == 0   ? "frame_2"
      : strcmp (table->kind, "group") == 0   ? "group_2"
                                             : table->kind;
}

void
cuv_record_to_csv (
    GString *text, const CuvRecordFrame *frame, GstBuffer *buffer)
{
  gsize start = text->len;
  gpointer state = NULL;
  GstCuvGroups groups;
  GstCuvTable table;
  CuvJson json;

  cuv_json_init (&json);
  gst_cuv_groups_read (&groups, frame->objects, buffer);
  for (guint i = 0; i < frame->objects->len; i++)
    csv_append_object (text, &json, frame,
        &g_array_index (frame->objects, GstCuvObject, i), &groups);
  for (guint i = 0; i < groups.n; i++)
    append_group (text, &json, frame, &groups.groups[i]);
  gst_cuv_groups_clear (&groups);
  while (gst_cuv_meta_next_table (buffer, &state, &table)) {
    for (guint row = 0; table.n_columns > 0 && row < table.n_rows; row++)
      append_table_row (text, &json, kind_of (&table), frame, &table, row);
  }
  if (text->len == start) {
    begin_row (text, &json, "frame", frame);
    end_row (text, &json);
  }
  cuv_json_clear (&json);
}
