/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Local derivative patterns on the GPU. All functions act on the current CUDA
 * context. */
#ifndef CUV_LDP_CUDA_H
#define CUV_LDP_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "ldp/ldp-types.h"

CUV_BEGIN

typedef struct _CuvLdpCuda CuvLdpCuda;

/* NULL on failure, see cuv_cuda_error(). */
CuvLdpCuda *cuv_ldp_cuda_new (const CuvLdpLayout *layout);
void cuv_ldp_cuda_free (CuvLdpCuda *self); /* NULL is allowed */

/* Enqueues resizing a rectangle inside a frame in device memory to the layout's
 * size and counting its codes; waits only after a failure. Returns 0 or -1. */
int cuv_ldp_cuda_submit (CuvLdpCuda *self, const CuvFrame *frame,
    const CuvLdpRect *rect, CuvCudaStream stream);

/* The counts of the last submit in device memory, cuv_ldp_count_size() bytes
 * each. */
const void *cuv_ldp_cuda_counts (const CuvLdpCuda *self);

/* Enqueues the same for the last submit's resized picture in another
 * orientation (cuv_ldp_turn()). Returns what has the counts until the next
 * call, or NULL. Allocates at the first call. */
CuvLdpCuda *cuv_ldp_cuda_submit_turned (CuvLdpCuda *self, int orientation);

/* Enqueues cuv_ldp_draw() of the last submit's codes into its frame and
 * rectangle. Returns 0 or -1. */
int cuv_ldp_cuda_draw (CuvLdpCuda *self, int direction);

/* Waits for the last submit. Returns 0 or -1. */
int cuv_ldp_cuda_wait (CuvLdpCuda *self);

/* Waits and copies the counts to the host, valid until the next call. NULL on
 * failure. */
const void *cuv_ldp_cuda_collect (CuvLdpCuda *self);

CUV_END

#endif
