/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What readers of XML share. */
#ifndef CUV_ANNOTATIONS_XML_H
#define CUV_ANNOTATIONS_XML_H

#include "annotations.h"

typedef struct {
  CuvAnnotations *annotations;
  CuvAnnotated *picture;
  GString *text; /* since it was last truncated */
} CuvXml;

/* self is the parser's data. Errors begin with the line. */
gboolean cuv_xml_parse (CuvXml *self, const gchar *bytes,
    const GMarkupParser *parser, GError **error);

void cuv_xml_add_text (GMarkupParseContext *context, const gchar *text,
    gsize size, gpointer data, GError **error);

/* NULL if there is none. */
const gchar *cuv_xml_attribute (
    const gchar **names, const gchar **values, const gchar *name);

/* FALSE with an error if one of the n wanted is missing or not a number. */
gboolean cuv_xml_numbers (const gchar **names, const gchar **values,
    const gchar *const *wanted, gdouble *numbers, guint n, GError **error);

/* Sets the picture, and its size from the attributes width and height. */
void cuv_xml_begin_image (
    CuvXml *self, const gchar *path, const gchar **names, const gchar **values);

#endif
