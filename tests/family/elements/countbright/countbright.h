/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the pixels of a frame whose grey value is above a threshold.
 *
 *   countbright.h               this: the definition and its threaded version
 *   reference/countbright.c     the definition
 *   cpu/countbright-cpu.c       the same with threads
 *   cuda/countbright/           the same on the GPU
 *   backend.h                   the CPU or the GPU
 *   gstcountbright.c            the element
 */
#ifndef CUV_COUNTBRIGHT_H
#define CUV_COUNTBRIGHT_H

#include "cuv-frame.h"

/* Returns the number of pixels with cuv_frame_grey() > threshold. */
uint64_t cuv_countbright (const CuvFrame *frame, int threshold);

/* n_threads: 0 = one per processor. */
uint64_t cuv_countbright_cpu (
    const CuvFrame *frame, int threshold, int n_threads);

#endif
