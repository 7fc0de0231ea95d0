/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads JSON and CSV of the VGG Image Annotator. JSON: { KEY: { "filename",
 * "regions": [ { "shape_attributes": SHAPE, "region_attributes": ATTRIBUTES } ]
 * } }, in a project below "_via_img_metadata". CSV: one region per row, with
 * SHAPE and ATTRIBUTES as JSON. SHAPE: { "name": "rect", "x", "y", "width",
 * "height" }, or other names and members. The label is the first attribute that
 * is a text.
 */
#include "csv.h"
#include "json.h"

/* ---- regions ---- */

static const gchar *
via_label (GStringChunk *labels, JsonObject *attributes)
{
  const gchar *label = NULL;
  GList *names =
      attributes != NULL ? json_object_get_members (attributes) : NULL;

  for (GList *name = names; label == NULL && name != NULL; name = name->next)
    label = cuv_json_text (attributes, name->data);
  g_list_free (names);
  return cuv_annotations_label (labels, label);
}

static gboolean
via_read_polygon (JsonObject *shape, CuvAnnotation *box)
{
  JsonArray *xs = cuv_json_array (shape, "all_points_x");
  const guint n = xs != NULL ? json_array_get_length (xs) : 0;
  gdouble *x = g_new (gdouble, n + 1), *y = g_new (gdouble, n + 1);
  const gboolean ok = n > 0 && cuv_json_numbers (shape, "all_points_x", x, n)
      && cuv_json_numbers (shape, "all_points_y", y, n);
  CuvExtent extent = { 0 };

  for (guint i = 0; ok && i < n; i++)
    cuv_extent_add (&extent, x[i], y[i]);
  cuv_extent_to_box (&extent, box);
  g_free (x);
  g_free (y);
  return ok;
}

/* Reads a circle, which has r, or an ellipse, which has rx and ry. */
static gboolean
read_ellipse (JsonObject *shape, CuvAnnotation *box)
{
  gdouble x, y, rx, ry;

  if (!cuv_json_number (shape, "cx", &x) || !cuv_json_number (shape, "cy", &y))
    return FALSE;
  if (cuv_json_number (shape, "r", &rx))
    ry = rx;
  else if (!cuv_json_number (shape, "rx", &rx)
      || !cuv_json_number (shape, "ry", &ry))
    return FALSE;
  *box = (CuvAnnotation){ x - rx, y - ry, 2 * rx, 2 * ry, box->label,
    box->ignore };
  return TRUE;
}

static gboolean
read_rectangle (JsonObject *shape, CuvAnnotation *box)
{
  return cuv_json_number (shape, "x", &box->x)
      && cuv_json_number (shape, "y", &box->y)
      && cuv_json_number (shape, "width", &box->width)
      && cuv_json_number (shape, "height", &box->height);
}

static gboolean
add_region (CuvAnnotated *picture, JsonObject *shape, JsonObject *attributes,
    GError **error)
{
  const gchar *name = cuv_json_text (shape, "name");
  CuvAnnotation box = { .label = via_label (picture->labels, attributes) };
  gboolean ok;

  if (name == NULL)
    return cuv_annotations_fail (error, "a shape has no name");
  if (g_str_equal (name, "rect"))
    ok = read_rectangle (shape, &box);
  else if (g_str_equal (name, "polygon"))
    ok = via_read_polygon (shape, &box);
  else if (g_str_equal (name, "circle") || g_str_equal (name, "ellipse"))
    ok = read_ellipse (shape, &box);
  else
    ok = TRUE; /* a point or line */
  return ok ? cuv_annotated_add (picture, &box, error)
            : cuv_annotations_fail (error, "a %.40s lacks coordinates", name);
}

/* ---- JSON ---- */

static gboolean
read_region (CuvAnnotated *picture, JsonNode *node, GError **error)
{
  JsonObject *region = cuv_json_object (node), *shape = NULL;

  if (region != NULL)
    shape =
        cuv_json_object (json_object_get_member (region, "shape_attributes"));
  if (shape == NULL)
    return cuv_annotations_fail (error, "a region has no shape_attributes");
  return add_region (picture, shape,
      cuv_json_object (json_object_get_member (region, "region_attributes")),
      error);
}

/* Returns the regions, which VIA 1 writes as an object, later versions as an
 * array. */
static GList *
regions_of (JsonObject *file)
{
  JsonNode *node = json_object_get_member (file, "regions");

  if (node != NULL && JSON_NODE_HOLDS_ARRAY (node))
    return json_array_get_elements (json_node_get_array (node));
  return node != NULL && JSON_NODE_HOLDS_OBJECT (node)
      ? json_object_get_values (json_node_get_object (node))
      : NULL;
}

static gboolean
read_file (CuvAnnotations *self, JsonObject *file, GError **error)
{
  const gchar *path = file != NULL ? cuv_json_text (file, "filename") : NULL;
  CuvAnnotated *picture;
  GList *regions;
  gboolean ok = TRUE;

  if (path == NULL)
    return cuv_annotations_fail (error, "no filename");
  picture = cuv_annotations_picture (self, path, -1);
  regions = regions_of (file);
  for (GList *region = regions; ok && region != NULL; region = region->next)
    ok = read_region (picture, region->data, error);
  g_list_free (regions);
  return ok;
}

static gboolean
read_files (CuvAnnotations *self, JsonObject *root, GError **error)
{
  JsonObject *inner =
      cuv_json_object (json_object_get_member (root, "_via_img_metadata"));
  JsonObject *files = inner != NULL ? inner : root;
  GList *names = json_object_get_members (files);
  gboolean ok = TRUE;

  for (GList *name = names; ok && name != NULL; name = name->next) {
    ok = read_file (self,
        cuv_json_object (json_object_get_member (files, name->data)), error);
    if (!ok)
      g_prefix_error (error, "%s: ", (const gchar *) name->data);
  }
  g_list_free (names);
  return ok;
}

gboolean
cuv_read_via_json (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  JsonNode *node = cuv_json_parse_object (bytes, CUV_JSON_MAX_VALUES, error);
  const gboolean ok =
      node != NULL && read_files (self, json_node_get_object (node), error);

  g_clear_pointer (&node, json_node_unref);
  return ok;
}

/* ---- CSV ---- */

enum { FILE_NAME, SHAPE, ATTRIBUTES, N_COLUMNS };

static const gchar *const columns[N_COLUMNS] = { "filename",
  "region_shape_attributes", "region_attributes" };

/* Reads a row. A picture without regions has an empty shape. */
static gboolean
via_read_row (CuvAnnotations *self, const gchar *const *words, GError **error)
{
  JsonNode *shape = cuv_json_parse_object (words[SHAPE], 1 << 16, error);
  JsonNode *attributes = shape != NULL
      ? cuv_json_parse_object (words[ATTRIBUTES], 1 << 16, error)
      : NULL;
  gboolean ok = attributes != NULL;
  CuvAnnotated *picture = cuv_annotations_picture (self, words[FILE_NAME], -1);

  if (ok && json_object_get_size (json_node_get_object (shape)) > 0)
    ok = add_region (picture, json_node_get_object (shape),
        json_node_get_object (attributes), error);
  g_clear_pointer (&shape, json_node_unref);
  g_clear_pointer (&attributes, json_node_unref);
  return ok;
}

gboolean
cuv_read_via_csv (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  static const CuvCsvTable table = { columns, N_COLUMNS, N_COLUMNS,
    via_read_row };

  return cuv_csv_read (self, bytes, &table, error);
}
