/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of YOLO's classes: those of --names, or of a file that programs write
 * beside the labels or in a folder above. */
#include "annotations.h"
#include "cuvfile.h"
#include "train-tool.h"

#include <string.h>

/* The folder and two above: data.yaml may be two above labels/train. */
enum { FOLDERS_ABOVE = 3 };

struct _Classes {
  gchar **given;       /* of --names, or NULL */
  GHashTable *folders; /* folder -> names; NULL if it has none */
};

static void
free_names (gpointer names)
{
  g_strfreev (names);
}

/* Returns the file that darknet's obj.data calls `names`: at its path, or
 * beside obj.data. Returns NULL if the text has no such line. */
static gchar *
find_named_file (const gchar *path, const gchar *text)
{
  GRegex *regex =
      g_regex_new ("^names\\s*=\\s*(\\S.*?)\\s*$", G_REGEX_MULTILINE, 0, NULL);
  gchar *folder = g_path_get_dirname (path), *found = NULL;
  GMatchInfo *match;

  if (g_regex_match (regex, text, 0, &match)) {
    gchar *name = g_match_info_fetch (match, 1);
    gchar *last = g_path_get_basename (name);

    found = g_canonicalize_filename (name, folder);
    if (!g_file_test (found, G_FILE_TEST_IS_REGULAR)) {
      g_free (found);
      found = g_build_filename (folder, last, NULL);
    }
    g_free (last);
    g_free (name);
  }
  g_match_info_free (match);
  g_regex_unref (regex);
  g_free (folder);
  return found;
}

/* Returns the decoded text of a file, or NULL with an error. */
static gchar *
read_text (const gchar *path, GError **error)
{
  gchar *bytes, *text;
  gsize size;

  if (!cuv_file_read (path, CUV_FILE_MAX_TEXT, &bytes, &size, error))
    return NULL;
  text = cuv_annotations_decode (bytes, size, error);
  g_free (bytes);
  return text;
}

static gchar **
read_names (const gchar *path, GError **error)
{
  gchar *text = read_text (path, error), **names = NULL;
  gchar *other = text != NULL ? find_named_file (path, text) : NULL;

  if (other != NULL) {
    g_free (text);
    text = read_text (other, error);
  }
  if (text != NULL)
    names = cuv_annotations_names (text, error);
  if (text != NULL && names == NULL)
    g_prefix_error (error, "%s: ", other != NULL ? other : path);
  g_free (other);
  g_free (text);
  return names;
}

/* Reads the names in a folder. Returns NULL with an error, or without one if no
 * file is there. */
static gchar **
find_names (const gchar *folder, GError **error)
{
  static const gchar *const files[] = { "classes.txt", "obj.names",
    "_darknet.labels", "data.yaml", "data.yml", "dataset.yaml", "obj.data" };
  gchar *path = NULL, **names = NULL;

  for (guint i = 0; path == NULL && i < G_N_ELEMENTS (files); i++) {
    path = g_build_filename (folder, files[i], NULL);
    if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
      g_clear_pointer (&path, g_free);
  }
  if (path != NULL)
    names = read_names (path, error);
  if (names != NULL)
    g_printerr ("using the class names of %s\n", path);
  g_free (path);
  return names;
}

/* Looks in the folder and those above. */
static gboolean
find_above (Classes *self, const gchar *folder, gchar ***names, GError **error)
{
  GError *problem = NULL;
  gchar *at = g_strdup (folder);

  for (gint i = 0; *names == NULL && problem == NULL && i < FOLDERS_ABOVE;
       i++) {
    gchar *above = g_path_get_dirname (at);

    *names = find_names (at, &problem);
    g_free (at);
    at = above;
  }
  g_free (at);
  if (problem != NULL)
    g_propagate_error (error, problem);
  else
    g_hash_table_insert (self->folders, g_strdup (folder), *names);
  return problem == NULL;
}

gboolean
classes_find (Classes *self, const gchar *path, const gchar *const **names,
    GError **error)
{
  gchar *real = files_real_path (path), *folder = g_path_get_dirname (real);
  gchar **found = self->given;
  gboolean ok = TRUE;

  if (found == NULL
      && !g_hash_table_lookup_extended (
          self->folders, folder, NULL, (gpointer *) &found))
    ok = find_above (self, folder, &found, error);
  *names = (const gchar *const *) found;
  g_free (folder);
  g_free (real);
  return ok;
}

Classes *
classes_new (const gchar *path, GError **error)
{
  Classes *self = g_new0 (Classes, 1);

  self->folders =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_names);
  if (path == NULL || (self->given = read_names (path, error)) != NULL)
    return self;
  classes_free (self);
  return NULL;
}

void
classes_free (Classes *self)
{
  if (self == NULL)
    return;
  g_strfreev (self->given);
  g_hash_table_unref (self->folders);
  g_free (self);
}
