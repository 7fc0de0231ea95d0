/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "index/ldpindex-create.h"
#include "index/ldpindex-format.h"

struct CuvLdpIndexWriter {
  CuvLdpIndexInfo info;
  char *path;
  uint8_t *entry; /* stride bytes */
  int fd;
  uint64_t n_entries;
  bool sync;
  bool is_broken; /* what is on the disk is unknown */
  bool is_full;   /* the last entry had no room */
};

bool
cuv_ldp_index_write_all (int fd, const void *bytes, size_t size, uint64_t at)
{
  for (size_t done = 0; done < size;) {
    const ssize_t put = pwrite (
        fd, (const uint8_t *) bytes + done, size - done, (off_t) (at + done));

    if (put < 0 && errno == EINTR)
      continue;
    if (put == 0)
      errno = ENOSPC;
    if (put <= 0)
      return false;
    done += (size_t) put;
  }
  return true;
}

static bool
write_slot (CuvLdpIndexWriter *self, uint64_t n_entries)
{
  uint8_t slot[CUV_LDP_INDEX_SLOT];

  cuv_ldp_index_slot (n_entries, slot);
  return cuv_ldp_index_write_all (
      self->fd, slot, sizeof slot, cuv_ldp_index_slot_offset (n_entries));
}

/* ---- opening ---- */

static bool
has_same_header (
    CuvLdpIndexWriter *self, const CuvLdpIndexInfo *theirs, char **error)
{
  uint8_t a[CUV_LDP_INDEX_HEADER], b[CUV_LDP_INDEX_HEADER];
  const CuvLdpShape *shape = &theirs->shape, *other = &self->info.shape;
  char *their_text, *our_text, cure[100] = "";

  cuv_ldp_index_header (theirs, a);
  cuv_ldp_index_header (&self->info, b);
  if (memcmp (a, b, sizeof a) == 0)
    return true;
  if (shape->width != other->width || shape->height != other->height)
    snprintf (cure, sizeof cure,
        "make all pictures of one size (descriptor-width %d, descriptor-height "
        "%d), ",
        (int) shape->width, (int) shape->height);
  their_text = cuv_ldp_index_info_text (theirs);
  our_text = cuv_ldp_index_info_text (&self->info);
  cuv_ldp_index_fail (error, self->path,
      "was made with other parameters (%s) than those asked for (%s): %stake "
      "the former, or another file",
      their_text != NULL ? their_text : "no memory",
      our_text != NULL ? our_text : "no memory", cure);
  free (their_text);
  free (our_text);
  return false;
}

/* What a writer before was killed in is cut off. A slot that it left damaged is
 * mended first: the next one written is the one that is valid now. */
static bool
tidy (CuvLdpIndexWriter *self, const CuvLdpIndexState *state, char **error)
{
  const uint64_t end = cuv_ldp_index_offset (&state->info, state->n_entries);

  self->n_entries = state->n_entries;
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

  if (flock (self->fd, LOCK_EX | LOCK_NB) < 0)
    return cuv_ldp_index_fail (error, self->path,
        errno == EWOULDBLOCK
            ? "another writer has it open: wait until it is done"
            : "cannot be locked: %s",
        strerror (errno));
  return cuv_ldp_index_load (&state, &source, self->path, error)
      && has_same_header (self, &state.info, error)
      && tidy (self, &state, error);
}

/* Another process may make the file between both calls, or take it away. */
static bool
open_or_create (CuvLdpIndexWriter *self, char **error)
{
  for (int i = 0; i < 10; i++) {
    self->fd = open (self->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (self->fd >= 0) {
      if (!open_existing (self, error))
        return false;
      if (!cuv_ldp_index_is_moved (self->fd, self->path))
        return true;
      close (self->fd); /* it was rewritten before it was locked */
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
  char *unused = NULL;

  *error = NULL;
  if (self != NULL) {
    *self = (CuvLdpIndexWriter){ .info = *info,
      .path = strdup (path),
      .entry = malloc ((size_t) info->stride),
      .fd = -1,
      .sync = sync };
    if (self->path != NULL && self->entry != NULL) {
      if (open_or_create (self, error))
        return self;
    } else
      cuv_ldp_index_fail (error, path, "no memory for an entry");
    cuv_ldp_index_writer_close (self, &unused);
    free (unused);
  } else
    cuv_ldp_index_fail (error, path, "no memory");
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
        "a name of %zu bytes, and %d fit: shorten '%.40s...'", n_name,
        CUV_LDP_INDEX_MAX_NAME, name);
  if (!cuv_ldp_index_is_text (name))
    return cuv_ldp_index_fail (
        error, self->path, "the name '%s' is not UTF-8: rename it", name);
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
  if (!cuv_ldp_index_pack (&info->shape, counts, self->entry))
    return cuv_ldp_index_fail (error, self->path,
        "the counts of '%s' are not those of pictures of %dx%d", name,
        (int) info->shape.width, (int) info->shape.height);
  if (thumbnail != NULL)
    memcpy (self->entry + cuv_ldp_index_thumbnail_offset (info), thumbnail,
        3 * (size_t) info->thumbnail_width * (size_t) info->thumbnail_height);
  return true;
}

static bool
fail_to_write (CuvLdpIndexWriter *self, int reason, char **error)
{
  self->is_full = reason == ENOSPC || reason == EFBIG || reason == EDQUOT;
  return cuv_ldp_index_fail (error, self->path,
      "cannot be written: %s; the %llu entries before are kept%s",
      strerror (reason), (unsigned long long) self->n_entries,
      self->is_full ? ": make room and go on" : "");
}

/* After a disk refused what it was to keep, nothing says what it did keep. */
static bool
flush (CuvLdpIndexWriter *self)
{
  self->is_broken = self->sync && fdatasync (self->fd) < 0;
  return !self->is_broken;
}

/* The order is what readers and those who come after a crash rely on. */
static bool
commit (CuvLdpIndexWriter *self)
{
  const uint64_t at = cuv_ldp_index_offset (&self->info, self->n_entries);

  return cuv_ldp_index_write_all (
             self->fd, self->entry, (size_t) self->info.stride, at)
      && flush (self) && write_slot (self, self->n_entries + 1);
}

static bool
can_append (CuvLdpIndexWriter *self, char **error)
{
  *error = NULL;
  self->is_full = false;
  return !self->is_broken
      || cuv_ldp_index_fail (
          error, self->path, "the disk failed: check it, and open it again");
}

/* What is in self->entry. */
static bool
append_entry (CuvLdpIndexWriter *self, char **error)
{
  int reason;

  cuv_ldp_put32 (self->entry + self->info.stride - 4,
      cuv_ldp_index_checksum (&self->info, self->n_entries, self->entry));
  if (!commit (self)) {
    reason = errno;
    /* its room is needed, and nothing is to be recovered */
    self->is_broken |=
        ftruncate (self->fd,
            (off_t) cuv_ldp_index_offset (&self->info, self->n_entries))
        < 0;
    return fail_to_write (self, reason, error);
  }
  if (!flush (self))
    return cuv_ldp_index_fail (error, self->path,
        "the disk failed: %s; the last entry may be lost", strerror (errno));
  self->n_entries++;
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
      || !has_same_header (self, cuv_ldp_index_info (from), error))
    return false;
  if (!cuv_ldp_index_check_entry (from, i))
    return cuv_ldp_index_fail (error, NULL,
        "entry %llu is damaged (its checksum differs): remove all damaged "
        "entries in one call, cuvision-index remove --number INDEX N...",
        (unsigned long long) i);
  memcpy (self->entry, cuv_ldp_index_descriptor (from, i),
      (size_t) self->info.stride);
  return (name == NULL || fill_name (self, name, error))
      && append_entry (self, error);
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
