/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "index/ldpindex-file.h"
#include "index/ldpindex-format.h"

/* Opens and locks the index. Returns its file descriptor, or -1. */
static int
open_locked (const char *path, char **error)
{
  const int fd = open (path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

  if (fd < 0) {
    cuv_ldp_index_fail (error, path, "cannot be opened: %s", strerror (errno));
    return -1;
  }
  if (cuv_ldp_index_lock (fd, path, error)) {
    if (!cuv_ldp_index_is_moved (fd, path))
      return fd;
    cuv_ldp_index_fail (
        error, path, "another process has just replaced it: try again");
  }
  close (fd);
  return -1;
}

static bool
write_new (const char *path, const char *temporary, CuvLdpIndexEdit edit,
    void *data, char **error)
{
  CuvLdpIndex *from = cuv_ldp_index_open (path, error);
  CuvLdpIndexWriter *to = NULL;
  char *unused = NULL;
  bool ok;

  if (from != NULL)
    to = cuv_ldp_index_writer_open (
        temporary, cuv_ldp_index_info (from), false, error);
  ok = to != NULL && edit (data, from, to, error);
  if (to != NULL && !cuv_ldp_index_writer_close (to, ok ? error : &unused))
    ok = false;
  free (unused);
  cuv_ldp_index_free (from);
  return ok;
}

/* Syncs the new file before it takes the old one's name. */
static bool
replace (int old, const char *temporary, const char *path, char **error)
{
  const int fd = open (temporary, O_RDWR | O_CLOEXEC);
  struct stat status;
  bool ok = fd >= 0 && fstat (old, &status) == 0
      && fchmod (fd, status.st_mode & 07777) == 0 && fsync (fd) == 0
      && rename (temporary, path) == 0 && cuv_ldp_index_sync_folder (path);

  if (!ok)
    cuv_ldp_index_fail (
        error, path, "cannot be replaced: %s", strerror (errno));
  if (fd >= 0)
    close (fd);
  return ok;
}

bool
cuv_ldp_index_rewrite (
    const char *path, CuvLdpIndexEdit edit, void *data, char **error)
{
  char *temporary = NULL, *real;
  bool ok = false;
  int fd;

  *error = NULL;
  real =
      realpath (path, NULL); /* replaces the target of a link, not the link */
  fd = real != NULL ? open_locked (real, error) : -1;
  if (real == NULL)
    cuv_ldp_index_fail (error, path, "cannot be opened: %s", strerror (errno));
  if (fd >= 0
      && asprintf (&temporary, "%s.new-%ld", real, (long) getpid ()) > 0) {
    unlink (temporary); /* left by a killed process with the same id */
    ok = write_new (real, temporary, edit, data, error)
        && replace (fd, temporary, real, error);
    if (!ok)
      unlink (temporary);
    free (temporary);
  }
  if (fd >= 0)
    close (fd);
  free (real);
  return ok;
}
