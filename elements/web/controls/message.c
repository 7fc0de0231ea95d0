/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "controls/message.h"

#include <string.h>
#include "cuvjsonreader.h"

/* Values of a message: those of a list, or the boxes of an example, with their
 * numbers. */
#define MAX_MESSAGE_VALUES (5 * CUV_CONTROL_MAX_VALUES + 16)

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

gboolean
cuv_control_is_value (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) || is_list_of_values (node);
}

static gboolean
is_object (JsonNode *node)
{
  return JSON_NODE_HOLDS_OBJECT (node);
}

static gboolean
is_count (JsonNode *node)
{
  return json_node_get_value_type (node) == G_TYPE_INT64
      && json_node_get_int (node) >= 0;
}

static gboolean
is_text (JsonNode *node)
{
  return json_node_get_value_type (node) == G_TYPE_STRING;
}

/* What messages of each type have besides type and id. */
static const struct {
  const gchar *type;
  CuvControlAction action;
  gboolean has_control;
  const gchar *member; /* NULL: none */
  gboolean (*check) (JsonNode *node);
  const gchar *expected;
} actions[] = {
  { "set", CUV_CONTROL_SET, TRUE, "value", cuv_control_is_value,
      "value must be a number, a text, true, false or a list of texts" },
  { "call", CUV_CONTROL_CALL, TRUE, "arguments", is_list_of_values,
      "arguments must be a list of values" },
  { "save", CUV_CONTROL_SAVE, FALSE, NULL, NULL, NULL },
  { "line", CUV_CONTROL_LINE, FALSE, NULL, NULL, NULL },
  { "keep", CUV_CONTROL_KEEP, FALSE, "example", is_object,
      "example must be an object" },
  { "hold", CUV_CONTROL_HOLD, FALSE, "frame", is_count,
      "frame must be a frame_num" },
  { "forget", CUV_CONTROL_FORGET, FALSE, "label", is_text,
      "label must be a text" },
  { "train", CUV_CONTROL_TRAIN, FALSE, "label", is_text,
      "label must be a text" },
  { "stop", CUV_CONTROL_STOP, FALSE, NULL, NULL, NULL },
  { "use", CUV_CONTROL_USE, FALSE, "label", is_text, "label must be a text" },
};

static gchar *
expected_types (void)
{
  GString *text = g_string_new ("type must be");

  for (gsize i = 0; i < G_N_ELEMENTS (actions); i++)
    g_string_append_printf (text, "%s%s",
        i == 0                               ? " "
            : i < G_N_ELEMENTS (actions) - 1 ? ", "
                                             : " or ",
        actions[i].type);
  return g_string_free (text, FALSE);
}

static gsize
find_action (const gchar *type)
{
  gsize i = 0;

  while (i < G_N_ELEMENTS (actions) && g_strcmp0 (type, actions[i].type) != 0)
    i++;
  return i;
}

static gchar *
read_members (CuvControlMessage *self, JsonObject *object, gsize i)
{
  const gchar *member = actions[i].member;
  const gint n = 2 + actions[i].has_control + (member != NULL);

  if (actions[i].has_control && self->control == NULL)
    return g_strdup ("control must be the name of a control");
  if ((gint) json_object_get_size (object) != n)
    return g_strdup_printf ("it must have type, id%s%s%s only",
        actions[i].has_control ? ", control" : "", member != NULL ? ", " : "",
        member != NULL ? member : "");
  if (member == NULL)
    return NULL;
  self->value = json_object_get_member (object, member);
  return self->value != NULL && actions[i].check (self->value)
      ? NULL
      : g_strdup (actions[i].expected);
}

static gchar *
read_message (CuvControlMessage *self, JsonObject *object)
{
  const gsize i = find_action (text_of (object, "type"));

  self->id = id_of (object);
  self->control = text_of (object, "control");
  if (i == G_N_ELEMENTS (actions))
    return expected_types ();
  self->action = actions[i].action;
  return self->id == 0 ? g_strdup ("id must be a whole number above 0")
                       : read_members (self, object, i);
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
  self->root = cuv_json_parse_object (problem, MAX_MESSAGE_VALUES, &error);
  g_free (problem);
  if (self->root == NULL) {
    problem = g_strdup (error->message);
    g_error_free (error);
    return problem;
  }
  return read_message (self, json_node_get_object (self->root));
}

void
cuv_control_message_clear (CuvControlMessage *self)
{
  g_clear_pointer (&self->root, json_node_unref);
}
