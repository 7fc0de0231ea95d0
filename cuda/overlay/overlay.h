/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drawing on the GPU; the result is the same, bit for bit, as that of
 * elements/overlay/reference/draw.c. All functions act on the current CUDA
 * context; those that can fail return 0 or -1 and leave a text for
 * cuv_cuda_error(). */
#ifndef CUV_OVERLAY_CUDA_H
#define CUV_OVERLAY_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "overlay/overlay-types.h"

CUV_BEGIN

typedef struct _CuvOverlayCuda CuvOverlayCuda;

/* Loads the kernels and allocates 256 KiB of device and of pinned memory,
 * enough for a typical frame. NULL on failure. */
CuvOverlayCuda *cuv_overlay_cuda_new (void);

/* Waits for a submit in progress. NULL is allowed. */
void cuv_overlay_cuda_free (CuvOverlayCuda *self);

/* Copies the list and enqueues its drawing on a frame in device memory.
 * Allocates if the list is larger than any before. Waits only for a submit that
 * was not collected. */
int cuv_overlay_cuda_submit (CuvOverlayCuda *self, const CuvOverlayList *list,
    const CuvFrame *frame, CuvCudaStream stream);

/* Waits for the last submit. */
int cuv_overlay_cuda_collect (CuvOverlayCuda *self);

CUV_END

#endif
