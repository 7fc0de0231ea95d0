/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the AVX2 functions of the line detector. */
#ifndef CUV_HOUGH_AVX2_H
#define CUV_HOUGH_AVX2_H

#include <immintrin.h>
#include "cpu/hough-dsp.h"

#if !defined __AVX2__ && !defined __clang__
#pragma GCC target("avx2") /* the style test compiles headers alone */
#endif

static inline __m256i
load (const void *at)
{
  return _mm256_loadu_si256 ((const __m256i *) at);
}

static inline void
store (void *at, __m256i value)
{
  _mm256_storeu_si256 ((__m256i *) at, value);
}

/* Converts 16 bytes to 16 bits each. */
static inline __m256i
load_bytes (const uint8_t *at)
{
  return _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) at));
}

void cuv_canny_dsp_init_avx2 (CuvHoughDsp *dsp);
void cuv_gather_avx2 (const CuvGather *work, uint8_t *lanes, uint32_t *middle);

#endif
