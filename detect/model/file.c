/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/file.h"
#include "config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "cuvfile.h"

static const char opencv_folders[] =
    "/usr/share/opencv4/lbpcascades"
    ":/usr/share/opencv4/haarcascades:/usr/local/share/opencv4/lbpcascades"
    ":/usr/local/share/opencv4/haarcascades";

/* Returns the folder of our models; g_free() it. Installations may be moved, as
 * wheels are: it is searched for in the prefix of the library that has this
 * code, which is in lib, lib/TRIPLET or a folder of one of these. */
static char *
own_model_folder (void)
{
  Dl_info file;
  char *prefix, *folder = NULL;

  if (dladdr (opencv_folders, &file) == 0
      || !g_path_is_absolute (file.dli_fname))
    return g_strdup (CUV_MODEL_FOLDER);
  prefix = g_path_get_dirname (file.dli_fname);
  for (int i = 0; i < 3 && folder == NULL; i++) {
    char *parent = g_path_get_dirname (prefix);

    g_free (prefix);
    prefix = parent;
    folder = g_build_filename (prefix, "share", "gst-cuvision", "models", NULL);
    if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
      g_clear_pointer (&folder, g_free);
  }
  g_free (prefix);
  return folder != NULL ? folder : g_strdup (CUV_MODEL_FOLDER);
}

/* Returns the folders to search; free the list with g_strfreev(). */
static char **
model_folders (void)
{
  const char *variable = g_getenv ("CUV_MODEL_PATH");
  char *own = own_model_folder ();
  char *all = g_strjoin (
      ":", variable != NULL ? variable : "", own, opencv_folders, NULL);
  char **list = g_strsplit (all, ":", -1);

  g_free (all);
  g_free (own);
  return list;
}

static char *
find_model (const char *name)
{
  char **list, *path = NULL;

  if (*name == '\0')
    return NULL;
  if (strchr (name, G_DIR_SEPARATOR) != NULL
      || g_file_test (name, G_FILE_TEST_EXISTS))
    return g_strdup (name);
  list = model_folders ();
  for (char **folder = list; *folder != NULL && path == NULL; folder++) {
    path = g_build_filename (*folder, name, NULL);
    if (!g_file_test (path, G_FILE_TEST_EXISTS))
      g_clear_pointer (&path, g_free);
  }
  g_strfreev (list);
  return path;
}

gboolean
cuv_model_exists (const char *name)
{
  char *path = find_model (name);
  const gboolean exists =
      path != NULL && g_file_test (path, G_FILE_TEST_EXISTS);

  g_free (path);
  return exists;
}

/* ---- suggestions ---- */

/* Returns the Levenshtein distance. */
static guint
edit_distance (const char *a, const char *b)
{
  gsize n = strlen (b);
  guint *row = g_new (guint, n + 1), distance;

  for (gsize i = 0; i <= n; i++)
    row[i] = (guint) i;
  for (; *a != '\0'; a++) {
    guint corner = row[0]++;

    for (gsize i = 1; i <= n; i++) {
      guint above = row[i];

      row[i] = MIN (MIN (above, row[i - 1]) + 1, corner + (*a != b[i - 1]));
      corner = above;
    }
  }
  distance = row[n];
  g_free (row);
  return distance;
}

/* weight of a wrong letter; exceeds the length of any name */
#define LETTER 256

/* Returns the name without its folder and endings, such as .yml.gz; g_free()
 * it. */
static char *
stem_of (const char *name)
{
  char *stem = g_path_get_basename (name), *dot;

  if (g_str_has_suffix (stem, ".gz"))
    stem[strlen (stem) - strlen (".gz")] = '\0';
  dot = strrchr (stem, '.');
  if (dot != NULL && dot != stem)
    *dot = '\0';
  return stem;
}

/* Returns how much a file name differs from the searched one. A file name that
 * contains the searched name counts as one wrong letter, with ties broken by
 * length; one that only adds _default wins. */
static guint
name_distance (const char *name, const char *stem, const char *entry)
{
  const gsize n = strlen (stem);
  const guint letters = edit_distance (name, entry);

  if (g_str_has_prefix (entry, stem)
      && g_str_has_prefix (entry + n, "_default."))
    return 0;
  return n > 2 && strstr (entry, stem) != NULL ? LETTER + letters
                                               : LETTER * letters;
}

static void
find_nearer (
    const char *folder, const char *name, char **nearest, guint *distance)
{
  GDir *dir = *folder != '\0' ? g_dir_open (folder, 0, NULL) : NULL;
  char *stem = stem_of (name);
  const char *entry;

  while (dir != NULL && (entry = g_dir_read_name (dir)) != NULL) {
    const guint d = name_distance (name, stem, entry);

    if (d < *distance && g_str_has_suffix (entry, ".xml")) {
      *distance = d;
      g_free (*nearest);
      *nearest = g_strdup (entry);
    }
  }
  if (dir != NULL)
    g_dir_close (dir);
  g_free (stem);
}

/* Returns the most similar file name in the folders, or NULL if none is
 * similar. */
static char *
nearest_name (const char *name)
{
  guint distance = LETTER * ((guint) strlen (name) / 3 + 2);
  char **list = model_folders (), *nearest = NULL;

  for (char **folder = list; *folder != NULL; folder++)
    find_nearer (*folder, name, &nearest, &distance);
  g_strfreev (list);
  return nearest;
}

static void
set_not_found (GError **error, const char *name)
{
  char *nearest = nearest_name (name), *own = own_model_folder ();

  if (*name == '\0')
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "no file name given");
  else
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
        "no model file %s here, in CUV_MODEL_PATH, in %s or in OpenCV's "
        "folders; %s%s",
        name, own,
        nearest != NULL ? "the most similar name is "
                        : "give its path, or put its folder into "
                          "CUV_MODEL_PATH (OpenCV's cascades are in the "
                          "package opencv-data)",
        nearest != NULL ? nearest : "");
  g_free (nearest);
  g_free (own);
}

const CuvWaldboostModel *
cuv_model_load (
    const char *name, const CuvModelOptions *options, GError **error)
{
  const CuvWaldboostModel *model = NULL;
  char *path = find_model (name), *bytes = NULL, *problem = NULL;
  gsize size;

  if (path == NULL)
    set_not_found (error, name);
  else if (cuv_file_read (path, CUV_MODEL_MAX_BYTES, &bytes, &size, error))
    model = cuv_model_parse (bytes, size, options, &problem);
  if (problem != NULL)
    g_set_error (
        error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: %s", path, problem);
  free (problem);
  g_free (bytes);
  g_free (path);
  return model;
}

char *
cuv_model_label (const char *name)
{
  static const char *const prefixes[] = { "cuvision-", "lbpcascade_",
    "haarcascade_" };
  char *base = stem_of (name), *start = base, *label;

  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++) {
    if (g_str_has_prefix (start, prefixes[i]))
      start += strlen (prefixes[i]);
  }
  label = g_strdup (start);
  g_free (base);
  return label;
}
