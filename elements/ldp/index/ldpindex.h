/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Index files of descriptors: one writer appends pictures while any number of
 * readers, also in other processes, read them. docs/definitions/ldp-index.md
 * documents the file format and what survives a crash.
 *
 * Functions that fail set *error to a message without a newline; free() it. */
#ifndef CUV_LDP_INDEX_H
#define CUV_LDP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ldp.h"

enum {
  CUV_LDP_INDEX_VERSION = 2,          /* the newest; version 1 has no scales */
  CUV_LDP_INDEX_MAX_NAME = 1023,      /* bytes, without the terminating 0 */
  CUV_LDP_INDEX_MAX_THUMBNAIL = 1024, /* maximum width and height, pixels */
  CUV_LDP_INDEX_MAX_COUNTS = 1 << 26, /* maximum per entry */
};

/* Parameters and sizes, the same for all entries of an index. */
typedef struct {
  CuvLdpLayout layout;                       /* unused parameters are 0 */
  int32_t thumbnail_width, thumbnail_height; /* 0: no thumbnails */
  int32_t count_size;       /* bytes of a count in the file: 1, 2 or 4 */
  uint64_t descriptor_size; /* bytes of an entry's counts in the file */
  uint64_t stride; /* bytes from one entry to the next, a multiple of 64 */
} CuvLdpIndexInfo;

/* Computes parameters and sizes for pictures of width x height. Returns NULL,
 * or the problem as cuv_ldp_layout_init() does. */
const char *cuv_ldp_index_info_init (CuvLdpIndexInfo *self,
    const CuvLdpParams *params, int width, int height, int thumbnail_width,
    int thumbnail_height);

/* Returns parameters and sizes as readable text, or NULL if out of memory;
 * free() it. */
char *cuv_ldp_index_info_text (const CuvLdpIndexInfo *self);

/* Whether entries with the parameters `requested` can be in the index; if not,
 * the error names the parameters of both. path: for messages. */
bool cuv_ldp_index_check_same (const CuvLdpIndexInfo *index,
    const CuvLdpIndexInfo *requested, const char *path, char **error);

/* ---- counts ---- */

/* Returns the number of bytes per count in the file: 1 if no histogram has more
 * than 256 codes, 2 if none has more than 65535, otherwise 4. */
int cuv_ldp_index_count_size (const CuvLdpLayout *layout);

/* Packs cuv_ldp_n_counts() counts as in the file, little-endian. A one-byte
 * count of 255 also stands for 256: only if a histogram of 256 codes has all of
 * them in one bin. Returns false if a histogram does not sum up to its block's
 * codes. */
bool cuv_ldp_index_pack (
    const CuvLdpLayout *layout, const uint32_t *counts, void *bytes);

/* Inverts cuv_ldp_index_pack() exactly. */
void cuv_ldp_index_unpack (
    const CuvLdpLayout *layout, const void *bytes, uint32_t *counts);

/* ---- reading ---- */

typedef struct CuvLdpIndex CuvLdpIndex;

/* Maps a file. Returns NULL on failure. */
CuvLdpIndex *cuv_ldp_index_open (const char *path, char **error);

/* Reads an index in memory that must outlive the result. */
CuvLdpIndex *cuv_ldp_index_parse (const void *bytes, size_t size, char **error);

void cuv_ldp_index_free (CuvLdpIndex *self);

/* Makes entries visible that were appended since the last refresh. Invalidates
 * pointers into the index. On failure, the index and pointers into it stay
 * valid. */
bool cuv_ldp_index_refresh (CuvLdpIndex *self, char **error);

/* Whether the file was replaced or removed. The open index stays usable. */
bool cuv_ldp_index_is_replaced (const CuvLdpIndex *self);

/* Returns the path, or NULL if the index was parsed in memory. */
const char *cuv_ldp_index_path (const CuvLdpIndex *self);

const CuvLdpIndexInfo *cuv_ldp_index_info (const CuvLdpIndex *self);
uint64_t cuv_ldp_index_n_entries (const CuvLdpIndex *self);

/* Returns the packed counts of entry i; those of i + 1 follow stride bytes
 * later. */
const uint8_t *cuv_ldp_index_descriptor (const CuvLdpIndex *self, uint64_t i);

/* Returns the name as UTF-8, or NULL if it is not valid UTF-8 because the entry
 * is damaged. */
const char *cuv_ldp_index_name (const CuvLdpIndex *self, uint64_t i);

/* Returns RGB pixels, row by row without padding, or NULL if the index has no
 * thumbnails. */
const uint8_t *cuv_ldp_index_thumbnail (const CuvLdpIndex *self, uint64_t i);

/* Whether an entry's checksum matches. */
bool cuv_ldp_index_check_entry (const CuvLdpIndex *self, uint64_t i);

/* Checks all entries; the error names the first damaged one. */
bool cuv_ldp_index_check (const CuvLdpIndex *self, char **error);

/* ---- writing ---- */

typedef struct CuvLdpIndexWriter CuvLdpIndexWriter;

/* Opens the file for appending, or creates it. With sync, each append waits for
 * the disk; without sync, entries survive this process but not a power loss.
 * Returns NULL on failure, for example if the file has other parameters or
 * another writer. */
CuvLdpIndexWriter *cuv_ldp_index_writer_open (
    const char *path, const CuvLdpIndexInfo *info, bool sync, char **error);

/* Appends an entry; if it returns true, readers see the entry. The thumbnail
 * has the index's size and the format of cuv_ldp_index_thumbnail(); NULL =
 * black. On failure the file is unchanged; if the disk was full, appending may
 * be tried again. */
bool cuv_ldp_index_writer_append (CuvLdpIndexWriter *self,
    const uint32_t *counts, const char *name, const uint8_t *thumbnail,
    char **error);

/* Appends entry i of an index with the same parameters. name: NULL = that of
 * the entry. */
bool cuv_ldp_index_writer_copy (CuvLdpIndexWriter *self,
    const CuvLdpIndex *from, uint64_t i, const char *name, char **error);

/* Between calls of these two, appended entries are neither visible to readers
 * nor kept if the process is killed: many entries then wait for the disk only
 * once. */
void cuv_ldp_index_writer_begin (CuvLdpIndexWriter *self);
bool cuv_ldp_index_writer_commit (CuvLdpIndexWriter *self, char **error);

/* Whether the last append failed because the disk was full. */
bool cuv_ldp_index_writer_is_full (const CuvLdpIndexWriter *self);

uint64_t cuv_ldp_index_writer_n_entries (const CuvLdpIndexWriter *self);

/* Frees the writer, also on failure. */
bool cuv_ldp_index_writer_close (CuvLdpIndexWriter *self, char **error);

/* ---- rewriting ---- */

/* Copies entries of `from` to `to`, which is empty. */
typedef bool (*CuvLdpIndexEdit) (
    void *data, const CuvLdpIndex *from, CuvLdpIndexWriter *to, char **error);

/* Atomically replaces an index by the one that edit() writes: even if the
 * process is killed, the file is either the old or the new one. Other writers
 * are locked out; readers keep the old file, see cuv_ldp_index_is_replaced().
 */
bool cuv_ldp_index_rewrite (
    const char *path, CuvLdpIndexEdit edit, void *data, char **error);

/* Writes entries first .. first + n - 1 of an index to a new file, which
 * appears when it is complete. An existing file is an error. */
bool cuv_ldp_index_extract (const CuvLdpIndex *from, uint64_t first, uint64_t n,
    const char *path, char **error);

#endif
