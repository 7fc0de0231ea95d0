/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* New files of an index, for its writer. */
#ifndef CUV_LDP_INDEX_CREATE_H
#define CUV_LDP_INDEX_CREATE_H

#include "index/ldpindex.h"

/* Makes an empty index that nobody sees before it is whole, and locks it.
 * Returns its file descriptor, or -1 and errno: EEXIST if there is one. */
int cuv_ldp_index_create (
    const char *path, const CuvLdpIndexInfo *info, bool sync);

/* Waits until a rename in the file's folder is on the disk. */
bool cuv_ldp_index_sync_folder (const char *path);

/* Returns false, and errno, if not all could be written. */
bool cuv_ldp_index_write_all (
    int fd, const void *bytes, size_t size, uint64_t at);

#endif
