/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vectors of four floats, for the templates. */
#ifndef CUV_RCD_FOUR_H
#define CUV_RCD_FOUR_H

#include <stdint.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

/* May be anywhere in an array of floats: need not be aligned. */
typedef float CuvFour
    __attribute__ ((vector_size (16), aligned (4), may_alias));
typedef int32_t CuvFourInts __attribute__ ((vector_size (16)));

/* Selects elements i, j of vector a, then k, l of vector b. */
#ifdef __clang__
#define CUV_SHUFFLE(a, b, i, j, k, l)                                          \
  __builtin_shufflevector (a, b, i, j, k + 4, l + 4)
#else
#define CUV_SHUFFLE(a, b, i, j, k, l)                                          \
  __builtin_shuffle (a, b, (CuvFourInts){ i, j, k + 4, l + 4 })
#endif

#endif
