/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads LabelMe's JSON, a file per picture: { "imagePath", "imageWidth",
 * "imageHeight", "shapes": [ { "label", "shape_type", "points": [ [ x, y ], ..
 * ] } ] }. Rectangles have two corners in any order, circles their centre and a
 * point on them. */
#include <math.h>

#include "json.h"

static gboolean
read_points (JsonArray *points, CuvExtent *extent, GError **error)
{
  const guint n = points != NULL ? json_array_get_length (points) : 0;

  for (guint i = 0; i < n; i++) {
    gdouble x, y;

    if (!cuv_json_point (json_array_get_element (points, i), &x, &y))
      return cuv_annotations_fail (error, "a point must be two numbers");
    cuv_extent_add (extent, x, y);
  }
  return n > 0 || cuv_annotations_fail (error, "no points");
}

static gboolean
read_circle (JsonArray *points, CuvExtent *extent, GError **error)
{
  gdouble x, y, x2, y2, radius;

  if (points == NULL || json_array_get_length (points) != 2
      || !cuv_json_point (json_array_get_element (points, 0), &x, &y)
      || !cuv_json_point (json_array_get_element (points, 1), &x2, &y2))
    return cuv_annotations_fail (
        error, "a circle must have its centre and a point on it");
  radius = hypot (x2 - x, y2 - y);
  cuv_extent_add (extent, x - radius, y - radius);
  cuv_extent_add (extent, x + radius, y + radius);
  return TRUE;
}

static gboolean
read_shape (CuvAnnotated *picture, JsonObject *shape, GError **error)
{
  static const gchar *const areas[] = { "rectangle", "polygon", "circle",
    "mask", NULL };
  const gchar *type = cuv_json_text (shape, "shape_type");
  const gchar *label = cuv_json_text (shape, "label");
  JsonArray *points = cuv_json_array (shape, "points");
  CuvAnnotation box = { .label =
                            cuv_annotations_label (picture->labels, label) };
  CuvExtent extent = { 0 };

  if (type == NULL)
    type = "polygon";
  if (!g_strv_contains (areas, type)) {
    picture->n_empty++;
    return TRUE;
  }
  if (g_str_equal (type, "circle") ? !read_circle (points, &extent, error)
                                   : !read_points (points, &extent, error))
    return FALSE;
  cuv_extent_to_box (&extent, &box);
  return cuv_annotated_add (picture, &box, error);
}

static gboolean
read_shapes (CuvAnnotations *self, JsonObject *root, GError **error)
{
  const gchar *path = cuv_json_text (root, "imagePath");
  JsonArray *shapes = cuv_json_array (root, "shapes");
  CuvAnnotated *picture =
      cuv_annotations_picture (self, path != NULL ? path : "", -1);
  gboolean ok =
      shapes != NULL || cuv_annotations_fail (error, "no array 'shapes'");

  cuv_json_size (root, "imageWidth", "imageHeight", picture);
  for (guint i = 0; ok && i < json_array_get_length (shapes); i++) {
    JsonObject *shape = cuv_json_object (json_array_get_element (shapes, i));

    ok = shape != NULL ? read_shape (picture, shape, error)
                       : cuv_annotations_fail (error, "not an object");
    if (!ok)
      g_prefix_error (error, "shapes[%u]: ", i);
  }
  return ok;
}

gboolean
cuv_read_labelme (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  JsonNode *node = cuv_json_parse_object (bytes, CUV_JSON_MAX_VALUES, error);
  const gboolean ok =
      node != NULL && read_shapes (self, json_node_get_object (node), error);

  g_clear_pointer (&node, json_node_unref);
  return ok;
}
