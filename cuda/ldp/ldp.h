/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Local derivative patterns on the GPU, and a map of this folder. Counts and
 * similarities equal those of the C reference in elements/ldp/reference/, bit
 * by bit.
 *
 * elements/ldp/backend.c calls the functions below for a descriptor, and those
 * of match.h for an index; elements/ldp/scan/backend.c calls match.h alone.
 *
 * A descriptor: frame -> resize_kernel, or reduce_kernel if 16 or more pixels
 * are averaged to one; neither if the rectangle has the size of the layout ->
 * describe_kernel, a tile per thread block: grey values -> signs of derivatives
 * -> codes -> counts. Smaller scales follow, each from the one before.
 *
 *   ldp.cu              a descriptor: its memory, resizing, drawing, the order
 *                       of the kernels
 *   tile-plan.cu        splits a picture into tiles
 *   describe.cuh        the plan and the arguments of describe_kernel
 *   describe.cu         describe_kernel; choose_kernel() selects the variant
 *                       for 2 or 4 bytes per count, all directions and codes
 *                       (sizes known at compile time) or fewer, and the order,
 *                       2 to 4 or any
 *     ldp-signs.cuh       grey values, signs of derivatives
 *     ldp-counts.cuh      counts in shared memory
 *   ldp-code.h          the definition of a code, for gcc, too
 *   ldp-resize.h        the definition of resizing, for gcc, too
 *
 * Matching: match_kernel, up to four queries at once -> distances ->
 * similarity_kernel. Its variant is chosen by choose_match_kernel():
 *
 *   histograms              variant (match-kernels.cu), why
 *   256 bins, 1 byte each   Histograms256<ByteCounts>: two per warp, sums of
 *                             absolute differences of four bytes at once
 *   256 bins, 2 bytes       Histograms256<ShortCounts>: one per warp
 *   others                  AnyHistograms: a warp per histogram, a bin per lane
 *
 *   match.h, match.cu       entries in device memory or streamed; queries
 *   match.cuh               arguments and launchers of its kernels
 *   match-kernels.cu        the kernels
 *
 * All functions use the current CUDA context. */
#ifndef CUV_LDP_CUDA_H
#define CUV_LDP_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "ldp/ldp-types.h"

CUV_BEGIN

typedef struct _CuvLdpCuda CuvLdpCuda;

/* Allocates memory for pictures of this layout. Returns NULL on failure, see
 * cuv_cuda_error(). */
CuvLdpCuda *cuv_ldp_cuda_new (const CuvLdpLayout *layout);
void cuv_ldp_cuda_free (CuvLdpCuda *self); /* NULL is allowed */

/* Enqueues the descriptor of a rectangle, which must be inside the frame (in
 * device memory): resizes it to the layout's size and counts its codes. Waits
 * only after a failure. Returns 0 or -1. */
int cuv_ldp_cuda_submit (CuvLdpCuda *self, const CuvFrame *frame,
    const CuvLdpRect *rect, CuvCudaStream stream);

/* Returns the counts of the last submit, in device memory, cuv_ldp_count_size()
 * bytes each, in the order of CuvLdpLayout. */
const void *cuv_ldp_cuda_counts (const CuvLdpCuda *self);

/* Enqueues the descriptor of the last submit's resized picture in another
 * orientation, 1 .. 7, see cuv_ldp_turn(). Returns the object whose counts it
 * fills, valid until the next call, or NULL on failure. Allocates at the first
 * call. */
CuvLdpCuda *cuv_ldp_cuda_submit_turned (CuvLdpCuda *self, int orientation);

/* Enqueues drawing the codes of a direction, 0 .. CUV_LDP_DIRECTIONS - 1, over
 * the rectangle of the last submit, as cuv_ldp_draw() does. Returns 0 or -1. */
int cuv_ldp_cuda_draw (CuvLdpCuda *self, int direction);

/* Waits for the last submit. Returns 0 or -1. */
int cuv_ldp_cuda_wait (CuvLdpCuda *self);

/* Waits for the last submit and copies its counts to host memory, valid until
 * the next call. Returns NULL on failure. */
const void *cuv_ldp_cuda_collect (CuvLdpCuda *self);

CUV_END

#endif
