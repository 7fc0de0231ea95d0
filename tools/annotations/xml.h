/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the readers of XML share. */
#ifndef CUV_ANNOTATIONS_XML_H
#define CUV_ANNOTATIONS_XML_H

#include "annotations.h"

typedef struct {
  CuvAnnotations *annotations;
  CuvAnnotated *picture;
  GString *text; /* text since it was last truncated */
} CuvXml;

/* Parses XML; self is the user data of the parser's functions. Errors begin
 * with the line's number. */
gboolean cuv_xml_parse (CuvXml *self, const gchar *bytes,
    const GMarkupParser *parser, GError **error);

/* A GMarkupParser function: appends to self->text. */
void cuv_xml_add_text (GMarkupParseContext *context, const gchar *text,
    gsize size, gpointer data, GError **error);

/* Returns the attribute's value, or NULL. */
const gchar *cuv_xml_attribute (
    const gchar **names, const gchar **values, const gchar *name);

/* Reads n attributes as numbers. Returns FALSE with an error if one is missing
 * or not a number. */
gboolean cuv_xml_numbers (const gchar **names, const gchar **values,
    const gchar *const *wanted, gdouble *numbers, guint n, GError **error);

/* Sets the picture, and its size from the attributes width and height. */
void cuv_xml_begin_image (
    CuvXml *self, const gchar *path, const gchar **names, const gchar **values);

#endif
