/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* { "images": [ { "id", "file_name" } ], "categories": [ { "id", "name" } ],
 *   "annotations": [ { "image_id", "category_id", "bbox": [ x, y, width, height
 * ], "iscrowd" } ] } */
#include "annotations.h"
#include "json.h"

enum { MAX_VALUES = 1 << 26 }; /* train2017.json has 50 million */

typedef struct {
  CuvAnnotations *annotations;
  GHashTable *images; /* id -> CuvAnnotated */
  GHashTable *labels; /* id -> interned name */
} Coco;

static gpointer
key_of (JsonObject *object, const gchar *member)
{
  return g_strdup_printf (
      "%" G_GINT64_FORMAT, cuv_json_integer (object, member, -1));
}

static gboolean
read_image (Coco *self, JsonObject *object, GError **error)
{
  const gchar *name = cuv_json_text (object, "file_name");

  if (name == NULL)
    return cuv_annotations_fail (error, "no file_name");
  g_hash_table_insert (self->images, key_of (object, "id"),
      cuv_annotations_picture (self->annotations, name, -1));
  return TRUE;
}

static gboolean
read_category (Coco *self, JsonObject *object, GError **error)
{
  const gchar *name = cuv_json_text (object, "name");

  if (name == NULL)
    return cuv_annotations_fail (error, "no name");
  g_hash_table_insert (
      self->labels, key_of (object, "id"), (gpointer) g_intern_string (name));
  return TRUE;
}

static gpointer
look_up (GHashTable *table, JsonObject *object, const gchar *member)
{
  gchar *key = key_of (object, member);
  gpointer found = g_hash_table_lookup (table, key);

  g_free (key);
  return found;
}

static gboolean
read_annotation (Coco *self, JsonObject *object, GError **error)
{
  CuvAnnotated *picture = look_up (self->images, object, "image_id");
  CuvAnnotation box = { .label = look_up (self->labels, object, "category_id"),
    .ignore = cuv_json_integer (object, "iscrowd", 0) != 0 };
  gdouble numbers[4];

  if (picture == NULL)
    return cuv_annotations_fail (error, "there is no image of its image_id");
  if (box.label == NULL)
    return cuv_annotations_fail (
        error, "there is no category of its category_id");
  if (!cuv_json_numbers (object, "bbox", numbers, 4))
    return cuv_annotations_fail (error, "bbox is no array of four numbers");
  box.x = numbers[0];
  box.y = numbers[1];
  box.width = numbers[2];
  box.height = numbers[3];
  return cuv_annotated_add (picture, &box, error);
}

static gboolean
read_all (Coco *self, JsonObject *root, const gchar *member,
    gboolean (*read) (Coco *self, JsonObject *object, GError **error),
    GError **error)
{
  JsonArray *array = cuv_json_array (root, member);
  gboolean ok = array != NULL
      || cuv_annotations_fail (error, "there is no array '%s'", member);

  for (guint i = 0; ok && i < json_array_get_length (array); i++) {
    JsonObject *object = cuv_json_object (json_array_get_element (array, i));

    ok = object != NULL ? read (self, object, error)
                        : cuv_annotations_fail (error, "no object");
    if (!ok)
      g_prefix_error (error, "%s[%u]: ", member, i);
  }
  return ok;
}

gboolean
cuv_read_coco (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  Coco coco = { self,
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
  JsonNode *node = cuv_json_parse_object (bytes, MAX_VALUES, error);
  JsonObject *root = cuv_json_object (node);
  gboolean ok = root != NULL
      && read_all (&coco, root, "images", read_image, error)
      && read_all (&coco, root, "categories", read_category, error)
      && read_all (&coco, root, "annotations", read_annotation, error);

  g_clear_pointer (&node, json_node_unref);
  g_hash_table_unref (coco.images);
  g_hash_table_unref (coco.labels);
  return ok;
}
