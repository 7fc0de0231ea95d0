// SPDX-License-Identifier: LGPL-2.1-or-later
// Opening and closing of a mask with a bit per pixel.
#ifndef CUV_MOTION_CLEAN_CUH
#define CUV_MOTION_CLEAN_CUH

#include "cuv-cuda.cuh"
#include "motion/motion-types.h"

/* Enqueues an opening, then a closing by squares of odd sides. `scratch` is a
 * mask of the same size. Returns 0 or -1. */
int cuv_motion_clean (const CuvMotionBits *mask, const CuvMotionBits *scratch,
    int opening, int closing, cudaStream_t stream);

#endif
