/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writer: appends entries, or rewrites a whole index. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "index/ldpindex-format.h"

struct CuvLdpIndexWriter {
  CuvLdpIndexInfo info;
  char *path;
  uint8_t *entry; /* stride bytes */
  int fd;
  uint64_t n_entries;
  uint64_t n_committed; /* smaller than n_entries only during a batch */
  bool sync;
  bool in_batch;
  bool is_broken; /* a sync failed: the content of the disk is unknown */
  bool is_full;   /* no disk space for the last entry */
};

static bool
write_slot (CuvLdpIndexWriter *self, uint64_t n_entries)
{
  uint8_t slot[CUV_LDP_INDEX_SLOT];

  cuv_ldp_index_slot (n_entries, slot);
  return cuv_ldp_index_write_all (
      self->fd, slot, sizeof slot, cuv_ldp_index_slot_offset (n_entries));
}

/* ---- opening ---- */

/* Truncates an entry that a killed writer did not commit. A damaged slot is
 * rewritten first, because the next commit overwrites the other, valid one. */
static bool
recover (CuvLdpIndexWriter *self, const CuvLdpIndexState *state, char **error)
{
  const uint64_t end = cuv_ldp_index_offset (&state->info, state->n_entries);

  self->n_entries = self->n_committed = state->n_entries;
  if ((state->is_recovered
          && ((self->sync && fdatasync (self->fd) < 0)
              || !write_slot (self, self->n_entries)
              || (self->sync && fdatasync (self->fd) < 0)))
      || ftruncate (self->fd, (off_t) end) < 0)
    return cuv_ldp_index_fail (
        error, self->path, "cannot be written: %s", strerror (errno));
  return true;
}

static bool
open_existing (CuvLdpIndexWriter *self, char **error)
{
  CuvLdpIndexSource source = { .fd = self->fd };
  CuvLdpIndexState state;

  return cuv_ldp_index_lock (self->fd, self->path, error)
      && cuv_ldp_index_load (&state, &source, self->path, error)
      && cuv_ldp_index_check_same (&state.info, &self->info, self->path, error)
      && recover (self, &state, error);
}

/* Retries: another process may create or remove the file between the calls. */
static bool
open_or_create (CuvLdpIndexWriter *self, char **error)
{
  for (int i = 0; i < 10; i++) {
    self->fd = open (self->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (self->fd >= 0) {
      if (!open_existing (self, error))
        return false;
      if (!cuv_ldp_index_is_path_replaced (self->fd, self->path))
        return true;
      close (self->fd); /* it was replaced before it was locked */
      self->fd = -1;
      continue;
    }
    if (errno != ENOENT)
      break;
    self->fd = cuv_ldp_index_create (self->path, &self->info, self->sync);
    if (self->fd >= 0)
      return true;
    if (errno != EEXIST)
      break;
  }
  return cuv_ldp_index_fail (
      error, self->path, "cannot be written: %s", strerror (errno));
}

CuvLdpIndexWriter *
cuv_ldp_index_writer_open (
    const char *path, const CuvLdpIndexInfo *info, bool sync, char **error)
{
  CuvLdpIndexWriter *self = calloc (1, sizeof *self);
  char *unused;

  *error = NULL;
  if (self == NULL) {
    cuv_ldp_index_fail (error, path, "out of memory");
    return NULL;
  }
  *self = (CuvLdpIndexWriter){ .info = *info,
    .path = strdup (path),
    .entry = malloc ((size_t) info->stride),
    .fd = -1,
    .sync = sync };
  if (self->path == NULL || self->entry == NULL)
    cuv_ldp_index_fail (error, path, "out of memory for an entry of %llu bytes",
        (unsigned long long) info->stride);
  else if (open_or_create (self, error))
    return self;
  cuv_ldp_index_writer_close (self, &unused);
  free (unused);
  return NULL;
}

/* ---- appending ---- */

static bool
fill_name (CuvLdpIndexWriter *self, const char *name, char **error)
{
  uint8_t *to = self->entry + cuv_ldp_index_name_offset (&self->info);
  const size_t n_name = strlen (name);

  if (n_name > CUV_LDP_INDEX_MAX_NAME)
    return cuv_ldp_index_fail (error, self->path,
        "a name has %zu bytes, but at most %d fit: shorten '%.40s...'", n_name,
        CUV_LDP_INDEX_MAX_NAME, name);
  if (!cuv_ldp_index_is_utf8 (name))
    return cuv_ldp_index_fail (error, self->path,
        "the name '%s' is not UTF-8: rename the picture", name);
  memset (to, 0, CUV_LDP_INDEX_NAME);
  memcpy (to, name, n_name);
  return true;
}

static bool
fill_entry (CuvLdpIndexWriter *self, const uint32_t *counts, const char *name,
    const uint8_t *thumbnail, char **error)
{
  const CuvLdpIndexInfo *info = &self->info;

  memset (self->entry, 0, (size_t) info->stride);
  if (!fill_name (self, name, error))
    return false;
  if (!cuv_ldp_index_pack (&info->layout, counts, self->entry))
    return cuv_ldp_index_fail (error, self->path,
        "the histograms of '%s' do not contain all codes of a picture of "
        "%dx%d: compute its descriptor again",
        name, (int) info->layout.width, (int) info->layout.height);
  if (thumbnail != NULL)
    memcpy (self->entry + cuv_ldp_index_thumbnail_offset (info), thumbnail,
        3 * (size_t) info->thumbnail_width * (size_t) info->thumbnail_height);
  return true;
}

static bool
report_write_error (CuvLdpIndexWriter *self, int reason, char **error)
{
  self->is_full = reason == ENOSPC || reason == EFBIG || reason == EDQUOT;
  return cuv_ldp_index_fail (error, self->path,
      "a new entry cannot be written: %s; the %llu existing entries are kept%s",
      strerror (reason), (unsigned long long) self->n_entries,
      self->is_full ? ": free disk space and try again" : "");
}

static bool
sync_data (CuvLdpIndexWriter *self)
{
  self->is_broken = self->sync && fdatasync (self->fd) < 0;
  return !self->is_broken;
}

/* Readers and crash recovery rely on this order: entry, sync, slot. */
static bool
commit (CuvLdpIndexWriter *self)
{
  const uint64_t at = cuv_ldp_index_offset (&self->info, self->n_entries);

  return cuv_ldp_index_write_all (
             self->fd, self->entry, (size_t) self->info.stride, at)
      && (self->in_batch
          || (sync_data (self) && write_slot (self, self->n_entries + 1)));
}

static bool
can_append (CuvLdpIndexWriter *self, char **error)
{
  *error = NULL;
  self->is_full = false;
  return !self->is_broken
      || cuv_ldp_index_fail (error, self->path,
          "the disk failed: check the disk, then open the index again");
}

/* Appends self->entry. */
static bool
append_entry (CuvLdpIndexWriter *self, char **error)
{
  int reason;

  cuv_ldp_put32 (self->entry + self->info.stride - 4,
      cuv_ldp_index_checksum (&self->info, self->n_entries, self->entry));
  if (!commit (self)) {
    reason = errno;
    /* truncating frees the space and leaves nothing to recover */
    self->is_broken |=
        ftruncate (self->fd,
            (off_t) cuv_ldp_index_offset (&self->info, self->n_entries))
        < 0;
    return report_write_error (self, reason, error);
  }
  if (!self->in_batch && !sync_data (self))
    return cuv_ldp_index_fail (error, self->path,
        "the disk failed: %s; the last entry may be lost", strerror (errno));
  self->n_entries++;
  if (!self->in_batch)
    self->n_committed = self->n_entries;
  return true;
}

bool
cuv_ldp_index_writer_append (CuvLdpIndexWriter *self, const uint32_t *counts,
    const char *name, const uint8_t *thumbnail, char **error)
{
  return can_append (self, error)
      && fill_entry (self, counts, name, thumbnail, error)
      && append_entry (self, error);
}

bool
cuv_ldp_index_writer_copy (CuvLdpIndexWriter *self, const CuvLdpIndex *from,
    uint64_t i, const char *name, char **error)
{
  if (!can_append (self, error)
      || !cuv_ldp_index_check_same (
          cuv_ldp_index_info (from), &self->info, self->path, error))
    return false;
  if (!cuv_ldp_index_check_entry (from, i))
    return cuv_ldp_index_fail (error, cuv_ldp_index_path (from),
        "entry %llu is damaged (checksum mismatch): cuvision-index compact "
        "removes all damaged entries of a file",
        (unsigned long long) i);
  memcpy (self->entry, cuv_ldp_index_descriptor (from, i),
      (size_t) self->info.stride);
  return (name == NULL || fill_name (self, name, error))
      && append_entry (self, error);
}

void
cuv_ldp_index_writer_begin (CuvLdpIndexWriter *self)
{
  self->in_batch = true;
}

/* Writes both slots, as appending the entries one by one does. The slot
 * that holds the count committed so far is overwritten last, so that a valid
 * slot always exists. */
bool
cuv_ldp_index_writer_commit (CuvLdpIndexWriter *self, char **error)
{
  const uint64_t n = self->n_entries, n_new = n - self->n_committed;
  const bool is_odd = n_new % 2 == 1;

  *error = NULL;
  self->in_batch = false;
  if (n_new == 0)
    return true;
  if (!sync_data (self) || !write_slot (self, is_odd ? n : n - 1)
      || !sync_data (self)
      || (n_new > 1 && !write_slot (self, is_odd ? n - 1 : n))
      || !sync_data (self))
    return cuv_ldp_index_fail (error, self->path,
        "the disk failed: %s; the last %llu entries may be lost",
        strerror (errno), (unsigned long long) n_new);
  self->n_committed = n;
  return true;
}

bool
cuv_ldp_index_writer_is_full (const CuvLdpIndexWriter *self)
{
  return self->is_full;
}

uint64_t
cuv_ldp_index_writer_n_entries (const CuvLdpIndexWriter *self)
{
  return self->n_entries;
}

bool
cuv_ldp_index_writer_close (CuvLdpIndexWriter *self, char **error)
{
  bool ok = true;

  *error = NULL;
  if (self->fd >= 0 && close (self->fd) < 0 && errno != EINTR)
    ok = cuv_ldp_index_fail (
        error, self->path, "could not be closed: %s", strerror (errno));
  free (self->path);
  free (self->entry);
  free (self);
  return ok;
}

/* ---- rewriting ---- */

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
    if (!cuv_ldp_index_is_path_replaced (fd, path))
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
ldp_index_replace (
    int old, const char *temporary, const char *path, char **error)
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
  real = realpath (path, NULL); /* replaces a link's target, not the link */
  fd = real != NULL ? open_locked (real, error) : -1;
  if (real == NULL)
    cuv_ldp_index_fail (error, path, "cannot be opened: %s", strerror (errno));
  if (fd >= 0
      && asprintf (&temporary, "%s.new-%ld", real, (long) getpid ()) < 0) {
    cuv_ldp_index_fail (error, path, "out of memory");
  } else if (fd >= 0) {
    unlink (temporary); /* left by a killed process with the same id */
    ok = write_new (real, temporary, edit, data, error)
        && ldp_index_replace (fd, temporary, real, error);
    if (!ok)
      unlink (temporary);
    free (temporary);
  }
  if (fd >= 0)
    close (fd);
  free (real);
  return ok;
}

/* ---- extracting ---- */

static bool
copy_entries (const CuvLdpIndex *from, uint64_t first, uint64_t n,
    const char *path, char **error)
{
  CuvLdpIndexWriter *to =
      cuv_ldp_index_writer_open (path, cuv_ldp_index_info (from), false, error);
  char *unused = NULL;
  bool ok = to != NULL;

  for (uint64_t i = first; ok && i < first + n; i++)
    ok = cuv_ldp_index_writer_copy (to, from, i, NULL, error);
  if (ok && fsync (to->fd) < 0)
    ok = cuv_ldp_index_fail (
        error, path, "cannot be written: %s", strerror (errno));
  if (to != NULL && !cuv_ldp_index_writer_close (to, ok ? error : &unused))
    ok = false;
  free (unused);
  return ok;
}

bool
cuv_ldp_index_extract (const CuvLdpIndex *from, uint64_t first, uint64_t n,
    const char *path, char **error)
{
  char *temporary;
  bool ok;

  *error = NULL;
  if (asprintf (&temporary, "%s.new-%ld", path, (long) getpid ()) < 0)
    return cuv_ldp_index_fail (error, path, "out of memory");
  unlink (temporary); /* left by a killed process with the same id */
  ok = copy_entries (from, first, n, temporary, error);
  if (ok
      && (!cuv_ldp_index_rename_new (temporary, path)
          || !cuv_ldp_index_sync_folder (path)))
    ok = cuv_ldp_index_fail (
        error, path, "cannot be written: %s", strerror (errno));
  if (!ok)
    unlink (temporary);
  free (temporary);
  return ok;
}
