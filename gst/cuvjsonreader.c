/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvjsonreader.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include "cuvfile.h"

#define BOM "\xef\xbb\xbf" /* json-glib ignores it */

static gboolean
json_fail (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL && *error == NULL)
    *error = g_error_new_valist (
        JSON_PARSER_ERROR, JSON_PARSER_ERROR_INVALID_DATA, format, args);
  va_end (args);
  return FALSE;
}

/* ---- before parsing ---- */

/* Moves *text past a number; FALSE if it is out of range. */
static gboolean
skip_number (const gchar **text)
{
  const gsize n = strspn (*text, "+-.0123456789eE");
  gboolean fits;

  if (strspn (*text, "-0123456789") == n) {
    errno = 0;
    g_ascii_strtoll (*text, NULL, 10);
    fits = errno != ERANGE;
  } else {
    fits = isfinite (g_ascii_strtod (*text, NULL));
  }
  *text += n;
  return fits;
}

/* Moves *text past a string, or to the end of the text if it has no end. FALSE
 * if it has an escape that is not JSON's: json-glib makes bytes of octal ones.
 */
static gboolean
skip_string (const gchar **text)
{
  const gchar *at = *text + 1;

  for (; *at != '\0' && *at != '"'; at++) {
    if (*at != '\\')
      continue;
    at++;
    if (*at == '\0' || strchr ("\"\\/bfnrtu", *at) == NULL)
      return FALSE;
  }
  *text = *at == '"' ? at + 1 : at;
  return TRUE;
}

/* Rejects what json-glib accepts: comments and single quotes, which would hide
 * brackets, and a second value, whose predecessor it leaks. */
static gboolean
check_text (const gchar *text, gsize max_values, GError **error)
{
  gsize n = 0;
  gint depth = 0;

  if (g_str_has_prefix (text, BOM))
    text += strlen (BOM);
  while (*text != '\0') {
    const gchar c = *text;

    if (depth == 0 && !g_ascii_isspace (c) && (n > 0 || (c != '{' && c != '[')))
      return json_fail (error,
          n > 0 ? "it has text after its end" : "it is not a JSON object");
    if (c == '"') {
      if (!skip_string (&text))
        return json_fail (error, "a text has an invalid escape");
      continue;
    }
    if (c == '-' || g_ascii_isdigit (c)) {
      if (!skip_number (&text))
        return json_fail (error, "a number is out of range");
      continue;
    }
    if (c == '\'' || c == '/')
      return json_fail (error, "JSON has neither single quotes nor comments");
    n += c == '{' || c == '[' || c == ',';
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (depth > CUV_JSON_MAX_DEPTH)
      return json_fail (
          error, "it is nested more than %d levels deep", CUV_JSON_MAX_DEPTH);
    if (n > max_values)
      return json_fail (
          error, "it has more than %" G_GSIZE_FORMAT " values", max_values);
    text++;
  }
  return TRUE;
}

/* ---- reading ---- */

JsonNode *
cuv_json_parse_object (const gchar *text, gsize max_values, GError **error)
{
  JsonNode *node = NULL;

  if (!g_utf8_validate (text, -1, NULL))
    json_fail (error, "it is not UTF-8");
  else if (check_text (text, max_values, error))
    node = json_from_string (text, error);
  if (node != NULL && JSON_NODE_HOLDS_OBJECT (node))
    return node;
  json_fail (error, "it is not a JSON object");
  g_clear_pointer (&node, json_node_unref);
  return NULL;
}

JsonNode *
cuv_json_load_object (
    const gchar *path, gsize max_bytes, gsize max_values, GError **error)
{
  JsonNode *node = NULL;
  gchar *text;

  if (cuv_file_read (path, max_bytes, &text, NULL, error)) {
    node = cuv_json_parse_object (text, max_values, error);
    g_free (text);
  }
  return node;
}
