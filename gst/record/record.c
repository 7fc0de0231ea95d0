/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metadata of a frame as JSON; see record.h. */
#include "config.h"
#include "record/record.h"
#include "gstcuvstructure.h"

#include <math.h>
#include <string.h>

/* ---- objects ---- */

static const GValue *
get_number (const GstStructure *structure, const gchar *field)
{
  const GValue *value = gst_cuv_structure_get_value (structure, field);
  gboolean number = value != NULL
      && (G_VALUE_HOLDS_DOUBLE (value) || G_VALUE_HOLDS_FLOAT (value)
          || G_VALUE_HOLDS_INT (value) || G_VALUE_HOLDS_UINT (value)
          || G_VALUE_HOLDS_INT64 (value) || G_VALUE_HOLDS_UINT64 (value));

  return number ? value : NULL;
}

static void
record_read_detection (CuvRecordObject *object, const GstStructure *detection)
{
  object->detected = TRUE;
  object->detection = detection;
  object->confidence = get_number (detection, "confidence");
  object->label_id = get_number (detection, "label_id");
  object->x_min = get_number (detection, "x_min");
  object->x_max = get_number (detection, "x_max");
  object->y_min = get_number (detection, "y_min");
  object->y_max = get_number (detection, "y_max");
  if (object->x_min == NULL || object->x_max == NULL || object->y_min == NULL
      || object->y_max == NULL)
    object->x_min = object->x_max = object->y_min = object->y_max = NULL;
  if (object->label == NULL)
    object->label = gst_cuv_structure_get_string (detection, "label");
}

static const GValue *
own_number (CuvRecordObject *self, guint i, gdouble number)
{
  GValue *value = &self->own[i];

  g_value_init (value, G_TYPE_DOUBLE); /* needs no unset */
  g_value_set_double (value, number);
  return value;
}

/* Sets the fields of a detection that the parameters of an ODMtd lack. */
static void
read_od (CuvRecordObject *self, const CuvRecordFrame *frame)
{
  const GstCuvObject *object = self->object;
  const gdouble width = frame->width, height = frame->height;

  self->detected = TRUE;
  if (self->confidence == NULL && !isnan (object->confidence))
    self->confidence = own_number (self, 0, object->confidence);
  if (width <= 0 || height <= 0)
    return;
  self->x_min = own_number (self, 1, object->x / width);
  self->x_max = own_number (self, 2, (object->x + object->w) / width);
  self->y_min = own_number (self, 3, object->y / height);
  self->y_max = own_number (self, 4, (object->y + object->h) / height);
}

void
cuv_record_read_object (CuvRecordObject *self, const GstCuvObject *object,
    const CuvRecordFrame *frame)
{
  const gchar *label = g_quark_to_string (object->label);
  const GstStructure *detection = gst_cuv_object_param (object, "detection");

  memset (self, 0, sizeof *self);
  self->object = object;
  self->label = label != NULL && *label != '\0' ? label : NULL;
  self->params = object->params;
  if (detection != NULL)
    record_read_detection (self, detection);
  if (object->od >= 0 && self->x_min == NULL)
    read_od (self, frame);
}

static gboolean
is_documented_field (const CuvRecordObject *object, const gchar *field)
{
  const GValue *value = gst_cuv_structure_get_value (object->detection, field);

  if (strcmp (field, "label") == 0)
    return G_VALUE_HOLDS_STRING (value)
        && g_strcmp0 (g_value_get_string (value), object->label) == 0;
  return value == object->confidence || value == object->label_id
      || value == object->x_min || value == object->x_max
      || value == object->y_min || value == object->y_max;
}

/* The members of a field extra_params_json are added as JSON; text that does
 * not parse is added as a string. */
static void
append_extra (CuvJson *json, const CuvRecordObject *object, const gchar *field)
{
  const GValue *value = gst_cuv_structure_get_value (object->detection, field);
  const gchar *text = NULL;
  JsonNode *node = NULL;

  if (strcmp (field, "extra_params_json") == 0 && G_VALUE_HOLDS_STRING (value))
    text = g_value_get_string (value);
  if (text != NULL)
    node = cuv_json_parse_object (text, CUV_JSON_MAX_VALUES, NULL);
  if (node != NULL) {
    cuv_json_node_members (json, node);
    json_node_unref (node);
  } else {
    cuv_json_new_key (json, field);
    cuv_json_value (json, value);
  }
}

static void
append_extra_params (CuvJson *json, const CuvRecordObject *object)
{
  gint n = gst_structure_n_fields (object->detection);
  gboolean open = FALSE;

  for (gint i = 0; i < n; i++) {
    const gchar *field = gst_structure_nth_field_name (object->detection, i);

    if (is_documented_field (object, field))
      continue;
    if (!open) {
      cuv_json_key (json, "extra_params");
      cuv_json_begin_object (json);
      open = TRUE;
    }
    append_extra (json, object, field);
  }
  if (open)
    cuv_json_end_object (json);
}

static void
string_member (CuvJson *json, const gchar *key, const gchar *value)
{
  cuv_json_string_member (json, key, value);
}

static gboolean
is_classification (const GstStructure *param)
{
  return gst_cuv_structure_get_string (param, "label") != NULL
      && gst_cuv_structure_get_string (param, "model_name") != NULL;
}

/* Writes a classification in DL Streamer's form. */
static void
append_classification (CuvJson *json, const GstStructure *param)
{
  const gchar *name = gst_cuv_structure_get_string (param, "attribute_name");

  cuv_json_new_key (json,
      name != NULL && *name != '\0' ? name : gst_structure_get_name (param));
  cuv_json_begin_object (json);
  cuv_json_key (json, "model");
  cuv_json_begin_object (json);
  string_member (
      json, "name", gst_cuv_structure_get_string (param, "model_name"));
  cuv_json_end_object (json);
  for (gint i = 0; i < gst_structure_n_fields (param); i++) {
    const gchar *field = gst_structure_nth_field_name (param, i);

    if (strcmp (field, "attribute_name") == 0
        || strcmp (field, "model_name") == 0)
      continue;
    cuv_json_new_key (json, field);
    cuv_json_value (json, gst_cuv_structure_get_value (param, field));
  }
  cuv_json_end_object (json);
}

static void
append_param (CuvJson *json, const GstStructure *param)
{
  if (is_classification (param)) {
    append_classification (json, param);
    return;
  }
  cuv_json_new_key (json, gst_structure_get_name (param));
  cuv_json_begin_object (json);
  cuv_json_fields (json, param);
  cuv_json_end_object (json);
}

static void
append_class (CuvJson *json, const GstCuvObject *object)
{
  cuv_json_key (json, "classification");
  cuv_json_begin_object (json);
  string_member (json, "label", g_quark_to_string (object->class_label));
  cuv_json_key (json, "confidence");
  cuv_json_double (json, object->class_confidence);
  cuv_json_end_object (json);
}

/* Keys of an object that parameters must not use, even if they are absent. */
static const gchar *const object_keys[] = { "classification", "detection",
  "extra_params", "groups", "id", "parent_id", "roi_type", "semantic_tag",
  NULL };

static void
append_tag (
    CuvJson *json, const GstCuvObject *object, const GstCuvGroups *groups)
{
  gchar *tag = gst_cuv_groups_object_tag (groups, object);

  if (tag != NULL)
    string_member (json, "semantic_tag", tag);
  g_free (tag);
}

void
cuv_record_object_extras (
    CuvJson *json, const CuvRecordObject *object, const GstCuvGroups *groups)
{
  if (object->detection != NULL)
    append_extra_params (json, object);
  for (const GList *item = object->params; item != NULL; item = item->next) {
    const GstStructure *param = item->data;
    gboolean is_id = gst_structure_has_name (param, "object_id")
        && gst_structure_has_field_typed (param, "id", G_TYPE_INT)
        && gst_structure_n_fields (param) == 1;

    if (param != object->detection && !is_id)
      append_param (json, param);
  }
  if (object->object->class_label != 0)
    append_class (json, object->object);
  cuv_record_groups_of (json, groups, object->object);
  append_tag (json, object->object, groups);
}

static void
member (CuvJson *json, const gchar *key, const GValue *value)
{
  if (value == NULL)
    return;
  cuv_json_key (json, key);
  cuv_json_value (json, value);
}

static void
append_detection (CuvJson *json, const CuvRecordObject *object)
{
  cuv_json_key (json, "detection");
  cuv_json_begin_object (json);
  if (object->x_min != NULL) {
    cuv_json_key (json, "bounding_box");
    cuv_json_begin_object (json);
    member (json, "x_min", object->x_min);
    member (json, "x_max", object->x_max);
    member (json, "y_min", object->y_min);
    member (json, "y_max", object->y_max);
    cuv_json_end_object (json);
  }
  member (json, "confidence", object->confidence);
  member (json, "label_id", object->label_id);
  if (object->label != NULL)
    string_member (json, "label", object->label);
  cuv_json_end_object (json);
}

static void
int_member (CuvJson *json, const gchar *key, gint64 value)
{
  cuv_json_key (json, key);
  cuv_json_int (json, value);
}

/* Documented keys come first, so that a parameter of the same name is the one
 * to be renamed. */
static void
json_append_object (CuvJson *json, const GstCuvObject *object,
    const CuvRecordFrame *frame, const GstCuvGroups *groups)
{
  CuvRecordObject record;

  cuv_record_read_object (&record, object, frame);
  cuv_json_begin_object (json);
  cuv_json_reserve (json, object_keys);
  int_member (json, "x", object->x);
  int_member (json, "y", object->y);
  int_member (json, "w", object->w);
  int_member (json, "h", object->h);
  int_member (json, "region_id", object->id);
  if (object->parent_id >= 0)
    int_member (json, "parent_id", object->parent_id);
  if (object->track >= 0)
    int_member (json, "id", object->track);
  if (record.label != NULL)
    string_member (json, "roi_type", record.label);
  if (record.detected)
    append_detection (json, &record);
  cuv_record_object_extras (json, &record, groups);
  cuv_json_end_object (json);
}

static void
json_append_objects (
    CuvJson *json, const CuvRecordFrame *frame, const GstCuvGroups *groups)
{
  cuv_json_begin_array (json);
  for (guint i = 0; i < frame->objects->len; i++) {
    cuv_json_next (json);
    json_append_object (
        json, &g_array_index (frame->objects, GstCuvObject, i), frame, groups);
  }
  cuv_json_end_array (json);
}

void
cuv_record_objects (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer)
{
  GstCuvGroups groups;

  gst_cuv_groups_read (&groups, frame->objects, buffer);
  json_append_objects (json, frame, &groups);
  gst_cuv_groups_clear (&groups);
}

/* ---- tables ---- */

void
cuv_record_cell (
    CuvJson *json, const GstCuvTable *table, guint row, guint column)
{
  switch (table->columns[column].type) {
    case GST_CUV_TYPE_F32:
      cuv_json_float (json, (gfloat) gst_cuv_table_double (table, row, column));
      break;
    case GST_CUV_TYPE_F64:
      cuv_json_double (json, gst_cuv_table_double (table, row, column));
      break;
    case GST_CUV_TYPE_U64:
      cuv_json_uint (json, (guint64) gst_cuv_table_int (table, row, column));
      break;
    case GST_CUV_TYPE_TEXT:
      cuv_json_string (json, gst_cuv_table_text (table, row, column));
      break;
    default:
      cuv_json_int (json, gst_cuv_table_int (table, row, column));
      break;
  }
}

void
cuv_record_row (CuvJson *json, const GstCuvTable *table, guint row)
{
  cuv_json_begin_object (json);
  for (guint i = 0; i < table->n_columns; i++) {
    cuv_json_new_key (json, table->columns[i].name);
    cuv_record_cell (json, table, row, i);
  }
  cuv_json_end_object (json);
}

static guint
count_scalars (const GstCuvTable *table)
{
  guint n = 0;

  for (gint i = 0; i < gst_structure_n_fields (table->structure); i++)
    n += !gst_cuv_table_is_layout (
        gst_structure_nth_field_name (table->structure, i));
  return n;
}

/* Appends the table's scalars, and the reference size of its coordinates if it
 * is not the frame's. */
static void
append_info (CuvJson *json, const GstCuvTable *table, guint nth,
    const CuvRecordFrame *frame, gboolean with_shapes)
{
  gboolean other_size = (gint) table->width != frame->width
      || (gint) table->height != frame->height;
  gboolean shape = with_shapes && strcmp (table->shape, "none") != 0;
  gchar *key;

  if (!other_size && !shape && count_scalars (table) == 0)
    return;
  key = nth == 1 ? g_strdup_printf ("%s_info", table->key)
                 : g_strdup_printf ("%s_%u_info", table->key, nth);
  cuv_json_new_key (json, key);
  g_free (key);
  cuv_json_begin_object (json);
  if (other_size) {
    int_member (json, "width", table->width);
    int_member (json, "height", table->height);
  }
  if (shape) {
    cuv_json_new_key (json, "shape");
    cuv_json_string (json, table->shape);
  }
  for (gint i = 0; i < gst_structure_n_fields (table->structure); i++) {
    const gchar *field = gst_structure_nth_field_name (table->structure, i);

    if (gst_cuv_table_is_layout (field))
      continue;
    cuv_json_new_key (json, field);
    cuv_json_value (
        json, gst_cuv_structure_get_value (table->structure, field));
  }
  cuv_json_end_object (json);
}

static gboolean
has_rows (const GstCuvTable *table)
{
  return table->n_columns > 0 && table->n_rows > 0;
}

static void
append_table (CuvJson *json, const GstCuvTable *table,
    const CuvRecordFrame *frame, gboolean with_shapes)
{
  guint nth = cuv_json_new_key (json, table->key);

  cuv_json_begin_array (json);
  for (guint row = 0; has_rows (table) && row < table->n_rows; row++) {
    cuv_json_next (json);
    cuv_record_row (json, table, row);
  }
  cuv_json_end_array (json);
  append_info (json, table, nth, frame, with_shapes);
}

/* ---- records ---- */

gboolean
cuv_record_has_results (const CuvRecordFrame *frame, GstBuffer *buffer)
{
  gpointer state = NULL;
  GstCuvTable table;

  if (frame->objects->len > 0 || gst_cuv_groups_any (buffer))
    return TRUE;
  while (gst_cuv_meta_next_table (buffer, &state, &table)) {
    if (has_rows (&table)
        || (table.n_columns == 0 && count_scalars (&table) > 0))
      return TRUE;
  }
  return FALSE;
}

const gchar *
cuv_record_time (gchar *buffer, gint64 wallclock)
{
  GDateTime *time = g_date_time_new_from_unix_utc (wallclock / G_USEC_PER_SEC);

  if (time == NULL)
    return NULL;
  g_snprintf (buffer, CUV_RECORD_TIME_SIZE,
      "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", g_date_time_get_year (time),
      g_date_time_get_month (time), g_date_time_get_day_of_month (time),
      g_date_time_get_hour (time), g_date_time_get_minute (time),
      g_date_time_get_second (time), (gint) (wallclock % G_USEC_PER_SEC));
  g_date_time_unref (time);
  return buffer;
}

/* Returns the time in nanoseconds since 1970, 0 if there is none. */
static guint64
reference_time (GstBuffer *buffer, GstStaticCaps *clock, guint64 epoch)
{
  GstCaps *caps = gst_static_caps_get (clock);
  const GstReferenceTimestampMeta *meta =
      gst_buffer_get_reference_timestamp_meta (buffer, caps);

  gst_caps_unref (caps);
  return meta != NULL && meta->timestamp != GST_CLOCK_TIME_NONE
          && meta->timestamp > epoch
      ? meta->timestamp - epoch
      : 0;
}

gint64
cuv_record_captured (GstBuffer *buffer)
{
  static GstStaticCaps of_unix = GST_STATIC_CAPS ("timestamp/x-unix");
  static GstStaticCaps of_ntp = GST_STATIC_CAPS ("timestamp/x-ntp");
  guint64 time = reference_time (buffer, &of_unix, 0);

  if (time == 0)
    time = reference_time (
        buffer, &of_ntp, G_GUINT64_CONSTANT (2208988800) * GST_SECOND);
  return (gint64) (time / GST_USECOND);
}

/* Keys of a record that tables must not use, even if they are absent; roi_type
 * is a key of objects that readers also look for here. */
static const gchar *const record_keys[] = { "captured", "frame_num", "groups",
  "objects", "resolution", "roi_type", "source", "tags", "timestamp",
  "wallclock", NULL };

static void
append_frame (CuvJson *json, const CuvRecordFrame *frame)
{
  gchar time[CUV_RECORD_TIME_SIZE];

  if (frame->wallclock >= 0) {
    cuv_json_key (json, "frame_num");
    cuv_json_uint (json, frame->number);
    string_member (json, "wallclock", cuv_record_time (time, frame->wallclock));
  }
  if (frame->captured > 0)
    string_member (json, "captured", cuv_record_time (time, frame->captured));
  if (GST_CLOCK_TIME_IS_VALID (frame->stream_time)) {
    cuv_json_key (json, "timestamp");
    cuv_json_uint (json, frame->stream_time);
  }
  if (frame->width > 0 && frame->height > 0) {
    cuv_json_key (json, "resolution");
    cuv_json_begin_object (json);
    int_member (json, "width", frame->width);
    int_member (json, "height", frame->height);
    cuv_json_end_object (json);
  }
  if (frame->source != NULL)
    string_member (json, "source", frame->source);
  if (frame->tags != NULL) {
    cuv_json_key (json, "tags");
    cuv_json_node (json, frame->tags);
  }
}

static void
append_record (CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer,
    gboolean with_shapes)
{
  gpointer state = NULL;
  GstCuvGroups groups;
  GstCuvTable table;

  gst_cuv_groups_read (&groups, frame->objects, buffer);
  cuv_json_begin_object (json);
  cuv_json_reserve (json, record_keys);
  append_frame (json, frame);
  if (frame->objects->len > 0) {
    cuv_json_key (json, "objects");
    json_append_objects (json, frame, &groups);
  }
  cuv_record_groups_of (json, &groups, NULL);
  gst_cuv_groups_clear (&groups);
  while (gst_cuv_meta_next_table (buffer, &state, &table))
    append_table (json, &table, frame, with_shapes);
  cuv_json_end_object (json);
}

void
cuv_record_to_json (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer)
{
  append_record (json, frame, buffer, FALSE);
}

void
cuv_record_to_json_with_shapes (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer)
{
  append_record (json, frame, buffer, TRUE);
}
