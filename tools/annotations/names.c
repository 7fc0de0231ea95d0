/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the names of YOLO's classes: one per line, or the member `names` of
 * YAML: [a, b], {0: a, 1: b}, or lines "- a" or "0: a". */
#include "annotations.h"

#include <string.h>

enum { MAX_NAMES = 1 << 16 };

/* Returns a name without its quotes or comment. */
static gchar *
clean (const gchar *text)
{
  gchar *name = g_strstrip (g_strdup (text)), *end, *comment;

  if ((*name == '"' || *name == '\'')
      && (end = strchr (name + 1, *name)) != NULL) {
    *end = '\0';
    memmove (name, name + 1, strlen (name + 1) + 1);
  } else if ((comment = strstr (name, " #")) != NULL) {
    *comment = '\0';
    g_strchomp (name);
  }
  return name;
}

static void
set_name (GPtrArray *names, guint number, const gchar *text)
{
  while (names->len <= number)
    g_ptr_array_add (names, g_strdup (""));
  g_free (names->pdata[number]);
  names->pdata[number] = clean (text);
}

/* Adds "name", "- name" or "7: name". */
static gboolean
add_item (GPtrArray *names, const gchar *item, GError **error)
{
  gchar *end;
  guint64 number;

  while (g_ascii_isspace (*item))
    item++;
  number = g_ascii_strtoull (item, &end, 10);
  if (end == item || *end != ':' || !g_ascii_isdigit (*item))
    number = names->len;
  else
    item = end + 1;
  if (number >= MAX_NAMES)
    return cuv_annotations_fail (error, "more than %d names", MAX_NAMES);
  set_name (names, (guint) number, item);
  return TRUE;
}

/* Comments and quotes begin only where a word does: not in "men's". */
static gboolean
begins_word (const GString *item)
{
  return item->len == 0 || g_ascii_isspace (item->str[item->len - 1]);
}

/* Reads names in brackets or braces. text: what follows the opening one. */
static gboolean
read_flow (GPtrArray *names, const gchar *text, GError **error)
{
  GString *item = g_string_new (NULL);
  gboolean ok = TRUE;
  gchar quote = '\0';

  for (; ok && *text != '\0' && (quote || !strchr ("]}", *text)); text++) {
    if (*text == ',' && !quote) {
      ok = add_item (names, item->str, error);
      g_string_truncate (item, 0);
      continue;
    }
    if (*text == '#' && !quote && begins_word (item)) {
      text += strcspn (text, "\n") - 1;
      continue;
    }
    if (quote ? *text == quote
              : begins_word (item) && strchr ("'\"", *text) != NULL)
      quote = quote ? '\0' : *text;
    g_string_append_c (item, *text);
  }
  if (ok && *g_strstrip (item->str) != '\0')
    ok = add_item (names, item->str, error);
  g_string_free (item, TRUE);
  return ok;
}

/* Adds the lines that are indented or begin with a dash. */
static gboolean
read_block (GPtrArray *names, const gchar *text, GError **error)
{
  gchar **lines = g_strsplit (text, "\n", 0);
  gboolean ok = TRUE;

  for (gchar **line = lines + 1; ok && lines[0] && *line != NULL; line++) {
    const gboolean inside = strchr (" \t-", **line) != NULL;
    const gchar *item = g_strstrip (*line);

    if (*item == '\0' || *item == '#')
      continue;
    if (!inside)
      break;
    ok = add_item (names, *item == '-' ? item + 1 : item, error);
  }
  g_strfreev (lines);
  return ok;
}

/* Returns what follows "names:" at the beginning of a line, or NULL. */
static const gchar *
find_yaml (const gchar *text)
{
  const gchar *at =
      g_str_has_prefix (text, "names:") ? text : strstr (text, "\nnames:");

  return at != NULL ? strchr (at, ':') + 1 : NULL;
}

static gboolean
read_lines (GPtrArray *names, const gchar *text, GError **error)
{
  gchar *copy = g_strchomp (g_strdup (text));
  gchar **lines = g_strsplit (copy, "\n", 0);
  const guint n = g_strv_length (lines);

  for (guint i = 0; i < MIN (n, MAX_NAMES); i++)
    g_ptr_array_add (names, g_strdup (g_strstrip (lines[i])));
  g_strfreev (lines);
  g_free (copy);
  return n <= MAX_NAMES
      || cuv_annotations_fail (error, "more than %d names", MAX_NAMES);
}

static gboolean
has_names (const GPtrArray *names)
{
  for (guint i = 0; i < names->len; i++) {
    if (*(const gchar *) names->pdata[i] != '\0')
      return TRUE;
  }
  return FALSE;
}

gchar **
cuv_annotations_names (const gchar *text, GError **error)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const gchar *yaml = find_yaml (text), *at = yaml;
  gboolean ok;

  while (at != NULL && (*at == ' ' || *at == '\t'))
    at++;
  if (yaml == NULL)
    ok = read_lines (names, text, error);
  else if (*at == '[' || *at == '{')
    ok = read_flow (names, at + 1, error);
  else
    ok = read_block (names, yaml, error);
  if (ok && !has_names (names))
    ok = cuv_annotations_fail (error, "no class names");
  g_ptr_array_add (names, NULL);
  if (ok)
    return (gchar **) g_ptr_array_free (names, FALSE);
  g_ptr_array_unref (names);
  return NULL;
}
