/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hidden folder of a video's results. RESULTS is written as
 * .RESULTS.part/NUMBER, beside the lock .RESULTS.part/lock. NUMBER is random,
 * so that a pipeline of a run that was just killed cannot write to the files of
 * the next run. */
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- the lock ---- */

static gchar *
lock_path (const Workspace *self)
{
  return g_build_filename (self->part, "lock", NULL);
}

/* Returns whether the open file is still the one at the path: the previous
 * owner of the lock may have removed it. */
static gboolean
is_current (int file, const gchar *path)
{
  struct stat mine, named;

  return fstat (file, &mine) == 0 && stat (path, &named) == 0
      && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

/* Creates the hidden folder unless it exists. Anything else of that name, such
 * as a dangling link, is an error: try_lock() would be repeated for ever. */
static gboolean
make_part (const gchar *part, GError **error)
{
  struct stat info;

  if (g_mkdir (part, 0777) == 0)
    return TRUE;
  if (errno == EEXIST) {
    if (lstat (part, &info) != 0)
      return errno == ENOENT || files_fail ("read", part, error);
    if (S_ISDIR (info.st_mode))
      return TRUE;
    errno = ENOTDIR;
  }
  return files_fail ("create the folder", part, error);
}

/* Returns 1 if the video is locked now, 0 if another process has the lock, -1
 * to try again, or -2 on an error. */
static gint
try_lock (Workspace *self, const gchar *path, GError **error)
{
  if (!make_part (self->part, error))
    return -2;
  self->lock = g_open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (self->lock < 0 && errno == ENOENT)
    return -1;
  if (self->lock < 0) {
    files_fail ("open", path, error);
    return -2;
  }
  if (flock (self->lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return 0;
    files_fail ("lock", path, error);
    return -2;
  }
  return is_current (self->lock, path) ? 1 : -1;
}

static gboolean
take_lock (Workspace *self, GError **error)
{
  gchar *path = lock_path (self);
  gint result;

  while ((result = try_lock (self, path, error)) == -1) {
    if (self->lock >= 0)
      close (self->lock);
    self->lock = -1;
  }
  g_free (path);
  return result == 1;
}

/* ---- the folder ---- */

/* Removes all but the lock. */
static gboolean
workspace_clear (const Workspace *self, GError **error)
{
  GDir *dir = g_dir_open (self->part, 0, error);
  gboolean ok = dir != NULL;
  const gchar *name;

  while (ok && (name = g_dir_read_name (dir)) != NULL) {
    gchar *path = g_build_filename (self->part, name, NULL);

    ok = g_str_equal (name, "lock") || files_remove (path, error);
    g_free (path);
  }
  g_clear_pointer (&dir, g_dir_close);
  return ok;
}

static gchar *
old_path (const Workspace *self)
{
  return g_build_filename (self->part, "old", NULL);
}

/* Moves old results back if a process was killed after it had moved them. */
static gboolean
workspace_restore (const Workspace *self, GError **error)
{
  gchar *old = old_path (self);
  const gboolean ok = g_file_test (self->results, G_FILE_TEST_EXISTS)
      || g_rename (old, self->results) == 0 || errno == ENOENT
      || files_fail ("restore", self->results, error);

  g_free (old);
  return ok;
}

static gboolean
make_folder (Workspace *self, GError **error)
{
  gchar *name = g_strdup_printf ("%08x", g_random_int ());

  self->folder = g_build_filename (self->part, name, NULL);
  g_free (name);
  return g_mkdir (self->folder, 0777) == 0
      || files_fail ("create the folder", self->folder, error);
}

static gboolean
make_parent (const gchar *results, GError **error)
{
  gchar *parent = g_path_get_dirname (results);
  const gboolean ok = g_mkdir_with_parents (parent, 0777) == 0
      || files_fail ("create the folder", parent, error);

  g_free (parent);
  return ok;
}

static gchar *
part_of (const gchar *results)
{
  gchar *parent = g_path_get_dirname (results);
  gchar *name = g_path_get_basename (results);
  gchar *hidden = g_strdup_printf (".%s.part", name);
  gchar *part = g_build_filename (parent, hidden, NULL);

  g_free (parent);
  g_free (name);
  g_free (hidden);
  return part;
}

Workspace *
workspace_new (const gchar *results, gboolean parents, GError **error)
{
  Workspace *self = g_new0 (Workspace, 1);

  self->lock = -1;
  self->results = g_strdup (results);
  self->part = part_of (results);
  if ((!parents || make_parent (results, error)) && take_lock (self, error)) {
    if (workspace_restore (self, error) && workspace_clear (self, error)
        && make_folder (self, error))
      return self;
    workspace_free (self);
    return NULL;
  }
  /* without the lock the hidden folder must not be removed */
  if (self->lock >= 0)
    close (self->lock);
  self->lock = -1;
  workspace_free (self);
  return NULL;
}

static gboolean
rename_folder (const gchar *from, const gchar *to, GError **error)
{
  return g_rename (from, to) == 0 || files_fail ("write", to, error);
}

/* Exchanges both names at once if the file system can. Otherwise in two steps:
 * workspace_restore() repairs what a kill between them leaves. */
static gboolean
workspace_replace (const Workspace *self, GError **error)
{
  gchar *old;
  gboolean ok;

  if (renameat2 (
          AT_FDCWD, self->folder, AT_FDCWD, self->results, RENAME_EXCHANGE)
      == 0)
    return TRUE;
  old = old_path (self);
  ok = rename_folder (self->results, old, error);
  if (ok && !rename_folder (self->folder, self->results, error)) {
    ok = FALSE;
    g_rename (old, self->results);
  }
  g_free (old);
  return ok;
}

gboolean
workspace_publish (Workspace *self, GError **error)
{
  gchar *parent = g_path_get_dirname (self->results);
  gboolean ok = g_file_test (self->results, G_FILE_TEST_IS_DIR)
      ? workspace_replace (self, error)
      : rename_folder (self->folder, self->results, error);

  ok = ok && files_sync_folder (parent, error);
  g_free (parent);
  return ok;
}

/* Removes the lock last: after that another process may use the folder. */
static void
remove_all (Workspace *self)
{
  gchar *path = lock_path (self);

  if (workspace_clear (self, NULL) && g_unlink (path) == 0)
    g_rmdir (self->part);
  g_free (path);
  close (self->lock);
}

void
workspace_free (Workspace *self)
{
  if (self == NULL)
    return;
  if (self->lock >= 0)
    remove_all (self);
  g_free (self->part);
  g_free (self->folder);
  g_free (self->results);
  g_free (self);
}

void
workspace_clean (const gchar *results)
{
  gchar *part = part_of (results);

  if (g_file_test (part, G_FILE_TEST_EXISTS))
    workspace_free (workspace_new (results, FALSE, NULL));
  g_free (part);
}
