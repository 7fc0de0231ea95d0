/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads XML of Pascal VOC and dlib, and what readers of XML share. Pascal VOC:
 * <annotation><filename/><size><width/><height/></size><object><name/><difficult/><bndbox><xmin/>
 * <ymin/><xmax/><ymax/></bndbox></object></annotation>; pixels count from 1,
 * and those of xmax and ymax belong to the box. dlib: <dataset><images><image
 * file [width height]><box top left width height [ignore]>
 * <label/></box></image></images></dataset>. */
#include "annotations.h"

#include <string.h>

#include "xml.h"

enum { PIECE = 65536, MAX_DEPTH = 64 };

typedef struct {
  CuvXml xml; /* first */
  CuvAnnotation box;
  gdouble sides[4]; /* VOC: xmin ymin xmax ymax */
  guint seen;       /* VOC: a bit for each side */
  gdouble size[2];  /* VOC: width height */
  gboolean in_object;
} Reader;

/* Parses in pieces and checks the depth after each: every open element takes
 * memory, and millions of them gigabytes. */
static gboolean
parse_pieces (GMarkupParseContext *context, const gchar *bytes, GError **error)
{
  gsize left = strlen (bytes);

  for (gsize n; left > 0; bytes += n, left -= n) {
    n = MIN (left, PIECE);
    if (!g_markup_parse_context_parse (context, bytes, (gssize) n, error))
      return FALSE;
    if (g_slist_length (
            (GSList *) g_markup_parse_context_get_element_stack (context))
        > MAX_DEPTH)
      return cuv_annotations_fail (
          error, "elements are nested more than %d levels deep", MAX_DEPTH);
  }
  return g_markup_parse_context_end_parse (context, error);
}

gboolean
cuv_xml_parse (CuvXml *self, const gchar *bytes, const GMarkupParser *parser,
    GError **error)
{
  GMarkupParseContext *context = g_markup_parse_context_new (
      parser, G_MARKUP_TREAT_CDATA_AS_TEXT, self, NULL);
  GError *problem = NULL;
  gint line;
  gboolean ok;

  self->text = g_string_new (NULL);
  ok = parse_pieces (context, bytes, &problem);
  g_markup_parse_context_get_position (context, &line, NULL);
  if (!ok)
    cuv_annotations_fail (error, "line %d: %s", line, problem->message);
  g_clear_error (&problem);
  g_markup_parse_context_free (context);
  g_string_free (self->text, TRUE);
  return ok;
}

void
cuv_xml_add_text (GMarkupParseContext *context, const gchar *text, gsize size,
    gpointer data, GError **error)
{
  CuvXml *self = data;

  g_string_append_len (self->text, text, (gssize) size);
}

const gchar *
cuv_xml_attribute (const gchar **names, const gchar **values, const gchar *name)
{
  for (; *names != NULL; names++, values++) {
    if (g_str_equal (*names, name))
      return *values;
  }
  return NULL;
}

/* Does not keep the error: GMarkup frees it. */
static gboolean
number_of (
    const gchar *name, const gchar *text, gdouble *number, GError **error)
{
  return cuv_annotations_number (text, number)
      || cuv_annotations_fail (error, "%s '%.40s' is not a number", name, text);
}

gboolean
cuv_xml_numbers (const gchar **names, const gchar **values,
    const gchar *const *wanted, gdouble *numbers, guint n, GError **error)
{
  for (guint i = 0; i < n; i++) {
    const gchar *text = cuv_xml_attribute (names, values, wanted[i]);

    if (text == NULL)
      return cuv_annotations_fail (error, "a box has no %s", wanted[i]);
    if (!number_of (wanted[i], text, &numbers[i], error))
      return FALSE;
  }
  return TRUE;
}

void
cuv_xml_begin_image (
    CuvXml *self, const gchar *path, const gchar **names, const gchar **values)
{
  const gchar *width = cuv_xml_attribute (names, values, "width");
  const gchar *height = cuv_xml_attribute (names, values, "height");

  self->picture = cuv_annotations_picture (self->annotations, path, -1);
  if (width != NULL && height != NULL)
    cuv_annotated_set_size (self->picture, g_ascii_strtod (width, NULL),
        g_ascii_strtod (height, NULL));
}

/* ---- Pascal VOC ---- */

static const gchar *const sides[] = { "xmin", "ymin", "xmax", "ymax" };

static void
begin_voc (GMarkupParseContext *context, const gchar *name, const gchar **names,
    const gchar **values, gpointer data, GError **error)
{
  Reader *self = data;

  g_string_truncate (self->xml.text, 0);
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
    cuv_annotations_fail (error, "an object lacks xmin, ymin, xmax or ymax");
    return;
  }
  if (s[2] < s[0] || s[3] < s[1]) {
    cuv_annotations_fail (error,
        "a box ends at %g, %g, before it begins at %g, %g; are these its width "
        "and height?",
        s[2], s[3], s[0], s[1]);
    return;
  }
  if (self->xml.picture == NULL)
    self->xml.picture = cuv_annotations_picture (self->xml.annotations, "", -1);
  self->box.x = s[0] - 1;
  self->box.y = s[1] - 1;
  self->box.width = s[2] - s[0] + 1;
  self->box.height = s[3] - s[1] + 1;
  cuv_annotated_add (self->xml.picture, &self->box, error);
}

/* Whether the innermost open elements have these names. */
static gboolean
is_in (const GSList *around, const gchar *inner, const gchar *outer)
{
  return around != NULL && g_str_equal (around->data, inner)
      && around->next != NULL && g_str_equal (around->next->data, outer);
}

/* Ignores the parts of an object, which have names and boxes of their own. */
static void
read_object (
    Reader *self, const gchar *name, const GSList *around, GError **error)
{
  const gchar *text = self->xml.text->str;

  if (g_str_equal (name, "name") && g_str_equal (around->data, "object"))
    self->box.label =
        cuv_annotations_label (self->xml.annotations->labels, text);
  else if (g_str_equal (name, "difficult") || g_str_equal (name, "occluded"))
    self->box.ignore |= g_str_equal (text, "1");
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++) {
    if (!g_str_equal (name, sides[i]) || !is_in (around, "bndbox", "object"))
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

  g_strstrip (self->xml.text->str);
  if (g_str_equal (name, "object"))
    end_object (self, error);
  else if (self->in_object)
    read_object (self, name, stack->next, error);
  else if (g_str_equal (name, "filename"))
    self->xml.picture = cuv_annotations_picture (
        self->xml.annotations, self->xml.text->str, -1);
  else if (g_str_equal (parent, "size") && g_str_equal (name, "width"))
    self->size[0] = g_ascii_strtod (self->xml.text->str, NULL);
  else if (g_str_equal (parent, "size") && g_str_equal (name, "height"))
    self->size[1] = g_ascii_strtod (self->xml.text->str, NULL);
  else if (g_str_equal (name, "annotation") && self->xml.picture != NULL)
    cuv_annotated_set_size (self->xml.picture, self->size[0], self->size[1]);
  g_string_truncate (self->xml.text, 0);
}

gboolean
cuv_read_voc (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  const GMarkupParser parser = { begin_voc, end_voc, cuv_xml_add_text, NULL,
    NULL };
  Reader reader = { .xml.annotations = self };

  return cuv_xml_parse (&reader.xml, bytes, &parser, error);
}

/* ---- dlib ---- */

static void
begin_box (
    Reader *self, const gchar **names, const gchar **values, GError **error)
{
  static const gchar *const keys[] = { "left", "top", "width", "height" };
  const gchar *ignore = cuv_xml_attribute (names, values, "ignore");
  gdouble numbers[4];

  if (!cuv_xml_numbers (names, values, keys, numbers, 4, error))
    return;
  self->box = (CuvAnnotation){ numbers[0], numbers[1], numbers[2], numbers[3],
    "", ignore != NULL && !g_str_equal (ignore, "0") };
}

static void
begin_dlib (GMarkupParseContext *context, const gchar *name,
    const gchar **names, const gchar **values, gpointer data, GError **error)
{
  Reader *self = data;
  const gchar *file = cuv_xml_attribute (names, values, "file");

  g_string_truncate (self->xml.text, 0);
  if (g_str_equal (name, "box"))
    begin_box (self, names, values, error);
  else if (g_str_equal (name, "image") && file == NULL)
    cuv_annotations_fail (error, "an image has no file");
  else if (g_str_equal (name, "image"))
    cuv_xml_begin_image (&self->xml, file, names, values);
}

static void
end_dlib (GMarkupParseContext *context, const gchar *name, gpointer data,
    GError **error)
{
  Reader *self = data;

  if (g_str_equal (name, "label"))
    self->box.label = cuv_annotations_label (
        self->xml.annotations->labels, g_strstrip (self->xml.text->str));
  else if (g_str_equal (name, "image"))
    self->xml.picture = NULL;
  else if (g_str_equal (name, "box") && self->xml.picture == NULL)
    cuv_annotations_fail (error, "a <box> is not inside an <image>");
  else if (g_str_equal (name, "box"))
    cuv_annotated_add (self->xml.picture, &self->box, error);
  g_string_truncate (self->xml.text, 0);
}

gboolean
cuv_read_dlib (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  const GMarkupParser parser = { begin_dlib, end_dlib, cuv_xml_add_text, NULL,
    NULL };
  Reader reader = { .xml.annotations = self };

  return cuv_xml_parse (&reader.xml, bytes, &parser, error);
}
