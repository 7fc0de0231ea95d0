/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much alike a picture is with many others, whose histograms are packed as
 * in an index, on the GPU. All functions act on the current CUDA context. */
#ifndef CUV_LDP_MATCH_CUDA_H
#define CUV_LDP_MATCH_CUDA_H

#include "cuv-cuda.h"
#include "ldp/ldp-types.h"

CUV_BEGIN

typedef struct _CuvLdpMatchCuda CuvLdpMatchCuda;

/* Keeps n > 0 pictures, `stride` bytes apart on the host and a multiple of 16,
 * in device memory. NULL on failure, see cuv_cuda_error(). */
CUV_API CuvLdpMatchCuda *cuv_ldp_match_cuda_new (
    const CuvLdpPacked *packed, const uint8_t *entries, size_t stride, int n);
CUV_API void cuv_ldp_match_cuda_free (CuvLdpMatchCuda *self); /* or NULL */

/* Enqueues the comparison of a packed picture, in host memory, with all of
 * them. Does not wait; the query may change afterwards. Once before it is
 * collected. Returns 0 or -1. */
CUV_API int cuv_ldp_match_cuda_submit (
    CuvLdpMatchCuda *self, const uint8_t *query, CuvCudaStream stream);

/* Waits for the last submit: n similarities, 0 .. 1. Returns 0 or -1. */
CUV_API int cuv_ldp_match_cuda_collect (
    CuvLdpMatchCuda *self, double *similarities);

CUV_END

#endif
