/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads COCO's JSON:
 * { "images": [ { "id", "file_name", "width", "height" } ],
 *   "categories": [ { "id", "name" } ],
 *   "annotations": [ { "image_id", "category_id", "iscrowd",
 *                      "bbox": [ x, y, width, height ] } ] } */
#include "json.h"

enum { MAX_VALUES = 1 << 26 }; /* train2017.json has 50 million */

typedef struct {
  CuvAnnotations *annotations;
  GHashTable *images;  /* id, as text -> CuvAnnotated */
  GHashTable *labels;  /* id -> name */
  gboolean has_labels; /* otherwise ids are the labels */
} Coco;

/* Returns an id as text: some programs write strings, or strings in one place
 * and numbers in another. Returns NULL if the member is neither. */
static gchar *
key_of (JsonObject *object, const gchar *member)
{
  const gchar *text = cuv_json_text (object, member);
  gdouble number;

  if (text != NULL)
    return g_strdup (text);
  if (!cuv_json_number (object, member, &number))
    return NULL;
  return g_strdup_printf (
      "%" G_GINT64_FORMAT, cuv_json_integer (object, member, 0));
}

static gboolean
insert (GHashTable *table, JsonObject *object, gpointer value, GError **error)
{
  gchar *key = key_of (object, "id");

  if (key == NULL)
    return cuv_annotations_fail (error, "no id");
  g_hash_table_insert (table, key, value);
  return TRUE;
}

static gboolean
read_image (Coco *self, JsonObject *object, GError **error)
{
  const gchar *name = cuv_json_text (object, "file_name");
  CuvAnnotated *picture;

  if (name == NULL)
    return cuv_annotations_fail (error, "no file_name");
  picture = cuv_annotations_picture (self->annotations, name, -1);
  cuv_json_size (object, "width", "height", picture);
  return insert (self->images, object, picture, error);
}

static gboolean
read_category (Coco *self, JsonObject *object, GError **error)
{
  const gchar *name = cuv_json_text (object, "name");

  if (name == NULL)
    return cuv_annotations_fail (error, "no name");
  return insert (self->labels, object,
      (gpointer) cuv_annotations_label (self->annotations->labels, name),
      error);
}

static gboolean
read_bbox (JsonObject *object, CuvAnnotation *box, GError **error)
{
  JsonArray *array = cuv_json_array (object, "bbox");
  gdouble n[4] = { 0 };

  if (array != NULL && json_array_get_length (array) == 0)
    return TRUE; /* an object without a box */
  if (!cuv_json_numbers (object, "bbox", n, 4))
    return cuv_annotations_fail (
        error, "bbox must be an array of four numbers");
  box->x = n[0];
  box->y = n[1];
  box->width = n[2];
  box->height = n[3];
  return TRUE;
}

static gboolean
read_annotation (Coco *self, JsonObject *object, GError **error)
{
  gchar *image = key_of (object, "image_id");
  gchar *category = key_of (object, "category_id");
  CuvAnnotated *picture =
      image != NULL ? g_hash_table_lookup (self->images, image) : NULL;
  CuvAnnotation box = { .ignore =
                            cuv_json_integer (object, "iscrowd", 0) != 0 };

  if (category != NULL)
    box.label = self->has_labels
        ? g_hash_table_lookup (self->labels, category)
        : cuv_annotations_label (self->annotations->labels, category);
  g_free (image);
  g_free (category);
  if (picture == NULL)
    return cuv_annotations_fail (error, "no image has its image_id");
  if (box.label == NULL)
    return cuv_annotations_fail (error, "no category has its category_id");
  return read_bbox (object, &box, error)
      && cuv_annotated_add (picture, &box, error);
}

static gboolean
coco_read_array (Coco *self, JsonObject *root, const gchar *member,
    gboolean (*read) (Coco *self, JsonObject *object, GError **error),
    GError **error)
{
  JsonArray *array = cuv_json_array (root, member);
  gboolean ok =
      array != NULL || cuv_annotations_fail (error, "no array '%s'", member);

  for (guint i = 0; ok && i < json_array_get_length (array); i++) {
    JsonObject *object = cuv_json_object (json_array_get_element (array, i));

    ok = object != NULL ? read (self, object, error)
                        : cuv_annotations_fail (error, "not an object");
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
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL), FALSE };
  JsonNode *node = cuv_json_parse_object (bytes, MAX_VALUES, error);
  JsonObject *root = cuv_json_object (node);
  gboolean ok = root != NULL
      && coco_read_array (&coco, root, "images", read_image, error);

  coco.has_labels = ok && json_object_has_member (root, "categories");
  ok = ok
      && (!coco.has_labels
          || coco_read_array (&coco, root, "categories", read_category, error))
      && coco_read_array (&coco, root, "annotations", read_annotation, error);
  g_clear_pointer (&node, json_node_unref);
  g_hash_table_unref (coco.images);
  g_hash_table_unref (coco.labels);
  return ok;
}
