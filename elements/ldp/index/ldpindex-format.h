/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file format (docs/definitions/ldp-index.md), shared by the reader and the
 * writer. */
#ifndef CUV_LDP_INDEX_FORMAT_H
#define CUV_LDP_INDEX_FORMAT_H

#include "index/ldpindex.h"

enum {
  CUV_LDP_INDEX_PAGE = 4096,  /* offset of entry 0 */
  CUV_LDP_INDEX_HEADER = 128, /* bytes of the header, written once */
  CUV_LDP_INDEX_SLOT = 12,    /* bytes of a commit slot */
  CUV_LDP_INDEX_ALIGNMENT = 64,
  CUV_LDP_INDEX_NAME = CUV_LDP_INDEX_MAX_NAME + 1, /* bytes of the name field */
};

/* ---- little-endian ---- */

static inline uint16_t
cuv_ldp_get16 (const uint8_t *p)
{
  return (uint16_t) (p[0] | p[1] << 8);
}

static inline uint32_t
cuv_ldp_get32 (const uint8_t *p)
{
  return cuv_ldp_get16 (p) | (uint32_t) cuv_ldp_get16 (p + 2) << 16;
}

static inline uint64_t
cuv_ldp_get64 (const uint8_t *p)
{
  return cuv_ldp_get32 (p) | (uint64_t) cuv_ldp_get32 (p + 4) << 32;
}

static inline void
cuv_ldp_put16 (uint8_t *p, uint16_t value)
{
  p[0] = (uint8_t) value;
  p[1] = (uint8_t) (value >> 8);
}

static inline void
cuv_ldp_put32 (uint8_t *p, uint32_t value)
{
  cuv_ldp_put16 (p, (uint16_t) value);
  cuv_ldp_put16 (p + 2, (uint16_t) (value >> 16));
}

static inline void
cuv_ldp_put64 (uint8_t *p, uint64_t value)
{
  cuv_ldp_put32 (p, (uint32_t) value);
  cuv_ldp_put32 (p + 4, (uint32_t) (value >> 32));
}

/* ---- errors ---- */

/* Sets *error to "path: text", or the text alone if path is NULL. Returns
 * false. */
bool cuv_ldp_index_fail (char **error, const char *path, const char *format,
    ...) __attribute__ ((format (printf, 3, 4)));

/* ---- header ---- */

extern const uint8_t cuv_ldp_index_magic[8];

/* Returns the CRC-32 of bytes. before: the CRC-32 of the preceding bytes, or 0
 * to start. */
uint32_t cuv_ldp_index_crc (uint32_t before, const uint8_t *bytes, size_t size);

void cuv_ldp_index_header (
    const CuvLdpIndexInfo *info, uint8_t header[CUV_LDP_INDEX_HEADER]);

/* ---- slots ---- */

/* Returns the offset of the slot that commits n_entries. Two slots hold the
 * number of entries: n entries are committed by writing slot n % 2, so that the
 * previous commit stays readable. */
uint64_t cuv_ldp_index_slot_offset (uint64_t n_entries);
void cuv_ldp_index_slot (uint64_t n_entries, uint8_t slot[CUV_LDP_INDEX_SLOT]);

/* ---- entries ---- */

uint64_t cuv_ldp_index_offset (const CuvLdpIndexInfo *info, uint64_t i);
size_t cuv_ldp_index_name_offset (const CuvLdpIndexInfo *info);
size_t cuv_ldp_index_thumbnail_offset (const CuvLdpIndexInfo *info);

/* The checksum of entry i covers its number, then all but its last four bytes,
 * which hold the checksum. cuv_ldp_index_checksum_begin() returns the checksum
 * of the number alone. */
uint32_t cuv_ldp_index_checksum_begin (uint64_t i);
uint32_t cuv_ldp_index_checksum (
    const CuvLdpIndexInfo *info, uint64_t i, const uint8_t *entry);

/* Whether a name is valid UTF-8. */
bool cuv_ldp_index_is_utf8 (const char *name);

/* ---- loading ---- */

/* Bytes of a file, or of memory if fd is below 0. */
typedef struct {
  int fd;
  const uint8_t *bytes;
  uint64_t size; /* set by load() if it is a file */
} CuvLdpIndexSource;

typedef struct {
  CuvLdpIndexInfo info;
  uint64_t n_entries;
  bool is_recovered; /* the slot of the last commit is damaged */
} CuvLdpIndexState;

/* Reads the header and the last commit, and checks that all committed bytes are
 * present. path: for messages. */
bool cuv_ldp_index_load (CuvLdpIndexState *self, CuvLdpIndexSource *source,
    const char *path, char **error);

/* ---- files ---- */

/* Creates an empty index, locked for writing. Other processes see the file only
 * when it is complete. Returns its file descriptor, or -1 with errno set:
 * EEXIST if the file exists. */
int cuv_ldp_index_create (
    const char *path, const CuvLdpIndexInfo *info, bool sync);

/* Renames a file. If `to` exists, returns false with errno EEXIST. */
bool cuv_ldp_index_rename_new (const char *from, const char *to);

/* Locks an open index for writing; the lock ends when fd is closed. */
bool cuv_ldp_index_lock (int fd, const char *path, char **error);

/* Whether the path no longer leads to the open file: it was replaced or
 * removed. */
bool cuv_ldp_index_is_path_replaced (int fd, const char *path);

/* Syncs the folder of a file, so that a rename in it survives a power loss.
 * Returns false with errno set. */
bool cuv_ldp_index_sync_folder (const char *path);

/* Returns false with errno set if not everything could be written. */
bool cuv_ldp_index_write_all (
    int fd, const void *bytes, size_t size, uint64_t at);

#endif
