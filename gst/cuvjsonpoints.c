/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvjsonpoints.h"

#include <math.h>
#include <string.h>

gdouble
cuv_json_number (JsonNode *node)
{
  const GType type = JSON_NODE_HOLDS_VALUE (node)
      ? json_node_get_value_type (node)
      : G_TYPE_INVALID;

  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE
      ? json_node_get_double (node)
      : NAN;
}

gchar *
cuv_json_read_units (JsonObject *object, gboolean *normalized)
{
  JsonNode *node = json_object_get_member (object, "units");
  const gchar *text = node == NULL ? "normalized"
      : JSON_NODE_HOLDS_VALUE (node)
          && json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node)
      : "";

  *normalized = strcmp (text, "normalized") == 0;
  return *normalized || strcmp (text, "pixels") == 0
      ? NULL
      : g_strdup ("\"units\" must be \"normalized\" or \"pixels\"");
}

static gchar *
check_coordinate (gdouble value, gboolean normalized)
{
  const gdouble most = normalized ? 2 : 1 << 20;
  const gdouble least = normalized ? -1 : -most;

  return value >= least && value <= most
      ? NULL
      : g_strdup_printf ("coordinate %g is not from %g to %g%s", value, least,
          most, normalized ? "; for pixels add \"units\": \"pixels\"" : "");
}

static gchar *
read_point (JsonNode *node, gboolean normalized, guint number, GArray *points)
{
  JsonArray *pair =
      JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  CuvJsonPoint point = { NAN, NAN };
  gchar *problem;

  if (pair != NULL && json_array_get_length (pair) == 2)
    point = (CuvJsonPoint){ cuv_json_number (json_array_get_element (pair, 0)),
      cuv_json_number (json_array_get_element (pair, 1)) };
  if (isnan (point.x) || isnan (point.y))
    return g_strdup_printf ("point %u is not a pair of numbers [x, y]", number);
  g_array_append_val (points, point);
  problem = check_coordinate (point.x, normalized);
  return problem != NULL ? problem : check_coordinate (point.y, normalized);
}

static gchar *
read_points (JsonNode *node, gboolean normalized, guint least, guint most,
    const gchar *expected, GArray *points)
{
  JsonArray *list =
      JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  const guint n = list != NULL ? json_array_get_length (list) : 0;
  gchar *problem = NULL;

  if (n < least || n > most)
    return g_strdup (expected);
  for (guint i = 0; problem == NULL && i < n; i++)
    problem = read_point (
        json_array_get_element (list, i), normalized, i + 1, points);
  return problem;
}

gchar *
cuv_json_read_polygon (JsonNode *node, gboolean normalized, GArray *points)
{
  return read_points (node, normalized, 3, CUV_JSON_MAX_POINTS,
      "a polygon has 3 to " G_STRINGIFY (
          CUV_JSON_MAX_POINTS) " points, as in [[0, 0], [1, 0], [1, 1]]",
      points);
}

gchar *
cuv_json_read_line (JsonNode *node, gboolean normalized, GArray *points)
{
  return read_points (node, normalized, 2, 2,
      "a line has two points, as in [[0, 0.5], [1, 0.5]]", points);
}

gint32
cuv_json_place (gdouble value, gboolean normalized, gint length)
{
  return (gint32) floor (
      value * (normalized ? length : 1) * CUV_JSON_POINT_SCALE + 0.5);
}
