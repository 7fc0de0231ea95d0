/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads JSON lines of visionpublish: objects in frames of a video, whose path
 * is the record's `source`. */
#include "json.h"

#include <string.h>

static gboolean
read_object (CuvAnnotated *picture, JsonNode *node, GError **error)
{
  static const gchar *const names[] = { "x", "y", "w", "h" };
  JsonObject *object = cuv_json_object (node);
  CuvAnnotation box = { .label = "" };
  gdouble *numbers[] = { &box.x, &box.y, &box.width, &box.height };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (object == NULL || !cuv_json_number (object, names[i], numbers[i]))
      return cuv_annotations_fail (error, "an object has no %s", names[i]);
  }
  box.label = cuv_annotations_label (
      picture->labels, cuv_json_text (object, "roi_type"));
  return cuv_annotated_add (picture, &box, error);
}

static gboolean
records_read_line (CuvAnnotations *self, JsonObject *record, GError **error)
{
  const gint64 frame = cuv_json_integer (record, "frame_num", -1);
  const gchar *source = cuv_json_text (record, "source");
  JsonObject *resolution =
      cuv_json_object (json_object_get_member (record, "resolution"));
  JsonArray *objects = cuv_json_array (record, "objects");
  const guint n = objects != NULL ? json_array_get_length (objects) : 0;
  CuvAnnotated *picture;

  if (frame < 0)
    return cuv_annotations_fail (error, "no frame_num");
  picture = cuv_annotations_picture (self, source ? source : "", frame);
  if (resolution != NULL)
    cuv_json_size (resolution, "width", "height", picture);
  for (guint i = 0; i < n; i++) {
    if (!read_object (picture, json_array_get_element (objects, i), error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_json_line (CuvAnnotations *self, const gchar *line, GError **error)
{
  JsonNode *node = cuv_json_parse_object (line, CUV_JSON_MAX_VALUES, error);
  JsonObject *record = cuv_json_object (node);
  gboolean ok = record != NULL && records_read_line (self, record, error);

  g_clear_pointer (&node, json_node_unref);
  return ok;
}

gboolean
cuv_read_json_lines (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  gboolean ok = TRUE;
  gchar *line;

  for (guint i = 1; ok && (line = cuv_annotations_line (&bytes)) != NULL; i++) {
    ok = *g_strstrip (line) == '\0' || read_json_line (self, line, error);
    if (!ok)
      g_prefix_error (error, "line %u: ", i);
    g_free (line);
  }
  return ok;
}
