/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* File operations of the index's reader and writer. */
#ifndef CUV_LDP_INDEX_FILE_H
#define CUV_LDP_INDEX_FILE_H

#include "index/ldpindex.h"

/* Creates an empty index, locked for writing. Other processes see the file only
 * when it is complete. Returns its file descriptor, or -1 with errno set:
 * EEXIST if the file exists. */
int cuv_ldp_index_create (
    const char *path, const CuvLdpIndexInfo *info, bool sync);

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
