/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads CVAT's XML. For images: <annotations><image name width height><box
 * label occluded xtl ytl xbr ybr [rotation]/><polygon label
 * points="x,y;x,y"/></image></annotations>. For video:
 * <annotations><meta><task><original_size><width/><height/>
 * </original_size><source/></task></meta><track label><box frame outside ../>
 * </track></annotations>. */
#include <math.h>
#include <string.h>

#include "xml.h"

typedef struct {
  CuvXml xml; /* first */
  gchar *source;
  gdouble size[2];    /* of a video */
  const gchar *label; /* label of the track; NULL outside of tracks */
} Cvat;

/* Replaces a box that is rotated about its centre by the smallest upright box
 * around it. */
static void
turn (CuvAnnotation *box, gdouble degrees)
{
  const gdouble c = fabs (cos (degrees * G_PI / 180));
  const gdouble s = fabs (sin (degrees * G_PI / 180));
  const gdouble width = box->width * c + box->height * s;
  const gdouble height = box->width * s + box->height * c;

  box->x += (box->width - width) / 2;
  box->y += (box->height - height) / 2;
  box->width = width;
  box->height = height;
}

static gboolean
read_box (const gchar **names, const gchar **values, CuvAnnotation *box,
    GError **error)
{
  static const gchar *const sides[] = { "xtl", "ytl", "xbr", "ybr" };
  const gchar *rotation = cuv_xml_attribute (names, values, "rotation");
  gdouble s[4];

  if (!cuv_xml_numbers (names, values, sides, s, 4, error))
    return FALSE;
  box->x = s[0];
  box->y = s[1];
  box->width = s[2] - s[0];
  box->height = s[3] - s[1];
  if (rotation != NULL)
    turn (box, g_ascii_strtod (rotation, NULL));
  return TRUE;
}

static gboolean
cvat_read_polygon (const gchar **names, const gchar **values,
    CuvAnnotation *box, GError **error)
{
  const gchar *text = cuv_xml_attribute (names, values, "points");
  gchar **numbers = g_strsplit_set (text != NULL ? text : "", ",;", 0);
  CuvExtent extent = { 0 };
  gboolean ok = *numbers != NULL && g_strv_length (numbers) % 2 == 0;

  for (gchar **at = numbers; ok && *at != NULL; at += 2) {
    gdouble x, y;

    ok = cuv_annotations_number (at[0], &x)
        && cuv_annotations_number (at[1], &y);
    if (ok)
      cuv_extent_add (&extent, x, y);
  }
  cuv_extent_to_box (&extent, box);
  g_strfreev (numbers);
  return ok
      || cuv_annotations_fail (error,
          "the points '%.40s' are not of the form x,y;x,y;...",
          text ? text : "");
}

static gboolean
is_set (const gchar **names, const gchar **values, const gchar *name)
{
  return g_strcmp0 (cuv_xml_attribute (names, values, name), "1") == 0;
}

/* Selects the frame of a track's shape. */
static gboolean
find_frame (
    Cvat *self, const gchar **names, const gchar **values, GError **error)
{
  const gchar *text = cuv_xml_attribute (names, values, "frame");
  guint64 frame;

  if (text == NULL
      || !g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT64, &frame, NULL))
    return cuv_annotations_fail (
        error, "frame '%.40s' is not a number", text != NULL ? text : "");
  self->xml.picture = cuv_annotations_picture (self->xml.annotations,
      self->source != NULL ? self->source : "", (gint64) frame);
  cuv_annotated_set_size (self->xml.picture, self->size[0], self->size[1]);
  return TRUE;
}

static void
add_shape (Cvat *self, const gchar *name, const gchar **names,
    const gchar **values, GError **error)
{
  const gchar *label = cuv_xml_attribute (names, values, "label");
  CuvAnnotation box = { .ignore = is_set (names, values, "occluded") };

  if (self->label != NULL
      && (is_set (names, values, "outside")
          || !find_frame (self, names, values, error)))
    return;
  if (self->label != NULL)
    label = self->label;
  box.label = cuv_annotations_label (self->xml.annotations->labels, label);
  if (self->xml.picture == NULL)
    cuv_annotations_fail (error, "a <%s> is not inside an <image>", name);
  else if (g_str_equal (name, "box")
          ? read_box (names, values, &box, error)
          : cvat_read_polygon (names, values, &box, error))
    cuv_annotated_add (self->xml.picture, &box, error);
}

static void
cvat_begin_element (GMarkupParseContext *context, const gchar *name,
    const gchar **names, const gchar **values, gpointer data, GError **error)
{
  static const gchar *const others[] = { "polyline", "points", "mask",
    "ellipse", "cuboid", "skeleton", NULL };
  Cvat *self = data;
  const gchar *file = cuv_xml_attribute (names, values, "name");
  const gchar *label = cuv_xml_attribute (names, values, "label");

  g_string_truncate (self->xml.text, 0);
  if (g_str_equal (name, "image") && file == NULL)
    cuv_annotations_fail (error, "an image has no name");
  else if (g_str_equal (name, "image"))
    cuv_xml_begin_image (&self->xml, file, names, values);
  else if (g_str_equal (name, "track"))
    self->label = cuv_annotations_label (self->xml.annotations->labels, label);
  else if (g_str_equal (name, "box") || g_str_equal (name, "polygon"))
    add_shape (self, name, names, values, error);
  else if (g_strv_contains (others, name) && self->xml.picture != NULL)
    self->xml.picture->n_empty++;
}

static void
cvat_end_element (GMarkupParseContext *context, const gchar *name,
    gpointer data, GError **error)
{
  Cvat *self = data;
  const GSList *stack = g_markup_parse_context_get_element_stack (context);
  const gchar *parent = stack->next != NULL ? stack->next->data : "";
  const gchar *text = g_strstrip (self->xml.text->str);

  if (g_str_equal (name, "source") && self->source == NULL)
    self->source = g_strdup (text);
  else if (g_str_equal (parent, "original_size"))
    self->size[g_str_equal (name, "width") ? 0 : 1] =
        g_ascii_strtod (text, NULL);
  else if (g_str_equal (name, "track"))
    self->label = NULL;
  if (g_str_equal (name, "image") || g_str_equal (name, "track"))
    self->xml.picture = NULL;
  g_string_truncate (self->xml.text, 0);
}

gboolean
cuv_read_cvat (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  const GMarkupParser parser = { cvat_begin_element, cvat_end_element,
    cuv_xml_add_text, NULL, NULL };
  Cvat cvat = { .xml.annotations = self };
  const gboolean ok = cuv_xml_parse (&cvat.xml, bytes, &parser, error);

  g_free (cvat.source);
  return ok;
}
