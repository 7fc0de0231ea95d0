/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared code of the index tests. */
#ifndef CUV_LDPINDEX_TESTS_H
#define CUV_LDPINDEX_TESTS_H

#include "index/ldpindex.h"
#include "cuvcheck.h"

enum { MAX_PATH = 256 };

/* ---- entries generated from a number ---- */

CuvLdpIndexInfo info_of (CuvLdpParams params, int size, int thumbnail);

/* Return parameters for entries of 1152 bytes with thumbnails of 2x2 pixels. */
CuvLdpParams small_params (void);
CuvLdpIndexInfo small_info (void);

void make_counts (
    const CuvLdpIndexInfo *info, uint64_t number, uint32_t *counts);
void make_name (uint64_t number, char *name, size_t size);

bool append (CuvLdpIndexWriter *writer, const CuvLdpIndexInfo *info,
    uint64_t number, char **error);

/* Returns whether entry i is the one generated from the number. */
bool is_entry (const CuvLdpIndex *index, uint64_t i, uint64_t number);

/* ---- files ---- */

void make_folder (void);
void remove_folder (void);

/* Stores the path of a file in the test's folder. */
void path_of (const char *name, char path[MAX_PATH]);

/* Creates an index of entries 0 to n - 1. */
void make_file (const char *path, uint64_t n);

/* Returns the contents of a file; free() them. */
uint8_t *read_file (const char *path, size_t *size);
void write_file (const char *path, const void *bytes, size_t size);

/* Checks that the file has n entries, and the content from `from` on. */
void check_file (const char *path, uint64_t from, uint64_t n);

/* Checks that opening fails with the words in the error. */
void check_refused (const char *path, const char *words);
void check_words (char *error, const char *words); /* frees the error */

/* ---- parts ---- */

void test_counts (void);
void test_bytes (void);
void test_damage (void);
void test_faults (void);
void test_kill (void);
void test_processes (void);

#endif
