/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "teach/coco.h"

#include <math.h>
#include <string.h>

#include "cuvjsonreader.h"

/* Ids are stored in pointers and pairs of 64 bits. */
#define MAX_ID G_MAXINT32

/* ---- members ---- */

static gboolean
read_id (JsonObject *object, const gchar *name, gint64 *id)
{
  JsonNode *node = json_object_get_member (object, name);

  if (node == NULL || json_node_get_value_type (node) != G_TYPE_INT64)
    return FALSE;
  *id = json_node_get_int (node);
  return *id >= 0 && *id <= MAX_ID;
}

static gint64
get_id (JsonObject *object, const gchar *name)
{
  return json_object_get_int_member (object, name);
}

static gboolean
has_string (JsonObject *object, const gchar *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && json_node_get_value_type (node) == G_TYPE_STRING;
}

/* ---- reading ---- */

static gboolean
is_box (JsonNode *node)
{
  JsonArray *array;

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return FALSE;
  array = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (array); i++) {
    const GType type =
        json_node_get_value_type (json_array_get_element (array, i));

    if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
      return FALSE;
  }
  return json_array_get_length (array) == 4;
}

/* These return what was expected, or NULL. */
static const gchar *
read_image (CuvCoco *self, JsonObject *object)
{
  gint64 id;

  if (!read_id (object, "id", &id) || !has_string (object, "file_name"))
    return "a whole number id and a file_name";
  self->last_image = MAX (self->last_image, id);
  return NULL;
}

static const gchar *
read_annotation (CuvCoco *self, JsonObject *object)
{
  gint64 id = 0, image, category;

  if (!read_id (object, "image_id", &image)
      || !read_id (object, "category_id", &category)
      || !is_box (json_object_get_member (object, "bbox")))
    return "whole numbers image_id and category_id, and bbox of four numbers";
  if (json_object_has_member (object, "id") && !read_id (object, "id", &id))
    return "a whole number id";
  self->last_annotation = MAX (self->last_annotation, id);
  return NULL;
}

static const gchar *
read_category (CuvCoco *self, JsonObject *object)
{
  gint64 id;

  if (!read_id (object, "id", &id) || !has_string (object, "name"))
    return "a whole number id and a name";
  self->last_category = MAX (self->last_category, id);
  return NULL;
}

static gchar *
read_coco_list (CuvCoco *self, const gchar *name, JsonArray **list,
    const gchar *(*read) (CuvCoco *, JsonObject *) )
{
  JsonNode *node =
      json_object_get_member (json_node_get_object (self->root), name);

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return g_strdup_printf ("it has no list '%s'", name);
  *list = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (*list); i++) {
    JsonNode *element = json_array_get_element (*list, i);
    const gchar *expected = JSON_NODE_HOLDS_OBJECT (element)
        ? read (self, json_node_get_object (element))
        : "members";

    if (expected != NULL)
      return g_strdup_printf ("%s[%u] must have %s", name, i, expected);
  }
  return NULL;
}

gchar *
cuv_coco_parse (CuvCoco *self, const gchar *text)
{
  GError *error = NULL;
  gchar *problem;

  *self = (CuvCoco){ 0 };
  self->root = cuv_json_parse_object (text, CUV_JSON_MAX_VALUES, &error);
  if (self->root == NULL) {
    problem = g_strdup (error->message);
    g_error_free (error);
    return problem;
  }
  problem = read_coco_list (self, "images", &self->images, read_image);
  if (problem == NULL)
    problem = read_coco_list (
        self, "annotations", &self->annotations, read_annotation);
  if (problem == NULL)
    problem =
        read_coco_list (self, "categories", &self->categories, read_category);
  return problem;
}

void
cuv_coco_clear (CuvCoco *self)
{
  g_clear_pointer (&self->root, json_node_unref);
}

gint64
cuv_coco_image (const CuvCoco *self, guint i, const gchar **name)
{
  JsonObject *object = json_array_get_object_element (self->images, i);

  *name = json_object_get_string_member (object, "file_name");
  return get_id (object, "id");
}

/* ---- changing ---- */

gboolean
cuv_coco_has_room (const CuvCoco *self, guint n_boxes)
{
  return self->last_image < MAX_ID && self->last_category < MAX_ID
      && self->last_annotation + n_boxes <= MAX_ID;
}

gint64
cuv_coco_add_image (CuvCoco *self, const gchar *name, gint width, gint height)
{
  JsonObject *object = json_object_new ();

  json_object_set_int_member (object, "id", ++self->last_image);
  json_object_set_string_member (object, "file_name", name);
  json_object_set_int_member (object, "width", width);
  json_object_set_int_member (object, "height", height);
  json_array_add_object_element (self->images, object);
  return self->last_image;
}

static gint64
category_of (CuvCoco *self, const gchar *label)
{
  JsonObject *object;

  for (guint i = 0; i < json_array_get_length (self->categories); i++) {
    object = json_array_get_object_element (self->categories, i);
    if (g_str_equal (json_object_get_string_member (object, "name"), label))
      return get_id (object, "id");
  }
  object = json_object_new ();
  json_object_set_int_member (object, "id", ++self->last_category);
  json_object_set_string_member (object, "name", label);
  json_array_add_object_element (self->categories, object);
  return self->last_category;
}

static void
add_coordinate (JsonArray *array, gdouble number)
{
  if (rint (number) == number)
    json_array_add_int_element (array, (gint64) number);
  else
    json_array_add_double_element (array, number);
}

void
cuv_coco_add_box (
    CuvCoco *self, gint64 image, const gchar *label, const CuvTeachBox *box)
{
  JsonObject *object = json_object_new ();
  JsonArray *numbers = json_array_new ();

  add_coordinate (numbers, box->x);
  add_coordinate (numbers, box->y);
  add_coordinate (numbers, box->width);
  add_coordinate (numbers, box->height);
  json_object_set_int_member (object, "id", ++self->last_annotation);
  json_object_set_int_member (object, "image_id", image);
  json_object_set_int_member (object, "category_id", category_of (self, label));
  json_object_set_array_member (object, "bbox", numbers);
  json_object_set_double_member (object, "area", box->width * box->height);
  json_object_set_int_member (object, "iscrowd", 0);
  json_array_add_object_element (self->annotations, object);
}

static void
remove_objects (JsonArray *array, const gchar *member, gint64 id)
{
  for (guint i = json_array_get_length (array); i > 0; i--)
    if (get_id (json_array_get_object_element (array, i - 1), member) == id)
      json_array_remove_element (array, i - 1);
}

void
cuv_coco_remove_boxes (CuvCoco *self, gint64 image)
{
  remove_objects (self->annotations, "image_id", image);
}

void
cuv_coco_remove_image (CuvCoco *self, gint64 image)
{
  remove_objects (self->images, "id", image);
  cuv_coco_remove_boxes (self, image);
}

/* ---- counting ---- */

static gint
compare_counts (gconstpointer a, gconstpointer b)
{
  return strcmp (
      ((const CuvTeachCount *) a)->label, ((const CuvTeachCount *) b)->label);
}

/* Returns the counts of valid labels, all 0, and their indices + 1 by id. */
static GArray *
new_counts (const CuvCoco *self, GHashTable *by_id)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (CuvTeachCount));

  for (guint i = 0; i < json_array_get_length (self->categories); i++) {
    JsonObject *object = json_array_get_object_element (self->categories, i);
    const CuvTeachCount count = {
      json_object_get_string_member (object, "name"), 0, 0
    };

    if (!cuv_teach_is_label (count.label))
      continue;
    g_array_append_val (counts, count);
    g_hash_table_insert (by_id, GINT_TO_POINTER (get_id (object, "id")),
        GUINT_TO_POINTER (counts->len));
  }
  return counts;
}

static void
count_boxes (
    const CuvCoco *self, GArray *counts, GHashTable *by_id, GHashTable *marked)
{
  GHashTable *pairs = g_hash_table_new_full (
      g_int64_hash, g_int64_equal, g_free, NULL); /* image and category */

  for (guint i = 0; i < json_array_get_length (self->annotations); i++) {
    JsonObject *object = json_array_get_object_element (self->annotations, i);
    const gint64 image = get_id (object, "image_id");
    const gint64 category = get_id (object, "category_id");
    const gint64 pair = image << 31 | category;
    const guint index = GPOINTER_TO_UINT (
        g_hash_table_lookup (by_id, GINT_TO_POINTER (category)));

    g_hash_table_add (marked, GINT_TO_POINTER (image));
    if (index == 0)
      continue;
    g_array_index (counts, CuvTeachCount, index - 1).boxes++;
    if (g_hash_table_add (pairs, g_memdup2 (&pair, sizeof pair)))
      g_array_index (counts, CuvTeachCount, index - 1).pictures++;
  }
  g_hash_table_unref (pairs);
}

GArray *
cuv_coco_count (const CuvCoco *self, guint *without_boxes)
{
  GHashTable *by_id = g_hash_table_new (NULL, NULL);
  GHashTable *marked = g_hash_table_new (NULL, NULL); /* ids of images */
  GArray *counts = new_counts (self, by_id);

  count_boxes (self, counts, by_id, marked);
  g_array_sort (counts, compare_counts);
  *without_boxes = 0;
  for (guint i = 0; i < json_array_get_length (self->images); i++) {
    JsonObject *object = json_array_get_object_element (self->images, i);

    *without_boxes += !g_hash_table_contains (
        marked, GINT_TO_POINTER (get_id (object, "id")));
  }
  g_hash_table_unref (by_id);
  g_hash_table_unref (marked);
  return counts;
}

/* ---- writing ---- */

gchar *
cuv_coco_write (const CuvCoco *self)
{
  return json_to_string (self->root, FALSE);
}

/* Adds the objects of a list whose member is not in the set. */
static void
add_list (JsonObject *to, const gchar *name, JsonArray *from,
    const gchar *member, GHashTable *without)
{
  JsonArray *list = json_array_new ();

  for (guint i = 0; i < json_array_get_length (from); i++) {
    JsonNode *node = json_array_get_element (from, i);
    const gint64 id = get_id (json_node_get_object (node), member);

    if (without == NULL
        || !g_hash_table_contains (without, GINT_TO_POINTER (id)))
      json_array_add_element (list, json_node_copy (node));
  }
  json_object_set_array_member (to, name, list);
}

gchar *
cuv_coco_write_without (const CuvCoco *self, GHashTable *images)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  gchar *text;

  json_node_take_object (node, object);
  add_list (object, "images", self->images, "id", images);
  add_list (object, "annotations", self->annotations, "image_id", images);
  add_list (object, "categories", self->categories, "id", NULL);
  text = json_to_string (node, FALSE);
  json_node_unref (node);
  return text;
}
