/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares descriptors with a part of an index, on the CPU or on the GPU, for
 * programs: without a frame. The similarities are the bits that
 * cuv_ldp_retrieval_run() computes. */
#ifndef CUV_LDP_SCAN_H
#define CUV_LDP_SCAN_H

#include "cpu/ldp-match.h"
#include "cuvbackend.h"

typedef struct _CuvLdpScan CuvLdpScan;

/* For entries first .. first + n - 1 of the index, n > 0, which must outlive
 * it. On the device at most max_bytes are used, 0 = half of the free memory:
 * entries that fit are copied there, the others are copied for each query. NULL
 * on failure, and *error says why. */
CuvLdpScan *cuv_ldp_scan_new (const CuvLdpIndex *index, uint64_t first,
    uint64_t n, size_t max_bytes, const CuvProcessor *processor,
    const char **error);
void cuv_ldp_scan_free (CuvLdpScan *self); /* NULL is allowed */

/* Compares each query with the n entries. Returns NULL, or an error. */
const char *cuv_ldp_scan_run (CuvLdpScan *self,
    const CuvLdpPackedQuery *queries, int n_queries,
    const CuvProcessor *processor);

/* NULL, or why there is no GPU that this build can use. */
const char *cuv_ldp_scan_probe_cuda (void);

/* Makes GPU `number`, counted around if there are fewer, current to this
 * thread. Returns NULL or an error, and how many there are. */
const char *cuv_ldp_scan_set_device (int number, int *n_devices);

/* Bytes of memory of the current GPU that are free. */
size_t cuv_ldp_scan_free_memory (void);

#endif
