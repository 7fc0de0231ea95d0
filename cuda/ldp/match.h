/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much alike a picture is with many others, whose histograms are packed as
 * in an index, on the GPU. All functions act on the current CUDA context. */
#ifndef CUV_LDP_MATCH_CUDA_H
#define CUV_LDP_MATCH_CUDA_H

#include "cuv-cuda.h"
#include "ldp/ldp-types.h"

CUV_BEGIN

typedef struct _CuvLdpMatchCuda CuvLdpMatchCuda;

/* Copies n entries of `size` bytes, which are `stride` bytes apart, to where
 * they are `pitch` bytes apart: by as many threads as it likes. */
typedef void (*CuvLdpCopy) (void *data, uint8_t *to, size_t pitch,
    const uint8_t *from, size_t stride, size_t size, int64_t n);

/* For entries `stride` bytes apart, which `copy` brings into pinned memory
 * where they do not stay on the device. It takes max_bytes of device memory at
 * most, 0: half of what is free. NULL on failure, see cuv_cuda_error(): it
 * names the least that will do. */
CuvLdpMatchCuda *cuv_ldp_match_cuda_new (const CuvLdpPacked *packed,
    size_t stride, size_t max_bytes, CuvLdpCopy copy, void *data);
void cuv_ldp_match_cuda_free (CuvLdpMatchCuda *self); /* or NULL */

/* The entries, in host memory, where they stay until others are set or self is
 * freed. Those before first_new are the same as before, 0: none is. As many as
 * there is room for are copied to the device, on the stream; the others will go
 * there for each query. Not between a query and its collection. After a failure
 * there are none. Returns 0 or -1. */
int cuv_ldp_match_cuda_set_entries (CuvLdpMatchCuda *self,
    const uint8_t *entries, int64_t n, int64_t first_new, CuvCudaStream stream);

/* Enqueues the comparison of a picture with the first n_entries, or all if
 * there are fewer: its counts in device memory, of count_size bytes (2 or 4)
 * each, not packed. Waits only where entries have to go to the device: until
 * the last of them are on their way. Returns 0 or -1. */
int cuv_ldp_match_cuda_submit_counts (CuvLdpMatchCuda *self, const void *counts,
    int count_size, int64_t n_entries, CuvCudaStream stream);

/* Waits for the last query: a similarity, 0 .. 1, of each entry that it was
 * compared with. Returns 0 or -1. */
int cuv_ldp_match_cuda_collect (CuvLdpMatchCuda *self, double *similarities);

CUV_END

#endif
