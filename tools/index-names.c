/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names from the command line, from stdin, and of files in folders. */
#include "cuvision-index.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gint
compare_file_names (gconstpointer a, gconstpointer b)
{
  const gchar *const *one = a, *const *other = b;

  return strcmp (*one, *other);
}

static gboolean
is_folder (const gchar *path)
{
  GStatBuf status;

  return g_lstat (path, &status) == 0 && S_ISDIR (status.st_mode);
}

/* Adds all files below a folder, sorted, without hidden ones. Does not follow
 * links to folders, which could lead back here. */
static gboolean
add_folder (GPtrArray *names, const gchar *path)
{
  GError *error = NULL;
  GDir *folder = g_dir_open (path, 0, &error);
  GPtrArray *inside = g_ptr_array_new_with_free_func (g_free);
  const gchar *name;
  gboolean ok = folder != NULL;

  while (ok && (name = g_dir_read_name (folder)) != NULL) {
    if (*name != '.')
      g_ptr_array_add (inside, g_build_filename (path, name, NULL));
  }
  g_ptr_array_sort (inside, compare_file_names);
  for (guint i = 0; ok && i < inside->len; i++) {
    if (is_folder (inside->pdata[i]))
      ok = add_folder (names, inside->pdata[i]);
    else if (!g_file_test (inside->pdata[i], G_FILE_TEST_IS_DIR))
      g_ptr_array_add (names, g_strdup (inside->pdata[i]));
  }
  if (error != NULL)
    g_printerr ("cuvision-index: %s\n", error->message);
  g_clear_error (&error);
  g_clear_pointer (&folder, g_dir_close);
  g_ptr_array_unref (inside);
  return ok;
}

static gboolean
add_name (GPtrArray *names, const gchar *name, gboolean folders)
{
  if (folders && g_file_test (name, G_FILE_TEST_IS_DIR))
    return add_folder (names, name);
  g_ptr_array_add (names, g_strdup (name));
  return TRUE;
}

static gboolean
add_lines (GPtrArray *names, gboolean folders)
{
  gchar *line = NULL;
  gsize size = 0;
  gssize n;
  gboolean ok = TRUE;

  while (ok && (n = getline (&line, &size, stdin)) >= 0) {
    if (n > 0 && line[n - 1] == '\n')
      line[--n] = '\0';
    if (n > 0 && line[n - 1] == '\r')
      line[n - 1] = '\0';
    if (*line != '\0')
      ok = add_name (names, line, folders);
  }
  if (ferror (stdin)) {
    g_printerr ("cuvision-index: cannot read standard input\n");
    ok = FALSE;
  }
  free (line);
  return ok;
}

gchar **
names_expand (gchar **arguments, gboolean folders)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  gboolean ok = TRUE;

  for (; ok && *arguments != NULL; arguments++)
    ok = g_str_equal (*arguments, "-") ? add_lines (names, folders)
                                       : add_name (names, *arguments, folders);
  g_ptr_array_add (names, NULL);
  if (ok)
    return (gchar **) g_ptr_array_free (names, FALSE);
  g_ptr_array_unref (names);
  return NULL;
}
