/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the header and the last commit, and recovers a damaged one. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "index/ldpindex-format.h"

enum { MAX_TRIES = 100 }; /* 1 ms apart */

/* Returns the number of bytes read, less than n at the end of the source, or -1
 * with errno set. */
static ssize_t
read_bytes (const CuvLdpIndexSource *self, void *to, uint64_t at, size_t n)
{
  size_t done = 0;
  ssize_t got;

  if (self->fd < 0) {
    done = at >= self->size   ? 0
        : self->size - at < n ? (size_t) (self->size - at)
                              : n;
    if (done > 0)
      memcpy (to, self->bytes + at, done);
    return (ssize_t) done;
  }
  while (done < n) {
    got =
        pread (self->fd, (uint8_t *) to + done, n - done, (off_t) (at + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    done += (size_t) got;
  }
  return (ssize_t) done;
}

static bool
find_size (CuvLdpIndexSource *self, const char *path, char **error)
{
  struct stat status;

  if (self->fd < 0)
    return true;
  if (fstat (self->fd, &status) < 0)
    return cuv_ldp_index_fail (
        error, path, "cannot be read: %s", strerror (errno));
  self->size = (uint64_t) status.st_size;
  return S_ISREG (status.st_mode)
      || cuv_ldp_index_fail (error, path,
          "is not a regular file: use a file that ldpindexsink wrote");
}

/* ---- header ---- */

/* Returns NULL, or the first problem. */
static const char *
ldp_index_read_info (CuvLdpIndexInfo *self, const uint8_t *header)
{
  int32_t v[18];
  CuvLdpParams params;

  for (size_t i = 0; i < 18; i++)
    v[i] = (int32_t) cuv_ldp_get32 (header + 8 + 4 * i);
  params = (CuvLdpParams){ .order = v[1],
    .block = v[2],
    .grid = v[3],
    .directions = v[4],
    .is_merged = v[5],
    .levels = v[8],
    .scales = (int32_t) cuv_ldp_get32 (header + 96) };
  if (v[6] < CUV_LDP_VALID || v[6] > CUV_LDP_REPLICATE
      || v[7] < CUV_LDP_BINS_256 || v[7] > CUV_LDP_BINS_LEVELS)
    return cuv_ldp_problem ("border %d or bins %d is unknown", v[6], v[7]);
  params.border = (CuvLdpBorder) v[6];
  params.bins = (CuvLdpBins) v[7];
  return cuv_ldp_index_info_init (self, &params, v[9], v[10], v[16], v[17]);
}

/* Rejects a header whose derived fields contradict its parameters. */
static bool
read_header (
    CuvLdpIndexInfo *self, const uint8_t *page, const char *path, char **error)
{
  const uint32_t version = cuv_ldp_get32 (page + 8);
  uint8_t expected[CUV_LDP_INDEX_HEADER];
  const char *problem;

  if (version < 1 || version > CUV_LDP_INDEX_VERSION)
    return cuv_ldp_index_fail (error, path,
        "has format version %u, but this release reads versions 1 to %d: use "
        "the release that wrote it, or index the pictures again",
        (unsigned) version, CUV_LDP_INDEX_VERSION);
  if (cuv_ldp_index_crc (0, page, CUV_LDP_INDEX_HEADER - 4)
      != cuv_ldp_get32 (page + CUV_LDP_INDEX_HEADER - 4))
    return cuv_ldp_index_fail (error, path,
        "the header is damaged (checksum mismatch): restore the file from a "
        "copy, or index the pictures again");
  problem = ldp_index_read_info (self, page);
  if (problem != NULL)
    return cuv_ldp_index_fail (
        error, path, "the header has invalid parameters: %s", problem);
  cuv_ldp_index_header (self, expected);
  return memcmp (expected, page, sizeof expected) == 0
      || cuv_ldp_index_fail (error, path,
          "the header contradicts itself: index the pictures again");
}

static bool
read_page (CuvLdpIndexInfo *self, const CuvLdpIndexSource *source,
    uint8_t *page, const char *path, char **error)
{
  const ssize_t got = read_bytes (source, page, 0, CUV_LDP_INDEX_PAGE);

  if (got < 0)
    return cuv_ldp_index_fail (
        error, path, "cannot be read: %s", strerror (errno));
  if (got < 8 || memcmp (page, cuv_ldp_index_magic, 8) != 0)
    return cuv_ldp_index_fail (error, path,
        "is not an index of local derivative patterns: its first bytes differ; "
        "use a file that ldpindexsink wrote");
  if (got < CUV_LDP_INDEX_PAGE)
    return cuv_ldp_index_fail (error, path,
        "is truncated: has only %d of the %d bytes before the entries; copy "
        "the file again",
        (int) got, CUV_LDP_INDEX_PAGE);
  return read_header (self, page, path, error);
}

/* ---- slots ---- */

typedef enum { UNUSED, DAMAGED, VALID } SlotState;

static SlotState
read_slot (const uint8_t *page, uint64_t parity, uint64_t *n)
{
  static const uint8_t unused[CUV_LDP_INDEX_SLOT] = { 0 };
  const uint8_t *slot = page + cuv_ldp_index_slot_offset (parity);
  uint8_t expected[CUV_LDP_INDEX_SLOT];

  *n = cuv_ldp_get64 (slot);
  cuv_ldp_index_slot (*n, expected);
  if (memcmp (slot, unused, sizeof unused) == 0)
    return UNUSED;
  return memcmp (slot, expected, sizeof expected) == 0 && *n % 2 == parity
      ? VALID
      : DAMAGED;
}

/* Finds the newest valid slot. Sets is_in_doubt if the other one may have been
 * newer. */
static bool
read_slots (const uint8_t *page, uint64_t *n_entries, bool *is_in_doubt)
{
  uint64_t n[2];
  const SlotState state[2] = { read_slot (page, 0, &n[0]),
    read_slot (page, 1, &n[1]) };
  const int newest = state[0] != VALID || (state[1] == VALID && n[1] > n[0]);

  *n_entries = n[newest];
  *is_in_doubt =
      state[!newest] == DAMAGED || (state[!newest] == UNUSED && *n_entries > 0);
  return state[newest] == VALID;
}

/* Retries while both slots look damaged: a writer may be writing one. */
static bool
read_committed (CuvLdpIndexState *self, const CuvLdpIndexSource *source,
    bool *is_in_doubt, const char *path, char **error)
{
  const struct timespec pause = { .tv_nsec = 1000000 };
  uint8_t page[CUV_LDP_INDEX_PAGE];

  for (int i = 0; i < MAX_TRIES; i++) {
    if (!read_page (&self->info, source, page, path, error))
      return false;
    if (read_slots (page, &self->n_entries, is_in_doubt))
      return true;
    if (source->fd < 0)
      break;
    nanosleep (&pause, NULL);
  }
  return cuv_ldp_index_fail (error, path,
      "both commit slots are damaged: restore the file from a copy, or index "
      "the pictures again");
}

static uint64_t
max_entries (const CuvLdpIndexInfo *info)
{
  return (uint64_t) (INT64_MAX - CUV_LDP_INDEX_PAGE) / info->stride;
}

/* Whether the entry of a damaged slot is valid: an entry is complete before its
 * slot is written, so it was committed, or about to be. */
static bool
recover_last (const CuvLdpIndexState *self, const CuvLdpIndexSource *source)
{
  const uint64_t at = cuv_ldp_index_offset (&self->info, self->n_entries);
  const uint64_t size = self->info.stride;
  uint32_t crc = cuv_ldp_index_checksum_begin (self->n_entries);
  uint8_t chunk[CUV_LDP_INDEX_ALIGNMENT];

  if (source->size < at || source->size - at < size)
    return false;
  for (uint64_t done = 0; done < size; done += sizeof chunk) {
    const size_t n = sizeof chunk - (done + sizeof chunk == size ? 4 : 0);

    if (read_bytes (source, chunk, at + done, sizeof chunk) != sizeof chunk)
      return false;
    crc = cuv_ldp_index_crc (crc, chunk, n);
  }
  return crc == cuv_ldp_get32 (chunk + sizeof chunk - 4);
}

/* ---- loading ---- */

bool
cuv_ldp_index_load (CuvLdpIndexState *self, CuvLdpIndexSource *source,
    const char *path, char **error)
{
  bool is_in_doubt = false;
  uint64_t needed;

  *error = NULL;
  *self = (CuvLdpIndexState){ .is_recovered = false };
  /* Finds the size again after reading the slots: entries are written before
   * they are committed, so it includes them. */
  if (!find_size (source, path, error)
      || !read_committed (self, source, &is_in_doubt, path, error)
      || !find_size (source, path, error))
    return false;
  if (self->n_entries >= max_entries (&self->info))
    return cuv_ldp_index_fail (error, path,
        "claims %llu entries, more than a file can hold: index the pictures "
        "again",
        (unsigned long long) self->n_entries);
  needed = cuv_ldp_index_offset (&self->info, self->n_entries);
  if (source->size < needed)
    return cuv_ldp_index_fail (error, path,
        "is truncated: its %llu entries take %llu bytes, but it has %llu; copy "
        "the file again",
        (unsigned long long) self->n_entries, (unsigned long long) needed,
        (unsigned long long) source->size);
  self->is_recovered = is_in_doubt && recover_last (self, source);
  self->n_entries += self->is_recovered;
  return true;
}
