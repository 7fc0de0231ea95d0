/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of indexes: creates, locks, writes, renames and syncs them. */
#include "index/ldpindex-format.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool
cuv_ldp_index_write_all (int fd, const void *bytes, size_t size, uint64_t at)
{
  for (size_t done = 0; done < size;) {
    const ssize_t written = pwrite (
        fd, (const uint8_t *) bytes + done, size - done, (off_t) (at + done));

    if (written < 0 && errno == EINTR)
      continue;
    if (written == 0)
      errno = ENOSPC;
    if (written <= 0)
      return false;
    done += (size_t) written;
  }
  return true;
}

bool
cuv_ldp_index_sync_folder (const char *path)
{
  char *copy = strdup (path);
  int fd = copy == NULL
      ? -1
      : open (dirname (copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool ok = fd >= 0 && fsync (fd) == 0;

  if (fd >= 0)
    close (fd);
  free (copy);
  return ok;
}

bool
cuv_ldp_index_is_path_replaced (int fd, const char *path)
{
  struct stat ours, theirs;

  return fstat (fd, &ours) == 0
      && (stat (path, &theirs) != 0 || ours.st_dev != theirs.st_dev
          || ours.st_ino != theirs.st_ino);
}

bool
cuv_ldp_index_lock (int fd, const char *path, char **error)
{
  return flock (fd, LOCK_EX | LOCK_NB) == 0
      || cuv_ldp_index_fail (error, path,
          errno == EWOULDBLOCK
              ? "another writer has it open: wait until it is done"
              : "cannot be locked: %s",
          strerror (errno));
}

/* ---- a new file ---- */

/* Opens a new file next to path. Keeps files that a killed process, possibly
 * with the same process id, left behind. */
static int
open_temporary (const char *path, char **name)
{
  int fd;

  for (int i = 0; i <= 1000; i++) {
    if (asprintf (name, "%s.new-%ld-%d", path, (long) getpid (), i) < 0) {
      *name = NULL;
      errno = ENOMEM;
      return -1;
    }
    fd = open (*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
      return fd;
    free (*name);
    *name = NULL;
    if (errno != EEXIST)
      break;
  }
  return -1;
}

static bool
write_page (int fd, const CuvLdpIndexInfo *info)
{
  uint8_t page[CUV_LDP_INDEX_PAGE] = { 0 };

  cuv_ldp_index_header (info, page);
  cuv_ldp_index_slot (0, page + cuv_ldp_index_slot_offset (0));
  return cuv_ldp_index_write_all (fd, page, sizeof page, 0);
}

bool
cuv_ldp_index_rename_new (const char *from, const char *to)
{
  if (renameat2 (AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return true;
  if (errno != EINVAL && errno != ENOSYS)
    return false;
  if (link (from, to) < 0) /* file systems without RENAME_NOREPLACE */
    return false;
  unlink (from);
  return true;
}

int
cuv_ldp_index_create (const char *path, const CuvLdpIndexInfo *info, bool sync)
{
  char *name;
  const int fd = open_temporary (path, &name);
  int reason = 0;

  if (fd < 0)
    return -1;
  if (flock (fd, LOCK_EX | LOCK_NB) < 0 || !write_page (fd, info)
      || (sync && fsync (fd) < 0) || !cuv_ldp_index_rename_new (name, path)) {
    reason = errno;
    unlink (name);
  } else if (sync && !cuv_ldp_index_sync_folder (path))
    reason = errno;
  free (name);
  if (reason == 0)
    return fd;
  close (fd);
  errno = reason;
  return -1;
}
