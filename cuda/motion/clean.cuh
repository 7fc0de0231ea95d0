// SPDX-License-Identifier: LGPL-2.1-or-later
// Opening and closing of a mask with a bit per pixel.
#ifndef CUV_MOTION_CLEAN_CUH
#define CUV_MOTION_CLEAN_CUH

#include "cuv-cuda.cuh"
#include "motion/motion-types.h"

// The result, in pinned host memory.
struct CuvMotionCleaned {
  uint64_t *words;      // as many as the mask has; only those that are not 0
  CuvMotionMark *marks; // which words are not 0
  unsigned *n_moving;   // before the cleaning, of each tile
};

int cuv_motion_n_tiles (const CuvMotionBits *mask);

/* Enqueues an opening, then a closing by squares of odd sides, 1 .. 31, which
 * leaves out what `unmasked` in device memory hides, if not NULL. The kernel
 * before must call cuv_pdl_trigger(), or it is waited for. Returns 0 or -1. */
int cuv_motion_clean (const CuvMotionBits *mask, int opening, int closing,
    const uint64_t *unmasked, const CuvMotionCleaned &cleaned,
    cudaStream_t stream);

#endif
