/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the elements of XML with GLib's parser. */
#include "model/reader.h"
#include "model/text.h"

#include <string.h>

#define DOCTYPE "<!DOCTYPE"

/* Returns the line of the last token. GMarkup is already on the next line if
 * the token ended its line. */
static int
line_of (GMarkupParseContext *context)
{
  int line, column;

  g_markup_parse_context_get_position (context, &line, &column);
  return column <= 1 ? line - 1 : line;
}

static void
start_element (GMarkupParseContext *context, const char *name,
    const char **names, const char **values, gpointer data, GError **error)
{
  CuvModelReader *self = data;
  const CuvTag tag = { name, names, values };

  self->line = line_of (context);
  if (self->depth == 0 && g_ascii_strcasecmp (name, "html") == 0)
    cuv_model_fail_as_page (error);
  else
    cuv_reader_start (self, &tag, error);
}

static void
end_element (GMarkupParseContext *context, const char *name, gpointer data,
    GError **error)
{
  CuvModelReader *self = data;

  self->line = line_of (context);
  cuv_reader_end (self, error);
}

static void
xml_add_text (GMarkupParseContext *context, const char *text, gsize size,
    gpointer data, GError **error)
{
  cuv_reader_add_text (data, text, size, error);
}

/* Ignores comments and processing instructions, and rejects a DOCTYPE. */
static void
pass_through (GMarkupParseContext *context, const char *text, gsize size,
    gpointer data, GError **error)
{
  CuvModelReader *self = data;
  gsize at = strlen (DOCTYPE);

  if (size < at || g_ascii_strncasecmp (text, DOCTYPE, at) != 0)
    return;
  self->line = line_of (context);
  while (at < size && g_ascii_isspace (text[at]))
    at++;
  if (size - at >= 4 && g_ascii_strncasecmp (text + at, "html", 4) == 0)
    cuv_model_fail_as_page (error);
  else
    cuv_model_fail (error,
        "document types and entities are not supported: remove " DOCTYPE ">");
}

gboolean
cuv_parse_xml (
    CuvModelReader *self, const char *text, gsize size, GError **error)
{
  static const GMarkupParser callbacks = { start_element, end_element,
    xml_add_text, pass_through, NULL };
  GMarkupParseContext *context =
      g_markup_parse_context_new (&callbacks, 0, self, NULL);
  gboolean ok =
      (size == 0
          || g_markup_parse_context_parse (context, text, (gssize) size, error))
      && g_markup_parse_context_end_parse (context, error);

  if (!ok && (*error)->domain == G_MARKUP_ERROR) {
    g_markup_parse_context_get_position (context, &self->line, NULL);
    g_prefix_error (error, "not well-formed XML: ");
  }
  g_markup_parse_context_free (context);
  return ok;
}
