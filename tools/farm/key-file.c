/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "key-file.h"

#include <gio/gio.h>
#include <string.h>

#include "cuvfile.h"

gboolean
key_fail (GError **error, const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (
      error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, text);
  g_free (text);
  return FALSE;
}

/* ---- values ---- */

static gboolean
has (const KeyGroup *self, const gchar *key)
{
  return g_key_file_has_key (self->file, self->group, key, NULL);
}

void
key_read_text (const KeyGroup *self, const gchar *key, gchar **value)
{
  gchar *text = g_key_file_get_value (self->file, self->group, key, NULL);

  if (text == NULL)
    return;
  g_free (*value);
  *value = *g_strstrip (text) != '\0' ? text : NULL;
  if (*value == NULL)
    g_free (text);
}

static gboolean
read_number (const KeyGroup *self, const gchar *key, gdouble least,
    gdouble most, gdouble *value, GError **error)
{
  gchar *text = NULL, *end = NULL;
  gdouble number;
  gboolean ok;

  key_read_text (self, key, &text);
  if (text == NULL)
    return TRUE;
  number = g_ascii_strtod (text, &end);
  ok = end != text && *end == '\0' && number >= least && number <= most;
  if (ok)
    *value = number;
  else
    key_fail (error, "[%s] %s: '%s' is not a number from %g to %g", self->group,
        key, text, least, most);
  g_free (text);
  return ok;
}

gboolean
key_read_count (const KeyGroup *self, const gchar *key, guint most,
    guint *value, GError **error)
{
  gdouble number = *value;

  if (!read_number (self, key, 0, most, &number, error))
    return FALSE;
  if (number != (guint) number)
    return key_fail (
        error, "[%s] %s: %g is not a whole number", self->group, key, number);
  *value = (guint) number;
  return TRUE;
}

gboolean
key_read_seconds (const KeyGroup *self, const gchar *key, gdouble least,
    gdouble most, gint64 *value, GError **error)
{
  gdouble number = (gdouble) *value / G_USEC_PER_SEC;
  const gboolean ok = read_number (self, key, least, most, &number, error);

  *value = (gint64) (number * G_USEC_PER_SEC);
  return ok;
}

gboolean
key_read_boolean (
    const KeyGroup *self, const gchar *key, gboolean *value, GError **error)
{
  GError *problem = NULL;
  gboolean read;

  if (!has (self, key))
    return TRUE;
  read = g_key_file_get_boolean (self->file, self->group, key, &problem);
  if (problem != NULL) {
    g_error_free (problem);
    return key_fail (error, "[%s] %s must be true or false", self->group, key);
  }
  *value = read;
  return TRUE;
}

static gboolean
read_secret_file (const gchar *path, gchar **value, GError **error)
{
  gsize size;

  if (!cuv_file_read (path, CUV_FILE_MAX_SECRET, value, &size, error))
    return FALSE;
  while (size > 0 && strchr ("\r\n", (*value)[size - 1]) != NULL)
    (*value)[--size] = '\0';
  return TRUE;
}

gboolean
key_read_secret (
    const KeyGroup *self, const gchar *key, gchar **value, GError **error)
{
  gchar *file_key = g_strconcat (key, "-file", NULL), *path = NULL;
  gchar *env_key = g_strconcat (key, "-env", NULL), *variable = NULL;
  gboolean ok = TRUE;

  key_read_text (self, file_key, &path);
  key_read_text (self, env_key, &variable);
  if (path != NULL && variable != NULL) {
    ok = key_fail (error, "[%s] has both %s and %s: remove one", self->group,
        file_key, env_key);
  } else if (path != NULL) {
    ok = read_secret_file (path, value, error);
  } else if (variable != NULL) {
    *value = g_strdup (g_getenv (variable));
    if (*value == NULL)
      ok = key_fail (error, "[%s] %s: environment variable %s is not set",
          self->group, env_key, variable);
  }
  g_free (file_key);
  g_free (env_key);
  g_free (path);
  g_free (variable);
  return ok;
}

gboolean
key_check_names (
    const KeyGroup *self, const gchar *const *known, GError **error)
{
  gchar **keys = g_key_file_get_keys (self->file, self->group, NULL, NULL);
  gboolean ok = TRUE;

  for (guint i = 0; ok && keys != NULL && keys[i] != NULL; i++)
    if (!g_strv_contains (known, keys[i]))
      ok = key_fail (error, "unknown key '%s' in [%s]", keys[i], self->group);
  g_strfreev (keys);
  return ok;
}

/* ---- the file ---- */

/* A backslash at the end continues a line, but not a comment, as in systemd's
 * files: gst-launch lines are long. */
static gchar *
join_lines (const gchar *text)
{
  /* RAW: without it UTF-8 would be checked again at each match */
  GRegex *regex = g_regex_new (
      "^([ \t]*#.*)|\\\\\r?\n[ \t]*", G_REGEX_MULTILINE | G_REGEX_RAW, 0, NULL);
  gchar *joined = g_regex_replace (regex, text, -1, 0, "\\1", 0, NULL);

  g_regex_unref (regex);
  return joined;
}

/* Refuses a group that appears twice: GKeyFile would merge both. */
static gboolean
check_once (const gchar *text, GError **error)
{
  GHashTable *groups =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GRegex *regex =
      g_regex_new ("^\\[.*\\]", G_REGEX_MULTILINE | G_REGEX_RAW, 0, NULL);
  GMatchInfo *match;
  gboolean ok = TRUE;

  g_regex_match (regex, text, 0, &match);
  while (ok && g_match_info_matches (match)) {
    gchar *group = g_match_info_fetch (match, 0);

    if (g_hash_table_contains (groups, group))
      ok = key_fail (error, "group %s appears twice: merge both", group);
    g_hash_table_add (groups, group);
    g_match_info_next (match, NULL);
  }
  g_match_info_free (match);
  g_regex_unref (regex);
  g_hash_table_unref (groups);
  return ok;
}

GKeyFile *
key_file_load (const gchar *path, GError **error)
{
  GKeyFile *file = g_key_file_new ();
  gchar *text = NULL, *joined = NULL;
  gboolean ok = cuv_file_read (path, CUV_FILE_MAX_TEXT, &text, NULL, error);

  if (ok && !g_utf8_validate (text, -1, NULL))
    ok = key_fail (error, "the file is not UTF-8");
  if (ok) {
    joined = join_lines (text);
    ok = check_once (joined, error)
        && g_key_file_load_from_data (file, joined, (gsize) -1, 0, error);
  }
  g_free (text);
  g_free (joined);
  if (ok)
    return file;
  g_key_file_unref (file);
  return NULL;
}
