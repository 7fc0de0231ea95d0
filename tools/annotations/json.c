/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads members of JSON objects whose types are not known. */
#include "json.h"

static JsonNode *
value_of (JsonObject *object, const gchar *member)
{
  JsonNode *node = json_object_get_member (object, member);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) ? node : NULL;
}

static gboolean
is_number (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_VALUE (node)
      && (json_node_get_value_type (node) == G_TYPE_INT64
          || json_node_get_value_type (node) == G_TYPE_DOUBLE);
}

JsonObject *
cuv_json_object (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_OBJECT (node)
      ? json_node_get_object (node)
      : NULL;
}

JsonArray *
cuv_json_array (JsonObject *object, const gchar *member)
{
  JsonNode *node = json_object_get_member (object, member);

  return node != NULL && JSON_NODE_HOLDS_ARRAY (node)
      ? json_node_get_array (node)
      : NULL;
}

const gchar *
cuv_json_text (JsonObject *object, const gchar *member)
{
  JsonNode *node = value_of (object, member);

  return node != NULL ? json_node_get_string (node) : NULL;
}

gint64
cuv_json_integer (JsonObject *object, const gchar *member, gint64 otherwise)
{
  JsonNode *node = value_of (object, member);

  return is_number (node) ? json_node_get_int (node) : otherwise;
}

gboolean
cuv_json_number (JsonObject *object, const gchar *member, gdouble *number)
{
  JsonNode *node = value_of (object, member);

  if (!is_number (node))
    return FALSE;
  *number = json_node_get_double (node);
  return TRUE;
}

static gboolean
numbers_of (JsonArray *array, gdouble *numbers, guint n)
{
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element (array, i);

    if (!is_number (node))
      return FALSE;
    numbers[i] = json_node_get_double (node);
  }
  return TRUE;
}

gboolean
cuv_json_numbers (
    JsonObject *object, const gchar *member, gdouble *numbers, guint n)
{
  JsonArray *array = cuv_json_array (object, member);

  return array != NULL && json_array_get_length (array) == n
      && numbers_of (array, numbers, n);
}

gboolean
cuv_json_point (JsonNode *node, gdouble *x, gdouble *y)
{
  gdouble numbers[2];

  if (!JSON_NODE_HOLDS_ARRAY (node)
      || json_array_get_length (json_node_get_array (node)) < 2
      || !numbers_of (json_node_get_array (node), numbers, 2))
    return FALSE;
  *x = numbers[0];
  *y = numbers[1];
  return TRUE;
}

void
cuv_json_size (JsonObject *object, const gchar *width, const gchar *height,
    CuvAnnotated *picture)
{
  gdouble size[2];

  if (cuv_json_number (object, width, &size[0])
      && cuv_json_number (object, height, &size[1]))
    cuv_annotated_set_size (picture, size[0], size[1]);
}
