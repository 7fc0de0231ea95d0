/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills the placeholders of a line so that GStreamer's parser reads each value
 * as it is. */
#include "line.h"

#include <string.h>

/* ---- characters ---- */

static gboolean
is_plain (gchar c)
{
  return g_ascii_isalnum (c) || (c & 0x80) != 0
      || (c != '\0' && strchr ("_-./:", c) != NULL);
}

static gboolean
is_hard (gchar c)
{
  return g_ascii_iscntrl (c) || c == '\\' || c == '"';
}

static gboolean
has_hard (const gchar *text)
{
  while (*text != '\0' && !is_hard (*text))
    text++;
  return *text != '\0';
}

static void
append_escaped (GString *out, const gchar *value)
{
  for (const gchar *c = value; *c != '\0'; c++) {
    if (!is_plain (*c))
      g_string_append_c (out, '\\');
    g_string_append_c (out, *c);
  }
}

/* Escapes blanks, quotes and backslashes as \ooo, so that the lexer cannot
 * misread where the value ends. */
static void
append_wrapped (GString *out, const gchar *value)
{
  g_string_append (out, "\\\"");
  for (const gchar *c = value; *c != '\0'; c++)
    if (is_plain (*c) && (*c & 0x80) == 0)
      g_string_append_c (out, *c);
    else
      g_string_append_printf (out, "\\\\%03o", (guchar) *c);
  g_string_append (out, "\\\"");
}

/* ---- placeholders ---- */

/* Returns the value of the name in braces at *at, and moves *at past it;
 * otherwise NULL. */
static const gchar *
take_placeholder (const gchar **at, const gchar *end, GHashTable *values)
{
  const gchar *value, *brace;
  gchar *name;

  if (**at != '{')
    return NULL;
  brace = *at + 1 + strcspn (*at + 1, "{}");
  if (brace >= end || *brace != '}')
    return NULL;
  name = g_strndup (*at + 1, (gsize) (brace - *at - 1));
  value = g_hash_table_lookup (values, name);
  g_free (name);
  if (value != NULL)
    *at = brace + 1;
  return value;
}

/* Copies a character; a backslash together with the character that it escapes.
 */
static void
copy_character (GString *out, const gchar **at, const gchar *end)
{
  if (**at == '\\' && *at + 1 < end)
    g_string_append_c (out, *(*at)++);
  g_string_append_c (out, *(*at)++);
}

/* ---- values of properties ---- */

/* Returns the text from `at` to `end` as GStreamer will read it. */
static gchar *
read_value (const gchar *at, const gchar *end, GHashTable *values)
{
  GString *out = g_string_new (NULL);

  if (end - at >= 2 && *at == '"' && end[-1] == '"')
    at++, end--;
  while (at < end) {
    const gchar *value = take_placeholder (&at, end, values);

    if (value != NULL) {
      g_string_append (out, value);
      continue;
    }
    if (*at == '\\' && at + 1 < end)
      at++;
    g_string_append_c (out, *at++);
  }
  return g_string_free (out, FALSE);
}

/* GStreamer's lexer matches the longest string: after an escaped backslash it
 * continues past the blank or quote that should end the string. Its parser
 * removes quotes at both ends of a text, and reads "NULL" as no text. Such
 * values are wrapped in quotes with octal escapes, which only properties of
 * type string understand; other types, such as caps, cannot have such values.
 */
static void
append_value (
    GString *out, const gchar *at, const gchar *end, GHashTable *values)
{
  gchar *text = read_value (at, end, values);
  GString *escaped = g_string_new (NULL);
  gboolean wrap = *text == '\0' || g_str_equal (text, "NULL")
      || g_str_has_suffix (text, "\\");
  gboolean filled = FALSE;

  while (at < end) {
    const gchar *value = take_placeholder (&at, end, values);

    if (value == NULL) {
      copy_character (escaped, &at, end);
      continue;
    }
    filled = TRUE;
    wrap = wrap || has_hard (value);
    append_escaped (escaped, value);
  }
  if (filled && wrap)
    append_wrapped (out, text);
  else
    g_string_append (out, escaped->str);
  g_string_free (escaped, TRUE);
  g_free (text);
}

/* ---- lines ---- */

/* GStreamer's rules: the name of a property with its sign, and a value. */
#define ASSIGNMENT "(?<![^\\s(!])[[:alnum:]_][[:alnum:]_%:-]*\\s*=\\s*"
#define STRING "\"([^\"]|\\\\\")*\"|'([^']|\\\\')*'|(\\\\.|\\S)+"

/* Returns the end of the longest match at `at`, or `at` if there is none. */
static const gchar *
match_end (const GRegex *regex, const gchar *line, const gchar *at)
{
  GMatchInfo *match;
  gint begin, end = 0;

  if (g_regex_match_all_full (regex, line, -1, at - line, 0, &match, NULL))
    g_match_info_fetch_pos (match, 0, &begin, &end);
  g_match_info_free (match);
  return end > 0 ? line + end : at;
}

/* Checks a value outside a property, where it may be part of a URI or of caps.
 */
static gboolean
check_bare (
    const gchar *value, const gchar *begin, const gchar *end, GError **error)
{
  if (!has_hard (value) && strchr (value, ' ') == NULL)
    return TRUE;
  g_set_error (error, G_CONVERT_ERROR, G_CONVERT_ERROR_ILLEGAL_SEQUENCE,
      "the value of %.*s has blanks, quotes, backslashes or control "
      "characters: use it only as the value of a property, as in location=%.*s",
      (int) (end - begin), begin, (int) (end - begin), begin);
  return FALSE;
}

typedef struct {
  GRegex *assignment, *string;
  GHashTable *values;
} Expansion;

static gboolean
expand_line (Expansion *self, const gchar *line, GString *out, GError **error)
{
  const gchar *end = line + strlen (line);

  for (const gchar *at = line, *begin; at < end;) {
    const gchar *text = match_end (self->assignment, line, at);
    const gchar *value;

    begin = at;
    if (text > at) {
      at = match_end (self->string, line, text);
      g_string_append_len (out, begin, text - begin);
      append_value (out, text, at, self->values);
    } else if ((value = take_placeholder (&at, end, self->values)) == NULL) {
      copy_character (out, &at, end);
    } else if (check_bare (value, begin, at, error)) {
      append_escaped (out, value);
    } else {
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
check_utf8 (GHashTable *values, GError **error)
{
  GHashTableIter iter;
  gpointer name, value;

  g_hash_table_iter_init (&iter, values);
  while (g_hash_table_iter_next (&iter, &name, &value))
    if (!g_utf8_validate (value, -1, NULL)) {
      g_set_error (error, G_CONVERT_ERROR, G_CONVERT_ERROR_ILLEGAL_SEQUENCE,
          "the value of {%s} is not UTF-8, but a pipeline must be: if it is a "
          "file name, rename the file",
          (const gchar *) name);
      return FALSE;
    }
  return TRUE;
}

gchar *
cuv_line_expand (const gchar *line, GHashTable *values, GError **error)
{
  const GRegexCompileFlags flags = G_REGEX_RAW | G_REGEX_ANCHORED;
  Expansion self = { g_regex_new (ASSIGNMENT, flags, 0, NULL),
    g_regex_new (STRING, flags, 0, NULL), values };
  GString *out = g_string_new (NULL);
  const gboolean ok =
      check_utf8 (values, error) && expand_line (&self, line, out, error);

  g_regex_unref (self.assignment);
  g_regex_unref (self.string);
  return g_string_free (out, !ok);
}
