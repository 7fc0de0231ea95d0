/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "index/ldpindex-file.h"
#include "index/ldpindex-format.h"

struct CuvLdpIndexWriter {
  CuvLdpIndexInfo info;
  char *path;
  uint8_t *entry; /* stride bytes */
  int fd;
  uint64_t n_entries;
  bool sync;
  bool is_broken; /* a sync failed: what is on the disk is unknown */
  bool is_full;   /* the last entry did not fit on the disk */
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

static bool
has_same_header (
    CuvLdpIndexWriter *self, const CuvLdpIndexInfo *theirs, char **error)
{
  uint8_t a[CUV_LDP_INDEX_HEADER], b[CUV_LDP_INDEX_HEADER];
  const CuvLdpLayout *layout = &theirs->layout, *other = &self->info.layout;
  char *their_text, *our_text, cure[100] = "";

  cuv_ldp_index_header (theirs, a);
  cuv_ldp_index_header (&self->info, b);
  if (memcmp (a, b, sizeof a) == 0)
    return true;
  if (layout->width != other->width || layout->height != other->height)
    snprintf (cure, sizeof cure,
        "make all pictures the same size (descriptor-width %d, "
        "descriptor-height %d), ",
        (int) layout->width, (int) layout->height);
  their_text = cuv_ldp_index_info_text (theirs);
  our_text = cuv_ldp_index_info_text (&self->info);
  cuv_ldp_index_fail (error, self->path,
      "has other parameters (%s) than requested (%s): %suse the index's "
      "parameters, or another index file",
      their_text != NULL ? their_text : "out of memory",
      our_text != NULL ? our_text : "out of memory", cure);
  free (their_text);
  free (our_text);
  return false;
}

/* Truncates an entry that a killed writer did not commit. A damaged slot is
 * rewritten first, because the next commit overwrites the other, valid one. */
static bool
recover (CuvLdpIndexWriter *self, const CuvLdpIndexState *state, char **error)
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

  return cuv_ldp_index_lock (self->fd, self->path, error)
      && cuv_ldp_index_load (&state, &source, self->path, error)
      && has_same_header (self, &state.info, error)
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
      if (!cuv_ldp_index_is_moved (self->fd, self->path))
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
      cuv_ldp_index_fail (error, path, "out of memory for an entry");
    cuv_ldp_index_writer_close (self, &unused);
    free (unused);
  } else
    cuv_ldp_index_fail (error, path, "out of memory");
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
  if (!cuv_ldp_index_pack (&info->layout, counts, self->entry))
    return cuv_ldp_index_fail (error, self->path,
        "the counts of '%s' do not sum up to those of pictures of %dx%d", name,
        (int) info->layout.width, (int) info->layout.height);
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
      "cannot be written: %s; the %llu entries before it are kept%s",
      strerror (reason), (unsigned long long) self->n_entries,
      self->is_full ? ": free disk space and try again" : "");
}

/* After a failed sync nobody knows what reached the disk. */
static bool
flush (CuvLdpIndexWriter *self)
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
      && flush (self) && write_slot (self, self->n_entries + 1);
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
    /* frees the space, and leaves nothing to recover */
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
        "entry %llu is damaged (checksum mismatch): remove all damaged entries "
        "in one call, cuvision-index remove --number INDEX N...",
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
