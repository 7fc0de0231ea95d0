/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of an index, for its reader and its writer. */
#ifndef CUV_LDP_INDEX_FORMAT_H
#define CUV_LDP_INDEX_FORMAT_H

#include "index/ldpindex.h"

enum {
  CUV_LDP_INDEX_PAGE = 4096,  /* bytes before entry 0 */
  CUV_LDP_INDEX_HEADER = 128, /* of them what never changes */
  CUV_LDP_INDEX_SLOT = 12,    /* bytes of a commit slot */
  CUV_LDP_INDEX_ALIGNMENT = 64,
  CUV_LDP_INDEX_NAME = CUV_LDP_INDEX_MAX_NAME + 1,
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

/* Sets *error to the text, with "path: " before it if path is not NULL. Returns
 * false. */
bool cuv_ldp_index_fail (char **error, const char *path, const char *format,
    ...) __attribute__ ((format (printf, 3, 4)));

/* ---- header ---- */

extern const uint8_t cuv_ldp_index_magic[8];

/* CRC-32, going on from that of the bytes before, or 0. */
uint32_t cuv_ldp_index_crc (uint32_t before, const uint8_t *bytes, size_t size);

void cuv_ldp_index_header (
    const CuvLdpIndexInfo *info, uint8_t header[CUV_LDP_INDEX_HEADER]);

/* ---- slots ---- */

/* There are two, and n entries are committed by writing that of n's lowest bit,
 * so that the one before stays. */
uint64_t cuv_ldp_index_slot_offset (uint64_t n_entries);
void cuv_ldp_index_slot (uint64_t n_entries, uint8_t slot[CUV_LDP_INDEX_SLOT]);

/* ---- entries ---- */

uint64_t cuv_ldp_index_offset (const CuvLdpIndexInfo *info, uint64_t i);
size_t cuv_ldp_index_name_offset (const CuvLdpIndexInfo *info);
size_t cuv_ldp_index_thumbnail_offset (const CuvLdpIndexInfo *info);

/* Of where an entry stands and, going on, of all but its last four bytes, where
 * the checksum is kept. */
uint32_t cuv_ldp_index_checksum_begin (uint64_t i);
uint32_t cuv_ldp_index_checksum (
    const CuvLdpIndexInfo *info, uint64_t i, const uint8_t *entry);

bool cuv_ldp_index_is_text (const char *name);

/* ---- files ---- */

/* Where bytes come from: a file, or memory if fd is below 0. */
typedef struct {
  int fd;
  const uint8_t *bytes;
  uint64_t size; /* of a file: set by load() */
} CuvLdpIndexSource;

typedef struct {
  CuvLdpIndexInfo info;
  uint64_t n_entries;
  bool is_recovered; /* the last one's slot is damaged */
} CuvLdpIndexState;

/* Whether the path leads to another file, or to none. */
bool cuv_ldp_index_is_moved (int fd, const char *path);

/* What is committed; all of its bytes are there. The path is for errors. */
bool cuv_ldp_index_load (CuvLdpIndexState *self, CuvLdpIndexSource *source,
    const char *path, char **error);

#endif
