/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GValue and JsonNode as JSON text. */
#include "config.h"
#include "record/json.h"
#include "gstcuvstructure.h"

/* ---- GValue ---- */

void
cuv_json_fields (CuvJson *self, const GstStructure *structure)
{
  for (gint i = 0; i < gst_structure_n_fields (structure); i++) {
    const gchar *name = gst_structure_nth_field_name (structure, i);

    cuv_json_new_key (self, name);
    cuv_json_value (self, gst_cuv_structure_get_value (structure, name));
  }
}

static void
append_structure (CuvJson *self, const GstStructure *structure)
{
  if (structure == NULL) {
    cuv_json_null (self);
    return;
  }
  cuv_json_begin_object (self);
  cuv_json_fields (self, structure);
  cuv_json_end_object (self);
}

typedef guint (*GetSize) (const GValue *value);
typedef const GValue *(*GetElement) (const GValue *value, guint i);

static void
append_elements (
    CuvJson *self, const GValue *value, GetSize get_size, GetElement get)
{
  guint n = get_size (value);

  cuv_json_begin_array (self);
  for (guint i = 0; i < n; i++) {
    cuv_json_next (self);
    cuv_json_value (self, get (value, i));
  }
  cuv_json_end_array (self);
}

G_GNUC_BEGIN_IGNORE_DEPRECATIONS
/* Python bindings turn a list into a GValueArray. */
static guint
old_array_size (const GValue *value)
{
  GValueArray *array = g_value_get_boxed (value);

  return array != NULL ? array->n_values : 0;
}

static const GValue *
old_array_get (const GValue *value, guint i)
{
  return g_value_array_get_nth (g_value_get_boxed (value), i);
}

static gboolean
is_old_array (const GValue *value)
{
  return G_VALUE_HOLDS (value, g_value_array_get_type ());
}
G_GNUC_END_IGNORE_DEPRECATIONS

static void
append_strv (CuvJson *self, const gchar *const *strings)
{
  cuv_json_begin_array (self);
  for (; strings != NULL && *strings != NULL; strings++) {
    cuv_json_next (self);
    cuv_json_string (self, *strings);
  }
  cuv_json_end_array (self);
}

static void
append_gbytes (CuvJson *self, GBytes *bytes)
{
  gsize size;
  gconstpointer data;

  if (bytes == NULL) {
    cuv_json_null (self);
    return;
  }
  data = g_bytes_get_data (bytes, &size);
  cuv_json_bytes (self, data, size);
}

static void
append_variant (CuvJson *self, GVariant *variant)
{
  JsonNode *node;

  if (variant == NULL) {
    cuv_json_null (self);
  } else if (g_variant_is_of_type (variant, G_VARIANT_TYPE_BYTESTRING)) {
    cuv_json_bytes (
        self, g_variant_get_data (variant), g_variant_get_size (variant));
  } else {
    node = json_gvariant_serialize (variant);
    cuv_json_node (self, node);
    json_node_unref (node);
  }
}

static void
append_enum (CuvJson *self, const GValue *value)
{
  GEnumClass *klass = g_type_class_ref (G_VALUE_TYPE (value));
  GEnumValue *entry = g_enum_get_value (klass, g_value_get_enum (value));

  if (entry != NULL)
    cuv_json_string (self, entry->value_nick);
  else
    cuv_json_int (self, g_value_get_enum (value));
  g_type_class_unref (klass);
}

/* Writes a string, but null for objects and pointers, whose text would be an
 * address. */
static void
append_serialized (CuvJson *self, const GValue *value)
{
  gchar *text = NULL;

  if (!G_VALUE_HOLDS_OBJECT (value) && !G_VALUE_HOLDS_POINTER (value))
    text = gst_value_serialize (value);
  cuv_json_string (self, text);
  g_free (text);
}

static gint64
signed_value (const GValue *value)
{
  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_CHAR:
      return g_value_get_schar (value);
    case G_TYPE_INT:
      return g_value_get_int (value);
    case G_TYPE_LONG:
      return g_value_get_long (value);
    default:
      return g_value_get_int64 (value);
  }
}

static guint64
unsigned_value (const GValue *value)
{
  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_UCHAR:
      return g_value_get_uchar (value);
    case G_TYPE_UINT:
      return g_value_get_uint (value);
    case G_TYPE_ULONG:
      return g_value_get_ulong (value);
    default:
      return g_value_get_uint64 (value);
  }
}

static gboolean
append_plain (CuvJson *self, const GValue *value)
{
  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_BOOLEAN:
      cuv_json_boolean (self, g_value_get_boolean (value));
      break;
    case G_TYPE_CHAR:
    case G_TYPE_INT:
    case G_TYPE_LONG:
    case G_TYPE_INT64:
      cuv_json_int (self, signed_value (value));
      break;
    case G_TYPE_UCHAR:
    case G_TYPE_UINT:
    case G_TYPE_ULONG:
    case G_TYPE_UINT64:
      cuv_json_uint (self, unsigned_value (value));
      break;
    case G_TYPE_FLOAT:
      cuv_json_float (self, g_value_get_float (value));
      break;
    case G_TYPE_DOUBLE:
      cuv_json_double (self, g_value_get_double (value));
      break;
    case G_TYPE_STRING:
      cuv_json_string (self, g_value_get_string (value));
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

void
cuv_json_value (CuvJson *self, const GValue *value)
{
  if (append_plain (self, value))
    return;
  if (self->depth == CUV_JSON_MAX_DEPTH) {
    cuv_json_null (self);
    return;
  }
  self->depth++;
  if (GST_VALUE_HOLDS_STRUCTURE (value))
    append_structure (self, gst_value_get_structure (value));
  else if (GST_VALUE_HOLDS_ARRAY (value))
    append_elements (
        self, value, gst_value_array_get_size, gst_value_array_get_value);
  else if (GST_VALUE_HOLDS_LIST (value))
    append_elements (
        self, value, gst_value_list_get_size, gst_value_list_get_value);
  else if (is_old_array (value))
    append_elements (self, value, old_array_size, old_array_get);
  else if (G_VALUE_HOLDS (value, G_TYPE_STRV))
    append_strv (self, g_value_get_boxed (value));
  else if (G_VALUE_HOLDS (value, G_TYPE_BYTES))
    append_gbytes (self, g_value_get_boxed (value));
  else if (G_VALUE_HOLDS_VARIANT (value))
    append_variant (self, g_value_get_variant (value));
  else if (G_VALUE_HOLDS_ENUM (value))
    append_enum (self, value);
  else
    append_serialized (self, value);
  self->depth--;
}

/* ---- JsonNode ---- */

void
cuv_json_node_members (CuvJson *self, JsonNode *node)
{
  JsonObjectIter iter;
  const gchar *name;
  JsonNode *member;

  json_object_iter_init (&iter, json_node_get_object (node));
  while (json_object_iter_next (&iter, &name, &member)) {
    cuv_json_new_key (self, name);
    cuv_json_node (self, member);
  }
}

static void
append_node_elements (CuvJson *self, JsonArray *array)
{
  guint n = json_array_get_length (array);

  cuv_json_begin_array (self);
  for (guint i = 0; i < n; i++) {
    cuv_json_next (self);
    cuv_json_node (self, json_array_get_element (array, i));
  }
  cuv_json_end_array (self);
}

static void
append_node_value (CuvJson *self, JsonNode *node)
{
  GValue value = G_VALUE_INIT;

  json_node_get_value (node, &value);
  cuv_json_value (self, &value);
  g_value_unset (&value);
}

void
cuv_json_node (CuvJson *self, JsonNode *node)
{
  if (self->depth == CUV_JSON_MAX_DEPTH) {
    cuv_json_null (self);
    return;
  }
  self->depth++;
  switch (json_node_get_node_type (node)) {
    case JSON_NODE_OBJECT:
      cuv_json_begin_object (self);
      cuv_json_node_members (self, node);
      cuv_json_end_object (self);
      break;
    case JSON_NODE_ARRAY:
      append_node_elements (self, json_node_get_array (node));
      break;
    case JSON_NODE_VALUE:
      append_node_value (self, node);
      break;
    case JSON_NODE_NULL:
      cuv_json_null (self);
      break;
  }
  self->depth--;
}
