/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "modelfile.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

static const char *const folders[] = { "/usr/share/opencv4/lbpcascades",
  "/usr/share/opencv4/haarcascades", "/usr/local/share/opencv4/lbpcascades",
  "/usr/local/share/opencv4/haarcascades" };

static char *
find_in (const char *folder, const char *name)
{
  char *path = g_build_filename (folder, name, NULL);

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return path;
  g_free (path);
  return NULL;
}

static char *
find_model (const char *name)
{
  const char *variable = g_getenv ("CUV_MODEL_PATH");
  char **own, *path = NULL;

  if (*name == '\0')
    return NULL;
  if (strchr (name, G_DIR_SEPARATOR) != NULL
      || g_file_test (name, G_FILE_TEST_EXISTS))
    return g_strdup (name);
  own = g_strsplit (variable ? variable : "", G_SEARCHPATH_SEPARATOR_S, -1);
  for (guint i = 0; own[i] != NULL && path == NULL; i++)
    path = find_in (own[i], name);
  g_strfreev (own);
  for (guint i = 0; i < G_N_ELEMENTS (folders) && path == NULL; i++)
    path = find_in (folders[i], name);
  return path;
}

/* A FIFO would block and a device never end, so only regular files are read. */
static gboolean
read_file (const char *path, char **bytes, gsize *size, GError **error)
{
  GFile *file = g_file_new_for_path (path);
  GFileInfo *info = g_file_query_info (file,
      G_FILE_ATTRIBUTE_STANDARD_TYPE "," G_FILE_ATTRIBUTE_STANDARD_SIZE,
      G_FILE_QUERY_INFO_NONE, NULL, error);
  gboolean ok = FALSE;

  if (info == NULL)
    ;
  else if (g_file_info_get_file_type (info) != G_FILE_TYPE_REGULAR)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
        "%s is not a regular file", path);
  else if (g_file_info_get_size (info) > CUV_MODEL_MAX_BYTES)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
        "%s is larger than %d bytes: no model is", path, CUV_MODEL_MAX_BYTES);
  else
    ok = g_file_get_contents (path, bytes, size, error);
  g_clear_object (&info);
  g_object_unref (file);
  return ok;
}

static void
set_not_found (GError **error, const char *name)
{
  gboolean opencv = g_str_has_prefix (name, "haarcascade_")
      || g_str_has_prefix (name, "lbpcascade_");

  if (*name == '\0')
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no name");
  else if (opencv)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
        "no model file %s here, in CUV_MODEL_PATH or in OpenCV's folders; "
        "it is in the package opencv-data",
        name);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
        "no model file %s here, in CUV_MODEL_PATH or in OpenCV's folders; "
        "give its path, or put its folder into CUV_MODEL_PATH (OpenCV's "
        "cascades are in the package opencv-data)",
        name);
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
  else if (read_file (path, &bytes, &size, error))
    model = cuv_model_parse (bytes, size, options, &problem);
  if (problem != NULL)
    g_set_error (
        error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: %s", path, problem);
  free (problem);
  g_free (bytes);
  g_free (path);
  return model;
}

char *
cuv_model_label (const char *name)
{
  static const char *const prefixes[] = { "lbpcascade_", "haarcascade_" };
  char *base = g_path_get_basename (name), *start = base, *label;
  char *dot = strrchr (base, '.');

  if (dot != NULL && dot != base)
    *dot = '\0';
  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++) {
    if (g_str_has_prefix (start, prefixes[i]))
      start += strlen (prefixes[i]);
  }
  label = g_strdup (start);
  g_free (base);
  return label;
}
