/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "controls/message.h"

#include <string.h>
#include "cuvjsonreader.h"

static const gchar *
text_of (JsonObject *object, const gchar *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node)
      : NULL;
}

static gint64
id_of (JsonObject *object)
{
  JsonNode *node = json_object_get_member (object, "id");

  return node != NULL && json_node_get_value_type (node) == G_TYPE_INT64
      ? MAX (json_node_get_int (node), 0)
      : 0;
}

static gboolean
is_list_of_values (JsonNode *node)
{
  JsonArray *array;

  if (!JSON_NODE_HOLDS_ARRAY (node))
    return FALSE;
  array = json_node_get_array (node);
  if (json_array_get_length (array) > CUV_CONTROL_MAX_VALUES)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (array); i++)
    if (!JSON_NODE_HOLDS_VALUE (json_array_get_element (array, i)))
      return FALSE;
  return TRUE;
}

static const gchar *
read_set (CuvControlMessage *self, JsonObject *object)
{
  self->action = CUV_CONTROL_SET;
  self->value = json_object_get_member (object, "value");
  return self->value != NULL
          && (JSON_NODE_HOLDS_VALUE (self->value)
              || is_list_of_values (self->value))
      ? NULL
      : "value must be a number, a text, true, false or a list of texts";
}

static const gchar *
read_call (CuvControlMessage *self, JsonObject *object)
{
  self->action = CUV_CONTROL_CALL;
  self->value = json_object_get_member (object, "arguments");
  return self->value != NULL && is_list_of_values (self->value)
      ? NULL
      : "arguments must be a list of values";
}

static const gchar *
read_message (CuvControlMessage *self, JsonObject *object)
{
  const gchar *type = text_of (object, "type");
  const gboolean is_set = g_strcmp0 (type, "set") == 0;

  self->id = id_of (object);
  self->control = text_of (object, "control");
  if (!is_set && g_strcmp0 (type, "call") != 0)
    return "type must be set or call";
  if (self->id == 0)
    return "id must be a whole number above 0";
  if (self->control == NULL)
    return "control must be the name of a control";
  if (json_object_get_size (object) != 4)
    return "it must have type, id, control, and value or arguments only";
  return is_set ? read_set (self, object) : read_call (self, object);
}

gchar *
cuv_control_message_parse (
    CuvControlMessage *self, const gchar *data, gsize size)
{
  GError *error = NULL;
  gchar *problem;

  *self = (CuvControlMessage){ 0 };
  if (memchr (data, '\0', size) != NULL)
    return g_strdup ("it has a zero byte");
  problem = g_strndup (data, size);
  self->root =
      cuv_json_parse_object (problem, CUV_CONTROL_MAX_VALUES + 8, &error);
  g_free (problem);
  if (self->root == NULL) {
    problem = g_strdup (error->message);
    g_error_free (error);
    return problem;
  }
  return g_strdup (read_message (self, json_node_get_object (self->root)));
}

void
cuv_control_message_clear (CuvControlMessage *self)
{
  g_clear_pointer (&self->root, json_node_unref);
}
