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

/* Moves *at past digits; FALSE if it has none. */
static gboolean
skip_digits (const gchar **at)
{
  const gsize n = strspn (*at, "0123456789");

  *at += n;
  return n > 0;
}

/* Moves *text past a number. Returns NULL, or what is wrong: json-glib also
 * reads octal and hexadecimal numbers, which wrap around. */
static const gchar *
skip_number (const gchar **text)
{
  const gchar *start = *text, *at = start + (*start == '-');
  const gboolean octal = *at == '0' && g_ascii_isdigit (at[1]);
  gboolean integer = TRUE, valid = skip_digits (&at) && !octal, fits;

  if (*at == '.') {
    at++;
    integer = FALSE;
    valid = skip_digits (&at) && valid;
  }
  if (*at == 'e' || *at == 'E') {
    at += at[1] == '+' || at[1] == '-' ? 2 : 1;
    integer = FALSE;
    valid = skip_digits (&at) && valid;
  }
  *text = at;
  errno = 0;
  if (integer)
    g_ascii_strtoll (start, NULL, 10);
  fits = integer ? errno != ERANGE : isfinite (g_ascii_strtod (start, NULL));
  return !valid ? "a number is not written as in JSON"
      : !fits   ? "a number is out of range"
                : NULL;
}

/* Moves *text past true, false or null; FALSE at another word. */
static gboolean
skip_word (const gchar **text)
{
  static const gchar *const words[] = { "true", "false", "null" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    if (g_str_has_prefix (*text, words[i])) {
      *text += strlen (words[i]);
      return !g_ascii_isalnum (**text);
    }
  }
  return FALSE;
}

/* Moves *text past a string, or to the end of the text if it has no end. FALSE
 * if it has an escape that is not JSON's, as json-glib makes bytes of octal
 * ones, or that of a zero, where the text would end. */
static gboolean
skip_string (const gchar **text)
{
  const gchar *at = *text + 1;

  for (; *at != '\0' && *at != '"'; at++) {
    if (*at != '\\')
      continue;
    at++;
    if (*at == '\0' || strchr ("\"\\/bfnrtu", *at) == NULL
        || g_str_has_prefix (at, "u0000"))
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
      const gchar *problem = skip_number (&text);

      if (problem != NULL)
        return json_fail (error, "%s", problem);
      continue;
    }
    if (c == '\'' || c == '/')
      return json_fail (error, "JSON has neither single quotes nor comments");
    if (g_ascii_isalpha (c)) {
      if (!skip_word (&text))
        return json_fail (
            error, "it has a word that is not true, false or null");
      continue;
    }
    if (!g_ascii_isspace (c) && strchr ("{}[],:", c) == NULL)
      return json_fail (error, "it has a character that is not in a text");
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
