/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "train-tool.h"

#include <string.h>

/* Folders in which data sets keep pictures, beside that of the annotations. */
static const gchar *const folders[] = { "", "..", "../images", "../JPEGImages",
  "images" };

gchar *
files_find (const gchar *folder, const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++) {
    gchar *path = g_path_is_absolute (name)
        ? g_strdup (name)
        : g_build_filename (folder, folders[i], name, NULL);

    if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
      return path;
    g_free (path);
  }
  return NULL;
}

gchar *
files_find_picture_of (const gchar *path)
{
  static const gchar *const ends[] = { "jpg", "jpeg", "png", "JPG", "bmp",
    "webp", "tif", "ppm", "pgm" };
  gchar *folder = g_path_get_dirname (path), *name = g_path_get_basename (path);
  gchar *dot = strrchr (name, '.'), *found = NULL;

  if (dot != NULL)
    *dot = '\0';
  for (guint i = 0; found == NULL && i < G_N_ELEMENTS (ends); i++) {
    gchar *picture = g_strdup_printf ("%s.%s", name, ends[i]);

    found = files_find (folder, picture);
    g_free (picture);
  }
  g_free (name);
  g_free (folder);
  return found;
}

gint
files_compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *) a, *(const gchar *const *) b);
}

static void
list (const gchar *path, GPtrArray *files)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  GPtrArray *names;
  const gchar *name;

  if (dir == NULL) {
    g_ptr_array_add (files, g_strdup (path));
    return;
  }
  names = g_ptr_array_new_with_free_func (g_free);
  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_build_filename (path, name, NULL));
  g_dir_close (dir);
  g_ptr_array_sort (names, files_compare);
  for (guint i = 0; i < names->len; i++)
    list (names->pdata[i], files);
  g_ptr_array_unref (names);
}

GPtrArray *
files_list (const gchar *path)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);

  list (path, files);
  return files;
}
