/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pipeline-text.h"

#include <gio/gio.h>
#include <string.h>

#include "farm-util.h"
#include "line.h"

/* Maximum length of an error, in characters: it is stored in the lease, whose
 * size is limited. */
#define MAX_ERROR 1000

/* ---- the camera's values ---- */

static gboolean
pipeline_fail (GError **error, const gchar *text, const gchar *name)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, text, name);
  return FALSE;
}

static gchar *
value_text (JsonNode *node)
{
  switch (json_node_get_value_type (node)) {
    case G_TYPE_STRING:
      return json_node_dup_string (node);
    case G_TYPE_BOOLEAN:
      return g_strdup (json_node_get_boolean (node) ? "true" : "false");
    case G_TYPE_INT64:
      return g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
    case G_TYPE_DOUBLE: {
      gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];

      return g_strdup (
          g_ascii_dtostr (buffer, sizeof buffer, json_node_get_double (node)));
    }
    default:
      return NULL;
  }
}

static gboolean
add_values (JsonObject *object, GHashTable *values, GError **error)
{
  JsonObjectIter iter;
  const gchar *name;
  JsonNode *node;

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &node)) {
    gchar *text = JSON_NODE_HOLDS_VALUE (node) ? value_text (node) : NULL;

    if (text == NULL)
      return pipeline_fail (
          error, "\"%s\" must be text, a number, true or false", name);
    g_hash_table_insert (values, g_strdup (name), text);
  }
  return TRUE;
}

/* Does not quote the parser's error, which may contain a password. */
static gboolean
parse_value (const gchar *value, GHashTable *values, GError **error)
{
  GError *problem = NULL;
  JsonObject *object = farm_parse_object (value, &problem);
  gboolean ok = object != NULL;

  if (ok)
    ok = add_values (object, values, error);
  else if (problem->domain == G_IO_ERROR
      || g_error_matches (
          problem, JSON_PARSER_ERROR, JSON_PARSER_ERROR_INVALID_DATA))
    pipeline_fail (error, "invalid value: %s", problem->message);
  else
    pipeline_fail (error, "the value is not a JSON object like %s",
        "{\"location\": \"rtsp://...\"}");
  g_clear_error (&problem);
  g_clear_pointer (&object, json_object_unref);
  return ok;
}

/* ---- placeholders ---- */

/* Refuses placeholders without a value, other than {source} and {kind}, which
 * visionpublish replaces in topics. */
static gboolean
check_placeholders (const gchar *line, GHashTable *values, GError **error)
{
  GRegex *regex = g_regex_new ("\\{([a-z][a-z0-9_-]*)\\}", 0, 0, NULL);
  GMatchInfo *match;
  gboolean ok = TRUE;

  g_regex_match (regex, line, 0, &match);
  while (ok && g_match_info_matches (match)) {
    gchar *name = g_match_info_fetch (match, 1);

    if (g_hash_table_lookup (values, name) == NULL
        && !g_str_equal (name, "source") && !g_str_equal (name, "kind"))
      ok = pipeline_fail (error,
          "the pipeline uses \"%s\", which this camera does not define", name);
    g_free (name);
    g_match_info_next (match, NULL);
  }
  g_match_info_free (match);
  g_regex_unref (regex);
  return ok;
}

gchar *
pipeline_text_new (const FarmConfig *config, const gchar *camera,
    const gchar *value, GError **error)
{
  GHashTable *values =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gchar *expanded = NULL;

  if (parse_value (value, values, error)) {
    const gchar *name = g_hash_table_lookup (values, "line");
    const gchar *line =
        g_hash_table_lookup (config->lines, name != NULL ? name : "");
    gchar *group = g_strconcat ("[line", name != NULL ? " " : "", name, NULL);

    g_hash_table_insert (values, g_strdup ("camera"), g_strdup (camera));
    g_hash_table_insert (values, g_strdup ("worker"), g_strdup (config->name));
    if (line == NULL)
      pipeline_fail (error, "the configuration has no group %s]", group);
    else if (check_placeholders (line, values, error))
      expanded = cuv_line_expand (line, values, error);
    g_free (group);
  }
  g_hash_table_unref (values);
  return expanded;
}

/* ---- passwords in messages ---- */

/* Matches a character, plain or escaped as in pipelines (\c), GStreamer's texts
 * (\ooo) and URIs (%xx). */
static void
append_character (GString *pattern, const gchar *at, gsize size)
{
  gchar *character = g_regex_escape_string (at, (gint) size);

  g_string_append_printf (pattern, "\\\\*(?:%s|", character);
  for (gsize i = 0; i < size; i++)
    g_string_append_printf (pattern, "\\\\+%03o", (guchar) at[i]);
  g_string_append_c (pattern, '|');
  for (gsize i = 0; i < size; i++)
    g_string_append_printf (pattern, "(?i:%%%02x)", (guchar) at[i]);
  g_string_append_c (pattern, ')');
  g_free (character);
}

static GRegex *
match_password (const gchar *password)
{
  GString *pattern = g_string_new (NULL);
  const gchar *next;
  GRegex *regex;

  for (const gchar *at = password; *at != '\0'; at = next) {
    next = g_utf8_next_char (at);
    append_character (pattern, at, (gsize) (next - at));
  }
  regex = g_regex_new (pattern->str, 0, 0, NULL);
  g_string_free (pattern, TRUE);
  return regex;
}

/* Hides the whole text if the password makes no valid pattern. */
static gchar *
hide_password (const gchar *text, const gchar *password)
{
  GRegex *regex = match_password (password);
  gchar *hidden = regex != NULL
      ? g_regex_replace_literal (regex, text, -1, 0, "***", 0, NULL)
      : NULL;

  g_clear_pointer (&regex, g_regex_unref);
  return hidden != NULL ? hidden : g_strdup ("***");
}

static gchar *
shorten (gchar *text)
{
  if (g_utf8_strlen (text, -1) > MAX_ERROR)
    *g_utf8_offset_to_pointer (text, MAX_ERROR) = '\0';
  return text;
}

gchar *
pipeline_redact (const gchar *value, const gchar *message)
{
  GHashTable *values =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gchar *redacted = farm_redact (message);
  const gchar *password = parse_value (value, values, NULL)
      ? g_hash_table_lookup (values, "password")
      : NULL;

  if (password != NULL && *password != '\0') {
    gchar *hidden = hide_password (redacted, password);

    g_free (redacted);
    redacted = hidden;
  }
  g_hash_table_unref (values);
  return shorten (redacted);
}
