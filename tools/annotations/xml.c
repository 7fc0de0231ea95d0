/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pascal VOC: <annotation><filename/><object><name/><difficult/><bndbox><xmin/>
 * <ymin/><xmax/><ymax/></bndbox></object></annotation>; pixels count from 1,
 * and those of xmax and ymax belong to the box. dlib: <dataset><images><image
 * file><box top left width height [ignore]>
 * <label/></box></image></images></dataset>. */
#include "annotations.h"

#include <string.h>

typedef struct {
  CuvAnnotations *annotations;
  CuvAnnotated *picture;
  GString *text;
  CuvAnnotation box;
  gdouble sides[4]; /* VOC: xmin ymin xmax ymax */
  guint seen;       /* VOC: a bit for each side */
  gboolean in_object;
} Reader;

static gboolean
parse (CuvAnnotations *annotations, const gchar *bytes, gsize size,
    const GMarkupParser *parser, GError **error)
{
  Reader self = { .annotations = annotations, .text = g_string_new (NULL) };
  GMarkupParseContext *context = g_markup_parse_context_new (
      parser, G_MARKUP_TREAT_CDATA_AS_TEXT, &self, NULL);
  GError *problem = NULL;
  gint line;
  gboolean ok = g_markup_parse_context_parse (
                    context, bytes, (gssize) strlen (bytes), &problem)
      && g_markup_parse_context_end_parse (context, &problem);

  g_markup_parse_context_get_position (context, &line, NULL);
  if (!ok)
    cuv_annotations_fail (error, "line %d: %s", line, problem->message);
  g_clear_error (&problem);
  g_markup_parse_context_free (context);
  g_string_free (self.text, TRUE);
  return ok;
}

static void
add_text (GMarkupParseContext *context, const gchar *text, gsize size,
    gpointer data, GError **error)
{
  Reader *self = data;

  g_string_append_len (self->text, text, (gssize) size);
}

/* Where GMarkup passes an error on, it frees ours. */
static gboolean
number_of (
    const gchar *name, const gchar *text, gdouble *number, GError **error)
{
  return cuv_annotations_number (text, number)
      || cuv_annotations_fail (error, "%s '%.40s' is no number", name, text);
}

/* ---- Pascal VOC ---- */

static const gchar *const sides[] = { "xmin", "ymin", "xmax", "ymax" };

static void
begin_voc (GMarkupParseContext *context, const gchar *name, const gchar **names,
    const gchar **values, gpointer data, GError **error)
{
  Reader *self = data;

  g_string_truncate (self->text, 0);
  if (g_str_equal (name, "object")) {
    self->in_object = TRUE;
    self->box = (CuvAnnotation){ .label = "" };
    self->seen = 0;
  }
}

static void
end_object (Reader *self, GError **error)
{
  const gdouble *s = self->sides;

  self->in_object = FALSE;
  if (self->seen != 15) {
    cuv_annotations_fail (error,
        "an object has no box of xmin, ymin, xmax "
        "and ymax");
    return;
  }
  if (self->picture == NULL)
    self->picture = cuv_annotations_picture (self->annotations, "", -1);
  self->box.x = s[0] - 1;
  self->box.y = s[1] - 1;
  self->box.width = s[2] - s[0] + 1;
  self->box.height = s[3] - s[1] + 1;
  cuv_annotated_add (self->picture, &self->box, error);
}

static void
read_object (
    Reader *self, const gchar *name, const gchar *parent, GError **error)
{
  const gchar *text = self->text->str;

  if (g_str_equal (name, "name") && g_str_equal (parent, "object"))
    self->box.label = g_intern_string (text);
  else if (g_str_equal (name, "difficult") || g_str_equal (name, "occluded"))
    self->box.ignore |= g_str_equal (text, "1");
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++) {
    if (!g_str_equal (name, sides[i]) || !g_str_equal (parent, "bndbox"))
      continue;
    if (number_of (name, text, &self->sides[i], error))
      self->seen |= 1u << i;
  }
}

static void
end_voc (GMarkupParseContext *context, const gchar *name, gpointer data,
    GError **error)
{
  Reader *self = data;
  const GSList *stack = g_markup_parse_context_get_element_stack (context);
  const gchar *parent = stack->next != NULL ? stack->next->data : "";

  g_strstrip (self->text->str);
  if (g_str_equal (name, "object"))
    end_object (self, error);
  else if (self->in_object)
    read_object (self, name, parent, error);
  else if (g_str_equal (name, "filename"))
    self->picture =
        cuv_annotations_picture (self->annotations, self->text->str, -1);
  g_string_truncate (self->text, 0);
}

gboolean
cuv_read_voc (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  const GMarkupParser parser = { begin_voc, end_voc, add_text, NULL, NULL };

  return parse (self, bytes, size, &parser, error);
}

/* ---- dlib ---- */

static const gchar *
attribute (const gchar **names, const gchar **values, const gchar *name)
{
  for (; *names != NULL; names++, values++) {
    if (g_str_equal (*names, name))
      return *values;
  }
  return NULL;
}

static void
begin_box (
    Reader *self, const gchar **names, const gchar **values, GError **error)
{
  CuvAnnotation *box = &self->box;
  gdouble *numbers[] = { &box->x, &box->y, &box->width, &box->height };
  static const gchar *const keys[] = { "left", "top", "width", "height" };
  const gchar *ignore = attribute (names, values, "ignore");

  *box = (CuvAnnotation){ .label = "",
    .ignore = ignore != NULL && !g_str_equal (ignore, "0") };
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    const gchar *text = attribute (names, values, keys[i]);

    if (text == NULL) {
      cuv_annotations_fail (error, "a box has no %s", keys[i]);
      return;
    }
    if (!number_of (keys[i], text, numbers[i], error))
      return;
  }
}

static void
begin_dlib (GMarkupParseContext *context, const gchar *name,
    const gchar **names, const gchar **values, gpointer data, GError **error)
{
  Reader *self = data;
  const gchar *file = attribute (names, values, "file");

  g_string_truncate (self->text, 0);
  if (g_str_equal (name, "box"))
    begin_box (self, names, values, error);
  else if (g_str_equal (name, "image") && file == NULL)
    cuv_annotations_fail (error, "an image has no file");
  else if (g_str_equal (name, "image"))
    self->picture = cuv_annotations_picture (self->annotations, file, -1);
}

static void
end_dlib (GMarkupParseContext *context, const gchar *name, gpointer data,
    GError **error)
{
  Reader *self = data;

  if (g_str_equal (name, "label"))
    self->box.label = g_intern_string (g_strstrip (self->text->str));
  else if (g_str_equal (name, "image"))
    self->picture = NULL;
  else if (g_str_equal (name, "box") && self->picture == NULL)
    cuv_annotations_fail (error, "a box belongs to no image");
  else if (g_str_equal (name, "box"))
    cuv_annotated_add (self->picture, &self->box, error);
  g_string_truncate (self->text, 0);
}

gboolean
cuv_read_dlib (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  const GMarkupParser parser = { begin_dlib, end_dlib, add_text, NULL, NULL };

  return parse (self, bytes, size, &parser, error);
}
