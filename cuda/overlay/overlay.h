/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drawing on the GPU, and a map of this folder. Pixels equal those of the C
 * reference, elements/overlay/reference/, bit by bit.
 *
 * elements/overlay/backend.c calls the functions below.
 * cuv_overlay_cuda_submit() copies a list of primitives to the device and
 * enqueues the kernels; cuv_overlay_cuda_collect() waits.
 *
 *   overlay.cu            memory, order of the kernels; overlay_kernel: a block
 *                         draws a tile of the frame. A variant per number of
 *                         components and subsampling of chroma, in the table
 *                         `kernels`
 *   primitive-upload.*    the list in device memory; copies what has changed
 *   fill-means.*          fills that blur or pixelate: the mean of each cell.
 *                         bands_kernel sums bands of rows, so that a few large
 *                         cells occupy the whole device; means_kernel adds the
 *                         bands, if a cell has several
 *   overlay-types.h       primitives, coverage, blending; for gcc, too
 *   fill-types.h          cells and samples of fills; for gcc, too
 *
 * All functions use the current CUDA context; those that can fail return 0 or
 * -1 and set cuv_cuda_error(). */
#ifndef CUV_OVERLAY_CUDA_H
#define CUV_OVERLAY_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "overlay/overlay-types.h"

CUV_BEGIN

typedef struct _CuvOverlayCuda CuvOverlayCuda;

/* Loads the kernels and allocates 256 KiB of device memory and of pinned
 * memory, enough for most frames. Returns NULL on failure. */
CuvOverlayCuda *cuv_overlay_cuda_new (void);

/* Waits for a submit that was not collected. NULL is allowed. */
void cuv_overlay_cuda_free (CuvOverlayCuda *self);

/* Enqueues drawing a list on a frame in device memory; the list, except
 * list->means, is copied and may be changed afterwards. Allocates memory if the
 * list is larger than all previous lists. Waits only for a submit that was not
 * collected. Fails for frames whose chroma no kernel supports. */
int cuv_overlay_cuda_submit (CuvOverlayCuda *self, const CuvOverlayList *list,
    const CuvFrame *frame, CuvCudaStream stream);

/* Waits for the last submit. */
int cuv_overlay_cuda_collect (CuvOverlayCuda *self);

CUV_END

#endif
