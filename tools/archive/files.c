/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checksums of files, fsync, and removal of folders. */
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

gboolean
files_fail (const gchar *what, const gchar *path, GError **error)
{
  const gint number = errno;
  gchar *shown = g_filename_display_name (path);

  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (number),
      "cannot %s '%s': %s", what, shown, g_strerror (number));
  g_free (shown);
  return FALSE;
}

/* ---- checksums ---- */

/* Adds a file's bytes to the checksum. Returns their number, or -1 with errno.
 */
static gint64
checksum_file (int file, GChecksum *sum)
{
  guint8 bytes[65536];
  gint64 size = 0;
  ssize_t n;

  while ((n = read (file, bytes, sizeof bytes)) != 0) {
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return -1;
    g_checksum_update (sum, bytes, n);
    size += n;
  }
  return size;
}

static void
add_file (JsonArray *files, const gchar *name, gint64 size, GChecksum *sum)
{
  JsonObject *file = json_object_new ();
  gchar *shown = g_filename_display_name (name);

  json_object_set_string_member (file, "name", shown);
  json_object_set_int_member (file, "size", size);
  json_object_set_string_member (file, "sha256", g_checksum_get_string (sum));
  json_array_add_object_element (files, file);
  g_free (shown);
}

static gboolean
describe_file (const gchar *path, const gchar *name, gboolean sync,
    JsonArray *files, GError **error)
{
  const int file = g_open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  const gint64 size = file >= 0 ? checksum_file (file, sum) : -1;
  gboolean ok = size >= 0 || files_fail ("read", path, error);

  if (ok && sync && fsync (file) != 0)
    ok = files_fail ("sync", path, error);
  if (file >= 0)
    close (file);
  if (ok)
    add_file (files, name, size, sum);
  g_checksum_free (sum);
  return ok;
}

/* ---- folders ---- */

gboolean
files_sync_folder (const gchar *folder, GError **error)
{
  const int file = g_open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  /* some network file systems cannot sync folders */
  const gboolean ok =
      file >= 0 && (fsync (file) == 0 || errno == EINVAL || errno == ENOTSUP);

  if (!ok)
    files_fail ("sync", folder, error);
  if (file >= 0)
    close (file);
  return ok;
}

static gint
compare_entries (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *) a, *(const gchar *const *) b);
}

static GPtrArray *
names_in (const gchar *folder, GError **error)
{
  GDir *dir = g_dir_open (folder, 0, error);
  GPtrArray *names;
  const gchar *name;

  if (dir == NULL)
    return NULL;
  names = g_ptr_array_new_with_free_func (g_free);
  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_dir_close (dir);
  g_ptr_array_sort (names, compare_entries);
  return names;
}

static gboolean describe_folder (const gchar *folder, const gchar *prefix,
    gboolean sync, JsonArray *files, GError **error);

static gboolean
describe_entry (const gchar *path, const gchar *name, gboolean sync,
    JsonArray *files, GError **error)
{
  GStatBuf info;
  gchar *prefix;
  gboolean ok;

  if (g_lstat (path, &info) != 0)
    return files_fail ("read", path, error);
  if (S_ISREG (info.st_mode))
    return describe_file (path, name, sync, files, error);
  if (!S_ISDIR (info.st_mode))
    return TRUE;
  prefix = g_strconcat (name, "/", NULL);
  ok = describe_folder (path, prefix, sync, files, error);
  g_free (prefix);
  return ok;
}

static gboolean
describe_folder (const gchar *folder, const gchar *prefix, gboolean sync,
    JsonArray *files, GError **error)
{
  GPtrArray *names = names_in (folder, error);
  gboolean ok = names != NULL;

  for (guint i = 0; ok && i < names->len; i++) {
    gchar *path = g_build_filename (folder, names->pdata[i], NULL);
    gchar *name = g_strconcat (prefix, names->pdata[i], NULL);

    ok = describe_entry (path, name, sync, files, error);
    g_free (path);
    g_free (name);
  }
  g_clear_pointer (&names, g_ptr_array_unref);
  return ok && (!sync || files_sync_folder (folder, error));
}

JsonArray *
files_describe (const gchar *folder, gboolean sync, GError **error)
{
  JsonArray *files = json_array_new ();

  if (describe_folder (folder, "", sync, files, error))
    return files;
  json_array_unref (files);
  return NULL;
}

/* ---- removal ---- */

static int
remove_entry (
    const char *path, const struct stat *info, int kind, struct FTW *at)
{
  return remove (path) == 0 || errno == ENOENT ? 0 : -1;
}

gboolean
files_remove (const gchar *path, GError **error)
{
  if (nftw (path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0
      || errno == ENOENT)
    return TRUE;
  return files_fail ("remove", path, error);
}
