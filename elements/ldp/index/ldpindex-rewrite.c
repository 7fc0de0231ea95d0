/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "index/ldpindex-create.h"
#include "index/ldpindex-format.h"

/* The index's file, so that no other writer opens it, or -1. */
static int
lock (const char *path, char **error)
{
  const int fd = open (path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

  if (fd < 0)
    cuv_ldp_index_fail (error, path, "cannot be opened: %s", strerror (errno));
  else if (flock (fd, LOCK_EX | LOCK_NB) < 0)
    cuv_ldp_index_fail (error, path,
        errno == EWOULDBLOCK
            ? "another writer has it open: wait until it is done"
            : "cannot be locked: %s",
        strerror (errno));
  else if (cuv_ldp_index_is_moved (fd, path))
    cuv_ldp_index_fail (error, path,
        "another process has just replaced it: try "
        "again");
  else
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

static bool
write_beside (const char *path, const char *beside, CuvLdpIndexEdit edit,
    void *data, char **error)
{
  CuvLdpIndex *from = cuv_ldp_index_open (path, error);
  CuvLdpIndexWriter *to = NULL;
  char *unused = NULL;
  bool ok;

  if (from != NULL)
    to = cuv_ldp_index_writer_open (
        beside, cuv_ldp_index_info (from), false, error);
  ok = to != NULL && edit (data, from, to, error);
  if (to != NULL && !cuv_ldp_index_writer_close (to, ok ? error : &unused))
    ok = false;
  free (unused);
  cuv_ldp_index_free (from);
  return ok;
}

/* All of the new file is on the disk before it has the old one's name. */
static bool
put_in_place (int old, const char *beside, const char *path, char **error)
{
  const int fd = open (beside, O_RDWR | O_CLOEXEC);
  struct stat status;
  bool ok = fd >= 0 && fstat (old, &status) == 0
      && fchmod (fd, status.st_mode & 07777) == 0 && fsync (fd) == 0
      && rename (beside, path) == 0 && cuv_ldp_index_sync_folder (path);

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
  char *beside = NULL, *real;
  bool ok = false;
  int fd;

  *error = NULL;
  real = realpath (path, NULL); /* not the link, but what it leads to */
  fd = real != NULL ? lock (real, error) : -1;
  if (real == NULL)
    cuv_ldp_index_fail (error, path, "cannot be opened: %s", strerror (errno));
  if (fd >= 0 && asprintf (&beside, "%s.new-%ld", real, (long) getpid ()) > 0) {
    unlink (beside); /* of a process of this number that was killed */
    ok = write_beside (real, beside, edit, data, error)
        && put_in_place (fd, beside, real, error);
    if (!ok)
      unlink (beside);
    free (beside);
  }
  if (fd >= 0)
    close (fd);
  free (real);
  return ok;
}
