/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "teach/example.h"

#include <math.h>
#include <string.h>

/* Sizes of a clipped box and of a part, in pixels. */
#define MIN_SIZE 2
#define MIN_PART 8
/* Beyond any frame, and exact as a float. */
#define MAX_PIXELS 1e6

/* ---- labels ---- */

gboolean
cuv_teach_is_label (const gchar *text)
{
  gsize n = 0;

  while (n <= CUV_TEACH_MAX_LABEL
      && (g_ascii_isalnum (text[n])
          || (text[n] != '\0' && strchr ("_-", text[n]) != NULL)))
    n++;
  return n > 0 && n <= CUV_TEACH_MAX_LABEL && text[n] == '\0';
}

gchar *
cuv_teach_label_problem (const gchar *text)
{
  return text != NULL && cuv_teach_is_label (text)
      ? NULL
      : g_strdup ("label must have 1 to " G_STRINGIFY (
          CUV_TEACH_MAX_LABEL) " of the characters A-Z a-z 0-9 _ -");
}

/* ---- parsing ---- */

static gboolean
read_pixels (JsonNode *node, gdouble *number)
{
  const GType type = json_node_get_value_type (node);

  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
    return FALSE;
  *number = json_node_get_double (node);
  return isfinite (*number) && fabs (*number) <= MAX_PIXELS;
}

static gboolean
read_box (JsonNode *node, CuvTeachBox *box)
{
  gdouble *const to[] = { &box->x, &box->y, &box->width, &box->height };
  JsonArray *array;

  if (!JSON_NODE_HOLDS_ARRAY (node))
    return FALSE;
  array = json_node_get_array (node);
  if (json_array_get_length (array) != G_N_ELEMENTS (to))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (to); i++)
    if (!read_pixels (json_array_get_element (array, i), to[i]))
      return FALSE;
  return box->width > 0 && box->height > 0;
}

static gboolean
read_boxes (CuvTeachExample *self, JsonNode *node)
{
  JsonArray *array;

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return FALSE;
  array = json_node_get_array (node);
  self->n_boxes = json_array_get_length (array);
  if (self->n_boxes > CUV_TEACH_MAX_BOXES)
    return FALSE;
  for (guint i = 0; i < self->n_boxes; i++)
    if (!read_box (json_array_get_element (array, i), &self->boxes[i]))
      return FALSE;
  return TRUE;
}

static gboolean
read_frame (CuvTeachExample *self, JsonNode *node)
{
  if (node == NULL || json_node_get_value_type (node) != G_TYPE_INT64)
    return FALSE;
  self->frame = json_node_get_int (node);
  return self->frame >= 0;
}

static gchar *
read_label (CuvTeachExample *self, JsonNode *node)
{
  const gchar *text =
      node != NULL && json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node)
      : NULL;
  gchar *problem = cuv_teach_label_problem (text);

  if (problem == NULL)
    g_strlcpy (self->label, text, sizeof self->label);
  return problem;
}

gchar *
cuv_teach_example_parse (CuvTeachExample *self, JsonNode *node)
{
  JsonObject *object = json_node_get_object (node);
  JsonNode *part = json_object_get_member (object, "part");

  *self = (CuvTeachExample){ 0 };
  if (json_object_get_size (object) != (part != NULL ? 4 : 3))
    return g_strdup (
        "example must have frame, label, boxes and, if only a part "
        "of the frame is meant, part");
  if (!read_frame (self, json_object_get_member (object, "frame")))
    return g_strdup ("frame must be a frame_num");
  if (!read_boxes (self, json_object_get_member (object, "boxes")))
    return g_strdup ("boxes must be a list of at most " G_STRINGIFY (
        CUV_TEACH_MAX_BOXES) " lists of x, y, width and height");
  if (part != NULL && !read_box (part, &self->part))
    return g_strdup ("part must be a list of x, y, width and height");
  return read_label (self, json_object_get_member (object, "label"));
}

/* ---- clipping ---- */

/* Clips a box to another one. Returns FALSE if less than size is left. */
static gboolean
clip (CuvTeachBox *box, const CuvTeachBox *to, gdouble size)
{
  const gdouble x = MAX (box->x, to->x), y = MAX (box->y, to->y);
  const gdouble right = MIN (box->x + box->width, to->x + to->width);
  const gdouble bottom = MIN (box->y + box->height, to->y + to->height);

  *box = (CuvTeachBox){ x, y, right - x, bottom - y };
  return box->width >= size && box->height >= size;
}

gchar *
cuv_teach_example_clip (CuvTeachExample *self, gint width, gint height)
{
  const CuvTeachBox frame = { 0, 0, width, height };
  const gboolean whole = self->part.width == 0;

  if (!whole && !clip (&self->part, &frame, MIN_PART))
    return g_strdup_printf ("part has less than %d pixels in the frame of %d x "
                            "%d",
        MIN_PART, width, height);
  for (guint i = 0; i < self->n_boxes; i++)
    if (!clip (&self->boxes[i], whole ? &frame : &self->part, MIN_SIZE))
      return g_strdup_printf ("box %u has less than %d pixels in the %s", i + 1,
          MIN_SIZE, whole ? "frame" : "part");
  return NULL;
}
