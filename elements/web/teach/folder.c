/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "teach/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static gchar *
cannot (const gchar *what, const gchar *name)
{
  return g_strdup_printf ("cannot %s '%s': %s", what, name, g_strerror (errno));
}

gint
cuv_folder_open (const gchar *path, gchar **problem)
{
  gint fd;

  *problem = NULL;
  if (mkdir (path, 0777) != 0 && errno != EEXIST)
    *problem = cannot ("create", path);
  fd = *problem == NULL ? open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (*problem == NULL && fd < 0)
    *problem = cannot ("open", path);
  if (fd >= 0 && faccessat (fd, ".", W_OK | X_OK, 0) != 0)
    *problem = cannot ("write to", path);
  else if (fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) != 0)
    *problem = g_strdup ("another visionwebsink uses it");
  if (*problem != NULL && fd >= 0) {
    close (fd);
    fd = -1;
  }
  return fd;
}

gboolean
cuv_folder_has (gint folder, const gchar *name)
{
  struct stat found;

  return fstatat (folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0;
}

gboolean
cuv_folder_is_folder (gint folder, const gchar *name)
{
  struct stat found;

  return fstatat (folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0
      && S_ISDIR (found.st_mode);
}

gchar *
cuv_folder_add (gint folder, const gchar *name)
{
  if (mkdirat (folder, name, 0777) != 0 && errno != EEXIST)
    return cannot ("create", name);
  return cuv_folder_is_folder (folder, name)
      ? NULL
      : g_strdup_printf ("'%s' in it is not a folder: remove it", name);
}

static gboolean
write_all (gint fd, const gchar *data, gsize size)
{
  while (size > 0) {
    const gssize n = write (fd, data, size);

    if (n < 0 && errno != EINTR)
      return FALSE;
    if (n > 0) {
      data += n;
      size -= (gsize) n;
    }
  }
  return fdatasync (fd) == 0;
}

gchar *
cuv_folder_create (gint folder, const gchar *name, gconstpointer data,
    gsize size, gboolean *exists)
{
  const gint fd = openat (
      folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  gchar *problem = NULL;

  *exists = fd < 0 && errno == EEXIST;
  if (fd < 0)
    return cannot ("write", name);
  if (!write_all (fd, data, size))
    problem = cannot ("write", name);
  if (close (fd) != 0 && problem == NULL)
    problem = cannot ("write", name);
  if (problem != NULL)
    unlinkat (folder, name, 0);
  return problem;
}

gchar *
cuv_folder_rename (gint folder, const gchar *from, const gchar *to)
{
  gchar *problem;

  if (renameat (folder, from, folder, to) == 0)
    return NULL;
  problem = cannot ("write", to);
  unlinkat (folder, from, 0);
  return problem;
}

gchar *
cuv_folder_replace (
    gint folder, const gchar *name, gconstpointer data, gsize size)
{
  gchar *temporary = g_strdup_printf (".%s.new", name);
  gchar *problem;
  gboolean exists;

  unlinkat (folder, temporary, 0); /* of a process that was killed */
  problem = cuv_folder_create (folder, temporary, data, size, &exists);
  if (problem == NULL)
    problem = cuv_folder_rename (folder, temporary, name);
  g_free (temporary);
  return problem;
}

void
cuv_folder_remove (gint folder, const gchar *name)
{
  unlinkat (folder, name, 0);
}

void
cuv_folder_remove_all (gint folder, const gchar *name)
{
  const gint fd =
      openat (folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
  const struct dirent *entry;

  if (dir == NULL) {
    unlinkat (folder, name, 0); /* not a folder */
    return;
  }
  while ((entry = readdir (dir)) != NULL)
    if (!g_str_equal (entry->d_name, ".") && !g_str_equal (entry->d_name, ".."))
      cuv_folder_remove_all (fd, entry->d_name);
  closedir (dir);
  unlinkat (folder, name, AT_REMOVEDIR);
}

gint64
cuv_folder_size (gint folder, const gchar *name)
{
  struct stat found;

  return fstatat (folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0
          && S_ISREG (found.st_mode)
      ? (gint64) found.st_size
      : -1;
}

GBytes *
cuv_folder_read (gint folder, const gchar *name, gsize max)
{
  const gint fd =
      openat (folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat found;
  GBytes *bytes = NULL;

  if (fd < 0)
    return NULL;
  if (fstat (fd, &found) == 0 && S_ISREG (found.st_mode)
      && (guint64) found.st_size <= max) {
    gchar *data = g_malloc ((gsize) found.st_size + 1);
    gsize size = 0;
    gssize n;

    while (size < (gsize) found.st_size
        && (n = read (fd, data + size, (gsize) found.st_size - size)) > 0)
      size += (gsize) n;
    data[size] = '\0';
    bytes = g_bytes_new_take (data, size);
  }
  close (fd);
  return bytes;
}
