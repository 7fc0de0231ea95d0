/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What visionpublish writes: objects of the frames of a film, whose path is the
 * record's source, if it has one. */
#include "annotations.h"
#include "json.h"

#include <string.h>

/* ---- JSON lines ---- */

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
  if (cuv_json_text (object, "roi_type") != NULL)
    box.label = g_intern_string (cuv_json_text (object, "roi_type"));
  return cuv_annotated_add (picture, &box, error);
}

static gboolean
read_record (CuvAnnotations *self, JsonObject *record, GError **error)
{
  const gint64 frame = cuv_json_integer (record, "frame_num", -1);
  const gchar *source = cuv_json_text (record, "source");
  JsonArray *objects = cuv_json_array (record, "objects");
  const guint n = objects != NULL ? json_array_get_length (objects) : 0;
  CuvAnnotated *picture;

  if (frame < 0)
    return cuv_annotations_fail (error, "no frame_num");
  picture = cuv_annotations_picture (self, source ? source : "", frame);
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
  gboolean ok = record != NULL && read_record (self, record, error);

  g_clear_pointer (&node, json_node_unref);
  return ok;
}

gboolean
cuv_read_json_lines (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  gchar **lines = g_strsplit (bytes, "\n", 0);
  gboolean ok = TRUE;

  for (guint i = 0; ok && lines[i] != NULL; i++) {
    ok = *g_strstrip (lines[i]) == '\0'
        || read_json_line (self, lines[i], error);
    if (!ok)
      g_prefix_error (error, "line %u: ", i + 1);
  }
  g_strfreev (lines);
  return ok;
}

/* ---- CSV, RFC 4180 ---- */

/* The fields of the row at *at, which moves behind it. */
static GPtrArray *
next_row (const gchar **at)
{
  GPtrArray *row = g_ptr_array_new_with_free_func (g_free);
  GString *field = g_string_new (NULL);
  gboolean quoted = FALSE;
  const gchar *c = *at;

  for (; *c != '\0' && (quoted || *c != '\n'); c++) {
    if (*c == '"' && quoted && c[1] == '"')
      g_string_append_c (field, *c++);
    else if (*c == '"')
      quoted = !quoted;
    else if (*c == ',' && !quoted) {
      g_ptr_array_add (row, g_strdup (field->str));
      g_string_truncate (field, 0);
    } else if (*c != '\r' || quoted)
      g_string_append_c (field, *c);
  }
  g_ptr_array_add (row, g_string_free (field, FALSE));
  *at = *c == '\n' ? c + 1 : c;
  return row;
}

/* The columns in this order; the header says where they are. */
enum { KIND, FRAME, SOURCE, TYPE, X, Y, W, H, N_COLUMNS };

static const gchar *const columns[N_COLUMNS] = { "kind", "frame_num", "source",
  "roi_type", "x", "y", "w", "h" };

static gboolean
find_columns (GPtrArray *header, guint *places, GError **error)
{
  for (guint i = 0; i < N_COLUMNS; i++) {
    if (!g_ptr_array_find_with_equal_func (
            header, columns[i], g_str_equal, &places[i]))
      return cuv_annotations_fail (
          error, "the header has no column %s", columns[i]);
  }
  return TRUE;
}

static gboolean
read_row (
    CuvAnnotations *self, GPtrArray *row, const guint *places, GError **error)
{
  const gchar *words[N_COLUMNS];
  CuvAnnotation box = { 0 };
  gdouble *numbers[] = { &box.x, &box.y, &box.width, &box.height };
  CuvAnnotated *picture;
  guint64 frame;

  for (guint i = 0; i < N_COLUMNS; i++) {
    if (places[i] >= row->len)
      return cuv_annotations_fail (error, "no %s", columns[i]);
    words[i] = row->pdata[places[i]];
  }
  if (!g_ascii_string_to_unsigned (
          words[FRAME], 10, 0, G_MAXINT64, &frame, NULL))
    return cuv_annotations_fail (
        error, "frame_num '%.40s' is no number", words[FRAME]);
  picture = cuv_annotations_picture (self, words[SOURCE], (gint64) frame);
  if (!g_str_equal (words[KIND], "object"))
    return TRUE;
  for (guint i = 0; i < 4; i++) {
    if (!cuv_annotations_number (words[X + i], numbers[i]))
      return cuv_annotations_fail (
          error, "%s '%.40s' is no number", columns[X + i], words[X + i]);
  }
  box.label = g_intern_string (words[TYPE]);
  return cuv_annotated_add (picture, &box, error);
}

gboolean
cuv_read_csv (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  GPtrArray *row = next_row (&bytes);
  guint places[N_COLUMNS], n = 1;
  gboolean ok = find_columns (row, places, error);

  g_ptr_array_unref (row);
  while (ok && *bytes != '\0') {
    row = next_row (&bytes);
    n++;
    ok = (row->len == 1 && *(gchar *) row->pdata[0] == '\0')
        || read_row (self, row, places, error);
    if (!ok)
      g_prefix_error (error, "row %u: ", n);
    g_ptr_array_unref (row);
  }
  return ok;
}
