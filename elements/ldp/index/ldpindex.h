/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of histograms: one writer appends pictures, any number of readers, in
 * other processes too, look at them meanwhile. docs/ldp-index.md says what the
 * bytes are and what survives what.
 *
 * Functions that fail set *error to a text in plain words without a newline;
 * free() it. */
#ifndef CUV_LDP_INDEX_H
#define CUV_LDP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ldp.h"

enum {
  CUV_LDP_INDEX_VERSION = 1,
  CUV_LDP_INDEX_MAX_NAME = 1023,      /* bytes, without the 0 */
  CUV_LDP_INDEX_MAX_THUMBNAIL = 1024, /* pixels a side */
  CUV_LDP_INDEX_MAX_COUNTS = 1 << 26, /* of an entry */
};

/* What all entries of an index have in common. */
typedef struct {
  CuvLdpShape shape; /* parameters that are not looked at are 0 */
  int32_t thumbnail_width, thumbnail_height; /* 0: there are none */
  int32_t count_size;       /* bytes of a count in the file: 1, 2 or 4 */
  uint64_t descriptor_size; /* bytes of a picture's counts in the file */
  uint64_t stride;          /* bytes from an entry to the next: 64 n */
} CuvLdpIndexInfo;

/* Of pictures width x height. Returns NULL, or what is wrong. */
const char *cuv_ldp_index_info_init (CuvLdpIndexInfo *self,
    const CuvLdpParams *params, int width, int height, int thumbnail_width,
    int thumbnail_height);

/* Parameters and sizes in words; free() them. NULL: no memory. */
char *cuv_ldp_index_info_text (const CuvLdpIndexInfo *self);

/* ---- counts ---- */

/* Bytes that each count takes in the file: 1 if no histogram counts more than
 * 256 codes, 2 if none more than 65535, else 4. */
int cuv_ldp_index_count_size (const CuvLdpShape *shape);

/* cuv_ldp_n_counts() counts as they are in the file: little-endian. In one byte
 * 255 stands for 256 too, which only one that has all of its histogram's codes
 * can be. Returns false if a histogram has not as many codes as its block. */
bool cuv_ldp_index_pack (
    const CuvLdpShape *shape, const uint32_t *counts, void *bytes);

/* And back, exactly. */
void cuv_ldp_index_unpack (
    const CuvLdpShape *shape, const void *bytes, uint32_t *counts);

/* ---- reading ---- */

typedef struct CuvLdpIndex CuvLdpIndex;

/* Maps a file. NULL on failure. */
CuvLdpIndex *cuv_ldp_index_open (const char *path, char **error);

/* The same of bytes, which must live as long. */
CuvLdpIndex *cuv_ldp_index_parse (const void *bytes, size_t size, char **error);

void cuv_ldp_index_free (CuvLdpIndex *self);

/* Sees what was appended since. Pointers into the index are no more valid; on
 * failure it stays as it was, and they do. */
bool cuv_ldp_index_refresh (CuvLdpIndex *self, char **error);

/* Whether its path leads to another file by now, or to none: this one goes on
 * as it is. */
bool cuv_ldp_index_is_replaced (const CuvLdpIndex *self);

const CuvLdpIndexInfo *cuv_ldp_index_info (const CuvLdpIndex *self);
uint64_t cuv_ldp_index_n_entries (const CuvLdpIndex *self);

/* The packed counts of entry i < n. That of i + 1 is stride bytes behind. */
const uint8_t *cuv_ldp_index_descriptor (const CuvLdpIndex *self, uint64_t i);

/* UTF-8; NULL if what is there is no text, as the entry is damaged. */
const char *cuv_ldp_index_name (const CuvLdpIndex *self, uint64_t i);

/* R, G, B of pixels row by row without gaps; NULL if the index has none. */
const uint8_t *cuv_ldp_index_thumbnail (const CuvLdpIndex *self, uint64_t i);

/* Whether an entry's bytes are as they were written. */
bool cuv_ldp_index_check_entry (const CuvLdpIndex *self, uint64_t i);

/* All of them; the error names the first that is damaged. */
bool cuv_ldp_index_check (const CuvLdpIndex *self, char **error);

/* ---- writing ---- */

typedef struct CuvLdpIndexWriter CuvLdpIndexWriter;

/* Goes on with the file, or makes it if there is none. With sync every entry is
 * on the disk when it is appended; without, it outlives this process but not a
 * loss of power. NULL on failure, as if the file has other parameters or
 * another writer. */
CuvLdpIndexWriter *cuv_ldp_index_writer_open (
    const char *path, const CuvLdpIndexInfo *info, bool sync, char **error);

/* Once it returns true, readers find the entry. The thumbnail is of the index's
 * size, as cuv_ldp_index_thumbnail() gives it; NULL: black. On failure the file
 * is as before, and where there was no room appending may be tried again. */
bool cuv_ldp_index_writer_append (CuvLdpIndexWriter *self,
    const uint32_t *counts, const char *name, const uint8_t *thumbnail,
    char **error);

/* The same with entry i of an index of the same parameters, under another name
 * or, NULL, its own. */
bool cuv_ldp_index_writer_copy (CuvLdpIndexWriter *self,
    const CuvLdpIndex *from, uint64_t i, const char *name, char **error);

/* Whether that failed for want of room. */
bool cuv_ldp_index_writer_is_full (const CuvLdpIndexWriter *self);

uint64_t cuv_ldp_index_writer_n_entries (const CuvLdpIndexWriter *self);

/* Frees it, on failure too. */
bool cuv_ldp_index_writer_close (CuvLdpIndexWriter *self, char **error);

/* ---- rewriting ---- */

/* Appends to `to`, which is empty, what is to be kept of `from`. */
typedef bool (*CuvLdpIndexEdit) (
    void *data, const CuvLdpIndex *from, CuvLdpIndexWriter *to, char **error);

/* Puts what edit() makes of an index in its place, on the disk: whenever the
 * process is killed there is the one or the other. Nobody else writes to it
 * meanwhile; readers go on with the old one, see cuv_ldp_index_is_replaced().
 */
bool cuv_ldp_index_rewrite (
    const char *path, CuvLdpIndexEdit edit, void *data, char **error);

#endif
