/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader: maps the committed entries of a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cuvfile.h"
#include "index/ldpindex-format.h"

struct CuvLdpIndex {
  CuvLdpIndexSource source;
  CuvLdpIndexState state;
  char *path; /* NULL: parsed from memory */
  const uint8_t *bytes;
  size_t size; /* mapped: committed bytes only, so that reading never faults */
};

/* ---- opening ---- */

/* Replaces the previous mapping, which stays on failure. */
static bool
ldp_index_map (CuvLdpIndex *self, const CuvLdpIndexState *state, char **error)
{
  const uint64_t size = cuv_ldp_index_offset (&state->info, state->n_entries);
  void *bytes;

  if (size > SIZE_MAX)
    return cuv_ldp_index_fail (error, self->path,
        "has %llu bytes, more than this machine can map",
        (unsigned long long) size);
  bytes = mmap (NULL, (size_t) size, PROT_READ, MAP_SHARED, self->source.fd, 0);
  if (bytes == MAP_FAILED)
    return cuv_ldp_index_fail (
        error, self->path, "cannot be mapped: %s", strerror (errno));
  if (self->size > 0)
    munmap ((void *) self->bytes, self->size);
  self->bytes = bytes;
  self->size = (size_t) size;
  self->state = *state;
  return true;
}

static bool
ldp_index_open_file (CuvLdpIndex *self, const char *path, char **error)
{
  CuvLdpIndexState state;
  const char *problem = "out of memory";

  self->path = strdup (path);
  self->source.fd =
      self->path != NULL ? cuv_file_open (path, NULL, &problem) : -1;
  if (self->source.fd < 0)
    return cuv_ldp_index_fail (error, path, "cannot be opened: %s", problem);
  return cuv_ldp_index_load (&state, &self->source, path, error)
      && ldp_index_map (self, &state, error);
}

CuvLdpIndex *
cuv_ldp_index_open (const char *path, char **error)
{
  CuvLdpIndex *self = calloc (1, sizeof *self);

  *error = NULL;
  if (self == NULL)
    cuv_ldp_index_fail (error, path, "out of memory");
  else if (ldp_index_open_file (self, path, error))
    return self;
  cuv_ldp_index_free (self);
  return NULL;
}

CuvLdpIndex *
cuv_ldp_index_parse (const void *bytes, size_t size, char **error)
{
  CuvLdpIndex *self = calloc (1, sizeof *self);

  *error = NULL;
  if (self == NULL) {
    cuv_ldp_index_fail (error, NULL, "out of memory");
    return NULL;
  }
  self->bytes = bytes;
  self->source = (CuvLdpIndexSource){ .fd = -1, .bytes = bytes, .size = size };
  if (cuv_ldp_index_load (&self->state, &self->source, NULL, error))
    return self;
  cuv_ldp_index_free (self);
  return NULL;
}

void
cuv_ldp_index_free (CuvLdpIndex *self)
{
  if (self == NULL)
    return;
  if (self->size > 0)
    munmap ((void *) self->bytes, self->size);
  if (self->source.fd >= 0)
    close (self->source.fd);
  free (self->path);
  free (self);
}

bool
cuv_ldp_index_refresh (CuvLdpIndex *self, char **error)
{
  uint8_t before[CUV_LDP_INDEX_HEADER], now[CUV_LDP_INDEX_HEADER];
  CuvLdpIndexState state;

  *error = NULL;
  if (self->source.fd < 0)
    return true;
  if (!cuv_ldp_index_load (&state, &self->source, self->path, error))
    return false;
  cuv_ldp_index_header (&self->state.info, before);
  cuv_ldp_index_header (&state.info, now);
  if (memcmp (before, now, sizeof now) != 0)
    return cuv_ldp_index_fail (
        error, self->path, "was overwritten by another index: open it again");
  /* fewer entries if one slot was read before a write, and the other during
   * it */
  return state.n_entries <= self->state.n_entries
      || ldp_index_map (self, &state, error);
}

bool
cuv_ldp_index_is_replaced (const CuvLdpIndex *self)
{
  return self->source.fd >= 0
      && cuv_ldp_index_is_path_replaced (self->source.fd, self->path);
}

/* ---- entries ---- */

const char *
cuv_ldp_index_path (const CuvLdpIndex *self)
{
  return self->path;
}

const CuvLdpIndexInfo *
cuv_ldp_index_info (const CuvLdpIndex *self)
{
  return &self->state.info;
}

uint64_t
cuv_ldp_index_n_entries (const CuvLdpIndex *self)
{
  return self->state.n_entries;
}

const uint8_t *
cuv_ldp_index_descriptor (const CuvLdpIndex *self, uint64_t i)
{
  return self->bytes + cuv_ldp_index_offset (&self->state.info, i);
}

const char *
cuv_ldp_index_name (const CuvLdpIndex *self, uint64_t i)
{
  const char *name = (const char *) cuv_ldp_index_descriptor (self, i)
      + cuv_ldp_index_name_offset (&self->state.info);

  if (memchr (name, 0, CUV_LDP_INDEX_NAME) == NULL
      || !cuv_ldp_index_is_utf8 (name))
    return NULL;
  return name;
}

const uint8_t *
cuv_ldp_index_thumbnail (const CuvLdpIndex *self, uint64_t i)
{
  if (self->state.info.thumbnail_width == 0)
    return NULL;
  return cuv_ldp_index_descriptor (self, i)
      + cuv_ldp_index_thumbnail_offset (&self->state.info);
}

bool
cuv_ldp_index_check_entry (const CuvLdpIndex *self, uint64_t i)
{
  const uint8_t *entry = cuv_ldp_index_descriptor (self, i);
  const CuvLdpIndexInfo *info = &self->state.info;

  return cuv_ldp_index_checksum (info, i, entry)
      == cuv_ldp_get32 (entry + info->stride - 4);
}

bool
cuv_ldp_index_check (const CuvLdpIndex *self, char **error)
{
  *error = NULL;
  for (uint64_t i = 0; i < self->state.n_entries; i++) {
    if (!cuv_ldp_index_check_entry (self, i))
      return cuv_ldp_index_fail (error, self->path,
          "entry %llu is damaged (checksum mismatch): restore the file from a "
          "copy, or index the pictures again",
          (unsigned long long) i);
  }
  return true;
}
