/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares pictures with the entries of an index on the GPU; histograms are
 * packed as in an index. All functions use the current CUDA context; map:
 * ldp.h. */
#ifndef CUV_LDP_MATCH_CUDA_H
#define CUV_LDP_MATCH_CUDA_H

#include "cuv-cuda.h"
#include "ldp/ldp-types.h"

CUV_BEGIN

typedef struct _CuvLdpMatchCuda CuvLdpMatchCuda;

enum { CUV_LDP_MATCH_QUERIES = 8 }; /* maximum number compared at once */

/* Copies n entries of `size` bytes from a stride to a pitch, both in bytes. May
 * use threads. */
typedef void (*CuvLdpCopy) (void *data, uint8_t *to, size_t pitch,
    const uint8_t *from, size_t stride, size_t size, int64_t n);

/* Allocates memory for comparisons. stride: bytes from one entry to the next.
 * `copy` stages entries that do not fit the device in pinned memory. Uses at
 * most max_bytes of device memory; 0: half of the free memory. Returns NULL on
 * failure, see cuv_cuda_error(); if max_bytes is too small, the error names the
 * minimum. */
CuvLdpMatchCuda *cuv_ldp_match_cuda_new (const CuvLdpPacked *packed,
    size_t stride, size_t max_bytes, CuvLdpCopy copy, void *data);
void cuv_ldp_match_cuda_free (CuvLdpMatchCuda *self); /* NULL is allowed */

/* Sets the n entries; their memory must stay valid until others are set or self
 * is freed. Entries before first_new are unchanged since the last call; 0: all
 * are new. As many as fit are copied to the device; the others are streamed for
 * each query. Do not call it between a submit and its collect. Returns 0 or -1;
 * after a failure there are no entries. */
int cuv_ldp_match_cuda_set_entries (CuvLdpMatchCuda *self,
    const uint8_t *entries, int64_t n, int64_t first_new, CuvCudaStream stream);

/* Sets query i, 0 .. CUV_LDP_MATCH_QUERIES - 1, of the next submits. counts:
 * unpacked counts in device memory, count_size bytes (2 or 4) each; those of
 * query 0 must stay valid until the collect. Returns 0 or -1. */
int cuv_ldp_match_cuda_set_query (CuvLdpMatchCuda *self, int i,
    const void *counts, int count_size, CuvCudaStream stream);

/* Sets query i to counts in host memory, which are packed like those of entries
 * and are read before this returns. */
int cuv_ldp_match_cuda_set_packed (
    CuvLdpMatchCuda *self, int i, const void *packed, CuvCudaStream stream);

/* Enqueues the comparison of queries 0 .. n_queries - 1 with the first
 * n_entries entries, or all if there are fewer. Waits only if entries are
 * streamed, until the last copy is enqueued. Returns 0 or -1. */
int cuv_ldp_match_cuda_submit (CuvLdpMatchCuda *self, int n_queries,
    int64_t n_entries, CuvCudaStream stream);

/* Set query 0 and submit it alone. Return 0 or -1. */
int cuv_ldp_match_cuda_submit_counts (CuvLdpMatchCuda *self, const void *counts,
    int count_size, int64_t n_entries, CuvCudaStream stream);

int cuv_ldp_match_cuda_submit_packed (CuvLdpMatchCuda *self, const void *packed,
    int64_t n_entries, CuvCudaStream stream);

/* Waits for the last submit and writes the similarity, 0 .. 1, of each entry
 * that was compared: the largest over the queries. Returns 0 or -1. */
int cuv_ldp_match_cuda_collect (CuvLdpMatchCuda *self, double *similarities);

CUV_END

#endif
