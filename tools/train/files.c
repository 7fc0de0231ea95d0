/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the pictures that annotations name, and lists folders. */
#include "train-tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuvfile.h"

/* ---- places ---- */

static void
add_place (GPtrArray *places, gchar *place)
{
  if (g_file_test (place, G_FILE_TEST_IS_DIR))
    g_ptr_array_add (places, place);
  else
    g_free (place);
}

/* Adds images/train if the folder is labels/train. */
static void
add_twin (GPtrArray *places, const gchar *folder)
{
  static const gchar *const names[] = { "labels", "annotations", "Annotations",
    NULL };
  gchar **parts = g_strsplit (folder, "/", 0);

  for (guint i = g_strv_length (parts); i > 0; i--) {
    if (!g_strv_contains (names, parts[i - 1]))
      continue;
    g_free (parts[i - 1]);
    parts[i - 1] = g_strdup ("images");
    add_place (places, g_strjoinv ("/", parts));
    break;
  }
  g_strfreev (parts);
}

/* Adds train2017, beside the file or above it, if the file is
 * instances_train2017.json. */
static void
add_namesakes (GPtrArray *places, const gchar *folder, const gchar *path)
{
  static const gchar *const above[] = { "", "..", "../images" };
  gchar *stem = g_path_get_basename (path), *dot = strrchr (stem, '.');
  const gchar *part;

  if (dot != NULL)
    *dot = '\0';
  part = strrchr (stem, '_');
  for (guint i = 0; i < G_N_ELEMENTS (above); i++) {
    add_place (places, g_build_filename (folder, above[i], stem, NULL));
    if (part != NULL)
      add_place (places, g_build_filename (folder, above[i], part + 1, NULL));
  }
  g_free (stem);
}

GPtrArray *
files_places (const gchar *path, gchar **images)
{
  /* where data sets keep pictures, beside annotations */
  static const gchar *const usual[] = { "", "..", "../images", "../JPEGImages",
    "images" };
  gchar *real = files_real_path (path),
        *real_folder = g_path_get_dirname (real);
  gchar *folder = g_path_get_dirname (path);
  GPtrArray *places = g_ptr_array_new_with_free_func (g_free);

  for (; images != NULL && *images != NULL; images++)
    add_place (places, g_strdup (*images));
  for (guint i = 0; i < G_N_ELEMENTS (usual); i++)
    add_place (places, g_build_filename (folder, usual[i], NULL));
  add_twin (places, real_folder);
  add_namesakes (places, folder, path);
  add_place (places, g_strdup ("."));
  g_free (folder);
  g_free (real_folder);
  g_free (real);
  return places;
}

gchar *
files_list_places (const GPtrArray *places)
{
  GHashTable *seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < places->len; i++) {
    gchar *real = files_real_path (places->pdata[i]);

    if (!g_hash_table_contains (seen, real))
      g_string_append_printf (text, "%s'%s'", text->len > 0 ? ", " : "", real);
    g_hash_table_add (seen, real);
  }
  g_hash_table_unref (seen);
  return g_string_free (text, FALSE);
}

/* ---- pictures ---- */

static gchar *
find_in (const GPtrArray *places, const gchar *name)
{
  for (guint i = 0; i < places->len; i++) {
    gchar *path = g_path_is_absolute (name)
        ? g_strdup (name)
        : g_build_filename (places->pdata[i], name, NULL);

    if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
      return path;
    g_free (path);
  }
  return NULL;
}

/* Finds a picture by its name without extension. */
static gchar *
find_stem (const GPtrArray *places, const gchar *stem)
{
  static const gchar *const ends[] = { "jpg", "jpeg", "png", "JPG", "JPEG",
    "PNG", "bmp", "webp", "tif", "tiff", "ppm", "pgm" };
  gchar *found = NULL;

  for (guint i = 0; found == NULL && i < G_N_ELEMENTS (ends); i++) {
    gchar *name = g_strdup_printf ("%s.%s", stem, ends[i]);

    found = find_in (places, name);
    g_free (name);
  }
  return found;
}

/* Pictures may have been converted to another format after annotation. */
static gchar *
find_other_extension (const GPtrArray *places, const gchar *name)
{
  gchar *stem = g_strdup (name), *dot = strrchr (stem, '.');
  gchar *found = find_stem (places, stem);

  if (found == NULL && dot != NULL && strchr (dot, '/') == NULL) {
    *dot = '\0';
    found = find_stem (places, stem);
  }
  g_free (stem);
  return found;
}

gchar *
files_find (const GPtrArray *places, const gchar *name, gboolean is_video)
{
  gchar *found = find_in (places, name);
  gchar *slashes = g_strdelimit (g_strdup (name), "\\", '/');
  gchar *last = g_path_get_basename (slashes);

  if (found == NULL)
    found = find_in (places, slashes);
  if (found == NULL)
    found = find_in (places, last);
  if (found == NULL && !is_video)
    found = find_other_extension (places, slashes);
  if (found == NULL && !is_video)
    found = find_other_extension (places, last);
  g_free (last);
  g_free (slashes);
  return found;
}

gchar *
files_find_picture_of (const GPtrArray *places, const gchar *path)
{
  gchar *stem = g_path_get_basename (path), *dot = strrchr (stem, '.');
  gchar *found;

  if (dot != NULL)
    *dot = '\0';
  found = find_stem (places, stem);
  g_free (stem);
  return found;
}

/* ---- content ---- */

/* Reads the first bytes. Returns their number, 0 if path is not a regular
 * file. */
static gsize
read_begin (const gchar *path, gchar *bytes, gsize size)
{
  const char *problem;
  const int file = cuv_file_open (path, NULL, &problem);
  const gssize n = file >= 0 ? read (file, bytes, size) : 0;

  if (file >= 0)
    close (file);
  return (gsize) MAX (n, 0);
}

gboolean
files_is_text (const gchar *path)
{
  gchar bytes[4096];
  const gsize n = read_begin (path, bytes, sizeof bytes);
  const gboolean utf16 = n >= 2
      && (memcmp (bytes, "\377\376", 2) == 0
          || memcmp (bytes, "\376\377", 2) == 0);

  return utf16 || memchr (bytes, '\0', n) == NULL;
}

gboolean
files_is_list (const gchar *path)
{
  gchar begin[2] = "";
  const gsize n = read_begin (path, begin, 2);
  const gboolean is_pnm =
      n == 2 && begin[0] == 'P' && g_ascii_isdigit (begin[1]);

  return n > 0 && *begin != '<' && !is_pnm && files_is_text (path);
}

/* ---- folders ---- */

gchar *
files_real_path (const gchar *path)
{
  char *real = realpath (path, NULL);
  gchar *copy = g_strdup (real != NULL ? real : path);

  free (real);
  return copy;
}

gint
files_compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *) a, *(const gchar *const *) b);
}

/* seen: real paths of folders: links may lead back to them. */
static void
list_files (const gchar *path, GHashTable *seen, GPtrArray *files)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  GPtrArray *names;
  const gchar *name;

  if (dir == NULL) {
    g_ptr_array_add (files, g_strdup (path));
    return;
  }
  names = g_ptr_array_new_with_free_func (g_free);
  if (g_hash_table_add (seen, files_real_path (path)))
    while ((name = g_dir_read_name (dir)) != NULL)
      g_ptr_array_add (names, g_build_filename (path, name, NULL));
  g_dir_close (dir);
  g_ptr_array_sort (names, files_compare);
  for (guint i = 0; i < names->len; i++)
    list_files (names->pdata[i], seen, files);
  g_ptr_array_unref (names);
}

GPtrArray *
files_list (const gchar *path)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  GHashTable *seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  list_files (path, seen, files);
  g_hash_table_unref (seen);
  return files;
}
