/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "line.h"

#include <string.h>

static gboolean
check_value (const gchar *name, const gchar *value, GError **error)
{
  const gchar *cause = NULL;

  if (!g_utf8_validate (value, -1, NULL))
    cause = "is not UTF-8";
  for (const gchar *c = value; *c != '\0' && cause == NULL; c++)
    if (g_ascii_iscntrl (*c))
      cause = "has a control character";
  if (cause == NULL)
    return TRUE;
  g_set_error (error, G_CONVERT_ERROR, G_CONVERT_ERROR_ILLEGAL_SEQUENCE,
      "{%s} %s, which a gst-launch line cannot hold: rename it", name, cause);
  return FALSE;
}

static void
append_escaped (GString *out, const gchar *value)
{
  for (const gchar *c = value; *c != '\0'; c++) {
    if ((*c & 0x80) == 0 && !g_ascii_isalnum (*c)
        && strchr ("_-./:", *c) == NULL)
      g_string_append_c (out, '\\');
    g_string_append_c (out, *c);
  }
}

/* The name in braces at `at`, or NULL. */
static gchar *
name_at (const gchar *at)
{
  gsize n;

  if (*at != '{')
    return NULL;
  n = strcspn (at + 1, "{}");
  return at[1 + n] == '}' ? g_strndup (at + 1, n) : NULL;
}

gchar *
cuv_line_expand (const gchar *line, GHashTable *values, GError **error)
{
  GString *out = g_string_new (NULL);
  gboolean ok = TRUE;

  while (*line != '\0' && ok) {
    gchar *name = name_at (line);
    const gchar *value =
        name != NULL ? g_hash_table_lookup (values, name) : NULL;

    if (value != NULL) {
      ok = check_value (name, value, error);
      append_escaped (out, value);
      line += strlen (name) + 2;
    } else {
      g_string_append_c (out, *line++);
    }
    g_free (name);
  }
  return g_string_free (out, !ok);
}
