// SPDX-License-Identifier: LGPL-2.1-or-later
// The means of the cells of fills that blur or pixelate.
#ifndef CUV_OVERLAY_FILL_MEANS_CUH
#define CUV_OVERLAY_FILL_MEANS_CUH

#include "cuv-cuda.cuh"
#include "overlay/overlay-types.h"

// Device memory: the list's primitives, its n_means means, and
// cuv_fill_sums_bytes() of scratch, 4-byte aligned.
typedef struct {
  const CuvPrimitive *primitives;
  uint8_t *means;
  unsigned *sums;
} CuvOverlayFillMemory;

// Returns the bytes of scratch that the means of a list need.
size_t cuv_fill_sums_bytes (const CuvOverlayList *list, const CuvFrame *frame);

// Enqueues the computation of the means of all fills. Returns 0 or -1.
int cuv_fill_launch_means (const CuvOverlayList *list,
    const CuvOverlayFillMemory *memory, const CuvFrame *frame,
    cudaStream_t stream);

#endif
