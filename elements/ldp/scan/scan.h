/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares packed descriptors, without a frame, with a part of an index, on the
 * CPU or on the GPU: for programs (tools/search). The similarities are the same
 * bits as those of cuv_ldp_retrieval_run(). */
#ifndef CUV_LDP_SCAN_H
#define CUV_LDP_SCAN_H

#include "cpu/ldp-match.h"
#include "cuvbackend.h"

typedef struct _CuvLdpScan CuvLdpScan;

/* Creates a scan of entries first .. first + n - 1, n > 0, of the index, which
 * must outlive the scan. On the device at most max_bytes are used, 0 = half of
 * the free memory: entries that fit are copied there once, the others for each
 * query. Returns NULL on failure, and *error says why. */
CuvLdpScan *cuv_ldp_scan_new (const CuvLdpIndex *index, uint64_t first,
    uint64_t n, size_t max_bytes, const CuvProcessor *processor,
    const char **error);
void cuv_ldp_scan_free (CuvLdpScan *self); /* NULL is allowed */

/* Compares each query with all n entries. Returns NULL, or an error. */
const char *cuv_ldp_scan_run (CuvLdpScan *self,
    const CuvLdpPackedQuery *queries, int n_queries,
    const CuvProcessor *processor);

/* Returns NULL, or why there is no GPU that this build can use. */
const char *cuv_ldp_scan_probe_cuda (void);

/* Makes GPU `number`, modulo the number of GPUs, current in this thread, and
 * sets *n_devices to the number of GPUs. Returns NULL, or an error. */
const char *cuv_ldp_scan_set_device (int number, int *n_devices);

/* Returns the size of the current GPU's free memory, in bytes. */
size_t cuv_ldp_scan_free_memory (void);

#endif
