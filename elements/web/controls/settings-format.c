/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "controls/settings-format.h"

#include <string.h>
#include "controls/message.h"
#include "cuvjsonreader.h"

/* Values in a file, those in lists included. */
#define MAX_VALUES 8192

static gchar *
check_members (JsonObject *root)
{
  JsonNode *version = json_object_get_member (root, "visionwebsink");
  JsonNode *values = json_object_get_member (root, "values");

  if (version == NULL || json_node_get_value_type (version) != G_TYPE_INT64
      || json_node_get_int (version) != CUV_CONTROL_SETTINGS_VERSION)
    return g_strdup ("it must have \"visionwebsink\": 1, the version of the "
                     "format");
  if (values == NULL || !JSON_NODE_HOLDS_OBJECT (values))
    return g_strdup ("it must have \"values\", an object");
  return json_object_get_size (root) == 2
      ? NULL
      : g_strdup ("it must have visionwebsink and values only");
}

static gchar *
check_values (JsonObject *values)
{
  JsonObjectIter at;
  const gchar *name;
  JsonNode *node;

  json_object_iter_init (&at, values);
  while (json_object_iter_next (&at, &name, &node))
    if (!cuv_control_is_value (node))
      return g_strdup_printf ("%s must be a number, a text, true, false or a "
                              "list of texts",
          name);
  return NULL;
}

JsonObject *
cuv_control_settings_parse (const gchar *text, gsize size, gchar **problem)
{
  GError *error = NULL;
  JsonNode *root = NULL;
  JsonObject *values = NULL;

  *problem = NULL;
  if (strlen (text) != size)
    *problem = g_strdup ("it has a zero byte");
  else if ((root = cuv_json_parse_object (text, MAX_VALUES, &error)) == NULL)
    *problem = g_strdup (error->message);
  else
    *problem = check_members (json_node_get_object (root));
  if (*problem == NULL) {
    values =
        json_object_get_object_member (json_node_get_object (root), "values");
    *problem = check_values (values);
  }
  values = *problem == NULL ? json_object_ref (values) : NULL;
  g_clear_error (&error);
  g_clear_pointer (&root, json_node_unref);
  return values;
}
